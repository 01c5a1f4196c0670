//! Single decisions that other implementations get wrong.

use crate::{at, policy};
use bankrail_rate_limit::{
    Algorithm, CallType, Charge, Counting, Decision, Policy, State, Window, decide,
};
use std::time::Duration;

#[test]
fn a_look_changes_nothing_and_tells_what_is_left() {
    let policy = policy(Algorithm::Sliding, Counting::Attempts, &[(1_000, 2)]);
    let mut state = State::new();
    let _ = decide(&mut state, &policy, at(0), 1).unwrap();
    let before = state;
    for now in [0, 500, 5_000] {
        let look = decide(&mut state, &policy, at(now), 0).unwrap();
        assert!(look.is_allowed());
        assert_eq!(look.remaining(), Some(if now == 5_000 { 2 } else { 1 }));
        assert_eq!(
            (look.cost(), look.retry_at(), look.refused_by()),
            (0, None, None)
        );
    }
    assert_eq!(state, before);
    for _ in 0..2 {
        let _ = decide(&mut state, &policy, at(0), 1).unwrap();
    }
    assert!(
        !decide(&mut state, &policy, at(0), 0).unwrap().is_allowed(),
        "3 is above 2"
    );
}

#[test]
fn a_cost_that_never_fits_is_no_refusal_and_charges_nothing() {
    for counting in [Counting::Attempts, Counting::Admitted] {
        let policy = policy(Algorithm::Sliding, counting, &[(3_600_000, 10), (1_000, 2)]);
        let mut state = State::new();
        let error = decide(&mut state, &policy, at(0), 3).unwrap_err();
        assert_eq!(
            (error.cost, error.window),
            (3, Window::per_second(2).unwrap())
        );
        assert_eq!(state, State::new());
    }
}

#[test]
fn a_cost_beyond_what_is_left_does_not_use_it_up() {
    let policy = policy(Algorithm::Fixed, Counting::Admitted, &[(1_000, 5)]);
    let mut state = State::new();
    assert!(decide(&mut state, &policy, at(0), 3).unwrap().is_allowed());
    assert!(!decide(&mut state, &policy, at(0), 3).unwrap().is_allowed());
    assert!(decide(&mut state, &policy, at(0), 2).unwrap().is_allowed());
}

#[test]
fn a_clock_that_steps_back_gives_nothing_and_locks_nobody_out_for_longer() {
    for algorithm in [Algorithm::Fixed, Algorithm::Sliding] {
        let policy = policy(algorithm, Counting::Admitted, &[(1_000, 2)]);
        let mut state = State::new();
        for _ in 0..2 {
            assert!(
                decide(&mut state, &policy, at(10_500), 1)
                    .unwrap()
                    .is_allowed()
            );
        }
        let back = decide(&mut state, &policy, at(9_500), 1).unwrap();
        assert!(!back.is_allowed());
        let retry_at = if algorithm == Algorithm::Fixed {
            11_000
        } else {
            11_500
        };
        assert_eq!(back.retry_at(), Some(at(retry_at)));
        assert_eq!(
            back.retry_after(),
            Some(Duration::from_millis(retry_at.unsigned_abs() - 9_500))
        );
        assert!(
            decide(&mut state, &policy, at(retry_at), 1)
                .unwrap()
                .is_allowed()
        );
    }
}

#[test]
fn seconds_to_wait_are_rounded_up() {
    let policy = policy(Algorithm::Fixed, Counting::Admitted, &[(60_000, 1)]);
    let mut state = State::new();
    assert_eq!(
        decide(&mut state, &policy, at(0), 1)
            .unwrap()
            .retry_after_seconds(),
        None
    );
    let seconds = [0, 1, 58_999, 59_000, 59_001, 59_999].map(|now| {
        decide(&mut state, &policy, at(now), 1)
            .unwrap()
            .retry_after_seconds()
            .unwrap()
    });
    assert_eq!(seconds, [60, 60, 2, 1, 1, 1]);
}

#[test]
fn of_several_windows_the_one_that_holds_out_longest_is_named() {
    let policy = policy(
        Algorithm::Fixed,
        Counting::Admitted,
        &[(3_600_000, 2), (60_000, 2), (1_000, 2)],
    );
    let mut state = State::new();
    let _ = decide(&mut state, &policy, at(0), 2).unwrap();
    let refused = decide(&mut state, &policy, at(0), 1).unwrap();
    assert_eq!(refused.refused_by(), Some(Window::per_hour(2).unwrap()));
    assert_eq!(refused.windows().filter(|window| window.refused).count(), 3);
    assert_eq!(refused.retry_at(), Some(at(3_600_000)));
}

#[test]
fn a_limit_of_one_slides() {
    let policy = policy(Algorithm::Sliding, Counting::Admitted, &[(1_000, 1)]);
    let mut state = State::new();
    assert!(
        decide(&mut state, &policy, at(300), 1)
            .unwrap()
            .is_allowed()
    );
    // Any weight of the previous window is too much for one more request, so the whole next window
    // is lost.
    let refused = decide(&mut state, &policy, at(1_000), 1).unwrap();
    assert_eq!(refused.retry_at(), Some(at(2_000)));
    assert!(
        decide(&mut state, &policy, at(2_000), 1)
            .unwrap()
            .is_allowed()
    );
}

