//! The deliveries under way in one loop, and the places that they take.

use super::DispatcherOptions;
use bankrail_mailbox::EndpointId;
use std::time::Duration;
use tokio::task::Id;
use tokio::time::Instant;

/// Two sorts of places: those of slow deliveries are apart, so that they are in nobody else's way.
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
    slow: bool,
}

/// How many places are free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Free {
    pub(super) quick: usize,
    pub(super) slow: usize,
}

impl Places {
    pub(super) fn new(options: &DispatcherOptions) -> Self {
        Self {
            concurrency: options.concurrency.max(1),
            slow_concurrency: options.slow_concurrency.max(1),
            slow_after: options.slow_after,
            taken: Vec::new(),
        }
    }

    pub(super) fn free(&self) -> Free {
        let slow = self.taken.iter().filter(|taken| taken.slow).count();
        Free {
            quick: self.concurrency.saturating_sub(self.taken.len() - slow),
            slow: self.slow_concurrency.saturating_sub(slow),
        }
    }

    /// A delivery begins, in a slow place or in another.
    pub(super) fn take(&mut self, task: Id, endpoint: EndpointId, slow: bool, now: Instant) {
        self.taken.push(Taken { task, endpoint, since: now, slow });
    }

    /// A delivery has ended.
    pub(super) fn leave(&mut self, task: Id) {
        if let Some(at) = self.taken.iter().position(|taken| taken.task == task) {
            self.taken.swap_remove(at);
        }
    }

    /// Moves deliveries that have become slow to slow places, as far as there are any. Returns the endpoints of all
    /// that have become slow.
    pub(super) fn move_slow(&mut self, now: Instant) -> Vec<EndpointId> {
        let mut free = self.free().slow;
        let mut endpoints = Vec::new();
        for taken in self.taken.iter_mut().filter(|taken| !taken.slow) {
            if now.saturating_duration_since(taken.since) >= self.slow_after {
                endpoints.push(taken.endpoint.clone());
                taken.slow = free > 0;
                free = free.saturating_sub(1);
            }
        }
        endpoints
    }

    /// How long until the next delivery becomes slow. `None`: none will.
    pub(super) fn until_slow(&self, now: Instant) -> Option<Duration> {
        let ages =
            self.taken.iter().filter(|taken| !taken.slow).map(|taken| now.saturating_duration_since(taken.since));
        ages.filter_map(|age| self.slow_after.checked_sub(age)).filter(|left| !left.is_zero()).min()
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
        let options = DispatcherOptions::new().concurrency(3).slow_concurrency(2).slow_after(Duration::from_secs(1));
        let mut places = Places::new(&options);
        let start = Instant::now();
        let after = |millis| start + Duration::from_millis(millis);
        let tasks: Vec<_> = (0..3).map(|_| tokio::spawn(async {}).id()).collect();
        assert_eq!(places.until_slow(start), None);
        for (task, name, began) in [(0, "a", 0), (1, "b", 10), (2, "c", 20)] {
            places.take(tasks[task], endpoint(name), false, after(began));
        }
        assert_eq!(places.free(), Free { quick: 0, slow: 2 });
        assert_eq!(places.until_slow(after(100)), Some(Duration::from_millis(900)));
        assert!(places.move_slow(after(999)).is_empty());
        assert_eq!(places.move_slow(after(1_000)), [endpoint("a")]);
        assert_eq!(places.free(), Free { quick: 1, slow: 1 });
        assert_eq!(places.until_slow(after(1_000)), Some(Duration::from_millis(10)));
        assert_eq!(places.move_slow(after(1_020)), [endpoint("b"), endpoint("c")], "one of them keeps its place");
        assert_eq!(places.free(), Free { quick: 2, slow: 0 });
        assert_eq!(places.until_slow(after(1_020)), None);
        places.leave(tasks[0]);
        assert_eq!(places.move_slow(after(1_030)), [endpoint("c")], "until another one leaves");
        assert_eq!(places.free(), Free { quick: 3, slow: 0 });
        places.leave(tasks[0]);
        places.leave(tasks[1]);
        places.leave(tasks[2]);
        assert_eq!(places.free(), Free { quick: 3, slow: 2 });
    }
}
