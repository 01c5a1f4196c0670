//! The schemas of messages against the code: names and bounds, in both directions.

use crate::rows::Wrong;
use crate::wire_names::documents;
use bankrail_webhook::*;
use regex::Regex;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn components() -> Value {
    serde_json::from_str(&schema::components()).unwrap()
}

/// A member of a document: its pointer, its schema and whether it is required.
struct Place {
    pointer: String,
    schema: Value,
    required: bool,
}

/// Goes through a value and its schema together. Panics at a member without a schema.
struct Walk<'a> {
    components: &'a Value,
    members: BTreeSet<String>,
    places: Vec<Place>,
}

impl Walk<'_> {
    fn go(&mut self, value: &Value, schema: &Value, within: &str, pointer: &str) {
        if let Some(name) = schema["$ref"]
            .as_str()
            .and_then(|reference| reference.rsplit('/').next())
        {
            return self.go(value, &self.components[name].clone(), name, pointer);
        }
        if let Some(variants) = schema["oneOf"].as_array() {
            let has = |variant: &&Value| {
                value
                    .get(variant["required"][0].as_str().unwrap())
                    .is_some()
            };
            return self.go(value, variants.iter().find(has).unwrap(), within, pointer);
        }
        // The value itself; the others are marks for "cleared" or any code.
        if let Some(first) = schema["anyOf"].get(0) {
            return self.go(value, first, within, pointer);
        }
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    let schema = schema["properties"].get(name);
                    let known = schema.unwrap_or_else(|| panic!("{pointer}/{name} has no schema"));
                    self.members.insert(format!("{within}/{name}"));
                    self.go(member, known, within, &format!("{pointer}/{name}"));
                }
                for name in members.keys() {
                    let required = schema["required"]
                        .as_array()
                        .is_some_and(|all| all.contains(&json!(name)));
                    let (pointer, schema) = (
                        format!("{pointer}/{name}"),
                        schema["properties"][name].clone(),
                    );
                    self.places.push(Place {
                        pointer,
                        schema,
                        required,
                    });
                }
            }
            Value::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    self.go(
                        element,
                        &schema["items"],
                        within,
                        &format!("{pointer}/{index}"),
                    );
                }
            }
            Value::String(text) => {
                if let Some(pattern) = schema["pattern"].as_str() {
                    assert!(
                        Regex::new(pattern).unwrap().is_match(text),
                        "{pointer}: {text} is not {pattern}"
                    );
                }
                if let Some(codes) = schema.get("enum").and_then(Value::as_array) {
                    assert!(codes.contains(value), "{pointer}: {text}");
                }
                let length = text.chars().count() as u64;
                assert!(
                    schema["minLength"]
                        .as_u64()
                        .is_none_or(|least| length >= least),
                    "{pointer}"
                );
                assert!(
                    schema["maxLength"]
                        .as_u64()
                        .is_none_or(|most| length <= most),
                    "{pointer}"
                );
            }
            other => assert_eq!(
                schema["type"],
                if other.is_boolean() { "boolean" } else { "?" },
                "{pointer}"
            ),
        }
    }
}

fn walk<'a>(components: &'a Value, kind: MessageKind, document: &Value) -> Walk<'a> {
    let mut walk = Walk {
        components,
        members: BTreeSet::new(),
        places: Vec::new(),
    };
    let root = &components[schema::name(kind)];
    walk.go(document, root, schema::name(kind), "");
    walk
}

/// The documents have every member that the specification and the defaults name, typed by hand.
#[test]
fn the_schemas_have_the_members_of_the_messages_and_no_others() {
    let components = components();
    let mut met = BTreeSet::new();
    for (document, message, _) in documents() {
        let document = serde_json::from_str(document).unwrap();
        met.extend(walk(&components, message.kind(), &document).members);
    }
    let mut declared = BTreeSet::new();
    for (name, schema) in components.as_object().unwrap() {
        let variants = schema["oneOf"]
            .as_array()
            .cloned()
            .unwrap_or_else(|| vec![schema.clone()]);
        for variant in variants {
            let properties = variant["properties"].as_object().unwrap().clone();
            declared.extend(properties.keys().map(|member| format!("{name}/{member}")));
        }
    }
    let acknowledgement = ["Acknowledgement/id", "Acknowledgement/status"].map(str::to_owned);
    met.extend(acknowledgement);
    assert_eq!(met, declared);
    assert_eq!(
        components[schema::ACKNOWLEDGEMENT]["properties"]["status"],
        json!({ "const": "RCVD" })
    );
}

