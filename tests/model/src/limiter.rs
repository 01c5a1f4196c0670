//! Two instances of a service charge shared counters, by the product's own `decide`.
//!
//! One tick is a millisecond, so that windows are a few ticks long. Time runs for a few windows and
//! then stands still.

use crate::Answer;
use bankrail_rate_limit::{
    Algorithm, Counting, Counts, Decision, Policy, State as Counters, Window, decide,
};
use bankrail_values::Timestamp;
use stateright::{Model, Property};
use std::time::Duration;

/// The windows of the policy, longest first: ticks and limit.
pub const WINDOWS: [(u8, u8); 2] = [(4, 3), (2, 2)];

/// The ticks of a run, and the requests in one of them.
const TICKS: usize = 9;
const REQUESTS: u8 = 3;

/// The largest step back of a clock, in ticks.
const SET_BACK_TICKS: i64 = 10;

/// The time at which a run begins, at the begin of both windows.
const BEGIN: i64 = 40;

/// The instants by the clock that decides: those before the begin are of a clock that was set back.
const INSTANTS: usize = 24;

/// A fault planted in the model. Each must break a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The counters are read and written in two operations.
    ReadAndWrittenApart,
    /// The counters are kept after the request has been served, and not at all if the process ends
    /// in between.
    ServedBeforeTheCharge,
    /// A request is served although the counters did not answer. `OnStoreFailure::Allow` does so on
    /// purpose.
    SilenceTakenForLeave,
    /// A charge without an answer is repeated.
    RepeatedBlindly,
    /// The limit is compared before the request is counted.
    ComparedBeforeTheCharge,
    /// The counts of a later window are dropped when a clock is set back.
    CountsDroppedByAClockSetBack,
    /// A request is judged by its own clock although the counters are ahead.
    SkewIgnored,
    /// A refusal is charged to the windows that would have allowed it.
    ChargedByHalves,
}

impl Fault {
    /// Each fault with the property that it breaks, and the skew of the clocks with which it does.
    pub const ALL: [(Self, &'static str, u8); 8] = [
        (Self::ReadAndWrittenApart, WITHIN_LIMIT, 0),
        (Self::ServedBeforeTheCharge, WITHIN_LIMIT, 0),
        (Self::SilenceTakenForLeave, WITHIN_LIMIT, 0),
        (Self::RepeatedBlindly, CHARGED_ONCE, 0),
        (Self::ComparedBeforeTheCharge, WITHIN_LIMIT, 0),
        (Self::CountsDroppedByAClockSetBack, SET_BACK, 0),
        (Self::SkewIgnored, WITHIN_LIMIT, 1),
        (Self::ChargedByHalves, ALL_OR_NOTHING, 0),
    ];
}

const WITHIN_LIMIT: &str = "no more is served in a window than its limit";
const TRAILING: &str = "no more is served in any time of a window's length than the policy says";
const SET_BACK: &str = "a clock that is set back gives nothing in the window that it comes to";
const CHARGED_ONCE: &str = "a request is charged once";
const ALL_OR_NOTHING: &str = "a refusal that is not counted changes nothing";
const OPENS: &str = "a refused request is allowed at the time that it was told, and not before";
const NOBODY_WAITS: &str = "nobody is told to wait for longer than two windows";

/// The counters of one customer, in a form that can be compared: `bankrail_rate_limit::State`.
type Kept = (Option<i64>, [Option<(u32, u32, u32)>; 3]);

/// The present state, and the parts of the past that the properties need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    kept: Kept,
    /// The ticks since the begin.
    time: usize,
    /// The requests in this tick.
    requests: u8,
    /// The counters that each instance is about to write; planted faults alone use them.
    unwritten: [Option<Kept>; 2],
    /// The step back of the deciding clock, in ticks.
    set_back: i64,
    faults: u8,
    /// The requests that were served in each tick.
    served: [u8; TICKS],
    /// The number of requests served at each instant of the deciding clock, since a clock was set
    /// back so far that the counters are of another time.
    judged: [u8; INSTANTS],
    /// The number of requests served in the last long window before the clock was set back, by at
    /// most two window lengths, and the instant of the first request since then.
    carried: u8,
    first: Option<i64>,
    charged_twice: bool,
    by_halves: bool,
}

