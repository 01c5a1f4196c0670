//! The archive of received content: records whose content their owner has sealed. A store removes
//! the oldest first.

use crate::{Kind, OpaqueBytes};
use bankrail_values::{HyphenatedUuid, StoreFuture, Timestamp};
use std::fmt;

/// The description of an archived record, which is stored in clear with the sealed content.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArchiveLabel {
    /// The kind of the content, such as a page of a statement.
    pub kind: Kind,
    /// The subject of the content, such as an account.
    pub subject: String,
    /// The key of the call, or the id of the message, if it is known.
    pub call: Option<HyphenatedUuid>,
    /// The instant at which the content was requested or arrived.
    pub at: Timestamp,
}

impl ArchiveLabel {
    /// Creates a label.
    #[must_use]
    pub fn new(
        kind: Kind,
        subject: impl Into<String>,
        call: Option<HyphenatedUuid>,
        at: Timestamp,
    ) -> Self {
        Self {
            kind,
            subject: subject.into(),
            call,
            at,
        }
    }
}

/// A record of an archive, without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArchiveRecord {
    /// The number of the record, larger than those of all records before it.
    pub number: u64,
    /// The label of the record.
    pub label: ArchiveLabel,
    /// The length of the sealed content in bytes.
    pub bytes: u64,
}

impl ArchiveRecord {
    /// Creates a record, for engines.
    #[must_use]
    pub fn new(number: u64, label: ArchiveLabel, bytes: u64) -> Self {
        Self {
            number,
            label,
            bytes,
        }
    }
}

/// A store of records.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not store an archive",
    label = "not an `ArchiveStore`",
    note = "pass `Arc::new(store)` of a `SqliteStore` of `bankrail_stores` (features `sqlite` and `mailbox`)"
)]
pub trait ArchiveStore: fmt::Debug + Send + Sync {
    /// Adds a record. In the same step, the records of its kind that are older than `oldest` are
    /// removed, and then the oldest ones until all of its kind have at most `max_kind_bytes` of
    /// sealed content together.
    ///
    /// A record that exceeds the bound alone is refused as
    /// [full](bankrail_values::StoreErrorKind::Full).
    fn add<'a>(
        &'a self,
        label: &'a ArchiveLabel,
        sealed: &'a OpaqueBytes,
        oldest: Timestamp,
        max_kind_bytes: u64,
    ) -> StoreFuture<'a, ()>;

    /// Returns at most `most` records after this number, in their order.
    fn records(&self, after: u64, most: u32) -> StoreFuture<'_, Vec<ArchiveRecord>>;

    /// Returns the sealed content of a record; `None` if there is no such record any more.
    fn content(&self, number: u64) -> StoreFuture<'_, Option<OpaqueBytes>>;
}
