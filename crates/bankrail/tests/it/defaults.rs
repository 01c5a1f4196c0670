//! Each side accepts by default what the other side does by default.

use crate::both::{API_KEY, Keys};
use axum::body::Body;
use bankrail_client::receivers::{Receivers, ReceiversOptions};
use bankrail_mailbox::Inbox as _;
use bankrail_secured_payload::{OpenOptions, Opener, SealOptions, Sealer, SecuredPayload};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::MAX_MESSAGE_BYTES;
use bankrail_webhook::{Message, MessageKind, OutgoingError, TransactionStatus, samples};
use std::sync::Arc;
use tower::ServiceExt as _;

/// Returns a payment outcome whose JSON has this many bytes.
fn outcome_of(bytes: usize) -> Message {
    let with = |lines: &[usize]| -> Message {
        let mut outcome = samples::payment_outcome(&TransactionStatus::SettlementCompleted);
        let lines = lines
            .iter()
            .map(|length| "x".repeat(*length).parse().unwrap());
        outcome.transaction_status_additional_information = Some(lines.collect());
        outcome.into()
    };
    // Each further line has two quotation marks and a comma.
    let left = bytes - with(&[1]).to_json().len();
    let (lines, rest) = (left / 108, left % 108);
    // The first line has from 1 to 105 characters; the rest makes further lines.
    let mut lengths = vec![105; lines];
    match rest {
        0..=104 => lengths.push(1 + rest),
        _ => lengths.extend([rest - 52, 50]),
    }
    let message = with(&lengths);
    assert_eq!(message.to_json().len(), bytes);
    message
}

#[tokio::test]
async fn the_longest_message_of_a_sender_is_accepted_by_a_receiver() {
    let keys = Keys::generate();
    let headers = samples::headers(MessageKind::PaymentOutcome);
    let (endpoint, longest) = (crate::both::endpoint(), outcome_of(MAX_MESSAGE_BYTES));
    let outgoing = longest.outgoing(endpoint.clone(), &headers).unwrap();
    let refused = outcome_of(MAX_MESSAGE_BYTES + 1).outgoing(endpoint, &headers);
    assert!(matches!(
        refused,
        Err(OutgoingError::TooLarge {
            allowed: MAX_MESSAGE_BYTES,
            ..
        })
    ));

    for deflate in [false, true] {
        let options = SealOptions::new().deflate(deflate);
        let sealer = Sealer::new(
            keys.signing.clone(),
            keys.decryption.encryption_key(),
            options,
        );
        let sealed = SecuredPayload::new(sealer.seal(&outgoing.body).unwrap()).to_json();
        let inbox = Arc::new(MemoryStore::new().inbox());
        let opener = Opener::new(
            keys.decryption.clone(),
            keys.signing.verifying_key(),
            OpenOptions::new(),
        )
        .unwrap();
        let receivers =
            Receivers::new(opener, API_KEY, inbox.clone(), ReceiversOptions::new()).unwrap();
        let request = axum::http::Request::post(MessageKind::PaymentOutcome.default_path())
            .header("apikey", API_KEY)
            .header("content-type", "application/json");
        let request = headers.pairs().fold(request, |request, (name, value)| {
            request.header(name, value)
        });
        let answer = receivers
            .router()
            .oneshot(request.body(Body::from(sealed)).unwrap())
            .await
            .unwrap();
        assert_eq!(answer.status(), 200, "deflate: {deflate}");
        assert_eq!(inbox.counts().await.unwrap().pending, 1);
    }
}
