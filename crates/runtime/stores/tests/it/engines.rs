//! The engines, and the macro that runs a suite over each of them.

use bankrail_mailbox::{
    DuplicateKey, EndpointId, EntryId, Fingerprint, Inbox, Incoming, KeyHash, Kind, Lease,
    LeaseOwner, OpaqueBytes, Outgoing,
};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::{HyphenatedUuid, Timestamp};

/// Returns the instant `millis` milliseconds after a fixed one.
pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(1_800_000_000_000 + millis).unwrap()
}

pub(crate) fn owner(number: u8) -> LeaseOwner {
    LeaseOwner::from_random_bytes([number; 16])
}

/// Returns a lease of `owner(number)` until `until`.
pub(crate) fn lease(number: u8, until: i64) -> Lease {
    Lease {
        owner: owner(number),
        until: at(until),
    }
}

/// Returns the UUID of this number.
fn uuid(number: u32) -> HyphenatedUuid {
    HyphenatedUuid::from_random_bytes((u128::from(number) << 96).to_be_bytes())
}

/// A message whose duplicate key is the case and whose content is the text.
pub(crate) struct Query {
    case: u32,
    text: &'static str,
}

impl Query {
    fn hash(&self, text: &str) -> [u8; 32] {
        let mut hash = [0; 32];
        hash[..4].copy_from_slice(&self.case.to_be_bytes());
        hash[4..][..text.len()].copy_from_slice(text.as_bytes());
        hash
    }

    fn body(&self) -> OpaqueBytes {
        format!("{} of case {}", self.text, self.case)
            .into_bytes()
            .into()
    }
}

/// Returns the query of this case with this text.
pub(crate) fn query(case: u32, text: &'static str) -> Query {
    Query { case, text }
}

/// Makes a message as it arrives with delivery number `delivery`.
pub(crate) fn incoming(message: &Query, delivery: u32) -> Incoming {
    Incoming {
        kind: Kind::from_static("query"),
        key: DuplicateKey::from(KeyHash::from_bytes(message.hash(""))),
        fingerprint: Fingerprint::from_bytes(message.hash(message.text)),
        other_spellings: Vec::new(),
        interim: false,
        attributes: format!("delivery {delivery} \u{fc}\0").into_bytes().into(),
        body: message.body(),
        acknowledgement: format!("acknowledgement {delivery}").into_bytes().into(),
    }
}

/// Receives a message and leases it, with all others that are due.
pub(crate) async fn receive_and_lease(
    inbox: &impl Inbox,
    message: &Incoming,
    lease: Lease,
    now: Timestamp,
) -> EntryId {
    let received = inbox.receive(message, now).await.unwrap();
    let leased = inbox.lease(&[], 1000, lease, now).await.unwrap();
    assert!(leased.iter().any(|entry| entry.id == received.id()));
    received.id()
}

/// Returns the message with this number, for this endpoint.
pub(crate) fn outgoing(endpoint: &str, number: u32) -> Outgoing {
    let endpoint: EndpointId = endpoint.parse().unwrap();
    let message = query(number, "Why?");
    Outgoing {
        endpoint,
        kind: Kind::from_static("query"),
        message_id: uuid(number),
        fingerprint: Fingerprint::from_bytes(message.hash(message.text)),
        attributes: b"headers".to_vec().into(),
        body: message.body(),
    }
}

/// A store and the resources that must live as long.
pub(crate) struct Engine<S> {
    pub(crate) store: S,
    _folder: Option<tempfile::TempDir>,
}

pub(crate) fn memory() -> Engine<MemoryStore> {
    Engine {
        store: MemoryStore::new(),
        _folder: None,
    }
}

#[cfg(feature = "sqlite")]
pub(crate) fn sqlite_memory() -> Engine<bankrail_stores::sqlite::SqliteStore> {
    Engine {
        store: bankrail_stores::sqlite::SqliteStore::open_in_memory(Default::default()).unwrap(),
        _folder: None,
    }
}

#[cfg(feature = "sqlite")]
pub(crate) fn sqlite_file() -> Engine<bankrail_stores::sqlite::SqliteStore> {
    let folder = tempfile::tempdir().unwrap();
    let store = bankrail_stores::sqlite::SqliteStore::open(
        folder.path().join("bankrail.db"),
        Default::default(),
    )
    .unwrap();
    Engine {
        store,
        _folder: Some(folder),
    }
}

/// Makes a PostgreSQL store in a new schema of the database that `BANKRAIL_POSTGRES` names.
#[cfg(feature = "postgres")]
pub(crate) async fn postgres() -> Engine<bankrail_stores::postgres::PostgresStore> {
    use bankrail_stores::postgres::{PostgresStore, tokio_postgres::NoTls};
    let store = PostgresStore::connect(&postgres_schema().await, NoTls, Default::default())
        .await
        .unwrap();
    Engine {
        store,
        _folder: None,
    }
}

/// Creates an empty schema and returns a connection string that uses it.
#[cfg(feature = "postgres")]
pub(crate) async fn postgres_schema() -> String {
    use bankrail_stores::postgres::tokio_postgres::{NoTls, connect};
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let config =
        std::env::var("BANKRAIL_POSTGRES").expect("BANKRAIL_POSTGRES names a database to write to");
    let schema = format!(
        "test_{}_{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    );
    let (client, connection) = connect(&config, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
        .batch_execute(&format!(
            "DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}"
        ))
        .await
        .unwrap();
    format!("{config} options='-c search_path={schema}'")
}

/// Runs each case, an `async fn(S)`, over the engines that need no server. `inbox:` and `outbox:`
/// pass that part of a store, and also run over PostgreSQL.
macro_rules! suite {
    ($($case:ident),+ $(,)?) => {
        crate::engines::suite!(@engines clone $($case)+);
    };
    ($part:ident: $($case:ident),+ $(,)?) => {
        crate::engines::suite!(@engines $part $($case)+);
        #[cfg(feature = "postgres")]
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[ignore = "needs postgresql"]
            async fn $case() {
                let engine = crate::engines::postgres().await;
                super::$case(engine.store.$part()).await;
            })+
        }
    };
    (@engines $part:ident $($case:ident)+) => {
        crate::engines::suite!(@engine memory memory $part $($case)+);
        #[cfg(feature = "sqlite")]
        crate::engines::suite!(@engine sqlite_memory sqlite_memory $part $($case)+);
        #[cfg(feature = "sqlite")]
        crate::engines::suite!(@engine sqlite_file sqlite_file $part $($case)+);
    };
    (@engine $module:ident $make:ident $part:ident $($case:ident)+) => {
        mod $module {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                let engine = crate::engines::$make();
                super::$case(engine.store.$part()).await;
            })+
        }
    };
}
pub(crate) use suite;
