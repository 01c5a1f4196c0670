//! Options of polls.

use std::time::Duration;

/// Options of an [`AccountPoll`](super::AccountPoll).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollOptions {
    pub(super) full_walk_every: Duration,
    pub(super) max_pages: usize,
}

impl Default for PollOptions {
    fn default() -> Self {
        Self { full_walk_every: Duration::from_secs(3_600), max_pages: 100 }
    }
}

impl PollOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How long after a full walk the next one is made, and so how late an entry can be handed over that the bank has
    /// inserted before the last page. With zero, each walk is a full one. Default: 1 h.
    #[must_use]
    pub fn full_walk_every(mut self, interval: Duration) -> Self {
        self.full_walk_every = interval;
        self
    }

    /// The most pages of a walk. A longer statement is [`WalkError::TooManyPages`](crate::WalkError::TooManyPages).
    /// Default: 100.
    #[must_use]
    pub fn max_pages(mut self, pages: usize) -> Self {
        self.max_pages = pages;
        self
    }
}
