//! The pacer against a bank with its own clock. The time is tokio's and paused, so the tests do not
//! really wait.

use crate::log::Log;
use bankrail_client::{PaceError, Pacer, PacerOptions, Pacing};
use bankrail_rate_limit::{
    Algorithm, CallType, Counting, MemoryCounters, Policy, State, Window, decide, default_limits,
};
use bankrail_values::{Clock, ManualClock, Timestamp};
use proptest::prelude::*;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(millis).unwrap()
}

/// Makes a policy from windows, each as milliseconds and limit.
fn policy(algorithm: Algorithm, counting: Counting, windows: &[(u64, u32)]) -> Policy {
    let windows: Vec<Window> = windows
        .iter()
        .map(|(millis, limit)| Window::new(Duration::from_millis(*millis), *limit).unwrap())
        .collect();
    Policy::new(algorithm, counting, &windows).unwrap()
}

/// A clock that shows `start` when it is made, and moves with tokio's time.
#[derive(Debug)]
struct TokioClock {
    start: Timestamp,
    made: Instant,
}

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        self.start.saturating_add(self.made.elapsed())
    }
}

fn clock(start: i64) -> Arc<TokioClock> {
    Arc::new(TokioClock {
        start: at(start),
        made: Instant::now(),
    })
}

fn paused(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(test);
}

/// Makes a pacer with the default options.
fn by_default(policy: Policy, clock: Arc<dyn Clock>) -> Pacer {
    with_options(policy, clock, PacerOptions::new())
}

fn with_options(policy: Policy, clock: Arc<dyn Clock>, options: PacerOptions) -> Pacer {
    Pacer::new(CallType::Payment, policy, options.clock(clock))
}

/// Makes a pacer that waits as long as necessary.
fn paced(policy: Policy, clock: Arc<dyn Clock>) -> Pacer {
    with_options(policy, clock, PacerOptions::new().pacing(Pacing::Wait))
}

const GUARD: i64 = 100;

