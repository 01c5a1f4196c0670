//! The error of reading a document with its place, and the state from which it is made.

use crate::finding::{Finding, FindingKind, FurtherFindings, Position};
use std::fmt;
use std::io;

/// The reason why a document was not read, with the element and the place. `Debug` prints the text
/// of `Display` and the findings.
pub struct ReadError(Box<Parts>);

struct Parts {
    kind: ReadErrorKind,
    path: String,
    position: Position,
    findings: Vec<Finding>,
    further: FurtherFindings,
    unread: Option<String>,
}

/// The reason why reading stopped, and the place. The element is the one that the cursor is at,
/// unless another one was set; `into_error` adds it to make a [`ReadError`].
// Boxed, because every reading function returns it, and a `Result` is as large as its error.
#[derive(Debug)]
pub struct Halt(ReadError);

impl Halt {
    pub(crate) fn new(kind: ReadErrorKind, position: Position) -> Self {
        Self(ReadError(Box::new(Parts {
            kind,
            path: String::new(),
            position,
            findings: Vec::new(),
            further: FurtherFindings::default(),
            unread: None,
        })))
    }

    /// Returns true when the content of an element is wrong, and neither its markup is malformed
    /// nor a limit exceeded.
    pub(crate) fn is_of_content(&self) -> bool {
        self.finding().is_some()
    }

    /// Returns the finding that the error becomes if reading continues.
    pub(crate) fn finding(&self) -> Option<FindingKind> {
        self.0.kind().finding()
    }

    pub(crate) fn position(&self) -> Position {
        self.0.position()
    }

    /// Sets the element.
    pub(crate) fn at(mut self, path: String) -> Self {
        self.0.0.path = path;
        self
    }

    /// Makes the error of the element that the cursor is at, with the findings before it.
    pub(crate) fn into_error(
        self,
        path: String,
        findings: Vec<Finding>,
        further: FurtherFindings,
    ) -> ReadError {
        let Self(ReadError(mut parts)) = self;
        if parts.path.is_empty() {
            parts.path = path;
        }
        (parts.findings, parts.further) = (findings, further);
        ReadError(parts)
    }
}

/// The kind of the error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The source failed.
    #[error("the source failed: {0}")]
    Io(#[source] io::Error),
    /// The encoding is none of UTF-8, UTF-16, US-ASCII, ISO-8859-1, ISO-8859-2, ISO-8859-15 and
    /// windows-1250 to windows-1258.
    #[error(
        "expected UTF-8, UTF-16, US-ASCII, ISO-8859-1, -2 or -15, or windows-1250 to -1258, found {found}"
    )]
    UnsupportedEncoding {
        /// The encoding, as declared or recognised; cut and escaped when long.
        found: String,
    },
    /// The bytes are no text in the document's encoding.
    #[error("expected text in {encoding}, found other bytes")]
    InvalidText {
        /// The encoding.
        encoding: &'static str,
    },
    /// The document has a character that XML 1.0 does not allow.
    #[error("expected a character that XML 1.0 allows, found U+{found:04X}")]
    ForbiddenCharacter {
        /// The code point of the character.
        found: u32,
    },
    /// The input is not XML but another kind of file, or empty.
    #[error("expected an XML document, found {found}")]
    NotXml {
        /// The kind of file.
        found: &'static str,
    },
    /// The document is not well-formed XML.
    #[error("malformed XML: {detail}")]
    Malformed {
        /// The reason, with quotations cut and escaped.
        detail: String,
    },
    /// The document has a document type declaration, which is never accepted.
    #[error("document type declarations are refused")]
    DocumentType,
    /// The document has a reference to an entity other than the five that XML predefines.
    #[error("expected a character reference or amp, lt, gt, apos or quot, found {name}")]
    UnknownEntity {
        /// The entity; cut when long.
        name: String,
    },
    /// The document element, or the only element in it, has another name than the message's.
    #[error("expected the element {expected}, found {found}{}", named(found))]
    WrongRoot {
        /// The name expected.
        expected: &'static str,
        /// The name found; cut and escaped when long.
        found: String,
    },
    /// The document is of another namespace: that of another message, of a version that is not
    /// read, or none.
    #[error("expected the namespace {expected}, found {found}{}", named(found))]
    WrongNamespace {
        /// The namespace of the message; for several versions, those of the oldest and the newest.
        expected: String,
        /// The end of the namespace, escaped; `none` if there is no namespace.
        found: String,
    },
    /// The document is packed in a text, such as the text of a SOAP element. The reader does not
    /// unpack texts.
    #[error(
        "expected the element Document, found a document {found}: unpack this text, and read it by itself"
    )]
    PackedDocument {
        /// The form of the packed document.
        found: &'static str,
    },
    /// The document declares another encoding than the previous one. An input is decoded by the
    /// encoding of its first document.
    #[error(
        "expected the encoding of the document before, {before}, found {found}: cut the input here, and read each \
         part by itself"
    )]
    OtherEncoding {
        /// The encoding of the previous document; cut and escaped when long.
        before: String,
        /// The declared encoding; cut and escaped when long.
        found: String,
    },
    /// A second document follows, where only one was to be read.
    #[error("expected one document, found another: read all of them, with parse_all or a reader")]
    SeveralDocuments,
    /// A mandatory element is missing.
    #[error("expected {name}, found none")]
    Missing {
        /// The element; for a choice its alternatives, separated by `|`.
        name: String,
    },
    /// A text cannot be read as its type.
    #[error("expected {expected}, found {found}")]
    Unreadable {
        /// The expected form.
        expected: &'static str,
        /// The text, cut and escaped.
        found: String,
    },
    /// A bound of [`ReadLimits`](crate::ReadLimits) is exceeded.
    #[error("expected at most {max} {limit}")]
    Limit {
        /// The bound that is exceeded.
        limit: LimitKind,
        /// The value of the bound.
        max: u64,
    },
    /// A finding refused the document, under [`Mode::Strict`](crate::Mode::Strict) or
    /// `deny_findings`.
    #[error("refused: {0}")]
    Refused(#[source] FindingKind),
}

