//! Reading with all findings, writing, validating and fingerprinting webhook messages, one of each
//! kind.

use bankrail_webhook::{ActionStatus, ActionType};
use bankrail_webhook::{CaseType, Message, MessageKind, TransactionStatus, Trigger, samples};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

fn messages() -> [(&'static str, Message); 4] {
    [
        // A flat message of thirteen members.
        (
            "mandate_outcome",
            samples::mandate_outcome(&ActionType::Create, &ActionStatus::Pending).into(),
        ),
        // The deepest message: four levels, every kind of amended member.
        (
            "mandate_notification",
            samples::mandate_notification(&Trigger::AmendmentConfirmed)
                .expect("a known trigger")
                .into(),
        ),
        // Identifiers, money and an array.
        (
            "payment_outcome",
            samples::payment_outcome(&TransactionStatus::Rejected).into(),
        ),
        // The longest message.
        ("query", samples::query(&CaseType::Payments).into()),
    ]
}

fn message(criterion: &mut Criterion) {
    for (name, message) in messages() {
        let json = message.to_json();
        // The measured path must read the right message.
        let parsed = Message::from_json(message.kind(), json.as_bytes()).expect("a sample is read");
        assert!(parsed.message == message && parsed.findings.is_empty());
        let mut group = criterion.benchmark_group("message");
        group.throughput(Throughput::Bytes(json.len() as u64));
        group.bench_function(format!("parse/{name}"), |b| {
            b.iter(|| Message::from_json(message.kind(), black_box(json.as_bytes())));
        });
        // For comparison: reading the same bytes into an untyped tree.
        group.bench_function(format!("parse_untyped_serde_json/{name}"), |b| {
            b.iter(|| serde_json::from_slice::<serde_json::Value>(black_box(json.as_bytes())));
        });
        group.bench_function(format!("write/{name}"), |b| {
            b.iter(|| black_box(&message).to_json())
        });
        group.bench_function(format!("validate/{name}"), |b| {
            b.iter(|| black_box(&message).validate())
        });
        group.bench_function(format!("fingerprint/{name}"), |b| {
            b.iter(|| black_box(&message).fingerprint())
        });
        group.finish();
    }
}

fn enqueue_check(criterion: &mut Criterion) {
    let message = Message::from(samples::query(&CaseType::Mandate));
    let endpoint: bankrail_mailbox::EndpointId = "endpoint".parse().expect("a short name");
    let headers = samples::headers(MessageKind::Query);
    criterion.bench_function("message/outgoing/query", |b| {
        b.iter(|| {
            black_box(&message)
                .outgoing(endpoint.clone(), &headers)
                .expect("a sample can be sent")
        });
    });
}

criterion_group!(benches, message, enqueue_check);
criterion_main!(benches);
