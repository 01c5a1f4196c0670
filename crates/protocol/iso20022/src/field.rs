//! The properties of one element of the schema: its name, its tags, how often it occurs, and how a
//! value can be wrong.

/// An element of a sequence, or an alternative of a choice.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The wire name.
    pub wire: &'static str,
    /// The minimum number of occurrences.
    pub min: u32,
    /// The maximum number of occurrences; [`MANY`] if there is no bound.
    pub max: u32,
    /// The first version of the schema that this row applies to; 0 if there is no bound.
    pub since: u8,
    /// The last version of the schema that this row applies to; [`u8::MAX`] if there is no bound.
    pub until: u8,
    /// The version that the content is written in, where that is older than the document's; 0 for
    /// the document's own.
    pub as_of: u8,
}

impl Field {
    /// Returns true when the row applies to a version of the schema.
    #[inline]
    pub(crate) fn is_in(&self, version: u8) -> bool {
        self.since <= version && version <= self.until
    }

    /// Returns the version of the content in a document of version `version`.
    #[inline]
    pub(crate) fn version_in(&self, version: u8) -> u8 {
        if self.as_of == 0 { version } else { self.as_of }
    }

    /// Picks the row that applies to a version of the schema among the rows of one field.
    #[inline(always)]
    pub(crate) fn of(rows: &[Self], version: u8) -> Option<&Self> {
        rows.iter().find(|row| row.is_in(version))
    }

    /// Returns true if the schema allows an occurrence with this index, counted from 0.
    #[inline]
    pub(crate) fn allows(&self, index: usize) -> bool {
        u32::try_from(index).unwrap_or(u32::MAX) < self.max
    }
}

/// The value of [`Field::max`] without an upper bound.
pub const MANY: u32 = u32::MAX;

/// The tags of an element without a prefix.
#[derive(Clone, Copy, Debug)]
pub struct Tag {
    /// The name.
    pub wire: &'static str,
    /// The start tag up to its attributes.
    pub start: &'static str,
    /// The start tag without attributes.
    pub open: &'static str,
    /// The end tag.
    pub close: &'static str,
}

/// The document element of every message.
pub(crate) const DOCUMENT: &Tag = &Tag {
    wire: "Document",
    start: "<Document",
    open: "<Document>",
    close: "</Document>",
};

/// A text that cannot be read as a value of its type.
#[derive(Clone, Copy, Debug)]
pub struct Unreadable {
    /// The expected form.
    pub expected: &'static str,
}

/// The facet of the schema that a readable value breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums)] // the engine's own
pub enum Fault {
    /// The text is too short or too long.
    Length {
        /// The minimum number of code points allowed.
        min: usize,
        /// The maximum number of code points allowed.
        max: usize,
        /// The number of code points found.
        length: usize,
    },
    /// The text does not match the pattern.
    Pattern {
        /// The expected form.
        expected: &'static str,
    },
    /// The code is not in the closed list.
    Code {
        /// The codes of the list.
        known: &'static [&'static str],
    },
}

/// Returns the wire names of some fields of a version, separated by `|`.
pub(crate) fn alternatives(fields: &[Field], version: u8) -> String {
    fields
        .iter()
        .filter(|field| field.is_in(version))
        .map(|field| field.wire)
        .collect::<Vec<_>>()
        .join("|")
}
