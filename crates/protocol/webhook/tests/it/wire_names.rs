//! The specification's names, codes and bounds, typed by hand from it: what is written and read by
//! one statement of members would not notice a misspelt name.

use bankrail_values::{Date, HyphenatedUuid, Money, Timestamp};
use bankrail_webhook::message::{MpsUserId, Text35};
use bankrail_webhook::*;
use serde_json::{Value, json};

fn value<T: std::str::FromStr>(text: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    text.parse().unwrap()
}

fn money(text: &str) -> MessageAmount {
    value::<Money>(text).into()
}

fn time(text: &str) -> Timestamp {
    value(text)
}

const MANDATE_OUTCOME: &str = r#"{
    "creation_date_time": "2021-07-29T01:02:03.450Z",
    "status": "RJCT",
    "mps_user_id": "USER000001",
    "request_id": "f3b1c0de-1111-4222-8333-444455556666",
    "mandate_identification": "0b7c2f6e8a1d11eb8dcd0242ac130003",
    "mandate_registration_date_time": "2021-07-01T00:00:00.001Z",
    "mandate_status": "CRTD",
    "action_identification": "5e1f0a728a1d11eb8dcd0242ac130003",
    "action_type": "AMND",
    "action_status": "RECL",
    "bilateral": true,
    "debtor_alias_name": "An alias",
    "resolution_requested_by": "2021-08-03T01:02:03.002Z",
    "error": {
        "code": "the code",
        "severity": "FATL",
        "text": "the text",
        "user_message": "the user message",
        "more_info": "the more info"
    }
}"#;

fn mandate_outcome() -> Message {
    let error = OutcomeErrorDetails::new("the code", ErrorSeverity::Fatal)
        .text("the text")
        .user_message("the user message")
        .more_info("the more info");
    MandateActionOutcome::new(time("2021-07-29T01:02:03.450Z"), OutcomeStatus::Rejected)
        .mps_user_id(value::<MpsUserId>("USER000001"))
        .request_id(value::<HyphenatedUuid>(
            "f3b1c0de-1111-4222-8333-444455556666",
        ))
        .mandate_identification(value::<MandateId>("0b7c2f6e8a1d11eb8dcd0242ac130003"))
        .mandate_registration_date_time(time("2021-07-01T00:00:00.001Z"))
        .mandate_status(MandateStatus::Created)
        .action_identification(value::<ActionId>("5e1f0a728a1d11eb8dcd0242ac130003"))
        .action_type(ActionType::Amend)
        .action_status(ActionStatus::Recalled)
        .bilateral(true)
        .debtor_alias_name("An alias")
        .resolution_requested_by(time("2021-08-03T01:02:03.002Z"))
        .error(error)
        .into()
}

const AMENDMENT: &str = r#"{
    "creation_date_time": "2021-07-29T01:02:03.450Z",
    "trigger": "MAMN",
    "mps_user_id": "USER000002",
    "mandate_identification": "0b7c2f6e8a1d11eb8dcd0242ac130003",
    "mandate_status": "SUSD",
    "action_identification": "5e1f0a728a1d11eb8dcd0242ac130003",
    "action_type": "AMND",
    "action_status": "CMPL",
    "resolution_event": {
        "reason_code": "AC02",
        "reason_description": "the reason description"
    },
    "details": {
        "amendment": {
            "debtor_information": {
                "party_type": "ORGN",
                "party_name": "the party name",
                "ultimate_party_name": "the ultimate party name",
                "account_identification_type_code": "ALIA",
                "account_identification": "013010123456789",
                "account_alias_type_code": "TELI",
                "account_alias_identification": "+61-412345678",
                "party_reference": "the party reference"
            }
        }
    }
}"#;

fn notification(trigger: Trigger) -> MandateNotification {
    let (mandate, action) = (
        value("0b7c2f6e8a1d11eb8dcd0242ac130003"),
        value("5e1f0a728a1d11eb8dcd0242ac130003"),
    );
    let kind = if trigger == Trigger::StatusChanged {
        ActionType::StatusChange
    } else {
        ActionType::Amend
    };
    let at = time("2021-07-29T01:02:03.450Z");
    MandateNotification::new(
        at,
        trigger,
        value("USER000002"),
        mandate,
        action,
        kind,
        ActionStatus::Completed,
    )
}

