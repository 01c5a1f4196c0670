//! The poller of accounts, which hands over each new entry of their statements once.

mod account;
mod error;
mod handler;
mod movement;
mod notices;
mod plan;
mod sink;
mod source;
mod status;
mod step;
#[cfg(test)]
mod tests;

pub use account::PolledAccount;
pub use error::{PollError, PollerCheckError};
pub use handler::{NewEntries, NewEntriesHandler, NewEntry, TransactionalNewEntriesHandler};
pub use movement::{Addition, LedgerChange, Movement, MovementError, Removal};
pub use source::{PageFuture, PageSource};
pub use status::{AccountState, AccountStatus, CallFailure, WaitReason};

use crate::handling::RETRY_SECONDS;
use crate::measure;
use bankrail_http::__private::{FORGET_EVERY, Recurring};
use bankrail_mailbox::Schedule;
use bankrail_statement::{
    AccountId, AccountPoll, PollOptions, SeenEntries, TransactionalSeenEntries,
};
use bankrail_values::Timestamp;
use sink::{Plain, Sink, Transactional};
use status::{Board, Next};
use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use step::{Slot, Turn};
use tokio::sync::{Mutex, MutexGuard, Notify, watch};
use tokio::time::Instant;

/// The time without a recorded page of an account after which [`Poller::check`] fails.
const STALE_AFTER: Duration = Duration::from_secs(2 * 3600);

/// Polls the statements of accounts, and hands each new entry to a handler.
///
/// - [`AccountPoll`](bankrail_statement::AccountPoll) finds new entries, and a store records
///   them. With [`Poller::transactional`], the effect of the handler and the record of the entries
///   are one transaction of the store, so the effect happens exactly once. With [`Poller::new`],
///   the entries are recorded after the handler, so that after a crash the handler gets some again,
///   with the same [`NewEntry::id`].
/// - Only booked entries are handed over, or all of them with [`PollerOptions::unbooked`].
/// - The relation of an entry to earlier ones is handed over with it: an entry that the bank has
///   booked under another reference, or corrected, replaces the earlier one. Entries that vanish,
///   come late or return, balances that do not add up, and an account that changes its currency are
///   handed over, logged and counted. The same applies to entries that cannot be booked or are in
///   another currency, and to reports of distant dates. None of this stops an account. Relations
///   depend on the account's position in the store, so only one process should poll an account: of
///   two processes, only duplicate new entries are noticed.
/// - Entries are handed over page by page, and each page is one transaction.
/// - One page is fetched at a time, so that all accounts share the client's limit of statement
///   calls. The account whose poll has been due for the longest time goes first. After five pages
///   of an account, other due accounts have their turn. An account gets its share of the calls of
///   an hour ([`PageSource::calls_an_hour`]), and the calls that the others do not need.
/// - A call with a transient failure is made again ([`PollerOptions::retry_schedule`]), not
///   before the service's `Retry-After`. That includes every failure to get a token and every
///   answer that is neither a statement nor the service's own error. After three failures in a row
///   to answer a cursor, the poller requests the first page.
/// - A request with a cursor that the service refuses, with any error, is followed by a full walk:
///   the specification has no error for it.
/// - An account is stopped when its handler has failed three times with a page
///   ([`PollerOptions::handler_schedule`]), or when its statement cannot be read to its end. It is
///   also stopped after a permanent failure of a call. [`Poller::status`] and [`Poller::check`]
///   report a stopped account until a page of it is recorded. It is tried again after an hour
///   ([`PollerOptions::retry_stopped`]), and at once after [`Poller::resume`]. If the service keeps
///   refusing it, the pauses grow up to a day. Other accounts are still polled.
/// - If the accounts need more calls than are allowed, polls are later, and a log line at the
///   poller's start reports that, with the interval that fits.
/// - The intraday statement of a day ends with the day, and cannot be requested afterwards. So
///   each account is polled shortly before the bank's midnight ([`PollerOptions::last_poll`]), by
///   the offset of its reports, and calls of the preceding hours are reserved for that. After
///   midnight there is one more request with the last cursor; a statement of one page has none. If
///   the answer has no entry of the old day, and its last minutes were not seen, a notice reports
///   that ([`AccountNotice::DayIncomplete`](bankrail_statement::AccountNotice::DayIncomplete)). If
///   there are more accounts than calls in an hour, some of them, different ones each day, are
///   polled an hour or more before midnight.
/// - The store has the record of an entry for [`PollerOptions::retention`].
///
/// Cheap to clone; clones share everything.
///
/// ```no_run
/// use bankrail_client::{Client, LedgerChange, NewEntries, PolledAccount, Poller, PollerOptions};
/// use bankrail_statement::AccountId;
/// use bankrail_stores::sqlite::{SqliteOptions, SqliteStore, SqliteWork, rusqlite};
/// use std::sync::Arc;
///
/// # async fn example(client: Client, stop: impl Future<Output = ()>) -> Result<(), Box<dyn std::error::Error>> {
/// let store = Arc::new(SqliteStore::open("biller.db", SqliteOptions::new())?);
/// let accounts = [PolledAccount::new(AccountId::parse("012003123456789")?)];
/// let book = |new: NewEntries| async move {
///     let (account, changes) = (new.account.clone(), new.changes());
///     Ok(SqliteWork::new(move |transaction| {
///         let sql = transaction.connection();
///         for change in changes {
///             match change {
///                 // The bank has booked a pending entry under another reference, or corrected one.
///                 LedgerChange::Remove { id, .. } => {
///                     let gone = (account.as_str(), id.as_bytes());
///                     sql.execute("DELETE FROM ledger WHERE account = ?1 AND id = ?2", gone)?;
///                 }
///                 LedgerChange::Add(movement) => {
///                     // Negative for a debit, as in "-12.50" and "AUD".
///                     let (amount, currency) = (movement.amount.amount().to_string(), movement.amount.currency());
///                     // Rows that this one may stand for: a person decides, so that no money counts twice.
///                     let earlier: Vec<_> = movement.may_replace.iter().map(ToString::to_string).collect();
///                     let (id, text, earlier) = (movement.id.as_bytes(), movement.text, earlier.join(" "));
///                     let row = (account.as_str(), id, amount, currency.as_str(), text, earlier);
///                     // The table's key is account and id.
///                     sql.execute("INSERT INTO ledger VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING", row)?;
///                 }
///             }
///         }
///         Ok::<_, rusqlite::Error>(())
///     }))
/// };
/// let poller = Poller::transactional(client.statements(), store, accounts, book, PollerOptions::new());
/// poller.run(stop).await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Poller(Arc<PollerState>);

