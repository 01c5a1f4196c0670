//! An account that is polled.

use bankrail_statement::{AccountId, Cursor, MaxEntries, StatementRequest};
use std::time::Duration;

/// An account that a [`Poller`](super::Poller) polls, with its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolledAccount {
    pub(super) id: AccountId,
    pub(super) every: Duration,
    /// The request for its first page.
    request: StatementRequest,
    label: Option<String>,
}

impl PolledAccount {
    /// Creates an account with the default options.
    #[must_use]
    pub fn new(id: AccountId) -> Self {
        Self {
            request: StatementRequest::new(&id),
            id,
            every: Duration::from_secs(600),
            label: None,
        }
    }

    /// Sets the time between two polls, at least a second. All accounts of a client share its limit
    /// of statement calls, 25 an hour unless the service allows more, so a poll may be later.
    /// Default: 10 min.
    #[must_use]
    pub fn every(mut self, interval: Duration) -> Self {
        self.every = interval.max(Duration::from_secs(1));
        self
    }

    /// Sets `includeNarrative` of the requests, which must not change later. An entry without a
    /// reference is recognised by its content, to which the narrative belongs, so after a change
    /// such entries of the day would count as new. Default: the service's own.
    #[must_use]
    pub fn include_narrative(mut self, include: bool) -> Self {
        self.request.include_narrative = Some(include);
        self
    }

    /// Sets `maxEntries` of the requests, and so the maximum number of entries that a handler gets
    /// at once. Default: the service's own.
    #[must_use]
    pub fn max_entries(mut self, most: MaxEntries) -> Self {
        self.request.max_entries = Some(most);
        self
    }

    /// Sets the account's name in logs, which never have the account number. Default: the account's
    /// place in the poller, from 1.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Gives the account its number as its name, if it has no other.
    pub(super) fn numbered(mut self, number: usize) -> Self {
        self.label.get_or_insert_with(|| number.to_string());
        self
    }

    /// Returns the account's name in logs.
    pub(super) fn name(&self) -> &str {
        self.label.as_deref().unwrap_or_default()
    }

    pub(super) fn request(&self, cursor: Option<Cursor>) -> StatementRequest {
        let mut request = self.request.clone();
        request.cursor = cursor;
        request
    }
}
