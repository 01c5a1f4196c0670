//! The rules for the age of the oldest pending entry.

use super::outbox_suite::intervention;
use super::{at, lease, owner};
use crate::key::{DuplicateKey, Fingerprint, KeyHash};
use crate::kind::Kind;
use crate::{
    DeliveryRecord, Disposition, EndpointId, Inbox, Incoming, LeaseRequest, OutboxStore, Outgoing,
};
use bankrail_values::HyphenatedUuid;
use std::time::Duration;

/// Runs the rule of [`OutboxOperator::oldest_pending`](crate::OutboxOperator::oldest_pending) on a
/// fresh, empty outbox.
///
/// # Panics
/// If the engine breaks it.
pub(super) async fn oldest_in_outbox(outbox: &impl OutboxStore) {
    assert_eq!(
        outbox.oldest_pending().await.expect("store"),
        None,
        "an empty store has no oldest entry"
    );
    let endpoint = |name: &str| EndpointId::parse(name).expect("a short name");
    for (number, name) in [(1, "a"), (2, "b"), (3, "b")] {
        let message = Outgoing {
            endpoint: endpoint(name),
            kind: Kind::from_static("a.kind"),
            message_id: HyphenatedUuid::from_random_bytes([number; 16]),
            fingerprint: Fingerprint::from_bytes([number; 32]),
            attributes: vec![number].into(),
            body: vec![number].into(),
        };
        outbox
            .enqueue(&message, at(u64::from(number) * 100))
            .await
            .expect("enqueue");
    }
    assert_eq!(outbox.oldest_pending().await.expect("store"), Some(at(100)));
    outbox
        .stop_endpoint(&endpoint("a"), &intervention("a test"), at(400))
        .await
        .expect("stop");
    assert_eq!(
        outbox.oldest_pending().await.expect("store"),
        Some(at(200)),
        "a stopped endpoint does not count"
    );
    let leased = outbox
        .lease(LeaseRequest::new(lease(1, 1000), 1), at(500))
        .await
        .expect("lease");
    assert_eq!(
        outbox.oldest_pending().await.expect("store"),
        Some(at(200)),
        "a leased entry still waits"
    );
    for entry in leased {
        let record = DeliveryRecord {
            started_at: at(500),
            duration: Duration::ZERO,
            status: Some(200),
            note: None,
        };
        assert!(
            outbox
                .record(
                    entry.id,
                    owner(1),
                    &record,
                    Disposition::Delivered,
                    None,
                    at(600)
                )
                .await
                .expect("record")
        );
    }
    assert_eq!(
        outbox.oldest_pending().await.expect("store"),
        Some(at(300)),
        "a delivered entry no longer waits"
    );
    outbox
        .resume_endpoint(&endpoint("a"), at(600))
        .await
        .expect("resume");
    assert_eq!(outbox.oldest_pending().await.expect("store"), Some(at(100)));
}

/// Runs the rule of [`Inbox::oldest_pending`] on a fresh, empty inbox.
///
/// # Panics
/// If the engine breaks it.
pub(super) async fn oldest_in_inbox(inbox: &impl Inbox) {
    assert_eq!(
        inbox.oldest_pending().await.expect("store"),
        None,
        "an empty store has no oldest entry"
    );
    for number in 1..=3 {
        let message = Incoming {
            kind: Kind::from_static(if number == 2 {
                "a.kind"
            } else {
                "another.kind"
            }),
            key: DuplicateKey::from_hashes([KeyHash::from_bytes([number; 32])]),
            fingerprint: Fingerprint::from_bytes([number; 32]),
            other_spellings: Vec::new(),
            interim: false,
            attributes: vec![number].into(),
            body: vec![number].into(),
            acknowledgement: vec![number].into(),
        };
        inbox
            .receive(&message, at(u64::from(number) * 100))
            .await
            .expect("receive");
    }
    assert_eq!(inbox.oldest_pending().await.expect("store"), Some(at(100)));
    let leased = inbox
        .lease(&[], 1, lease(1, 1000), at(500))
        .await
        .expect("lease");
    assert_eq!(
        inbox.oldest_pending().await.expect("store"),
        Some(at(100)),
        "a leased entry still waits"
    );
    for entry in leased {
        assert!(
            inbox
                .complete(entry.id, owner(1), at(600))
                .await
                .expect("complete")
        );
    }
    assert_eq!(
        inbox.oldest_pending().await.expect("store"),
        Some(at(200)),
        "a completed entry no longer waits"
    );
    let leased = inbox
        .lease(&[], 1, lease(1, 1000), at(700))
        .await
        .expect("lease");
    for entry in leased {
        assert!(
            inbox
                .release(entry.id, owner(1), at(10_000), "later")
                .await
                .expect("release")
        );
    }
    assert_eq!(
        inbox.oldest_pending().await.expect("store"),
        Some(at(200)),
        "an entry that was released until later still waits"
    );
}