#[test]
fn every_sample_is_as_its_schema_says() {
    let components = components();
    for message in samples::all() {
        walk(
            &components,
            message.kind(),
            &serde_json::from_str(&message.to_json()).unwrap(),
        );
    }
}

/// The contract's description of a member: its form, its codes, and its documentation without
/// marks.
#[test]
fn members_are_described_in_full() {
    let components = components();
    let codes = |codes: &[&str], description: &str| {
        let known = json!({ "enum": codes });
        json!({ "anyOf": [known, { "type": "string" }], "description": description })
    };
    for (pointer, schema) in [
        (
            "/PaymentOutcome/properties/transaction_status",
            codes(
                &["ACSC", "ACSP", "PDNG", "RJCT"],
                "The payment's status; part of the duplicate check key.",
            ),
        ),
        (
            "/StatusChange/properties/change",
            codes(
                &["CNCL", "RELS", "SUSP"],
                "The change of status. Default: required.",
            ),
        ),
        (
            "/PaymentOutcome/properties/transaction_status_additional_information",
            json!({
                "type": "array",
                "items": { "type": "string", "minLength": 1, "maxLength": 105 },
                "description": "More about the status, 1 to 105 characters each.",
            }),
        ),
        (
            "/PaymentOutcome/description",
            json!(
                "The outcome of a payment instruction (MPIRActionOutcome). Several arrive for one instruction, in any \
                 order."
            ),
        ),
        (
            "/Details/oneOf/0/properties/amendment",
            json!({ "$ref": "#/components/schemas/Amendment" }),
        ),
    ] {
        assert_eq!(components.pointer(pointer), Some(&schema), "{pointer}");
    }
}

/// Returns true if a value satisfies a schema that uses the keywords of conditions only.
fn holds(schema: &Value, value: &Value) -> bool {
    schema
        .as_object()
        .unwrap()
        .iter()
        .all(|(word, said)| match word.as_str() {
            "if" => !holds(said, value) || holds(&schema["then"], value),
            "then" => true,
            "not" => !holds(said, value),
            "anyOf" => said
                .as_array()
                .unwrap()
                .iter()
                .any(|schema| holds(schema, value)),
            "required" => said
                .as_array()
                .unwrap()
                .iter()
                .all(|name| value.get(name.as_str().unwrap()).is_some()),
            "properties" => {
                let mut members = said.as_object().unwrap().iter();
                members.all(|(name, schema)| {
                    value.get(name).is_none_or(|member| holds(schema, member))
                })
            }
            "enum" => said.as_array().unwrap().contains(value),
            "pattern" => Regex::new(said.as_str().unwrap())
                .unwrap()
                .is_match(value.as_str().unwrap()),
            "maxLength" => value.as_str().unwrap().chars().count() as u64 <= said.as_u64().unwrap(),
            other => panic!("{other}"),
        })
}

