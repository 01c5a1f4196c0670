//! Options of a folder.

use bankrail_values::{Clock, SystemClock};
use std::sync::Arc;
use std::time::Duration;

bankrail_values::options! {
    /// Options of a [`CustomerFolder`](super::CustomerFolder).
    #[derive(Clone, Debug)]
    pub struct CustomerFolderOptions {
        /// How often at most it is looked whether a file has changed, which is one `stat` of each
        /// file. Default: 5 s. With zero, each lookup looks.
        pub(super) interval: Duration = Duration::from_secs(5),
        /// The clock that decides whether an API key is valid. Default: the operating system's.
        pub(super) clock: Arc<dyn Clock> = Arc::new(SystemClock),
        /// Whether endpoints may have an `http` address on loopback. Default: no. For tests and
        /// sandboxes only: other programs on the machine may read everything that is sent,
        /// including the API key.
        pub(super) danger_allow_http_on_loopback: bool = false,
    }
}
