//! The bank's process, which issues tokens, serves statements, books entries, each in one
//! transaction with a message, and delivers the messages.

use super::{CUSTOMER_KEY, DRAIN, Surroundings, print, reference};
use crate::both::{endpoint, endpoints, query};
use bankrail_camt052::EntryBuilder;
use bankrail_client_assertion::token::{ScopeSet, names};
use bankrail_client_assertion::{Audience, Verifier, VerifierOptions};
use bankrail_http::serve::Server;
use bankrail_jose::KeySet;
use bankrail_mailbox::{OutboxOperator as _, Schedule};
use bankrail_rate_limit::{CallType, Limiter, Limits, MemoryCounters, Policy};
use bankrail_service::delivery::{
    BreakerPolicy, Dispatcher, DispatcherOptions, HttpsTransport, HttpsTransportOptions, TlsRoots,
    Transport, TransportFuture, TransportRequest,
};
use bankrail_service::{
    ApiKeyHash, CursorSecret, Customer, Directory, Ledger, LedgerAnswer, LedgerEntry, LedgerPage,
    Provider, ProviderOptions, RegisteredAccount, StatementQuery,
};
use bankrail_statement::{EntryChannel, PagePosition, SortOrder};
use bankrail_stores::sqlite::{SqliteStore, TransactionError, rusqlite};
use bankrail_values::{Clock, Currency, Decimal, StoreFuture};
use bankrail_webhook::OutgoingOptions;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// The maximum number of messages that are enqueued beyond the answered ones.
const AHEAD: usize = 16;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "started by nothing_is_lost_and_effects_happen_once"]
async fn process() {
    let found = Surroundings::find();
    let store = SqliteStore::open(found.folder.join("bank.db"), Default::default()).unwrap();
    let table = "CREATE TABLE IF NOT EXISTS entry (number INTEGER PRIMARY KEY) STRICT";
    store
        .transaction(move |transaction| transaction.connection().execute_batch(table))
        .await
        .unwrap();
    tokio::spawn(serve(&found, &store).await);

    let answered = Arc::new(Semaphore::new(AHEAD));
    let dispatcher = dispatcher(&found, &store, answered.clone());
    print("ready");
    if std::env::var(DRAIN).unwrap() == "true" {
        while store.outbox().counts(None).await.unwrap().pending > 0 {
            dispatcher.run_once().await.unwrap();
        }
        print("drained");
        return std::future::pending().await;
    }
    let delivering = dispatcher.clone();
    tokio::spawn(async move { delivering.run(std::future::pending()).await });
    let last = "SELECT coalesce(max(number), 0) FROM entry";
    let last: u32 = store
        .read(move |connection| connection.query_row(last, [], |row| row.get(0)))
        .await
        .unwrap();
    for number in last + 1.. {
        answered.acquire().await.unwrap().forget();
        let (message, headers) = query(number);
        let message = message
            .outgoing_with(endpoint(), &headers, &OutgoingOptions::new())
            .unwrap();
        let now = found.clock.now();
        let booked = store.transaction(move |transaction| {
            let insert = "INSERT INTO entry VALUES (?1)";
            transaction
                .connection()
                .execute(insert, [number])
                .map_err(|error| error.to_string())?;
            transaction
                .enqueue(&message, now)
                .map_err(|error| error.to_string())
        });
        let _: Result<_, TransactionError<String>> =
            booked.await.inspect_err(|error| panic!("{error:?}"));
        dispatcher.wake();
        print("working");
    }
}

async fn serve(found: &Surroundings, store: &SqliteStore) -> impl Future<Output = ()> + use<> {
    let url = format!("https://localhost:{}/v1.0/auth", found.bank_port);
    let scopes = ScopeSet::parse(names::STATEMENT_READ).unwrap();
    let key = found.assertion.verifying_key();
    let customer = Customer::new("BILLER".parse().unwrap(), KeySet::from(key), scopes);
    let mut limits = Limits::new();
    limits.set_default(CallType::Token, Policy::unlimited());
    limits.set_default(CallType::Statement, Policy::unlimited());
    let provider = Provider::new(
        Arc::new(OneCustomer(Arc::new(customer))),
        Arc::new(Books(store.clone())),
        Arc::new(store.clone()),
        Verifier::new(Audience::parse(&url).unwrap(), VerifierOptions::new()),
        ProviderOptions::new()
            .clock(Arc::new(found.clock))
            .cursor_secret(CursorSecret::from_bytes([7; 32]))
            .limiter(Arc::new(Limiter::new(
                limits,
                Arc::new(MemoryCounters::default()),
            ))),
    );
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, found.bank_port))
        .await
        .unwrap();
    Server::new(
        listener,
        found.tls(),
        provider.unwrap().router(),
        Default::default(),
    )
    .run(std::future::pending())
}

