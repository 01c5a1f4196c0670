//! The steps for one page of one account: fetching, judging, handing over and recording.

use super::error::PollError;
use super::handler::NewEntries;
use super::notices::Notices;
use super::sink::Patience;
use super::status::{AccountState, Board, CallFailure, WaitReason};
use super::{Poller, Slots};
use crate::measure;
use crate::{Call, CallError, CallErrorKind, StatementPage};
use bankrail_camt052::{Entry, EntryStatus};
use bankrail_mailbox::Schedule;
use bankrail_rate_limit::{CallType, Window};
use bankrail_statement::{
    AccountId, AccountPoll, EntryIdentity, EntryLinks, PageDecision, PollCommit, PollStep,
    PolledPage, Recorded, ReplyFinding, SortOrder, StatedAccount, StatementDay, WalkError,
};
use bankrail_values::{StoreError, Timestamp, causes, jitter};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tracing::field::display;

const POLLS: &str = "bankrail_polls_total";

/// The number of times in a row that the service fails to answer a cursor after which the poller
/// begins again.
const MAX_UNANSWERED: u32 = 3;

/// The longest time before a retry of an account that keeps being refused, unless
/// [`PollerOptions::retry_stopped`](super::PollerOptions::retry_stopped) is longer.
const LONGEST_REFUSED: Duration = Duration::from_secs(24 * 3_600);

/// The walk of an account between two of its pages. The slot is empty while a page is worked on:
/// after an interruption, the account continues at the stored position.
#[derive(Default)]
pub(super) struct Slot(Option<Walker>);

struct Walker {
    poll: AccountPoll,
    /// A page that was fetched and not recorded yet.
    page: Option<Fetched>,
    /// The number of times in a row that the service has answered the cursor with a failure.
    unanswered: u32,
}

struct Fetched {
    /// The time of the request. Later entries are not on the page.
    asked_at: Timestamp,
    page: Arc<StatementPage>,
    polled: PolledPage,
    /// The number of times that the page was handed over.
    handed_over: u32,
}

/// A page that is ready to be handed over.
pub(super) struct Turn<'a> {
    slots: Slots<'a>,
    busy: Busy<'a>,
    index: usize,
    poll: AccountPoll,
    fetched: Fetched,
    commit: Box<PollCommit>,
}

/// A guard for an account that is being worked on. After an interruption, the account waits for its
/// turn again.
struct Busy<'a>(&'a Board, usize);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.change(self.1, |row| {
            if matches!(
                row.status.state,
                AccountState::Fetching | AccountState::HandingOver
            ) {
                row.status.state = AccountState::Waiting {
                    until: row.due,
                    reason: WaitReason::Turn,
                };
            }
        });
    }
}

