//! The engines, and the macro that runs a suite over each of them.

use bankrail_stores::memory::MemoryStore;
use bankrail_values::{HyphenatedUuid, Timestamp};
use bankrail_webhook::{
    Acknowledgement, DeliveryHeaders, EndpointId, Incoming, Lease, Message, MessageKind, Outgoing, Owner,
};

/// The instant `millis` after an arbitrary one.
pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(1_800_000_000_000 + millis).unwrap()
}

pub(crate) fn owner(number: u8) -> Owner {
    Owner::from_random_bytes([number; 16])
}

/// A lease of `owner(number)` until `until`.
pub(crate) fn lease(number: u8, until: i64) -> Lease {
    Lease { owner: owner(number), until: at(until) }
}

/// A UUID of this number.
pub(crate) fn uuid(number: u32) -> HyphenatedUuid {
    HyphenatedUuid::from_random_bytes((u128::from(number) << 96).to_be_bytes())
}

/// The query of the case `case` with this narrative.
pub(crate) fn query(case: u32, narrative: &str) -> Message {
    let json = format!(
        r#"{{"creation_date_time":"2024-01-02T03:04:05.678Z","case_id":"C{case}","investigation_type_code":"INV14",
        "case_type":"Mandate Query Case","narrative":"{narrative}","mandate_details":{{}}}}"#
    );
    Message::from_json(MessageKind::Query, json.as_bytes()).unwrap().message
}

/// The delivery number `delivery` of a message.
pub(crate) fn incoming(message: &Message, delivery: u32) -> Incoming {
    let headers = DeliveryHeaders::new(uuid(delivery));
    Incoming::new(
        "customer",
        message,
        message.to_json(),
        headers,
        Acknowledgement::received(uuid(1_000_000 + delivery)),
    )
}

/// The message number `number`, to this endpoint.
pub(crate) fn outgoing(endpoint: &str, number: u32) -> Outgoing {
    let endpoint: EndpointId = endpoint.parse().unwrap();
    Outgoing::new(endpoint, &query(number, "Why?"), DeliveryHeaders::new(uuid(number))).unwrap()
}

/// A store and what must live as long as it.
pub(crate) struct Engine<S> {
    pub(crate) store: S,
    _folder: Option<tempfile::TempDir>,
}

pub(crate) fn memory() -> Engine<MemoryStore> {
    Engine { store: MemoryStore::new(), _folder: None }
}

#[cfg(feature = "sqlite")]
pub(crate) fn sqlite_memory() -> Engine<bankrail_stores::sqlite::SqliteStore> {
    Engine { store: bankrail_stores::sqlite::SqliteStore::open_in_memory().unwrap(), _folder: None }
}

#[cfg(feature = "sqlite")]
pub(crate) fn sqlite_file() -> Engine<bankrail_stores::sqlite::SqliteStore> {
    let folder = tempfile::tempdir().unwrap();
    let store = bankrail_stores::sqlite::SqliteStore::open(folder.path().join("bankrail.db")).unwrap();
    Engine { store, _folder: Some(folder) }
}

/// A PostgreSQL store in a schema of its own, in the database that `BANKRAIL_POSTGRES` names.
#[cfg(feature = "postgres")]
pub(crate) async fn postgres() -> Engine<bankrail_stores::postgres::PostgresStore> {
    let store = bankrail_stores::postgres::PostgresStore::connect(&postgres_schema().await).await.unwrap();
    Engine { store, _folder: None }
}

/// Makes an empty schema and answers the connection string that works in it.
#[cfg(feature = "postgres")]
pub(crate) async fn postgres_schema() -> String {
    use bankrail_stores::postgres::tokio_postgres::{NoTls, connect};
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let config = std::env::var("BANKRAIL_POSTGRES").expect("BANKRAIL_POSTGRES names a database to write to");
    let schema = format!("test_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let (client, connection) = connect(&config, NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(&format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}")).await.unwrap();
    format!("{config} options='-c search_path={schema}'")
}

/// Runs each case, an `async fn(S)`, over every engine that is always there.
macro_rules! suite {
    ($($case:ident),+ $(,)?) => {
        crate::engines::suite!(@engine memory memory $($case)+);
        #[cfg(feature = "sqlite")]
        crate::engines::suite!(@engine sqlite_memory sqlite_memory $($case)+);
        #[cfg(feature = "sqlite")]
        crate::engines::suite!(@engine sqlite_file sqlite_file $($case)+);
    };
    // For traits that PostgreSQL has too.
    (with postgres: $($case:ident),+ $(,)?) => {
        crate::engines::suite!($($case),+);
        #[cfg(feature = "postgres")]
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[ignore = "needs postgresql"]
            async fn $case() {
                let engine = crate::engines::postgres().await;
                super::$case(engine.store.clone()).await;
            })+
        }
    };
    (@engine $module:ident $make:ident $($case:ident)+) => {
        mod $module {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                let engine = crate::engines::$make();
                super::$case(engine.store.clone()).await;
            })+
        }
    };
}
pub(crate) use suite;