/// A sliding counter admits at most twice the limit less one in a trailing window, and can reach
/// that, as the crate's documentation states.
#[test]
fn a_sliding_counter_admits_two_limits_less_one_in_a_trailing_window() {
    const HOUR: i64 = 3_600_000;
    for limit in [1, 2, 25, 100] {
        let policy = policy(
            Algorithm::Sliding,
            Counting::Admitted,
            &[(3_600_000, limit)],
        );
        let mut state = State::new();
        let last = HOUR - 1;
        let (mut now, mut admitted) = (last, 0);
        // The whole limit is used in the last millisecond of an hour, then each request is made as
        // soon as it is allowed.
        while now < last + HOUR {
            match decide(&mut state, &policy, at(now), 1).unwrap().retry_at() {
                None => admitted += 1,
                Some(later) => now = later.unix_millis(),
            }
        }
        assert_eq!(admitted, 2 * limit - 1, "limit {limit}");
    }
}

#[test]
fn counts_survive_a_change_of_limits_and_windows() {
    let old = policy(
        Algorithm::Fixed,
        Counting::Admitted,
        &[(3_600_000, 3), (1_000, 3)],
    );
    let mut state = State::new();
    assert!(decide(&mut state, &old, at(0), 3).unwrap().is_allowed());
    assert!(!decide(&mut state, &old, at(2_000), 1).unwrap().is_allowed());
    // The limit is raised, with another second window and a new minute: three of five are used, and
    // the minute starts empty.
    let new = policy(
        Algorithm::Sliding,
        Counting::Admitted,
        &[(3_600_000, 5), (60_000, 4), (500, 4)],
    );
    let decision = decide(&mut state, &new, at(2_000), 1).unwrap();
    assert!(decision.is_allowed());
    assert_eq!(
        decision
            .windows()
            .map(|window| window.remaining)
            .collect::<Vec<_>>(),
        [1, 3, 3]
    );
    // The limit is lowered below the used part.
    let lower = policy(Algorithm::Fixed, Counting::Admitted, &[(3_600_000, 2)]);
    let decision = decide(&mut state, &lower, at(2_000), 1).unwrap();
    assert_eq!(
        (decision.is_allowed(), decision.remaining()),
        (false, Some(0))
    );
}

#[test]
fn counters_stop_at_the_ceiling_and_stay_refused() {
    let most = Window::per_hour(1).unwrap().ceiling();
    let policy = policy(Algorithm::Sliding, Counting::Attempts, &[(3_600_000, most)]);
    let mut state = State::new();
    assert!(
        decide(&mut state, &policy, at(0), most)
            .unwrap()
            .is_allowed()
    );
    for cost in [1, most, most] {
        let refused = decide(&mut state, &policy, at(1), cost).unwrap();
        assert!(!refused.is_allowed());
        let retry_at = refused.retry_at().unwrap();
        assert!(
            decide(&mut { state }, &policy, retry_at, cost)
                .unwrap()
                .is_allowed()
        );
        let earlier = at(retry_at.unix_millis() - 1);
        assert!(
            !decide(&mut { state }, &policy, earlier, cost)
                .unwrap()
                .is_allowed()
        );
    }
    assert_eq!(state.counts().next().unwrap().current, most);
}

#[test]
fn the_ends_of_time_are_answered() {
    use bankrail_values::Timestamp;
    let policy = policy(
        Algorithm::Sliding,
        Counting::Admitted,
        &[(u64::from(u32::MAX), 1), (1, 1)],
    );
    for now in [Timestamp::MIN, at(-1), at(0), Timestamp::MAX] {
        let mut state = State::new();
        assert!(decide(&mut state, &policy, now, 1).unwrap().is_allowed());
        let refused = decide(&mut state, &policy, now, 1).unwrap();
        assert!(!refused.is_allowed());
        assert!(refused.retry_at().unwrap() >= now);
    }
}

#[test]
fn without_windows_everything_is_allowed() {
    let mut state = State::new();
    let decision = decide(&mut state, &Policy::unlimited(), at(0), u32::MAX).unwrap();
    assert!(decision.is_allowed());
    assert_eq!(
        (decision.remaining(), decision.next_chance(u32::MAX)),
        (None, Ok(at(0)))
    );
    assert_eq!(state.expires_at(), None);
}

#[test]
fn an_engine_says_which_windows_refused() {
    let policy = policy(
        Algorithm::Fixed,
        Counting::Attempts,
        &[(3_600_000, 10), (60_000, 5), (1_000, 2)],
    );
    let charge = Charge::new("A", CallType::Token, &policy, at(0), 1).unwrap();
    for bits in 0..8_u8 {
        let refused = [0, 1, 2].map(|window| bits >> window & 1 == 1);
        let decision = Decision::from_engine(State::new(), &charge, at(0), refused, false);
        assert_eq!(
            decision
                .windows()
                .map(|status| status.refused)
                .collect::<Vec<_>>(),
            refused
        );
        assert_eq!(decision.is_allowed(), bits == 0);
    }
}

