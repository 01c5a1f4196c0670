//! The metrics, and their rows in `docs/metrics.md`.

use crate::provider::{Provider, Reply, request};
use crate::receivers::{deliver, delivery, message, options, receivers_with, seal, send};
use bankrail_client::receivers::{Delivery, HandlerError, Handlers, WorkerOptions};
use bankrail_client::{NewEntries, PolledAccount, Poller, PollerOptions};
use bankrail_stores::memory::MemoryStore;
use bankrail_webhook::{MandateNotification, MessageKind, PaymentOutcome};
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Returns the metrics with their labels as text, and their values; the value of a histogram is its
/// number of samples. Checks that the page has each metric.
fn counted(snapshotter: &Snapshotter) -> BTreeMap<String, f64> {
    let page = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../docs/metrics.md"
    ))
    .unwrap();
    let all = snapshotter
        .snapshot()
        .into_vec()
        .into_iter()
        .map(|(key, _, _, value)| {
            let (name, labels) = (key.key().name(), key.key().labels());
            let row = page
                .lines()
                .find(|line| line.starts_with(&format!("| `{name}` |")));
            let row = row.unwrap_or_else(|| panic!("docs/metrics.md does not have {name}"));
            let labels: BTreeMap<_, _> = labels.map(|label| (label.key(), label.value())).collect();
            assert!(
                labels
                    .keys()
                    .all(|label| row.contains(&format!("`{label}`"))),
                "{row}: {labels:?}"
            );
            let labels: Vec<_> = labels
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            let value = match value {
                DebugValue::Counter(count) => count as f64,
                DebugValue::Gauge(value) => value.into_inner(),
                DebugValue::Histogram(values) => values.len() as f64,
            };
            (format!("{name}{{{}}}", labels.join(",")), value)
        });
    all.collect()
}

fn assert_counted(counted: &BTreeMap<String, f64>, expected: &[(&str, f64)]) {
    for (metric, value) in expected {
        assert_eq!(
            counted.get(*metric),
            Some(value),
            "{metric} in {counted:#?}"
        );
    }
}

#[tokio::test(flavor = "current_thread")]
async fn calls_are_counted_by_endpoint_and_status() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let (provider, client, _) = Provider::client().await;
    provider.tokens([Reply::token(1, 3600)]);
    provider.statements([Reply::page(1, None), Reply::new(503, "")]);
    client.statements().page(&request()).await.unwrap();
    assert!(client.statements().page(&request()).await.is_err());
    assert_counted(
        &counted(&snapshotter),
        &[
            (
                "bankrail_client_calls_total{endpoint=token,outcome=200}",
                1.0,
            ),
            (
                "bankrail_client_calls_total{endpoint=statement,outcome=200}",
                1.0,
            ),
            (
                "bankrail_client_calls_total{endpoint=statement,outcome=503}",
                1.0,
            ),
            (
                "bankrail_client_call_duration_seconds{endpoint=statement}",
                2.0,
            ),
        ],
    );
}

#[tokio::test(flavor = "current_thread")]
async fn records_of_the_archive_are_counted() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _guard = metrics::set_default_local_recorder(&recorder);
    for archive in [crate::archive::kept().1, crate::archive::broken(false)] {
        let inbox = Arc::new(MemoryStore::new().inbox());
        let receivers = receivers_with(inbox, options().archive(archive));
        send(&receivers, delivery(MessageKind::Query, "{}")).await;
    }
    assert_counted(
        &counted(&snapshotter),
        &[
            (
                "bankrail_archived_total{kind=refused_delivery,outcome=kept}",
                1.0,
            ),
            (
                "bankrail_archived_total{kind=refused_delivery,outcome=failed}",
                1.0,
            ),
        ],
    );
}