/// Checks that a bank refuses no paced call. Each call arrives with its offset, or is not sent if
/// it has none, and a pause follows.
async fn bank_never_refuses(policy: Policy, start: i64, calls: Vec<(Option<i64>, u64)>) {
    let clock = clock(start);
    let options = PacerOptions::new()
        .pacing(Pacing::Wait)
        .guard(Duration::from_millis(u64::try_from(GUARD).unwrap()));
    let pacer = with_options(policy, clock.clone(), options);
    let mut arrivals = Vec::new();
    for (offset, pause) in calls {
        let call = pacer.acquire(1).await.unwrap();
        match offset {
            Some(offset) => arrivals.push(clock.now().unix_millis() + offset),
            None => pacer.not_sent(call),
        }
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }
    arrivals.sort_unstable();
    let mut state = State::new();
    for arrival in arrivals {
        assert!(
            decide(&mut state, &policy, at(arrival), 1)
                .unwrap()
                .is_allowed(),
            "at {arrival}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_bank_whose_clock_is_off_by_no_more_than_the_guard_never_refuses(
        sliding in any::<bool>(),
        limits in (3_u32..40, 1_u32..5),
        start in 0_i64..120_000,
        calls in proptest::collection::vec(
            (proptest::option::weighted(0.7, -GUARD..=GUARD), prop_oneof![4 => Just(0), 1 => 0_u64..2_500]),
            1..120,
        ),
    ) {
        let algorithm = if sliding { Algorithm::Sliding } else { Algorithm::Fixed };
        let policy = policy(algorithm, Counting::Attempts, &[(60_000, limits.0), (1_000, limits.1.min(limits.0))]);
        paused(bank_never_refuses(policy, start, calls));
    }
}

#[tokio::test(start_paused = true)]
async fn the_limit_is_used_and_then_waited_for() {
    let clock = clock(30_000);
    let pacer = paced(
        policy(Algorithm::Fixed, Counting::Attempts, &[(60_000, 3)]),
        clock.clone(),
    );
    let mut times = Vec::new();
    for _ in 0..5 {
        pacer.acquire(1).await.unwrap();
        times.push(clock.now().unix_millis());
    }
    assert_eq!(times, [30_000, 30_000, 30_000, 60_100, 60_100]);
    assert!(matches!(pacer.acquire(4).await, Err(PaceError::Cost(error)) if error.cost == 4));
}

#[tokio::test(start_paused = true)]
async fn calls_go_in_the_order_of_arrival_and_who_gives_up_charges_nothing() {
    let clock = clock(30_000);
    let pacer = Arc::new(paced(
        policy(Algorithm::Fixed, Counting::Attempts, &[(60_000, 2)]),
        clock.clone(),
    ));
    let (done, mut order) = tokio::sync::mpsc::unbounded_channel();
    let mut waiting = Vec::new();
    for (name, cost) in [
        ("first", 2),
        ("dear", 2),
        ("gives up", 2),
        ("cheap", 1),
        ("last", 1),
    ] {
        let (pacer, clock, done) = (Arc::clone(&pacer), clock.clone(), done.clone());
        waiting.push(tokio::spawn(async move {
            pacer.acquire(cost).await.unwrap();
            done.send((name, clock.now().unix_millis() / 60_000))
                .unwrap();
        }));
        tokio::task::yield_now().await;
    }
    waiting[2].abort();
    drop(done);
    let mut found = Vec::new();
    while let Some(next) = order.recv().await {
        found.push(next);
    }
    assert_eq!(
        found,
        [("first", 0), ("dear", 1), ("cheap", 2), ("last", 2)]
    );
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_in_front_can_give_up() {
    let clock = clock(30_000);
    let pacer = paced(
        policy(Algorithm::Fixed, Counting::Attempts, &[(60_000, 2)]),
        clock.clone(),
    );
    pacer.acquire(1).await.unwrap();
    let gave_up = tokio::time::timeout(Duration::from_secs(1), pacer.acquire(2)).await;
    assert!(gave_up.is_err());
    pacer.acquire(1).await.unwrap();
    assert_eq!(
        clock.now().unix_millis(),
        31_000,
        "the place that was left is still there"
    );
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_came_all_the_same_is_honoured_by_those_who_wait_too() {
    let clock = clock(30_000);
    let pacer = paced(
        policy(Algorithm::Fixed, Counting::Attempts, &[(60_000, 1)]),
        clock.clone(),
    );
    pacer.acquire(1).await.unwrap();
    let (waited, ()) = tokio::join!(pacer.acquire(1), async { pacer.hold_until(at(95_000)) });
    waited.unwrap();
    pacer.hold_until(at(1));
    assert_eq!(clock.now().unix_millis(), 95_000);
}

fn statements(pacing: Pacing, clock: Arc<dyn Clock>) -> Pacer {
    let options = PacerOptions::new().pacing(pacing);
    Pacer::new(
        CallType::Statement,
        default_limits(CallType::Statement),
        options.clock(clock),
    )
}

/// Specification: "Limits": 25 statements an hour.
#[tokio::test(start_paused = true)]
async fn no_hour_sees_more_than_its_limit_and_none_much_less() {
    let clock = clock(0);
    let pacer = statements(Pacing::Wait, clock.clone());
    let mut sent = Vec::new();
    for _ in 0..80 {
        pacer.acquire(1).await.unwrap();
        sent.push(clock.now().unix_millis() / 3_600_000);
    }
    for hour in 0..4 {
        assert!(
            sent.iter().filter(|at| **at == hour).count() <= 25,
            "hour {hour}: {sent:?}"
        );
    }
    assert!(
        sent.last() <= Some(&4),
        "no slower than the limit: {sent:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_not_sent_is_counted_once_however_often_it_is_tried() {
    // Half a minute after an hour began: all of these fall into that hour.
    let clock = clock(3_630_000);
    let pacer = by_default(default_limits(CallType::Token), clock.clone());
    for pause in [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900] {
        tokio::time::sleep(Duration::from_secs(pause)).await;
        let call = pacer.acquire(1).await.unwrap();
        pacer.not_sent(call);
    }
    let mut sent = 0;
    while pacer.acquire(1).await.is_ok() {
        sent += 1;
    }
    assert_eq!(sent, 10);
    // In another hour, what was not sent counts for nothing.
    let call = paced(default_limits(CallType::Statement), clock.clone());
    let unsent = call.acquire(1).await.unwrap();
    call.not_sent(unsent);
    tokio::time::sleep(Duration::from_secs(3600)).await;
    for _ in 0..25 {
        call.acquire(1).await.unwrap();
    }
    let full = clock.now();
    call.acquire(1).await.unwrap();
    assert!(clock.now() > full.saturating_add(Duration::from_secs(60)));
}

/// A call that replaces another one is not counted in its own second, so no other call may be in
/// that second or the next.
#[tokio::test(start_paused = true)]
async fn a_call_in_place_of_another_is_alone_in_its_second_and_beside_it() {
    let one_an_hour = policy(
        Algorithm::Fixed,
        Counting::Admitted,
        &[(3_600_000, 1), (1_000, 1)],
    );
    let clock = clock(3_630_500);
    let pacer = by_default(one_an_hour, clock.clone());
    let mut let_go = Vec::new();
    for _ in 0..3 {
        let call = pacer.acquire(1).await.unwrap();
        let_go.push(clock.now().unix_millis());
        pacer.not_sent(call);
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    // The second of the call before, and the one after it, pass first.
    assert_eq!(let_go, [3_630_500, 3_632_100, 3_634_100]);
    let _sent = pacer.acquire(1).await.unwrap();
    assert!(
        matches!(pacer.acquire(1).await, Err(PaceError::Held { .. })),
        "one was sent, and one an hour is all"
    );

    // Whoever does not wait is told when.
    let clock = Arc::new(ManualClock::new(at(3_630_500)));
    let pacer = with_options(
        one_an_hour,
        clock.clone(),
        PacerOptions::new().pacing(Pacing::Fail),
    );
    let call = pacer.acquire(1).await.unwrap();
    pacer.not_sent(call);
    clock.advance(Duration::from_secs(1));
    let Err(PaceError::Held { until, .. }) = pacer.acquire(1).await else {
        panic!("it is not alone")
    };
    assert_eq!(until, at(3_632_000));
    clock.set(until);
    pacer.acquire(1).await.unwrap();
}

/// A call waits to be alone only if the limits demand it.
#[tokio::test(start_paused = true)]
async fn calls_that_were_not_sent_slow_no_others_down() {
    let clock = clock(3_630_500);
    let pacer = by_default(default_limits(CallType::GraphQl), clock.clone());
    let mut unsent = Vec::new();
    for _ in 0..50 {
        unsent.push(pacer.acquire(1).await.unwrap());
    }
    unsent.into_iter().for_each(|call| pacer.not_sent(call));
    let begun = clock.now();
    for _ in 0..50 {
        pacer.acquire(1).await.unwrap();
    }
    assert!(clock.now().saturating_since(begun) <= Duration::from_secs(12));
}

/// No call is sent within the guard after or before a boundary, the guard's first and last
/// milliseconds included.
#[tokio::test(start_paused = true)]
async fn the_guard_holds_at_its_first_and_last_millisecond() {
    for (now, sent) in [
        (0, 100),
        (99, 100),
        (100, 100),
        (3_599_899, 3_599_899),
        (3_599_900, 3_600_100),
    ] {
        let clock = clock(now);
        statements(Pacing::Wait, clock.clone())
            .acquire(1)
            .await
            .unwrap();
        assert_eq!(clock.now(), at(sent), "a call at {now}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_bound_on_waiting_is_kept_in_both_directions() {
    let clock = clock(0);
    let pacer = statements(Pacing::WaitUpTo(Duration::from_secs(90)), clock.clone());
    pacer.hold_until(at(91_000));
    assert!(
        matches!(pacer.acquire(1).await, Err(PaceError::Held { until, .. }) if until == at(91_000))
    );
    tokio::time::advance(Duration::from_secs(1)).await;
    pacer.acquire(1).await.unwrap();
    assert_eq!(clock.now(), at(91_000));
    // The guard is part of the waiting.
    let pacer = statements(Pacing::WaitUpTo(Duration::from_millis(50)), self::clock(0));
    assert!(
        matches!(pacer.acquire(1).await, Err(PaceError::Held { until, .. }) if until == at(GUARD))
    );
    let clock = self::clock(3_599_900);
    let pacer = statements(Pacing::WaitUpTo(Duration::from_millis(50)), clock.clone());
    assert!(
        matches!(pacer.acquire(1).await, Err(PaceError::Held { until, .. }) if until == at(3_600_000 + GUARD))
    );
    assert_eq!(clock.now(), at(3_599_900), "it is told at once");
}

#[tokio::test(start_paused = true)]
async fn the_guard_is_at_most_a_quarter_of_the_shortest_window() {
    for (now, sent) in [(49, 50), (50, 50), (149, 149), (150, 250)] {
        let clock = clock(now);
        let short = policy(
            Algorithm::Fixed,
            Counting::Attempts,
            &[(60_000, 9), (200, 9)],
        );
        paced(short, clock.clone()).acquire(1).await.unwrap();
        // The minute's boundary is the first one.
        assert_eq!(clock.now(), at(sent), "a call at {now}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_bound_on_waiting_counts_the_wait_behind_others() {
    let clock = clock(30_000);
    let two = policy(Algorithm::Fixed, Counting::Attempts, &[(60_000, 2)]);
    let options = PacerOptions::new().pacing(Pacing::WaitUpTo(Duration::from_secs(40)));
    let pacer = Arc::new(with_options(two, clock.clone(), options));
    pacer.acquire(1).await.unwrap();
    let in_front = tokio::spawn({
        let pacer = Arc::clone(&pacer);
        async move { pacer.acquire(2).await }
    });
    tokio::task::yield_now().await;
    tokio::time::advance(Duration::from_secs(1)).await;
    // The call in front goes at 60.1 s, so this one cannot go before; the free place is not taken
    // out of turn.
    let behind = pacer.acquire(1).await;
    assert!(
        matches!(behind, Err(PaceError::Held { until, .. }) if until == at(120_100)),
        "{behind:?}"
    );
    in_front.await.unwrap().unwrap();
    assert_eq!(clock.now(), at(60_100));
}

#[tokio::test(start_paused = true)]
async fn whoever_wants_no_waiting_is_told_when() {
    let clock = clock(0);
    let pacer = statements(Pacing::Fail, clock.clone());
    for _ in 0..25 {
        pacer.acquire(1).await.unwrap();
    }
    // 25 calls in the hour before weigh 24 from the 144th second of the next hour on.
    let opens = at((3_600 + 144) * 1_000);
    assert!(matches!(pacer.acquire(1).await, Err(PaceError::Held { until, .. }) if until == opens));
    pacer.hold_until(at(opens.unix_millis() + 1));
    pacer.hold_until(at(5));
    tokio::time::advance(opens.saturating_since(at(0))).await;
    assert!(matches!(pacer.acquire(1).await, Err(PaceError::Held { until, .. }) if until > opens));
    tokio::time::advance(Duration::from_millis(1)).await;
    pacer.acquire(1).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn two_pacers_spend_one_limit() {
    let clock = clock(30_000);
    let counters = Arc::new(MemoryCounters::default());
    let shared = |customer| {
        PacerOptions::new()
            .counters(counters.clone())
            .customer(customer)
    };
    let three = policy(Algorithm::Fixed, Counting::Attempts, &[(60_000, 3)]);
    let pacers = [0, 1].map(|_| with_options(three, clock.clone(), shared("C")));
    let other = with_options(three, clock.clone(), shared("D"));
    let mut times = Vec::new();
    for round in 0..5 {
        pacers[round % 2].acquire(1).await.unwrap();
        times.push(clock.now().unix_millis());
    }
    assert_eq!(times, [30_000, 30_000, 30_000, 60_100, 60_100]);
    for _ in 0..3 {
        other.acquire(1).await.unwrap();
    }
    assert_eq!(clock.now(), at(60_100));
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_stands_still_stops_no_call() {
    let pacer = statements(
        Pacing::Wait,
        Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH)),
    );
    for _ in 0..25 {
        pacer.acquire(1).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_while_a_call_waits_is_read_after_ten_seconds() {
    let clock = Arc::new(ManualClock::new(at(1_000)));
    let pacer = paced(
        policy(Algorithm::Fixed, Counting::Attempts, &[(60_000, 1)]),
        clock.clone(),
    );
    pacer.hold_until(at(50_000));
    let begun = Instant::now();
    let waiting = tokio::spawn(async move { pacer.acquire(1).await });
    tokio::task::yield_now().await;
    clock.set(at(50_000));
    waiting.await.unwrap().unwrap();
    // Timers are rounded up to a millisecond.
    assert_eq!(begun.elapsed().as_millis().div_ceil(10) * 10, 10_000);
}

#[tokio::test(start_paused = true)]
async fn by_default_a_call_waits_for_a_minute_and_is_told_when_otherwise() {
    assert_eq!(Pacing::default(), Pacing::WaitUpTo(Duration::from_secs(60)));
    let clock = clock(500_000);
    let pacer = by_default(
        policy(Algorithm::Fixed, Counting::Attempts, &[(1_000_000, 1)]),
        clock.clone(),
    );
    pacer.hold_until(at(560_001));
    let held = pacer.acquire(1).await.unwrap_err();
    assert!(matches!(held, PaceError::Held { until, .. } if until == at(560_001)));
    assert_eq!(
        held.to_string(),
        "held back by the rate limit until 1970-01-01T00:09:20.001Z"
    );
    assert_eq!(clock.now(), at(500_000), "it does not wait for nothing");
    tokio::time::advance(Duration::from_millis(1)).await;
    pacer.acquire(1).await.unwrap();
    assert_eq!(clock.now(), at(560_001));
    let held = pacer.acquire(1).await;
    assert!(
        matches!(held, Err(PaceError::Held { until, .. }) if until == at(1_000_100)),
        "{held:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_wait_of_more_than_a_second_is_told_once() {
    let log = Log::start();
    let clock = clock(30_000);
    let pacer = Arc::new(by_default(
        policy(Algorithm::Fixed, Counting::Attempts, &[(60_000, 1)]),
        clock.clone(),
    ));
    pacer.acquire(1).await.unwrap();
    assert_eq!(log.text(), "", "no wait");
    pacer.hold_until(at(30_900));
    pacer.hold_until(at(31_000));
    let second = by_default(
        policy(Algorithm::Fixed, Counting::Attempts, &[(60_000, 1)]),
        clock.clone(),
    );
    second.hold_until(at(31_000));
    second.acquire(1).await.unwrap();
    assert_eq!(log.text(), "", "a second is not worth telling");
    let third = by_default(
        policy(Algorithm::Fixed, Counting::Attempts, &[(60_000, 1)]),
        clock.clone(),
    );
    third.hold_until(clock.now().saturating_add(Duration::from_millis(1_001)));
    third.acquire(1).await.unwrap();
    assert!(
        log.text().contains("until=1970-01-01T00:00:32.001Z"),
        "{}",
        log.text()
    );
    drop(log);
    let log = Log::start();
    // Two wait for one place; the second of them gives up, because its own comes too late.
    let waiting = [0, 1].map(|_| {
        let pacer = Arc::clone(&pacer);
        tokio::spawn(async move { pacer.acquire(1).await })
    });
    let [first, behind] = waiting;
    first.await.unwrap().unwrap();
    assert!(behind.await.unwrap().is_err());
    let text = log.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    for line in lines {
        let told = "held back by the rate limit call_type=payment until=1970-01-01T00:01:00.100Z";
        assert!(
            line.contains("INFO") && line.contains("bankrail_client::pacer") && line.contains(told),
            "{line}"
        );
    }
}

const JUMPS: [i64; 3] = [3_600_000, 86_400_000, 365 * 86_400_000];

/// Calls that were counted and pauses that a service demanded while the clock was ahead hold back
/// no longer than they should.
#[tokio::test(start_paused = true)]
async fn a_clock_that_was_ahead_holds_back_no_longer_than_was_asked() {
    let log = Log::start();
    for jump in JUMPS {
        let start = 1_800_000_000_000 + 1_234_567;
        let clock = Arc::new(ManualClock::new(at(start + jump)));
        let pacer = statements(Pacing::Fail, clock.clone());
        pacer.acquire(1).await.unwrap();
        pacer.hold_until(at(start + jump + 60_000));
        clock.set(at(start));
        let held = pacer.acquire(1).await.unwrap_err();
        assert!(
            matches!(held, PaceError::Held { until, .. } if until == at(start + 60_000)),
            "{held:?}"
        );
        // A shorter one that is asked for now lengthens nothing.
        pacer.hold_until(at(start + 30_000));
        clock.set(at(start + 60_000));
        for _ in 0..24 {
            pacer.acquire(1).await.unwrap();
        }
    }
    let warned = "counts of a clock that was ahead were dropped";
    assert_eq!(log.text().matches(warned).count(), 2, "a day and a year");
}

/// A hold from a clock that was behind has passed.
#[tokio::test(start_paused = true)]
async fn a_clock_that_was_behind_holds_nothing_back() {
    for jump in JUMPS {
        let start = 1_800_000_000_000 + 1_234_567;
        let clock = Arc::new(ManualClock::new(at(start - jump)));
        let pacer = statements(Pacing::Fail, clock.clone());
        pacer.hold_until(at(start - jump + 60_000));
        clock.set(at(start));
        for _ in 0..25 {
            pacer.acquire(1).await.unwrap();
        }
    }
}
