//! Deliveries of the fake bank to its customer's receivers.

use super::{FakeBank, Webhooks, dispatcher_options};
use crate::keys::WebhookKeys;
use crate::listener::{Bound, OwnCertificate};
use crate::webhook::{Delivered, Webhook};
use crate::webhook_faults::FaultySealer;
use axum::Router;
use bankrail_jose::{CurrentKey, DecryptionKey, KeySet, VerifyingKey};
use bankrail_mailbox::EndpointId;
use bankrail_secured_payload::{OpenOptions, Opener};
use bankrail_service::delivery::{
    Dispatcher, Endpoint, EndpointUrl, HttpsTransport, HttpsTransportOptions, TlsRoots,
};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::SecretString;
use bankrail_webhook::samples;
use std::sync::{Arc, Mutex, PoisonError};

/// Returns the name of the only receiver.
fn receiver() -> EndpointId {
    "receiver".parse().expect("a short text")
}

pub(super) fn transport(certificate: Option<&OwnCertificate>) -> HttpsTransport {
    let options = match certificate {
        Some(own) => HttpsTransportOptions::new()
            .tls_roots(TlsRoots::OnlyPem(own.authority_pem.clone().into())),
        None => HttpsTransportOptions::new(),
    };
    HttpsTransport::new(options).expect("the bank's own certificate is readable")
}

impl Webhooks {
    pub(super) fn new() -> Self {
        let keys = WebhookKeys::new();
        let (signing, encryption) = keys.current();
        Self {
            keys,
            signing: CurrentKey::new(signing),
            encryption: CurrentKey::new(encryption),
            served: Mutex::default(),
        }
    }
}

/// The methods that deliver webhooks to one receiver. Every delivery is real, and seals its message
/// anew.
impl FakeBank {
    /// Serves the customer's receivers, such as the router of `bankrail-client`, on loopback, with
    /// TLS if the bank has it, and delivers to them from now on. Returns their base address. They
    /// are served until the bank ends.
    ///
    /// # Panics
    /// If loopback has no free port.
    pub async fn serve(&self, receivers: Router) -> String {
        let bound = Bound::any_port().await;
        let url = bound.url(self.0.certificate.as_ref());
        let running = bound.serve(receivers, self.0.certificate.as_ref());
        self.0
            .webhooks
            .served
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(running);
        self.send_to(&url);
        url
    }

    /// Delivers to receivers at this base address from now on: which is `http` on loopback, or
    /// `https` with the bank's own certificate.
    ///
    /// # Panics
    /// If the address is of another kind.
    #[track_caller]
    pub fn send_to(&self, base_url: &str) {
        let base = EndpointUrl::danger_allow_http_on_loopback(base_url);
        let base = base.unwrap_or_else(|error| panic!("receivers at {base_url}: {error}"));
        let Webhooks {
            signing,
            encryption,
            ..
        } = &self.0.webhooks;
        let sealer = FaultySealer {
            signing: signing.clone(),
            encryption: encryption.clone(),
            customer: None,
            faults: self.0.emulator.faults.clone(),
        };
        let endpoint = Endpoint::new(receiver(), base, Arc::new(sealer))
            .with_api_key(&SecretString::from(Self::RECEIVER_API_KEY))
            .expect("a constant that a header can carry");
        self.0.emulator.endpoints().insert(endpoint);
    }

    /// Delivers a message once and returns the result. A delivery that fails is due again on the
    /// default schedule, at the bank's time: see [`FakeBank::deliver_due`].
    ///
    /// # Panics
    /// If there are no receivers, or if the message breaks the specification or a documented
    /// default.
    pub async fn deliver(&self, webhook: impl Into<Webhook>) -> Delivered {
        self.deliver_by(self.0.emulator.dispatcher(), webhook.into())
            .await
    }

    async fn deliver_by(&self, dispatcher: &Dispatcher, webhook: Webhook) -> Delivered {
        assert!(
            self.0.emulator.endpoints().contains(&receiver()),
            "the fake bank has no receivers: call `serve` or `send_to` before"
        );
        let Webhook { message, headers } = webhook;
        let kind = message.kind();
        let headers = headers.unwrap_or_else(|| samples::headers_with(kind, || self.0.ids.uuid()));
        let message_id = headers.message_id;
        // Counted before the message is stored, because another task may deliver it at once.
        let before = self.0.emulator.calls().count();
        if let Err(error) = dispatcher.enqueue(&receiver(), &message, headers).await {
            panic!("the fake bank does not send this message: {error}");
        }
        loop {
            // Repeated, because messages that were due before may be leased first.
            let made = dispatcher
                .run_once()
                .await
                .expect("an outbox in memory does not fail");
            let own = |delivered: &Delivered| delivered.message_id == message_id;
            if let Some(delivered) = self.delivered_since(before).into_iter().find(own) {
                return delivered;
            }
            if made == 0 {
                return Delivered {
                    kind,
                    message_id,
                    status: None,
                    acknowledgement: None,
                };
            }
        }
    }