#[tokio::test(flavor = "current_thread")]
async fn polls_are_counted_by_what_became_of_them() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let (provider, client, clock) = Provider::client().await;
    provider.tokens([Reply::token(1, 3600)]);
    let unknown = r#"{"requestKey":"2f8d9f0c-6d1f-4c55-9f0a-0f4f7b1c2d3e","error":{"statusCode":"EC20001","title":"?"}}"#;
    provider.statements([
        Reply::new(503, ""),
        Reply::page(2, None),
        Reply::new(400, unknown),
    ]);
    let account = request().account().unwrap();
    let accounts = [PolledAccount::new(account.clone())];
    let seen = Arc::new(MemoryStore::new());
    let handler = |_: NewEntries| std::future::ready(Ok(()));
    let poller = Poller::new(
        client.statements(),
        seen,
        accounts,
        handler,
        PollerOptions::new(),
    );
    for _ in 0..3 {
        poller.run_due().await;
        clock.advance(Duration::from_secs(600));
    }
    let page = [
        ("bankrail_polls_total{outcome=retried}", 1.0),
        ("bankrail_polls_total{outcome=completed}", 1.0),
        ("bankrail_polls_total{outcome=stopped}", 1.0),
        ("bankrail_polled_entries_total{}", 2.0),
        ("bankrail_poll_stopped_accounts{}", 1.0),
    ];
    assert_counted(&counted(&snapshotter), &page);
    assert!(poller.resume(&account));
    provider.statements([Reply::page(2, None)]);
    poller.run_due().await;
    // A snapshot takes the values away.
    assert_counted(
        &counted(&snapshotter),
        &[("bankrail_poll_stopped_accounts{}", -1.0)],
    );
    poller
        .run(tokio::time::sleep(Duration::from_millis(20)))
        .await;
    let begun = counted(&snapshotter);
    assert_counted(&begun, &[("bankrail_poll_notices_total{notice=late}", 0.0)]);
    for age in [
        "bankrail_poll_oldest_page_seconds{}",
        "bankrail_poll_oldest_full_walk_seconds{}",
    ] {
        assert!(begun.contains_key(age), "{age} in {begun:#?}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn deliveries_and_the_state_of_the_inbox_are_counted() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let receivers = receivers_with(Arc::new(MemoryStore::new().inbox()), options());
    let kind = MessageKind::PaymentOutcome;
    for _ in 0..2 {
        deliver(&receivers, kind, &message(kind)).await;
    }
    assert_eq!(send(&receivers, delivery(kind, seal("{}"))).await.0, 400);
    deliver(
        &receivers,
        MessageKind::MandateNotification,
        &message(MessageKind::MandateNotification),
    )
    .await;
    deliver(&receivers, MessageKind::Query, &message(MessageKind::Query)).await;
    let handlers = Handlers::new()
        .on(|_: Delivery<PaymentOutcome>| std::future::ready(Ok(())))
        .on(|_: Delivery<MandateNotification>| {
            std::future::ready(Err(HandlerError::permanent("no")))
        });
    let worker = receivers.worker(handlers, WorkerOptions::new());
    worker.run_due().await.unwrap();
    // The gauges are set once at the beginning.
    let stop = async {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    };
    worker.run(stop).await;
    assert_counted(
        &counted(&snapshotter),
        &[
            (
                "bankrail_received_total{kind=payment_outcome,outcome=new}",
                1.0,
            ),
            (
                "bankrail_received_total{kind=payment_outcome,outcome=in_progress}",
                1.0,
            ),
            (
                "bankrail_received_total{kind=payment_outcome,outcome=400}",
                1.0,
            ),
            ("bankrail_handled_total{outcome=handled}", 1.0),
            ("bankrail_handled_total{outcome=dead_letter}", 1.0),
            ("bankrail_inbox_entries{state=pending}", 1.0),
            ("bankrail_inbox_entries{state=completed}", 1.0),
            ("bankrail_inbox_entries{state=dead_letter}", 1.0),
        ],
    );
}

#[tokio::test(flavor = "current_thread")]
async fn the_oldest_outcome_that_has_not_come_is_measured_by_kind_and_state() {
    use crate::outcomes::{action, payment, told, watch};
    use bankrail_client::receivers::OutcomeWatchOptions;
    use bankrail_values::ManualClock;
    use bankrail_webhook::{ActionStatus, TransactionStatus};
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let day = Duration::from_secs(86_400);
    let histories = MemoryStore::new().histories();
    let clock = Arc::new(ManualClock::new(crate::provider::start()));
    let watch = watch(&histories, &clock, OutcomeWatchOptions::new());
    let check = async |days: [f64; 3], overdue: [f64; 3]| {
        watch.look().await.unwrap();
        let counted = counted(&snapshotter);
        for (place, labels) in [
            "kind=mandate_outcome,state=PEND",
            "kind=payment_outcome,state=PDNG",
            "kind=payment_outcome,state=ACSP",
        ]
        .into_iter()
        .enumerate()
        {
            let age = format!("bankrail_outcomes_oldest_seconds{{{labels}}}");
            let count = format!("bankrail_outcomes_overdue{{{labels}}}");
            let expected = [(&*age, days[place] * 86_400.0), (&*count, overdue[place])];
            assert_counted(&counted, &expected);
        }
    };
    check([0.0; 3], [0.0; 3]).await;
    told(&histories, &action(&ActionStatus::Pending, None)).await;
    told(&histories, &payment(TransactionStatus::Warehoused)).await;
    clock.advance(day * 6);
    check([6.0, 6.0, 0.0], [1.0, 0.0, 0.0]).await;
    told(&histories, &payment(TransactionStatus::SettlementPending)).await;
    told(&histories, &action(&ActionStatus::Completed, None)).await;
    check([0.0, 0.0, 6.0], [0.0, 0.0, 1.0]).await;
    told(&histories, &payment(TransactionStatus::Rejected)).await;
    check([0.0; 3], [0.0; 3]).await;
    told(&histories, &action(&ActionStatus::Pending, None)).await;
    check([0.0; 3], [0.0; 3]).await;
}

#[cfg(feature = "jwks-url")]
#[tokio::test(flavor = "current_thread")]
async fn requests_for_keys_are_counted_the_first_one_too() {
    use bankrail_client::receivers::keys::{JwksUrl, JwksUrlOptions};
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let options = JwksUrlOptions::new().danger_allow_http_on_loopback(true);
    // Nobody listens there.
    JwksUrl::fetch("http://127.0.0.1:1/keys", options)
        .await
        .unwrap_err();
    assert_counted(
        &counted(&snapshotter),
        &[("bankrail_key_fetches_total{outcome=failed}", 1.0)],
    );
}
