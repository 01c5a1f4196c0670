//! The customer's side: waiting instead of being refused.

use crate::{CostError, Counting, Policy, State, decide};
use bankrail_values::{Clock, Timestamp};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tokio::sync::Mutex;

/// Waits until a call may be made, so that the other side never has to refuse it.
///
/// The pacer keeps its own count of what was sent, under the other side's policy and [`Counting::Admitted`], and adds a
/// guard for what it cannot see: no call is let go within the guard of a window's boundary, and each is judged as of the
/// guard earlier. So, if every call reaches the other side when its clock shows no more than the guard before or after the
/// time at which this clock let the call go, and nobody else spends the customer's limits, then none is refused, under
/// either algorithm and way of counting.
///
/// - Fair: calls are let go in the order in which they began to wait, whatever they cost.
/// - Cancellable: a call that stops waiting is as if it had never been; it charges nothing.
///
/// ```
/// use bankrail_rate_limit::{CallType, Pacer, default_limits};
/// use bankrail_values::SystemClock;
/// use std::sync::Arc;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pacer = Pacer::new(default_limits(CallType::Statement), Arc::new(SystemClock));
/// pacer.acquire(1).await?; // and then ask for the statement
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Pacer {
    policy: Policy,
    clock: Arc<dyn Clock>,
    guard: i64,
    /// In milliseconds; nothing is let go before.
    held_until: AtomicI64,
    /// tokio's lock is handed on in the order of arrival; whoever is next holds it while waiting.
    turn: Mutex<State>,
}

/// The clock may be set while a call waits, so it is read again at least this often.
const LONGEST_SLEEP: Duration = Duration::from_secs(10);

impl Pacer {
    /// A pacer for one customer's calls of one type, with a guard of 100 ms.
    #[must_use]
    pub fn new(policy: Policy, clock: Arc<dyn Clock>) -> Self {
        let policy = policy.with_counting(Counting::Admitted);
        let held_until = AtomicI64::new(i64::MIN);
        Self { policy, clock, guard: 0, held_until, turn: Mutex::new(State::new()) }
            .with_guard(Duration::from_millis(100))
    }

    /// Allows for this much between the two clocks, the way there included; at most a quarter of the shortest window.
    #[must_use]
    pub fn with_guard(mut self, guard: Duration) -> Self {
        let shortest = self.policy.windows().iter().map(|window| window.millis()).min().unwrap_or(0);
        self.guard = i64::try_from(guard.as_millis()).unwrap_or(i64::MAX).min(i64::from(shortest / 4));
        self
    }

    /// Waits until a call of `cost` may be made, and counts it.
    ///
    /// # Errors
    /// [`CostError`], at once, when `cost` is above the limit of a window: no waiting helps.
    pub async fn acquire(&self, cost: u32) -> Result<(), CostError> {
        self.policy.check_cost(cost)?;
        let mut state = self.turn.lock().await;
        loop {
            let now = self.clock.now();
            let opens = match self.closed_until(now) {
                Some(later) => later,
                None => {
                    let decision = decide(&mut state, &self.policy, self.judged_at(now), cost)?;
                    match decision.retry_at() {
                        None => return Ok(()),
                        Some(later) => later.saturating_add(Duration::from_millis(self.guard.unsigned_abs())),
                    }
                }
            };
            let wait = opens.saturating_since(now).clamp(Duration::from_millis(1), LONGEST_SLEEP);
            tokio::time::sleep(wait).await;
        }
    }

    /// Lets nothing go before `at`: what to do with the `Retry-After` of a refusal that came all the same. An earlier
    /// time than one given before changes nothing.
    pub fn hold_until(&self, at: Timestamp) {
        self.held_until.fetch_max(at.unix_millis(), Ordering::Relaxed);
    }

    /// A later time, if nothing may go now whatever was counted.
    fn closed_until(&self, now: Timestamp) -> Option<Timestamp> {
        let now = now.unix_millis();
        let held = self.held_until.load(Ordering::Relaxed);
        let guarded = self.policy.windows().iter().map(|window| {
            let length = i64::from(window.millis());
            let elapsed = now.rem_euclid(length);
            match elapsed {
                _ if elapsed < self.guard => now - elapsed + self.guard,
                _ if elapsed >= length - self.guard => now - elapsed + length + self.guard,
                _ => now,
            }
        });
        let opens = guarded.chain([held]).max().filter(|opens| *opens > now);
        opens.map(Timestamp::saturating_from_unix_millis)
    }

    fn judged_at(&self, now: Timestamp) -> Timestamp {
        now.saturating_sub(Duration::from_millis(self.guard.unsigned_abs()))
    }
}