/// A step, with the number of the instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Time passes.
    Tick,
    /// `Limiter::check` in `crates/protocol/rate-limit/src/limiter.rs`: `CounterStore::charge`, one
    /// atomic step in `memory/shard.rs`, and in `sqlite/counters.rs`, `postgres/counters.rs` and
    /// `redis/charge.lua` of `crates/runtime/stores/src`. An instance that sees an error refuses:
    /// `OnStoreFailure::Refuse`.
    Check(usize, Answer),
    /// The instance writes the counters that it read: of faults alone.
    Write(usize),
    /// The process of an instance ends before it writes: of faults alone.
    Crash(usize),
    /// The clock that decides is set back by this many ticks: that of the store's server
    /// (`CounterClock::Server`).
    SetBack(i64),
}

/// The model.
#[derive(Clone, Copy, Debug)]
pub struct LimiterModel {
    /// The planted fault.
    pub fault: Option<Fault>,
    /// The algorithm of the policy.
    pub algorithm: Algorithm,
    /// The counting of the policy.
    pub counting: Counting,
    /// The lead of the first instance's clock over the other's, in ticks, where each instance
    /// decides with its own clock (`CounterClock::Callers`).
    pub skew: u8,
    /// The maximum number of lost answers, failures and changes of a clock in a run.
    pub faults: u8,
}

fn kept(counters: &Counters) -> Kept {
    let mut slots = [None; 3];
    for (slot, counts) in slots.iter_mut().zip(counters.counts()) {
        *slot = Some((counts.length, counts.current, counts.previous));
    }
    (counters.high_water().map(Timestamp::unix_millis), slots)
}

fn counters((high_water, slots): Kept) -> Counters {
    let counts = slots.into_iter().flatten();
    let counts: Vec<_> = counts
        .map(|(length, current, previous)| Counts {
            length,
            current,
            previous,
        })
        .collect();
    Counters::from_counts(
        high_water.map(Timestamp::saturating_from_unix_millis),
        &counts,
    )
    .expect("kept")
}

impl LimiterModel {
    fn policy(&self) -> Policy {
        let more = u32::from(self.fault == Some(Fault::ComparedBeforeTheCharge));
        let windows = WINDOWS.map(|(ticks, limit)| {
            Window::new(
                Duration::from_millis(u64::from(ticks)),
                u32::from(limit) + more,
            )
            .expect("within the bounds")
        });
        Policy::new(self.algorithm, self.counting, &windows).expect("two lengths")
    }

    /// The time that an instance's request is judged with.
    fn now(&self, state: &State, by: usize) -> i64 {
        let time = i64::try_from(state.time).unwrap_or(i64::MAX);
        BEGIN + time - state.set_back + if by == 0 { i64::from(self.skew) } else { 0 }
    }

