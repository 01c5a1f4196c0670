//! Reading: strictness, versions and limits, and the readers.

mod around;
mod attributes;
mod declaration;
mod decode;
mod error;
mod events;
mod foreign;
mod namespaces;
mod scan;
mod shape;
mod strip;
mod tokens;

pub use around::{AppHeader, Around};
pub(crate) use decode::{Decoded, plain_text};
pub use error::{Halt, LimitKind, ReadError, ReadErrorKind};
pub use events::{Ahead, Cursor, CursorOver};
pub(crate) use events::{Child, is_one_element};
pub use scan::{NotPlain, Scanner};
pub use shape::Shape;
pub use tokens::{Mark, StreamTokens, TextTokens, Tokens};

use crate::version::Version;
use std::ops::RangeInclusive;

/// The treatment of findings that violate the schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// The reader keeps and reports deviations: order, unknown parts, unknown codes, texts out of
    /// bounds, numbers of up to 28 digits where the schema has fewer, dates without hyphens or with
    /// a time, and times without seconds. It also reports missing parts that the schema demands and
    /// the model can do without. If a part cannot be read, the part, or the nearest optional part
    /// around it, is kept as markup and reported. The reader still refuses what could misstate
    /// money: an entry without a readable amount, sign or status, or a report without a readable
    /// account. This is the default.
    #[default]
    Tolerant,
    /// The reader accepts exactly the schema: any finding of the schema refuses the document. The
    /// exception is `xsi:type`, which is not resolved: on an element of the message it is refused,
    /// even where it names the element's own type. Supplementary data must be well-formed; its
    /// content is not checked.
    Strict,
}

bankrail_values::options! {
    /// The options of reading, by default tolerant with the default limits.
    ///
    /// ```
    /// use bankrail_iso20022::{ReadLimits, Mode, ReadOptions};
    /// let limits = ReadLimits::default().max_depth(20);
    /// let options = ReadOptions::default().mode(Mode::Strict).limits(limits);
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ReadOptions {
        /// Sets the treatment of findings that violate the schema. Default: [`Mode::Tolerant`].
        mode: Mode = Mode::default(),
        /// Refuses a document with any finding, including those beyond the schema (counts, sums,
        /// check digits). Default: false.
        deny_findings: bool = false,
        /// Keeps an entry that cannot be read, because a mandatory part is missing or an amount is
        /// invalid, as markup among the extras of its report, reports why, and reads on. Default:
        /// false, the document is refused. Such a document is written with
        /// [`WriteOptions::incomplete`](crate::WriteOptions::incomplete).
        ///
        /// The option is for whole documents. A reader of one entry after the other continues
        /// without this option after an error with [`unread`](crate::ReadError::unread), unless
        /// findings refuse the document ([`Mode::Strict`], [`deny_findings`](Self::deny_findings)).
        /// A document that is not well-formed is refused in any case.
        keep_unreadable: bool = false,
        /// Reads the source as UTF-8 and ignores the encoding that the document declares. Set it
        /// for text that was decoded before, such as a member of a JSON object. A declared encoding
        /// other than UTF-8 is a finding. `parse` treats a `str` and a `String` this way without
        /// this option. Default: false.
        text: bool = false,
        /// Sets the versions of the message that are read; a document of another one is refused.
        /// Default: all that the message knows, and later ones, which are read as the newest known
        /// one with a finding ([`FindingKind::NewerVersion`](crate::FindingKind::NewerVersion)).
        versions(RangeInclusive<Version> => |range| Some([*range.start(), *range.end()])): Option<[Version; 2]> = None,
        /// Sets the limits of a document.
        limits: ReadLimits = ReadLimits::default(),
        ;
        /// Reports unknown parts and does not keep them.
        pub(crate) drop_unknown: bool = false,
    }
}

impl ReadOptions {
    /// Sets the versions that are read, unless [`versions`](Self::versions) has set them before.
    #[must_use]
    #[doc(hidden)]
    pub fn versions_or(self, versions: RangeInclusive<Version>) -> Self {
        match self.versions {
            Some(_) => self,
            None => self.versions(versions),
        }
    }

    /// Returns true when a document with any finding is refused.
    #[must_use]
    #[doc(hidden)]
    pub const fn denies_findings(&self) -> bool {
        self.deny_findings
    }

    /// Returns the oldest and the newest version that are read.
    fn all_versions(&self) -> [Version; 2] {
        let all = [Version::new(0), Version::new(u8::MAX)];
        self.versions.unwrap_or(all)
    }
}

bankrail_values::options! {
    /// Bounds on a document, far above the size of real documents.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ReadLimits {
        /// Sets the maximum number of bytes of a document. Default: 4 GiB.
        max_document_bytes: u64 = 4 << 30,
        /// Sets the maximum depth of nested elements. Default: 64.
        max_depth: usize = 64,
        /// Sets the maximum number of elements in one entry, in a report without its entries, and
        /// in a message without its reports. Default: 1,000,000.
        max_entry_elements: usize = 1_000_000,
        /// Sets the maximum number of bytes of one text. Default: 1 MiB.
        max_text_bytes: usize = 1 << 20,
        /// Sets the maximum number of bytes of one tag, comment, processing instruction or run of
        /// text. Default: 4 MiB.
        max_token_bytes: usize = 4 << 20,
        /// Sets the maximum number of bytes of memory of the parts kept beyond the schema,
        /// including supplementary data. They are counted over the same parts of the document as
        /// elements. Default: 64 MiB.
        max_kept_bytes: usize = 64 << 20,
        /// Sets the maximum number of bytes of memory for each byte of the document that has been
        /// read, beyond the first 256 KiB of memory. The memory of the model, of parts kept beyond
        /// the schema with their namespaces, and of findings is counted over the whole document,
        /// even when it is read part by part. Texts are not counted, because they take no more
        /// memory than they have bytes. Default: 16.
        ///
        /// With this limit, no document takes more than 320 KiB and 20 times its size. Without it,
        /// a document of empty elements would take some 70 times its size.
        max_memory_per_byte: usize = 16,
        /// Sets the maximum number of attributes of one tag, including namespace declarations.
        /// Default: 256.
        max_attributes: usize = 256,
        /// Sets the maximum number of findings of one kind that are kept. Further ones are only
        /// counted, so that a flood of one kind hides no other. The first finding of each kind that
        /// refuses the document is always kept. Default: 100.
        max_findings: usize = 100,
    }
}

impl ReadLimits {
    /// No bounds, for documents that were just written by this crate.
    pub(crate) const NONE: Self = Self {
        max_document_bytes: u64::MAX,
        max_depth: usize::MAX,
        max_entry_elements: usize::MAX,
        max_text_bytes: usize::MAX,
        max_token_bytes: usize::MAX,
        max_kept_bytes: usize::MAX,
        max_memory_per_byte: usize::MAX,
        max_attributes: usize::MAX,
        max_findings: usize::MAX,
    };
}
