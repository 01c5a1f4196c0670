//! Deliveries of the fake bank to its customer's receivers.

use super::{FakeBank, Webhooks, dispatcher_options};
use crate::ids::Ids;
use crate::keys::WebhookKeys;
use crate::listener::{Bound, OwnCertificate};
use crate::transport::Recording;
use crate::webhook::{Delivered, Webhook};
use axum::Router;
use bankrail_jose::{DecryptionKey, KeySet, VerifyingKey};
use bankrail_mailbox::EndpointId;
use bankrail_secured_payload::{OpenOptions, Opener, SealOptions, Sealer};
use bankrail_service::delivery::{
    Dispatcher, Endpoint, EndpointUrl, HttpsTransport, HttpsTransportOptions, TlsRoots, Transport,
};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::SecretString;
use bankrail_webhook::{DeliveryHeaders, samples};
use std::sync::{Arc, Mutex, PoisonError};

/// Returns the name of the only receiver.
fn receiver() -> EndpointId {
    "receiver".parse().expect("a short text")
}

impl Webhooks {
    pub(super) fn new(ids: &Arc<Ids>, certificate: Option<&OwnCertificate>) -> Self {
        let keys = WebhookKeys::new();
        let (signing, encryption) = keys.current();
        let options = match certificate {
            Some(own) => HttpsTransportOptions::new()
                .tls_roots(TlsRoots::OnlyPem(own.authority_pem.clone().into())),
            None => HttpsTransportOptions::new(),
        };
        let https = HttpsTransport::new(options).expect("the bank's own certificate is readable");
        Self {
            sealer: Sealer::new(signing, encryption, SealOptions::new()),
            keys,
            transport: Arc::new(Recording::new(https)),
            ids: ids.clone(),
            withheld: Mutex::default(),
            served: Mutex::default(),
        }
    }

    pub(super) fn transport(&self) -> Arc<dyn Transport> {
        Arc::clone(&self.transport) as _
    }

    /// The webhook with headers.
    fn addressed(&self, webhook: Webhook) -> (Webhook, DeliveryHeaders) {
        let headers = webhook
            .headers
            .unwrap_or_else(|| samples::headers_with(webhook.message.kind(), || self.ids.uuid()));
        (
            Webhook {
                headers: Some(headers),
                ..webhook
            },
            headers,
        )
    }

    async fn deliver(&self, dispatcher: &Dispatcher, webhook: Webhook) -> Delivered {
        let (webhook, headers) = self.addressed(webhook);
        // Counted before the message is stored, because another task may deliver it at once.
        let before = self.transport.count();
        if let Err(error) = dispatcher
            .enqueue(&receiver(), &webhook.message, headers)
            .await
        {
            panic!("the fake bank does not send this message: {error}");
        }
        loop {
            // Repeated, because messages that were due before may be leased first.
            let made = dispatcher
                .run_once()
                .await
                .expect("an outbox in memory does not fail");
            let own = |delivered: &Delivered| delivered.message_id == headers.message_id;
            if let Some(delivered) = self.transport.since(before).into_iter().find(own) {
                return delivered;
            }
            if made == 0 {
                let (kind, message_id) = (webhook.message.kind(), headers.message_id);
                return Delivered {
                    kind,
                    message_id,
                    status: None,
                    acknowledgement: None,
                };
            }
        }
    }
}

/// Deliveries of webhooks to one receiver. Every delivery is real, and its message is sealed again.
impl FakeBank {
    /// Serves the customer's receivers, such as the router of `bankrail-client`, on loopback, with
    /// TLS if the bank has it, and delivers to them from now on. Returns their base address. They
    /// are served as long as the bank.
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

    /// Delivers to receivers at this base address from now on: `http` on loopback, or `https` with
    /// the bank's own certificate.
    ///
    /// # Panics
    /// If the address is neither.
    #[track_caller]
    pub fn send_to(&self, base_url: &str) {
        let base = EndpointUrl::danger_allow_http_on_loopback(base_url);
        let base = base.unwrap_or_else(|error| panic!("receivers at {base_url}: {error}"));
        let endpoint = Endpoint::new(receiver(), base, Arc::new(self.0.webhooks.sealer.clone()))
            .with_api_key(&SecretString::from(Self::RECEIVER_API_KEY))
            .expect("a constant that a header can carry");
        self.0.emulator.endpoints().insert(endpoint);
    }

