//! One valid message for each status, trigger and case type, for documentation and tests.
//!
//! Names, accounts and identifiers are made up. No sample has a finding, and no two contradict each
//! other: samples with the same duplicate key have the same content, and those of one mandate or
//! payment are consistent. All samples have the same time, so their order has no meaning.

use crate::message::mandate_notification::MandateNotification;
use crate::message::mandate_outcome::MandateActionOutcome;
use crate::message::payment_outcome::PaymentOutcome;
use crate::message::query_notification::QueryNotification;
use crate::*;
use bankrail_values::json::{JsonLimits, JsonValue};

/// Parses a constant of this file.
fn constant<T: std::str::FromStr>(text: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    text.parse().expect("a sample's constant is well formed")
}

/// Reads each sample of a kind with `read`.
fn read_all<T>(
    kind: MessageKind,
    read: impl Fn(&JsonValue<'_>, &MessageReadOptions) -> Result<ParsedMessage<T>, MessageError>,
) -> Vec<T> {
    let file = bankrail_values::json::read(kind.samples().as_bytes(), &JsonLimits::new());
    let Ok(JsonValue::Array(samples)) = file else {
        unreachable!("a file of samples is an array of messages");
    };
    let sample = |value| {
        let parsed = read(value, &MessageReadOptions::default());
        parsed.expect("a sample is well formed").message
    };
    samples.iter().map(sample).collect()
}

fn messages<M: WebhookMessage>() -> Vec<M> {
    read_all(M::KIND, M::from_value)
}

/// Returns every sample: all action types with all action statuses, all severities, triggers,
/// status changes, transaction statuses and case types.
#[must_use]
pub fn all() -> Vec<Message> {
    MessageKind::ALL.into_iter().flat_map(of).collect()
}

/// Returns the samples of one kind.
#[must_use]
pub fn of(kind: MessageKind) -> Vec<Message> {
    read_all(kind, |value, options| {
        Message::read_as(kind, value, options)
    })
}

/// Returns the mandate of the samples; refused creations are of other mandates.
#[must_use]
pub fn mandate_id() -> MandateId {
    constant("0b7c2f6e8a1d11eb8dcd0242ac130003")
}

/// Returns the action that created the mandate of the samples.
#[must_use]
pub fn action_id() -> ActionId {
    constant("5e1f0a728a1d11eb8dcd0242ac130003")
}

/// Returns the headers of a sample, with the keys of an original request if the kind has them.
#[must_use]
pub fn headers(kind: MessageKind) -> DeliveryHeaders {
    let mut ids = [
        "9f0c6f2a-3c1b-4a56-9d5e-0c1f7d8b2a11",
        "2d1e8c34-7f60-4b1f-8a3d-5b9c0e6f7a21",
        "7a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d",
    ]
    .into_iter();
    headers_with(kind, || {
        constant(
            ids.next()
                .expect("a delivery has three identifiers at most"),
        )
    })
}

/// Returns the headers of a delivery. `id` makes the identifiers: the message id first, then the
/// keys of an original request if the kind has them.
#[must_use]
pub fn headers_with(
    kind: MessageKind,
    mut id: impl FnMut() -> bankrail_values::HyphenatedUuid,
) -> DeliveryHeaders {
    let message_id = id();
    let headers = if kind.answers_a_request() {
        let request = sender::OriginalRequest::new(id()).with_correlation_id(id());
        DeliveryHeaders::answering(&request, message_id)
    } else {
        DeliveryHeaders::new(message_id)
    };
    headers.priority(Priority::Unattended)
}

/// Returns the successful outcome of an action with this status. A creation that was declined,
/// recalled or timed out leaves the mandate cancelled; any other such action leaves it unchanged.
/// For an unknown code, returns the outcome of another action.
#[must_use]
pub fn mandate_outcome(
    action_type: &ActionType,
    action_status: &ActionStatus,
) -> MandateActionOutcome {
    let (action_type, action_status) = (Some(action_type.clone()), Some(action_status.clone()));
    let mut outcome = pick(|outcome: &MandateActionOutcome| {
        outcome.action_type == action_type && outcome.action_status == action_status
    });
    outcome.action_type = action_type;
    outcome.action_status = action_status;
    outcome
}

/// Returns the outcome of an action that was rejected.
#[must_use]
pub fn rejected_mandate_outcome(severity: &ErrorSeverity) -> MandateActionOutcome {
    let is_it = |error: &OutcomeErrorDetails| error.severity.as_ref() == Some(severity);
    pick(|outcome: &MandateActionOutcome| outcome.error.as_ref().is_some_and(is_it))
}

/// Returns the notification of a trigger, with the values that go with it. `None` for an unknown
/// trigger.
#[must_use]
pub fn mandate_notification(trigger: &Trigger) -> Option<MandateNotification> {
    let mut samples = messages::<MandateNotification>().into_iter();
    samples.find(|sample| sample.trigger == *trigger)
}

/// Returns the notification of a change of status: to cancelled, active or suspended. `None` for an
/// unknown change.
#[must_use]
pub fn status_change(change: &StatusChangeCode) -> Option<MandateNotification> {
    let is_it = |sample: &MandateNotification| {
        let details = sample.details.as_ref().map(|details| &details.change);
        matches!(details, Some(Change::StatusChange(of)) if of.change.as_ref() == Some(change))
    };
    // Searches from the end, because the first match is the sample of the trigger.
    let mut samples = messages::<MandateNotification>().into_iter().rev();
    samples.find(is_it)
}

/// Returns the outcome of a payment with this status. The rejected payment, which has a reason, is
/// another one than the rest.
#[must_use]
pub fn payment_outcome(status: &TransactionStatus) -> PaymentOutcome {
    let mut outcome = pick(|outcome: &PaymentOutcome| outcome.transaction_status == *status);
    outcome.transaction_status = status.clone();
    outcome
}

/// Returns a query about a mandate or about its payments.
#[must_use]
pub fn query(case_type: &CaseType) -> QueryNotification {
    let mut query = pick(|query: &QueryNotification| query.case_type == *case_type);
    query.case_type = case_type.clone();
    query
}

/// Returns the sample that satisfies `is_it`; if there is none, because a code is unknown, the
/// first of the kind.
fn pick<M: WebhookMessage>(is_it: impl Fn(&M) -> bool) -> M {
    let mut samples = messages();
    let at = samples.iter().position(is_it).unwrap_or_default();
    samples.swap_remove(at)
}
