//! The state that all receivers share.

use super::open::Opening;
use super::options::ReceiversOptions;
use bankrail_values::SecretString;
use http::HeaderName;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

#[derive(Debug)]
pub(super) struct Shared<I: ?Sized> {
    pub(super) opening: Opening,
    pub(super) key_header: HeaderName,
    pub(super) api_key: SecretString,
    pub(super) inbox: Arc<I>,
    pub(super) options: ReceiversOptions,
    /// The maximum age of a message.
    pub(super) max_age: Option<Duration>,
    /// Wakes the workers when a new message is stored.
    pub(super) arrived: Arc<Notify>,
}