fn dispatcher(found: &Surroundings, store: &SqliteStore, answered: Arc<Semaphore>) -> Dispatcher {
    let roots = TlsRoots::OnlyPem(found.certificate());
    let inner = HttpsTransport::new(HttpsTransportOptions::new().tls_roots(roots)).unwrap();
    let options = DispatcherOptions::new()
        .schedule(Schedule::new(
            std::iter::repeat_n(Duration::from_millis(20), 100_000),
            50,
        ))
        .timeout(Duration::from_secs(10))
        .per_endpoint(16)
        .breaker(BreakerPolicy::new().failures(u32::MAX))
        .longest_idle(Duration::from_millis(20))
        .shortest_idle(Duration::from_millis(5));
    let endpoints = endpoints(
        &format!("https://localhost:{}/", found.biller_port),
        &found.keys,
    );
    let transport = Arc::new(Counting { inner, answered });
    Dispatcher::new(
        Arc::new(store.outbox()),
        endpoints,
        transport,
        options.clock(Arc::new(found.clock)),
    )
    .unwrap()
}

/// A transport that gives a permit for each answer.
#[derive(Debug)]
struct Counting {
    inner: HttpsTransport,
    answered: Arc<Semaphore>,
}

impl Transport for Counting {
    fn post(&self, request: TransportRequest) -> TransportFuture<'_> {
        Box::pin(async move {
            let answer = self.inner.post(request).await;
            if answer.is_ok() {
                self.answered.add_permits(1);
            }
            answer
        })
    }
}

#[derive(Debug)]
struct OneCustomer(Arc<Customer>);

impl Directory for OneCustomer {
    fn customer_by_api_key(&self, key: ApiKeyHash) -> StoreFuture<'_, Option<Arc<Customer>>> {
        let found = (key == ApiKeyHash::of(CUSTOMER_KEY.as_bytes())).then(|| self.0.clone());
        Box::pin(async move { Ok(found) })
    }
}

/// A ledger of one account's entries of one day, stored as numbers from which the entries are made.
#[derive(Debug)]
struct Books(SqliteStore);

impl Ledger for Books {
    fn statement<'a>(&'a self, query: &'a StatementQuery) -> StoreFuture<'a, LedgerAnswer> {
        assert_eq!(
            query.sort_order,
            SortOrder::Forward,
            "nobody asks for another order"
        );
        let after = query
            .position
            .as_ref()
            .map_or(Some(0), PagePosition::as_number)
            .unwrap();
        let after = u32::try_from(after).unwrap();
        let most = query.max_entries.get();
        Box::pin(async move {
            let select = "SELECT number FROM entry WHERE number > ?1 ORDER BY number LIMIT ?2";
            let numbers = self
                .0
                .read(move |connection| -> rusqlite::Result<Vec<u32>> {
                    let mut select = connection.prepare_cached(select)?;
                    select
                        .query_map((after, u32::from(most) + 1), |row| row.get(0))?
                        .collect()
                });
            let mut numbers = numbers.await.unwrap();
            let more = numbers.len() > usize::from(most);
            numbers.truncate(usize::from(most));
            let entries = numbers.iter().map(|number| {
                let entry = EntryBuilder::new("1.00 AUD".parse().unwrap(), query.day);
                let entry = match reference(*number) {
                    Some(reference) => entry.servicer_reference(&reference),
                    None => entry,
                };
                LedgerEntry::new(entry.build().unwrap(), EntryChannel::Ordinary)
            });
            let account = RegisteredAccount::new(Currency::AUD);
            let page = LedgerPage::new(account, Decimal::ZERO, query.day).with_entries(entries);
            Ok(match numbers.last().filter(|_| more) {
                Some(last) => page
                    .with_next(PagePosition::from_number(u64::from(*last)))
                    .into(),
                None => page.into(),
            })
        })
    }
}
