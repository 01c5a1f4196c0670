//! The engines, and the macro that runs a suite over each of them.

use bankrail_stores::memory::MemoryStore;
use bankrail_values::Timestamp;

/// The instant `millis` after an arbitrary one.
pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(1_800_000_000_000 + millis).unwrap()
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

/// Runs each case, an `async fn(S)`, over every engine that is always there.
macro_rules! suite {
    ($($case:ident),+ $(,)?) => {
        crate::engines::suite!(@engine memory memory $($case)+);
        #[cfg(feature = "sqlite")]
        crate::engines::suite!(@engine sqlite_memory sqlite_memory $($case)+);
        #[cfg(feature = "sqlite")]
        crate::engines::suite!(@engine sqlite_file sqlite_file $($case)+);
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