fn amendment() -> Message {
    let debtor = AmendedDebtor::new()
        .party_type(PartyType::Organisation)
        .party_name("the party name".to_owned())
        .ultimate_party_name("the ultimate party name".to_owned())
        .account_identification_type_code(AccountIdentificationType::Alias)
        .account_identification("013010123456789".to_owned())
        .account_alias_type_code(AliasType::Telephone)
        .account_alias_identification("+61-412345678".to_owned())
        .party_reference("the party reference".to_owned());
    notification(Trigger::AmendedUnilaterally)
        .mandate_status(MandateStatus::Suspended)
        .resolution_event(ResolutionEvent::new("AC02").reason_description("the reason description"))
        .details(Amendment::new().debtor_information(debtor))
        .into()
}

/// The specification does not show these members: Default.
const BILATERAL_AMENDMENT: &str = r#"{
    "creation_date_time": "2021-07-29T01:02:03.450Z",
    "trigger": "MAMC",
    "mps_user_id": "USER000002",
    "mandate_identification": "0b7c2f6e8a1d11eb8dcd0242ac130003",
    "mandate_status": "ACTV",
    "action_identification": "5e1f0a728a1d11eb8dcd0242ac130003",
    "action_type": "AMND",
    "action_status": "CMPL",
    "details": {
        "bilateral_amendment": {
            "resolution_requested_by": "2021-08-03T01:02:03.002Z",
            "validity_end_date": "2022-12-31",
            "transfer_arrangement": "the transfer arrangement",
            "automatic_extension_indicator": true,
            "payment_information": {
                "payment_frequency": "FRTN",
                "payment_execute_not_before_time": "09:30:00.003Z",
                "count_per_period": "2",
                "point_in_time": "05",
                "payment_amount_type": "FIXE",
                "first_payment_date": "2021-09-15",
                "first_payment_amount": {"currency": "AUD", "amount": "1.01"},
                "last_payment_date": "2022-08-15",
                "last_payment_amount": {"currency": "AUD", "amount": "1.02"},
                "amount": {"currency": "AUD", "amount": "1.03"},
                "maximum_amount": {"currency": "AUD", "amount": "1.04"}
            },
            "additional_information": "the additional information"
        }
    }
}"#;

fn bilateral_amendment() -> Message {
    let payment = AmendedPaymentInformation::new()
        .payment_frequency(PaymentFrequency::Fortnightly)
        .payment_execute_not_before_time(value::<TimeOfDay>("09:30:00.003Z"))
        .count_per_period(CountPerPeriod::new("2"))
        .point_in_time(PointInTime::new("05"))
        .payment_amount_type(AmountType::Fixed)
        .first_payment_date(value::<Date>("2021-09-15"))
        .first_payment_amount(money("1.01 AUD"))
        .last_payment_date(value::<Date>("2022-08-15"))
        .last_payment_amount(money("1.02 AUD"))
        .amount(money("1.03 AUD"))
        .maximum_amount(money("1.04 AUD"));
    let amendment = BilateralAmendment::new()
        .resolution_requested_by(time("2021-08-03T01:02:03.002Z"))
        .validity_end_date(value::<Date>("2022-12-31"))
        .transfer_arrangement("the transfer arrangement".to_owned())
        .automatic_extension_indicator(true)
        .payment_information(payment)
        .additional_information("the additional information".to_owned());
    notification(Trigger::AmendmentConfirmed)
        .mandate_status(MandateStatus::Active)
        .details(amendment)
        .into()
}

/// The specification does not show these members: Default.
const STATUS_CHANGE: &str = r#"{
    "creation_date_time": "2021-07-29T01:02:03.450Z",
    "trigger": "MSCH",
    "mps_user_id": "USER000002",
    "mandate_identification": "0b7c2f6e8a1d11eb8dcd0242ac130003",
    "mandate_status": "CNCD",
    "action_identification": "5e1f0a728a1d11eb8dcd0242ac130003",
    "action_type": "STCH",
    "action_status": "CMPL",
    "details": {
        "status_change": {
            "change": "CNCL",
            "reason_code": "MS02",
            "reason_description": "the reason description"
        }
    }
}"#;

fn status_change() -> Message {
    let change = StatusChange::new(StatusChangeCode::Cancel)
        .reason_code("MS02")
        .reason_description("the reason description");
    notification(Trigger::StatusChanged)
        .mandate_status(MandateStatus::Cancelled)
        .details(change)
        .into()
}

