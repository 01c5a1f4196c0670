//! Each member of each message: its JSON type, its presence, its bound, its codes and its mark for
//! "cleared". The tables are typed by hand from the specification and the documented defaults.

use crate::rows::Wrong;
use crate::wire_names::documents;
use bankrail_webhook::{
    Message, MessageError, MessageFinding, MessageKind, ParsedMessage, Rule, TimeOfDay, schema,
};
use regex::Regex;
use serde_json::{Value, json};

/// The pointers to all values within a value.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    let within: Vec<(String, &Value)> = match value {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), value))
            .collect(),
        Value::Array(elements) => elements
            .iter()
            .enumerate()
            .map(|(at, value)| (at.to_string(), value))
            .collect(),
        _ => Vec::new(),
    };
    for (name, value) in within {
        let pointer = format!("{at}/{name}");
        pointers(value, &pointer, found);
        found.push(pointer);
    }
}

/// Returns a document, with its kind and the pointers to all its values.
fn all() -> Vec<(MessageKind, Value, Vec<String>)> {
    let all = documents().into_iter().map(|(document, message, _)| {
        let document: Value = serde_json::from_str(document).unwrap();
        let mut found = Vec::new();
        pointers(&document, "", &mut found);
        (message.kind(), document, found)
    });
    all.collect()
}

type Read = Result<ParsedMessage<Message>, MessageError>;

/// Reads a document with another value at a place.
fn replaced(kind: MessageKind, document: &Value, pointer: &str, value: Value) -> Read {
    let mut document = document.clone();
    *document.pointer_mut(pointer).unwrap() = value;
    Message::from_json(kind, document.to_string().as_bytes())
}

/// Returns the rules of the findings at a place.
fn rules_at(findings: &[MessageFinding], pointer: &str) -> Vec<Rule> {
    findings
        .iter()
        .filter(|finding| finding.pointer == pointer)
        .map(|finding| finding.rule)
        .collect()
}

