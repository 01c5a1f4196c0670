//! The decision on one request.

use crate::state::{elapsed, remaining, start};
use crate::{Algorithm, CostError, Counting, Policy, State, Window};
use bankrail_values::Timestamp;
use std::time::Duration;

/// Decides on one request of `cost` at `now` and charges it: all windows of `policy` in one step,
/// in exact integers, without allocation and without a clock (Specification: "Limits", rules 2 and
/// 3).
///
/// A request is allowed if in every window
/// `(current + cost) × length + previous × remaining ≤ limit × length`, the second term only under
/// [`Algorithm::Sliding`]. [`Counting::Attempts`] charges every window, then compares;
/// [`Counting::Admitted`] charges every window if the request is allowed and none if not. A cost of
/// 0 charges nothing, leaves the state untouched, and is refused only where the rate is above the
/// limit.
///
/// A `now` before the last charge gives no calls beyond the limit, and nobody waits until the clock
/// has reached a time that was wrong ([`State`]).
///
/// ```
/// use bankrail_rate_limit::{Algorithm, Counting, Policy, State, Window, decide};
/// let policy = Policy::new(Algorithm::Fixed, Counting::Attempts, &[Window::per_second(1)?])?;
/// let mut state = State::new();
/// let now = "2021-07-29T01:02:03.450Z".parse()?;
/// assert!(decide(&mut state, &policy, now, 1)?.is_allowed());
/// let refused = decide(&mut state, &policy, now, 1)?;
/// assert_eq!(refused.retry_at().unwrap().to_string(), "2021-07-29T01:02:04.000Z");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`CostError`] when `cost` is above the limit of a window: it never fits. Nothing is charged
/// then.
#[inline]
pub fn decide(
    state: &mut State,
    policy: &Policy,
    now: Timestamp,
    cost: u32,
) -> Result<Decision, CostError> {
    policy.check_cost(cost)?;
    Ok(judge(state, policy, now, cost, |_, now, length| {
        elapsed(now, length)
    }))
}

/// Decides as [`decide`] does, on a cost that can fit. `elapsed` returns the milliseconds since the
/// window of the policy at an index began, at an instant.
#[inline]
pub(crate) fn judge(
    state: &mut State,
    policy: &Policy,
    now: Timestamp,
    cost: u32,
    elapsed: impl FnMut(usize, i64, u32) -> u64,
) -> Decision {
    let algorithm = policy.algorithm();
    let clock_was_ahead = state.is_ahead(policy, now);
    let mut refused = 0;
    let mut after = state.arranged(policy, now, elapsed, |at, slot, window, remaining| {
        refused |= u8::from(!slot.fits(window, algorithm, remaining, cost)) << at;
    });
    if cost > 0 && (refused == 0 || policy.counting() == Counting::Attempts) {
        for (slot, window) in after.slots_mut().iter_mut().zip(policy.windows()) {
            // A counter under the limit is also under the ceiling.
            slot.current = if refused == 0 {
                slot.current.saturating_add(cost)
            } else {
                slot.charged(*window, cost)
            };
        }
        *state = after;
    } else if cost > 0 && after.high_water_millis() < state.high_water_millis() {
        // Otherwise each further request would count what is ahead in its own window, until the
        // clock has reached it.
        *state = after;
    }
    Decision {
        after,
        policy: *policy,
        asked_at: now,
        cost,
        refused,
        clock_was_ahead,
    }
}

/// The answer to one request: whether it is allowed, what is left, and when it would be allowed.
///
/// It is a snapshot: its times hold as long as the key is not charged again and the policy does not
/// change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a refused request must not be served"]
pub struct Decision {
    after: State,
    policy: Policy,
    asked_at: Timestamp,
    cost: u32,
    /// One bit per window of the policy.
    refused: u8,
    clock_was_ahead: bool,
}

/// One window of a [`Decision`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WindowStatus {
    /// The window.
    pub window: Window,
    /// True if the window refused the request.
    pub refused: bool,
    /// The greatest cost that this window alone would still allow at the time of the decision.
    pub remaining: u32,
    /// The end of the current window.
    pub ends_at: Timestamp,
}

impl Decision {
    /// The decision on a request that has been charged.
    #[inline]
    pub(crate) fn allowed(after: State, charge: &crate::Charge<'_>) -> Self {
        Self {
            after,
            policy: *charge.policy(),
            asked_at: charge.now(),
            cost: charge.cost(),
            refused: 0,
            clock_was_ahead: false,
        }
    }

    /// The decision that an engine elsewhere made. `after` is the key's state after it, for the
    /// windows of `policy` and as of the time that the engine took. `refused` holds for each window
    /// whether it refused. `clock_was_ahead` is that of the [method](Self::clock_was_ahead).
    ///
    /// For engines of [`CounterStore`](crate::CounterStore); other callers use [`decide`].
    #[must_use = "a refused request must not be served"]
    pub fn from_engine(
        after: State,
        charge: &crate::Charge<'_>,
        asked_at: Timestamp,
        refused: [bool; 3],
        clock_was_ahead: bool,
    ) -> Self {
        let after = after.arranged(
            charge.policy(),
            asked_at,
            |_, now, length| elapsed(now, length),
            |_, _, _, _| (),
        );
        let refused = refused.iter().zip(charge.policy().windows()).enumerate();
        let refused = refused.fold(0, |bits, (at, (refused, _))| {
            bits | (u8::from(*refused) << at)
        });
        Self {
            after,
            policy: *charge.policy(),
            asked_at,
            cost: charge.cost(),
            refused,
            clock_was_ahead,
        }
    }

