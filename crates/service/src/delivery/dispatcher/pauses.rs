//! How long the worker pauses between two looks at the outbox.

use super::DispatcherOptions;
use std::time::Duration;

/// Entries that wait for their endpoint's circuit, for the end of its rest or for a place under its limit are due
/// already, and stay so for hours perhaps. Looking for them half as often each time costs the outbox little, and at
/// most [`DispatcherOptions::longest_idle`] of delay.
#[derive(Debug)]
pub(super) struct Pauses {
    shortest: Duration,
    longest: Duration,
    floor: Duration,
}

impl Pauses {
    pub(super) fn new(options: &DispatcherOptions) -> Self {
        let longest = options.longest_idle;
        let shortest = options.shortest_idle.max(Duration::from_millis(1)).min(longest);
        Self { shortest, longest, floor: shortest }
    }

    /// Until somebody says that there is something to do.
    pub(super) fn longest(&self) -> Duration {
        self.longest
    }

    /// The pause after a look that leased something or nothing, when the next entry is due after so long (`None`: there
    /// is none).
    pub(super) fn after_look(&mut self, leased: bool, next_due: Option<Duration>) -> Duration {
        if leased || next_due != Some(Duration::ZERO) {
            self.floor = self.shortest;
        }
        let pause = next_due.map_or(self.longest, |due| due.max(self.floor).min(self.longest));
        self.floor = self.floor.saturating_mul(2).min(self.longest);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pauses(shortest: u64, longest: u64) -> Pauses {
        let [shortest, longest] = [shortest, longest].map(Duration::from_millis);
        Pauses::new(&DispatcherOptions::new().shortest_idle(shortest).longest_idle(longest))
    }

    #[test]
    fn what_is_due_and_cannot_be_had_is_looked_for_less_and_less_often() {
        let mut pauses = pauses(100, 1000);
        let mut after =
            |leased, due: Option<u64>| pauses.after_look(leased, due.map(Duration::from_millis)).as_millis();
        for expected in [100, 200, 400, 800, 1000, 1000] {
            assert_eq!(after(false, Some(0)), expected);
        }
        assert_eq!(after(true, Some(0)), 100, "something was to be had");
        assert_eq!(after(false, Some(0)), 200);
        assert_eq!(after(false, Some(700)), 700, "something else is due before");
        assert_eq!(after(false, Some(3)), 100);
        assert_eq!(after(false, Some(5000)), 1000);
        assert_eq!(after(false, None), 1000);
        assert_eq!(after(false, Some(0)), 200);
    }

    #[test]
    fn any_two_bounds_make_pauses() {
        assert_eq!(pauses(100, 20).after_look(false, Some(Duration::ZERO)), Duration::from_millis(20));
        assert_eq!(pauses(0, 20).after_look(false, Some(Duration::ZERO)), Duration::from_millis(1));
        assert_eq!(pauses(0, 0).after_look(false, None), Duration::ZERO);
    }
}
