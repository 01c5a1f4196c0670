//! How strictly and how much is read.

/// What is done about what the schema refuses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// Order, unknown parts, unknown codes, texts out of bounds and the parts that the model has as `Option` although
    /// the schema demands them are kept and reported. The default.
    #[default]
    Tolerant,
    /// Exactly the schema: any finding of the schema refuses the document.
    Strict,
}

/// How a document is read.
///
/// ```
/// use bankrail_camt052::{Document, Mode, ReadOptions};
/// let mut options = ReadOptions::default();
/// options.mode = Mode::Strict;
/// assert!(Document::parse_with("<Document/>", &options).is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// What is done about what the schema refuses.
    pub mode: Mode,
    /// Refuses a document with any finding, those beyond the schema (counts, sums, check digits) too.
    pub deny_findings: bool,
    /// How much is read.
    pub limits: Limits,
}

impl ReadOptions {
    /// Tolerant, without bounds: for what this crate has just written.
    pub(crate) fn unbounded() -> Self {
        let limits = Limits {
            document_bytes: u64::MAX,
            depth: usize::MAX,
            entry_elements: usize::MAX,
            text_bytes: usize::MAX,
            token_bytes: usize::MAX,
            kept_bytes: usize::MAX,
            attributes: usize::MAX,
            ..Limits::default()
        };
        Self { limits, ..Self::default() }
    }
}

/// Bounds that real documents never meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Octets of a document. Default: 4 GiB.
    pub document_bytes: u64,
    /// Nested elements; the schema needs 16. Default: 64.
    pub depth: usize,
    /// Elements in one entry, in all of a report but its entries, and in all of a message but its reports. Default:
    /// 1,000,000.
    pub entry_elements: usize,
    /// Octets of one text. Default: 1 MiB.
    pub text_bytes: usize,
    /// Octets of one tag, comment, processing instruction or run of text. Default: 4 MiB.
    pub token_bytes: usize,
    /// Octets in memory of what is kept beyond the schema, supplementary data among them, counted as elements are. Of those
    /// that are namespaces declared around what is kept, all of a document has at most four for each of its own beyond
    /// this. Default: 64 MiB.
    pub kept_bytes: usize,
    /// Attributes of one tag, namespace declarations among them. Default: 256.
    pub attributes: usize,
    /// Findings that are kept; further ones are only counted. One that refuses the document is kept in any case. Default:
    /// 1,000.
    pub findings: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            document_bytes: 4 << 30,
            depth: 64,
            entry_elements: 1_000_000,
            text_bytes: 1 << 20,
            token_bytes: 4 << 20,
            kept_bytes: 64 << 20,
            attributes: 256,
            findings: 1_000,
        }
    }
}
