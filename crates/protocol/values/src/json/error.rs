//! The error of the JSON reader.

use std::fmt;

/// The place and the reason at which the JSON reader refuses a text.
///
/// `Display` prints the JSON pointer, the byte position and the reason in one line. The error
/// quotes no value of the text. The pointer contains member names, which the sender chose; each is
/// cut after 64 characters, and its control characters are escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    kind: JsonErrorKind,
    offset: usize,
    pointer: String,
}

impl JsonError {
    pub(super) fn new(kind: JsonErrorKind, offset: usize) -> Self {
        Self {
            kind,
            offset,
            pointer: String::new(),
        }
    }

    /// Returns the error with its pointer extended by the surrounding member name or element index.
    pub(super) fn inside(mut self: Box<Self>, segment: &str) -> Box<Self> {
        let mut pointer = String::with_capacity(segment.len() + 1 + self.pointer.len());
        push_pointer_segment(&mut pointer, segment);
        pointer.push_str(&self.pointer);
        self.pointer = pointer;
        self
    }

    /// Returns the reason why the text is refused.
    #[must_use]
    pub fn kind(&self) -> JsonErrorKind {
        self.kind
    }

    /// Returns the place where reading stopped, in bytes from the beginning of the text.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the refused value, as a JSON pointer (RFC 6901); empty for the whole text.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.pointer.is_empty() { "" } else { " at " };
        write!(
            out,
            "{}{at}byte {}: {}",
            self.pointer, self.offset, self.kind
        )
    }
}

impl std::error::Error for JsonError {}

/// The reason why a text is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonErrorKind {
    /// The text is longer than
    /// [`JsonLimits::max_document_bytes`](super::JsonLimits::max_document_bytes).
    #[error("expected at most {max} bytes of JSON, found {found}")]
    TooLong {
        /// The maximum number of bytes allowed.
        max: usize,
        /// The number of bytes found.
        found: usize,
    },
    /// The text is not UTF-8.
    #[error("expected UTF-8")]
    NotUtf8,
    /// The text is not JSON by the grammar of RFC 8259, or not the requested kind of value.
    #[error("expected {expected}")]
    Syntax {
        /// The token expected at this offset.
        expected: &'static str,
    },
    /// An object has two members with the same name.
    #[error("expected each member name once in an object")]
    DuplicateMember,
    /// An escape is half of a surrogate pair.
    #[error("expected a Unicode character, found half of a surrogate pair")]
    UnpairedSurrogate,
    /// The text has more levels than [`JsonLimits::max_depth`](super::JsonLimits::max_depth).
    #[error("expected at most {max} nested objects and arrays")]
    TooDeep {
        /// The maximum number of levels allowed.
        max: usize,
    },
    /// The text has more values than [`JsonLimits::max_values`](super::JsonLimits::max_values).
    #[error("expected at most {max} values")]
    TooManyValues {
        /// The maximum number of values allowed.
        max: usize,
    },
}

/// Appends a segment to a JSON pointer (RFC 6901): an index or a member name. The segment is cut
/// after 64 characters, and its control characters are escaped.
#[doc(hidden)]
pub fn push_pointer_segment(pointer: &mut String, segment: &str) {
    const KEPT: usize = 64;
    pointer.push('/');
    for (index, character) in segment.chars().enumerate() {
        match character {
            _ if index == KEPT => {
                pointer.push('…');
                break;
            }
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            control if control.is_control() => pointer.extend(control.escape_default()),
            other => pointer.push(other),
        }
    }
}
