//! The owners of one worker's leases.

use super::LeaseOwner;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How long after it was asked for a lease may still be made: by a database that gets late what was
/// sent to it.
const MADE_LATE: Duration = Duration::from_secs(30);

/// How many leases without an answer are remembered.
const MOST: usize = 100;

/// The owners of one worker's leases: one for each lease, so that what belongs to one never changes
/// another.
///
/// A store may have made a lease whose answer was lost, by a time-out or by a restart of the
/// database. Its entries then wait for its end, although nobody works on them. So a worker gives
/// back what was not answered before it leases again:
///
/// ```
/// use bankrail_mailbox::{Lease, LeaseOwner, LeaseOwners, LeaseRequest, Outbox, OutboxEntry};
/// use bankrail_values::{StoreError, Timestamp};
/// use std::time::{Duration, Instant};
///
/// async fn lease(
///     outbox: &dyn Outbox,
///     owners: &mut LeaseOwners,
///     now: Timestamp,
/// ) -> Result<(LeaseOwner, Vec<OutboxEntry>), StoreError> {
///     let began = Instant::now();
///     let unanswered = owners.unanswered(began);
///     if !unanswered.is_empty() {
///         outbox.release_all(&unanswered).await?;
///         owners.given_back(began);
///     }
///     let lasts = Duration::from_secs(60);
///     let owner = owners.ask(Instant::now(), lasts);
///     let lease = Lease { owner, until: now.saturating_add(lasts) };
///     let entries = outbox.lease(LeaseRequest::new(lease, 8), now).await?;
///     owners.answered(owner);
///     Ok((owner, entries))
/// }
/// ```
///
/// - A store may make a lease late, after it was given back: it is given back again for 30 s.
/// - Of many leases without an answer the last 100 are remembered. Those before are over at their
///   ends.
#[derive(Debug)]
pub struct LeaseOwners {
    random: [u8; 16],
    asked: u64,
    unanswered: VecDeque<Unanswered>,
}

/// A lease that the store may have made all the same. It is over by itself at its end.
#[derive(Debug)]
struct Unanswered {
    owner: LeaseOwner,
    asked: Instant,
    lasts: Duration,
}

impl LeaseOwners {
    /// The owners of a worker, which 16 bytes from a random generator distinguish from those of
    /// other workers.
    #[must_use]
    pub const fn from_random_bytes(random: [u8; 16]) -> Self {
        Self {
            random,
            asked: 0,
            unanswered: VecDeque::new(),
        }
    }

    /// A lease is asked for that lasts so long: its owner.
    pub fn ask(&mut self, now: Instant, lasts: Duration) -> LeaseOwner {
        self.asked = self.asked.wrapping_add(1);
        let mut bytes = self.random;
        for (byte, number) in bytes.iter_mut().zip(self.asked.to_be_bytes()) {
            *byte ^= number;
        }
        let owner = LeaseOwner::from_random_bytes(bytes);
        if self.unanswered.len() >= MOST {
            self.unanswered.pop_front();
        }
        self.unanswered.push_back(Unanswered {
            owner,
            asked: now,
            lasts,
        });
        owner
    }

    /// The lease of this owner has been answered.
    pub fn answered(&mut self, owner: LeaseOwner) {
        self.unanswered.retain(|lease| lease.owner != owner);
    }

    /// The owners whose leases are to be given back.
    pub fn unanswered(&mut self, now: Instant) -> Vec<LeaseOwner> {
        self.unanswered
            .retain(|lease| now.saturating_duration_since(lease.asked) < lease.lasts);
        self.unanswered.iter().map(|lease| lease.owner).collect()
    }

    /// They were given back by a call that began at this instant. Those that may still be made
    /// stay.
    pub fn given_back(&mut self, began: Instant) {
        self.unanswered
            .retain(|lease| began.saturating_duration_since(lease.asked) < MADE_LATE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owners() -> (LeaseOwners, impl Fn(u64) -> Instant) {
        let start = Instant::now();
        (LeaseOwners::from_random_bytes([7; 16]), move |seconds| {
            start + Duration::from_secs(seconds)
        })
    }

    #[test]
    fn what_was_not_answered_is_given_back_until_it_cannot_be_made_any_more() {
        let (mut owners, after) = owners();
        let lasts = Duration::from_secs(40);
        let first = owners.ask(after(0), lasts);
        let second = owners.ask(after(0), lasts);
        assert_ne!(first, second);
        owners.answered(second);
        assert_eq!(owners.unanswered(after(5)), [first]);
        owners.given_back(after(5));
        assert_eq!(
            owners.unanswered(after(29)),
            [first],
            "it may have been made since"
        );
        owners.given_back(after(29));
        assert_eq!(
            owners.unanswered(after(30)),
            [first],
            "the last call may have been too early"
        );
        owners.given_back(after(30));
        assert!(owners.unanswered(after(31)).is_empty());
        let third = owners.ask(after(32), lasts);
        assert_eq!(
            owners.unanswered(after(71)),
            [third],
            "however long the store fails"
        );
        assert!(owners.unanswered(after(72)).is_empty(), "it is over");
    }

    #[test]
    fn the_last_hundred_are_remembered() {
        let (mut owners, after) = owners();
        let asked: Vec<LeaseOwner> = (0..101)
            .map(|_| owners.ask(after(0), Duration::MAX))
            .collect();
        assert_eq!(owners.unanswered(after(1)), asked[1..]);
        owners.answered(asked[100]);
        assert_eq!(owners.unanswered(after(1)), asked[1..100]);
    }
}
