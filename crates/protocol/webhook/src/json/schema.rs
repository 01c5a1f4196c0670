//! JSON Schemas of the types of values, for contracts.

#![allow(
    clippy::indexing_slicing,
    reason = "members of JSON objects that are made here"
)]

use super::Bound;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The schemas of objects by the names of their types.
#[derive(Debug, Default)]
pub(crate) struct Schemas(BTreeMap<&'static str, Value>);

impl Schemas {
    /// Returns a reference to an object's schema, and makes the schema from `members` if it is
    /// missing.
    pub(crate) fn object(
        &mut self,
        name: &'static str,
        description: &str,
        members: impl FnOnce(&mut Self) -> Vec<Member>,
    ) -> Value {
        if !self.0.contains_key(name) {
            let members = members(self);
            self.0.insert(name, schema(description, members));
        }
        reference(name)
    }

    pub(crate) fn insert(&mut self, name: &'static str, schema: Value) -> Value {
        self.0.insert(name, schema);
        reference(name)
    }

    /// Restricts a member of an object to one value. The object's schema must exist.
    pub(crate) fn fix(&mut self, name: &'static str, member: &'static str, value: &str) {
        if let Some(schema) = self
            .0
            .get_mut(name)
            .and_then(|object| object["properties"].get_mut(member))
        {
            *schema = json!({ "const": value });
        }
    }

    /// Adds a condition to an object. The object's schema must exist.
    pub(crate) fn condition(&mut self, name: &'static str, condition: Value) {
        if let Some(schema) = self.0.get_mut(name) {
            match &mut schema["allOf"] {
                Value::Array(conditions) => conditions.push(condition),
                none => *none = json!([condition]),
            }
        }
    }

    pub(crate) fn into_json(self) -> String {
        json!(self.0).to_string()
    }
}

/// A member of an object.
pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) required: bool,
    pub(crate) description: &'static str,
    pub(crate) schema: Value,
}

impl Member {
    fn described(self) -> Value {
        let mut schema = self.schema;
        if let Some(text) = text_of(self.description) {
            schema["description"] = json!(text);
        }
        schema
    }
}

/// Makes an object's schema. This function is separate from the generic one, which is compiled for
/// each type of message.
fn schema(description: &str, members: Vec<Member>) -> Value {
    let required: Vec<_> = members
        .iter()
        .filter(|member| member.required)
        .map(|member| member.name)
        .collect();
    let properties = members
        .into_iter()
        .map(|member| (member.name.to_owned(), member.described()));
    let mut schema = json!({ "type": "object", "properties": properties.collect::<Map<_, _>>() });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if let Some(text) = text_of(description) {
        schema["description"] = json!(text);
    }
    schema
}

/// Returns a reference within an OpenAPI document.
fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// Returns the text of a documentation comment, without the marks of links and code.
fn text_of(documentation: &str) -> Option<String> {
    let text = documentation.trim().replace(['[', ']', '`'], "");
    (!text.is_empty()).then_some(text)
}

/// Returns the schema of a text with a bound.
pub(crate) fn text(bound: Option<&Bound>) -> Value {
    let mut schema = json!({ "type": "string" });
    if let Some(bound) = bound {
        schema["minLength"] = json!(bound.min);
        schema["maxLength"] = json!(bound.max);
        if let Some(pattern) = bound.pattern {
            schema["pattern"] = json!(pattern);
        }
    }
    schema
}

/// Returns the schema of a text with a pattern.
pub(crate) fn pattern(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

/// Returns the schema of a code of an open list.
pub(crate) fn code(known: &[&str]) -> Value {
    json!({ "anyOf": [{ "enum": known }, { "type": "string" }] })
}

/// Returns the schema of a value or one of its marks for "cleared".
pub(crate) fn amended(value: Value, marks: &[&str]) -> Value {
    let marks = marks.iter().map(|mark| {
        let mark: Value = serde_json::from_str(mark).expect("each mark is JSON");
        json!({ "const": mark })
    });
    json!({ "anyOf": std::iter::once(value).chain(marks).collect::<Vec<_>>() })
}