const PAYMENT_OUTCOME: &str = r#"{
    "creation_date_time": "2021-07-29T01:02:03.450Z",
    "transaction_status": "RJCT",
    "transaction_status_reason_code": "AM04",
    "transaction_status_additional_information": ["the first line", "the second line"],
    "mps_user_id": "USER000003",
    "instruction_identification": "the instruction identification",
    "uetr": "ba5eba11-0000-4000-8000-00000000002a",
    "account_servicer_reference": "the account servicer reference",
    "clearing_system_reference": "the clearing system reference",
    "acceptance_date_time": "2021-07-29T01:02:03.004Z",
    "original_transaction_reference": {
        "original_instruction_identification": "the original instruction id",
        "instructed_amount": {"currency": "AUD", "amount": "1.05"},
        "mandate_identification": "0b7c2f6e8a1d11eb8dcd0242ac130003",
        "creditor_name": "the creditor name",
        "creditor_ultimate_name": "the creditor ultimate name",
        "creditor_account_identification": "013010123456789"
    }
}"#;

fn payment_outcome() -> Message {
    let original = OriginalTransaction::new()
        .original_instruction_identification("the original instruction id")
        .instructed_amount(money("1.05 AUD"))
        .mandate_identification(value::<MandateId>("0b7c2f6e8a1d11eb8dcd0242ac130003"))
        .creditor_name("the creditor name")
        .creditor_ultimate_name("the creditor ultimate name")
        .creditor_account_identification("013010123456789");
    PaymentOutcome::new(
        time("2021-07-29T01:02:03.450Z"),
        TransactionStatus::Rejected,
    )
    .transaction_status_reason_code(value::<bankrail_values::BoundedText<1, 4>>("AM04"))
    .transaction_status_additional_information(vec![
        value("the first line"),
        value("the second line"),
    ])
    .mps_user_id(value::<MpsUserId>("USER000003"))
    .instruction_identification(value::<Text35>("the instruction identification"))
    .uetr(value::<Uetr>("ba5eba11-0000-4000-8000-00000000002a"))
    .account_servicer_reference(value::<Text35>("the account servicer reference"))
    .clearing_system_reference(value::<Text35>("the clearing system reference"))
    .acceptance_date_time(time("2021-07-29T01:02:03.004Z"))
    .original_transaction_reference(original)
    .into()
}

const QUERY: &str = r#"{
    "creation_date_time": "2021-07-29T01:02:03.450Z",
    "case_id": "the case id",
    "investigation_type_code": "INV14",
    "case_type": "Mandate Query Payments",
    "reminder_count": "07",
    "re_open_case_indication": true,
    "narrative": "the narrative",
    "payment_details": {
        "transaction_identification": "the transaction identification",
        "instruction_identification": "the instruction identification",
        "transaction_date": "2021-07-28",
        "original_transaction_amount": {"currency": "AUD", "amount": "1.06"}
    },
    "mandate_details": {
        "mps_user_id": "USER000004",
        "mandate_identification": "0b7c2f6e8a1d11eb8dcd0242ac130003",
        "establishment_scheme": "MGCR",
        "mandate_purpose_code": "TAXS",
        "description": "the description",
        "additional_information": "the additional information",
        "debtor_information": {
            "party_name": "the debtor's name",
            "account_identification_type_code": "BBAN",
            "account_identification": "013010XXXXX8937",
            "account_alias_type_code": "AUBN",
            "account_alias_identification": "51824753556"
        },
        "creditor_information": {
            "party_reference": "the creditor's reference"
        },
        "payment_information": {
            "payment_frequency": "QURT",
            "payment_execute_not_before_time": "09:30:00.003Z",
            "count_per_period": "2",
            "point_in_time": "05",
            "payment_amount_type": "VARI",
            "first_payment_amount": {"currency": "AUD", "amount": "1.07"},
            "last_payment_amount": {"currency": "AUD", "amount": "1.08"},
            "amount": {"currency": "AUD", "amount": "1.09"},
            "maximum_amount": {"currency": "AUD", "amount": "1.10"}
        }
    }
}"#;

