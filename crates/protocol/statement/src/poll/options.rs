//! Options of polls.

use std::time::Duration;

bankrail_values::options! {
    /// Options of an [`AccountPoll`](super::AccountPoll).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PollOptions {
        /// How long after a full walk the next one is made, and so how late an entry can be handed
        /// over that the bank has inserted before the last page. With zero, each walk is a full
        /// one. Default: 1 h.
        pub(super) full_walk_every: Duration = Duration::from_secs(3_600),
        /// The most pages of a walk. A longer statement is
        /// [`WalkError::TooManyPages`](crate::WalkError::TooManyPages). Default: 100.
        pub(super) max_pages: usize = 100,
        /// How much of a day may be unseen at its end before that is said
        /// ([`AccountNotice::DayIncomplete`](crate::AccountNotice::DayIncomplete)). Default: 5 min.
        pub(super) unseen: Duration = Duration::from_secs(300),
    }
}
