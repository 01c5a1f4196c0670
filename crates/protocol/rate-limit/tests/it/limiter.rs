//! Limits over counters, and counters that fail.

use crate::at;
use bankrail_rate_limit::{
    CallType, Charge, CheckError, CheckOutcome, CounterStore, Decision, Limiter, Limits,
    MemoryCounters, OnStoreFailure, Policy,
};
use bankrail_values::{StoreErrorKind, StoreFuture};
use std::io::Write;
use std::sync::{Arc, Mutex};

#[derive(Debug)]
struct Down;

impl CounterStore for Down {
    fn charge<'a>(&'a self, _: Charge<'a>) -> StoreFuture<'a, Decision> {
        Box::pin(async { Err(StoreErrorKind::Unavailable.into()) })
    }
}

#[tokio::test]
async fn counters_that_answer_decide() {
    let limiter = Limiter::default();
    for request in 0..26 {
        let answer = limiter
            .check("A", CallType::Statement, at(0), 1)
            .await
            .unwrap();
        assert_eq!(answer.is_allowed(), request < 25);
        assert!(matches!(answer, CheckOutcome::Decided(_)));
    }
    limiter
        .change_limits(|limits| limits.set_override("A", CallType::Statement, Policy::unlimited()));
    assert!(
        limiter
            .check("A", CallType::Statement, at(0), 1)
            .await
            .unwrap()
            .is_allowed()
    );
    assert!(matches!(
        limiter.check("B", CallType::Statement, at(0), 26).await,
        Err(CheckError::Cost(error)) if error.cost == 26
    ));
}

#[tokio::test]
async fn an_answer_has_the_decision_if_there_was_one() {
    let answer = Limiter::default()
        .check("A", CallType::Statement, at(0), 25)
        .await
        .unwrap();
    assert_eq!(answer.decision().and_then(Decision::remaining), Some(0));
    let mut limits = Limits::default();
    limits.set_on_store_failure(CallType::Payment, OnStoreFailure::Allow);
    let answer = Limiter::new(limits, Arc::new(Down))
        .check("A", CallType::Payment, at(0), 1)
        .await
        .unwrap();
    assert!(answer.decision().is_none());
}

/// Decisions are counted under the name and labels of docs/metrics.md.
#[cfg(feature = "metrics")]
#[tokio::test(flavor = "current_thread")]
async fn decisions_are_counted() {
    use metrics_util::debugging::{DebugValue, DebuggingRecorder};
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let mut limits = Limits::default();
    limits.set_on_store_failure(CallType::Payment, OnStoreFailure::Allow);
    let down = Limiter::new(limits.clone(), Arc::new(Down));
    let limiter = Limiter::new(limits, Arc::new(MemoryCounters::default()));
    for _ in 0..26 {
        let _ = limiter.check("A", CallType::Statement, at(0), 1).await;
    }
    let _ = down.check("A", CallType::Payment, at(0), 1).await;
    let _ = down.check("A", CallType::Statement, at(0), 1).await;
    let counted = snapshotter
        .snapshot()
        .into_vec()
        .into_iter()
        .map(|(key, _, _, value)| {
            assert_eq!(key.key().name(), "bankrail_limit_decisions_total");
            let (names, labels): (Vec<_>, Vec<_>) = key
                .key()
                .labels()
                .map(|label| (label.key().to_owned(), label.value().to_owned()))
                .unzip();
            assert_eq!(names, ["call_type", "decision"]);
            let DebugValue::Counter(count) = value else {
                panic!("{value:?}")
            };
            (labels.join(" "), count)
        });
    let mut counted: Vec<_> = counted.collect();
    counted.sort();
    let expected = [
        ("payment unchecked", 1),
        ("statement allowed", 25),
        ("statement refused", 1),
        ("statement unreachable", 1),
    ];
    assert_eq!(
        counted,
        expected.map(|(labels, count)| (labels.to_owned(), count))
    );
}

#[tokio::test]
async fn counters_that_fail_refuse_or_allow() {
    let mut limits = Limits::default();
    limits.set_on_store_failure(CallType::Payment, OnStoreFailure::Allow);
    let limiter = Limiter::new(limits, Arc::new(Down));
    let refused = limiter
        .check("A", CallType::FastPayment, at(0), 1)
        .await
        .unwrap_err();
    assert!(
        matches!(&refused, CheckError::Store(error) if error.kind() == StoreErrorKind::Unavailable)
    );
    assert_eq!(
        std::error::Error::source(&refused).unwrap().to_string(),
        "the store is unavailable"
    );
    for _ in 0..100 {
        let answer = limiter
            .check("A", CallType::Payment, at(0), 1)
            .await
            .unwrap();
        assert!(answer.is_allowed() && answer.decision().is_none());
    }
    limiter.change_limits(|limits| {
        limits.set_on_store_failure(CallType::Payment, OnStoreFailure::Refuse)
    });
    assert!(
        limiter
            .check("A", CallType::Payment, at(0), 1)
            .await
            .is_err()
    );
}

#[tokio::test]
async fn full_counters_are_a_store_that_is_full() {
    let counters = MemoryCounters::new(bankrail_rate_limit::Capacity::new(
        0,
        bankrail_rate_limit::OnFull::RefuseNew,
    ));
    let limiter = Limiter::new(Limits::default(), Arc::new(counters));
    let full = limiter
        .check("A", CallType::Payment, at(0), 1)
        .await
        .unwrap_err();
    assert!(matches!(full, CheckError::Store(error) if error.kind() == StoreErrorKind::Full));
}

/// A writer that collects the log.
#[derive(Clone, Default)]
struct Logged(Arc<Mutex<Vec<u8>>>);

impl Write for Logged {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_clock_that_was_ahead_is_logged_for_some_customers_only() {
    let logged = Logged::default();
    let sink = logged.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || sink.clone());
    let subscriber = subscriber.with_ansi(false).finish();
    let _default = tracing::subscriber::set_default(subscriber);
    let limiter = Limiter::default();
    let customers: Vec<String> = (0..9).map(|number| format!("C{number}")).collect();
    for now in [30 * 86_400_000, 0, 1] {
        for customer in &customers {
            let asked = limiter.check(customer, CallType::Statement, at(now), 1);
            let answer = asked.await.unwrap();
            let decision = answer.decision().unwrap();
            assert!(decision.is_allowed());
            assert_eq!(decision.clock_was_ahead(), now == 0);
        }
    }
    let text = String::from_utf8(logged.0.lock().unwrap().clone()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines.len(),
        4,
        "the first, second, fourth and eighth: {text}"
    );
    for (line, times) in lines
        .iter()
        .zip(["times=1", "times=2", "times=4", "times=8"])
    {
        let dropped = "counts of a clock that was ahead were dropped";
        assert!(line.contains("WARN") && line.contains(dropped), "{line}");
        assert!(line.contains(times), "{line}");
    }
}
