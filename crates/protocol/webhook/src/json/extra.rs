//! Members that this version does not know.

use super::{Context, ObjectOut};
use crate::finding::Rule;
use bankrail_values::json::JsonObject;
use std::fmt;

/// Members that this version does not know.
///
/// They are kept in their order and spelling, and written back after the known ones, because minor
/// releases of the service add members. Each is a [`Rule::UnknownMember`] finding.
///
/// Two values are equal if they have the same members with the same JSON text in the same order.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ExtraMembers(Vec<(Box<str>, Box<str>)>);

impl ExtraMembers {
    /// Returns true if there are no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the name and JSON text of each member, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_ref(), value.as_ref()))
    }

    /// Returns the JSON text of a member.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter()
            .find_map(|(candidate, value)| (candidate == name).then_some(value))
    }

    /// Returns the members of an object whose names are not among `known`.
    pub(crate) fn keep(object: &JsonObject<'_>, known: &[&str]) -> Self {
        let unknown = object
            .members()
            .iter()
            .filter(|member| !known.contains(&member.name()));
        Self(
            unknown
                .map(|member| (member.name().into(), member.json().into()))
                .collect(),
        )
    }

    pub(crate) fn write<'n>(&'n self, out: &mut ObjectOut<'_, 'n>) {
        for (name, json) in self.iter() {
            out.raw_member(name, json);
        }
    }

    pub(crate) fn check(&self, at: &mut Context) {
        for (name, value) in &self.0 {
            at.within_unknown(name, |at| {
                at.find(Rule::UnknownMember, "no such member", kind(value))
            });
        }
    }
}

impl fmt::Debug for ExtraMembers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_map().entries(self.iter()).finish()
    }
}

/// Returns the type of a value, by the first character of its JSON text.
fn kind(json: &str) -> &'static str {
    match json.as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}
