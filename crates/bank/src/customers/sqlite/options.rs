//! Options of a directory in SQLite.

use bankrail_values::{Clock, SystemClock};
use std::sync::Arc;
use std::time::Duration;

bankrail_values::options! {
    /// Options of a [`SqliteDirectory`](super::SqliteDirectory).
    #[derive(Clone, Debug)]
    pub struct SqliteDirectoryOptions {
        /// How often a [`DirectoryFollower`](crate::DirectoryFollower) asks for changes. Default: 5 s. Lookups see each
        /// change at once.
        pub(super) interval: Duration = Duration::from_secs(5),
        /// The clock that decides whether an API key is valid. Default: the operating system's.
        pub(super) clock: Arc<dyn Clock> = Arc::new(SystemClock),
    }
}
