//! The metrics, and their rows in `docs/metrics.md`.

use crate::delivery::world::{Reply, World as DeliveryWorld};
use crate::world::{API_KEY, SCOPES, World, statement_request, token_request};
use axum::body::Body;
use bankrail_service::delivery::BreakerPolicy;
use http::Request;
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Returns the metrics with their labels as text, and their values; the value of a histogram is its
/// number of samples.
fn counted(snapshotter: &Snapshotter) -> BTreeMap<String, f64> {
    let all = snapshotter
        .snapshot()
        .into_vec()
        .into_iter()
        .map(|(key, _, _, value)| {
            let labels: BTreeMap<_, _> = key
                .key()
                .labels()
                .map(|label| (label.key(), label.value()))
                .collect();
            let labels: Vec<_> = labels
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            let value = match value {
                DebugValue::Counter(count) => count as f64,
                DebugValue::Gauge(value) => value.into_inner(),
                DebugValue::Histogram(values) => values.len() as f64,
            };
            (
                format!("{}{{{}}}", key.key().name(), labels.join(",")),
                value,
            )
        });
    all.collect()
}

fn assert_documented(counted: &BTreeMap<String, f64>) {
    let page = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../docs/metrics.md"
    ))
    .unwrap();
    for metric in counted.keys() {
        let (name, labels) = metric.split_once('{').unwrap();
        let row = page
            .lines()
            .find(|line| line.starts_with(&format!("| `{name}` |")));
        let row = row.unwrap_or_else(|| panic!("docs/metrics.md does not have {name}"));
        for (label, value) in labels
            .trim_end_matches('}')
            .split(',')
            .filter_map(|label| label.split_once('='))
        {
            assert!(
                row.contains(&format!("`{label}`")),
                "the row of {name} does not have {label}"
            );
            let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
            let is_call_type = label == "call_type";
            assert!(
                is_number || is_call_type || page.contains(&format!("`{value}`")),
                "{label}={value} of {name}"
            );
        }
    }
}

#[tokio::test(flavor = "current_thread")]
async fn requests_refusals_and_limits_are_counted_under_documented_names() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let world = World::new();
    let answer = world.send(token_request(API_KEY, world.form(SCOPES))).await;
    let token = answer.json["access_token"].as_str().unwrap().to_owned();
    world
        .send(token_request("nobody", world.form(SCOPES)))
        .await;
    world
        .send(statement_request(API_KEY, &token, r#"{"accountId":"1"}"#))
        .await;
    world
        .send(statement_request(
            API_KEY,
            &token,
            r#"{"accountId":"secret"}"#,
        ))
        .await;
    world
        .send(statement_request(
            API_KEY,
            "0b7c2f6e-8a1d-41eb-8dcd-0242ac130003",
            "{}",
        ))
        .await;
    for _ in 0..2 {
        world.send(token_request(API_KEY, world.form(SCOPES))).await;
    }
    let counted = counted(&snapshotter);
    for (metric, value) in [
        ("bankrail_requests_total{endpoint=token,status=200}", 2.0),
        ("bankrail_requests_total{endpoint=token,status=401}", 1.0),
        ("bankrail_requests_total{endpoint=token,status=429}", 1.0),
        (
            "bankrail_requests_total{endpoint=statement,status=200}",
            1.0,
        ),
        ("bankrail_request_duration_seconds{endpoint=statement}", 3.0),
        (
            "bankrail_refusals_total{endpoint=token,reason=api_key}",
            1.0,
        ),
        ("bankrail_refusals_total{endpoint=token,reason=limit}", 1.0),
        (
            "bankrail_refusals_total{endpoint=statement,reason=account}",
            1.0,
        ),
        (
            "bankrail_refusals_total{endpoint=statement,reason=access_token}",
            1.0,
        ),
        (
            "bankrail_limit_decisions_total{call_type=token,decision=allowed}",
            2.0,
        ),
        (
            "bankrail_limit_decisions_total{call_type=token,decision=refused}",
            1.0,
        ),
    ] {
        assert_eq!(
            counted.get(metric),
            Some(&value),
            "{metric} in {counted:#?}"
        );
    }
    assert!(!format!("{counted:?}").contains("ACME") && !format!("{counted:?}").contains("secret"));
    assert_documented(&counted);
}

#[tokio::test(flavor = "current_thread")]
async fn deliveries_and_the_state_of_the_outbox_are_counted_under_documented_names() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let world = DeliveryWorld::new();
    world.receiver.script([Reply::Status(500), Reply::Good]);
    for _ in 0..2 {
        world.enqueue_one().await;
    }
    world.dispatcher.run_once().await.unwrap();
    world.clock.advance(Duration::from_secs(1));
    // The gauges are set once at the beginning.
    let run = world.dispatcher.run(async {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    });
    run.await;
    let counted = counted(&snapshotter);
    for (metric, value) in [
        (
            "bankrail_deliveries_total{kind=mandate_outcome,outcome=delivered}",
            1.0,
        ),
        (
            "bankrail_deliveries_total{kind=mandate_outcome,outcome=refused}",
            1.0,
        ),
        ("bankrail_delivery_duration_seconds{}", 2.0),
        ("bankrail_outbox_entries{state=pending}", 1.0),
        ("bankrail_outbox_entries{state=delivered}", 1.0),
        ("bankrail_outbox_oldest_seconds{}", 1.0),
        ("bankrail_delivery_open_circuits{}", 0.0),
    ] {
        assert_eq!(
            counted.get(metric),
            Some(&value),
            "{metric} in {counted:#?}"
        );
    }
    assert!(!format!("{counted:?}").contains("acme"));
    assert_documented(&counted);
}

#[tokio::test(flavor = "current_thread")]
async fn requests_for_documents_are_counted_under_documented_names() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let world = World::with(|options| options.issuer("https://bank.example"));
    for (method, path) in [
        ("GET", "/openapi.json"),
        ("PUT", "/openapi.json"),
        ("GET", "/authorize"),
    ] {
        world
            .send(
                Request::builder()
                    .method(method)
                    .uri(path)
                    .body(Body::empty())
                    .unwrap(),
            )
            .await;
    }
    let counted = counted(&snapshotter);
    for metric in [
        "bankrail_requests_total{endpoint=document,status=200}",
        "bankrail_refusals_total{endpoint=document,reason=method}",
        "bankrail_refusals_total{endpoint=authorization,reason=request}",
    ] {
        assert_eq!(counted.get(metric), Some(&1.0), "{metric} in {counted:#?}");
    }
    assert_documented(&counted);
}

#[tokio::test(flavor = "current_thread")]
async fn an_endpoint_that_is_paused_is_counted() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let world = DeliveryWorld::with(|options| options.breaker(BreakerPolicy::new().failures(1)));
    world.receiver.always(Reply::Status(500));
    world.enqueue_one().await;
    world.dispatcher.run_once().await.unwrap();
    // The dispatcher publishes its gauges while it runs, and tries a receiver again that is up.
    world.receiver.up.store(false, Ordering::SeqCst);
    let turns = async {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    };
    world.dispatcher.run(turns).await;
    let counted = counted(&snapshotter);
    assert_eq!(counted.get("bankrail_delivery_open_circuits{}"), Some(&1.0));
}