struct PollerState {
    options: PollerOptions,
    source: Arc<dyn PageSource>,
    sink: Box<dyn Sink>,
    accounts: Vec<PolledAccount>,
    board: Board,
    /// The walks of the accounts. The lock is held while a page is fetched and handed over.
    slots: Mutex<Vec<Slot>>,
    resumed: Notify,
}

bankrail_values::options! {
    /// Options of a [`Poller`].
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct PollerOptions {
        /// The times of full walks, and the maximum number of pages of one. Default: a full walk an
        /// hour, of at most 100 pages.
        walks: PollOptions = PollOptions::new(),
        /// The time of each account's last poll before the end of the bank's day. It covers the
        /// difference of the clocks and the time of the calls. Default: 2 min.
        last_poll: Duration = Duration::from_secs(120),
        /// Hands over entries that are not booked too: pending ones and mere information, which are
        /// not money of the account. An entry that is booked later is handed over then in either
        /// case, in place of the pending one if that was handed over. Once this is switched off,
        /// unbooked entries that were handed over are reported as vanished. Default: no.
        unbooked: bool = false,
        /// The maximum time of a handler. One that takes longer is dropped, which counts as a
        /// failure. Default: 30 s.
        handler_timeout: Duration = Duration::from_secs(30),
        /// The pauses before a page is handed over again after its handler failed. The account is
        /// stopped when they are used up. Default: it is handed over three times, again after 1 s
        /// and after 10 s, with 20 % jitter.
        handler_schedule: Schedule = Schedule::new([0, 1, 10].map(Duration::from_secs), 20),
        /// Logs the text of a handler's error, with those of its causes, where the handler failed.
        /// For handlers whose errors hold nothing that a log must not have, such as amounts and
        /// names. Default: no.
        log_handler_errors: bool = false,
        /// The pauses before a page is fetched again after a transient failure, but not before a
        /// `Retry-After`. The last pause is repeated without end. Default: after 1 s, then after
        /// twice as long each time up to 15 min, with 20 % jitter.
        retry_schedule: Schedule = Schedule::new(RETRY_SECONDS.map(Duration::from_secs), 20),
        /// The time after which a stopped account is tried again, and again after each failure.
        /// `None`: never. Its statement is that of a day, so a fault that is fixed soon loses
        /// nothing. If the service keeps refusing the statement, as of a closed account, the time
        /// doubles with each refusal up to a day, until a page is recorded. Default: an hour.
        retry_stopped: Option<Duration> = Some(Duration::from_secs(3600)),
        /// The retention of an entry's record after its booking day, at least two days.
        /// [`Poller::run`] forgets older entries of the polled accounts once an
        /// hour ([`SeenEntries::forget_before`](bankrail_statement::SeenEntries::forget_before)):
        /// an entry that the service still listed then would be handed over again. Default: without
        /// end.
        retention(Duration => |retention| Some(retention.max(MIN_RETENTION))): Option<Duration> = None,
    }
}

