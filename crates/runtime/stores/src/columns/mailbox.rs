//! Entries of inboxes and outboxes, and their parts.

use super::{Columns, FromRow, corrupt};
use bankrail_mailbox::{
    ArchiveLabel, ArchiveRecord, Circuit, DeliveryRecord, EndpointBacklog, EndpointCircuit,
    EntryId, Fingerprint, InboxCounts, InboxEntry, Intervention, Kind, KnownEntry, OpaqueBytes,
    OutboxCounts, OutboxEntry, OutboxSummary, Outgoing, StoppedEndpoint,
};
use bankrail_values::{HyphenatedUuid, StoreError};
use std::time::Duration;

/// Converts a number to the integers of the database. Numbers above `i64::MAX` saturate; no row has
/// that number.
pub(crate) fn row_number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn entry_number(id: EntryId) -> i64 {
    row_number(id.get())
}

/// Reads a row with an `id`. An error in another column makes only this row unreadable, and its
/// number is returned.
pub(crate) fn readable<T: FromRow>(row: &impl Columns) -> Result<Result<T, EntryId>, StoreError> {
    let id = entry(row)?;
    Ok(T::read(row).map_err(|error| {
        tracing::error!(entry = %id, ?error, "a stored entry is unreadable");
        id
    }))
}

fn entry(row: &impl Columns) -> Result<EntryId, StoreError> {
    row.number("id").map(EntryId::new)
}

fn kind(row: &impl Columns) -> Result<Kind, StoreError> {
    row.named("kind", |name| Kind::parse(name).ok())
}

fn message_id(row: &impl Columns) -> Result<HyphenatedUuid, StoreError> {
    row.named("message_id", |text| HyphenatedUuid::parse(text).ok())
}

fn intervention(row: &impl Columns, by: &str) -> Result<Intervention, StoreError> {
    Ok(Intervention {
        by: row.parsed(by)?,
        reason: row.parsed("reason")?,
    })
}

impl FromRow for ArchiveRecord {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        let call = row
            .text("call")?
            .map(|call| call.parse().map_err(corrupt))
            .transpose()?;
        let label = ArchiveLabel::new(
            kind(row)?,
            row.parsed::<String>("subject")?,
            call,
            row.instant("at")?,
        );
        Ok(Self::new(
            row.number("number")?,
            label,
            row.number("bytes")?,
        ))
    }
}

/// Reads the sealed content of a record of the archive.
impl FromRow for OpaqueBytes {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        row.bytes("sealed").map(Into::into)
    }
}

impl FromRow for InboxEntry {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        let mut read = Self::new(entry(row)?, kind(row)?, row.instant("received")?);
        read.attributes = row.bytes("attributes")?.into();
        read.body = row.bytes("body")?.into();
        read.acknowledgement = row.bytes("acknowledgement")?.into();
        read.conflicts_with = row.optional("conflicts_with")?.map(EntryId::new);
        read.follows = row.optional("follows")?.map(EntryId::new);
        read.state = row.parsed("state")?;
        read.attempts = row.number("attempts")?;
        read.last_error = row.text("last_error")?.map(str::to_owned);
        Ok(read)
    }
}

impl FromRow for KnownEntry {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        Ok(Self {
            id: entry(row)?,
            fingerprint: Fingerprint::from_bytes(row.array("fingerprint")?),
            interim: row.number::<i64>("interim")? != 0,
            state: row.parsed("state")?,
            acknowledgement: row.bytes("acknowledgement")?.into(),
            conflicts_with: row.optional("conflicts_with")?.map(EntryId::new),
        })
    }
}

impl FromRow for OutboxEntry {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        let message = Outgoing {
            endpoint: row.parsed("endpoint")?,
            kind: kind(row)?,
            message_id: message_id(row)?,
            fingerprint: Fingerprint::from_bytes(row.array("fingerprint")?),
            attributes: row.bytes("attributes")?.into(),
            body: row.bytes("body")?.into(),
        };
        let mut read = Self::new(entry(row)?, message, row.instant("enqueued")?);
        read.state = row.parsed("state")?;
        read.due = row.instant("due")?;
        read.deliveries = row.number("deliveries")?;
        Ok(read)
    }
}

impl FromRow for OutboxSummary {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        let is_dropped = row.text("dropped_by")?.is_some();
        let mut read = Self::new(
            entry(row)?,
            row.parsed("endpoint")?,
            kind(row)?,
            message_id(row)?,
            row.instant("enqueued")?,
        );
        read.state = row.parsed("state")?;
        read.due = row.instant("due")?;
        read.deliveries = row.number("deliveries")?;
        read.leased_until = row.optional_instant("until")?;
        read.finished_at = row.optional_instant("finished")?;
        read.dropped = is_dropped
            .then(|| intervention(row, "dropped_by"))
            .transpose()?;
        Ok(read)
    }
}

impl FromRow for DeliveryRecord {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        let has_note = row.text("note")?.is_some();
        Ok(Self {
            started_at: row.instant("started")?,
            duration: Duration::from_millis(row.number("duration")?),
            status: row.optional("status")?,
            note: has_note.then(|| row.parsed("note")).transpose()?,
        })
    }
}

impl FromRow for StoppedEndpoint {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        let intervention = intervention(row, "stopped_by")?;
        let (endpoint, since) = (row.parsed("endpoint")?, row.instant("since")?);
        Ok(Self::new(endpoint, since, intervention))
    }
}

impl FromRow for EndpointBacklog {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        let mut read = Self::new(row.parsed("endpoint")?);
        read.pending = row.number("pending")?;
        read.dead_letters = row.number("dead_letters")?;
        read.oldest_due = row.optional_instant("oldest")?;
        Ok(read)
    }
}

impl FromRow for InboxCounts {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        Ok(Self {
            pending: row.number("pending")?,
            completed: row.number("completed")?,
            dead_letters: row.number("dead_letters")?,
        })
    }
}

impl FromRow for OutboxCounts {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        Ok(Self {
            pending: row.number("pending")?,
            delivered: row.number("delivered")?,
            dead_letters: row.number("dead_letters")?,
            dropped: row.number("dropped")?,
        })
    }
}

impl FromRow for Circuit {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        Ok(Self {
            openings: row.number("openings")?,
            open_until: row.optional_instant("open_until")?,
            rests_until: row.optional_instant("rests_until")?,
        })
    }
}

impl FromRow for EndpointCircuit {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        Ok(Self::new(row.parsed("endpoint")?, Circuit::read(row)?))
    }
}
