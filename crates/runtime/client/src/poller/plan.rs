//! The plan of the polls, so that each account is polled late on its bank's day.

use super::Poller;
use bankrail_statement::AccountPoll;
use bankrail_values::Timestamp;
use std::time::Duration;

pub(super) const HOUR: Duration = Duration::from_secs(3_600);

/// An account among those that share the calls of an hour, before the end of a day.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    index: usize,
    accounts: usize,
    calls_an_hour: usize,
    ends_at: Timestamp,
    /// The time between the last polls and the end.
    before: Duration,
}

impl Plan {
    /// Returns the time of the account's last poll: as late as possible, but earlier by the hours
    /// that the calls for later accounts take.
    fn last_poll(self) -> Timestamp {
        // Others are late each day.
        // Negative before 1970 only, when the order may stay the same.
        let day = usize::try_from(self.ends_at.unix_seconds().div_euclid(86_400)).unwrap_or(0);
        let place = self.index.saturating_add(day) % self.accounts.max(1);
        let after = self.accounts.saturating_sub(place.saturating_add(1));
        self.latest()
            .saturating_sub(hours(after / self.calls_an_hour.max(1)))
    }

    fn latest(self) -> Timestamp {
        self.ends_at.saturating_sub(self.before)
    }

    /// Returns the time from which on calls are reserved for the last polls.
    fn begin(self) -> Timestamp {
        self.latest()
            .saturating_sub(hours(self.accounts.div_ceil(self.calls_an_hour.max(1))))
    }

    /// Returns the number of calls of the last hour that remain for other polls. Each account needs
    /// one call for its last poll, and has used another one shortly before.
    fn free_calls(self) -> Option<u32> {
        let free = self
            .calls_an_hour
            .saturating_sub(self.accounts.saturating_mul(2));
        // The number of accounts is far below 32 bits; more saturates.
        (free > 0).then(|| u32::try_from(free).unwrap_or(u32::MAX))
    }

    /// Returns the time of the next poll after one that ended now.
    pub(super) fn next_poll(self, now: Timestamp, every: Duration) -> Timestamp {
        let regular = now.saturating_add(every);
        if now >= self.ends_at || regular <= self.begin() {
            return regular;
        }
        match self.free_calls() {
            Some(_) if now >= self.last_poll() => regular,
            Some(free) => {
                // Evenly, so that the free calls of an hour are enough for all accounts.
                let spaced =
                    HOUR.saturating_mul(u32::try_from(self.accounts).unwrap_or(u32::MAX)) / free;
                now.saturating_add(spaced.max(every)).min(self.last_poll())
            }
            // The calls that are left today are those of the accounts after this one.
            None if now >= self.last_poll() => regular.max(self.ends_at),
            None => self.last_poll(),
        }
    }

    /// Returns the time of the next try of a call that the limit holds back until `retry_at`: the
    /// time of the last polls, if calls are reserved for them.
    pub(super) fn held_back(self, now: Timestamp, retry_at: Timestamp) -> Timestamp {
        let kept = self.free_calls().is_none() && retry_at > self.begin() && now < self.last_poll();
        if kept {
            retry_at.max(self.last_poll())
        } else {
            retry_at
        }
    }
}

impl Poller {
    /// Returns the account's plan before the end of its bank's day, if that is known.
    pub(super) fn plan(&self, index: usize, poll: &AccountPoll) -> Option<Plan> {
        Some(Plan {
            index,
            accounts: self.0.accounts.len(),
            calls_an_hour: self.calls_an_hour(),
            ends_at: poll.day_ends_at()?,
            before: self.0.options.last_poll,
        })
    }

    /// Logs that the accounts together need more calls than are allowed, if that is so.
    pub(super) fn log_excess(&self) {
        let accounts = &self.0.accounts;
        let wanted: usize = accounts
            .iter()
            .map(|polled| polls_an_hour(polled.every))
            .sum();
        let allowed = self.calls_an_hour();
        if wanted > allowed {
            let hour = u64::try_from(accounts.len()).map_or(u64::MAX, |count| 3_600 * count);
            let every = hour.div_ceil(u64::try_from(allowed).unwrap_or(u64::MAX).max(1));
            tracing::warn!(
                accounts = self.labels().join(", "),
                wanted,
                allowed,
                "the accounts are to be polled more often in an hour than calls are allowed, so that \
                 polls come later: poll each every {every} s (PolledAccount::every), or have the \
                 service allow more calls (ClientOptions::statement_limits)"
            );
        }
    }

    /// Returns the number of calls in an hour that a plan counts on.
    pub(super) fn calls_an_hour(&self) -> usize {
        let calls = self.0.source.calls_an_hour().unwrap_or(usize::MAX);
        let each = self.0.source.counts_each_account();
        if each {
            calls.saturating_mul(self.0.accounts.len())
        } else {
            calls
        }
    }
}

/// Returns the longest time without a poll of an account while the calls of the last hours of a day
/// are reserved.
pub(super) fn longest_wait(accounts: usize, calls_an_hour: usize) -> Duration {
    if accounts.saturating_mul(2) < calls_an_hour {
        return Duration::ZERO;
    }
    hours(accounts.div_ceil(calls_an_hour.max(1)).saturating_add(2))
}

/// Returns the number of polls in an hour.
pub(super) fn polls_an_hour(every: Duration) -> usize {
    // Lossless: an interval is at least a second, so there are at most 3,600.
    usize::try_from(HOUR.as_secs() / every.as_secs().max(1)).unwrap_or(usize::MAX)
}

fn hours(count: usize) -> Duration {
    HOUR.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The calls of a day's last hours are reserved if two polls of each account take all calls of
    /// an hour.
    #[test]
    fn an_account_waits_as_long_as_calls_are_kept() {
        for (accounts, calls, expected) in [
            (0, 25, 0),
            (12, 25, 0),
            (13, 26, 3),
            (25, 25, 3),
            (26, 25, 4),
            (1, 0, 3),
        ] {
            assert_eq!(
                longest_wait(accounts, calls),
                hours(expected),
                "{accounts} {calls}"
            );
        }
    }
}
