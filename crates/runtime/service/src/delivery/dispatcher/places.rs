//! The deliveries under way in one loop, and the places that they take.

use super::{DispatcherOptions, Free};
use bankrail_mailbox::EndpointId;
use std::time::Duration;
use tokio::task::Id;
use tokio::time::Instant;

/// The places of deliveries. Slow deliveries have separate places, so that they do not delay
/// others.
///
/// A delivery leaves its place when its outcome is known and its record is on the way to the
/// outbox, so that the next lease is made at the same time as the record and not after it. The
/// number of records under way is at most that of the places.
#[derive(Debug)]
pub(super) struct Places {
    concurrency: usize,
    slow_concurrency: usize,
    slow_after: Duration,
    taken: Vec<Taken>,
}

#[derive(Debug)]
struct Taken {
    task: Id,
    endpoint: EndpointId,
    since: Instant,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Quick,
    Slow,
    /// The delivery has ended, and only its record is under way.
    Left,
}

impl Places {
    pub(super) fn new(options: &DispatcherOptions) -> Self {
        Self {
            // With no place nothing would ever be delivered.
            concurrency: options.concurrency.max(1),
            slow_concurrency: options.slow_concurrency.max(1),
            slow_after: options.slow_after,
            taken: Vec::new(),
        }
    }

    pub(super) fn free(&self) -> Free {
        let in_place = |place| {
            self.taken
                .iter()
                .filter(|taken| taken.place == place)
                .count()
        };
        let all = self.concurrency.saturating_add(self.slow_concurrency);
        let records = all.saturating_sub(in_place(Place::Left));
        Free {
            quick: self
                .concurrency
                .saturating_sub(in_place(Place::Quick))
                .min(records),
            slow: self
                .slow_concurrency
                .saturating_sub(in_place(Place::Slow))
                .min(records),
        }
    }

    /// Registers a delivery that begins, in a slow place or in another.
    pub(super) fn take(&mut self, task: Id, endpoint: EndpointId, slow: bool, now: Instant) {
        let place = if slow { Place::Slow } else { Place::Quick };
        self.taken.push(Taken {
            task,
            endpoint,
            since: now,
            place,
        });
    }

    /// Frees the place of a delivery whose record is under way.
    pub(super) fn leave(&mut self, task: Id) {
        if let Some(taken) = self.taken.iter_mut().find(|taken| taken.task == task) {
            taken.place = Place::Left;
        }
    }

    /// Removes a delivery that has ended.
    pub(super) fn end(&mut self, task: Id) {
        if let Some(at) = self.taken.iter().position(|taken| taken.task == task) {
            self.taken.swap_remove(at);
        }
    }

    /// Moves deliveries that have become slow to slow places, as long as some are free. Returns the
    /// endpoints of all deliveries that have become slow.
    pub(super) fn move_slow(&mut self, now: Instant) -> Vec<EndpointId> {
        let mut free = self.free().slow;
        let mut endpoints = Vec::new();
        for taken in self
            .taken
            .iter_mut()
            .filter(|taken| taken.place == Place::Quick)
        {
            if now.saturating_duration_since(taken.since) >= self.slow_after {
                endpoints.push(taken.endpoint.clone());
                if free > 0 {
                    taken.place = Place::Slow;
                }
                free = free.saturating_sub(1);
            }
        }
        endpoints
    }

