//! Receivers with a remote decryption key.

use crate::receivers::{DECRYPTION, SIGNING, delivery, message, seal};
use axum::http::StatusCode;
use bankrail_client::receivers::{Receivers, ReceiversOptions};
use bankrail_jose::EncryptionKey;
use bankrail_jose::remote::{DecryptionOutcome, RemoteDecrypter, RemoteError, RemoteFuture};
use bankrail_mailbox::Inbox;
use bankrail_secured_payload::{OpenOptions, Opener};
use bankrail_stores::memory::MemoryStore;
use bankrail_webhook::MessageKind;
use std::sync::Arc;
use std::time::Duration;
use tower::ServiceExt;

/// A key service.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Service {
    Works,
    Down,
    Hangs,
}

#[derive(Clone, Debug)]
struct Key(Service, EncryptionKey);

impl RemoteDecrypter for Key {
    fn encryption_key(&self) -> &EncryptionKey {
        &self.1
    }

    fn decrypt<'a>(&'a self, encrypted: &'a [u8]) -> RemoteFuture<'a, DecryptionOutcome> {
        Box::pin(async move {
            match self.0 {
                Service::Works => Ok(DECRYPTION
                    .decrypt(encrypted)
                    .map_or(DecryptionOutcome::CannotDecrypt, DecryptionOutcome::Key)),
                Service::Down => Err(RemoteError::retryable("no connection")),
                Service::Hangs => std::future::pending().await,
            }
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_delivery_is_answered_whatever_the_key_service_does() {
    let kind = MessageKind::Query;
    for (service, status, stored) in [
        (Service::Works, StatusCode::OK, 1),
        (Service::Down, StatusCode::INTERNAL_SERVER_ERROR, 0),
        (Service::Hangs, StatusCode::INTERNAL_SERVER_ERROR, 0),
    ] {
        let inbox = Arc::new(MemoryStore::new().inbox());
        let opener = Opener::remote(
            Key(service, DECRYPTION.encryption_key()),
            SIGNING.verifying_key(),
            OpenOptions::new(),
        )
        .unwrap();
        let receivers =
            Receivers::remote(opener, "our-key", inbox.clone(), ReceiversOptions::new()).unwrap();
        let answer = receivers
            .router()
            .oneshot(delivery(kind, seal(&message(kind))));
        let answer = tokio::time::timeout(Duration::from_secs(60), answer)
            .await
            .expect("an answer in time")
            .unwrap();
        assert_eq!(answer.status(), status, "{service:?}");
        assert_eq!(inbox.counts().await.unwrap().pending, stored, "{service:?}");
    }
}
