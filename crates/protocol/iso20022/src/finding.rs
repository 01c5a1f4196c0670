//! Findings: what a reader or a check reports.

mod broken_rule;

pub use broken_rule::BrokenRule;

use crate::field::Fault;
use crate::version::Version;
use bankrail_values::excerpt;
use std::fmt;
use std::fmt::Write as _;

/// A deviation of a document from its schema or from a rule beyond the schema, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The kind of the deviation.
    pub kind: FindingKind,
    /// The element, such as `/Document/Message/Group[1]/Unit[3]/Amt`; elements that may repeat
    /// carry their number, from 1.
    pub path: String,
    /// The place where the element starts in the document; `None` when a model was checked.
    pub position: Option<Position>,
}

impl Finding {
    /// Returns the bytes of memory that a finding takes: the finding itself in a list that grows by
    /// doubling, the text that it quotes, and its path.
    pub(crate) fn memory(&self) -> usize {
        512 + self.path.len()
    }
}

/// The number of findings that exceeded
/// [`ReadLimits::max_findings`](crate::ReadLimits::max_findings) and were not kept, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FurtherFindings(Vec<(&'static str, u64)>);

impl FurtherFindings {
    /// Returns true when every finding was kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of findings of all kinds.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.iter().map(|(_, count)| count).sum()
    }

    /// Returns the number of findings of the kind with a name, as [`FindingKind::name`] gives it.
    #[must_use]
    pub fn of(&self, name: &str) -> u64 {
        self.iter()
            .find(|(other, _)| *other == name)
            .map_or(0, |(_, count)| count)
    }

    /// Returns the name of each kind with the number of its findings.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.0.iter().copied()
    }

    pub(crate) fn add(&mut self, name: &'static str) {
        // There are about twenty kinds, and a list of that length is searched as fast as a map.
        match self.0.iter_mut().find(|(other, _)| *other == name) {
            Some((_, count)) => *count += 1,
            None => self.0.push((name, 1)),
        }
    }
}

/// A place in a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Position {
    /// The line, from 1.
    pub line: u64,
    /// The column in characters, from 1.
    pub column: u64,
    /// The number of bytes before the place, in the document's own encoding.
    pub offset: u64,
}

/// The kind of a finding. [`FindingKind::is_schema`] distinguishes what the schema refuses from the
/// rules beyond it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FindingKind {
    /// An element that the schema does not have here.
    #[error("the schema has no element {name} here")]
    UnknownElement {
        /// The name, with the prefix it was written with; cut and escaped when long.
        name: String,
    },
    /// An attribute that the schema does not have here.
    #[error("the schema has no attribute {name} here")]
    UnknownAttribute {
        /// The name, with the prefix it was written with; cut and escaped when long.
        name: String,
    },
    /// Text where the schema has only elements.
    #[error("expected elements only, found the text {found}")]
    UnexpectedText {
        /// The text, cut and escaped.
        found: String,
    },
    /// An element that stands after an element which it should precede.
    #[error("expected {name} before {before}")]
    OutOfOrder {
        /// The element that stands too late.
        name: &'static str,
        /// The element that it should precede.
        before: &'static str,
    },
    /// An element that occurs more often than the schema allows.
    #[error("expected {name} at most {max} times")]
    Repeated {
        /// The element.
        name: &'static str,
        /// The maximum number of occurrences.
        max: u32,
    },
    /// A second alternative of a choice, where the schema allows one.
    #[error("expected one alternative, found {name} as another")]
    SecondChoice {
        /// The second alternative.
        name: &'static str,
    },
    /// A mandatory element is missing.
    #[error("expected {name}, found none")]
    Missing {
        /// The element; for a choice its alternatives, separated by `|`.
        name: String,
    },
    /// The mandatory attribute `Ccy` is missing.
    #[error("expected the attribute Ccy, found none")]
    MissingCurrency,
    /// A code that the schema's closed list does not have.
    #[error("expected one of {}, found {found}", .known.join(" "))]
    UnknownCode {
        /// The code, cut and escaped.
        found: String,
        /// The codes of the schema.
        known: &'static [&'static str],
    },
    /// A text shorter or longer than allowed.
    #[error("expected {min} to {max} characters, found {length}")]
    Length {
        /// The minimum number of code points allowed.
        min: usize,
        /// The maximum number of code points allowed.
        max: usize,
        /// The number of code points found.
        length: usize,
    },
    /// A text that does not match its type's pattern.
    #[error("expected {expected}, found {found}")]
    Pattern {
        /// The expected form.
        expected: &'static str,
        /// The text, cut and escaped.
        found: String,
    },
    /// A text that cannot be read as its type. The element, or the nearest optional element around
    /// it, is kept as markup.
    #[error("expected {expected}, found {found}")]
    Unreadable {
        /// The expected form.
        expected: &'static str,
        /// The text, cut and escaped.
        found: String,
    },
    /// An encoding other than UTF-8 that was declared by a document which is text already or has
    /// the byte order mark of UTF-8. The declaration was ignored.
    #[error("expected UTF-8 as the encoding of a text, found {found}")]
    DeclaredEncoding {
        /// The encoding; cut and escaped when long.
        found: String,
    },
    /// A character that XML 1.0 cannot carry, in a model that a program made.
    #[error("expected characters that XML 1.0 can carry, found U+{:04X}", u32::from(*.found))]
    Character {
        /// The first such character.
        found: char,
    },
    /// Supplementary data that is not exactly one element.
    #[error("expected exactly one element as supplementary data")]
    Envelope,

    /// A version of the message that is newer than the newest known one. The document was read as
    /// one of that version; elements that the newest known version lacks are kept and reported.
    #[error("expected a version of at most {known}, found {found}")]
    NewerVersion {
        /// The newest known version.
        known: Version,
        /// The version of the document.
        found: Version,
    },

    /// A document whose message or version differs from the one that the application header before
    /// it names.
    #[error("expected {header}, which the application header names, found {found}")]
    HeaderMessage {
        /// The message that the header names; cut and escaped when long.
        header: String,
        /// The message and version of the document.
        found: String,
    },

    /// An IBAN whose check digits are wrong.
    #[error("the check digits of the IBAN {found} are wrong")]
    IbanCheckDigits {
        /// The IBAN.
        found: String,
    },
    /// A BIC whose country code is not assigned.
    #[error("the country code in the BIC {found} is not assigned")]
    BicCountry {
        /// The BIC.
        found: String,
    },
    /// Trailing zeros of a number that are not kept, because 28 digits precede them.
    #[error("expected at most 28 digits with the zeros at the end, of which {zeros} are not kept")]
    CutZeros {
        /// The number of zeros that are not kept.
        zeros: usize,
    },
    /// A broken rule of the message that the schema cannot express, such as a sum.
    #[error("{0}")]
    BrokenRule(BrokenRule),
}

