//! Specification: "Limits", rules 2 and 3.

use crate::{at, policy, time};
use bankrail_rate_limit::{Algorithm, Counting, Policy, State, Window, decide};

/// Returns a policy of 100 an hour, and its state after this many requests in the hour before
/// 11:00.
fn after(previous: u32, counting: Counting) -> (Policy, State) {
    let policy = policy(Algorithm::Sliding, counting, &[(3_600_000, 100)]);
    let mut state = State::new();
    assert!(
        decide(
            &mut state,
            &policy,
            time("2021-07-29T10:17:00.000Z"),
            previous
        )
        .unwrap()
        .is_allowed()
    );
    (policy, state)
}

#[test]
fn eighty_before_a_quarter_in_twenty_now_is_allowed() {
    let (policy, mut state) = after(80, Counting::Attempts);
    let decision = decide(&mut state, &policy, time("2021-07-29T11:15:00.000Z"), 20).unwrap();
    assert!(decision.is_allowed());
    assert_eq!(decision.remaining(), Some(20), "20 + 60 = 80 of 100");
}

#[test]
fn eighty_before_half_way_seventy_five_now_is_refused() {
    let (policy, mut state) = after(80, Counting::Attempts);
    let now = time("2021-07-29T11:30:00.000Z");
    let refused: Vec<bool> = (0..75)
        .map(|_| !decide(&mut state, &policy, now, 1).unwrap().is_allowed())
        .collect();
    assert!(refused[74], "75 + 40 = 115 of 100");
    assert_eq!(
        state.counts().next().unwrap().current,
        75,
        "refused requests count too"
    );
}

#[test]
fn eighty_before_three_quarters_in_seventy_five_now_is_allowed() {
    let (policy, mut state) = after(80, Counting::Attempts);
    let now = time("2021-07-29T11:45:00.000Z");
    for request in 1..=75 {
        assert!(
            decide(&mut state, &policy, now, 1).unwrap().is_allowed(),
            "{request}"
        );
    }
    assert_eq!(
        decide(&mut state, &policy, now, 0).unwrap().remaining(),
        Some(5),
        "75 + 20 = 95 of 100"
    );
}

#[test]
fn the_sixtieth_is_allowed_and_the_sixty_first_refused() {
    for counting in [Counting::Attempts, Counting::Admitted] {
        let (policy, mut state) = after(80, counting);
        let now = time("2021-07-29T11:30:00.000Z");
        for request in 1..=60 {
            assert!(
                decide(&mut state, &policy, now, 1).unwrap().is_allowed(),
                "{request}"
            );
        }
        let refused = decide(&mut state, &policy, now, 1).unwrap();
        assert!(
            !refused.is_allowed(),
            "61 + 40 does exceed 100, 60 + 40 did not"
        );
        // The next request is the 61st or, if the refusal counted, the 62nd: 80 × remaining ÷ 60
        // min ≤ 39 or 38.
        let expected = match counting {
            Counting::Attempts => "2021-07-29T11:31:30.000Z",
            _ => "2021-07-29T11:30:45.000Z",
        };
        assert_eq!(refused.retry_at(), Some(time(expected)));
    }
}

#[test]
fn a_fixed_window_admits_exactly_its_limit_and_is_aligned_to_the_floor() {
    for counting in [Counting::Attempts, Counting::Admitted] {
        let policy = policy(Algorithm::Fixed, counting, &[(1_000, 3)]);
        let mut state = State::new();
        let mut allowed = |millis| {
            decide(&mut state, &policy, at(millis), 1)
                .unwrap()
                .is_allowed()
        };
        // The first request comes late in the second, where the window does not start.
        assert_eq!(
            [5_900, 5_950, 5_999, 5_999].map(&mut allowed),
            [true, true, true, false]
        );
        assert_eq!(
            [6_000, 6_000, 6_000, 6_999, 7_000].map(&mut allowed),
            [true, true, true, false, true]
        );
    }
}

#[test]
fn three_windows_are_one_decision() {
    let windows = [(3_600_000, 10), (60_000, 8), (1_000, 2)];
    let twenty_tries = |counting| {
        let policy = policy(Algorithm::Fixed, counting, &windows);
        let mut state = State::new();
        let served = (0..20)
            .filter(|_| decide(&mut state, &policy, at(0), 1).unwrap().is_allowed())
            .count();
        (served, decide(&mut state, &policy, at(1_000), 1).unwrap())
    };
    let (served, after) = twenty_tries(Counting::Admitted);
    assert_eq!(served, 2);
    assert!(
        after.is_allowed(),
        "eighteen refusals charged neither the hour nor the minute"
    );

    let (served, after) = twenty_tries(Counting::Attempts);
    assert_eq!(served, 2);
    assert_eq!(
        after.refused_by(),
        Some(Window::per_hour(10).unwrap()),
        "the retries used up the hour"
    );
    assert_eq!(after.retry_at(), Some(at(3_600_000)));
    assert_eq!(
        after
            .windows()
            .map(|window| window.refused)
            .collect::<Vec<_>>(),
        [true, true, false]
    );
}

/// [`Counting`] documents this case.
#[test]
fn who_keeps_trying_is_refused_for_ever_or_gets_the_limit() {
    let served = |counting| {
        let policy = policy(Algorithm::Sliding, counting, &[(60_000, 10)]);
        let mut state = State::new();
        // Twelve requests a minute are made for ten hours; the last hour counts.
        let requests = (0..7_200).map(|n| {
            decide(&mut state, &policy, at(n * 5_000), 1)
                .unwrap()
                .is_allowed()
        });
        requests.skip(6_480).filter(|allowed| *allowed).count()
    };
    assert_eq!(served(Counting::Attempts), 0);
    assert_eq!(
        served(Counting::Admitted),
        540,
        "nine a minute: at this even pace a tenth waits for the weight to fall"
    );
}

/// [`Algorithm::Sliding`] documents this case.
#[test]
fn up_to_twice_the_limit_less_one_pass_within_a_trailing_window() {
    let policy = policy(Algorithm::Sliding, Counting::Admitted, &[(60_000, 100)]);
    let mut state = State::new();
    let mut admitted = Vec::new();
    for now in 59_999..119_999 {
        while decide(&mut state, &policy, at(now), 1)
            .unwrap()
            .is_allowed()
        {
            admitted.push(now);
        }
    }
    assert_eq!(admitted.len(), 199);
    assert!(admitted[198] - admitted[0] < 60_000);
}
