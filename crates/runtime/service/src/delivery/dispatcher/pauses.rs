//! The pauses between two queries of the outbox.

use super::DispatcherOptions;
use std::time::Duration;

/// The pauses of one loop, of which this keeps the next. Entries that wait for their endpoint's
/// circuit, for the end of its rest or for a place under its limit are due already, perhaps for
/// hours. While there are only such entries, the pause doubles, which costs the outbox little and
/// delays a message by at most [`DispatcherOptions::longest_idle`].
#[derive(Debug)]
pub(super) struct Pauses {
    shortest: Duration,
    longest: Duration,
    floor: Duration,
}

impl Pauses {
    pub(super) fn new(options: &DispatcherOptions) -> Self {
        let longest = options.longest_idle;
        let shortest = options
            .shortest_idle
            // A pause of zero would query the outbox in a busy loop.
            .max(Duration::from_millis(1))
            .min(longest);
        Self {
            shortest,
            longest,
            floor: shortest,
        }
    }

    /// Returns the longest pause, which [`Dispatcher::wake`](super::Dispatcher::wake) ends.
    pub(super) fn longest(&self) -> Duration {
        self.longest
    }

    /// Returns the pause after a query. `leased` is true if the query leased an entry; `next_due`
    /// is the time until the next entry is due, `None` if there is none.
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
        Pauses::new(
            &DispatcherOptions::new()
                .shortest_idle(shortest)
                .longest_idle(longest),
        )
    }

    #[test]
    fn due_entries_that_cannot_be_leased_double_the_pause() {
        let mut pauses = pauses(100, 1000);
        let mut after = |leased, due: Option<u64>| {
            pauses
                .after_look(leased, due.map(Duration::from_millis))
                .as_millis()
        };
        for expected in [100, 200, 400, 800, 1000, 1000] {
            assert_eq!(after(false, Some(0)), expected);
        }
        assert_eq!(after(true, Some(0)), 100, "an entry was leased");
        assert_eq!(after(false, Some(0)), 200);
        assert_eq!(after(false, Some(700)), 700, "another entry is due before");
        assert_eq!(after(false, Some(3)), 100);
        assert_eq!(after(false, Some(5000)), 1000);
        assert_eq!(after(false, None), 1000);
        assert_eq!(after(false, Some(0)), 200);
    }

    #[test]
    fn any_two_bounds_make_pauses() {
        assert_eq!(
            pauses(100, 20).after_look(false, Some(Duration::ZERO)),
            Duration::from_millis(20)
        );
        assert_eq!(
            pauses(0, 20).after_look(false, Some(Duration::ZERO)),
            Duration::from_millis(1)
        );
        assert_eq!(pauses(0, 0).after_look(false, None), Duration::ZERO);
    }
}
