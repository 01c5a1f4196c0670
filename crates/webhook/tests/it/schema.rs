//! The schemas of messages against the code: names and bounds, in both directions.

use crate::wire_names::documents;
use bankrail_webhook::{Message, MessageKind, Rule, samples, schema};
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
        if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()) {
            return self.go(value, &self.components[name].clone(), name, pointer);
        }
        if let Some(variants) = schema["oneOf"].as_array() {
            let has = |variant: &&Value| value.get(variant["required"][0].as_str().unwrap()).is_some();
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
                    let required = schema["required"].as_array().is_some_and(|all| all.contains(&json!(name)));
                    let (pointer, schema) = (format!("{pointer}/{name}"), schema["properties"][name].clone());
                    self.places.push(Place { pointer, schema, required });
                }
            }
            Value::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    self.go(element, &schema["items"], within, &format!("{pointer}/{index}"));
                }
            }
            Value::String(text) => {
                if let Some(pattern) = schema["pattern"].as_str() {
                    assert!(Regex::new(pattern).unwrap().is_match(text), "{pointer}: {text} is not {pattern}");
                }
                if let Some(codes) = schema.get("enum").and_then(Value::as_array) {
                    assert!(codes.contains(value), "{pointer}: {text}");
                }
                let length = text.chars().count() as u64;
                assert!(schema["minLength"].as_u64().is_none_or(|least| length >= least), "{pointer}");
                assert!(schema["maxLength"].as_u64().is_none_or(|most| length <= most), "{pointer}");
            }
            other => assert_eq!(schema["type"], if other.is_boolean() { "boolean" } else { "?" }, "{pointer}"),
        }
    }
}

fn walk<'a>(components: &'a Value, kind: MessageKind, document: &Value) -> Walk<'a> {
    let mut walk = Walk { components, members: BTreeSet::new(), places: Vec::new() };
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
        let variants = schema["oneOf"].as_array().cloned().unwrap_or_else(|| vec![schema.clone()]);
        for variant in variants {
            let properties = variant["properties"].as_object().unwrap().clone();
            declared.extend(properties.keys().map(|member| format!("{name}/{member}")));
        }
    }
    let acknowledgement = ["Acknowledgement/id", "Acknowledgement/status"].map(str::to_owned);
    met.extend(acknowledgement);
    assert_eq!(met, declared);
    assert_eq!(components[schema::ACKNOWLEDGEMENT]["properties"]["status"], json!({ "const": "RCVD" }));
}

#[test]
fn every_sample_is_as_its_schema_says() {
    let components = components();
    for message in samples::all() {
        walk(&components, message.kind(), &serde_json::from_slice(&message.to_json()).unwrap());
    }
}

/// A text of as many characters as the schema allows is read without a finding, and one more is refused or reported.
/// A member is required in the schema exactly if the message cannot be read without it.
#[test]
fn bounds_and_required_members_are_those_of_the_code() {
    let components = components();
    let mut bounds = 0;
    for (document, message, _) in documents() {
        let document: Value = serde_json::from_str(document).unwrap();
        let changed = |pointer: &str, replacement: Option<Value>| {
            let mut changed = document.clone();
            let (parent, name) = pointer.rsplit_once('/').unwrap();
            let parent = changed.pointer_mut(parent).unwrap().as_object_mut().unwrap();
            match replacement {
                Some(value) => parent.insert(name.to_owned(), value),
                None => parent.remove(name),
            };
            Message::from_json(message.kind(), changed.to_string().as_bytes())
        };
        for Place { pointer, schema, required } in walk(&components, message.kind(), &document).places {
            // Details without a variant are kept and reported; none are sent.
            let variant = ["/details/amendment", "/details/bilateral_amendment", "/details/status_change"];
            let missed = changed(&pointer, None).is_err() || variant.contains(&&*pointer);
            assert_eq!(missed, required, "{pointer}");
            let schema = schema["anyOf"].get(0).unwrap_or(&schema);
            let (Some(least), Some(most)) = (schema["minLength"].as_u64(), schema["maxLength"].as_u64()) else {
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
                    !parsed.findings.iter().any(|finding| finding.pointer == pointer && bound(finding.rule))
                })
            };
            for (length, good) in [(least - 1, false), (least, true), (most, true), (most + 1, false)] {
                assert_eq!(holds("7".repeat(length as usize)), good, "{pointer}: {length} characters");
            }
            if schema["pattern"].is_string() {
                assert!(!holds("é".repeat(least as usize)), "{pointer}: a character outside of the pattern");
            }
        }
    }
    assert!(bounds > 30, "{bounds} bounds");
}
