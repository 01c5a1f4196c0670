//! The operations that send, list and resend the bank's messages to its customers.

use super::{Arguments, Control, ControlError};
use crate::ids::Ids;
use crate::story::story;
use crate::webhook::Webhook;
use bankrail_mailbox::{
    DeliveryNote, DeliveryRecord, DropOutcome, EndpointId, EntryId, Intervention, OutboxQuery,
    OutboxState, OutboxSummary, Outgoing,
};
use bankrail_service::delivery::EnqueueError;
use bankrail_values::{Clock as _, HyphenatedUuid, StoreErrorKind, causes, excerpt};
use bankrail_webhook::{Message, samples};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// The age of a story's beginning: each story has a message a day.
const STORY_AGE: Duration = Duration::from_secs(10 * 24 * 3600);

/// The maximum wait of [`Control::send`], which is less than a server allows for a request.
const MAX_WAIT_SECONDS: u64 = 50;

/// The pause between two looks at a message that is waited for.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

impl Control {
    pub(super) async fn messages(&self, arguments: &Arguments) -> Result<Value, ControlError> {
        let outbox = &self.0.emulator.outbox;
        let mut query = OutboxQuery::new();
        query.endpoint = arguments.parsed("endpoint")?;
        query.after = arguments.number("after").map(EntryId::new);
        query.state = arguments.text("state").and_then(|name| name.parse().ok());
        let found = outbox.list(&query).await?;
        let mut stopped = outbox.stopped_endpoints().await?;
        stopped.retain(|stopped| {
            let endpoint = query.endpoint.as_ref();
            endpoint.is_none_or(|endpoint| *endpoint == stopped.endpoint)
        });
        let stopped = stopped.iter().map(|stopped| {
            json!({
                "endpoint": stopped.endpoint.as_str(),
                "since": stopped.since.to_string(),
                "by": stopped.intervention.by.as_ref(),
                "reason": stopped.intervention.reason.as_ref(),
            })
        });
        Ok(json!({
            "messages": found.iter().map(shown).collect::<Vec<_>>(),
            "stopped": stopped.collect::<Vec<_>>(),
        }))
    }

    pub(super) async fn message(&self, arguments: &Arguments) -> Result<Value, ControlError> {
        let outbox = &self.0.emulator.outbox;
        let id = number(arguments);
        let summary = outbox.summary(id).await?.ok_or_else(|| unknown(id))?;
        let deliveries = outbox.deliveries(id).await?;
        let delivery = |delivery: &DeliveryRecord| {
            json!({
                "at": delivery.started_at.to_string(),
                "status": delivery.status,
                "outcome": outcome(delivery),
            })
        };
        let dropped = summary.dropped.as_ref();
        let dropped = dropped.map(
            |Intervention { by, reason }| json!({ "by": by.as_ref(), "reason": reason.as_ref() }),
        );
        let mut message = Value::Null;
        if arguments.flag("body") {
            let entry = outbox.find(id).await?.ok_or_else(|| unknown(id))?;
            message = serde_json::from_slice(&entry.message.body)
                .map_err(|error| ControlError::Failed(causes(&error)))?;
        }
        let mut answer = shown(&summary);
        if let Some(members) = answer.as_object_mut() {
            members.insert(
                "enqueued".to_owned(),
                summary.enqueued_at.to_string().into(),
            );
            let deliveries: Value = deliveries.iter().map(delivery).collect();
            members.insert("deliveries".to_owned(), deliveries);
            members.insert("dropped".to_owned(), dropped.into());
            members.insert("message".to_owned(), message);
        }
        Ok(answer)
    }