/// The members that the specification marks as required, and both members of money.
const REQUIRED: [(MessageKind, &[&str]); 4] = [
    (
        MessageKind::MandateOutcome,
        &["/creation_date_time", "/status"],
    ),
    (
        MessageKind::MandateNotification,
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
        MessageKind::PaymentOutcome,
        &["/creation_date_time", "/transaction_status"],
    ),
    (
        MessageKind::Query,
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

/// The members that are required by default, whose absence is a finding.
const EXPECTED: [&str; 4] = [
    "/error/code",
    "/error/severity",
    "/resolution_event/reason_code",
    "/details/status_change/change",
];

fn is_required(kind: MessageKind, pointer: &str) -> bool {
    let listed = REQUIRED
        .iter()
        .any(|(of, members)| *of == kind && members.contains(&pointer));
    listed || pointer.ends_with("/currency") || pointer.ends_with("amount/amount")
}

#[test]
fn every_member_is_read_from_its_json_type_only() {
    let mut wrong = Wrong::default();
    let of_type = [json!(1), json!(true), json!("7"), json!([]), json!({})];
    for (kind, document, pointers) in all() {
        for pointer in pointers {
            let right = std::mem::discriminant(document.pointer(&pointer).unwrap());
            for other in of_type
                .iter()
                .filter(|other| std::mem::discriminant(*other) != right)
            {
                let refused = match replaced(kind, &document, &pointer, other.clone()) {
                    Err(MessageError::WrongType { pointer, .. }) => pointer,
                    read => format!("{read:?}"),
                };
                wrong.unless_equal(
                    format!("{kind}{pointer} as {other}"),
                    refused,
                    pointer.clone(),
                );
            }
        }
    }
    wrong.none();
}

/// All values that are no object or list are wrong at once, and an unknown member beside them is a
/// finding.
#[test]
fn reading_for_defects_names_each_of_them() {
    let mut wrong = Wrong::default();
    for (kind, document, pointers) in all() {
        let (mut broken, mut expected) = (document.clone(), Vec::new());
        for pointer in pointers {
            let value = broken.pointer_mut(&pointer).unwrap();
            if value.is_object() || value.is_array() {
                continue;
            }
            *value = json!({});
            expected.push(pointer);
        }
        broken["new"] = json!(1);
        let (refusals, findings) = Message::defects(kind, broken.to_string().as_bytes()).unwrap();
        let mut found: Vec<String> = refusals
            .iter()
            .filter_map(|error| error.pointer().map(str::to_owned))
            .collect();
        found.sort();
        expected.sort();
        wrong.unless_equal(kind.to_string(), found, expected);
        wrong.unless_equal(
            format!("{kind}: findings"),
            rules_at(&findings, "/new"),
            vec![Rule::UnknownMember],
        );
        let whole = document.to_string();
        let read = Message::from_json(kind, whole.as_bytes()).unwrap().findings;
        let (refusals, findings) = Message::defects(kind, whole.as_bytes()).unwrap();
        assert!(refusals.is_empty(), "{refusals:?}");
        wrong.unless_equal(format!("{kind}: of a whole message"), findings, read);
    }
    wrong.none();
    let lacking =
        br#"{"creation_date_time":"2021-07-29T01:02:03.000Z","case_id":"C","case_type":"NONE","narrative":"N",
        "investigation_type_code":"INV14","mandate_details":{"payment_information":{"amount":{"currency":"AUD"}}},
        "payment_details":{"original_transaction_amount":{"amount":"1.00"}}}"#;
    let (refusals, findings) = Message::defects(MessageKind::Query, lacking).unwrap();
    let refusals: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    let lacks = |pointer| format!("{pointer}: expected a value, found none");
    let amounts = [
        "/payment_details/original_transaction_amount/currency",
        "/mandate_details/payment_information/amount/amount",
    ];
    assert_eq!(refusals, amounts.map(lacks));
    assert_eq!(rules_at(&findings, "/case_type"), [Rule::UnknownCode]);
    assert!(matches!(
        Message::defects(MessageKind::Query, b"{"),
        Err(MessageError::Json(_))
    ));
}

#[test]
fn only_the_members_of_the_table_must_be_there() {
    let mut wrong = Wrong::default();
    for (kind, document, pointers) in all() {
        for pointer in pointers {
            let (parent, name) = pointer.rsplit_once('/').unwrap();
            // The elements of a list have no names.
            let element = name == "0" || name == "1";
            let required = is_required(kind, &pointer) || element;
            let null = match replaced(kind, &document, &pointer, Value::Null) {
                Ok(read) => {
                    let rules = rules_at(&read.findings, &pointer).into_iter();
                    let rules =
                        rules.filter(|rule| matches!(rule, Rule::Null | Rule::DefaultRequired));
                    format!("{:?}", rules.collect::<Vec<_>>())
                }
                Err(error) => format!("{:?}", error.pointer()),
            };
            let expected = if required {
                format!("{:?}", Some(&pointer))
            } else {
                format!("{:?}", [Rule::Null])
            };
            // A null for a member that is required by default has two findings: one for null, and
            // one for absence.
            let twice = format!("{:?}", [Rule::Null, Rule::DefaultRequired]);
            let expected = if EXPECTED.contains(&&*pointer) {
                twice
            } else {
                expected
            };
            wrong.unless_equal(format!("{kind}{pointer} as null"), null, expected);
            if element {
                continue;
            }
            let mut without = document.clone();
            without
                .pointer_mut(parent)
                .unwrap()
                .as_object_mut()
                .unwrap()
                .remove(name);
            let absent = match Message::from_json(kind, without.to_string().as_bytes()) {
                Ok(read) => rules_at(&read.findings, &pointer).contains(&Rule::DefaultRequired),
                Err(MessageError::Missing { pointer: missed }) if missed == pointer && required => {
                    continue;
                }
                Err(error) => panic!("{kind}{pointer}: {error}"),
            };
            wrong.unless_equal(
                format!("{kind}{pointer} absent and required"),
                false,
                required,
            );
            wrong.unless_equal(
                format!("{kind}{pointer} absent"),
                absent,
                EXPECTED.contains(&&*pointer),
            );
        }
    }
    wrong.none();
}

/// Characters that a text may have, and characters next to them that it may not.
const PRINTABLE: (&str, &str) = (" !09@AZ[`az{~", "\u{0}\n\u{1f}\u{7f}\u{80}é👍");
const LETTERS_AND_DIGITS: (&str, &str) = ("09AZaz", " /:@[`{é٣");
const ANY: (&str, &str) = (" ~\u{0}\n\u{7f}é👍", "");
const DIGITS: (&str, &str) = ("09", " /:aé٣");

/// Default: the bounds of texts, with the characters that they may have.
#[test]
fn default_bounds_hold_on_both_sides() {
    let bounds = [
        ("/debtor_alias_name", 1_usize, 140, PRINTABLE),
        ("/error/code", 1, 35, ANY),
        ("/error/text", 1, 1000, ANY),
        ("/error/user_message", 1, 1000, ANY),
        ("/error/more_info", 1, 1000, ANY),
        ("/resolution_event/reason_code", 4, 4, LETTERS_AND_DIGITS),
        ("/resolution_event/reason_description", 1, 256, ANY),
        (
            "/details/amendment/debtor_information/party_name",
            1,
            140,
            PRINTABLE,
        ),
        (
            "/details/amendment/debtor_information/ultimate_party_name",
            1,
            140,
            PRINTABLE,
        ),
        (
            "/details/amendment/debtor_information/account_identification",
            1,
            34,
            PRINTABLE,
        ),
        (
            "/details/amendment/debtor_information/account_alias_identification",
            1,
            2048,
            ANY,
        ),
        (
            "/details/amendment/debtor_information/party_reference",
            1,
            35,
            PRINTABLE,
        ),
        (
            "/details/bilateral_amendment/transfer_arrangement",
            1,
            140,
            ANY,
        ),
        (
            "/details/bilateral_amendment/additional_information",
            1,
            140,
            ANY,
        ),
        (
            "/details/bilateral_amendment/payment_information/count_per_period",
            1,
            19,
            DIGITS,
        ),
        (
            "/details/bilateral_amendment/payment_information/point_in_time",
            2,
            2,
            DIGITS,
        ),
        (
            "/details/status_change/reason_code",
            4,
            4,
            LETTERS_AND_DIGITS,
        ),
        ("/details/status_change/reason_description", 1, 256, ANY),
        (
            "/original_transaction_reference/creditor_name",
            1,
            140,
            PRINTABLE,
        ),
        (
            "/original_transaction_reference/creditor_ultimate_name",
            1,
            140,
            PRINTABLE,
        ),
        (
            "/original_transaction_reference/creditor_account_identification",
            1,
            34,
            PRINTABLE,
        ),
        ("/mandate_details/additional_information", 1, 140, ANY),
        (
            "/mandate_details/debtor_information/party_name",
            1,
            140,
            PRINTABLE,
        ),
        (
            "/mandate_details/debtor_information/account_identification",
            1,
            34,
            PRINTABLE,
        ),
        (
            "/mandate_details/debtor_information/account_alias_identification",
            1,
            2048,
            ANY,
        ),
        (
            "/mandate_details/creditor_information/party_reference",
            1,
            35,
            PRINTABLE,
        ),
        (
            "/mandate_details/payment_information/count_per_period",
            1,
            19,
            DIGITS,
        ),
        (
            "/mandate_details/payment_information/point_in_time",
            2,
            2,
            DIGITS,
        ),
        // Without a bound.
        (
            "/original_transaction_reference/original_instruction_identification",
            0,
            3000,
            ANY,
        ),
        ("/payment_details/transaction_identification", 0, 3000, ANY),
        ("/payment_details/instruction_identification", 0, 3000, ANY),
        ("/mandate_details/description", 0, 3000, ANY),
    ];
    let (mut wrong, mut met) = (Wrong::default(), 0);
    for (kind, document, pointers) in all() {
        for (pointer, least, most, (good, bad)) in bounds
            .iter()
            .filter(|(at, ..)| pointers.iter().any(|p| p == at))
        {
            met += 1;
            // Returns true for the texts within the bound.
            let holds = |text: &str| {
                let read = replaced(kind, &document, pointer, text.into()).unwrap();
                !rules_at(&read.findings, pointer).contains(&Rule::DefaultBound)
            };
            let lengths = [(*least, true), (*most, true), (most + 1, *most == 3000)];
            for (length, expected) in lengths
                .into_iter()
                .chain(least.checked_sub(1).map(|less| (less, false)))
            {
                wrong.unless_equal(
                    format!("{pointer} of {length}"),
                    holds(&"7".repeat(length)),
                    expected,
                );
            }
            let characters = good
                .chars()
                .map(|c| (c, true))
                .chain(bad.chars().map(|c| (c, false)));
            for (character, expected) in characters {
                let text = String::from(character).repeat((*least).max(1));
                // A zero, or two, is the mark for "cleared", and no text.
                if !text.starts_with('0') {
                    wrong.unless_equal(format!("{pointer} of {text:?}"), holds(&text), expected);
                }
            }
        }
    }
    assert_eq!(met, bounds.len());
    wrong.none();
}

/// An unknown code breaks one rule if the list is the specification's, and another if it is a
/// default.
#[test]
fn unknown_codes_are_findings_of_their_lists() {
    use MessageKind::{
        MandateNotification as N, MandateOutcome as M, PaymentOutcome as P, Query as Q,
    };
    let codes = [
        (M, "/status", Rule::UnknownCode),
        (M, "/mandate_status", Rule::UnknownCode),
        (M, "/action_type", Rule::UnknownCode),
        (M, "/action_status", Rule::UnknownCode),
        (M, "/error/severity", Rule::DefaultCode),
        (N, "/trigger", Rule::UnknownCode),
        (N, "/mandate_status", Rule::UnknownCode),
        (N, "/action_type", Rule::UnknownCode),
        (N, "/action_status", Rule::UnknownCode),
        (
            N,
            "/details/amendment/debtor_information/party_type",
            Rule::DefaultCode,
        ),
        (
            N,
            "/details/amendment/debtor_information/account_identification_type_code",
            Rule::DefaultCode,
        ),
        (
            N,
            "/details/amendment/debtor_information/account_alias_type_code",
            Rule::DefaultCode,
        ),
        (
            N,
            "/details/bilateral_amendment/payment_information/payment_frequency",
            Rule::DefaultCode,
        ),
        (
            N,
            "/details/bilateral_amendment/payment_information/payment_amount_type",
            Rule::DefaultCode,
        ),
        (N, "/details/status_change/change", Rule::DefaultCode),
        (P, "/transaction_status", Rule::UnknownCode),
        (Q, "/investigation_type_code", Rule::UnknownCode),
        (Q, "/case_type", Rule::UnknownCode),
        (
            Q,
            "/mandate_details/establishment_scheme",
            Rule::DefaultCode,
        ),
        (
            Q,
            "/mandate_details/mandate_purpose_code",
            Rule::DefaultCode,
        ),
        (
            Q,
            "/mandate_details/debtor_information/account_identification_type_code",
            Rule::DefaultCode,
        ),
        (
            Q,
            "/mandate_details/debtor_information/account_alias_type_code",
            Rule::DefaultCode,
        ),
        (
            Q,
            "/mandate_details/payment_information/payment_frequency",
            Rule::DefaultCode,
        ),
        (
            Q,
            "/mandate_details/payment_information/payment_amount_type",
            Rule::DefaultCode,
        ),
    ];
    let (mut wrong, mut met) = (Wrong::default(), 0);
    for (kind, document, pointers) in all() {
        for (_, pointer, rule) in codes.iter().filter(|(of, ..)| *of == kind) {
            if !pointers.iter().any(|found| found == pointer) {
                continue;
            }
            met += 1;
            let read = replaced(kind, &document, pointer, "QQQQ".into()).unwrap();
            let found: Vec<Rule> = rules_at(&read.findings, pointer);
            wrong.unless_equal(format!("{kind}{pointer}"), found.first(), Some(rule));
        }
    }
    assert!(met >= codes.len(), "{met} codes");
    wrong.none();
}

/// Default: the mark for "cleared" in an amendment is recognised and written back.
#[test]
fn each_amended_member_has_its_mark() {
    let debtor = "/details/amendment/debtor_information/";
    let amendment = "/details/bilateral_amendment/";
    let payment = "/details/bilateral_amendment/payment_information/";
    let dash = || json!("-");
    let no_date = || json!("1000-01-01");
    let no_money = || json!({"currency": "ZZZ"});
    let marks = [
        (debtor, "party_type", dash()),
        (debtor, "party_name", dash()),
        (debtor, "ultimate_party_name", dash()),
        (debtor, "account_identification_type_code", dash()),
        (debtor, "account_identification", dash()),
        (debtor, "account_alias_type_code", dash()),
        (debtor, "account_alias_identification", dash()),
        (debtor, "party_reference", dash()),
        (amendment, "validity_end_date", no_date()),
        (amendment, "transfer_arrangement", dash()),
        (amendment, "additional_information", dash()),
        (payment, "payment_frequency", dash()),
        (
            payment,
            "payment_execute_not_before_time",
            json!("00:00:00-00:00"),
        ),
        (payment, "payment_execute_not_before_time", dash()),
        (payment, "count_per_period", json!("0")),
        (payment, "point_in_time", json!("00")),
        (payment, "payment_amount_type", dash()),
        (payment, "first_payment_date", no_date()),
        (payment, "first_payment_amount", no_money()),
        (payment, "last_payment_date", no_date()),
        (payment, "last_payment_amount", no_money()),
        (payment, "amount", no_money()),
        (payment, "maximum_amount", no_money()),
    ];
    let (mut wrong, mut met) = (Wrong::default(), 0);
    for (kind, document, pointers) in all() {
        for (within, member, mark) in &marks {
            let pointer = format!("{within}{member}");
            if !pointers.contains(&pointer) {
                continue;
            }
            met += 1;
            match replaced(kind, &document, &pointer, mark.clone()) {
                Ok(ParsedMessage {
                    message, findings, ..
                }) => {
                    let bad = rules_at(&findings, &pointer)
                        .into_iter()
                        .filter(|rule| *rule != Rule::AliasMissing);
                    let advice = [Rule::AccountMissing, Rule::AmountType];
                    let bad: Vec<Rule> = bad.filter(|rule| !advice.contains(rule)).collect();
                    wrong.unless_equal(format!("{pointer} of {mark}"), bad, vec![]);
                    let written: Value = serde_json::from_str(&message.to_json()).unwrap();
                    wrong.unless_equal(
                        format!("{pointer} of {mark}"),
                        written.pointer(&pointer),
                        Some(mark),
                    );
                    let shown = format!("{message:?}");
                    let cleared = shown.contains(&format!("{member}: Cleared"));
                    wrong.unless_equal(format!("{pointer} of {mark} is cleared"), cleared, true);
                }
                Err(error) => wrong.unless_equal(&pointer, error.to_string(), mark.to_string()),
            }
        }
    }
    assert_eq!(met, marks.len());
    wrong.none();
}

/// The patterns of the schemas accept texts of the form and refuse similar ones.
#[test]
fn patterns_of_the_schemas_take_the_form_and_nothing_near_it() {
    let components: Value = serde_json::from_str(&schema::components()).unwrap();
    let simple = (
        vec![
            "0b7c2f6e8a1d11eb8dcd0242ac130003",
            "ffffffffffff1fffbfffffffffffffff",
        ],
        vec![
            "0b7c2f6e8a1d11eb7dcd0242ac130003",
            "0b7c2f6e8a1d11ebcdcd0242ac130003",
            "0b7c2f6e8a1d41eb8dcd0242ac130003",
            "0B7c2f6e8a1d11eb8dcd0242ac130003",
            "0b7c2f6e8a1d11eb8dcd0242ac13000g",
            "0b7c2f6e8a1d11eb8dcd0242ac13000",
            "0b7c2f6e8a1d11eb8dcd0242ac1300030",
            "x0b7c2f6e8a1d11eb8dcd0242ac130003",
        ],
    );
    let time = (
        vec!["2021-07-29T01:02:03.450Z"],
        vec![
            "2021-07-29T01:02:03.45Z",
            "2021-07-29T01:02:03.4500Z",
            "2021-07-29T01:02:03Z",
            "2021-07-29T01:02:03x450Z",
            "2021-07-29 01:02:03.450Z",
            "2021-07-29T01:02:03.450+00:00",
            "2021-07-29T01:02:03.450Z ",
            "22021-07-29T01:02:03.450Z",
            "2021-7-29T01:02:03.450Z",
            "2021-07-29T1:02:03.450Z",
        ],
    );
    let places = [
        (
            "MandateActionOutcome",
            "mandate_identification",
            simple.clone(),
        ),
        (
            "MandateActionOutcome",
            "action_identification",
            simple.clone(),
        ),
        (
            "MandateNotification",
            "mandate_identification",
            simple.clone(),
        ),
        (
            "MandateNotification",
            "action_identification",
            simple.clone(),
        ),
        (
            "OriginalTransaction",
            "mandate_identification",
            simple.clone(),
        ),
        ("MandateDetails", "mandate_identification", simple),
        ("MandateActionOutcome", "creation_date_time", time.clone()),
        ("MandateNotification", "creation_date_time", time.clone()),
        ("PaymentOutcome", "creation_date_time", time.clone()),
        ("QueryNotification", "creation_date_time", time),
        (
            "MandateActionOutcome",
            "request_id",
            (
                vec![
                    "f3b1c0de-1111-4222-8333-444455556666",
                    "00000000-0000-0000-0000-0000000000ff",
                ],
                vec![
                    "f3b1c0de111142228333444455556666",
                    "f3b1c0de-1111-4222-8333-44445555666",
                    "f3b1c0de-1111-4222-8333-4444555566667",
                    "f3b1c0de-1111-4222-8333-44445555666g",
                    "F3b1c0de-1111-4222-8333-444455556666",
                    " f3b1c0de-1111-4222-8333-444455556666",
                ],
            ),
        ),
        (
            "PaymentOutcome",
            "uetr",
            (
                vec![
                    "ba5eba11-0000-4000-8000-00000000002a",
                    "ba5eba11-0000-4000-b000-00000000002a",
                ],
                vec![
                    "ba5eba11-0000-1000-8000-00000000002a",
                    "ba5eba11-0000-4000-7000-00000000002a",
                    "ba5eba11-0000-4000-c000-00000000002a",
                    "ba5eba110000400080000000000000002a",
                    "ba5eba11-0000-4000-8000-00000000002aa",
                ],
            ),
        ),
        (
            "MessageAmount",
            "currency",
            (vec!["AUD", "ZZZ"], vec!["AU", "AUDX", "aud", "A1D", " AUD"]),
        ),
        (
            "MessageAmount",
            "amount",
            (
                vec![
                    "0.00",
                    "1.05",
                    "1234567890123456.99",
                    "1",
                    "1.055",
                    "1.0555",
                ],
                vec![
                    "00.00",
                    "01.05",
                    "1.",
                    "1.05555",
                    "-1.05",
                    "12345678901234567.99",
                    "1,05",
                    ".05",
                    "1x05",
                ],
            ),
        ),
        (
            "PaymentInformation",
            "payment_execute_not_before_time",
            (
                vec!["09:30:00.000Z"],
                vec![
                    "9:30:00.000Z",
                    "09:30:00.00Z",
                    "09:30:00Z",
                    "09:30:00x000Z",
                    "09:30:00.000",
                    "109:30:00.000Z",
                ],
            ),
        ),
        (
            "PaymentInformation",
            "count_per_period",
            (
                vec!["1", "12.5", "-1", "0"],
                vec!["", "1.", ".5", "x", "1e3", "+1", " 1"],
            ),
        ),
        (
            "PaymentInformation",
            "point_in_time",
            (vec!["05", "99"], vec!["0x", "5 ", "٣٣"]),
        ),
        (
            "StatusChange",
            "reason_code",
            (vec!["MS02", "az09"], vec!["MS-2", "MS 2", "MS0é"]),
        ),
        (
            "CreditorInformation",
            "party_reference",
            (vec![" ~", "a"], vec!["é", "\u{7f}", "\n"]),
        ),
    ];
    let mut wrong = Wrong::default();
    for (name, member, (good, bad)) in places {
        let schema = &components[name]["properties"][member];
        let pattern = schema["pattern"]
            .as_str()
            .unwrap_or_else(|| panic!("{name}/{member}: {schema}"));
        let pattern = Regex::new(pattern).unwrap();
        for (text, expected) in good
            .iter()
            .map(|text| (text, true))
            .chain(bad.iter().map(|text| (text, false)))
        {
            wrong.unless_equal(
                format!("{name}/{member} {text:?}"),
                pattern.is_match(text),
                expected,
            );
        }
    }
    for (name, member) in [
        ("BilateralAmendment", "validity_end_date"),
        ("PaymentDetails", "transaction_date"),
    ] {
        let schema = &components[name]["properties"][member];
        let date = schema["anyOf"].get(0).unwrap_or(schema);
        let (kind, format) = (date["type"].as_str(), date["format"].as_str());
        wrong.unless_equal(
            format!("{name}/{member}"),
            (kind, format),
            (Some("string"), Some("date")),
        );
    }
    wrong.none();
}

/// Default: an amount has up to 16 digits and two decimals, without leading zeros or a sign.
#[test]
fn a_time_of_day_is_within_a_day_and_has_nothing_behind_it() {
    for (millis, text) in [
        (0, Some("00:00:00.000Z")),
        (34_200_001, Some("09:30:00.001Z")),
        (86_399_999, Some("23:59:59.999Z")),
        (86_400_000, None),
        (u32::MAX, None),
    ] {
        let time = TimeOfDay::from_millis(millis);
        assert_eq!(
            time.map(|time| time.to_string()).as_deref(),
            text,
            "{millis}"
        );
        assert_eq!(
            time,
            text.map(|text| TimeOfDay::parse(text).unwrap()),
            "{millis}"
        );
        assert!(time.is_none_or(|time| time.millis() == millis), "{millis}");
    }
    for (text, digits) in [("09:30:00Z", 0), ("09:30:00.5Z", 1), ("09:30:00.000Z", 3)] {
        assert_eq!(
            TimeOfDay::parse_with_precision(text).unwrap().1,
            digits,
            "{text}"
        );
        for behind in [" ", "x", "+00:00", "é"] {
            assert!(
                TimeOfDay::parse_with_precision(&format!("{text}{behind}")).is_err(),
                "{text}{behind}"
            );
        }
    }
}

#[test]
fn amounts_have_up_to_16_digits_and_two_decimals() {
    let (mut wrong, mut met) = (Wrong::default(), 0);
    for (kind, document, pointers) in all() {
        for pointer in pointers
            .iter()
            .filter(|pointer| pointer.ends_with("amount/amount"))
        {
            met += 1;
            for (text, good) in [
                ("0.00", true),
                ("1.05", true),
                ("1234567890123456.99", true),
                ("12345678901234567.99", false),
                ("1.5", false),
                ("1.055", false),
                ("1", false),
                ("-1.05", false),
                ("01.05", false),
            ] {
                let read = replaced(kind, &document, pointer, text.into()).unwrap();
                let found = rules_at(&read.findings, pointer);
                let expected = if good {
                    vec![]
                } else {
                    vec![Rule::DefaultBound]
                };
                wrong.unless_equal(format!("{pointer} {text}"), found, expected);
            }
        }
    }
    assert_eq!(met, 4 + 1 + 1 + 4);
    wrong.none();
}