/// The shortest retention.
const MIN_RETENTION: Duration = Duration::from_secs(2 * 24 * 3600);

impl Poller {
    /// Creates a poller whose handler has its own effects, which happen at least once. If the
    /// process ends between the effect and its record, the page is handed over again as the bank
    /// lists it then. The effect of an entry that the bank no longer lists by then is not undone.
    ///
    /// If an account occurs twice, the last one counts.
    #[must_use = "a poller polls while its `run` is awaited"]
    pub fn new(
        pages: &(impl PageSource + Clone + 'static),
        store: Arc<dyn SeenEntries>,
        accounts: impl IntoIterator<Item = PolledAccount>,
        handler: impl NewEntriesHandler,
        options: PollerOptions,
    ) -> Self {
        Self::with(
            Arc::new(pages.clone()),
            accounts,
            Plain {
                store,
                handler: Arc::new(handler),
            },
            options,
        )
    }

    /// Creates a poller whose handler prepares work for the store's own transaction, so that the
    /// effect happens exactly once.
    ///
    /// If an account occurs twice, the last one counts.
    #[must_use = "a poller polls while its `run` is awaited"]
    pub fn transactional<S: TransactionalSeenEntries + 'static>(
        pages: &(impl PageSource + Clone + 'static),
        store: Arc<S>,
        accounts: impl IntoIterator<Item = PolledAccount>,
        handler: impl TransactionalNewEntriesHandler<S>,
        options: PollerOptions,
    ) -> Self {
        Self::with(
            Arc::new(pages.clone()),
            accounts,
            Transactional {
                store,
                handler: Arc::new(handler),
            },
            options,
        )
    }

    fn with(
        source: Arc<dyn PageSource>,
        accounts: impl IntoIterator<Item = PolledAccount>,
        sink: impl Sink + 'static,
        options: PollerOptions,
    ) -> Self {
        // Of each identifier the last one, at its place.
        let mut all: Vec<PolledAccount> = accounts.into_iter().collect();
        let mut known = HashSet::new();
        let last: Vec<bool> = all
            .iter()
            .rev()
            .map(|account| known.insert(account.id.clone()))
            .collect();
        let mut last = last.into_iter().rev();
        all.retain(|_| last.next().unwrap_or(true));
        let numbered = (1..).zip(all);
        let accounts: Vec<PolledAccount> = numbered
            .map(|(number, account)| account.numbered(number))
            .collect();
        let state = PollerState {
            board: Board::new(&accounts, source.now()),
            slots: Mutex::new(accounts.iter().map(|_| Slot::default()).collect()),
            accounts,
            sink: Box::new(sink),
            source,
            resumed: Notify::new(),
            options,
        };
        Self(Arc::new(state))
    }

    /// Polls until `stop` is ready.
    ///
    /// A wait or a call that is under way then ends at once. A handler may continue for 10
    /// s, and a page that is being recorded is recorded. Dropping the future is safe too: a page
    /// that was not recorded is fetched again.
    pub async fn run(&self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        notices::begin();
        self.log_excess();
        let (stopping, stopped) = watch::channel(false);
        // Runs beside the polls and ends with this function.
        let _forgetting = self.0.options.retention.map(|retention| {
            Recurring::start(FORGET_EVERY, self.clone(), move |poller| async move {
                poller.forget(retention).await
            })
        });
        // A task beside the polls updates the ages, so that they rise while a call or a store
        // hangs.
        let _measuring = Recurring::start(LONGEST_SLEEP, self.clone(), |poller| async move {
            let (page, full_walk) = poller.0.board.longest_without(poller.now());
            measure::gauge("bankrail_poll_oldest_page_seconds", &[], page.as_secs_f64());
            measure::gauge(
                "bankrail_poll_oldest_full_walk_seconds",
                &[],
                full_walk.as_secs_f64(),
            );
        });
        let mut clock = (Instant::now(), self.now());
        loop {
            let turn = tokio::select! {
                // A shutdown comes first, so that no call is made after it.
                biased;
                () = &mut stop => return,
                turn = self.next_turn(&mut clock) => turn,
            };
            let mut handing_over = std::pin::pin!(self.hand_over(turn, stopped.clone()));
            tokio::select! {
                biased;
                _ = &mut handing_over => {}
                () = &mut stop => {
                    stopping.send_replace(true);
                    // The handler may have had its effect already, so its page is still recorded.
                    handing_over.await;
                    return;
                }
            }
        }
    }

    /// Fetches and hands over the pages that are due now, and returns the number of recorded ones.
    /// This is for tests, and for callers with their own loop. Failures are in [`Poller::status`].
    pub async fn run_due(&self) -> usize {
        let (_stopping, stopped) = watch::channel(false);
        let mut recorded = 0;
        loop {
            // One run polls at a time: a second one waits here until the first has ended.
            let slots = self.0.slots.lock().await;
            let Next::Now(index) = self.0.board.next(self.now()) else {
                return recorded;
            };
            if let Some(turn) = self.fetch(slots, index).await
                && self.hand_over(turn, stopped.clone()).await
            {
                recorded += 1;
            }
        }
    }

    /// Returns the status of each account, in the order in which they were given.
    #[must_use]
    pub fn status(&self) -> Vec<AccountStatus> {
        self.0.board.statuses()
    }

    /// Returns the state of this account; `None` if it is not polled.
    #[must_use]
    pub fn state(&self, account: &AccountId) -> Option<AccountState> {
        self.status()
            .into_iter()
            .find(|status| status.account == *account)
            .map(|status| status.state)
    }

    /// Checks that all accounts are polled as they should be, for `/readyz`. One account makes the
    /// check fail. If a supervisor withdraws programs that are not ready, and the same process
    /// receives webhooks, use alarms over the metrics instead.
    ///
    /// # Errors
    /// [`PollerCheckError`] until this poller has recorded a page of some account, and while the
    /// service refuses the key or the token. Also if an account is stopped, or if no page of one
    /// was recorded for two hours and twice its interval, counted from when the poller was made. If
    /// the last polls of a day take all calls of an hour or more, the time is two hours more than
    /// they take.
    pub fn check(&self) -> Result<(), PollerCheckError> {
        let planned = plan::longest_wait(self.0.accounts.len(), self.calls_an_hour());
        let longest =
            |polled: &PolledAccount| STALE_AFTER.max(polled.every.saturating_mul(2)).max(planned);
        let longest = self.0.accounts.iter().map(longest);
        let error = self.0.board.check(self.now(), longest);
        if error == PollerCheckError::default() {
            Ok(())
        } else {
            Err(error)
        }
    }

    /// Polls a stopped account at once ([`AccountStatus::stopped_since`]), also one that waits for
    /// its retry. Returns true if the account was waiting.
    pub fn resume(&self, account: &AccountId) -> bool {
        let index = self
            .0
            .accounts
            .iter()
            .position(|polled| polled.id == *account);
        let now = self.now();
        let resumed = index.and_then(|index| {
            self.0.board.change(index, |row| {
                let waits = match row.status.state {
                    AccountState::Stopped { .. } => true,
                    AccountState::Waiting { until, .. } => until > now,
                    AccountState::Fetching | AccountState::HandingOver => false,
                };
                let stopped = row.status.stopped_since.is_some() && waits;
                if stopped {
                    row.status.state = AccountState::Waiting {
                        until: now,
                        reason: WaitReason::Turn,
                    };
                    (row.due, row.failures, row.refusals) = (now, 0, 0);
                }
                stopped
            })
        });
        // After the change of the board, so that the woken run finds the account ready.
        self.0.resumed.notify_waiters();
        resumed == Some(true)
    }

    fn now(&self) -> Timestamp {
        self.0.source.now()
    }

    /// Waits for the next page and fetches it.
    async fn next_turn(&self, clock: &mut (Instant, Timestamp)) -> Turn<'_> {
        let mut logged = None;
        loop {
            self.follow_clock(clock);
            // Created before the board is read, so that no resumption in between is missed.
            let resumed = self.0.resumed.notified();
            let slots = self.0.slots.lock().await;
            let next = self.0.board.next(self.now());
            let Next::Now(index) = next else {
                // Not held while waiting, so that `run_due` can poll meanwhile.
                drop(slots);
                self.wait(next, &mut logged, resumed).await;
                continue;
            };
            if let Some(turn) = self.fetch(slots, index).await {
                return turn;
            }
        }
    }