    fn check(&self, state: &mut State, by: usize, answer: Answer) {
        let now = self.now(state, by);
        let in_silence =
            self.fault == Some(Fault::SilenceTakenForLeave) && answer != Answer::Arrives;
        if answer == Answer::Refused {
            if in_silence {
                state.serve(now);
            }
            return;
        }
        let before = match self.fault {
            Some(Fault::CountsDroppedByAClockSetBack | Fault::SkewIgnored)
                if millis(&state.kept) > Some(now) =>
            {
                kept(&Counters::new())
            }
            _ => state.kept,
        };
        let (decision, mut after) = self.decide(&before, now);
        if self.fault == Some(Fault::RepeatedBlindly) && answer == Answer::Lost {
            let (again, twice) = self.decide(&kept(&after), now);
            state.charged_twice |= decision.is_allowed() && again.is_allowed();
            after = twice;
        }
        let allowed = decision.is_allowed();
        if !allowed && self.fault == Some(Fault::ChargedByHalves) {
            let mut counts: Vec<_> = after.counts().collect();
            for (counts, window) in counts.iter_mut().zip(decision.windows()) {
                counts.current += u32::from(!window.refused);
            }
            after = Counters::from_counts(after.high_water(), &counts).expect("kept");
        }
        let after = kept(&after);
        // Requests ahead of the clock count in the request's window, also when one is refused.
        state.by_halves |= !allowed
            && self.counting == Counting::Admitted
            && after != before
            && millis(&after) >= millis(&before);
        let judged = decision
            .state()
            .high_water()
            .map_or(now, Timestamp::unix_millis);
        state.first = state.first.or(Some(judged));
        if (allowed && answer == Answer::Arrives) || in_silence {
            state.serve(judged);
        }
        match self.fault {
            Some(Fault::ReadAndWrittenApart | Fault::ServedBeforeTheCharge) => {
                state.unwritten[by] = Some(after)
            }
            _ => state.kept = after,
        }
    }

    fn decide(&self, before: &Kept, now: i64) -> (Decision, Counters) {
        let mut counters = counters(*before);
        let now = Timestamp::saturating_from_unix_millis(now);
        let decision = decide(&mut counters, &self.policy(), now, 1).expect("below the limits");
        (decision, counters)
    }

    /// Sets the clock that decides back.
    fn set_back(&self, state: &mut State, ticks: i64) {
        state.set_back += ticks;
        let [(longest, _), _] = WINDOWS;
        let counted = millis(&state.kept).unwrap_or(i64::MIN);
        let ahead = counted.saturating_sub(self.now(state, 1));
        // As far as clocks differ, the time of the counters goes on.
        if ahead > i64::from(longest) {
            let near = ahead <= 2 * i64::from(longest);
            state.carried = if near {
                state.in_window(counted, longest)
            } else {
                0
            };
            (state.judged, state.first) = ([0; INSTANTS], None);
        }
    }
}

fn millis((high_water, _): &Kept) -> Option<i64> {
    *high_water
}

impl State {
    /// Counts a request that is served, and was judged by this time.
    fn serve(&mut self, judged: i64) {
        self.served[self.time] += 1;
        let at = usize::try_from(judged - BEGIN + SET_BACK_TICKS).expect("within the run");
        self.judged[at] += 1;
    }

    /// Forgets windows that are over, which no property needs any more. No request is judged by an
    /// instant before the last charge, until a clock is set further back.
    fn forget(&mut self) {
        let [(longest, _), _] = WINDOWS;
        let over = self.time.saturating_sub(usize::from(longest));
        self.served[..over].fill(0);
        let window = |instant: i64| instant.div_euclid(i64::from(longest));
        if let Some(counted) = millis(&self.kept) {
            for (at, judged) in (BEGIN - SET_BACK_TICKS..).zip(&mut self.judged) {
                *judged = if window(at) < window(counted) {
                    0
                } else {
                    *judged
                };
            }
        }
    }

    /// Returns the number of served requests in the window of this length that holds this instant.
    fn in_window(&self, instant: i64, length: u8) -> u8 {
        let window = |instant: i64| instant.div_euclid(i64::from(length));
        let instants = (BEGIN - SET_BACK_TICKS..).zip(self.judged);
        instants
            .filter(|(at, _)| window(*at) == window(instant))
            .map(|(_, served)| served)
            .sum()
    }
}

