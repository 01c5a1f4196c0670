//! The owners of one worker's leases.

use super::LeaseOwner;
use bankrail_values::Timestamp;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The time after a request for a lease within which a database may still make the lease.
const MADE_LATE: Duration = Duration::from_secs(30);

/// The maximum number of remembered leases without an answer.
const MAX_UNANSWERED: usize = 100;

/// The time between two searches for entries that were written while a clock was ahead.
const RECALL_INTERVAL: Duration = Duration::from_secs(60);

/// The owners of one worker's leases: one for each lease, so that a call for one lease never
/// changes another.
///
/// A store may have made a lease whose answer was lost, by a time-out or by a restart of the
/// database. The entries then wait for the end of the lease, although no worker has them. So a
/// worker releases unanswered leases before it leases again:
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
/// - A store may make a lease late, after its release, so a lease is released repeatedly for 30
///   s.
/// - The last 100 leases without an answer are remembered. Earlier leases end by themselves.
#[derive(Debug)]
pub struct LeaseOwners {
    random: [u8; 16],
    asked: u64,
    unanswered: VecDeque<Unanswered>,
    recalled: Option<Timestamp>,
}

/// A lease without an answer, which the store may have made.
#[derive(Debug)]
struct Unanswered {
    owner: LeaseOwner,
    asked: Instant,
    lasts: Duration,
}

impl LeaseOwners {
    /// Makes the owners of a worker, which 16 bytes from a random generator distinguish from those
    /// of other workers.
    #[must_use]
    pub const fn from_random_bytes(random: [u8; 16]) -> Self {
        Self {
            random,
            asked: 0,
            unanswered: VecDeque::new(),
            recalled: None,
        }
    }

    /// Returns true if the worker should search for entries that were written while a clock was
    /// ahead ([`Outbox::recall`](crate::Outbox::recall), [`Inbox::recall`](crate::Inbox::recall))
    /// before it leases: at the first call, once a minute, and after its clock was set back.
    pub fn is_recall_due(&mut self, now: Timestamp) -> bool {
        let is_due = self
            .recalled
            .is_none_or(|at| now < at || now.saturating_since(at) >= RECALL_INTERVAL);
        if is_due {
            self.recalled = Some(now);
        }
        is_due
    }

    /// Returns the owner of a lease that is about to be requested, for this duration.
    pub fn ask(&mut self, now: Instant, lasts: Duration) -> LeaseOwner {
        self.asked = self.asked.wrapping_add(1);
        let mut bytes = self.random;
        for (byte, number) in bytes.iter_mut().zip(self.asked.to_be_bytes()) {
            *byte ^= number;
        }
        let owner = LeaseOwner::from_random_bytes(bytes);
        if self.unanswered.len() >= MAX_UNANSWERED {
            self.unanswered.pop_front();
        }
        self.unanswered.push_back(Unanswered {
            owner,
            asked: now,
            lasts,
        });
        owner
    }

    /// Forgets an owner after the answer to its lease.
    pub fn answered(&mut self, owner: LeaseOwner) {
        self.unanswered.retain(|lease| lease.owner != owner);
    }

    /// Returns the owners whose leases must be released.
    pub fn unanswered(&mut self, now: Instant) -> Vec<LeaseOwner> {
        self.unanswered
            .retain(|lease| now.saturating_duration_since(lease.asked) < lease.lasts);
        self.unanswered.iter().map(|lease| lease.owner).collect()
    }

    /// Forgets the owners whose leases a release that began at this instant has released. Owners
    /// whose lease may still be made stay.
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
    fn what_a_clock_was_ahead_by_is_looked_for_once_a_minute_and_when_it_was_set_back() {
        let (mut owners, _) = owners();
        let at = |seconds: i64| Timestamp::saturating_from_unix_millis(seconds * 1000);
        let looks = [
            (0, true),
            (59, false),
            (60, true),
            (2_592_000, true),
            (61, true),
            (62, false),
            (0, true),
            (-1, true),
        ];
        for (seconds, expected) in looks {
            assert_eq!(owners.is_recall_due(at(seconds)), expected, "{seconds}");
        }
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
