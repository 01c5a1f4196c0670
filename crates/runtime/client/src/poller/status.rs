//! The status of a poller, account by account.

use super::account::PolledAccount;
use super::error::{PollError, PollerCheckError};
use super::plan::{HOUR, polls_an_hour};
use crate::CallError;
use bankrail_statement::{AccountId, AccountNotice};
use bankrail_values::Timestamp;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The status of an account, as [`Poller::status`](super::Poller::status) returns it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AccountStatus {
    /// The account.
    pub account: AccountId,
    /// The account's name in logs.
    pub label: String,
    /// The state of the account.
    pub state: AccountState,
    /// The time since which the account is stopped. Retries may be under way, but no page was
    /// recorded since.
    pub stopped_since: Option<Timestamp>,
    /// The time at which this poller last recorded a page of the account.
    pub last_page: Option<Timestamp>,
    /// The time at which this poller last completed a poll of the account.
    pub last_poll: Option<Timestamp>,
    /// The time at which a full walk of the account was last completed, as far as this poller
    /// knows.
    pub last_full_walk: Option<Timestamp>,
    /// The last failed call for the account's statement that was to be retried, even if a later one
    /// succeeded. A permanent failure is in [`AccountState::Stopped`].
    pub last_failure: Option<CallFailure>,
}

/// A call that failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallFailure {
    /// The time of the failure.
    pub at: Timestamp,
    /// The error, whose text can quote the service; [`CallError::kind`] does not.
    pub error: Arc<CallError>,
    /// The time at which the call is made again.
    pub retry_at: Timestamp,
}

/// The state of an account in a [`Poller`](super::Poller).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AccountState {
    /// The account's next page is fetched after this time, on its turn.
    #[non_exhaustive]
    Waiting {
        /// The time.
        until: Timestamp,
        /// The reason for the wait.
        reason: WaitReason,
    },
    /// A page is being fetched, or waits for the limit of statement calls.
    Fetching,
    /// A page is being handed over and recorded.
    HandingOver,
    /// The account's polls cannot continue.
    #[non_exhaustive]
    Stopped {
        /// The reason.
        error: Arc<PollError>,
        /// The time of the next retry
        /// ([`PollerOptions::retry_stopped`](super::PollerOptions::retry_stopped)). With `None`,
        /// the account is polled only after [`Poller::resume`](super::Poller::resume) or a restart
        /// of the process.
        retry_at: Option<Timestamp>,
    },
}

/// The reason for which an account waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::Display)]
#[strum(serialize_all = "lowercase")]
#[non_exhaustive]
pub enum WaitReason {
    /// The account waits for its next poll.
    Interval,
    /// The account waits for its turn only.
    Turn,
    /// The account waits to repeat a call that failed.
    Retry,
    /// The account waits for the limit of statement calls.
    #[strum(serialize = "rate limit")]
    RateLimit,
    /// The account waits to call the handler again, after a failure.
    Handler,
    /// The account waits for the store, which failed.
    Store,
    /// The stopped account waits for its retry. This reason occurs in the log only, because the
    /// state is [`AccountState::Stopped`].
    Stopped,
}

/// The state of all accounts.
#[derive(Debug)]
pub(super) struct Board {
    rows: Mutex<Vec<Row>>,
    /// True after a call whose token was refused, until the service accepts a token.
    token_refused: AtomicBool,
}

#[derive(Debug)]
pub(super) struct Row {
    pub(super) status: AccountStatus,
    /// The time at which the running poll, or the next one, was due. If two accounts can continue,
    /// the one that was due first continues.
    pub(super) due: Timestamp,
    /// The number of failures since a page was recorded.
    pub(super) failures: u32,
    /// The number of times in a row that the account was stopped because its statement was refused.
    pub(super) refusals: u32,
    /// The number of pages of the running poll that were recorded.
    pages: usize,
    /// The number of pages of the account's last full walk.
    usual: usize,
    /// The times of the account's calls in the last hour, in their order.
    calls: VecDeque<Timestamp>,
    /// The notices about its last page itself, of which each was given once.
    pub(super) notices: Vec<AccountNotice>,
    /// The time at which the poller was made.
    polled_since: Timestamp,
}

/// The number of pages of an account that are fetched before others that are due have their turn,
/// so that a statement without end leaves the others their share of the calls.
const PAGES_OF_A_TURN: usize = 5;

/// The account whose page is fetched next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The account is polled now.
    Now(usize),
    /// The account is polled at this time.
    Later(usize, Timestamp, WaitReason),
    /// Every account is stopped for good.
    Nobody,
}

