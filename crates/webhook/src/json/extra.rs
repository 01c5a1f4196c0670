//! Members that no rule names.

use super::raw::{self, Members};
use super::{Context, ObjectOut};
use crate::error::MessageError;
use crate::finding::Rule;
use serde_json::value::RawValue;
use std::fmt;

/// Members that no rule names, kept as they were written and in their order, and written back after the known ones.
///
/// New members appear in minor releases of the service, so a receiver keeps them; each is a
/// [`Rule::UnknownMember`] finding.
#[derive(Clone, Default)]
pub struct ExtraMembers(Vec<(Box<str>, Box<RawValue>)>);

impl ExtraMembers {
    /// True when there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Name and JSON text of each, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value.get()))
    }

    /// The JSON text of a member.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find_map(|(candidate, value)| (candidate == name).then_some(value))
    }

    pub(crate) fn keep(rest: Members<'_>, at: &mut Context) -> Result<Self, MessageError> {
        let mut kept = Vec::with_capacity(rest.0.len());
        for (name, value) in rest.0 {
            at.within_unknown(&name, |at| raw::check_deep(value, at, 0))?;
            kept.push((name.into(), value.to_owned()));
        }
        Ok(Self(kept))
    }

    pub(crate) fn write(&self, out: &mut ObjectOut<'_>) {
        for (name, value) in &self.0 {
            out.member(name, |out| out.extend_from_slice(value.get().as_bytes()));
        }
    }

    pub(crate) fn check(&self, at: &mut Context) {
        for (name, value) in &self.0 {
            at.within_unknown(name, |at| at.find(Rule::UnknownMember, "no such member", raw::kind(value)));
        }
    }
}

impl PartialEq for ExtraMembers {
    /// Equal when the same members with the same JSON text stand in the same order.
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for ExtraMembers {}

impl fmt::Debug for ExtraMembers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_map().entries(self.iter()).finish()
    }
}