fn query() -> Message {
    let payment = PaymentInformation::new()
        .payment_frequency(PaymentFrequency::Quarterly)
        .payment_execute_not_before_time(value::<TimeOfDay>("09:30:00.003Z"))
        .count_per_period(CountPerPeriod::new("2"))
        .point_in_time(PointInTime::new("05"))
        .payment_amount_type(AmountType::Variable)
        .first_payment_amount(money("1.07 AUD"))
        .last_payment_amount(money("1.08 AUD"))
        .amount(money("1.09 AUD"))
        .maximum_amount(money("1.10 AUD"));
    let debtor = DebtorInformation::new()
        .party_name("the debtor's name")
        .account_identification_type_code(AccountIdentificationType::Bban)
        .account_identification("013010XXXXX8937")
        .account_alias_type_code(AliasType::BusinessNumber)
        .account_alias_identification("51824753556");
    let mandate = MandateDetails::new()
        .mps_user_id(value::<MpsUserId>("USER000004"))
        .mandate_identification(value::<MandateId>("0b7c2f6e8a1d11eb8dcd0242ac130003"))
        .establishment_scheme(EstablishmentScheme::MigratedByCreditor)
        .mandate_purpose_code(MandatePurpose::Tax)
        .description("the description")
        .additional_information("the additional information")
        .debtor_information(debtor)
        .creditor_information(
            CreditorInformation::new().party_reference("the creditor's reference"),
        )
        .payment_information(payment);
    let details = PaymentDetails::new()
        .transaction_identification("the transaction identification")
        .instruction_identification("the instruction identification")
        .transaction_date(value::<Date>("2021-07-28"))
        .original_transaction_amount(money("1.06 AUD"));
    let at = time("2021-07-29T01:02:03.450Z");
    QueryNotification::new(
        at,
        value("the case id"),
        CaseType::Payments,
        value("the narrative"),
        mandate,
    )
    .reminder_count(value::<message::query_notification::ReminderCount>("07"))
    .re_open_case_indication(true)
    .payment_details(details)
    .into()
}

/// Each document, the message that it is, and the advice about it: with every member there, two
/// amounts do not go together.
pub(crate) fn documents() -> Vec<(&'static str, Message, &'static [Rule])> {
    vec![
        (MANDATE_OUTCOME, mandate_outcome(), &[]),
        (AMENDMENT, amendment(), &[]),
        (BILATERAL_AMENDMENT, bilateral_amendment(), &[]),
        (STATUS_CHANGE, status_change(), &[]),
        (PAYMENT_OUTCOME, payment_outcome(), &[]),
        (QUERY, query(), &[Rule::AmountType]),
    ]
}

fn read(document: &str) -> Value {
    serde_json::from_str(document).unwrap()
}

#[test]
fn every_member_has_its_name() {
    for (document, message, advice) in documents() {
        // A name that is not known would be an unknown member, which is refused here.
        let strict = MessageReadOptions::new().deny_findings(true);
        let parsed = Message::from_json_with(message.kind(), document.as_bytes(), &strict).unwrap();
        assert_eq!(parsed.message, message, "{document}");
        let rules: Vec<Rule> = parsed.findings.iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, advice, "{document}");
        assert_eq!(
            serde_json::from_str::<Value>(&message.to_json()).unwrap(),
            read(document)
        );
    }
    let acknowledgement = r#"{"id": "9f0c6f2a-3c1b-4a56-9d5e-0c1f7d8b2a11", "status": "RCVD"}"#;
    let made = Acknowledgement::received(value("9f0c6f2a-3c1b-4a56-9d5e-0c1f7d8b2a11"));
    assert_eq!(
        Acknowledgement::from_json(acknowledgement.as_bytes()).unwrap(),
        made
    );
    assert_eq!(
        serde_json::from_str::<Value>(&made.to_json()).unwrap(),
        read(acknowledgement)
    );
}

/// Returns the document with the value at `pointer` replaced, or taken out.
fn with(document: &str, pointer: &str, replacement: Option<Value>) -> Vec<u8> {
    let mut changed = read(document);
    let (parent, member) = pointer.rsplit_once('/').unwrap();
    let parent = changed
        .pointer_mut(parent)
        .unwrap()
        .as_object_mut()
        .unwrap();
    assert!(parent.remove(member).is_some(), "{pointer} is there");
    if let Some(replacement) = replacement {
        parent.insert(member.to_owned(), replacement);
    }
    serde_json::to_vec(&changed).unwrap()
}