impl Poller {
    /// Fetches the next page of an account and judges it; `None` if there is nothing to hand over.
    pub(super) async fn fetch<'a>(
        &'a self,
        mut slots: Slots<'a>,
        index: usize,
    ) -> Option<Turn<'a>> {
        let (slot, polled) = (slots.get_mut(index)?, self.0.accounts.get(index)?);
        let account = &polled.id;
        let busy = Busy(&self.0.board, index);
        let Walker {
            mut poll,
            page,
            unanswered,
        } = match slot.0.take() {
            Some(walker) => walker,
            None => Walker::new(self.load(index, account).await?),
        };
        let fetched = match page {
            Some(fetched) => fetched,
            None => {
                self.0.board.set(index, AccountState::Fetching);
                let asked_at = self.now();
                let request = polled.request(poll.cursor(asked_at).cloned());
                let answer = self.0.source.page(&request).await;
                // A call that was held back was not made, so it is none of the hour's calls.
                if !matches!(&answer, Err(error) if is_held_back(error)) {
                    self.0.board.change(index, |row| row.called(asked_at));
                }
                self.note_refusal(answer.as_ref().err());
                match answer {
                    Ok(page) => Fetched::new(page, asked_at, self.0.options.unbooked),
                    Err(error) => {
                        let walker = Walker {
                            poll,
                            page: None,
                            unanswered,
                        };
                        slot.0 = self.not_fetched(index, error, walker, request.cursor.is_some());
                        return None;
                    }
                }
            }
        };
        let keys = fetched.polled.keys();
        let known = match self.0.sink.store().counts(account, &keys).await {
            Ok(known) => known,
            Err(error) => {
                // The page is kept, so that the next try costs no call.
                self.store_failed(index, &error);
                slot.0 = Some(Walker {
                    page: Some(fetched),
                    ..Walker::new(poll)
                });
                return None;
            }
        };
        match poll.judge(&fetched.polled, &known, fetched.asked_at) {
            PageDecision::Commit(commit) => Some(Turn {
                slots,
                busy,
                index,
                poll,
                fetched,
                commit,
            }),
            PageDecision::BeginAgain => {
                tracing::debug!(
                    account = self.label(index),
                    "a full walk decides which entries are new"
                );
                self.wait_until(index, self.now(), WaitReason::Turn);
                slot.0 = Some(Walker::new(poll));
                None
            }
        }
    }

    /// Hands a page over and records it. Returns true if it was recorded. A stop of the poller ends
    /// the handler, but not the recording.
    pub(super) async fn hand_over(&self, turn: Turn<'_>, stopping: watch::Receiver<bool>) -> bool {
        let Turn {
            mut slots,
            busy: _busy,
            index,
            mut poll,
            mut fetched,
            commit,
        } = turn;
        let (Some(slot), Some(polled)) = (slots.get_mut(index), self.0.accounts.get(index)) else {
            return false;
        };
        self.0.board.set(index, AccountState::HandingOver);
        let options = &self.0.options;
        let (page, attempt) = (&fetched.page, fetched.handed_over.saturating_add(1));
        let mut new = NewEntries::of(
            &polled.id,
            page,
            polled_entries(page, options.unbooked),
            &commit,
            attempt,
        );
        let said = self.0.board.change(index, |row| row.notices.clone());
        let of_page = new.notice(fetched.asked_at, &said.unwrap_or_default());
        let count = new.entries.len();
        let notices = Notices::of(&new);
        let stopped = stopping.clone();
        let outcome = if new.is_empty() {
            self.0.sink.record(&polled.id, &commit).await
        } else {
            let patience = Patience {
                timeout: options.handler_timeout,
                stopping,
            };
            self.0
                .sink
                .hand_over(&polled.id, new, &commit, patience)
                .await
        };
        match outcome {
            Ok(Recorded::Committed) => {
                tracing::debug!(account = self.label(index), new = count, "page recorded");
                // Lossless: a count in memory is at most 64 bits.
                measure::count("bankrail_polled_entries_total", &[], count as u64);
                notices.log(self.label(index));
                let now = self.now();
                if self
                    .0
                    .board
                    .change(index, |row| {
                        row.notices = of_page;
                        row.recorded(now)
                    })
                    .flatten()
                    .is_some()
                {
                    tracing::info!(
                        account = self.label(index),
                        "an account that was stopped is polled again"
                    );
                    measure::poll_stopped(-1.0);
                }
                match poll.committed(commit) {
                    Ok(PollStep::Fetch) => {
                        let calls = self.0.source.calls_an_hour();
                        let each = self.0.source.counts_each_account();
                        let part = |calls| {
                            if each {
                                calls
                            } else {
                                self.0.board.part(index, calls, &self.0.accounts)
                            }
                        };
                        let part = calls.map(part);
                        self.0.board.change(index, |row| row.goes_on(now, part));
                    }
                    Ok(PollStep::Complete { full }) => {
                        self.completed(index, &poll, full, polled.every);
                        // The slot stays empty: by the next poll, another process may have moved
                        // the position in the store.
                        return true;
                    }
                    Err(error) => {
                        self.stop(index, walk_failed(error));
                        // The page is recorded, although no other can follow it.
                        return true;
                    }
                }
                slot.0 = Some(Walker::new(poll));
                return true;
            }
            Ok(Recorded::Overtaken) => {
                tracing::warn!(
                    account = self.label(index),
                    "another process was faster with a page"
                );
                // The slot stays empty: the account continues at the position that the other has
                // recorded. The page was judged from another one, so it is fetched again, and not
                // at once: two processes that keep overtaking each other would use up all calls.
                let _ = self.retry(index, None, WaitReason::Retry);
            }
            // At shutdown the handler was dropped, or has no time for another try. The next run
            // hands the page over again.
            Ok(Recorded::Undone(_)) if *stopped.borrow() => {
                tracing::warn!(
                    account = self.label(index),
                    "the handler did not finish before the shutdown"
                );
            }
            Ok(Recorded::Undone(source)) => {
                let times = fetched.handed_over.saturating_add(1);
                fetched.handed_over = times;
                match options.handler_schedule.delay(times, jitter()) {
                    Some(pause) => {
                        let until = self.now().saturating_add(pause);
                        let error = options
                            .log_handler_errors
                            .then(|| display(causes(&*source)));
                        tracing::warn!(account = self.label(index), times, error, %until, "the handler failed");
                        self.wait_until(index, until, WaitReason::Handler);
                        slot.0 = Some(Walker {
                            page: Some(fetched),
                            ..Walker::new(poll)
                        });
                    }
                    None => self.stop(index, PollError::Handler { times, source }),
                }
            }
            // The page may be recorded, so the next try asks the store. It is kept: a store that
            // fails for an hour must not use up the calls of many hours.
            Err(error) => {
                self.store_failed(index, &error);
                slot.0 = Some(Walker {
                    page: Some(fetched),
                    ..Walker::new(poll)
                });
            }
        }
        false
    }

    /// Loads the account's position from the store; `None` if the store failed.
    async fn load(&self, index: usize, account: &AccountId) -> Option<AccountPoll> {
        let stored = match self.0.sink.store().position(account).await {
            Ok(stored) => stored,
            Err(error) => {
                self.store_failed(index, &error);
                return None;
            }
        };
        let poll = AccountPoll::new(stored.as_deref(), self.0.options.walks);
        if poll.is_position_unreadable() {
            // Written by another version. The entries are known nevertheless.
            tracing::warn!(
                account = self.label(index),
                "the stored position is unreadable: a full walk follows"
            );
        }
        self.0.board.change(index, |row| {
            row.status.last_full_walk = poll.last_full_walk()
        });
        Some(poll)
    }

    /// Records if the service refuses this side's key, and logs a change at once.
    fn note_refusal(&self, error: Option<&CallError>) {
        let Some(refused) = refuses_key(error) else {
            return;
        };
        let is_new = self.0.board.token_refused(refused);
        if let Some(error) = error.filter(|_| is_new && refused) {
            tracing::error!(
                error = error.kind(),
                status = error.status,
                request_key = error.request_key.map(display),
                advice = %error.advice(),
                "the service refuses the key: no account is polled"
            );
        }
    }

    /// Returns the walker that continues after a failed call, or stops the account.
    fn not_fetched(
        &self,
        index: usize,
        error: CallError,
        mut walker: Walker,
        with_cursor: bool,
    ) -> Option<Walker> {
        if is_held_back(&error) {
            let now = self.now();
            let retry_at = error
                .retry_at
                .unwrap_or(now)
                // Not at once: a time that has passed meanwhile would make a busy loop.
                .max(now.saturating_add(Duration::from_millis(100)));
            let until = self
                .plan(index, &walker.poll)
                .map_or(retry_at, |plan| plan.held_back(now, retry_at));
            self.wait_until(index, until, WaitReason::RateLimit);
            return Some(walker);
        }
        if with_cursor && is_refusal(&error) {
            tracing::debug!(
                account = self.label(index),
                "the service refused a cursor: a full walk follows"
            );
            if let Err(error) = walker.poll.cursor_refused() {
                self.stop(index, walk_failed(error));
                return None;
            }
            self.wait_until(index, self.now(), WaitReason::Turn);
            return Some(Walker::new(walker.poll));
        }
        if may_pass(&error) {
            let not_before = match (error.call, &error.reason) {
                // A token endpoint that fails with a 5xx is not among them: that is usually
                // transient.
                (Call::Token, _) if refuses_key(Some(&error)) == Some(true) => {
                    let later = self.after_refused_token();
                    self.0.board.delay(later);
                    Some(later)
                }
                _ => error.retry_at,
            };
            let retry_at = self.retry(index, not_before, WaitReason::Retry);
            let answered = error.call == Call::Statement
                && matches!(
                    error.reason,
                    CallErrorKind::Service { .. }
                        | CallErrorKind::Unexpected { .. }
                        | CallErrorKind::Reply(_)
                );
            if with_cursor && answered {
                walker.unanswered = walker.unanswered.saturating_add(1);
            }
            if walker.unanswered >= MAX_UNANSWERED {
                // After too many walks this is an error, but the next one begins at the first page
                // all the same.
                let _ = walker.poll.cursor_refused();
                walker.unanswered = 0;
            }
            let failure = CallFailure {
                at: self.now(),
                error: Arc::new(error),
                retry_at,
            };
            self.0
                .board
                .change(index, |row| row.status.last_failure = Some(failure));
            return Some(walker);
        }
        self.stop(index, PollError::Statement(error));
        None
    }

    /// Returns the time of the next token call of any account, after the token endpoint has refused
    /// one. Each call counts and has the same answer until somebody fixes the cause, so half of the
    /// calls of an hour are left for that moment.
    fn after_refused_token(&self) -> Timestamp {
        let of_two_calls = |window: &Window| window.length() * 2 / window.limit();
        let pause = CallType::Token
            .default_windows()
            .iter()
            .map(of_two_calls)
            .max();
        self.now().saturating_add(pause.unwrap_or_default())
    }

    fn completed(&self, index: usize, poll: &AccountPoll, full: bool, every: Duration) {
        let now = self.now();
        measure::count(POLLS, &[("outcome", "completed")], 1);
        let due = self
            .plan(index, poll)
            .map_or(now.saturating_add(every), |plan| plan.next_poll(now, every));
        self.0.board.change(index, |row| {
            row.due = due;
            row.completed(full);
            row.status.state = AccountState::Waiting {
                until: row.due,
                reason: WaitReason::Interval,
            };
            row.status.last_poll = Some(now);
            row.status.last_full_walk = poll.last_full_walk();
        });
    }

    fn wait_until(&self, index: usize, until: Timestamp, reason: WaitReason) {
        self.0
            .board
            .set(index, AccountState::Waiting { until, reason });
    }

    /// Makes the account wait after a failure, and returns the end of the wait.
    fn retry(&self, index: usize, not_before: Option<Timestamp>, reason: WaitReason) -> Timestamp {
        let now = self.now();
        let failures = self.0.board.change(index, |row| {
            row.failures = row.failures.saturating_add(1);
            let until = now.saturating_add(pause(&self.0.options.retry_schedule, row.failures));
            // The later of both: a short `Retry-After` does not shorten our own pause.
            let until = not_before.map_or(until, |at| at.max(until));
            row.status.state = AccountState::Waiting { until, reason };
            (row.failures, until)
        });
        let Some((failures, until)) = failures else {
            return now;
        };
        measure::count(POLLS, &[("outcome", "retried")], 1);
        // The failure itself was logged where it happened.
        tracing::info!(account = self.label(index), failures, %until, %reason, "trying again later");
        until
    }

    fn store_failed(&self, index: usize, error: &StoreError) {
        tracing::error!(account = self.label(index), %error, "the store failed");
        let _ = self.retry(index, None, WaitReason::Store);
    }

    fn stop(&self, index: usize, error: PollError) {
        let request_key = match &error {
            PollError::Statement(error) => error.request_key,
            _ => None,
        };
        let now = self.now();
        let is_refused = matches!(
            &error,
            PollError::Statement(CallError {
                reason: CallErrorKind::Service { .. } | CallErrorKind::Unexpected { .. },
                ..
            })
        );
        let refusals = self.0.board.change(index, |row| {
            row.refusals = if is_refused {
                row.refusals.saturating_add(1)
            } else {
                0
            };
            row.refusals
        });
        let doublings = refusals.unwrap_or(0).saturating_sub(1);
        let retry_at = self.0.options.retry_stopped.map(|pause| {
            // A closed account costs one call a day in the end.
            let longer = pause.saturating_mul(1_u32.checked_shl(doublings).unwrap_or(u32::MAX));
            now.saturating_add(longer.min(LONGEST_REFUSED.max(pause)))
        });
        // At the end of a program nothing is wrong with the account.
        let closed = matches!(
            &error,
            PollError::Statement(error) if matches!(error.reason, CallErrorKind::Closed)
        );
        let cause = match &error {
            PollError::Handler { source, .. } if self.0.options.log_handler_errors => {
                Some(display(causes(&**source)))
            }
            _ => None,
        };
        if closed {
            tracing::info!(
                account = self.label(index),
                "no longer polled: the client is closed"
            );
        } else {
            tracing::error!(
                account = self.label(index),
                error = error.kind(),
                request_key = request_key.map(tracing::field::display),
                until = retry_at.map(tracing::field::display),
                refusals = refusals.filter(|refusals| *refusals > 1),
                cause,
                advice = %error.advice(),
                "an account is no longer polled"
            );
            measure::count(POLLS, &[("outcome", "stopped")], 1);
        }
        let was_stopped = self.0.board.change(index, |row| {
            row.status.state = AccountState::Stopped {
                error: Arc::new(error),
                retry_at,
            };
            // A poll that ended early does not show how many pages a full walk has.
            row.completed(false);
            let was_stopped = row.status.stopped_since.is_some();
            // After a retry that failed too, the account has been stopped since the first failure.
            row.status.stopped_since.get_or_insert(now);
            was_stopped
        });
        // The gauge counts accounts, so an account that is stopped again does not count twice.
        if was_stopped == Some(false) && !closed {
            measure::poll_stopped(1.0);
        }
    }
}

