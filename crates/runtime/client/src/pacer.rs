//! The pacer of the customer's calls, which waits instead of being refused.

mod unsent;

use bankrail_rate_limit::{
    CallType, Capacity, Charge, CostError, CounterStore, Counting, MemoryCounters, OnFull, Policy,
};
use bankrail_values::{Clock, StoreError, SystemClock, Timestamp};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::Mutex;
use unsent::{Replacement, Unsent};

/// Waits until a call may be made, so that the provider does not refuse it.
///
/// The pacer counts the calls that it has released itself, under the provider's policy and
/// [`Counting::Admitted`]. The pacer knows neither the provider's clock nor the time that a call
/// takes to arrive, so it keeps a guard, a short time. It releases no call when a window begins or
/// ends within the guard, and judges each call as if it were earlier by the guard. Under either
/// algorithm and way of counting, no call is refused on these conditions.
///
/// - Each call reaches the provider when its clock shows the time at which this clock let the call
///   go, give or take the guard.
/// - No other client uses the customer's limits.
///
/// Waiting has these properties.
///
/// - Fair: calls are let go in the order in which they began to wait, regardless of their cost.
/// - Cancellable: a call that stops waiting charges nothing. A call that is dropped during a
///   query of a shared store may have been charged there.
/// - Shared, with [`PacerOptions::counters`]: several processes keep one count, and each is fair
///   among its own calls.
/// - Logged: a call that waits for more than a second is logged once, at `INFO`, with `call_type`
///   and `until`.
///
/// A call that was released and never sent, because the provider was not reached, is given back
/// with [`Pacer::not_sent`].
///
/// ```
/// use bankrail_client::{Pacer, PacerOptions};
/// use bankrail_rate_limit::{CallType, default_limits};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let statements = default_limits(CallType::Statement);
/// let pacer = Pacer::new(CallType::Statement, statements, PacerOptions::new());
/// pacer.acquire(1).await?; // and then ask for the statement
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Pacer {
    call_type: CallType,
    policy: Policy,
    options: PacerOptions,
    /// The wait that a service demanded.
    hold: std::sync::Mutex<Option<Hold>>,
    /// The time until which the first in line waits, in milliseconds. Later calls in the queue read
    /// it.
    opens: AtomicI64,
    /// The first call in line holds this lock while it waits. Tokio's lock is handed on in the
    /// order of arrival.
    turn: Mutex<()>,
    unsent: std::sync::Mutex<Unsent>,
}

bankrail_values::options! {
    /// Options of a [`Pacer`].
    #[derive(Clone, Debug)]
    pub struct PacerOptions {
        /// The counters, for several pacers or processes that spend the same limits. With a store
        /// that judges by another clock, the guard holds at the boundaries of windows only.
        /// Default: counters of this pacer alone.
        counters: Arc<dyn CounterStore> = Arc::new(MemoryCounters::new(Capacity::new(1, OnFull::RefuseNew))),
        /// The customer under whose name calls are counted. Default: the empty text, for a store of
        /// one customer.
        customer(&str => |customer| customer.into()): Box<str> = Box::default(),
        /// The treatment of a call that may not go yet. Default: [`Pacing::default`].
        /// [`Pacing::Fail`] also does without the guard.
        pacing: Pacing = Pacing::default(),
        /// The most that the two clocks may differ, the way to the provider included; at most a
        /// quarter of the shortest window is kept. Default: 100 ms.
        guard: Duration = Duration::from_millis(100),
        /// The clock that calls are paced by. Default: the system's.
        clock: Arc<dyn Clock> = Arc::new(SystemClock),
    }
}

