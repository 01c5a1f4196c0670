//! One valid message for each status, trigger and case type, for documentation and tests.
//!
//! Names, accounts and identifiers are made up. No sample has a finding, and no two contradict each
//! other: those with one duplicate key have one content, and those of one mandate or payment can
//! all be true. They all have one time, so they tell no story.

use crate::*;
use bankrail_values::{Date, Money, Timestamp};

/// Parses a constant of this file.
fn constant<T: std::str::FromStr>(text: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    text.parse().expect("a sample's constant is well formed")
}

fn created() -> Timestamp {
    constant("2021-07-29T01:02:03.450Z")
}

fn amount(text: &str) -> MessageAmount {
    constant::<Money>(text).into()
}

/// A mandate. Each creation that was refused is of a mandate of its own.
fn mandate(number: u16) -> MandateId {
    constant(&format!("0b7c2f6e8a1d11eb8dcd0242ac13{number:04x}"))
}

/// An action. The messages that tell of one share its number.
fn action(number: u16) -> ActionId {
    constant(&format!("5e1f0a728a1d11eb8dcd0242ac13{number:04x}"))
}

/// The request of a biller, of an action or of its own number.
fn request(number: u16) -> bankrail_values::HyphenatedUuid {
    constant(&format!(
        "f3b1c0de-1111-4222-8333-44445555{:04x}",
        0x6663 + number
    ))
}

const CREATION: u16 = 3;
const AMENDMENT: u16 = 0x13;
const STATUS_CHANGE: u16 = 0x23;
const PORT: u16 = 0x33;
const REJECTED: u16 = 0x100;

/// The number of the action with this type and end. A pending action has the number of the one that
/// completed.
fn ended(action_type: &ActionType, status: &ActionStatus) -> u16 {
    let first = match action_type {
        ActionType::Create => CREATION,
        ActionType::Amend => AMENDMENT,
        ActionType::StatusChange => STATUS_CHANGE,
        ActionType::Port | ActionType::Unknown(_) => PORT,
    };
    first
        + match status {
            ActionStatus::Pending | ActionStatus::Completed => 0,
            ActionStatus::Declined => 1,
            ActionStatus::Recalled => 2,
            ActionStatus::TimedOut => 3,
            ActionStatus::Unknown(_) => 8,
        }
}

/// The mandate of an action: one for all but the creations that were refused.
fn mandate_of(action: u16) -> MandateId {
    mandate(if action < AMENDMENT { action } else { CREATION })
}

/// The mandate of the samples; refused creations have others.
#[must_use]
pub fn mandate_id() -> MandateId {
    mandate(CREATION)
}

/// The action that created the mandate of the samples.
#[must_use]
pub fn action_id() -> ActionId {
    action(CREATION)
}

/// The headers of a sample, with the keys of an original request if the kind has them.
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

/// The headers of a delivery whose identifiers `id` makes: the message id first, then the keys of
/// an original request if the kind has them.
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

/// The successful outcome of an action with this status. A creation that was declined, recalled or
/// timed out leaves the mandate cancelled; any other such action leaves it unchanged.
#[must_use]
pub fn mandate_outcome(
    action_type: &ActionType,
    action_status: &ActionStatus,
) -> MandateActionOutcome {
    let mandate_status = match (action_type, action_status) {
        (ActionType::Create, ActionStatus::Pending) => MandateStatus::Created,
        (ActionType::Create, ActionStatus::Completed) => MandateStatus::Active,
        (ActionType::Create, _) => MandateStatus::Cancelled,
        (ActionType::StatusChange, ActionStatus::Completed) => MandateStatus::Suspended,
        _ => MandateStatus::Active,
    };
    let number = ended(action_type, action_status);
    let outcome = MandateActionOutcome::new(created(), OutcomeStatus::Succeeded)
        .mps_user_id(constant::<message::MpsUserId>("MPSUSER1"))
        .request_id(request(number))
        .mandate_identification(mandate_of(number))
        .mandate_registration_date_time(constant::<Timestamp>("2021-07-01T00:00:00.000Z"))
        .mandate_status(mandate_status)
        .action_identification(action(number))
        .action_type(action_type.clone())
        .action_status(action_status.clone());
    match action_type {
        ActionType::Create | ActionType::Amend => outcome
            .bilateral(true)
            .debtor_alias_name("A Sample")
            .resolution_requested_by(constant::<Timestamp>("2021-08-03T01:02:03.450Z")),
        _ => outcome,
    }
}

/// The outcome of an action that was rejected.
#[must_use]
pub fn rejected_mandate_outcome(severity: &ErrorSeverity) -> MandateActionOutcome {
    let error = OutcomeError::new("MND042", severity.clone())
        .text("Mandate not found")
        .user_message("The mandate is not known.")
        .more_info("Check the mandate identification.");
    let number = REJECTED
        + match severity {
            ErrorSeverity::Fatal => 0,
            ErrorSeverity::Logical => 1,
            ErrorSeverity::Transient => 2,
            ErrorSeverity::Unknown(_) => 3,
        };
    MandateActionOutcome::new(created(), OutcomeStatus::Rejected)
        .mps_user_id(constant::<message::MpsUserId>("MPSUSER1"))
        .request_id(request(number))
        .action_type(ActionType::StatusChange)
        .error(error)
}