impl Model for LimiterModel {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            kept: kept(&Counters::new()),
            time: 0,
            requests: 0,
            unwritten: [None; 2],
            set_back: 0,
            faults: self.faults,
            served: [0; TICKS],
            judged: [0; INSTANTS],
            carried: 0,
            first: None,
            charged_twice: false,
            by_halves: false,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.time + 1 < TICKS {
            actions.push(Action::Tick);
        }
        let fails = state.faults > 0;
        let held = self.fault == Some(Fault::ServedBeforeTheCharge) && state.unwritten != [None; 2];
        for by in 0..2 {
            if state.unwritten[by].is_some() {
                actions.push(Action::Write(by));
                if fails {
                    actions.push(Action::Crash(by));
                }
            } else if state.requests < REQUESTS && !held {
                actions.push(Action::Check(by, Answer::Arrives));
                if fails {
                    actions.push(Action::Check(by, Answer::Lost));
                    actions.push(Action::Check(by, Answer::Refused));
                }
            }
        }
        if fails && self.skew == 0 && state.set_back == 0 {
            actions.extend((1..=SET_BACK_TICKS).map(Action::SetBack));
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = *last;
        match action {
            Action::Tick => (state.time, state.requests) = (state.time + 1, 0),
            Action::Check(by, answer) => {
                state.requests += 1;
                state.faults -= u8::from(answer != Answer::Arrives);
                self.check(&mut state, by, answer);
            }
            Action::Write(by) => state.kept = state.unwritten[by].take()?,
            Action::Crash(by) => {
                state.faults -= 1;
                state.unwritten[by] = None;
            }
            Action::SetBack(ticks) => {
                state.faults -= 1;
                self.set_back(&mut state, ticks);
            }
        }
        if self.fault.is_none() {
            state.forget();
        }
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(WITHIN_LIMIT, |_, state: &State| {
                let instants = (BEGIN - SET_BACK_TICKS..).take(INSTANTS);
                let mut windows =
                    instants.flat_map(|at| WINDOWS.map(|(length, limit)| (at, length, limit)));
                windows.all(|(at, length, limit)| state.in_window(at, length) <= limit)
            }),
            Property::always(TRAILING, |model, state: &State| {
                // A clock that is set has other windows before and after.
                let is_set = state.set_back > 0 || model.skew > 0;
                is_set
                    || WINDOWS.iter().all(|(length, limit)| {
                        let most = if model.algorithm == Algorithm::Fixed {
                            2 * limit
                        } else {
                            2 * limit - 1
                        };
                        let mut times = state.served.windows(usize::from(*length));
                        times.all(|times| times.iter().sum::<u8>() <= most)
                    })
            }),
            Property::always(SET_BACK, |_, state: &State| {
                let [(length, limit), _] = WINDOWS;
                let since = state
                    .first
                    .map_or(0, |first| state.in_window(first, length));
                state.carried == 0 || state.carried + since <= limit
            }),
            Property::always(CHARGED_ONCE, |_, state: &State| !state.charged_twice),
            Property::always(ALL_OR_NOTHING, |_, state: &State| !state.by_halves),
            Property::always(OPENS, |model, state: &State| {
                let now = model.now(state, 1);
                let (asked, after) = model.decide(&state.kept, now);
                let judged = |at: i64| model.decide(&kept(&after), at).0.is_allowed();
                asked.retry_at().is_none_or(|opens| {
                    let opens = opens.unix_millis();
                    judged(opens) && !(now..opens).any(judged)
                })
            }),
            Property::always(NOBODY_WAITS, |model, state: &State| {
                let [(longest, _), _] = WINDOWS;
                let (asked, after) = model.decide(&state.kept, model.now(state, 1));
                let judged = after
                    .high_water()
                    .unwrap_or_else(|| asked.asked_at())
                    .max(asked.asked_at());
                let latest = judged.unix_millis() + 2 * i64::from(longest);
                asked
                    .retry_at()
                    .is_none_or(|opens| opens.unix_millis() <= latest)
            }),
            Property::sometimes("a request is refused", |model, state: &State| {
                !model
                    .decide(&state.kept, model.now(state, 1))
                    .0
                    .is_allowed()
            }),
        ]
    }
}
