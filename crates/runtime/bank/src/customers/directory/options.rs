//! Options of a directory in a store.

use bankrail_values::{Clock, SystemClock};
use std::sync::Arc;
use std::time::Duration;

bankrail_values::options! {
    /// Options of a [`SqlDirectory`](super::SqlDirectory).
    #[derive(Clone, Debug)]
    pub struct SqlDirectoryOptions {
        /// How often a [`DirectoryFollower`](crate::DirectoryFollower) asks for changes. Default: 5
        /// s. Lookups see each change at once. On PostgreSQL a follower is told of a change, and
        /// asks then; the interval is what it lags by while its connection is lost.
        pub(super) interval: Duration = Duration::from_secs(5),
        /// The clock that decides whether an API key is valid. Default: the operating system's.
        pub(super) clock: Arc<dyn Clock> = Arc::new(SystemClock),
    }
}
