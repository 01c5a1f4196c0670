//! Messages as JSON, after SPEC.md's tables. They are made by hand and not by the library's types, so that they can be
//! what no type allows.

use bankrail_values::{Clock as _, HyphenatedUuid, SystemClock};
use bankrail_webhook::MessageKind;
use serde_json::{Value, json};

/// SPEC.md's name of a kind.
pub(super) fn name(kind: MessageKind) -> &'static str {
    match kind {
        MessageKind::MandateOutcome => "MandateActionOutcome",
        MessageKind::MandateNotification => "MandateNotification",
        MessageKind::PaymentOutcome => "MPIRActionOutcome",
        MessageKind::Query => "QueryNotification",
    }
}

/// One message of a kind, for titles.
pub(super) fn one(kind: MessageKind) -> String {
    let article = if kind == MessageKind::PaymentOutcome { "an" } else { "a" };
    format!("{article} {}", name(kind))
}

pub(super) fn now() -> String {
    SystemClock.now().to_string()
}

/// A UUID with hyphens.
pub(super) fn uuid() -> String {
    HyphenatedUuid::random().to_string()
}

/// An id of a mandate or an action: a UUID of version 1 without hyphens, here of random digits.
pub(super) fn time_based() -> String {
    time_based_of('a')
}

/// One whose 17th character is this one.
pub(super) fn time_based_of(variant: char) -> String {
    let random = HyphenatedUuid::random().to_simple().to_string();
    let digits = random.chars().enumerate();
    digits
        .map(|(at, digit)| {
            if at == 12 {
                '1'
            } else if at == 16 {
                variant
            } else {
                digit
            }
        })
        .collect()
}

/// The beginning of a random UUID, for ids that are text.
pub(super) fn token(length: usize) -> String {
    let random = HyphenatedUuid::random().to_simple().to_string().to_uppercase();
    random.chars().cycle().take(length).collect()
}

/// The required members alone.
pub(super) fn minimal(kind: MessageKind) -> Value {
    match kind {
        MessageKind::MandateOutcome => json!({"creation_date_time": now(), "status": "SUCC"}),
        MessageKind::MandateNotification => json!({
            "creation_date_time": now(),
            "trigger": "MCRC",
            "mps_user_id": "MPSUSER1",
            "mandate_identification": time_based(),
            "action_identification": time_based(),
            "action_type": "CREA",
            "action_status": "CMPL",
        }),
        MessageKind::PaymentOutcome => json!({"creation_date_time": now(), "transaction_status": "ACSC"}),
        MessageKind::Query => json!({
            "creation_date_time": now(),
            "case_id": token(20),
            "investigation_type_code": "INV14",
            "case_type": "Mandate Query Case",
            "narrative": "I do not know this charge.",
            // What its members have to be, SPEC.md does not say.
            "mandate_details": {"mps_user_id": "MPSUSER1", "mandate_identification": time_based()},
        }),
    }
}

/// The required members, and those of the duplicate key.
pub(super) fn usual(kind: MessageKind) -> Value {
    let key = match kind {
        MessageKind::MandateOutcome => json!({"request_id": uuid()}),
        MessageKind::PaymentOutcome => json!({"instruction_identification": token(35), "uetr": uuid()}),
        MessageKind::MandateNotification | MessageKind::Query => json!({}),
    };
    with(minimal(kind), &key)
}

