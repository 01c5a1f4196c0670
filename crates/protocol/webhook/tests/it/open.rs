//! The open outcomes, and the times since which they are open.

use bankrail_values::Timestamp;
use bankrail_webhook::history::{History, MandateHistory, OpenOutcome, OpenState, PaymentHistory};
use bankrail_webhook::*;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_unix_millis(1_600_000_000_000 + seconds * 1000).unwrap()
}

fn payment(seconds: i64, status: &str) -> Message {
    let mut outcome = PaymentOutcome::new(at(seconds), status.into());
    outcome.instruction_identification = Some("I1".parse().unwrap());
    outcome.into()
}

fn action(number: u32) -> ActionId {
    format!("{number:012x}11eb8{:015x}", 1).parse().unwrap()
}

fn outcome(seconds: i64, number: u32, action_type: &str, status: &str) -> MandateActionOutcome {
    let mut outcome = MandateActionOutcome::new(at(seconds), OutcomeStatus::Succeeded);
    outcome.mandate_identification = Some("0b7c2f6e8a1d11eb8dcd0242ac130003".parse().unwrap());
    outcome.action_identification = Some(action(number));
    outcome.action_type = Some(action_type.into());
    outcome.action_status = Some(status.into());
    outcome
}

fn notified(seconds: i64, number: u32, trigger: Trigger) -> MandateNotification {
    let mut notification = samples::mandate_notification(&trigger).unwrap();
    notification.creation_date_time = at(seconds);
    notification.action_identification = action(number);
    notification
}

fn waits(state: OpenState, since: i64, due: i64) -> OpenOutcome {
    let mut open = OpenOutcome::new(state, at(since));
    open.due = at(due);
    open
}

/// Returns the open outcomes after these messages, in this order and in the reverse one, each
/// delivered once or twice.
fn open(of: &History, messages: &[Message]) -> Vec<OpenOutcome> {
    let apply = |messages: &mut dyn Iterator<Item = &Message>| {
        let mut history = of.clone();
        messages.for_each(|message| {
            history.apply(message);
        });
        let stored = History::from_json(history.to_json().as_bytes()).unwrap();
        assert_eq!(stored.open(), history.open(), "kept in a store");
        history.open()
    };
    let found = apply(&mut messages.iter());
    assert_eq!(apply(&mut messages.iter().rev()), found, "in reverse");
    assert_eq!(apply(&mut messages.iter().chain(messages)), found, "twice");
    found
}

fn of_payment(messages: &[(i64, &str)]) -> Vec<OpenOutcome> {
    let messages: Vec<_> = messages
        .iter()
        .map(|(seconds, status)| payment(*seconds, status))
        .collect();
    open(&History::Payment(PaymentHistory::new()), &messages)
}

fn of_mandate(messages: impl IntoIterator<Item = Message>) -> Vec<OpenOutcome> {
    let messages: Vec<_> = messages.into_iter().collect();
    open(&History::Mandate(MandateHistory::new()), &messages)
}

#[test]
fn a_payment_is_open_since_the_outcome_that_announces_another() {
    let (stored, settling) = (OpenState::Warehoused, OpenState::SettlementPending);
    for (messages, expected) in [
        (&[(5, "PDNG")][..], vec![waits(stored, 5, 5)]),
        (&[(5, "ACSP")], vec![waits(settling, 5, 5)]),
        (&[(5, "PDNG"), (9, "ACSP")], vec![waits(settling, 9, 9)]),
        // The earliest report counts, whichever came first.
        (&[(5, "PDNG"), (3, "PDNG")], vec![waits(stored, 3, 3)]),
        (&[(5, "PDNG"), (9, "ACSC")], vec![]),
        (&[(5, "PDNG"), (9, "RJCT")], vec![]),
        (&[(5, "ACSP"), (9, "ACSC")], vec![]),
        (&[(5, "ACSP"), (9, "RJCT")], vec![]),
        (&[(5, "ACSC")], vec![]),
        (&[(5, "RJCT")], vec![]),
        // A status of another version ends nothing.
        (&[(5, "ACSP"), (9, "XXXX")], vec![waits(settling, 5, 5)]),
        (&[], vec![]),
    ] {
        assert_eq!(of_payment(messages), expected, "{messages:?}");
    }
}