impl FindingKind {
    /// Returns the name of the kind, such as `UnknownElement`, or for a rule beyond the schema the
    /// rule's name. The name contains nothing of the document, so that it may be logged and
    /// counted.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::UnknownElement { .. } => "UnknownElement",
            Self::UnknownAttribute { .. } => "UnknownAttribute",
            Self::UnexpectedText { .. } => "UnexpectedText",
            Self::OutOfOrder { .. } => "OutOfOrder",
            Self::Repeated { .. } => "Repeated",
            Self::SecondChoice { .. } => "SecondChoice",
            Self::Missing { .. } => "Missing",
            Self::MissingCurrency => "MissingCurrency",
            Self::UnknownCode { .. } => "UnknownCode",
            Self::Length { .. } => "Length",
            Self::Pattern { .. } => "Pattern",
            Self::Unreadable { .. } => "Unreadable",
            Self::DeclaredEncoding { .. } => "DeclaredEncoding",
            Self::Character { .. } => "Character",
            Self::Envelope => "Envelope",
            Self::NewerVersion { .. } => "NewerVersion",
            Self::HeaderMessage { .. } => "HeaderMessage",
            Self::IbanCheckDigits { .. } => "IbanCheckDigits",
            Self::BicCountry { .. } => "BicCountry",
            Self::CutZeros { .. } => "CutZeros",
            Self::BrokenRule(rule) => rule.name(),
        }
    }

    /// Returns true for a finding that violates the schema, which
    /// [`Mode::Strict`](crate::Mode::Strict) refuses. Returns false for a finding that only
    /// `deny_findings` refuses.
    #[must_use]
    pub fn is_schema(&self) -> bool {
        !matches!(
            self,
            Self::DeclaredEncoding { .. }
                | Self::HeaderMessage { .. }
                | Self::IbanCheckDigits { .. }
                | Self::BicCountry { .. }
                | Self::CutZeros { .. }
                | Self::BrokenRule(_)
        )
    }
}

impl fmt::Display for Position {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "line {}, column {}, byte {}",
            self.line, self.column, self.offset
        )
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.path, self.kind)?;
        self.position
            .map_or(Ok(()), |position| write!(out, " ({position})"))
    }
}

impl std::error::Error for Finding {}

/// Returns a name or code for an error text. The text is cut and escaped when it is long or holds
/// control characters.
pub fn shown(text: &str) -> String {
    let quoted = excerpt(text);
    let inner = quoted
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    if inner == Some(text) {
        text.to_owned()
    } else {
        quoted
    }
}

/// Appends one step to an element path; the number of a repeating element counts from 1.
pub(crate) fn push_step(path: &mut String, name: &str, index: Option<usize>) {
    path.push('/');
    path.push_str(name);
    if let Some(index) = index {
        // Writing into a string cannot fail.
        let _ = write!(path, "[{}]", index + 1);
    }
}

/// Returns the finding for a value that breaks a facet.
pub(crate) fn fault_kind(fault: Fault, found: &str) -> FindingKind {
    match fault {
        Fault::Length { min, max, length } => FindingKind::Length { min, max, length },
        Fault::Pattern { expected } => FindingKind::Pattern {
            expected,
            found: excerpt(found),
        },
        Fault::Code { known } => FindingKind::UnknownCode {
            found: excerpt(found),
            known,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_takes_the_memory_of_its_path_too() {
        let kind = FindingKind::Envelope;
        assert!(size_of::<Finding>() * 2 <= 512);
        assert_eq!(
            Finding {
                kind,
                path: "/a/b".to_owned(),
                position: None
            }
            .memory(),
            516
        );
    }
}