impl Walker {
    fn new(poll: AccountPoll) -> Self {
        Self {
            poll,
            page: None,
            unanswered: 0,
        }
    }
}

impl Fetched {
    fn new(page: StatementPage, asked_at: Timestamp, unbooked: bool) -> Self {
        let received = &page.received;
        let disordered = |finding: &ReplyFinding| {
            matches!(
                finding,
                ReplyFinding::OutOfOrder { .. } | ReplyFinding::SortOrderDiffers
            )
        };
        let ordered = received.order() != Some(SortOrder::Backward)
            && !received.findings.iter().any(disordered);
        let entries = polled_entries(&page, unbooked)
            .map(EntryIdentity::of)
            .collect();
        let links = polled_entries(&page, unbooked)
            .map(EntryLinks::of)
            .collect();
        let stated = page.report().map(StatedAccount::of).unwrap_or_default();
        let day = page.document.reports.first().and_then(StatementDay::of);
        let polled = PolledPage::new(received.next_page.clone(), entries)
            .day(day)
            .ordered(ordered);
        // No underflow: the polled entries are a part of all.
        let others = page.entries().count() - polled_entries(&page, unbooked).count();
        let unread = page.unread.iter().map(|error| &**error);
        let polled = polled.links(links).others(others).stated(stated);
        let polled = polled.unread(unread);
        Self {
            asked_at,
            page: Arc::new(page),
            polled,
            handed_over: 0,
        }
    }
}

