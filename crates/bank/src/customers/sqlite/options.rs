//! Options of a directory in SQLite.

use bankrail_values::{Clock, SystemClock};
use std::sync::Arc;
use std::time::Duration;

/// Options of a [`SqliteDirectory`](super::SqliteDirectory).
#[derive(Clone, Debug)]
pub struct SqliteDirectoryOptions {
    pub(super) interval: Duration,
    pub(super) clock: Arc<dyn Clock>,
}

impl Default for SqliteDirectoryOptions {
    fn default() -> Self {
        Self { interval: Duration::from_secs(5), clock: Arc::new(SystemClock) }
    }
}

impl SqliteDirectoryOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how often a [`DirectoryFollower`](crate::DirectoryFollower) asks for changes. Default: 5 s.
    /// Lookups see each change at once.
    #[must_use]
    pub fn interval(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }

    /// Sets the clock that decides whether an API key is valid. Default: the operating system's.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }
}
