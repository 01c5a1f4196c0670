//! The choice of the next job: the lanes take turns.

use std::collections::VecDeque;

/// The waiting jobs of a pool, by lane.
///
/// - A lane that was idle for a round goes first, so that one job among the bursts of others waits
///   for none of them.
/// - After a job its lane goes behind all others, even if it has no job left: a lane cannot go
///   first again and again.
/// - With one lane the jobs are in the order of their arrival.
///
/// A job is added in time proportional to the number of lanes that wait or have had their turn in
/// this round.
#[derive(Debug)]
pub(super) struct Turns<J> {
    fresh: VecDeque<Lane<J>>,
    round: VecDeque<Lane<J>>,
}

#[derive(Debug)]
struct Lane<J> {
    number: u64,
    jobs: VecDeque<J>,
}

impl<J> Default for Turns<J> {
    fn default() -> Self {
        Self {
            fresh: VecDeque::new(),
            round: VecDeque::new(),
        }
    }
}

impl<J> Turns<J> {
    pub(super) fn add(&mut self, number: u64, job: J) {
        match self
            .fresh
            .iter_mut()
            .chain(&mut self.round)
            .find(|lane| lane.number == number)
        {
            Some(lane) => lane.jobs.push_back(job),
            None => self.fresh.push_back(Lane {
                number,
                jobs: VecDeque::from([job]),
            }),
        }
    }

    pub(super) fn take(&mut self) -> Option<J> {
        while let Some(mut lane) = self.fresh.pop_front().or_else(|| self.round.pop_front()) {
            // A lane without a job was idle for a round, and is fresh when it comes again.
            if let Some(job) = lane.jobs.pop_front() {
                self.round.push_back(lane);
                return Some(job);
            }
        }
        None
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.fresh
            .iter()
            .chain(&self.round)
            .all(|lane| lane.jobs.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(turns: &mut Turns<(u64, u32)>) -> Vec<(u64, u32)> {
        std::iter::from_fn(|| turns.take()).collect()
    }

    fn add(turns: &mut Turns<(u64, u32)>, lane: u64, jobs: std::ops::Range<u32>) {
        jobs.for_each(|job| turns.add(lane, (lane, job)));
    }

    #[test]
    fn one_lane_goes_in_the_order_of_arrival() {
        let mut turns = Turns::default();
        add(&mut turns, 7, 0..5);
        assert_eq!(turns.take(), Some((7, 0)));
        add(&mut turns, 7, 5..7);
        assert_eq!(
            all(&mut turns),
            (1..7).map(|job| (7, job)).collect::<Vec<_>>()
        );
        assert!(
            turns.is_empty() && turns.fresh.is_empty() && turns.round.is_empty(),
            "nothing is kept of a lane"
        );
    }

    #[test]
    fn lanes_take_turns() {
        let mut turns = Turns::default();
        for lane in 1..=3 {
            add(&mut turns, lane, 0..u32::try_from(lane).unwrap());
        }
        assert_eq!(
            all(&mut turns),
            [(1, 0), (2, 0), (3, 0), (2, 1), (3, 1), (3, 2)]
        );
    }

    #[test]
    fn one_job_waits_for_none_of_the_bursts_of_others() {
        let mut turns = Turns::default();
        for lane in 1..=16 {
            add(&mut turns, lane, 0..4);
        }
        assert_eq!(turns.take(), Some((1, 0)));
        add(&mut turns, 99, 0..1);
        let order = all(&mut turns);
        // The burst's other 15 lanes have not had a turn either, and were there before.
        assert_eq!(order.iter().position(|job| job.0 == 99), Some(15));
        for lane in 1..=16 {
            add(&mut turns, lane, 0..4);
        }
        for _ in 0..20 {
            turns.take();
        }
        add(&mut turns, 99, 0..1);
        assert_eq!(
            turns.take(),
            Some((99, 0)),
            "once each has had a turn, at once"
        );
    }

    #[test]
    fn no_lane_goes_first_again_and_again() {
        let mut turns = Turns::default();
        add(&mut turns, 1, 0..3);
        assert_eq!(turns.take(), Some((1, 0)));
        let mut order = Vec::new();
        for job in 0..3 {
            // The second lane has a job whenever a thread looks for one.
            turns.add(2, (2, job));
            order.extend(turns.take());
        }
        order.extend(all(&mut turns));
        assert_eq!(order, [(2, 0), (1, 1), (2, 1), (1, 2), (2, 2)]);
    }

    /// Each job is done once, in the order of its lane, however the jobs arrive. Between two turns
    /// of a waiting lane, each other lane gets at most one.
    #[test]
    fn any_arrivals_are_served_fairly() {
        let mut seed = 0x2545_F491_4F6C_DD1D_u64;
        let mut random = move |below: u64| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed % below
        };
        for _ in 0..200 {
            let mut turns = Turns::default();
            let (mut added, mut taken) = ([0; 4], [0; 4]);
            // For each lane, the number of turns that each other lane has had since this lane's
            // last turn, or since its queue was empty.
            let mut since = [[0; 4]; 4];
            for _ in 0..200 {
                let lane = usize::try_from(random(4)).unwrap();
                if random(2) == 0 {
                    turns.add(lane as u64, (lane, added[lane]));
                    if added[lane] == taken[lane] {
                        since[lane] = [0; 4];
                    }
                    added[lane] += 1;
                } else if let Some((lane, job)) = turns.take() {
                    assert_eq!(job, taken[lane]);
                    taken[lane] += 1;
                    since[lane] = [0; 4];
                    for (other, counts) in since.iter_mut().enumerate() {
                        counts[lane] += 1;
                        assert!(added[other] == taken[other] || other == lane || counts[lane] <= 1);
                    }
                } else {
                    assert_eq!(added, taken);
                }
            }
        }
    }
}