#[test]
fn each_required_member_is_missed() {
    use MessageKind::{
        MandateNotification as N, MandateOutcome as M, PaymentOutcome as P, Query as Q,
    };
    let required: [(MessageKind, &str, &[&str]); 5] = [
        (M, MANDATE_OUTCOME, &["/creation_date_time", "/status"]),
        (
            N,
            AMENDMENT,
            &[
                "/creation_date_time",
                "/trigger",
                "/mps_user_id",
                "/mandate_identification",
                "/action_identification",
                "/action_type",
                "/action_status",
            ],
        ),
        (
            P,
            PAYMENT_OUTCOME,
            &["/creation_date_time", "/transaction_status"],
        ),
        (
            P,
            PAYMENT_OUTCOME,
            &[
                "/original_transaction_reference/instructed_amount/currency",
                "/original_transaction_reference/instructed_amount/amount",
            ],
        ),
        (
            Q,
            QUERY,
            &[
                "/creation_date_time",
                "/case_id",
                "/investigation_type_code",
                "/case_type",
                "/narrative",
                "/mandate_details",
            ],
        ),
    ];
    for (kind, document, members) in required {
        for member in members {
            match Message::from_json(kind, &with(document, member, None)) {
                Err(MessageError::Missing { pointer }) => assert_eq!(pointer, *member),
                other => panic!("{member}: {other:?}"),
            }
        }
        // Every other member at the top may be absent.
        for member in read(document)
            .as_object()
            .unwrap()
            .keys()
            .map(|name| format!("/{name}"))
        {
            let optional = !required
                .iter()
                .any(|(other, _, members)| *other == kind && members.contains(&&*member));
            assert_eq!(
                Message::from_json(kind, &with(document, &member, None)).is_ok(),
                optional,
                "{member}"
            );
        }
    }
}

#[test]
fn bounds_hold_on_both_sides() {
    use MessageKind::{
        MandateNotification as N, MandateOutcome as M, PaymentOutcome as P, Query as Q,
    };
    for (kind, document, pointer, most) in [
        (M, MANDATE_OUTCOME, "/mps_user_id", 10),
        (N, AMENDMENT, "/mps_user_id", 10),
        (P, PAYMENT_OUTCOME, "/mps_user_id", 10),
        (Q, QUERY, "/mandate_details/mps_user_id", 10),
        (P, PAYMENT_OUTCOME, "/transaction_status_reason_code", 4),
        (
            P,
            PAYMENT_OUTCOME,
            "/transaction_status_additional_information",
            105,
        ),
        (P, PAYMENT_OUTCOME, "/instruction_identification", 35),
        (P, PAYMENT_OUTCOME, "/account_servicer_reference", 35),
        (P, PAYMENT_OUTCOME, "/clearing_system_reference", 35),
        (Q, QUERY, "/case_id", 20),
        (Q, QUERY, "/reminder_count", 2),
        (Q, QUERY, "/narrative", 2048),
    ] {
        for character in ["7", "👍"] {
            for (length, good) in [(0, false), (1, true), (most, true), (most + 1, false)] {
                let text = Value::from(character.repeat(length));
                let list = pointer.ends_with("additional_information");
                let (text, at) = if list {
                    (json!(["x", text]), format!("{pointer}/1"))
                } else {
                    (text, pointer.to_owned())
                };
                let read = Message::from_json(kind, &with(document, pointer, Some(text)));
                match read {
                    Ok(_) => assert!(good, "{pointer}: {length}"),
                    Err(MessageError::BadValue { pointer: found, .. }) => {
                        assert_eq!((good, found), (false, at))
                    }
                    Err(other) => panic!("{pointer}: {other}"),
                }
            }
        }
    }
}

/// Returns the boolean of a message, where it has one.
fn boolean(message: &Message) -> Option<bool> {
    match message {
        Message::MandateOutcome(outcome) => outcome.bilateral,
        Message::MandateNotification(notification) => {
            match &notification.details.as_ref()?.change {
                Change::BilateralAmendment(amendment) => amendment.automatic_extension_indicator,
                _ => None,
            }
        }
        Message::PaymentOutcome(_) => None,
        Message::Query(query) => query.re_open_case_indication,
    }
}

