//! The leases of one worker: who owns the next one, which were asked for without an answer, and how one is ended.

use bankrail_mailbox::{EndpointId, EntryId, LeaseOwner};
use bankrail_values::{StoreError, StoreFuture};
use futures_util::FutureExt as _;
use std::time::Duration;
use tokio::time::Instant;

/// How long after it was asked for a lease may still be made: by a database that gets late what was sent to it.
const MADE_LATE: Duration = Duration::from_secs(30);

/// How long after a failure of the outbox a lease is tried to be ended again: the first time, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Each lease has an owner of its own, so that what belongs to one never changes another.
#[derive(Debug)]
pub(super) struct Leases {
    random: [u8; 16],
    asked: u64,
    unanswered: Vec<Unanswered>,
    /// The endpoint whose entry was leased last.
    pub(super) last_quick: Option<EndpointId>,
    pub(super) last_slow: Option<EndpointId>,
}

/// A lease that the outbox may have made all the same. It is over by itself at its end.
#[derive(Debug)]
struct Unanswered {
    owner: LeaseOwner,
    asked: Instant,
    ends: Instant,
}

impl Leases {
    pub(super) fn new(random: [u8; 16]) -> Self {
        Self { random, asked: 0, unanswered: Vec::new(), last_quick: None, last_slow: None }
    }

    /// The owners whose leases are to be given back.
    pub(super) fn unanswered(&mut self, now: Instant) -> Vec<LeaseOwner> {
        self.unanswered.retain(|lease| now < lease.ends);
        self.unanswered.iter().map(|lease| lease.owner).collect()
    }

    /// They were given back by a call that began at this instant. Those that may still be made stay.
    pub(super) fn given_back(&mut self, began: Instant) {
        self.unanswered.retain(|lease| began < lease.asked + MADE_LATE);
    }

    /// A lease is asked for: its owner.
    pub(super) fn ask(&mut self, asked: Instant, ends: Instant) -> LeaseOwner {
        self.asked = self.asked.wrapping_add(1);
        let mut bytes = self.random;
        for (byte, number) in bytes.iter_mut().zip(self.asked.to_be_bytes()) {
            *byte ^= number;
        }
        let owner = LeaseOwner::from_random_bytes(bytes);
        self.unanswered.push(Unanswered { owner, asked, ends });
        owner
    }

    /// The lease that was asked for last has been answered.
    pub(super) fn answered(&mut self) {
        self.unanswered.pop();
    }
}

/// Ends a lease: tries until the outbox answers, as long as the lease lasts. `waits` is called if it does not at once.
///
/// The next lease follows an answer at once, so that a store can make both durable together.
pub(super) async fn end_lease<'a>(
    entry: EntryId,
    lease_ends: Instant,
    waits: impl FnOnce(),
    mut attempt: impl FnMut() -> StoreFuture<'a, bool>,
) -> Result<bool, StoreError> {
    let mut first = attempt();
    let mut answer = match first.as_mut().now_or_never() {
        Some(answer) => answer,
        None => {
            waits();
            first.await
        }
    };
    let mut pause = FIRST_PAUSE;
    while let Err(error) = &answer
        && Instant::now() + pause < lease_ends
    {
        tracing::warn!(%entry, %error, "the outbox failed, and is tried again");
        tokio::time::sleep(pause).await;
        answer = attempt().await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_was_not_answered_is_given_back_until_it_cannot_be_made_any_more() {
        let mut leases = Leases::new([7; 16]);
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let first = leases.ask(start, after(40));
        let second = leases.ask(start, after(40));
        assert_ne!(first, second);
        leases.answered();
        assert_eq!(leases.unanswered(after(5)), [first]);
        leases.given_back(after(5));
        assert_eq!(leases.unanswered(after(29)), [first], "it may have been made since");
        leases.given_back(after(29));
        assert_eq!(leases.unanswered(after(31)), [first], "the last call may have been too early");
        leases.given_back(after(31));
        assert!(leases.unanswered(after(32)).is_empty());
        let third = leases.ask(after(32), after(72));
        assert_eq!(leases.unanswered(after(71)), [third], "however long the outbox fails");
        assert!(leases.unanswered(after(72)).is_empty(), "it is over");
    }
}
