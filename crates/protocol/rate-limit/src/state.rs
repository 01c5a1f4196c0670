//! The state of one key: the time of the last charge and two counters for each window.

use crate::{Algorithm, Charge, MAX_WINDOWS, Policy, Window};
use bankrail_values::Timestamp;
use std::fmt;
use std::time::Duration;

/// The counters of one key under one policy: 44 bytes, no allocation.
///
/// A state has the time of the last charge, and for each window its length, the count of the
/// current window and that of the previous one. Because a state has the lengths of its windows, it
/// may be used with another policy at any time. Windows of the same length keep their counts,
/// whether the limit is raised or lowered; others start empty.
///
/// The time may be ahead of a request, because clocks differ or one has been set back.
///
/// - By at most [`MAX_SKEW`](Self::MAX_SKEW) and one length of the longest window: the request is
///   judged as of that time, so that machines whose clocks differ keep one limit together.
/// - By more: the counts of a later window count in the request's window, so that no limit is
///   exceeded and no customer waits until the clock has reached that time.
/// - By more than two lengths of a window: its counts are dropped. No clock in use is that far
///   ahead, so they are no evidence of calls in this time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// The time of the last charge in milliseconds, as bytes so that the struct needs no padding.
    high_water: [u8; 8],
    /// The counters of the windows. A place whose `length` is zero is unused.
    slots: [Counts; MAX_WINDOWS],
}

/// The counters of one window, also for engines that store a [`State`] elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs)] // the stored form: a new field would be another format
pub struct Counts {
    /// The window's length in milliseconds; not zero.
    pub length: u32,
    /// The count of the window with the time of the last charge.
    pub current: u32,
    /// The count of the window before.
    pub previous: u32,
}

const NEVER: i64 = i64::MIN;
const EMPTY: Counts = Counts {
    length: 0,
    current: 0,
    previous: 0,
};

impl State {
    /// The maximum difference between the clocks of machines in use: one minute.
    pub const MAX_SKEW: Duration = Duration::from_secs(60);

