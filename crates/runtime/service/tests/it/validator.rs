//! A validator of answers for the part of JSON Schema and OpenAPI that the provider's document
//! uses.

use regex::Regex;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Compares answers with an OpenAPI document, and records the parts of the document that were met.
pub(crate) struct Validator {
    pub(crate) document: Value,
    met: RefCell<BTreeSet<String>>,
}

/// The headers that the transport adds to answers.
const OF_TRANSPORT: [&str; 3] = ["content-type", "content-length", "allow"];

/// The keywords that the validator supports; it would ignore any other one in a schema.
const KEYWORDS: [&str; 24] = [
    "$ref",
    "allOf",
    "anyOf",
    "const",
    "contentMediaType",
    "contentSchema",
    "description",
    "else",
    "enum",
    "format",
    "if",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minLength",
    "minimum",
    "not",
    "oneOf",
    "pattern",
    "properties",
    "required",
    "then",
];

impl Validator {
    pub(crate) fn new(document: Value) -> Self {
        Self {
            document,
            met: RefCell::default(),
        }
    }

    fn meet(&self, part: String) {
        self.met.borrow_mut().insert(part);
    }

    fn resolve<'v>(&'v self, value: &'v Value) -> &'v Value {
        match value.get("$ref").and_then(Value::as_str) {
            Some(reference) => self
                .document
                .pointer(reference.trim_start_matches('#'))
                .unwrap(),
            None => value,
        }
    }

    /// Panics unless the answer fits the document.
    pub(crate) fn answer(
        &self,
        path: &str,
        method: &str,
        status: u16,
        headers: &[(&str, &str)],
        body: &Value,
    ) {
        let at = format!("{method} {path} {status}");
        let answers = &self.document["paths"][path][method]["responses"];
        let declared = answers
            .get(status.to_string())
            .unwrap_or_else(|| panic!("{at} is not in the document"));
        self.meet(at.clone());
        let named = declared["headers"].as_object().unwrap();
        for (name, header) in named {
            let header = self.resolve(header);
            let found = headers
                .iter()
                .find(|(found, _)| found.eq_ignore_ascii_case(name));
            match found {
                Some((_, value)) => {
                    self.check(
                        &header["schema"],
                        &Value::from(*value),
                        &format!("{at} {name}"),
                        None,
                    )
                    .unwrap();
                    self.meet(header_part(&at, name, header));
                }
                None => assert_ne!(header["required"], true, "{at}: expected {name}"),
            }
        }
        for (name, _) in headers
            .iter()
            .filter(|(name, _)| !OF_TRANSPORT.contains(name))
        {
            let known = named.keys().any(|known| known.eq_ignore_ascii_case(name));
            assert!(known, "{at}: {name} is not in the document");
        }
        match declared.get("content") {
            Some(content) => {
                let schema = &content["application/json"]["schema"];
                self.check(schema, body, &at, None)
                    .unwrap_or_else(|error| panic!("{error}: {body}"));
            }
            None => assert!(body.is_null(), "{at}: a body"),
        }
    }

    pub(crate) fn fits(&self, name: &str, value: &Value) -> bool {
        self.check(
            &self.document["components"]["schemas"][name],
            value,
            name,
            Some(name),
        )
        .is_ok()
    }