const JUMPS: [i64; 6] = [
    600_000,
    3_600_000,
    7_200_000,
    86_400_000,
    30 * 86_400_000,
    365 * 86_400_000,
];

/// One call while the clock is ahead does not use up later hours, whatever the jump and the
/// counting.
#[test]
fn a_clock_that_was_ahead_for_one_call_locks_nobody_out() {
    const HOUR: i64 = 3_600_000;
    for counting in [Counting::Admitted, Counting::Attempts] {
        for jump in JUMPS {
            let policy = policy(Algorithm::Sliding, counting, &[(3_600_000, 25)]);
            let (mut state, start) = (State::new(), 1_800_000_000_000 + 1_234_567);
            let ahead = decide(&mut state, &policy, at(start + jump), 1).unwrap();
            assert!(ahead.is_allowed());
            let mut admitted = 0;
            for call in 0..50 * 24 {
                let now = start + call * HOUR / 24;
                let decision = decide(&mut state, &policy, at(now), 1).unwrap();
                admitted += i64::from(decision.is_allowed());
                assert_eq!(
                    decision.clock_was_ahead(),
                    call == 0 && jump > 2 * HOUR,
                    "{jump}: said once"
                );
                let longest = Duration::from_secs(7_200);
                assert!(decision.retry_after().is_none_or(|wait| wait <= longest));
            }
            assert_eq!(admitted, 1_200, "{counting:?} {jump}");
        }
    }
}

/// Requests that were charged ahead count once in the present window, unless they are further ahead
/// than any real clock.
#[test]
fn calls_that_a_clock_counted_ahead_count_once_and_at_most_two_windows_long() {
    let policy = policy(
        Algorithm::Sliding,
        Counting::Admitted,
        &[(3_600_000, 25), (1_000, 25)],
    );
    for jump in JUMPS {
        let (mut state, now) = (State::new(), 1_800_000_000_000 + 1_234_567);
        let ahead = decide(&mut state, &policy, at(now + jump), 25).unwrap();
        assert!(ahead.is_allowed());
        let back = decide(&mut state, &policy, at(now), 1).unwrap();
        assert_eq!(back.is_allowed(), jump > 7_200_000, "{jump}");
        let Some(retry_at) = back.retry_at() else {
            continue;
        };
        assert!(back.retry_after() <= Some(Duration::from_secs(7_200)));
        // A refusal that charges nothing stores the time nevertheless.
        for (millis, allowed) in [(-1, false), (0, true)] {
            let later = at(retry_at.unix_millis() + millis);
            let decision = decide(&mut state, &policy, later, 1).unwrap();
            assert_eq!(decision.is_allowed(), allowed, "{jump} {millis}");
        }
    }
}

/// A clock that was behind uses up no part of later windows.
#[test]
fn a_clock_that_was_behind_leaves_the_whole_limit() {
    let policy = policy(Algorithm::Sliding, Counting::Attempts, &[(3_600_000, 25)]);
    for jump in &JUMPS[2..] {
        let (mut state, now) = (State::new(), 1_800_000_000_000 + 1_234_567);
        let behind = decide(&mut state, &policy, at(now - jump), 25).unwrap();
        assert!(behind.is_allowed());
        assert!(
            decide(&mut state, &policy, at(now), 25)
                .unwrap()
                .is_allowed()
        );
        assert!(
            !decide(&mut state, &policy, at(now), 1)
                .unwrap()
                .is_allowed()
        );
    }
}

/// A clock that is set back for one call gives at most one limit more: it may have been ahead
/// before or be behind now, and its counts may be dropped once it is right again.
#[test]
fn a_clock_that_is_set_back_for_one_call_gives_at_most_one_limit_more() {
    const MINUTE: i64 = 60_000;
    for algorithm in [Algorithm::Sliding, Algorithm::Fixed] {
        let policy = policy(algorithm, Counting::Admitted, &[(3_600_000, 25)]);
        for (phase, step) in
            (0..12).flat_map(|phase| [5, 50, 70, 525_600].map(|step| (phase, step)))
        {
            let now = 1_800_000_000_000 + phase * 5 * MINUTE + 7;
            let admitted = |is_set_back: bool| {
                let mut state = State::new();
                let mut ask = |minute: i64, calls| {
                    let at = at(now + minute * MINUTE);
                    decide(&mut state, &policy, at, calls).unwrap().is_allowed()
                };
                assert!(ask(0, 25));
                let behind = is_set_back && ask(-step, 1);
                assert!(!behind || step > 60, "{algorithm:?} {phase} {step}");
                // The maximum number of calls is made in the hour after.
                let asked = (1..60).flat_map(|minute| [minute; 26]);
                asked.filter(|minute| ask(*minute, 1)).count()
            };
            let (alone, beside) = (admitted(false), admitted(true));
            assert!(
                beside <= alone + 25,
                "{algorithm:?} {phase} {step}: {alone} {beside}"
            );
        }
    }
}