    /// Delivers a message once and returns what became of it. A delivery that fails is due again on
    /// the default schedule, at the bank's time: see [`FakeBank::deliver_due`].
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
        self.0.webhooks.deliver(dispatcher, webhook).await
    }

    /// Makes the deliveries that are due at the bank's time, as after the clock was advanced, and
    /// returns their number.
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
        let webhooks = &self.0.webhooks;
        // The outbox knows the message id and would not send it twice, so that another one is
        // needed.
        let (outbox, endpoints) = (
            Arc::new(MemoryStore::new().outbox()),
            self.0.emulator.endpoints().clone(),
        );
        let dispatcher = Dispatcher::new(
            outbox,
            endpoints,
            webhooks.transport(),
            dispatcher_options().clock(self.clock()),
        );
        self.deliver_by(
            &dispatcher.expect("the operating system has random bytes"),
            webhook.clone(),
        )
        .await
    }

    /// Delivers a message that conflicts with this one: it has the same duplicate key, other
    /// content, and its own message id.
    ///
    /// # Panics
    /// As [`FakeBank::deliver`].
    pub async fn deliver_conflict(&self, webhook: impl Into<Webhook>) -> Delivered {
        let conflict = webhook.into().contradicted(self.0.webhooks.ids.uuid());
        self.deliver(conflict).await
    }

    /// Keeps a message back until [`FakeBank::release`].
    pub fn withhold(&self, webhook: impl Into<Webhook>) {
        self.0
            .webhooks
            .withheld
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(webhook.into());
    }

    /// Delivers the messages that were kept back, in their order.
    ///
    /// # Panics
    /// As [`FakeBank::deliver`].
    pub async fn release(&self) -> Vec<Delivered> {
        self.release_reordered(|_| {}).await
    }

    /// Delivers the messages that were kept back in the order into which `reorder` brings them.
    ///
    /// ```no_run
    /// # async fn example(bank: bankrail_emulator::FakeBank) {
    /// bank.release_reordered(|withheld| withheld.reverse()).await;
    /// # }
    /// ```
    ///
    /// # Panics
    /// As [`FakeBank::deliver`].
    pub async fn release_reordered(
        &self,
        reorder: impl FnOnce(&mut Vec<Webhook>),
    ) -> Vec<Delivered> {
        // Taken out, so that no lock is held while receivers answer.
        let mut withheld = std::mem::take(
            &mut *self
                .0
                .webhooks
                .withheld
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        reorder(&mut withheld);
        let mut delivered = Vec::with_capacity(withheld.len());
        for webhook in withheld {
            delivered.push(self.deliver(webhook).await);
        }
        delivered
    }

    /// Loses the answers to the next deliveries, after the receivers have made them: the bank
    /// delivers these messages again when they are due.
    pub fn lose_answers(&self, deliveries: usize) {
        self.0.webhooks.transport.lose(deliveries);
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

    /// The deliveries so far, oldest first; the last 10,000.
    #[must_use]
    pub fn deliveries(&self) -> Vec<Delivered> {
        self.0.webhooks.transport.since(0)
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

    /// The public halves of the keys that the bank has signed with, the oldest first.
    #[must_use]
    pub fn verifying_keys(&self) -> Vec<VerifyingKey> {
        self.0.webhooks.keys.verifying()
    }

    /// The same keys as a JWK set (RFC 7517 section 5).
    #[must_use]
    pub fn jwk_set(&self) -> String {
        KeySet::new(self.verifying_keys())
            .expect("each key has an id of its own")
            .to_jwk_set()
    }

    /// The customer's keys that the bank has encrypted to, the oldest first.
    #[must_use]
    pub fn decryption_keys(&self) -> Vec<DecryptionKey> {
        self.0.webhooks.keys.decryption()
    }

    /// Signs with a new key from now on. An opener that was made before does not have it.
    pub fn rotate_signing_key(&self) {
        self.0
            .webhooks
            .sealer
            .replace_signing_key(self.0.webhooks.keys.add_signing());
    }

    /// Encrypts to a new key of the customer from now on. An opener that was made before does not
    /// have it.
    pub fn rotate_encryption_key(&self) {
        self.0
            .webhooks
            .sealer
            .replace_encryption_key(self.0.webhooks.keys.add_encryption());
    }
}
