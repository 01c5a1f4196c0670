//! The bank's messages to its customers, as the control sends them.

use super::{Arguments, Control, ControlError};
use crate::ids::Ids;
use crate::story::{MandateStory, PaymentStory, bad_week};
use crate::webhook::{Webhook, fresh_headers, read_any};
use crate::webhooks::dispatcher_options;
use bankrail_mailbox::{EndpointId, EntryId, Outbox as _, OutboxQuery, OutboxState, OutboxSummary};
use bankrail_service::delivery::{Dispatcher, EnqueueError};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::{Clock as _, HyphenatedUuid, Timestamp, causes};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

type Life = fn(u64, Timestamp) -> Vec<Webhook>;

const STORIES: [(&str, Life); 11] = [
    ("mandate", MandateStory::life),
    ("mandate-declined", MandateStory::declined_life),
    ("mandate-expired", MandateStory::expired_life),
    ("mandate-amended", MandateStory::amended_life),
    ("mandate-ported", MandateStory::ported_life),
    ("mandate-queried", MandateStory::queried_life),
    ("payment", PaymentStory::life),
    ("payment-same-day", PaymentStory::same_day_life),
    ("payment-delayed", PaymentStory::delayed_life),
    ("payment-rejected", PaymentStory::rejected_life),
    ("bad-week", bad_week),
];

/// How long ago a story began: each has a message a day.
const STORY: Duration = Duration::from_secs(10 * 24 * 3600);

impl Control {
    pub(super) async fn messages(&self, arguments: &Arguments) -> Result<Value, ControlError> {
        let mut query = OutboxQuery::new();
        query.endpoint = arguments.parsed("endpoint")?;
        query.after = arguments.number("after").map(EntryId::new);
        let states: Vec<_> = OutboxState::ALL
            .iter()
            .map(|state| state.as_str())
            .collect();
        query.state = arguments
            .one_of("state", &states)?
            .and_then(OutboxState::from_name);
        let found = self.0.emulator.outbox.list(&query).await?;
        Ok(json!({ "messages": found.iter().map(shown).collect::<Vec<_>>() }))
    }

    /// Stores the messages, all or none of them as far as they can be checked before.
    pub(super) async fn send(&self, arguments: &Arguments) -> Result<Value, ControlError> {
        let endpoint: EndpointId = arguments
            .parsed("endpoint")?
            .ok_or_else(|| missing("endpoint"))?;
        let story = arguments.one_of("story", &STORIES.map(|(name, _)| name))?;
        let life = STORIES
            .iter()
            .find(|(name, _)| Some(*name) == story)
            .map(|(_, life)| life);
        let wrong = || {
            ControlError::Wrong(
                "message: expected one of the four kinds, found something else".to_owned(),
            )
        };
        let webhooks = match (arguments.object("message"), life) {
            (Some(message), None) => vec![read_any(message.as_bytes()).ok_or_else(wrong)?.into()],
            (None, Some(life)) => {
                let seed = arguments.number("seed").unwrap_or_default();
                let mut told = life(seed, self.0.clock.now().saturating_sub(STORY));
                if arguments.flag("shuffled") {
                    let ids = Ids::new(seed);
                    told.sort_by_cached_key(|_| ids.number());
                }
                told
            }
            _ => {
                return Err(ControlError::Wrong(
                    "expected either a message or a story".to_owned(),
                ));
            }
        };
        let (emulator, dispatcher) = (&self.0.emulator, self.0.emulator.dispatcher());
        let mut outgoing = Vec::with_capacity(webhooks.len());
        for Webhook { message, headers } in webhooks {
            let headers =
                headers.unwrap_or_else(|| fresh_headers(message.kind(), HyphenatedUuid::random));
            let prepared = dispatcher.prepare(&endpoint, &message, headers).await;
            outgoing.push(prepared.map_err(|error| match &error {
                EnqueueError::UnknownEndpoint { .. } => ControlError::Unknown(causes(&error)),
                _ => ControlError::Wrong(causes(&error)),
            })?);
        }
        let mut numbers = Vec::with_capacity(outgoing.len());
        for message in &outgoing {
            numbers.push(
                emulator
                    .outbox
                    .enqueue(message, self.0.clock.now())
                    .await?
                    .id()
                    .get(),
            );
        }
        dispatcher.wake();
        Ok(json!({ "numbers": numbers }))
    }

    pub(super) async fn resend(&self, number: u64) -> Result<Value, ControlError> {
        let (emulator, id) = (&self.0.emulator, EntryId::new(number));
        let unknown =
            || ControlError::Unknown(format!("expected the number of a message, found {number}"));
        let entry = emulator.outbox.find(id).await?.ok_or_else(unknown)?;
        match entry.state {
            OutboxState::DeadLetter => {
                emulator.dispatcher().resend(id).await?;
                Ok(json!({ "status": null }))
            }
            OutboxState::Delivered => {
                // The outbox knows the message id and would not send it twice, so that another one
                // is needed.
                let again = Arc::new(MemoryStore::new().outbox());
                let id = again
                    .enqueue(&entry.message, self.0.clock.now())
                    .await?
                    .id();
                let (endpoints, clock) = (emulator.endpoints().clone(), self.0.clock.clone());
                let options = dispatcher_options();
                let failed = |error: &dyn std::error::Error| ControlError::Failed(causes(error));
                let once = Dispatcher::new(
                    again.clone(),
                    endpoints,
                    emulator.transport.clone(),
                    clock,
                    options,
                );
                once.map_err(|error| failed(&error))?.run_once().await?;
                let made = bankrail_mailbox::OutboxOperator::deliveries(&*again, id).await?;
                Ok(json!({ "status": made.last().and_then(|delivery| delivery.status) }))
            }
            _ => Err(ControlError::Wrong(
                "expected a message that was delivered or given up, found another".to_owned(),
            )),
        }
    }
}

pub(super) fn missing(name: &str) -> ControlError {
    ControlError::Wrong(format!("expected {name}, found none"))
}

fn shown(message: &OutboxSummary) -> Value {
    json!({
        "number": message.id.get(),
        "endpoint": message.endpoint.as_str(),
        "kind": message.kind.as_str(),
        "message_id": message.message_id.to_string(),
        "state": message.state.as_str(),
        "due": (message.state == OutboxState::Pending).then(|| message.due.to_string()),
        "deliveries": message.deliveries,
    })
}