    /// Adjusts waits to a clock that was set back by a minute or more since `before`, so that they
    /// do not become longer.
    fn follow_clock(&self, before: &mut (Instant, Timestamp)) {
        const MIN_CLOCK_STEP: Duration = Duration::from_secs(60);
        let now = (Instant::now(), self.now());
        let by = before
            .1
            // By the monotonic clock, which nobody sets.
            .saturating_add(now.0 - before.0)
            .saturating_since(now.1);
        *before = now;
        if by >= MIN_CLOCK_STEP {
            tracing::warn!(
                duration_ms = by.as_millis(),
                "the clock was set back: waits are shortened by as much"
            );
            self.0.board.set_back(by);
        }
    }

    /// Waits until the next account may be ready, or an account was resumed. `logged` is the wait
    /// that was logged last.
    async fn wait(&self, next: Next, logged: &mut Option<Next>, resumed: impl Future<Output = ()>) {
        /// A shorter wait is not logged.
        const MIN_LOGGED_WAIT: Duration = Duration::from_secs(1);
        let Next::Later(index, until, reason) = next else {
            tracing::info!("waiting: every account is stopped");
            return resumed.await;
        };
        let wait = until.saturating_since(self.now());
        if wait > MIN_LOGGED_WAIT && logged.replace(next) != Some(next) {
            tracing::info!(account = self.label(index), %until, %reason, "waiting");
        }
        let wait = wait.clamp(Duration::from_millis(1), LONGEST_SLEEP);
        tokio::select! {
            biased;
            () = tokio::time::sleep(wait) => {}
            () = resumed => {}
        }
    }