    /// Creates a state without counts.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            high_water: NEVER.to_ne_bytes(),
            slots: [EMPTY; MAX_WINDOWS],
        }
    }

    /// Makes a state from the values of [`State::high_water`] and [`State::counts`]. Returns `None`
    /// for more than [`MAX_WINDOWS`], for a length that is zero or repeated, for counters above
    /// [`Window::ceiling`], and for counts without a time.
    #[must_use]
    pub fn from_counts(high_water: Option<Timestamp>, counts: &[Counts]) -> Option<Self> {
        let mut state = Self::new();
        if let Some(high_water) = high_water {
            state.high_water = high_water.unix_millis().to_ne_bytes();
        } else if !counts.is_empty() {
            return None;
        }
        for (at, count) in counts.iter().enumerate() {
            let ceiling = Window::from_millis(count.length, 1).ok()?.ceiling();
            let repeated = counts
                .iter()
                .take(at)
                .any(|earlier| earlier.length == count.length);
            if repeated || count.current > ceiling || count.previous > ceiling {
                return None;
            }
            *state.slots.get_mut(at)? = *count;
        }
        Some(state)
    }

    /// Returns the time of the last charge; `None` before the first one.
    #[must_use]
    pub fn high_water(&self) -> Option<Timestamp> {
        match self.high_water_millis() {
            NEVER => None,
            millis => Some(Timestamp::saturating_from_unix_millis(millis)),
        }
    }

    /// Returns the counters, in the order of the policy that charged last.
    pub fn counts(&self) -> impl Iterator<Item = Counts> {
        self.slots.into_iter().take_while(|slot| slot.length != 0)
    }

    /// Returns the first instant from which on this state is equivalent to a new one, because no
    /// counter has any weight left under either algorithm. `None` if no counter has any weight now.
    #[must_use]
    pub fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at_millis()
            .map(Timestamp::saturating_from_unix_millis)
    }

    pub(crate) fn expires_at_millis(&self) -> Option<i64> {
        let high_water = self.high_water_millis();
        let expiry = |slot: Counts| {
            let length = i64::from(slot.length);
            let end = start(high_water, slot.length).saturating_add(length);
            match (slot.current, slot.previous) {
                (0, 0) => None,
                (0, _) => Some(end),
                _ => Some(end.saturating_add(length)),
            }
        };
        self.counts().filter_map(expiry).max()
    }

    pub(crate) fn high_water_millis(&self) -> i64 {
        i64::from_ne_bytes(self.high_water)
    }

    pub(crate) fn slots(&self) -> &[Counts; MAX_WINDOWS] {
        &self.slots
    }

    #[inline]
    pub(crate) fn slots_mut(&mut self) -> &mut [Counts; MAX_WINDOWS] {
        &mut self.slots
    }

    /// Creates an empty state that judges requests shortly before `millis` as if they came at
    /// `millis`.
    pub(crate) fn starting_at(millis: i64) -> Self {
        Self {
            high_water: millis.to_ne_bytes(),
            ..Self::new()
        }
    }

    /// Returns true if the counts are from more than two lengths of the longest window ahead of
    /// `now`, so that all are dropped.
    pub(crate) fn is_ahead(&self, policy: &Policy, now: Timestamp) -> bool {
        let lead = self.high_water_millis().saturating_sub(now.unix_millis());
        lead > 2 * longest(policy) && self.counts().next().is_some()
    }

    /// Returns the time as of which a request at `now` is judged.
    #[inline]
    fn judged_at(&self, policy: &Policy, now: Timestamp) -> i64 {
        let (before, now) = (self.high_water_millis(), now.unix_millis());
        let skew = i64::try_from(Self::MAX_SKEW.as_millis()).unwrap_or(i64::MAX);
        if before > now && before.saturating_sub(now) <= skew.min(longest(policy)) {
            before
        } else {
            now
        }
    }

    /// Returns this state's counters in the order of `policy`, moved to the time as of which a
    /// request at `now` is judged. `elapsed` returns the milliseconds since the window at an index
    /// began, at an instant. `visit` is called with the window's index, its counters, the window,
    /// and the milliseconds that remain of it.
    #[inline]
    pub(crate) fn arranged(
        &self,
        policy: &Policy,
        now: Timestamp,
        mut elapsed: impl FnMut(usize, i64, u32) -> u64,
        mut visit: impl FnMut(usize, &Counts, Window, u64),
    ) -> Self {
        let before = self.high_water_millis();
        let now = self.judged_at(policy, now);
        let apart = now.abs_diff(before);
        let mut after = Self {
            high_water: now.to_ne_bytes(),
            ..*self
        };
        let windows = policy.windows();
        for (at, (slot, window)) in after.slots.iter_mut().zip(windows).enumerate() {
            let length = window.millis();
            if slot.length != length {
                *slot = self.slot_of(length);
            }
            let elapsed = elapsed(at, now, length);
            let remaining = u64::from(length) - elapsed;
            if before > now {
                if apart >= remaining {
                    slot.turn_back(*window, apart);
                }
            } else if apart > elapsed {
                slot.turn(apart - elapsed);
            }
            visit(at, slot, *window, remaining);
        }
        for slot in after.slots.iter_mut().skip(windows.len()) {
            *slot = EMPTY;
        }
        after
    }

    /// Charges a request that is allowed whatever the rest of the windows, as most are, and returns
    /// true. `holds` returns true if an instant is in the current window of that length at an
    /// index. Charges nothing and returns false if the policy has other windows than the state, or
    /// if a window has ended since.
    #[inline]
    pub(crate) fn charge_within(
        &mut self,
        charge: &Charge<'_>,
        holds: impl Fn(usize, i64, u32) -> bool,
    ) -> bool {
        let (windows, cost) = (charge.policy().windows(), u64::from(charge.cost()));
        let before = self.high_water_millis();
        let now = self.judged_at(charge.policy(), charge.now());
        let mut places = self.slots.iter().zip(windows).enumerate();
        let fits = places.all(|(at, (slot, window))| {
            let length = window.millis();
            // The count of the previous window weighs at most its whole.
            let most = u64::from(slot.current) + u64::from(slot.previous) + cost;
            slot.length == length
                && most <= u64::from(window.limit())
                && holds(at, before, length)
                && holds(at, now, length)
        });
        if !fits
            || cost == 0
            || self
                .slots
                .iter()
                .skip(windows.len())
                .any(|slot| slot.length != 0)
        {
            return false;
        }
        for (slot, _) in self.slots.iter_mut().zip(windows) {
            slot.current += charge.cost();
        }
        self.high_water = now.to_ne_bytes();
        true
    }

    #[cold]
    #[inline(never)]
    fn slot_of(&self, millis: u32) -> Counts {
        let found = self.slots.iter().find(|slot| slot.length == millis);
        found.copied().unwrap_or(Counts {
            length: millis,
            ..EMPTY
        })
    }
}

