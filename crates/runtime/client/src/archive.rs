//! The archive of content that a customer received: pages of statements as received, and refused
//! deliveries.

#[cfg(feature = "statement")]
mod replay;

#[cfg(feature = "statement")]
pub use replay::{ImportError, Imported, Replay};

use crate::measure;
use crate::sealing::{self, SealingSecret, VERSION};
#[cfg(feature = "statement")]
use bankrail_camt052::ReadOptions;
use bankrail_mailbox::{ArchiveLabel, ArchiveRecord, ArchiveStore, Kind, OpaqueBytes};
#[cfg(feature = "statement")]
use bankrail_statement::AccountId;
use bankrail_values::{StoreError, StoreErrorKind};
use std::sync::Arc;
use std::time::Duration;
use zeroize::Zeroizing;

/// The time that storing a record may take. A page or delivery whose record takes longer goes on
/// without it.
const MAX_STORING_TIME: Duration = Duration::from_secs(5);
/// The maximum number of records that are listed at once.
const MAX_RECORDS: u32 = 1000;
bankrail_values::options! {
    /// Bounds of an [`Archive`]. Pages and refused deliveries have separate bounds, so that a
    /// sender whose deliveries are refused removes no page.
    #[derive(Clone, Copy, Debug)]
    pub struct ArchiveOptions {
        /// The retention of a record. Older ones are removed when another one of their kind is
        /// stored. Default: 30 days.
        max_age: Duration = Duration::from_secs(30 * 24 * 3600),
        /// The maximum number of bytes of all records of a kind; the oldest are removed first. A
        /// record that exceeds this alone is not stored. Default: 256 MiB.
        max_kind_bytes: u64 = 256 << 20,
    }
}

/// An archive of pages and refused deliveries in their received form, for inspection or another
/// import. Cheap to clone.
///
/// - With [`ClientOptions::archive`](crate::ClientOptions::archive), each answer of the statement
///   endpoint with a 2xx status is stored with its request before it is judged, also if it cannot
///   be read.
/// - With [`ReceiversOptions::archive`](crate::receivers::ReceiversOptions::archive), the body of
///   each delivery that was read whole, has the API key, and is refused with a status from 400 to
///   499 is stored with the reason. Handle such a body as hostile, because any sender may have
///   written it.
/// - A record is stored before the answer is judged or sent. If the archive fails or takes longer
///   than 5 s, that is logged as an error and counted, and nothing else changes.
/// - Content is sealed with AES-256-GCM, bound to the record's kind, subject, call and time.
///   Kind, subject (such as an account identifier), call and time are in clear. Use another secret
///   than that of cached tokens, in another file. A record can be read only with the secret that
///   sealed it.
///
/// [`Archive::replay`] imports the pages again, for a ledger that was lost or damaged.
#[derive(Clone, Debug)]
pub struct Archive {
    store: Arc<dyn ArchiveStore>,
    secret: SealingSecret,
    options: ArchiveOptions,
}

/// A record of an archive with its opened content.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Archived {
    /// The record.
    pub record: ArchiveRecord,
    /// The body of a page's request, or the stage and reason of a refused delivery: one line.
    pub note: String,
    /// The body as received.
    pub body: Vec<u8>,
}

// Prints no part of the content.
bankrail_values::impl_debug!(Archived, self; record: self.record, bytes: self.body.len());

impl Archive {
    /// The kind of a page of a statement. Its subject is the account, its call the request key.
    pub const PAGE: Kind = Kind::from_static("page");
    /// The kind of a refused delivery. Its subject is the kind of messages of its receiver, its
    /// call the message id.
    pub const REFUSED_DELIVERY: Kind = Kind::from_static("refused_delivery");

    /// Makes an archive in this store.
    #[must_use]
    pub fn new(
        store: Arc<dyn ArchiveStore>,
        secret: SealingSecret,
        options: ArchiveOptions,
    ) -> Self {
        Self {
            store,
            secret,
            options,
        }
    }

    /// All records in their order, the oldest first: without their content, which may be large.
    ///
    /// # Errors
    /// [`StoreError`] if the store fails.
    pub async fn all_records(&self) -> Result<Vec<ArchiveRecord>, StoreError> {
        let mut all: Vec<ArchiveRecord> = Vec::new();
        loop {
            let after = all.last().map_or(0, |last| last.number);
            let more = self.store.records(after, MAX_RECORDS).await?;
            if more.is_empty() {
                return Ok(all);
            }
            all.extend(more);
        }
    }