    /// Panics unless each path, status, header, member and enumerated value of answers was met.
    pub(crate) fn everything_was_met(&self) {
        let mut parts = BTreeSet::new();
        for (path, item) in self.document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                for (status, answer) in operation["responses"].as_object().unwrap() {
                    let at = format!("{method} {path} {status}");
                    let headers = answer["headers"].as_object().unwrap();
                    parts.extend(
                        headers
                            .iter()
                            .map(|(name, header)| header_part(&at, name, self.resolve(header))),
                    );
                    if let Some(content) = answer.get("content") {
                        self.parts_of(&content["application/json"]["schema"], &at, &mut parts);
                    }
                    parts.insert(at);
                }
            }
        }
        let met = self.met.borrow();
        let missed: Vec<_> = parts.difference(&met).collect();
        assert!(
            missed.is_empty(),
            "in the document and in no answer: {missed:#?}"
        );
    }

    /// Collects the members and enumerated values of a schema, under the name of the schema that
    /// has them.
    fn parts_of(&self, schema: &Value, at: &str, parts: &mut BTreeSet<String>) {
        let at = name_of(schema).unwrap_or(at).to_owned();
        let schema = self.resolve(schema);
        for (name, member) in schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            parts.insert(format!("{at}/{name}"));
            self.parts_of(member, &format!("{at}/{name}"), parts);
        }
        for value in schema
            .get("enum")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            // The order of a statement has its own tests.
            if !at.ends_with("/sortOrder") {
                parts.insert(format!("{at}={value}"));
            }
        }
        for keyword in ["allOf", "anyOf"] {
            for one in schema
                .get(keyword)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                self.parts_of(one, &at, parts);
            }
        }
    }

    /// Returns the place and the reason of a deviation of the value from the schema.
    fn check(
        &self,
        schema: &Value,
        value: &Value,
        at: &str,
        within: Option<&str>,
    ) -> Result<(), String> {
        let at = name_of(schema).unwrap_or(at);
        let schema = self
            .resolve(schema)
            .as_object()
            .ok_or_else(|| format!("{at}: no schema"))?;
        let wrong = |keyword: &str| Err(format!("{at}: {keyword}"));
        for (keyword, rule) in schema {
            let holds = match keyword.as_str() {
                "type" => match rule {
                    Value::Array(types) => types.iter().any(|one| has_type(value, one)),
                    one => has_type(value, one),
                },
                "const" => value == rule,
                "enum" => {
                    self.meet(format!("{at}={value}"));
                    rule.as_array().unwrap().contains(value)
                }
                "pattern" => value
                    .as_str()
                    .is_none_or(|text| Regex::new(rule.as_str().unwrap()).unwrap().is_match(text)),
                "minLength" => length(value).is_none_or(|found| found >= rule.as_u64().unwrap()),
                "maxLength" => length(value).is_none_or(|found| found <= rule.as_u64().unwrap()),
                "minimum" => value
                    .as_f64()
                    .is_none_or(|found| found >= rule.as_f64().unwrap()),
                "maximum" => value
                    .as_f64()
                    .is_none_or(|found| found <= rule.as_f64().unwrap()),
                "maxItems" => value
                    .as_array()
                    .is_none_or(|found| found.len() as u64 <= rule.as_u64().unwrap()),
                "maxProperties" => value
                    .as_object()
                    .is_none_or(|found| found.len() as u64 <= rule.as_u64().unwrap()),
                "required" => {
                    let names = rule
                        .as_array()
                        .unwrap()
                        .iter()
                        .map(|name| name.as_str().unwrap());
                    value
                        .as_object()
                        .is_none_or(|found| names.clone().all(|name| found.contains_key(name)))
                }
                "properties" => {
                    for (name, member) in value.as_object().into_iter().flatten() {
                        match rule.get(name) {
                            Some(schema) => {
                                self.meet(format!("{at}/{name}"));
                                self.check(schema, member, &format!("{at}/{name}"), within)?;
                            }
                            // In an answer, every member is one that the document names.
                            None if within.is_none() && schema.contains_key("type") => {
                                return Err(format!("{at}/{name} is not in the document"));
                            }
                            None => {}
                        }
                    }
                    true
                }
                "items" => {
                    for element in value.as_array().into_iter().flatten() {
                        self.check(rule, element, at, within)?;
                    }
                    true
                }
                "allOf" => {
                    for one in rule.as_array().unwrap() {
                        self.check(one, value, at, within)?;
                    }
                    true
                }
                "anyOf" => rule
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|one| self.check(one, value, at, within).is_ok()),
                "oneOf" => {
                    let fit = rule
                        .as_array()
                        .unwrap()
                        .iter()
                        .filter(|one| self.check(one, value, at, within).is_ok());
                    fit.count() == 1
                }
                "if" => {
                    let branch = if self.check(rule, value, at, within).is_ok() {
                        "then"
                    } else {
                        "else"
                    };
                    schema
                        .get(branch)
                        .is_none_or(|branch| self.check(branch, value, at, within).is_ok())
                }
                "not" => self.check(rule, value, at, within).is_err(),
                known => {
                    assert!(
                        KEYWORDS.contains(&known),
                        "{at}: the validator does not know {known}"
                    );
                    true
                }
            };
            if !holds {
                return wrong(keyword);
            }
        }
        Ok(())
    }
}

/// Returns the part's name of a header. A required header must occur with each status, another one
/// with any.
fn header_part(at: &str, name: &str, header: &Value) -> String {
    if header["required"] == true {
        format!("{at} {name}")
    } else {
        name.to_owned()
    }
}

/// Returns the name of the referenced schema.
fn name_of(schema: &Value) -> Option<&str> {
    schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| reference.rsplit('/').next())
}

fn length(value: &Value) -> Option<u64> {
    value.as_str().map(|text| text.chars().count() as u64)
}

fn has_type(value: &Value, name: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        other => panic!("the validator does not know the type {other}"),
    }
}