impl Counts {
    /// Moves the counters from an earlier window to one that began `behind` milliseconds after
    /// their own time.
    #[inline]
    fn turn(&mut self, behind: u64) {
        self.previous = if behind <= u64::from(self.length) {
            self.current
        } else {
            0
        };
        self.current = 0;
    }

    /// Moves the counters, whose time is `ahead` milliseconds from now, from a later window to the
    /// present one.
    #[cold]
    #[inline(never)]
    fn turn_back(&mut self, window: Window, ahead: u64) {
        self.current = if ahead <= 2 * u64::from(self.length) {
            self.charged(window, self.previous)
        } else {
            0
        };
        self.previous = 0;
    }

    /// Returns true if a request of `cost` fits in addition to the counters, when `remaining`
    /// milliseconds of the window remain: `(current + cost) * length + previous * remaining <=
    /// limit * length`, with the previous window left out under [`Algorithm::Fixed`]. Every product
    /// is at most 2^53.
    #[inline]
    pub(crate) fn fits(
        &self,
        window: Window,
        algorithm: Algorithm,
        remaining: u64,
        cost: u32,
    ) -> bool {
        let counted = u64::from(self.current) + u64::from(cost);
        let Some(room) = u64::from(window.limit()).checked_sub(counted) else {
            return false;
        };
        algorithm == Algorithm::Fixed
            || u64::from(self.previous) * remaining <= room * u64::from(window.millis())
    }

    /// Returns the counter after a charge of `cost`, at most the window's ceiling.
    pub(crate) fn charged(&self, window: Window, cost: u32) -> u32 {
        self.current.saturating_add(cost).min(window.ceiling())
    }
}

/// Returns the length of the longest window.
fn longest(policy: &Policy) -> i64 {
    let longest = policy.windows().first();
    longest.map_or(0, |window| i64::from(window.millis()))
}

/// Returns the start of the window of `now`, by the floor of the timestamp.
#[inline]
pub(crate) fn start(now: i64, length: u32) -> i64 {
    now.saturating_sub_unsigned(elapsed(now, length))
}

/// Returns the milliseconds from the start of the window of `now`: less than `length`.
#[inline]
pub(crate) fn elapsed(now: i64, length: u32) -> u64 {
    // Whole seconds until the year 2106: the constants divide by multiplying, and the rest is a
    // 32-bit division, several times as fast as a 64-bit one.
    if length.is_multiple_of(1_000)
        && let Ok(millis) = u64::try_from(now)
        && let Ok(seconds) = u32::try_from(millis / 1_000)
    {
        return u64::from(seconds % (length / 1_000).max(1)) * 1_000 + millis % 1_000;
    }
    elapsed_in_64_bits(now, length)
}

#[cold]
#[inline(never)]
fn elapsed_in_64_bits(now: i64, length: u32) -> u64 {
    now.rem_euclid(i64::from(length.max(1))).unsigned_abs()
}

/// Returns the milliseconds until the end of the window of `now`: 1 to `length`.
#[inline]
pub(crate) fn remaining(now: i64, length: u32) -> u64 {
    u64::from(length) - elapsed(now, length)
}

impl Default for State {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for State {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: Vec<Counts> = self.counts().collect();
        out.debug_struct("State")
            .field("high_water", &self.high_water())
            .field("counts", &counts)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_as_small_as_it_says() {
        assert_eq!(size_of::<State>(), 44);
    }

    #[test]
    fn the_fast_division_is_the_slow_one() {
        const SECONDS: i64 = 4_294_967_296_000;
        for now in [
            0,
            1,
            999,
            1_000,
            1_627_520_523_450,
            SECONDS - 1,
            SECONDS,
            SECONDS + 1,
            -1,
            -1_001,
        ] {
            for length in [
                1,
                999,
                1_000,
                1_001,
                60_000,
                3_600_000,
                86_400_000,
                4_294_967_000,
                u32::MAX,
            ] {
                assert_eq!(
                    elapsed(now, length),
                    now.rem_euclid(i64::from(length)).unsigned_abs(),
                    "{now} {length}"
                );
            }
        }
    }

    #[test]
    fn windows_are_aligned_to_the_floor_before_the_epoch_too() {
        assert_eq!(start(1_999, 1_000), 1_000);
        assert_eq!(start(-1, 1_000), -1_000);
        assert_eq!(start(-1_000, 1_000), -1_000);
        assert_eq!(remaining(-1, 1_000), 1);
        assert_eq!(remaining(2_000, 1_000), 1_000);
    }
}