    /// Returns the time until the next delivery becomes slow; `None` if none will.
    pub(super) fn until_slow(&self, now: Instant) -> Option<Duration> {
        let quick = self
            .taken
            .iter()
            .filter(|taken| taken.place == Place::Quick);
        let ages = quick.map(|taken| now.saturating_duration_since(taken.since));
        ages.filter_map(|age| self.slow_after.checked_sub(age))
            // A delivery that is slow already had no free slow place, and is not waited for.
            .filter(|left| !left.is_zero())
            .min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(name: &str) -> EndpointId {
        name.parse().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn slow_deliveries_move_to_places_of_their_own_as_far_as_there_are_any() {
        let options = DispatcherOptions::new()
            .concurrency(3)
            .slow_concurrency(2)
            .slow_after(Duration::from_secs(1));
        let mut places = Places::new(&options);
        let start = Instant::now();
        let after = |millis| start + Duration::from_millis(millis);
        let tasks: Vec<_> = (0..3).map(|_| tokio::spawn(async {}).id()).collect();
        assert_eq!(places.until_slow(start), None);
        for (task, name, began) in [(0, "a", 0), (1, "b", 10), (2, "c", 20)] {
            places.take(tasks[task], endpoint(name), false, after(began));
        }
        assert_eq!(places.free(), Free { quick: 0, slow: 2 });
        assert_eq!(
            places.until_slow(after(100)),
            Some(Duration::from_millis(900))
        );
        assert!(places.move_slow(after(999)).is_empty());
        assert_eq!(places.move_slow(after(1_000)), [endpoint("a")]);
        assert_eq!(places.free(), Free { quick: 1, slow: 1 });
        assert_eq!(
            places.until_slow(after(1_000)),
            Some(Duration::from_millis(10))
        );
        assert_eq!(
            places.move_slow(after(1_020)),
            [endpoint("b"), endpoint("c")],
            "one of them keeps its place"
        );
        assert_eq!(places.free(), Free { quick: 2, slow: 0 });
        assert_eq!(places.until_slow(after(1_020)), None);
        places.end(tasks[0]);
        assert_eq!(
            places.move_slow(after(1_030)),
            [endpoint("c")],
            "until another one leaves"
        );
        assert_eq!(places.free(), Free { quick: 3, slow: 0 });
        places.end(tasks[0]);
        places.end(tasks[1]);
        places.end(tasks[2]);
        assert_eq!(places.free(), Free { quick: 3, slow: 2 });
    }

    #[tokio::test(start_paused = true)]
    async fn a_delivery_whose_record_is_under_way_has_no_place_but_is_counted() {
        let options = DispatcherOptions::new()
            .concurrency(2)
            .slow_concurrency(1)
            .slow_after(Duration::from_secs(1));
        let mut places = Places::new(&options);
        let start = Instant::now();
        let tasks: Vec<_> = (0..5).map(|_| tokio::spawn(async {}).id()).collect();
        let take = |places: &mut Places, task: usize, slow| {
            places.take(tasks[task], endpoint("a"), slow, start)
        };
        take(&mut places, 0, false);
        take(&mut places, 1, true);
        assert_eq!(places.free(), Free { quick: 1, slow: 0 });
        places.leave(tasks[0]);
        places.leave(tasks[1]);
        assert_eq!(
            places.free(),
            Free { quick: 1, slow: 1 },
            "two of three records"
        );
        assert!(
            places.move_slow(start + Duration::from_secs(2)).is_empty(),
            "it is over, and does not become slow"
        );
        assert_eq!(places.until_slow(start), None);
        take(&mut places, 2, false);
        places.leave(tasks[2]);
        assert_eq!(places.free(), Free { quick: 0, slow: 0 });
        places.end(tasks[1]);
        assert_eq!(places.free(), Free { quick: 1, slow: 1 });
        places.end(tasks[0]);
        places.end(tasks[2]);
        assert_eq!(places.free(), Free { quick: 2, slow: 1 });
    }

    #[test]
    fn any_two_numbers_are_places() {
        let most = DispatcherOptions::new()
            .concurrency(usize::MAX)
            .slow_concurrency(usize::MAX);
        assert_eq!(
            Places::new(&most).free(),
            Free {
                quick: usize::MAX,
                slow: usize::MAX
            }
        );
        let none = DispatcherOptions::new().concurrency(0).slow_concurrency(0);
        assert_eq!(Places::new(&none).free(), Free { quick: 1, slow: 1 });
    }
}
