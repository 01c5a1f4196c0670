//! Options of a folder.

use super::CustomerFolder;
use crate::customers::CustomersError;
use bankrail_values::{Clock, SystemClock};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Options for opening a [`CustomerFolder`].
#[derive(Clone, Debug)]
pub struct CustomerFolderOptions {
    pub(super) interval: Duration,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) http_on_loopback: bool,
}

impl Default for CustomerFolderOptions {
    fn default() -> Self {
        Self { interval: Duration::from_secs(5), clock: Arc::new(SystemClock), http_on_loopback: false }
    }
}

impl CustomerFolderOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how often at most it is looked whether a file has changed, which is one `stat` of each file. Default: 5 s.
    /// With zero, each lookup looks.
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

    /// Sets whether endpoints may have an `http` address on loopback. Default: no. For tests and sandboxes only: other
    /// programs on the machine may read everything that is sent, including the API key.
    #[must_use]
    pub fn danger_allow_http_on_loopback(mut self, allow: bool) -> Self {
        self.http_on_loopback = allow;
        self
    }

    /// Reads a folder. Blocks while it reads.
    ///
    /// # Errors
    /// [`CustomersError`] with all faults of all files.
    pub fn open(self, path: impl Into<PathBuf>) -> Result<CustomerFolder, CustomersError> {
        CustomerFolder::open_with(path.into(), self)
    }
}