/// The treatment of a call that the provider's limits do not allow yet.
///
/// Calls that were answered with `Retry-After` are held back by it in the same way.
/// Default: [`Pacing::WaitUpTo`] [`Pacing::DEFAULT_LONGEST_WAIT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pacing {
    /// The call waits as long as necessary. It keeps the guard away from the boundaries of the
    /// limits' windows, so that a service whose clock is that much off does not count it in another
    /// window. Statements allow 25 calls an hour, so the wait can be most of an hour, and a
    /// `Retry-After` may ask for a day. A call that is dropped while it waits has not been charged.
    Wait,
    /// The call waits in the same way for at most this long. Once a longer wait is certain, it
    /// fails with the time from which it would be allowed.
    WaitUpTo(Duration),
    /// The call fails at once, with the time from which it would be allowed.
    Fail,
}

impl Default for Pacing {
    fn default() -> Self {
        Self::WaitUpTo(Self::DEFAULT_LONGEST_WAIT)
    }
}

impl Pacing {
    /// The longest wait of a call by default: one minute. It covers every limit of a second or a
    /// minute, and is short beside the hour of tokens and statements, whose callers learn when to
    /// come back.
    pub const DEFAULT_LONGEST_WAIT: Duration = Duration::from_secs(60);

    /// The latest time at which a call may be let go that began to wait at `begun`.
    fn deadline(self, begun: Timestamp) -> Timestamp {
        match self {
            Self::Wait => Timestamp::MAX,
            Self::WaitUpTo(longest) => begun.saturating_add(longest),
            Self::Fail => begun,
        }
    }
}

