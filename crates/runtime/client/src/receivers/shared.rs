//! The state that all receivers share.

use super::observe::{ObservedDelivery, ObservedOutcome};
use super::open::Opening;
use super::options::ReceiversOptions;
use bankrail_values::SecretString;
use bankrail_webhook::{DeliveryHeaders, MessageKind};
use http::{HeaderName, StatusCode};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

#[derive(Debug)]
pub(super) struct Shared<I: ?Sized> {
    pub(super) opening: Opening,
    pub(super) key_header: HeaderName,
    pub(super) api_key: SecretString,
    pub(super) inbox: Arc<I>,
    pub(super) options: ReceiversOptions,
    /// The maximum age of a message.
    pub(super) max_age: Option<Duration>,
    /// Wakes the workers when a new message is stored.
    pub(super) arrived: Arc<Notify>,
}

impl<I: ?Sized> Shared<I> {
    /// Tells the operator what became of a delivery.
    pub(super) fn observed(
        &self,
        kind: MessageKind,
        headers: Option<DeliveryHeaders>,
        outcome: ObservedOutcome,
        status: StatusCode,
    ) {
        if let Some(observer) = &self.options.observer {
            observer.tell(&ObservedDelivery {
                kind,
                headers,
                outcome,
                status: status.as_u16(),
            });
        }
    }
}
