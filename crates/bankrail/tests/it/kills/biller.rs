//! The biller's process, which polls the account, receives deliveries, and handles both within the
//! store's transactions.

use super::{CUSTOMER_KEY, Surroundings, print};
use crate::both::API_KEY;
use bankrail_client::receivers::{Delivery, Handlers, Receivers, ReceiversOptions, WorkerOptions};
use bankrail_client::{
    Client, ClientOptions, Credentials, NewEntries, PolledAccount, Poller, PollerOptions,
    SealingSecret, TlsRoots,
};
use bankrail_http::serve::Server;
use bankrail_mailbox::Schedule;
use bankrail_rate_limit::Policy;
use bankrail_statement::{MaxEntries, PollOptions};
use bankrail_stores::sqlite::{SqliteInbox, SqliteStore, SqliteWork, rusqlite};
use bankrail_webhook::QueryNotification;
use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "started by nothing_is_lost_and_effects_happen_once"]
async fn process() {
    let found = Surroundings::find();
    let store = open(&found).await;
    let (receivers, handlers) = receivers(&found, &store);
    tokio::spawn(
        receivers
            .worker(handlers, WorkerOptions::new())
            .run(std::future::pending()),
    );
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, found.biller_port))
        .await
        .unwrap();
    tokio::spawn(
        Server::new(
            listener,
            found.tls(),
            receivers.router(),
            Default::default(),
        )
        .run(std::future::pending()),
    );
    print("ready");
    poll(&found, store).await;
}

/// Handles all messages in the inbox.
pub(super) async fn work_off(found: &Surroundings) {
    let (receivers, handlers) = receivers(found, &open(found).await);
    receivers
        .worker(handlers, WorkerOptions::new())
        .run_due()
        .await
        .unwrap();
}

async fn open(found: &Surroundings) -> SqliteStore {
    let store = SqliteStore::open(found.folder.join("biller.db"), Default::default()).unwrap();
    let tables = "CREATE TABLE IF NOT EXISTS effect (case_id TEXT NOT NULL) STRICT;
        CREATE TABLE IF NOT EXISTS imported (id BLOB NOT NULL, reference TEXT) STRICT";
    store
        .transaction(move |transaction| transaction.connection().execute_batch(tables))
        .await
        .unwrap();
    store
}

fn receivers(
    found: &Surroundings,
    store: &SqliteStore,
) -> (Receivers<SqliteInbox>, Handlers<SqliteInbox>) {
    let options = ReceiversOptions::new().clock(Arc::new(found.clock));
    let receivers = Receivers::new(
        found.keys.opener(),
        API_KEY,
        Arc::new(store.inbox()),
        options,
    )
    .unwrap();
    let handlers =
        Handlers::new().on_transactional(|received: Delivery<QueryNotification>| async move {
            let case = received.message.case_id.to_string();
            Ok(SqliteWork::new(move |transaction| {
                transaction
                    .connection()
                    .execute("INSERT INTO effect VALUES (?1)", [case])?;
                // The parent may kill this process before the commit that follows.
                print("working");
                Ok::<_, rusqlite::Error>(())
            }))
        });
    (receivers, handlers)
}

/// Imports new entries without end, and prints a line when a poll is complete.
async fn poll(found: &Surroundings, store: SqliteStore) -> Infallible {
    let store = Arc::new(store);
    let credentials = Credentials::new(
        "BILLER".parse().unwrap(),
        found.assertion.clone(),
        CUSTOMER_KEY,
    );
    let options = ClientOptions::new()
        .clock(Arc::new(found.clock))
        .tls_roots(TlsRoots::OnlyPem(found.certificate()))
        .token_limits(Policy::unlimited())
        .statement_limits(Policy::unlimited())
        .token_cache((store.clone(), SealingSecret::from_bytes([7; 32])));
    let client = Client::new(
        credentials,
        &format!("https://localhost:{}", found.bank_port),
        options,
    )
    .unwrap();
    let account = PolledAccount::new(found.account.clone()).every(Duration::from_secs(1));
    let accounts = [account.max_entries(MaxEntries::new(20).unwrap())];
    let import = |new: NewEntries| async move {
        Ok(SqliteWork::new(move |transaction| {
            for new in new.entries {
                let reference = new
                    .entry
                    .references()
                    .next()
                    .map(|(_, text)| text.to_owned());
                transaction.connection().execute(
                    "INSERT INTO imported VALUES (?1, ?2)",
                    (new.id.as_bytes(), reference),
                )?;
            }
            print("working");
            Ok::<_, rusqlite::Error>(())
        }))
    };
    let schedule = Schedule::new(std::iter::repeat_n(Duration::from_millis(200), 10_000), 50);
    let walks = PollOptions::new().max_pages(100_000);
    let options = PollerOptions::new().retry_schedule(schedule).walks(walks);
    let poller = Poller::transactional(client.statements(), store, accounts, import, options);
    loop {
        poller.run_due().await;
        if poller.status()[0].last_poll.is_some() {
            print("up to date");
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