/// A call was not let go.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PaceError {
    /// The cost never fits.
    #[error("the call can never be allowed")]
    Cost(#[from] CostError),
    /// The wait would be longer than the pacing allows. Nothing was charged.
    #[error("held back by the rate limit until {until}")]
    #[non_exhaustive]
    Held {
        /// The time at which the call would be allowed if no other call took its place.
        until: Timestamp,
    },
    /// The counters failed.
    #[error("the counters could not be reached")]
    Store(#[from] StoreError),
}

/// A call that was counted and may go, as [`Pacer::acquire`] returns it. Not `Clone`, because a
/// call is given back once.
#[derive(Debug, PartialEq, Eq)]
pub struct Permit {
    counted_at: Timestamp,
    cost: u32,
}

/// A time before which no call is released.
#[derive(Clone, Copy, Debug)]
struct Hold {
    begun: Timestamp,
    until: Timestamp,
}

impl Hold {
    /// Returns the hold as of now, unless it is over. If the clock was set back to before the hold
    /// began, the hold ends that much earlier.
    fn as_of(self, now: Timestamp) -> Option<Self> {
        let set_back = self.begun.saturating_since(now);
        let until = self.until.saturating_sub(set_back);
        let begun = self.begun.min(now);
        (now < until).then_some(Self { begun, until })
    }
}

/// The longest time between two readings of the clock, which may be set while a call waits.
const LONGEST_SLEEP: Duration = Duration::from_secs(10);

/// The shortest wait that is logged.
const MIN_LOGGED_WAIT: Duration = Duration::from_secs(1);

/// A call that waits.
struct Waiting {
    begun: Timestamp,
    /// The latest time at which the call may be released.
    deadline: Timestamp,
    logged: bool,
}

impl Pacer {
    /// Creates a pacer for one customer's calls of one type. The default options wait for up to a
    /// minute, count in this pacer alone, and keep a guard of 100 ms.
    #[must_use]
    pub fn new(call_type: CallType, policy: Policy, options: PacerOptions) -> Self {
        Self {
            call_type,
            // A refused charge is repeated after the wait, and must not use up the limit meanwhile.
            policy: policy.with_counting(Counting::Admitted),
            options,
            hold: std::sync::Mutex::default(),
            opens: AtomicI64::new(i64::MIN),
            turn: Mutex::new(()),
            unsent: std::sync::Mutex::default(),
        }
    }

    /// Waits until a call of `cost` may be made, and counts it. If the limits refuse the call, it
    /// may replace one that was [not sent](Pacer::not_sent), and is not counted.
    ///
    /// # Errors
    /// [`PaceError::Cost`], at once, when `cost` is above the limit of a window, so that waiting
    /// cannot help. [`PaceError::Held`] when the call would have to wait longer than [`Pacing`]
    /// allows. [`PaceError::Store`] when the counters fail.
    pub async fn acquire(&self, cost: u32) -> Result<Permit, PaceError> {
        self.policy.check_cost(cost)?;
        let begun = self.options.clock.now();
        let mut waiting = Waiting {
            begun,
            deadline: self.options.pacing.deadline(begun),
            logged: false,
        };
        let _turn = match self.turn.try_lock() {
            Ok(turn) => turn,
            Err(_) => {
                // This call goes after the one in front, which leaves the line by its own deadline
                // at the latest. That deadline is not after this call's.
                self.log_wait(
                    &mut waiting,
                    // Relaxed: a time that is out of date is only logged.
                    Timestamp::saturating_from_unix_millis(self.opens.load(Ordering::Relaxed)),
                );
                // Held across the waits: calls go in the order in which they came.
                self.turn.lock().await
            }
        };
        loop {
            self.clear_of_boundaries(&mut waiting).await?;
            let now = self.options.clock.now();
            let opens = match self.held(now) {
                Some(until) => until,
                None => match self.charge(now, cost).await? {
                    Some(opens) => opens,
                    None => {
                        // The call may have waited behind others only.
                        self.log_wait(&mut waiting, now);
                        return Ok(Permit {
                            counted_at: self.judged_at(now),
                            cost,
                        });
                    }
                },
            };
            self.sleep_until(opens, now, &mut waiting).await?;
        }
    }

    /// Gives back a released call that was never sent and that the provider has not counted. If the
    /// limits refuse another call of this pacer with the same cost, that call replaces it without
    /// being counted again. Both calls must be in the same window of the policy's longest length;
    /// later the count has no effect any more.
    ///
    /// A call given back is known to this pacer only, not to others over the same
    /// [`PacerOptions::counters`] and not after a restart. In windows shorter than the longest one,
    /// the replacing call is alone among this pacer's calls; calls of other pacers are not
    /// considered.
    pub fn not_sent(&self, call: Permit) {
        self.unsent().give_back(call);
    }

    /// Releases no call before `at`: for the `Retry-After` of a refusal in spite of the pacing. The
    /// latest given time counts. If the clock is set back meanwhile, the wait does not become
    /// longer.
    pub fn hold_until(&self, at: Timestamp) {
        let now = self.options.clock.now();
        let mut hold = self.hold();
        let before = hold.and_then(|hold| hold.as_of(now));
        let until = before.map_or(at, |hold| hold.until.max(at));
        *hold = Some(Hold { begun: now, until });
    }

    /// Returns the policy that calls are paced by.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the clock that calls are paced by.
    #[must_use]
    pub fn clock(&self) -> &dyn Clock {
        &*self.options.clock
    }

    /// Waits until no window's boundary is within the guard.
    async fn clear_of_boundaries(&self, waiting: &mut Waiting) -> Result<(), PaceError> {
        let mut now = self.options.clock.now();
        while let Some(clear) = self
            .policy
            .windows()
            .iter()
            .filter_map(|window| self.guarded(window.millis(), now))
            .max()
        {
            self.sleep_until(clear, now, waiting).await?;
            let before = std::mem::replace(&mut now, self.options.clock.now());
            if now <= before {
                // A clock that stands still, as in tests, would hold the call back without end.
                break;
            }
        }
        Ok(())
    }

    /// Returns the time at which the guard of a window's boundary ends, for windows of this length;
    /// `None` outside the guard.
    fn guarded(&self, length: u32, now: Timestamp) -> Option<Timestamp> {
        let (length, guard) = (
            i64::from(length),
            // Lossless: a guard is at most a quarter of a window, whose length has 32 bits.
            i64::try_from(self.guard().as_millis()).unwrap_or(0),
        );
        let now = now.unix_millis();
        let elapsed = now.rem_euclid(length);
        let clear = match elapsed {
            _ if elapsed < guard => now - elapsed + guard,
            _ if elapsed >= length - guard => now - elapsed + length + guard,
            _ => return None,
        };
        Some(Timestamp::saturating_from_unix_millis(clear))
    }

    fn guard(&self) -> Duration {
        let shortest = self
            .policy
            .windows()
            .iter()
            .map(|window| window.length())
            .min()
            .unwrap_or_default();
        if self.options.pacing == Pacing::Fail {
            Duration::ZERO
        } else {
            // The guard lies at both ends of a window, so at most half of the shortest one is
            // closed.
            self.options.guard.min(shortest / 4)
        }
    }

    fn held(&self, now: Timestamp) -> Option<Timestamp> {
        let mut hold = self.hold();
        *hold = hold.and_then(|hold| hold.as_of(now));
        hold.map(|hold| hold.until)
    }

    fn hold(&self) -> std::sync::MutexGuard<'_, Option<Hold>> {
        // Written at once, so a panic elsewhere leaves it consistent.
        self.hold.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Charges the call if it is allowed; otherwise returns the time at which it will be.
    async fn charge(&self, now: Timestamp, cost: u32) -> Result<Option<Timestamp>, PaceError> {
        let judged_at = self.judged_at(now);
        let charge = Charge::new(
            &self.options.customer,
            self.call_type,
            &self.policy,
            judged_at,
            cost,
        )?;
        let decision = self.options.counters.charge(charge).await?;
        if decision.clock_was_ahead() {
            tracing::warn!(call_type = %self.call_type, "counts of a clock that was ahead were dropped");
        }
        // The wait is counted from now, whichever clock decided.
        let Some(wait) = decision.retry_after() else {
            self.unsent().counted(judged_at);
            return Ok(None);
        };
        let opens = now.saturating_add(wait);
        let instead = self.unsent().replace(judged_at, cost, &self.policy);
        Ok(match instead {
            Replacement::Now { alone_until } => {
                // The shorter windows have not counted this call, so others keep out of them.
                self.hold_until(alone_until.saturating_add(self.guard()));
                None
            }
            Replacement::Later(other) => Some(opens.min(other.saturating_add(self.guard()))),
            Replacement::Refused => Some(opens),
        })
    }

    /// Returns the time at which a call that is released now is counted.
    fn judged_at(&self, now: Timestamp) -> Timestamp {
        now.saturating_sub(self.guard())
    }

    fn unsent(&self) -> std::sync::MutexGuard<'_, Unsent> {
        // Each change is whole, also after a panic elsewhere.
        self.unsent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn sleep_until(
        &self,
        later: Timestamp,
        now: Timestamp,
        waiting: &mut Waiting,
    ) -> Result<(), PaceError> {
        // Before the wait, so that no caller waits in vain.
        if later > waiting.deadline {
            return Err(PaceError::Held { until: later });
        }
        // Relaxed: calls behind only log it, and decide again when their turn comes.
        self.opens.store(later.unix_millis(), Ordering::Relaxed);
        self.log_wait(waiting, later);
        let wait = later
            .saturating_since(now)
            // At least a millisecond, so that a time that has just come does not make a busy loop.
            .clamp(Duration::from_millis(1), LONGEST_SLEEP);
        tokio::time::sleep(wait).await;
        Ok(())
    }

    /// Logs a call that waits until then, once, if the wait is worth a line.
    fn log_wait(&self, waiting: &mut Waiting, until: Timestamp) {
        if !waiting.logged && until.saturating_since(waiting.begun) > MIN_LOGGED_WAIT {
            waiting.logged = true;
            tracing::info!(call_type = %self.call_type, %until, "held back by the rate limit");
        }
    }
}