/// Makes the error of a statement that cannot be read to its end.
fn walk_failed(error: WalkError) -> PollError {
    PollError::Statement(CallError::new(Call::Statement, CallErrorKind::Walk(error)))
}

/// The entries of a page that are handed over when they are new.
fn polled_entries(page: &StatementPage, unbooked: bool) -> impl Iterator<Item = &Entry> {
    page.entries()
        .filter(move |entry| unbooked || entry.status == EntryStatus::BOOKED)
}

/// Returns true if the call can succeed later. The failure of a token call is not the account's
/// fault, and an answer that is neither a statement nor the service's error can come from a gateway
/// in maintenance, with any status.
fn may_pass(error: &CallError) -> bool {
    match error.reason {
        CallErrorKind::Closed => false,
        CallErrorKind::Unauthorized
        | CallErrorKind::Unexpected { .. }
        | CallErrorKind::Reply(_) => true,
        _ => error.call == Call::Token || error.is_retryable(),
    }
}

/// Returns true if the service refuses this side's key or token, false if it accepted them, and
/// `None` if the call does not show either.
fn refuses_key(error: Option<&CallError>) -> Option<bool> {
    let Some(error) = error else {
        return Some(false);
    };
    match (error.call, &error.reason) {
        (
            Call::Token,
            CallErrorKind::Refused { .. }
            | CallErrorKind::Unexpected { .. }
            | CallErrorKind::Response(_),
        )
        | (Call::Statement, CallErrorKind::Unauthorized) => Some(true),
        (
            Call::Statement,
            CallErrorKind::Service { .. } | CallErrorKind::Reply(_) | CallErrorKind::Payload(_),
        ) => Some(false),
        _ => None,
    }
}

/// Returns true for a statement call that the rate limit held back. A token call that was held back
/// is a failure of the call that needed the token.
fn is_held_back(error: &CallError) -> bool {
    error.call == Call::Statement && matches!(error.reason, CallErrorKind::HeldBack)
}

/// Returns true if an answer to a request with a cursor can mean that the service no longer takes
/// the cursor: its own error, or an answer in the range 400 to 499. The specification has no code
/// for it.
fn is_refusal(error: &CallError) -> bool {
    match error.reason {
        CallErrorKind::Service { .. } => !error.is_account_not_found() && !error.is_retryable(),
        CallErrorKind::Unexpected { .. } => {
            let refused = |status| (400..=499).contains(&status);
            error.call == Call::Statement && error.status.is_some_and(refused)
        }
        _ => false,
    }
}

/// Returns the pause after this many failures. The last pause of the schedule is repeated. Even an
/// empty schedule has a pause.
fn pause(schedule: &Schedule, failures: u32) -> Duration {
    let last = u32::try_from(schedule.attempts().saturating_sub(1)).unwrap_or(u32::MAX);
    schedule
        .delay(failures.min(last), jitter())
        .unwrap_or_default()
        .max(Duration::from_millis(500))
}