    /// Returns true if the request may be served.
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        self.refused == 0
    }

    /// Returns true if the key's last charge was more than two lengths of the longest window ahead
    /// of this request. Its counts were dropped, because only a wrong clock makes them.
    #[must_use]
    pub const fn clock_was_ahead(&self) -> bool {
        self.clock_was_ahead
    }

    /// The policy that decided.
    #[must_use]
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The cost of the request; may be 0.
    #[must_use]
    pub const fn cost(&self) -> u32 {
        self.cost
    }

    /// The time of the request, or the time of the store that decided.
    #[must_use]
    pub const fn asked_at(&self) -> Timestamp {
        self.asked_at
    }

    /// The key's counters after the decision.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.after
    }

    /// Each window of the policy, longest first.
    pub fn windows(&self) -> impl ExactSizeIterator<Item = WindowStatus> {
        self.policy
            .windows()
            .iter()
            .enumerate()
            .map(|(at, window)| WindowStatus {
                window: *window,
                refused: self.refused >> at & 1 == 1,
                remaining: self.remaining_in(at, *window),
                ends_at: Timestamp::saturating_from_unix_millis(self.end_of(*window)),
            })
    }

    /// The greatest cost that would still be allowed at the time of the decision; `None` without a
    /// limit.
    #[must_use]
    pub fn remaining(&self) -> Option<u32> {
        self.windows().map(|status| status.remaining).min()
    }

    /// The window that refused the request; of several, the one that refuses longest.
    #[must_use]
    pub fn refused_by(&self) -> Option<Window> {
        let refused = self
            .windows()
            .filter(|status| status.refused)
            .map(|status| status.window);
        refused.max_by_key(|window| self.opening_of(*window, self.cost))
    }

    /// When this request would be allowed: refused at every earlier millisecond, allowed at this
    /// one. `None` if it was allowed.
    #[must_use]
    pub fn retry_at(&self) -> Option<Timestamp> {
        (!self.is_allowed()).then(|| self.opening(self.cost))
    }

    /// Returns the time from [`Decision::asked_at`] until the request would be allowed, at most two
    /// lengths of the longest window. `None` if it was allowed.
    ///
    /// The request may be refused again after that only where the key was charged by another clock,
    /// which was ahead by less than [`State::MAX_SKEW`].
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        let longest = self.policy.windows().first()?.length();
        let wait = self.retry_at()?.saturating_since(self.asked_at);
        Some(wait.min(2 * longest))
    }

    /// [`Decision::retry_after`] in whole seconds, rounded up and at least 1, for `Retry-After`.
    #[must_use]
    pub fn retry_after_seconds(&self) -> Option<u64> {
        self.retry_after().map(|wait| {
            u64::try_from(wait.as_millis().div_ceil(1000))
                .unwrap_or(u64::MAX)
                .max(1)
        })
    }

    /// The first instant, not before the decision, at which a request of `cost` is allowed if
    /// nothing is charged until then.
    ///
    /// # Errors
    /// [`CostError`] when `cost` is above the limit of a window: it never fits.
    pub fn next_chance(&self, cost: u32) -> Result<Timestamp, CostError> {
        self.policy.check_cost(cost)?;
        Ok(self.opening(cost))
    }

    /// Every window lets a request pass from some instant on, so the last of these instants is
    /// exact.
    fn opening(&self, cost: u32) -> Timestamp {
        let openings = self
            .policy
            .windows()
            .iter()
            .map(|window| self.opening_of(*window, cost));
        let latest = openings
            .max()
            .unwrap_or(i64::MIN)
            .max(self.after.high_water_millis());
        Timestamp::saturating_from_unix_millis(latest)
    }

    /// The first instant at which `cost` fits into `window`; once it fits, it fits for good,
    /// because counters only lose weight until something is charged.
    fn opening_of(&self, window: Window, cost: u32) -> i64 {
        let now = self.after.high_water_millis();
        let length = window.millis();
        let Some(slot) = self.after.slots().iter().find(|slot| slot.length == length) else {
            return now;
        };
        let end = self.end_of(window);
        let length = i64::from(length);
        // The time before the end of a piece at which `previous` weighs no more than `room`.
        let weighs_less = |previous: u32, room: u64| match (room * length.unsigned_abs())
            .checked_div(previous.into())
        {
            Some(before_end) => length.min(i64::try_from(before_end).unwrap_or(i64::MAX)),
            None => length,
        };
        let room = |counted: u32| {
            u64::from(window.limit()).checked_sub(u64::from(counted) + u64::from(cost))
        };
        match (self.policy.algorithm(), room(slot.current)) {
            (Algorithm::Fixed, Some(_)) => now,
            (Algorithm::Fixed, None) => end,
            (Algorithm::Sliding, Some(room)) => {
                now.max(end.saturating_sub(weighs_less(slot.previous, room)))
            }
            (Algorithm::Sliding, None) => match room(0) {
                Some(room) => end
                    .saturating_add(length)
                    .saturating_sub(weighs_less(slot.current, room)),
                None => i64::MAX, // `check_cost` came first
            },
        }
    }

    fn end_of(&self, window: Window) -> i64 {
        start(self.after.high_water_millis(), window.millis())
            .saturating_add(i64::from(window.millis()))
    }

    fn remaining_in(&self, at: usize, window: Window) -> u32 {
        let Some(slot) = self.after.slots().get(at) else {
            return 0;
        };
        let weight = match self.policy.algorithm() {
            Algorithm::Fixed => 0,
            Algorithm::Sliding => {
                let remaining = remaining(self.after.high_water_millis(), window.millis());
                (u64::from(slot.previous) * remaining).div_ceil(u64::from(window.millis()))
            }
        };
        let left = u64::from(window.limit())
            .saturating_sub(u64::from(slot.current))
            .saturating_sub(weight);
        u32::try_from(left).unwrap_or(u32::MAX)
    }
}