impl Board {
    pub(super) fn new(accounts: &[PolledAccount], now: Timestamp) -> Self {
        let row = |account: &PolledAccount| Row {
            status: AccountStatus {
                account: account.id.clone(),
                label: account.name().to_owned(),
                state: AccountState::Waiting {
                    until: now,
                    reason: WaitReason::Interval,
                },
                stopped_since: None,
                last_page: None,
                last_poll: None,
                last_full_walk: None,
                last_failure: None,
            },
            due: now,
            failures: 0,
            refusals: 0,
            pages: 0,
            usual: 1,
            calls: VecDeque::new(),
            notices: Vec::new(),
            polled_since: now,
        };
        Self {
            rows: Mutex::new(accounts.iter().map(row).collect()),
            token_refused: AtomicBool::new(false),
        }
    }

    pub(super) fn next(&self, now: Timestamp) -> Next {
        let rows = self.lock();
        let ready = rows
            .iter()
            .enumerate()
            .filter(|(_, row)| row.ready_at().is_some_and(|at| at <= now));
        // The account that has been due for longest comes first, so that none starves.
        if let Some((index, _)) = ready.min_by_key(|(_, row)| row.due) {
            return Next::Now(index);
        }
        let later = rows
            .iter()
            .enumerate()
            .filter_map(|(index, row)| match row.status.state {
                AccountState::Waiting { until, reason } => Some((until, index, reason)),
                AccountState::Stopped {
                    retry_at: Some(until),
                    ..
                } => Some((until, index, WaitReason::Stopped)),
                _ => None,
            });
        match later.min_by_key(|(until, index, _)| (*until, *index)) {
            Some((until, index, reason)) => Next::Later(index, until, reason),
            None => Next::Nobody,
        }
    }

    /// Returns the share of an account in the calls of an hour: the calls that the others leave.
    /// Each other account gets what it needs, at most an equal part, and one call if it is stopped.
    pub(super) fn part(
        &self,
        index: usize,
        calls_an_hour: usize,
        accounts: &[PolledAccount],
    ) -> usize {
        let rows = self.lock();
        let equal = calls_an_hour / accounts.len().max(1);
        let others = accounts
            .iter()
            .zip(rows.iter())
            .enumerate()
            .filter(|(other, _)| *other != index);
        let kept = others.map(|(_, (polled, row))| match row.status.stopped_since {
            Some(_) => 1,
            None => row.usual_calls(polled.every).min(equal),
        });
        calls_an_hour
            .saturating_sub(kept.sum())
            .max(PAGES_OF_A_TURN)
    }

    /// Returns the longest time of any account without a page, and without a full walk.
    pub(super) fn longest_without(&self, now: Timestamp) -> (Duration, Duration) {
        let rows = self.lock();
        let longest = |last: fn(&Row) -> Option<Timestamp>| {
            rows.iter().map(|row| row.age(last(row), now)).max()
        };
        let [page, full_walk] = [
            longest(|row| row.status.last_page),
            longest(|row| row.status.last_full_walk),
        ];
        (page.unwrap_or_default(), full_walk.unwrap_or_default())
    }

    /// Returns the error of the accounts, of which each may be without a page for so long.
    pub(super) fn check(
        &self,
        now: Timestamp,
        longest: impl Iterator<Item = Duration>,
    ) -> PollerCheckError {
        let rows = self.lock();
        let mut error = PollerCheckError {
            never_polled: !rows.is_empty() && rows.iter().all(|row| row.status.last_page.is_none()),
            token_refused: self.token_refused.load(Ordering::Relaxed),
            ..PollerCheckError::default()
        };
        for (longest, row) in longest.zip(rows.iter()) {
            let label = &row.status.label;
            if row.status.stopped_since.is_some() {
                if row.refusals > 1
                    && let Some(until) = row.ready_at()
                {
                    error.refused.push((label.clone(), until));
                }
                error.stopped.push(label.clone());
            } else if row.age(row.status.last_page, now) > longest {
                error.stale.push(label.clone());
            }
        }
        error
    }

    /// Records if the service refuses this side's key, and returns true if that has changed.
    pub(super) fn token_refused(&self, refused: bool) -> bool {
        // Relaxed: nothing else is published with it.
        self.token_refused.swap(refused, Ordering::Relaxed) != refused
    }

    /// Makes each account that waits for a call wait until this time.
    pub(super) fn delay(&self, later: Timestamp) {
        // Under one lock, so that no account is picked while others are not delayed yet.
        for row in self.lock().iter_mut() {
            if let AccountState::Waiting { until, reason } = &mut row.status.state
                && *until < later
                && *reason != WaitReason::Handler
            {
                (*until, *reason) = (later, WaitReason::Retry);
            }
        }
    }

