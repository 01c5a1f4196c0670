//! The bank's deliveries to real receivers.

use axum::Router;
use axum::http::StatusCode;
use bankrail_client::receivers::{Receivers, ReceiversOptions};
use bankrail_emulator::{Endpoint, FakeBank, FakeBankOptions, Fault};
use bankrail_mailbox::{Inbox, InboxCounts};
use bankrail_stores::memory::{MemoryInbox, MemoryStore};
use bankrail_webhook::{CaseType, Trigger, samples};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

/// Returns a bank and the inbox of the receivers that it delivers to.
async fn receivers(bank: &FakeBank) -> MemoryInbox {
    let inbox = MemoryStore::new().inbox();
    serve(bank, &inbox).await;
    inbox
}

async fn serve(bank: &FakeBank, inbox: &MemoryInbox) {
    let options = ReceiversOptions::new().clock(bank.clock());
    let made = Receivers::new(
        bank.opener(),
        FakeBank::RECEIVER_API_KEY,
        Arc::new(inbox.clone()),
        options,
    );
    bank.serve(made.unwrap().router()).await;
}

async fn pending(inbox: &MemoryInbox) -> u64 {
    let InboxCounts { pending, .. } = inbox.counts().await.unwrap();
    pending
}

#[tokio::test]
async fn each_kind_arrives_over_tls_and_without() {
    for options in [
        FakeBankOptions::new(),
        FakeBankOptions::new().plain_http(true),
    ] {
        let bank = FakeBank::start_with(options).await;
        let inbox = receivers(&bank).await;
        let mut mandate = bank.mandate();
        bank.deliver(mandate.created()).await;
        bank.deliver(samples::mandate_notification(&Trigger::CreationConfirmed).unwrap())
            .await;
        bank.deliver(bank.payment().settled()).await;
        let last = bank.deliver(samples::query(&CaseType::Mandate)).await;
        assert!(last.is_received());
        assert_eq!(
            bank.deliveries(),
            [
                "mandate_outcome 200 RCVD",
                "mandate_notification 200 RCVD",
                "payment_outcome 200 RCVD",
                "query 200 RCVD"
            ]
        );
        assert_eq!(pending(&inbox).await, 4);
    }
}

#[tokio::test]
async fn duplicates_conflicts_and_lost_answers() {
    let bank = FakeBank::start().await;
    let inbox = receivers(&bank).await;
    let settled = bank.payment().settled();
    let first = bank.deliver(settled.clone()).await;
    let again = bank.deliver_again(&settled).await;
    assert_eq!(
        first.acknowledgement, again.acknowledgement,
        "the stored acknowledgement"
    );
    assert_eq!(first.message_id, again.message_id);
    assert_eq!(pending(&inbox).await, 1);
    for webhook in [
        settled,
        bank.mandate().created(),
        samples::query(&CaseType::Mandate).into(),
    ] {
        bank.deliver(webhook.clone()).await;
        let conflict = bank.deliver_conflict(webhook).await;
        assert!(conflict.is_received(), "{conflict}");
        assert_ne!(conflict.acknowledgement, first.acknowledgement);
    }
    let entries = inbox.lease(&[], 10, lease(), bank.now()).await.unwrap();
    assert_eq!(
        entries
            .iter()
            .filter(|entry| entry.conflicts_with.is_some())
            .count(),
        3
    );

    // The receivers have the message, and the bank does not know it.
    bank.fail(Endpoint::Webhook, Fault::LostAcknowledgement);
    let before = bank.deliveries().len();
    assert_eq!(
        bank.deliver(bank.payment().settled()).await,
        "payment_outcome no answer"
    );
    assert_eq!(bank.deliver_due().await, 0, "not due yet");
    bank.clock().advance(Duration::from_secs(5));
    assert_eq!(bank.deliver_due().await, 1);
    assert_eq!(
        bank.deliveries()[before..],
        ["payment_outcome no answer", "payment_outcome 200 RCVD"]
    );
}

fn lease() -> bankrail_mailbox::Lease {
    let owner = bankrail_mailbox::LeaseOwner::from_random_bytes([1; 16]);
    bankrail_mailbox::Lease {
        owner,
        until: bankrail_values::Timestamp::MAX,
    }
}

/// Faults of deliveries are ordered as those of calls are.
#[tokio::test]
async fn a_fault_of_a_delivery_is_met() {
    let bank = FakeBank::start().await;
    let inbox = receivers(&bank).await;
    bank.fail(Endpoint::Webhook, Fault::Doubled);
    assert!(bank.deliver(bank.payment().settled()).await.is_received());
    bank.fail(Endpoint::Webhook, Fault::BadSignature);
    assert_eq!(
        bank.deliver(bank.payment().settled()).await,
        "payment_outcome 400"
    );
    assert_eq!(bank.deliveries().len(), 3);
    assert!(bank.faults_left().is_empty() && bank.calls().is_empty());
    assert_eq!(pending(&inbox).await, 1);
}

#[tokio::test]
async fn new_keys_are_refused_until_they_are_known() {
    let bank = FakeBank::start().await;
    let inbox = receivers(&bank).await;
    bank.rotate_signing_key();
    assert_eq!(
        bank.deliver(bank.payment().settled()).await,
        "payment_outcome 400"
    );
    bank.rotate_encryption_key();
    assert_eq!(
        bank.deliver(bank.payment().settled()).await,
        "payment_outcome 400"
    );
    assert_eq!(
        (bank.verifying_keys().len(), bank.decryption_keys().len()),
        (2, 2)
    );
    assert!(bank.jwk_set().contains("\"bank-2\""));
    // Receivers with the new keys: what failed is delivered on its schedule.
    serve(&bank, &inbox).await;
    bank.clock().advance(Duration::from_secs(5));
    assert_eq!(bank.deliver_due().await, 2);
    assert_eq!(pending(&inbox).await, 2);
}

#[tokio::test]
async fn receivers_that_refuse_get_what_a_real_sender_gives() {
    let bank = FakeBank::start().await;
    let status = Arc::new(AtomicU16::new(410));
    let answer = {
        let status = status.clone();
        move || async move { StatusCode::from_u16(status.load(Ordering::SeqCst)).unwrap() }
    };
    bank.serve(Router::new().fallback(answer)).await;
    assert_eq!(
        bank.deliver(bank.payment().settled()).await,
        "payment_outcome 410"
    );
    status.store(200, Ordering::SeqCst);
    assert_eq!(
        bank.deliver(bank.payment().settled()).await,
        "payment_outcome no answer",
        "stopped"
    );
    bank.resume().await;
    assert_eq!(bank.deliver_due().await, 2);
    assert_eq!(
        bank.deliveries()[1..],
        ["payment_outcome 200", "payment_outcome 200"],
        "no acknowledgement"
    );
    assert!(!bank.deliveries()[2].is_received());
}

#[tokio::test]
#[should_panic(expected = "the fake bank has no receivers")]
async fn without_receivers_there_is_nothing_to_deliver_to() {
    let bank = FakeBank::start().await;
    bank.deliver(bank.payment().settled()).await;
}