    /// The deliveries after the call with this number, the oldest first.
    fn delivered_since(&self, number: u64) -> Vec<Delivered> {
        let calls = self.0.emulator.calls().since(number);
        calls.iter().rev().filter_map(Delivered::of).collect()
    }

    /// Makes the deliveries that are due at the bank's time, for example after the clock was
    /// advanced, and returns their number.
    pub async fn deliver_due(&self) -> usize {
        let mut made = 0;
        loop {
            match self
                .0
                .emulator
                .dispatcher()
                .run_once()
                .await
                .expect("an outbox in memory does not fail")
            {
                0 => return made,
                more => made += more,
            }
        }
    }

    /// Repeats the delivery of a message under the same message id, newly sealed, like a bank that
    /// missed the answer. The message must have its headers: keep a [`Webhook`] of a story, or one
    /// made by [`Webhook::new`].
    ///
    /// # Panics
    /// As [`FakeBank::deliver`], and without headers.
    pub async fn deliver_again(&self, webhook: &Webhook) -> Delivered {
        assert!(
            webhook.headers.is_some(),
            "expected a webhook with headers, found a message alone"
        );
        // The outbox knows the message id and would not send it twice, so that another one is
        // needed.
        let (outbox, endpoints) = (
            Arc::new(MemoryStore::new().outbox()),
            self.0.emulator.endpoints().clone(),
        );
        let dispatcher = Dispatcher::new(
            outbox,
            endpoints,
            self.0.emulator.transport.clone(),
            dispatcher_options().clock(self.clock()),
        );
        self.deliver_by(
            &dispatcher.expect("the operating system has random bytes"),
            webhook.clone(),
        )
        .await
    }

    /// Delivers a message that conflicts with the given one: the same duplicate key, other content,
    /// and its own message id.
    ///
    /// # Panics
    /// As [`FakeBank::deliver`].
    pub async fn deliver_conflict(&self, webhook: impl Into<Webhook>) -> Delivered {
        let conflict = webhook.into().contradicted(self.0.ids.uuid());
        self.deliver(conflict).await
    }

    /// Delivers again to receivers that have answered 410 or asked for a pause.
    pub async fn resume(&self) {
        self.0
            .emulator
            .dispatcher()
            .resume(&receiver())
            .await
            .expect("an outbox in memory does not fail");
    }

    /// Returns the deliveries so far, oldest first; the last 10,000.
    #[must_use]
    pub fn deliveries(&self) -> Vec<Delivered> {
        self.delivered_since(0)
    }

    /// Returns an opener of the bank's deliveries with the present keys: the customer's decryption
    /// keys and the bank's verifying keys, old and new.
    #[must_use]
    pub fn opener(&self) -> Opener {
        let decryption =
            KeySet::new(self.decryption_keys()).expect("each key has an id of its own");
        let verifying = KeySet::new(self.verifying_keys()).expect("each key has an id of its own");
        Opener::new(decryption, verifying, OpenOptions::new())
            .expect("the bank signs with 2048 bits")
    }

    /// Returns the public halves of the keys that the bank has signed with, the oldest first.
    #[must_use]
    pub fn verifying_keys(&self) -> Vec<VerifyingKey> {
        self.0.webhooks.keys.verifying()
    }

    /// Returns the same keys as a JWK set (RFC 7517 section 5).
    #[must_use]
    pub fn jwk_set(&self) -> String {
        KeySet::new(self.verifying_keys())
            .expect("each key has an id of its own")
            .to_jwk_set()
    }

    /// Returns the customer's keys that the bank has encrypted to, the oldest first.
    #[must_use]
    pub fn decryption_keys(&self) -> Vec<DecryptionKey> {
        self.0.webhooks.keys.decryption()
    }

    /// Signs with a new key from now on. An opener that was made before does not have the new key.
    pub fn rotate_signing_key(&self) {
        let Webhooks { signing, keys, .. } = &self.0.webhooks;
        signing.replace(keys.add_signing());
    }

    /// Encrypts to a new key of the customer from now on. An opener that was made before does not
    /// have the new key.
    pub fn rotate_encryption_key(&self) {
        let Webhooks {
            encryption, keys, ..
        } = &self.0.webhooks;
        encryption.replace(keys.add_encryption());
    }
}
