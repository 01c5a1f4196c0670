//! Entries of inboxes and outboxes, and what belongs to them.

use super::{Columns, FromRow, corrupt};
use bankrail_mailbox::{
    ArchiveLabel, ArchiveRecord, Circuit, DeliveryNote, DeliveryRecord, EndpointBacklog,
    EndpointCircuit, EntryId, Fingerprint, InboxCounts, InboxEntry, InboxState, Intervention, Kind,
    KnownEntry, OpaqueBytes, OutboxCounts, OutboxEntry, OutboxState, OutboxSummary, Outgoing,
    StoppedEndpoint,
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

/// Reads a row with an `id`. An error in another column makes only this row unreadable: then its
/// number comes back.
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

/// The sealed content of a record of the archive.
impl FromRow for OpaqueBytes {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        row.bytes("sealed").map(Into::into)
    }
}

impl FromRow for InboxEntry {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        Ok(Self {
            id: entry(row)?,
            kind: kind(row)?,
            attributes: row.bytes("attributes")?.into(),
            body: row.bytes("body")?.into(),
            acknowledgement: row.bytes("acknowledgement")?.into(),
            received_at: row.instant("received")?,
            conflicts_with: row.optional("conflicts_with")?.map(EntryId::new),
            follows: row.optional("follows")?.map(EntryId::new),
            state: row.parsed("state")?,
            attempts: row.number("attempts")?,
            last_error: row.text("last_error")?.map(str::to_owned),
        })
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
        Ok(Self {
            id: entry(row)?,
            message: Outgoing {
                endpoint: row.parsed("endpoint")?,
                kind: kind(row)?,
                message_id: message_id(row)?,
                fingerprint: Fingerprint::from_bytes(row.array("fingerprint")?),
                attributes: row.bytes("attributes")?.into(),
                body: row.bytes("body")?.into(),
            },
            state: row.parsed("state")?,
            enqueued_at: row.instant("enqueued")?,
            due: row.instant("due")?,
            deliveries: row.number("deliveries")?,
            circuit: None,
        })
    }
}

impl FromRow for OutboxSummary {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        let is_dropped = row.text("dropped_by")?.is_some();
        Ok(Self {
            id: entry(row)?,
            endpoint: row.parsed("endpoint")?,
            kind: kind(row)?,
            message_id: message_id(row)?,
            state: row.parsed("state")?,
            enqueued_at: row.instant("enqueued")?,
            due: row.instant("due")?,
            deliveries: row.number("deliveries")?,
            leased_until: row.optional_instant("until")?,
            finished_at: row.optional_instant("finished")?,
            dropped: is_dropped
                .then(|| intervention(row, "dropped_by"))
                .transpose()?,
        })
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
        Ok(Self {
            endpoint: row.parsed("endpoint")?,
            since: row.instant("since")?,
            intervention,
        })
    }
}

impl FromRow for EndpointBacklog {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        Ok(Self {
            endpoint: row.parsed("endpoint")?,
            pending: row.number("pending")?,
            dead_letters: row.number("dead_letters")?,
            oldest_due: row.optional_instant("oldest")?,
        })
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
        Ok(Self {
            endpoint: row.parsed("endpoint")?,
            circuit: Circuit::read(row)?,
        })
    }
}