/// The notification of a trigger, with the values that go with it. `None` for an unknown trigger.
#[must_use]
pub fn mandate_notification(trigger: &Trigger) -> Option<MandateNotification> {
    let number = match trigger {
        Trigger::CreationConfirmed => CREATION,
        Trigger::CreationDeclined => CREATION + 1,
        Trigger::CreationExpired => CREATION + 3,
        Trigger::AmendmentConfirmed => AMENDMENT,
        Trigger::AmendmentDeclined => AMENDMENT + 1,
        Trigger::AmendmentExpired => AMENDMENT + 3,
        Trigger::AmendedUnilaterally => AMENDMENT + 4,
        Trigger::StatusChanged => STATUS_CHANGE + 4,
        Trigger::Unknown(_) => return None,
    };
    let (user, mandate) = (constant("MPSUSER1"), mandate_of(number));
    let notification =
        MandateNotification::of_trigger(created(), trigger.clone(), user, mandate, action(number))?;
    let reason = ResolutionEvent::new("AC02").reason_description("Not agreed by the payer");
    Some(match trigger {
        Trigger::CreationDeclined => notification.resolution_event(reason),
        Trigger::AmendmentConfirmed | Trigger::AmendmentExpired => notification
            .mandate_status(MandateStatus::Active)
            .details(bilateral_amendment()),
        Trigger::AmendmentDeclined => notification
            .mandate_status(MandateStatus::Active)
            .resolution_event(reason)
            .details(bilateral_amendment()),
        Trigger::AmendedUnilaterally => notification
            .mandate_status(MandateStatus::Active)
            .details(Amendment::new().debtor_information(amended_debtor())),
        Trigger::StatusChanged => notification
            .mandate_status(MandateStatus::Suspended)
            .details(
                StatusChange::new(StatusChangeCode::Suspend)
                    .reason_code("MS02")
                    .reason_description("Asked for by the payer"),
            ),
        _ => notification,
    })
}

/// The notification of a change of status: to cancelled, active or suspended. `None` for an unknown
/// change.
#[must_use]
pub fn status_change(change: &StatusChangeCode) -> Option<MandateNotification> {
    let (number, status) = match change {
        StatusChangeCode::Cancel => (STATUS_CHANGE + 5, MandateStatus::Cancelled),
        StatusChangeCode::Release => (STATUS_CHANGE + 6, MandateStatus::Active),
        StatusChangeCode::Suspend => (STATUS_CHANGE + 7, MandateStatus::Suspended),
        StatusChangeCode::Unknown(_) => return None,
    };
    let mut notification = mandate_notification(&Trigger::StatusChanged)?;
    notification.action_identification = action(number);
    Some(
        notification
            .mandate_status(status)
            .details(StatusChange::new(change.clone())),
    )
}

fn amended_debtor() -> AmendedDebtor {
    AmendedDebtor::new()
        .party_type(PartyType::Person)
        .party_name("Alex Sample".to_owned())
        .ultimate_party_name(Amended::Cleared)
        .account_identification_type_code(AccountIdentificationType::Alias)
        .account_identification(Amended::Cleared)
        .account_alias_type_code(AliasType::Telephone)
        .account_alias_identification("+61-412345678".to_owned())
        .party_reference("REF-1".to_owned())
}

fn bilateral_amendment() -> BilateralAmendment {
    let payment = AmendedPaymentInformation::new()
        .payment_frequency(PaymentFrequency::Monthly)
        .payment_execute_not_before_time(constant::<TimeOfDay>("09:30:00.000Z"))
        .count_per_period(CountPerPeriod::from("1"))
        .point_in_time(PointInTime::from("15"))
        .payment_amount_type(AmountType::Fixed)
        .first_payment_date(constant::<Date>("2021-09-15"))
        .first_payment_amount(amount("5.00 AUD"))
        .last_payment_date(constant::<Date>("2022-08-15"))
        .last_payment_amount(Amended::Cleared)
        .amount(amount("12.50 AUD"))
        .maximum_amount(Amended::Cleared);
    BilateralAmendment::new()
        .resolution_requested_by(constant::<Timestamp>("2021-08-03T01:02:03.450Z"))
        .validity_end_date(constant::<Date>("2022-12-31"))
        .transfer_arrangement("To the account of the agreement".to_owned())
        .automatic_extension_indicator(true)
        .payment_information(payment)
        .additional_information(Amended::Cleared)
}