    /// Stores all messages, or none if the check of one fails.
    pub(super) async fn send(&self, arguments: &Arguments) -> Result<Value, ControlError> {
        let dispatcher = self.0.emulator.dispatcher();
        let endpoint = endpoint(arguments)?;
        let wait = arguments.number("wait").unwrap_or_default();
        if wait > MAX_WAIT_SECONDS {
            return Err(ControlError::Wrong(format!(
                "wait: expected at most {MAX_WAIT_SECONDS}, found {wait}"
            )));
        }
        // Prepares all messages before the first is stored, so that a wrong message does not leave
        // others stored.
        let mut outgoing = Vec::new();
        let (messages, seed) = self.messages_to_send(arguments)?;
        for Webhook { message, headers } in messages {
            let headers = headers
                .unwrap_or_else(|| samples::headers_with(message.kind(), HyphenatedUuid::random));
            let prepared = dispatcher.prepare(&endpoint, &message, headers).await;
            outgoing.push(prepared.map_err(|error| match &error {
                EnqueueError::UnknownEndpoint { .. } => ControlError::Unknown(causes(&error)),
                _ => ControlError::Wrong(causes(&error)),
            })?);
        }
        let mut numbers = Vec::with_capacity(outgoing.len());
        if wait == 0 {
            for message in &outgoing {
                numbers.push(self.enqueue(message).await?.get());
            }
            // Wakes the dispatcher, because the messages were stored without it.
            dispatcher.wake();
            return Ok(json!({ "numbers": numbers, "seed": seed }));
        }
        let end = Instant::now() + Duration::from_secs(wait);
        let (mut outcomes, mut all_delivered) = (Vec::with_capacity(outgoing.len()), true);
        for message in &outgoing {
            let id = self.enqueue(message).await?;
            dispatcher.wake();
            let (is_delivered, outcome) = self.first_delivery(id, &endpoint, end).await?;
            all_delivered &= is_delivered;
            numbers.push(id.get());
            outcomes.push(format!("message {id}: {outcome}"));
        }
        if all_delivered {
            Ok(json!({ "numbers": numbers, "outcomes": outcomes, "seed": seed }))
        } else {
            Err(ControlError::NotSo(outcomes.join("; ")))
        }
    }

    /// Returns the messages that `send` is asked for, and the seed of their story.
    fn messages_to_send(
        &self,
        arguments: &Arguments,
    ) -> Result<(Vec<Webhook>, Option<u64>), ControlError> {
        let seed = arguments.seed();
        let start = self.0.clock.now().saturating_sub(STORY_AGE);
        let name = arguments.text("story");
        match (
            arguments.object("message"),
            name.and_then(|name| story(name, seed, start)),
        ) {
            (Some(json), None) => {
                let read = Message::from_json_of_any_kind(json.as_bytes()).ok_or_else(|| {
                    ControlError::Wrong(
                        "message: expected one of the four kinds, found something else".to_owned(),
                    )
                })?;
                Ok((vec![read.message.into()], None))
            }
            (None, Some(mut messages)) => {
                if arguments.flag("shuffled") {
                    let ids = Ids::new(seed);
                    messages.sort_by_cached_key(|_| ids.number());
                }
                Ok((messages, Some(seed)))
            }
            _ => Err(ControlError::Wrong(
                "expected either a message or a story".to_owned(),
            )),
        }
    }