#[test]
fn an_action_of_each_type_is_open_until_its_end_in_each_status() {
    for action_type in ["AMND", "PORT", "STCH", "CREA"] {
        let pending = outcome(5, 1, action_type, "PEND");
        let expected = [waits(OpenState::Pending, 5, 5)];
        assert_eq!(
            of_mandate([pending.clone().into()]),
            expected,
            "{action_type}"
        );
        for status in ["CMPL", "DECL", "RECL", "TIMO"] {
            let ended = outcome(9, 1, action_type, status);
            let messages = [pending.clone().into(), ended.into()];
            assert_eq!(of_mandate(messages), [], "{action_type} {status}");
        }
        let mut rejected = outcome(9, 1, action_type, "PEND");
        rejected.status = OutcomeStatus::Rejected;
        let messages = [pending.clone().into(), rejected.into()];
        assert_eq!(of_mandate(messages), [], "{action_type} rejected");
    }
    // The earliest report counts, whichever came first.
    let twice = [5, 3].map(|seconds| outcome(seconds, 1, "AMND", "PEND").into());
    assert_eq!(of_mandate(twice), [waits(OpenState::Pending, 3, 3)]);
    let mut untyped = outcome(5, 1, "AMND", "PEND");
    untyped.action_type = None;
    untyped.mandate_status = Some(MandateStatus::Active);
    assert_eq!(of_mandate([untyped.into()]).len(), 1, "without a type");
}

#[test]
fn the_end_of_another_action_ends_nothing() {
    let first = outcome(5, 1, "AMND", "PEND");
    let second = outcome(6, 2, "PORT", "PEND");
    let both = [first.clone().into(), second.clone().into()];
    let expected = [5, 6].map(|since| waits(OpenState::Pending, since, since));
    assert_eq!(of_mandate(both.clone()), expected);
    let ended = outcome(9, 2, "PORT", "CMPL");
    let messages = both.into_iter().chain([ended.into()]);
    assert_eq!(of_mandate(messages), expected[..1]);
}

#[test]
fn an_end_is_known_by_its_request_or_by_a_notification() {
    let request = |text: &str| Some(text.parse().unwrap());
    let mut pending = outcome(5, 1, "AMND", "PEND");
    pending.request_id = request("f3b1c0de-1111-4222-8333-444455556676");
    let mut ended = outcome(9, 1, "AMND", "DECL");
    ended.action_identification = None;
    ended.request_id = request("f3b1c0de-1111-4222-8333-444455556677");
    let messages = [pending.clone().into(), ended.clone().into()];
    assert_eq!(of_mandate(messages).len(), 1, "of another request");
    ended.request_id = pending.request_id;
    assert_eq!(of_mandate([pending.clone().into(), ended.into()]), []);
    let notified = notified(9, 1, Trigger::AmendmentExpired);
    assert_eq!(of_mandate([pending.into(), notified.into()]), []);
}

#[test]
fn a_creation_is_open_while_the_mandate_waits_for_the_payer() {
    let mut created = outcome(5, 1, "CREA", "PEND");
    created.action_identification = None;
    let expected = [waits(OpenState::Pending, 5, 5)];
    assert_eq!(of_mandate([created.clone().into()]), expected);
    for trigger in [
        Trigger::CreationConfirmed,
        Trigger::CreationDeclined,
        Trigger::CreationExpired,
    ] {
        let notified = notified(9, 1, trigger).into();
        assert_eq!(of_mandate([created.clone().into(), notified]), []);
    }
}

#[test]
fn nothing_is_awaited_of_a_cancelled_mandate() {
    let mut cancelled = outcome(9, 2, "STCH", "CMPL");
    cancelled.mandate_status = Some(MandateStatus::Cancelled);
    let pending = outcome(5, 1, "AMND", "PEND");
    assert_eq!(of_mandate([pending.into(), cancelled.into()]), []);
}

#[test]
fn the_deadline_of_a_message_counts_unless_it_is_beyond_belief() {
    let with = |deadline| {
        let mut pending = outcome(5, 1, "AMND", "PEND");
        pending.resolution_requested_by = Some(deadline);
        of_mandate([pending.into()])
    };
    let latest = at(5).saturating_add(DAY * 366);
    for deadline in [at(99), latest] {
        assert_eq!(with(deadline)[0].due, deadline);
    }
    for deadline in [latest.saturating_add(DAY), Timestamp::MAX] {
        assert_eq!(with(deadline), [waits(OpenState::Pending, 5, 5)]);
    }
    // In a notification, the deadline is among the details.
    let mut notified = notified(5, 1, Trigger::AmendmentConfirmed);
    notified.action_status = ActionStatus::Pending;
    let mut amendment = BilateralAmendment::default();
    amendment.resolution_requested_by = Some(at(99));
    notified.details = Some(amendment.into());
    assert_eq!(
        of_mandate([notified.into()]),
        [waits(OpenState::Pending, 5, 99)]
    );
}

#[test]
fn an_action_that_another_version_stored_is_open() {
    let stored =
        br#"{"mandate":{"0101010101010101010101010101010101010101010101010101010101010101":
        {"at":"2021-07-29T01:02:03.450Z","effect":"waiting"}}}"#;
    let history = History::from_json(stored).unwrap();
    let since = "2021-07-29T01:02:03.450Z".parse().unwrap();
    assert_eq!(
        history.open(),
        [OpenOutcome::new(OpenState::Pending, since)]
    );
}
