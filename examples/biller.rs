//! A biller: `biller FOLDER`, with a folder that `bankrail provider` makes for a demo customer. Its
//! file `connection.toml` has the arrangement of the biller and its bank. The biller imports each
//! new entry of its accounts once, receives the bank's webhooks, keeps the histories of mandates
//! and payments, prints each change, and warns of outcomes that were announced and do not come,
//! until Ctrl-C. All its state is in `biller.sqlite`, so that it may be killed at any time and
//! started again.
//!
//! `/livez`, `/readyz` and `/metrics` are at 127.0.0.1:9091, or at the address in the environment
//! variable `BILLER_OPERATIONS`.

use bankrail::client::receivers::{
    Conflict, Delivery, HandlerError, Handlers, ReceiversOptions, WorkerOptions,
};
use bankrail::client::receivers::{OutcomeWatch, OutcomeWatchOptions};
use bankrail::client::{ClientOptions, Connection, LedgerChange, NewEntries};
use bankrail::client::{PolledAccount, Poller, PollerOptions, SealingSecret};
use bankrail::http::operations::{Operations, OperationsOptions, Prometheus};
use bankrail::http::serve::{ServerOptions, Shutdown};
use bankrail::stores::sqlite::{SqliteOptions, SqliteStore, SqliteWork};
use bankrail::values::MainError;
use bankrail::webhook::Message;
use bankrail::webhook::history::{KeptHistory, follow_changes};
use std::{
    env, error::Error, future::pending, future::ready, path::PathBuf, sync::Arc, time::Duration,
};

const TABLE: &str = "CREATE TABLE IF NOT EXISTS imported (account, id, amount, currency, day, may_replace, UNIQUE (account, id))";
const ADD: &str =
    "INSERT INTO imported VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (account, id) DO NOTHING";
const REMOVE: &str = "DELETE FROM imported WHERE account = ?1 AND id = ?2";

#[tokio::main]
async fn main() -> Result<(), MainError> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .init();
    let (shutdown, metrics) = (Shutdown::on_signal()?, Prometheus::install()?);
    let folder = PathBuf::from(env::args().nth(1).ok_or("usage: biller FOLDER")?);
    let bank = Connection::open(&folder)?;
    // All accounts share 25 calls an hour.
    let every = Duration::from_secs(150) * u32::try_from(bank.accounts.len())?;
    let every = every.max(Duration::from_secs(600));
    let accounts: Vec<_> = bank
        .accounts
        .iter()
        .map(|id| PolledAccount::new(id.clone()).every(every))
        .collect();
    if accounts.is_empty() {
        Err("connection.toml: expected accounts, found none")?;
    }
    let store = Arc::new(SqliteStore::open(
        folder.join("biller.sqlite"),
        SqliteOptions::new(),
    )?);
    store
        .transaction(|sql| sql.connection().execute_batch(TABLE))
        .await?;

    let secret = SealingSecret::open_or_create(folder.join("token-cache.key"))?;
    let client = bank.client(
        ClientOptions::new()
            .counters(store.clone())
            .token_cache((store.clone(), secret)),
    )?;
    let poller = Poller::transactional(
        client.statements(),
        store.clone(),
        accounts,
        import,
        PollerOptions::new().log_handler_errors(true),
    );
    let receivers = bank.receivers(Arc::new(store.inbox()), ReceiversOptions::new())?;
    let handlers = Handlers::new()
        .on_any_transactional(keep)
        .on_conflict(contradicted);
    let worker = receivers.worker(handlers, WorkerOptions::new());
    let server = bank
        .server(receivers.router(), ServerOptions::new())
        .await?;

    let address = env::var("BILLER_OPERATIONS").unwrap_or("127.0.0.1:9091".to_owned());
    let (database, polled, stopping) = (store.clone(), poller.clone(), shutdown.clone().wanted());
    let health = OperationsOptions::new()
        .check("database", move || database.check())
        .not_ready_from(stopping);
    let health = health
        .check("accounts", move || ready(polled.check()))
        .prometheus(metrics);
    tokio::spawn(Operations::listen(address, health).await?.run(pending()));

    let (histories, stop) = (store.histories(), || shutdown.clone().wanted());
    let watch = OutcomeWatch::new(Arc::new(histories.clone()), OutcomeWatchOptions::new());
    let all = async {
        tokio::join!(
            poller.run(stop()),
            worker.run(stop()),
            server.run(stop()),
            watch.run(stop())
        )
    };
    let mut seen = 0;
    let follow = async {
        loop {
            let after = seen;
            let print = |kept: KeptHistory| {
                seen = kept.change;
                kept.ids
                    .iter()
                    .for_each(|id| println!("{id} {}", kept.state()));
            };
            let error = follow_changes(&histories, after, print).await;
            eprintln!("the histories cannot be read: {error}");
            tokio::time::sleep(Duration::from_secs(10)).await;
        }
    };
    tokio::select! { _ = all => {}, () = follow => {} }
    store.close().await;
    Ok(())
}

/// Lets the table hold what the bank lists as booked, in the transaction that records it. A debit
/// is negative.
async fn import(new: NewEntries) -> Result<SqliteWork, Box<dyn Error + Send + Sync>> {
    let (account, changes) = (new.account.clone(), new.changes());
    Ok(SqliteWork::new(move |sql| {
        changes.iter().try_for_each(|change| match change {
            LedgerChange::Remove { id, .. } => sql
                .connection()
                .execute(REMOVE, (account.as_str(), id.as_bytes()))
                .map(drop),
            LedgerChange::Add(one) => {
                let (amount, currency) = (one.amount.amount().to_string(), one.amount.currency());
                let day = one.booked_on.map(|on| on.to_string());
                // Rows that this one may stand for: a person decides, so that no money counts twice.
                let earlier: Vec<_> = one.may_replace.iter().map(ToString::to_string).collect();
                let row = (
                    account.as_str(),
                    one.id.as_bytes(),
                    amount,
                    currency.as_str(),
                    day,
                    earlier.join(" "),
                );
                sql.connection().execute(ADD, row).map(drop)
            }
        })
    }))
}

/// Folds a message into the history of its mandate or payment, in the transaction that marks it as
/// handled.
async fn keep(received: Delivery<Message>) -> Result<SqliteWork, HandlerError> {
    Ok(SqliteWork::new(move |sql| {
        sql.apply_history("", &received.message, received.received_at)
            .map(drop)
    }))
}

/// A message with the key of an earlier one and other content changes no history: a person decides
/// which is valid.
async fn contradicted(received: Delivery<Conflict>) -> Result<(), HandlerError> {
    println!(
        "conflict: message {} contradicts message {}",
        received.id, received.message.with
    );
    Ok(())
}