    async fn enqueue(&self, message: &Outgoing) -> Result<EntryId, ControlError> {
        let enqueued = self.0.emulator.outbox.enqueue(message, self.0.clock.now());
        match enqueued.await {
            Ok(enqueued) => Ok(enqueued.id()),
            Err(error) if error.kind() == StoreErrorKind::Conflict => Err(ControlError::Wrong(
                "seed: expected a seed that no story has used, found one whose messages are in \
                 the outbox; leave it out, or reset the bank"
                    .to_owned(),
            )),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits for the first delivery of a message. Returns true if the message is delivered, with a
    /// description of the answer or of the obstacle.
    async fn first_delivery(
        &self,
        id: EntryId,
        endpoint: &EndpointId,
        end: Instant,
    ) -> Result<(bool, String), ControlError> {
        let outbox = &self.0.emulator.outbox;
        loop {
            // Reads the deliveries first, so that the state that is read afterwards is not older.
            if let Some(delivery) = outbox.deliveries(id).await?.last() {
                let summary = outbox.summary(id).await?.ok_or_else(|| unknown(id))?;
                let is_delivered = summary.state == OutboxState::Delivered;
                let stays = if is_delivered {
                    ""
                } else {
                    "; it stays in the outbox"
                };
                return Ok((is_delivered, format!("{}{stays}", outcome(delivery))));
            }
            if let Some(why) = self.held(endpoint).await? {
                // The answer to this message may itself have paused the endpoint. In that case, the
                // message is leased until the answer is recorded.
                let summary = outbox.summary(id).await?.ok_or_else(|| unknown(id))?;
                let is_leased = summary
                    .leased_until
                    .is_some_and(|until| self.0.clock.now() < until);
                if !is_leased && outbox.deliveries(id).await?.is_empty() {
                    return Ok((false, format!("stored, and waits: {why}")));
                }
            }
            if Instant::now() >= end {
                return Ok((false, "stored, and not delivered in time".to_owned()));
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Returns the reason why nothing is delivered to an endpoint now, if there is one.
    async fn held(&self, endpoint: &EndpointId) -> Result<Option<String>, ControlError> {
        let outbox = &self.0.emulator.outbox;
        let stopped = outbox.stopped_endpoints().await?;
        if let Some(stopped) = stopped.iter().find(|of| of.endpoint == *endpoint) {
            let Intervention { by, reason } = &stopped.intervention;
            return Ok(Some(format!(
                "the endpoint is stopped since {} by {}: {}; resume it",
                stopped.since,
                by.as_ref(),
                reason.as_ref()
            )));
        }
        let circuits = outbox.circuits().await?;
        let circuit = circuits.iter().find(|of| of.endpoint == *endpoint);
        let until = circuit
            .filter(|of| of.circuit.is_held(self.0.clock.now()))
            .and_then(|of| of.circuit.held_until());
        Ok(until.map(|until| {
            format!("deliveries to the endpoint failed, and are paused until {until}; resume it")
        }))
    }

    pub(super) async fn resend(&self, arguments: &Arguments) -> Result<Value, ControlError> {
        let endpoint: Option<EndpointId> = arguments.parsed("endpoint")?;
        match (arguments.number("number"), endpoint) {
            (Some(number), None) => self.resend_one(EntryId::new(number)).await,
            (None, Some(endpoint)) => {
                let dispatcher = self.0.emulator.dispatcher();
                let resent = match arguments.instant("since")? {
                    Some(since) => {
                        let until = arguments.instant("until")?;
                        let until = until.unwrap_or_else(|| self.0.clock.now());
                        dispatcher.resend_delivered(&endpoint, since, until).await?
                    }
                    None => dispatcher.resend_all(&endpoint).await?,
                };
                Ok(json!({ "resent": resent }))
            }
            _ => Err(ControlError::Wrong(
                "expected either a number or an endpoint".to_owned(),
            )),
        }
    }

    async fn resend_one(&self, id: EntryId) -> Result<Value, ControlError> {
        let emulator = &self.0.emulator;
        if emulator.dispatcher().resend(id).await? {
            return Ok(json!({ "resent": 1 }));
        }
        let summary = emulator.outbox.summary(id).await?;
        let state = summary.ok_or_else(|| unknown(id))?.state.as_str();
        Err(ControlError::Wrong(format!(
            "expected a message that was delivered or given up, found one that is {state}"
        )))
    }

    pub(super) async fn drop_message(&self, arguments: &Arguments) -> Result<Value, ControlError> {
        let id = number(arguments);
        let dispatcher = self.0.emulator.dispatcher();
        match dispatcher.drop_entry(id, &intervention(arguments)?).await? {
            DropOutcome::Dropped => Ok(json!({})),
            DropOutcome::Leased { until } => Err(ControlError::Wrong(format!(
                "expected a message that is not being delivered, found one that is until {until}"
            ))),
            DropOutcome::NotOpen => {
                let summary = self.0.emulator.outbox.summary(id).await?;
                let state = summary.ok_or_else(|| unknown(id))?.state.as_str();
                Err(ControlError::Wrong(format!(
                    "expected a message to deliver, found one that is {state}"
                )))
            }
        }
    }

    pub(super) async fn pause(&self, arguments: &Arguments) -> Result<Value, ControlError> {
        let endpoint = endpoint(arguments)?;
        if !self.0.emulator.endpoints().contains(&endpoint) {
            return Err(ControlError::Unknown(format!(
                "expected an endpoint of a customer, found {}",
                excerpt(endpoint.as_str())
            )));
        }
        let dispatcher = self.0.emulator.dispatcher();
        dispatcher
            .stop(&endpoint, &intervention(arguments)?)
            .await?;
        Ok(json!({}))
    }

    pub(super) async fn resume(&self, arguments: &Arguments) -> Result<Value, ControlError> {
        let endpoint = endpoint(arguments)?;
        let emulator = &self.0.emulator;
        let was_stopped = emulator.dispatcher().resume(&endpoint).await?;
        let waiting = emulator.outbox.counts(Some(&endpoint)).await?.pending;
        Ok(json!({ "was_stopped": was_stopped, "waiting": waiting }))
    }
}

pub(super) fn missing(name: &str) -> ControlError {
    ControlError::Wrong(format!("expected {name}, found none"))
}

fn number(arguments: &Arguments) -> EntryId {
    EntryId::new(arguments.number("number").unwrap_or_default())
}

fn endpoint(arguments: &Arguments) -> Result<EndpointId, ControlError> {
    arguments
        .parsed("endpoint")?
        .ok_or_else(|| missing("endpoint"))
}

fn intervention(arguments: &Arguments) -> Result<Intervention, ControlError> {
    let wrong = |error: &dyn std::error::Error| ControlError::Wrong(causes(error));
    let [by, reason] = ["by", "reason"].map(|name| arguments.text(name));
    let by = by.unwrap_or("operator").parse();
    let reason = reason.unwrap_or_default().parse();
    Ok(Intervention {
        by: by.map_err(|error| wrong(&error))?,
        reason: reason.map_err(|error| wrong(&error))?,
    })
}

fn unknown(id: EntryId) -> ControlError {
    ControlError::Unknown(format!("expected the number of a message, found {id}"))
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

/// Describes the result of a delivery.
fn outcome(record: &DeliveryRecord) -> String {
    let what = match (record.note, record.status) {
        (None, _) => "delivered",
        (Some(DeliveryNote::TimedOut), _) => "no answer in time",
        (Some(DeliveryNote::NoConnection), _) => {
            "no connection: nobody listens there, the name is unknown, or the address is not public"
        }
        (Some(DeliveryNote::Tls), _) => {
            "the TLS handshake failed: the receiver's certificate is of no authority that the \
             provider trusts, of another host, or that of an authority itself (CA:TRUE), or the \
             receiver asks for a client certificate; the provider's log says which"
        }
        (Some(DeliveryNote::Broken), _) => {
            "the connection broke before the answer was complete: a receiver sends \
             Content-Length, or ends TLS properly"
        }
        (Some(DeliveryNote::Redirected), _) => "redirected, which is not followed",
        (Some(DeliveryNote::Refused), Some(401 | 403)) => {
            "refused: the receiver expects another API key"
        }
        (Some(DeliveryNote::Refused), _) => "refused",
        (Some(DeliveryNote::Unacknowledged), _) => {
            "not acknowledged: expected a body with the status RCVD"
        }
        (Some(DeliveryNote::Gone), _) => "gone: the endpoint is stopped until it is resumed",
        (Some(DeliveryNote::NotSealed), _) => "the message could not be sealed",
        (Some(_), _) => "the delivery failed",
    };
    let status = record
        .status
        .map_or_else(String::new, |status| format!("status {status}, "));
    format!("{status}{what}, after {} ms", record.duration.as_millis())
}