/// The outcome of a payment with this status. The rejected one, with a reason, is another payment
/// than the others.
#[must_use]
pub fn payment_outcome(status: &TransactionStatus) -> PaymentOutcome {
    let original = OriginalTransaction::new()
        .original_instruction_identification("INV-2021-0042")
        .instructed_amount(amount("12.50 AUD"))
        .mandate_identification(mandate_id())
        .creditor_name("Sample Utilities")
        .creditor_ultimate_name("Sample Utilities Holding")
        .creditor_account_identification("013010123456789");
    let (instruction, uetr) = match status {
        TransactionStatus::Rejected => (
            "SAMPLEAAXXXN20210729000000000000001",
            "ba5eba11-0000-4000-8000-00000000002a",
        ),
        _ => (
            "SAMPLEAAXXXN20210729000000000000002",
            "ba5eba11-0000-4000-8000-00000000002b",
        ),
    };
    let outcome = PaymentOutcome::new(created(), status.clone())
        .mps_user_id(constant::<message::MpsUserId>("MPSUSER1"))
        .instruction_identification(constant::<message::Text35>(instruction))
        .uetr(constant::<Uetr>(uetr))
        .account_servicer_reference(constant::<message::Text35>("ASR-42"))
        .clearing_system_reference(constant::<message::Text35>("CSR-42"))
        .acceptance_date_time(constant::<Timestamp>("2021-07-29T01:02:03.000Z"))
        .original_transaction_reference(original);
    match status {
        TransactionStatus::Rejected => outcome
            .transaction_status_reason_code(constant::<bankrail_values::BoundedText<1, 4>>("AM04"))
            .transaction_status_additional_information(vec![constant("Insufficient funds")]),
        _ => outcome,
    }
}

/// A query about a mandate or about its payments.
#[must_use]
pub fn query(case_type: &CaseType) -> QueryNotification {
    let debtor = DebtorInformation::new()
        .party_name("Alex Sample")
        .account_identification_type_code(AccountIdentificationType::Bban)
        .account_identification("013010XXXXX8937");
    let payment = PaymentInformation::new()
        .payment_frequency(PaymentFrequency::Weekly)
        .payment_execute_not_before_time(constant::<TimeOfDay>("09:30:00.000Z"))
        .count_per_period(CountPerPeriod::from("1"))
        .point_in_time(PointInTime::from("07"))
        .payment_amount_type(AmountType::Variable)
        .first_payment_amount(amount("5.00 AUD"))
        .last_payment_amount(amount("7.00 AUD"))
        .maximum_amount(amount("100.00 AUD"));
    let details = MandateDetails::new()
        .mps_user_id(constant::<message::MpsUserId>("MPSUSER1"))
        .mandate_identification(mandate_id())
        .establishment_scheme(EstablishmentScheme::Bilateral)
        .mandate_purpose_code(MandatePurpose::Utility)
        .description("Electricity")
        .additional_information("Meter 7")
        .debtor_information(debtor)
        .creditor_information(CreditorInformation::new().party_reference("REF-1"))
        .payment_information(payment);
    let narrative = constant("I do not know this charge. Please explain.");
    let case = match case_type {
        CaseType::Payments => "CASE-000042",
        _ => "CASE-000041",
    };
    let query = QueryNotification::new(
        created(),
        constant(case),
        case_type.clone(),
        narrative,
        details,
    )
    .reminder_count(constant::<message::query_notification::ReminderCount>("1"))
    .re_open_case_indication(false);
    match case_type {
        CaseType::Payments => query.payment_details(
            PaymentDetails::new()
                .transaction_identification("TX-42")
                .instruction_identification("SAMPLEAAXXXN20210729000000000000001")
                .transaction_date(constant::<Date>("2021-07-28"))
                .original_transaction_amount(amount("12.50 AUD")),
        ),
        _ => query,
    }
}

/// Every sample: all action types with all action statuses, all severities, triggers, status
/// changes, transaction statuses and case types.
#[must_use]
pub fn all() -> Vec<Message> {
    MessageKind::ALL.into_iter().flat_map(of).collect()
}

/// The samples of one kind.
#[must_use]
pub fn of(kind: MessageKind) -> Vec<Message> {
    kind.samples()
}

pub(crate) fn mandate_outcomes() -> Vec<MandateActionOutcome> {
    let of_type = |action| {
        ActionStatus::KNOWN
            .iter()
            .map(move |status| mandate_outcome(action, status))
    };
    let rejected = ErrorSeverity::KNOWN.iter().map(rejected_mandate_outcome);
    ActionType::KNOWN
        .iter()
        .flat_map(of_type)
        .chain(rejected)
        .collect()
}

pub(crate) fn mandate_notifications() -> Vec<MandateNotification> {
    let changes = StatusChangeCode::KNOWN.iter().filter_map(status_change);
    Trigger::KNOWN
        .iter()
        .filter_map(mandate_notification)
        .chain(changes)
        .collect()
}

pub(crate) fn payment_outcomes() -> Vec<PaymentOutcome> {
    TransactionStatus::KNOWN
        .iter()
        .map(payment_outcome)
        .collect()
}

pub(crate) fn queries() -> Vec<QueryNotification> {
    CaseType::KNOWN.iter().map(query).collect()
}