/// Every member.
pub(super) fn whole(kind: MessageKind) -> Value {
    let (mandate, money) = (time_based(), json!({"currency": "AUD", "amount": "12.50"}));
    let more = match kind {
        MessageKind::MandateOutcome => json!({
            "status": "RJCT",
            "mps_user_id": "MPSUSER1",
            "mandate_identification": mandate,
            "mandate_registration_date_time": "2024-02-29T23:59:59.999Z",
            "mandate_status": "ACTV",
            "action_identification": time_based(),
            "action_type": "AMND",
            "action_status": "DECL",
            "bilateral": true,
            "debtor_alias_name": "A Sample",
            "resolution_requested_by": now(),
            "error": {
                "code": "MND042",
                "severity": "FATL",
                "text": "Mandate not found",
                "user_message": "The mandate is not known.",
                "more_info": "Check the mandate identification.",
            },
        }),
        MessageKind::MandateNotification => json!({
            "trigger": "MAMN",
            "action_type": "AMND",
            "mandate_status": "ACTV",
            "resolution_event": {"reason_code": "AC02", "reason_description": "Not agreed"},
            "details": {"amendment": {"debtor_information": {
                "party_type": "PERS",
                "party_name": "Alex Sample",
                "ultimate_party_name": "Kim Sample",
                "account_identification_type_code": "ALIA",
                "account_identification": "013010123456789",
                "account_alias_type_code": "TELI",
                "account_alias_identification": "+61-412345678",
                "party_reference": "REF-1",
            }}},
        }),
        MessageKind::PaymentOutcome => json!({
            "transaction_status": "RJCT",
            "transaction_status_reason_code": "AM04",
            "transaction_status_additional_information": ["Insufficient funds", "Try again"],
            "mps_user_id": "MPSUSER1",
            "account_servicer_reference": "ASR-42",
            "clearing_system_reference": "CSR-42",
            "acceptance_date_time": now(),
            "original_transaction_reference": {
                "original_instruction_identification": "INV-2026-0042",
                "instructed_amount": money,
                "mandate_identification": mandate,
                "creditor_name": "Sample Utilities",
                "creditor_ultimate_name": "Sample Utilities Holding",
                "creditor_account_identification": "013010123456789",
            },
        }),
        MessageKind::Query => json!({
            "case_type": "Mandate Query Payments",
            "reminder_count": "1",
            "re_open_case_indication": false,
            "payment_details": {
                "transaction_identification": "TX-42",
                "instruction_identification": "INSTRUCTION-42",
                "transaction_date": "2026-11-21",
                "original_transaction_amount": money,
            },
            "mandate_details": {
                "establishment_scheme": "AUPM",
                "mandate_purpose_code": "UTIL",
                "description": "Electricity",
                "additional_information": "Meter 7",
                "debtor_information": {
                    "party_name": "Alex Sample",
                    "account_identification_type_code": "BBAN",
                    "account_identification": "013010123456789",
                },
                "creditor_information": {"party_reference": "REF-1"},
                "payment_information": {
                    "payment_frequency": "MNTH",
                    "payment_execute_not_before_time": "09:30:00.000Z",
                    "count_per_period": "1",
                    "point_in_time": "15",
                    "payment_amount_type": "VARI",
                    "first_payment_amount": money,
                    "last_payment_amount": money,
                    "amount": money,
                    "maximum_amount": money,
                },
            },
        }),
    };
    with(usual(kind), &more)
}

/// A message with these members in place of its own. Objects are put over each other, member by member.
pub(super) fn with(mut message: Value, members: &Value) -> Value {
    put(&mut message, members);
    message
}

fn put(target: &mut Value, members: &Value) {
    match (target, members) {
        (Value::Object(target), Value::Object(members)) => {
            for (name, value) in members {
                put(target.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (target, value) => *target = value.clone(),
    }
}

/// A message without one of its members.
pub(super) fn without(mut message: Value, member: &str) -> Value {
    if let Value::Object(members) = &mut message {
        members.remove(member);
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankrail_webhook::{Message, RuleClass};

    #[test]
    fn good_messages_break_no_rule_and_none_is_a_duplicate() {
        let id = uuid().parse().unwrap();
        for kind in MessageKind::ALL {
            for make in [minimal, usual, whole] {
                let read = |message: Value| Message::from_json(kind, message.to_string().as_bytes()).unwrap();
                let (one, two) = (read(make(kind)), read(make(kind)));
                // Which values real messages have together is not the specification's.
                let mut findings = one.findings.iter().map(|finding| finding.rule.class());
                assert!(findings.all(|class| class == RuleClass::Consistency), "{kind}: {:?}", one.findings);
                // Without members of the key, that of the delivery decides.
                let keyless = kind.answers_a_request() && one.message.to_json().len() < 100;
                let same = one.message.duplicate_key("", id) == two.message.duplicate_key("", id);
                assert_eq!(same, keyless, "{kind}");
            }
        }
    }

    #[test]
    fn whole_messages_have_every_member_of_the_samples() {
        use bankrail_webhook::samples;
        for sample in samples::all() {
            let whole = whole(sample.kind());
            let sample: Value = serde_json::from_slice(&sample.to_json()).unwrap();
            for name in sample.as_object().unwrap().keys() {
                assert!(whole.get(name).is_some(), "{name}");
            }
        }
    }
}