    async fn forget(&self, retention: Duration) {
        for account in &self.0.accounts {
            let label = account.name();
            let store = self.0.sink.store();
            let position = match store.position(&account.id).await {
                Ok(position) => position,
                Err(error) => {
                    tracing::error!(account = label, %error, "the store of seen entries failed");
                    continue;
                }
            };
            // An unreadable position is found by the polls, which write another one.
            let poll = AccountPoll::new(position.as_deref(), self.0.options.walks);
            let Some(until) = poll.walked_until(self.now()) else {
                continue;
            };
            let day = until.saturating_sub(retention).date();
            match store.forget_before(&account.id, day).await {
                Ok(0) => {}
                Ok(forgotten) => {
                    tracing::info!(account = label, forgotten, "old entries were forgotten")
                }
                Err(error) => {
                    tracing::error!(account = label, %error, "the store of seen entries failed")
                }
            }
        }
    }

    fn label(&self, index: usize) -> &str {
        let account = self.0.accounts.get(index);
        account.map_or("", PolledAccount::name)
    }

    fn labels(&self) -> Vec<&str> {
        self.0.accounts.iter().map(PolledAccount::name).collect()
    }
}

/// The longest time between two readings of the clock, which may be set while the poller waits.
const LONGEST_SLEEP: Duration = Duration::from_secs(10);

type Slots<'a> = MutexGuard<'a, Vec<Slot>>;

bankrail_values::impl_debug!(Poller, self; accounts: self.labels(), options: self.0.options);
