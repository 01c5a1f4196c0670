//! The identifiers in supplementary data: an `xs:ID` is unique in a document, and an `xs:IDREF`
//! names one of them (XML Schema Part 1, 3.15.5).

use crate::read::builtin::Builtin;
use crate::xml::is_space;
use std::collections::HashSet;

/// Bytes of memory that one takes, beside its text.
const MEMORY: usize = 64;

/// The identifiers of a document, and those that it refers to.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    own: HashSet<Box<str>>,
    referred: HashSet<Box<str>>,
}

impl Ids {
    /// Adds what the text of an element of a built-in type says. Returns the bytes of memory that
    /// it takes; none for an identifier that is there already.
    pub(super) fn add(&mut self, kind: Builtin, text: &str) -> Option<usize> {
        let before = self.memory();
        let mut names = text
            .split(is_space)
            .filter(|name| !name.is_empty())
            .map(Box::from);
        match kind.name() {
            "ID" if !names.all(|name| self.own.insert(name)) => return None,
            "IDREF" | "IDREFS" => self.referred.extend(names),
            _ => {}
        }
        Some(self.memory() - before)
    }

    /// Adds those of an envelope; returns an identifier that was there already.
    pub(super) fn extend(&mut self, other: Self) -> Option<Box<str>> {
        let twice = other.own.intersection(&self.own).min().cloned();
        self.own.extend(other.own);
        self.referred.extend(other.referred);
        twice
    }

    /// An identifier that is referred to and not there.
    pub(super) fn unknown(&self) -> Option<&str> {
        self.referred
            .difference(&self.own)
            .min()
            .map(|name| &**name)
    }

    /// Bytes of memory that they take, beside their texts.
    pub(super) fn memory(&self) -> usize {
        (self.own.len() + self.referred.len()) * MEMORY
    }
}