    /// Moves all past and due times back, because the clock was set back by this much.
    pub(super) fn set_back(&self, by: Duration) {
        // Under one lock, so that no account is judged by a mixture of both clocks.
        for row in self.lock().iter_mut() {
            row.calls
                .iter_mut()
                .for_each(|at| *at = at.saturating_sub(by));
            let times = [
                &mut row.status.stopped_since,
                &mut row.status.last_page,
                &mut row.status.last_poll,
                &mut row.status.last_full_walk,
            ];
            for at in times
                .into_iter()
                .flatten()
                .chain([&mut row.due, &mut row.polled_since])
            {
                *at = at.saturating_sub(by);
            }
            if let AccountState::Waiting { until, .. }
            | AccountState::Stopped {
                retry_at: Some(until),
                ..
            } = &mut row.status.state
            {
                *until = until.saturating_sub(by);
            }
        }
    }

    pub(super) fn set(&self, index: usize, state: AccountState) {
        self.change(index, |row| row.status.state = state);
    }

    pub(super) fn change<T>(&self, index: usize, change: impl FnOnce(&mut Row) -> T) -> Option<T> {
        self.lock().get_mut(index).map(change)
    }

    pub(super) fn statuses(&self) -> Vec<AccountStatus> {
        self.lock().iter().map(|row| row.status.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Row>> {
        // A panic elsewhere leaves each row consistent.
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Row {
    /// Returns the time from which the account's next page can be fetched; `None` if the account is
    /// stopped for good or being worked on.
    fn ready_at(&self) -> Option<Timestamp> {
        match self.status.state {
            AccountState::Waiting { until, .. } => Some(until),
            AccountState::Stopped { retry_at, .. } => retry_at,
            AccountState::Fetching | AccountState::HandingOver => None,
        }
    }

    /// Returns the time since `last`, or since the poller was made.
    fn age(&self, last: Option<Timestamp>, now: Timestamp) -> Duration {
        now.saturating_since(last.unwrap_or(self.polled_since))
    }

    /// Registers that a page was recorded. Returns the time since which the account had been
    /// stopped.
    pub(super) fn recorded(&mut self, now: Timestamp) -> Option<Timestamp> {
        (self.failures, self.refusals, self.status.last_page) = (0, 0, Some(now));
        self.status.stopped_since.take()
    }

    /// Returns the number of calls that the account makes in an hour: a full walk, and polls of one
    /// call.
    fn usual_calls(&self, every: Duration) -> usize {
        self.usual
            .saturating_add(polls_an_hour(every))
            .saturating_sub(1)
    }

    /// Registers a call.
    pub(super) fn called(&mut self, now: Timestamp) {
        self.calls.push_back(now);
        // Kept for an hour only, as the limit counts them.
        self.calls.retain(|at| now.saturating_since(*at) < HOUR);
    }

    /// Continues the running poll with another page. That page follows soon, unless the poll has
    /// had its turn and others are due, or the account has made its `part` of the calls of an hour,
    /// if they are limited.
    pub(super) fn goes_on(&mut self, now: Timestamp, part: Option<usize>) {
        self.pages = self.pages.saturating_add(1);
        if self.pages.is_multiple_of(PAGES_OF_A_TURN) {
            // Behind all accounts that are due already.
            self.due = now;
        }
        let before = part.and_then(|part| self.calls.len().checked_sub(part));
        // Once this call is an hour old, one call of the part is free again.
        let first = before.and_then(|before| self.calls.get(before));
        self.status.state = match first
            .map(|at| at.saturating_add(HOUR))
            .filter(|until| *until > now)
        {
            Some(until) => AccountState::Waiting {
                until,
                reason: WaitReason::RateLimit,
            },
            None => AccountState::Waiting {
                until: now,
                reason: WaitReason::Turn,
            },
        };
    }

    /// Registers that a poll is complete.
    pub(super) fn completed(&mut self, full: bool) {
        if full {
            self.usual = self.pages.saturating_add(1);
        }
        self.pages = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankrail_statement::AccountId;

    #[test]
    fn an_account_has_what_the_others_leave_of_an_hours_calls() {
        let now = Timestamp::UNIX_EPOCH;
        let id = |number: usize| AccountId::parse(&format!("{number:015}")).unwrap();
        let accounts = |count| {
            (0..count)
                .map(|number| PolledAccount::new(id(number)))
                .collect::<Vec<_>>()
        };
        // Polled every ten minutes, each would make six calls.
        for (count, stopped, expected) in [
            (1, 0, 25),
            (2, 0, 19),
            (3, 0, 13),
            (7, 0, 7),
            (7, 3, 13),
            (25, 0, 5),
        ] {
            let accounts = accounts(count);
            let board = Board::new(&accounts, now);
            for index in 1..=stopped {
                board.change(index, |row| row.status.stopped_since = Some(now));
            }
            assert_eq!(
                board.part(0, 25, &accounts),
                expected,
                "{count} accounts, {stopped} stopped"
            );
        }
    }
}