#[test]
fn booleans_keep_their_sense_and_may_be_absent() {
    use MessageKind::{MandateNotification as N, MandateOutcome as M, Query as Q};
    for (kind, document, pointer) in [
        (M, MANDATE_OUTCOME, "/bilateral"),
        (
            N,
            BILATERAL_AMENDMENT,
            "/details/bilateral_amendment/automatic_extension_indicator",
        ),
        (Q, QUERY, "/re_open_case_indication"),
    ] {
        for said in [None, Some(true), Some(false)] {
            let json = with(document, pointer, said.map(Value::from));
            let message = Message::from_json(kind, &json).unwrap().message;
            assert_eq!(boolean(&message), said, "{pointer}");
            let written: Value = serde_json::from_str(&message.to_json()).unwrap();
            assert_eq!(
                written.pointer(pointer),
                said.map(Value::from).as_ref(),
                "{pointer}"
            );
        }
        for other in [json!("true"), json!("false"), json!(1), json!(0)] {
            match Message::from_json(kind, &with(document, pointer, Some(other.clone()))) {
                Err(MessageError::WrongType { pointer: found, .. }) => assert_eq!(found, pointer),
                read => panic!("{pointer}: {other}: {read:?}"),
            }
        }
    }
}

/// Identifiers have their form inside objects, too, where the specification lists them as text
/// (Default).
#[test]
fn ids_have_their_form_wherever_they_stand() {
    use MessageKind::{
        MandateNotification as N, MandateOutcome as M, PaymentOutcome as P, Query as Q,
    };
    for (kind, document, pointer) in [
        (M, MANDATE_OUTCOME, "/mandate_identification"),
        (M, MANDATE_OUTCOME, "/action_identification"),
        (N, AMENDMENT, "/mandate_identification"),
        (N, AMENDMENT, "/action_identification"),
        (
            P,
            PAYMENT_OUTCOME,
            "/original_transaction_reference/mandate_identification",
        ),
        (Q, QUERY, "/mandate_details/mandate_identification"),
    ] {
        for (id, good) in [
            ("5e1f0a728a1d11eb8dcd0242ac130003", true),
            ("5e1f0a728a1d11eb9dcd0242ac130003", true),
            ("5e1f0a728a1d11ebadcd0242ac130003", true),
            ("5e1f0a728a1d11ebbdcd0242ac130003", true),
            ("5e1f0a728a1d11eb7dcd0242ac130003", false),
            ("5e1f0a728a1d11ebcdcd0242ac130003", false),
            ("5e1f0a728a1d41eb8dcd0242ac130003", false),
            ("5E1F0A728A1D11EB8DCD0242AC130003", false),
            ("5e1f0a72-8a1d-11eb-8dcd-0242ac130003", false),
            ("5e1f0a728a1d11eb8dcd0242ac13000", false),
            ("5e1f0a728a1d11eb8dcd0242ac1300030", false),
        ] {
            match Message::from_json(kind, &with(document, pointer, Some(id.into()))) {
                Ok(_) => assert!(good, "{pointer}: {id}"),
                Err(MessageError::BadValue { pointer: found, .. }) => {
                    assert_eq!((good, &*found), (false, pointer))
                }
                Err(other) => panic!("{pointer}: {other}"),
            }
        }
    }
}

macro_rules! texts {
    ($($list:ident { $($variant:ident $text:literal)* })*) => {$(
        let texts: &[(&str, $list)] = &[$(($text, $list::$variant)),*];
        assert_eq!($list::KNOWN.len(), texts.len(), stringify!($list));
        for (text, code) in texts {
            assert_eq!((code.as_str(), &$list::from(*text)), (*text, code));
            assert!(code.is_known() && $list::KNOWN.contains(code));
        }
    )*};
}