/// The bound of [`ReadLimits`](crate::ReadLimits) that is exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitKind {
    /// `max_document_bytes`.
    DocumentBytes,
    /// `max_depth`.
    Depth,
    /// `max_entry_elements`.
    EntryElements,
    /// `max_text_bytes`.
    TextBytes,
    /// `max_token_bytes`.
    TokenBytes,
    /// `max_kept_bytes`.
    KeptBytes,
    /// `max_memory_per_byte`.
    Memory,
    /// `max_attributes`.
    Attributes,
}

impl ReadError {
    pub(crate) fn with_unread(mut self, xml: String) -> Self {
        self.0.unread = Some(xml);
        self
    }

    /// Returns the finding that the error becomes if reading continues, without a place in the
    /// document.
    pub(crate) fn finding(&self) -> Option<Finding> {
        self.0.kind.finding().map(|kind| Finding {
            kind,
            path: self.0.path.clone(),
            position: None,
        })
    }

    /// Returns the markup of the element that could not be read, as UTF-8, if a
    /// [`UnitReader`](crate::UnitReader) can continue after it. The markup lacks the namespaces
    /// declared around the element. `None` if nothing can be read after the error, and when a whole
    /// document is read.
    #[must_use]
    pub fn unread(&self) -> Option<&str> {
        self.0.unread.as_deref()
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> &ReadErrorKind {
        &self.0.kind
    }

    /// Returns the path of the element, such as `/Document/Message/Group[1]/Unit[3]/Amt`; empty
    /// before the first element.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// Returns the place where the tag or text starts.
    #[must_use]
    pub fn position(&self) -> Position {
        self.0.position
    }

    /// The findings before the error. When a finding refused the document, all its findings; the
    /// first that the options refuse is the error.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.0.findings
    }

    /// Returns the further findings of each kind beyond those that
    /// [`ReadLimits::max_findings`](crate::ReadLimits::max_findings) has room for.
    #[must_use]
    pub fn further_findings(&self) -> &FurtherFindings {
        &self.0.further
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.0.path.is_empty() {
            "/"
        } else {
            &self.0.path
        };
        write!(out, "{} at {path} ({})", self.0.kind, self.0.position)
    }
}

impl fmt::Debug for ReadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)?;
        if self.findings().is_empty() {
            Ok(())
        } else {
            write!(out, " after {:?}", self.findings())
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.kind.source()
    }
}

impl ReadErrorKind {
    /// Returns the finding that the error becomes where reading goes on.
    pub(crate) fn finding(&self) -> Option<FindingKind> {
        match self {
            Self::Missing { name } => Some(FindingKind::Missing { name: name.clone() }),
            Self::Unreadable { expected, found } => Some(FindingKind::Unreadable {
                expected,
                found: found.clone(),
            }),
            _ => None,
        }
    }
}

/// Returns the message or kind of document that a namespace or element name indicates.
pub(super) fn named(found: &str) -> String {
    const MESSAGES: [(&str, &str); 3] = [
        ("camt.052", "BkToCstmrAcctRpt"),
        ("camt.053", "BkToCstmrStmt"),
        ("camt.054", "BkToCstmrDbtCdtNtfctn"),
    ];
    let of = |(message, root): &(&'static str, &str)| {
        let versions = format!("{message}.001.");
        (found == *root || found.contains(&versions)).then_some(*message)
    };
    if let Some(message) = MESSAGES.iter().find_map(of) {
        format!(
            ", of a {message}, which the crate bankrail-{} reads",
            message.replace('.', "")
        )
    } else if found.eq_ignore_ascii_case("html") {
        ", of an HTML page".to_owned()
    } else {
        String::new()
    }
}

impl fmt::Display for LimitKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::DocumentBytes => "bytes in a document",
            Self::Depth => "nested elements",
            Self::EntryElements => "elements in an entry",
            Self::TextBytes => "bytes in a text",
            Self::TokenBytes => "bytes in a tag or run of text",
            Self::KeptBytes => "bytes kept beyond the schema",
            Self::Memory => "bytes of memory for each byte of a document",
            Self::Attributes => "attributes in a tag",
        })
    }
}