/// A message that breaks one of the specification's conditions has a finding, and is not as its
/// schema says.
#[test]
fn conditions_between_members_are_those_of_the_code() {
    let components = components();
    let mut wrong = Wrong::default();
    let mut met = BTreeSet::new();
    let mut compare = |message: Message, name: &str, at: &str, rules: &[Rule]| {
        let document: Value = serde_json::from_str(&message.to_json()).unwrap();
        let object = document.pointer(at).unwrap();
        let conditions = components[name]["allOf"].as_array().unwrap();
        let holds = conditions.iter().all(|condition| holds(condition, object));
        let is_broken = message
            .validate()
            .iter()
            .any(|finding| rules.contains(&finding.rule));
        met.insert((name.to_owned(), is_broken));
        wrong.unless_equal(object, holds, !is_broken);
    };
    for status in TransactionStatus::KNOWN {
        for reason in [Some("AM04"), None] {
            let mut outcome = samples::payment_outcome(status);
            outcome.transaction_status_reason_code = reason.map(|reason| reason.parse().unwrap());
            compare(
                outcome.into(),
                "PaymentOutcome",
                "",
                &[Rule::RejectionReason],
            );
        }
    }
    for action in ActionType::KNOWN.iter().cloned().map(Some).chain([None]) {
        for (bilateral, alias) in [
            (None, None),
            (Some(true), None),
            (Some(false), None),
            (None, Some("A")),
        ] {
            let mut outcome =
                samples::mandate_outcome(&ActionType::Create, &ActionStatus::Completed);
            outcome.action_type = action.clone();
            (outcome.bilateral, outcome.debtor_alias_name) = (bilateral, alias.map(str::to_owned));
            compare(
                outcome.into(),
                "MandateActionOutcome",
                "",
                &[Rule::Bilateral, Rule::DebtorAliasName],
            );
        }
    }
    let longest = |more: usize| format!("a@{}", "b".repeat(254 + more));
    let texts = [
        "+61-412345678",
        "+61-012",
        "a@b",
        "A@b",
        "123456789",
        "1234567890",
        "12345678901",
        "acme park",
    ];
    let texts = texts
        .into_iter()
        .chain(["Acme", " acme", "XX", "*X*", "XXa", ""])
        .map(str::to_owned);
    for text in texts.chain([longest(0), longest(1)]) {
        for alias_type in AliasType::KNOWN
            .iter()
            .cloned()
            .map(Some)
            .chain([Some("NEWS".into()), None])
        {
            let mut debtor = DebtorInformation::new().account_alias_identification(text.clone());
            debtor.account_alias_type_code = alias_type.clone();
            let mut query = samples::query(&CaseType::Mandate);
            query.mandate_details.debtor_information = Some(debtor);
            let at = "/mandate_details/debtor_information";
            compare(query.into(), "DebtorInformation", at, &[Rule::AliasFormat]);
            for alias in [Amended::Changed(text.clone()), Amended::Cleared] {
                let mut debtor = AmendedDebtor::new().account_alias_identification(alias);
                debtor.account_alias_type_code =
                    alias_type.clone().map_or(Amended::Absent, Amended::Changed);
                let message = samples::mandate_notification(&Trigger::AmendedUnilaterally).unwrap();
                let message = message.details(Amendment::new().debtor_information(debtor));
                compare(
                    message.into(),
                    "AmendedDebtor",
                    "/details/amendment/debtor_information",
                    &[Rule::AliasFormat],
                );
            }
        }
    }
    assert_eq!(met.len(), 8, "each is kept and broken: {met:?}");
    wrong.none();
}

/// A text of as many characters as the schema allows is read without a finding, and one more is
/// refused or reported. A member is required in the schema exactly if the message cannot be read
/// without it.
#[test]
fn bounds_and_required_members_are_those_of_the_code() {
    let components = components();
    let mut bounds = 0;
    for (document, message, _) in documents() {
        let document: Value = serde_json::from_str(document).unwrap();
        let changed = |pointer: &str, replacement: Option<Value>| {
            let mut changed = document.clone();
            let (parent, name) = pointer.rsplit_once('/').unwrap();
            let parent = changed
                .pointer_mut(parent)
                .unwrap()
                .as_object_mut()
                .unwrap();
            match replacement {
                Some(value) => parent.insert(name.to_owned(), value),
                None => parent.remove(name),
            };
            Message::from_json(message.kind(), changed.to_string().as_bytes())
        };
        for Place {
            pointer,
            schema,
            required,
        } in walk(&components, message.kind(), &document).places
        {
            // Details without a variant are kept and reported; none are sent.
            let variant = [
                "/details/amendment",
                "/details/bilateral_amendment",
                "/details/status_change",
            ];
            let missed = changed(&pointer, None).is_err() || variant.contains(&&*pointer);
            assert_eq!(missed, required, "{pointer}");
            let schema = schema["anyOf"].get(0).unwrap_or(&schema);
            let (Some(least), Some(most)) =
                (schema["minLength"].as_u64(), schema["maxLength"].as_u64())
            else {
                continue;
            };
            // Aliases have the form of their type beside their bound.
            if pointer.ends_with("account_alias_identification") {
                continue;
            }
            bounds += 1;
            let holds = |text: String| {
                let read = changed(&pointer, Some(json!(text)));
                read.is_ok_and(|parsed| {
                    let bound = |rule| matches!(rule, Rule::DefaultBound | Rule::ReminderCount);
                    !parsed
                        .findings
                        .iter()
                        .any(|finding| finding.pointer == pointer && bound(finding.rule))
                })
            };
            for (length, good) in [
                (least - 1, false),
                (least, true),
                (most, true),
                (most + 1, false),
            ] {
                assert_eq!(
                    holds("7".repeat(length as usize)),
                    good,
                    "{pointer}: {length} characters"
                );
            }
            if schema["pattern"].is_string() {
                assert!(
                    !holds("é".repeat(least as usize)),
                    "{pointer}: a character outside of the pattern"
                );
            }
        }
    }
    assert!(bounds > 30, "{bounds} bounds");
}
