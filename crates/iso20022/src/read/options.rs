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

/// How a document is read. The default is tolerant, with the default limits.
///
/// ```
/// use bankrail_iso20022::{Limits, Mode, ReadOptions};
/// let options = ReadOptions::default().mode(Mode::Strict).limits(Limits::default().depth(20));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    pub(crate) mode: Mode,
    pub(crate) deny_findings: bool,
    pub(crate) limits: Limits,
}

impl ReadOptions {
    /// What is done about what the schema refuses. Default: [`Mode::Tolerant`].
    #[must_use]
    pub const fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Refuses a document with any finding, those beyond the schema (counts, sums, check digits) too. Default: false.
    #[must_use]
    pub const fn deny_findings(mut self, deny: bool) -> Self {
        self.deny_findings = deny;
        self
    }

    /// How much is read.
    #[must_use]
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Tolerant, without bounds: for what has just been written.
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

/// Bounds on a document, which real documents never meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub(crate) document_bytes: u64,
    pub(crate) depth: usize,
    pub(crate) entry_elements: usize,
    pub(crate) text_bytes: usize,
    pub(crate) token_bytes: usize,
    pub(crate) kept_bytes: usize,
    pub(crate) attributes: usize,
    pub(crate) findings: usize,
}

impl Limits {
    /// Bytes of a document. Default: 4 GiB.
    #[must_use]
    pub const fn document_bytes(mut self, most: u64) -> Self {
        self.document_bytes = most;
        self
    }

    /// Nested elements; a camt message needs 16. Default: 64.
    #[must_use]
    pub const fn depth(mut self, most: usize) -> Self {
        self.depth = most;
        self
    }

    /// Elements in one entry, in all of a report but its entries, and in all of a message but its reports. Default:
    /// 1,000,000.
    #[must_use]
    pub const fn entry_elements(mut self, most: usize) -> Self {
        self.entry_elements = most;
        self
    }

    /// Bytes of one text. Default: 1 MiB.
    #[must_use]
    pub const fn text_bytes(mut self, most: usize) -> Self {
        self.text_bytes = most;
        self
    }

    /// Bytes of one tag, comment, processing instruction or run of text. Default: 4 MiB.
    #[must_use]
    pub const fn token_bytes(mut self, most: usize) -> Self {
        self.token_bytes = most;
        self
    }

    /// Bytes in memory of what is kept beyond the schema, supplementary data among them, counted as elements are. Default:
    /// 64 MiB.
    ///
    /// A kept part also holds the namespaces declared around it that it needs. All parts of a document may hold four bytes
    /// of these for each byte of the document, beyond this limit.
    #[must_use]
    pub const fn kept_bytes(mut self, most: usize) -> Self {
        self.kept_bytes = most;
        self
    }

    /// Attributes of one tag, namespace declarations among them. Default: 256.
    #[must_use]
    pub const fn attributes(mut self, most: usize) -> Self {
        self.attributes = most;
        self
    }

    /// Findings that are kept; further ones are only counted. The first that refuses the document is kept in any case.
    /// Default: 1,000.
    #[must_use]
    pub const fn findings(mut self, most: usize) -> Self {
        self.findings = most;
        self
    }
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
