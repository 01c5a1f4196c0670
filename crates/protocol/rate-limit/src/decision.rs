//! The decision on one request.

use crate::state::{elapsed, remaining, start};
use crate::{Algorithm, CostError, Counting, Policy, State, Window};
use bankrail_values::Timestamp;
use std::time::Duration;

/// Decides on one request of `cost` at `now` and charges it to all windows of `policy` in one step,
/// in exact integers, without allocation and without a clock (Specification: "Limits", rules 2 and
/// 3).
///
/// A request is allowed if in every window `(current + cost) × length + previous × remaining ≤
/// limit × length`, where the second term counts only under [`Algorithm::Sliding`].
/// [`Counting::Attempts`] charges every window, then compares; [`Counting::Admitted`] charges every
/// window if the request is allowed and none if not. A cost of 0 charges nothing, leaves the state
/// untouched, and is refused only where the rate is above the limit.
///
/// A `now` before the last charge gives no calls beyond the limit, and no customer waits until the
/// clock has reached a wrong time ([`State`]).
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
/// [`CostError`] when `cost` is above the limit of a window, so that it never fits. Nothing is
/// charged.
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

/// Decides as [`decide`] does, on a cost that can fit. For the index of a window and an instant,
/// `elapsed` returns the milliseconds since that window began.
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
            // The sum needs no check: a counter under the limit is also under the ceiling.
            slot.current = if refused == 0 {
                slot.current.saturating_add(cost)
            } else {
                slot.charged(*window, cost)
            };
        }
        *state = after;
    } else if cost > 0 && after.high_water_millis() < state.high_water_millis() {
        // The time is stored even without a charge: otherwise each further request would count the
        // charges ahead in its own window, until the clock has reached them.
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

/// The decision on one request: its permission, the rest of the limit, and the time of the next
/// chance.
///
/// A decision is a snapshot: its times are right as long as the key is not charged again and the
/// policy does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a refused request must not be served"]
pub struct Decision {
    after: State,
    policy: Policy,
    asked_at: Timestamp,
    cost: u32,
    /// The windows that refused the request, with one bit per window of the policy.
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
    /// Makes the decision on a request that has been charged.
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

    /// Makes the decision of an engine elsewhere. `after` is the key's state after it, for the
    /// windows of `policy` and as of the engine's time. `refused` is true for each window that
    /// refused. `clock_was_ahead` has the meaning of the [method](Self::clock_was_ahead).
    ///
    /// This is for engines of [`CounterStore`](crate::CounterStore); other callers use [`decide`].
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
    /// of this request. The key's counts were dropped, because only a wrong clock makes such
    /// counts.
    #[must_use]
    pub const fn clock_was_ahead(&self) -> bool {
        self.clock_was_ahead
    }

    /// Returns the policy of the decision.
    #[must_use]
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the cost of the request, which may be 0.
    #[must_use]
    pub const fn cost(&self) -> u32 {
        self.cost
    }

    /// Returns the time of the request, or that of the store that decided.
    #[must_use]
    pub const fn asked_at(&self) -> Timestamp {
        self.asked_at
    }

    /// Returns the key's counters after the decision.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.after
    }

    /// Returns each window of the policy with its status, longest first.
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

    /// Returns the greatest cost that would still be allowed at the time of the decision; `None`
    /// without a limit.
    #[must_use]
    pub fn remaining(&self) -> Option<u32> {
        self.windows().map(|status| status.remaining).min()
    }

    /// Returns the window that refused the request; of several windows, the one that refuses
    /// longest.
    #[must_use]
    pub fn refused_by(&self) -> Option<Window> {
        let refused = self
            .windows()
            .filter(|status| status.refused)
            .map(|status| status.window);
        refused.max_by_key(|window| self.opening_of(*window, self.cost))
    }

    /// Returns the first millisecond at which this request would be allowed; `None` if it was
    /// allowed.
    #[must_use]
    pub fn retry_at(&self) -> Option<Timestamp> {
        (!self.is_allowed()).then(|| self.opening(self.cost))
    }

    /// Returns the time from [`Decision::asked_at`] until the request would be allowed, at most two
    /// lengths of the longest window. `None` if it was allowed.
    ///
    /// After that time, the request may be refused again only if another clock, which was ahead by
    /// less than [`State::MAX_SKEW`], has charged the key.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        let longest = self.policy.windows().first()?.length();
        let wait = self.retry_at()?.saturating_since(self.asked_at);
        Some(wait.min(2 * longest))
    }

    /// Returns [`Decision::retry_after`] in whole seconds, rounded up and at least 1, for
    /// `Retry-After`.
    #[must_use]
    pub fn retry_after_seconds(&self) -> Option<u64> {
        self.retry_after().map(|wait| {
            u64::try_from(wait.as_millis().div_ceil(1000))
                .unwrap_or(u64::MAX)
                .max(1)
        })
    }

    /// Returns the first instant, not before the decision, at which a request of `cost` is allowed
    /// if nothing is charged until then.
    ///
    /// # Errors
    /// [`CostError`] when `cost` is above the limit of a window, so that it never fits.
    pub fn next_chance(&self, cost: u32) -> Result<Timestamp, CostError> {
        self.policy.check_cost(cost)?;
        Ok(self.opening(cost))
    }

    /// Returns the first instant at which all windows allow `cost`: the last of the windows' first
    /// instants.
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

    /// Returns the first instant at which `cost` fits into `window`. From then on it fits, because
    /// counters only lose weight until the next charge.
    fn opening_of(&self, window: Window, cost: u32) -> i64 {
        let now = self.after.high_water_millis();
        let length = window.millis();
        let Some(slot) = self.after.slots().iter().find(|slot| slot.length == length) else {
            return now;
        };
        let end = self.end_of(window);
        let length = i64::from(length);
        // Returns the time before the end of a window at which `previous` weighs no more than
        // `room`.
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