#[test]
fn every_code_has_its_text() {
    // These bounds are the specification's.
    texts! {
        OutcomeStatus { Rejected "RJCT" Succeeded "SUCC" }
        MandateStatus { Active "ACTV" Cancelled "CNCD" Created "CRTD" Suspended "SUSD" }
        ActionType { Amend "AMND" Create "CREA" Port "PORT" StatusChange "STCH" }
        ActionStatus { Completed "CMPL" Declined "DECL" Pending "PEND" Recalled "RECL" TimedOut "TIMO" }
        Trigger {
            AmendmentConfirmed "MAMC" AmendmentDeclined "MAMD" AmendedUnilaterally "MAMN" AmendmentExpired "MAMX"
            CreationConfirmed "MCRC" CreationDeclined "MCRD" CreationExpired "MCRX" StatusChanged "MSCH"
        }
        TransactionStatus { SettlementCompleted "ACSC" SettlementPending "ACSP" Warehoused "PDNG" Rejected "RJCT" }
        InvestigationType { Query "INV14" }
        CaseType { Mandate "Mandate Query Case" Payments "Mandate Query Payments" }
        AliasType { Telephone "TELI" Email "EMAL" BusinessNumber "AUBN" Organisation "ORGN" }
    }
    // These codes are defaults, except the specification's severity FATL.
    texts! {
        ErrorSeverity { Fatal "FATL" Logical "LOGI" Transient "TRAN" }
        StatusChangeCode { Cancel "CNCL" Release "RELS" Suspend "SUSP" }
        PartyType { Organisation "ORGN" Person "PERS" }
        AccountIdentificationType { Alias "ALIA" Bban "BBAN" }
        EstablishmentScheme { Bilateral "AUPM" MigratedByCreditor "MGCR" }
        MandatePurpose {
            DependantSupport "DEPD" Gambling "GAMP" Government "GOVT" Loan "LOAN" Mortgage "MORT" Other "OTHR"
            Pension "PENS" Personal "PERS" Retail "RETL" Salary "SALA" Tax "TAXS" Utility "UTIL"
        }
        PaymentFrequency {
            AdHoc "ADHO" IntraDay "INDA" Daily "DAIL" Weekly "WEEK" Fortnightly "FRTN" Monthly "MNTH" Quarterly "QURT"
            HalfYearly "MIAN" Yearly "YEAR"
        }
        AmountType { Fixed "FIXE" Variable "VARI" Usage "USGB" Balance "BALN" }
    }
    assert_eq!(
        (Priority::Attended.as_str(), Priority::Unattended.as_str()),
        ("ATTENDED", "UNATTENDED")
    );
    assert_eq!(Acknowledgement::RECEIVED, "RCVD");
}

#[test]
fn headers_and_paths_have_their_names() {
    use bankrail_webhook::headers;
    assert_eq!(headers::REQUEST_KEY, "X-RequestKey");
    assert_eq!(headers::MESSAGE_ID, "X-Message-Id");
    assert_eq!(headers::CORRELATION_ID, "X-Correlation-Id");
    assert_eq!(headers::PRIORITY, "priority");
    // These values are defaults.
    assert_eq!(
        MessageKind::ALL.map(MessageKind::default_path),
        [
            "/payto/mandates/outcomes",
            "/payto/mandates/notifications",
            "/payto/mpirs/outcomes",
            "/payto/queries"
        ]
    );
}

/// The values that go with a trigger (Default), typed by hand: the samples are made by the table
/// that they are checked with.
#[test]
fn what_goes_with_a_trigger() {
    for (trigger, action_type, action_status, mandate_status, variant) in [
        ("MCRC", "CREA", "CMPL", Some("ACTV"), None),
        ("MCRD", "CREA", "DECL", Some("CNCD"), None),
        ("MCRX", "CREA", "TIMO", Some("CNCD"), None),
        ("MAMC", "AMND", "CMPL", None, Some("bilateral_amendment")),
        ("MAMD", "AMND", "DECL", None, Some("bilateral_amendment")),
        ("MAMX", "AMND", "TIMO", None, Some("bilateral_amendment")),
        ("MAMN", "AMND", "CMPL", None, Some("amendment")),
        ("MSCH", "STCH", "CMPL", None, Some("status_change")),
    ] {
        let made = MandateNotification::of_trigger(
            time("2021-07-29T01:02:03.450Z"),
            trigger.into(),
            value("USER000002"),
            value("0b7c2f6e8a1d11eb8dcd0242ac130003"),
            value("5e1f0a728a1d11eb8dcd0242ac130003"),
        )
        .unwrap();
        assert_eq!(
            (made.action_type.as_str(), made.action_status.as_str()),
            (action_type, action_status),
            "{trigger}"
        );
        assert_eq!(
            made.mandate_status.as_ref().map(MandateStatus::as_str),
            mandate_status,
            "{trigger}"
        );
        for present in [
            None,
            Some("amendment"),
            Some("bilateral_amendment"),
            Some("status_change"),
        ] {
            let mut with = made.clone();
            with.details = present.map(|variant| match variant {
                "amendment" => Amendment::new()
                    .debtor_information(AmendedDebtor::new())
                    .into(),
                "bilateral_amendment" => BilateralAmendment::new().into(),
                _ => StatusChange::new(StatusChangeCode::Release).into(),
            });
            let odd = with
                .validate()
                .iter()
                .any(|finding| finding.rule == Rule::TriggerDetails);
            assert_eq!(odd, present != variant, "{trigger} with {present:?}");
        }
    }
}