    /// Returns a record with its content; `None` if no record has this number, or the record was
    /// removed.
    ///
    /// # Errors
    /// [`StoreError`] if the store fails, or if the record was sealed with another secret or was
    /// changed ([`StoreErrorKind::Corrupt`]).
    pub async fn find(&self, number: u64) -> Result<Option<Archived>, StoreError> {
        let record = self.store.records(number.saturating_sub(1), 1).await?.pop();
        let Some(record) = record.filter(|record| record.number == number) else {
            return Ok(None);
        };
        // The record may have been removed since it was listed.
        let Some(sealed) = self.store.content(number).await? else {
            return Ok(None);
        };
        let text = sealing::open(&self.secret, &associated(&record.label), &sealed);
        let opened = text.and_then(|text| {
            let (note, body) =
                text.split_at_checked(text.iter().position(|byte| *byte == b'\n')?)?;
            Some(Archived {
                record,
                note: str::from_utf8(note).ok()?.to_owned(),
                body: body.get(1..)?.to_vec(),
            })
        });
        let wrong = || {
            format!("record {number}: expected one that was sealed with this secret, found another")
        };
        opened
            .ok_or_else(|| StoreError::new(StoreErrorKind::Corrupt, wrong()))
            .map(Some)
    }

    /// Returns the pages of an account in the order of their arrival, for another import. They are
    /// read with these `options`.
    ///
    /// # Errors
    /// [`StoreError`] if the store fails.
    #[cfg(feature = "statement")]
    pub async fn replay(
        &self,
        account: &AccountId,
        options: ReadOptions,
    ) -> Result<Replay, StoreError> {
        let mut pages = self.all_records().await?;
        pages.retain(|one| one.label.kind == Self::PAGE && one.label.subject == account.as_str());
        Ok(Replay::new(self.clone(), account.clone(), options, pages))
    }

    /// Stores a received page or delivery. A failure is logged and counted.
    pub(crate) async fn keep(&self, label: ArchiveLabel, note: &str, body: &[u8]) {
        // Room for the line break and the cipher's tag: a buffer that grows leaves a copy behind.
        let mut text = Zeroizing::new(Vec::with_capacity(note.len() + body.len() + 64));
        text.extend(
            // The first line break ends the note when the record is opened.
            note.bytes()
                .map(|byte| if byte == b'\n' { b' ' } else { byte }),
        );
        text.push(b'\n');
        text.extend_from_slice(body);
        let kept = async {
            let sealed = sealing::seal(&self.secret, &associated(&label), text)
                .ok_or(StoreErrorKind::Unavailable)?;
            let (sealed, oldest) = (
                OpaqueBytes::from(sealed),
                label.at.saturating_sub(self.options.max_age),
            );
            let adding = self
                .store
                .add(&label, &sealed, oldest, self.options.max_kind_bytes);
            // A store that hangs must not hold back the page or the delivery itself.
            tokio::time::timeout(MAX_STORING_TIME, adding)
                .await
                .unwrap_or(Err(StoreErrorKind::Timeout.into()))
        };
        let kept: Result<(), StoreError> = kept.await;
        let archived = label.kind.as_str();
        // Logs only the kind of the error, because its text can quote rows of the store.
        if let Err(error) = &kept {
            tracing::error!(archived, error = %error.kind(), "the archive failed");
        }
        let outcome = if kept.is_ok() { "kept" } else { "failed" };
        measure::count(
            "bankrail_archived_total",
            &[("kind", archived), ("outcome", outcome)],
            1,
        );
    }
}

/// Returns the bytes that a record's content is bound to: the version and the label, each part
/// behind its length.
fn associated(label: &ArchiveLabel) -> Vec<u8> {
    let call = label.call.map(|call| call.to_string()).unwrap_or_default();
    let mut bytes = [
        b"bankrail archive".as_slice(),
        &[VERSION],
        &label.at.unix_millis().to_be_bytes(),
    ]
    .concat();
    for part in [label.kind.as_str(), &label.subject, &call] {
        // Lossless: a length is at most 64 bits.
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes
}
