//! The lease of the messages that are handled next.
//!
//! - A message waits until its due time and the end of its lease, and is then ready. Ready
//!   messages are found by kind and number, waiting ones by time.
//! - The search begins at positions that the previous lease has recorded: no message waits for an
//!   earlier instant, and no message of the kind with a lower number is ready. [`FRESH`] finds
//!   messages that were written since, by the number of their transaction. So no search reads the
//!   rows of handled messages, which stay in the table while another transaction is open.
//! - Each lease inserts a row of positions and never updates one, and reads the youngest first,
//!   because an updated row would leave old versions that each reader passes over.

use super::update;
use crate::columns::readable;
use crate::postgres::Fault;
use crate::postgres::session::Session;
use crate::postgres::values::{get, params};
use crate::{MAX_WOKEN_ENTRIES, UNREADABLE};
use bankrail_mailbox::{InboxEntry, InboxState, InboxUpdate, Kind, Lease};
use bankrail_values::Timestamp;
use std::collections::BTreeMap;
use tokio_postgres::Row;

// Locks the leases until the transaction ends, so that they run one after the other.
const LOCK: &str = "SELECT pg_advisory_xact_lock(
    hashtextextended('bankrail_inbox_cursor', 'bankrail_inbox_cursor'::regclass::oid::bigint))";

const READ: &str =
    "SELECT number, seen::text, waits_from, kinds, entries FROM bankrail_inbox_cursor
    ORDER BY number DESC LIMIT 1";

// Selects the messages of transactions that the last lease did not see, and the snapshot of this
// statement. If there are many, it selects the first messages of all instead, as in the outbox.
const FRESH: &str = "WITH RECURSIVE state AS MATERIALIZED (
        SELECT seen FROM bankrail_inbox_cursor ORDER BY number DESC LIMIT 1),
    fresh AS MATERIALIZED (
        SELECT kind, entry, waits FROM bankrail_inbox_queue
        WHERE changed IS NOT NULL AND changed >= (SELECT txid_snapshot_xmax(seen) FROM state)
        UNION ALL
        SELECT kind, entry, waits FROM bankrail_inbox_queue
        WHERE changed IS NOT NULL
            AND changed = ANY (ARRAY(SELECT txid_snapshot_xip(seen) FROM state))
        LIMIT 10001),
    many AS MATERIALIZED (SELECT count(*) > 10000 AS are FROM fresh),
    first (kind, entry) AS (
        (SELECT kind, entry FROM bankrail_inbox_queue
        WHERE waits IS NULL AND (SELECT are FROM many) ORDER BY kind, entry LIMIT 1)
        UNION ALL
        SELECT next.* FROM first
        CROSS JOIN LATERAL (SELECT kind, entry FROM bankrail_inbox_queue AS queue
            WHERE waits IS NULL AND queue.kind > first.kind
            ORDER BY queue.kind, queue.entry LIMIT 1) AS next),
    waiting AS (
        SELECT kind, waits FROM bankrail_inbox_queue
        WHERE waits IS NOT NULL AND (SELECT are FROM many) ORDER BY waits LIMIT 1)
    SELECT kind, min(entry) FILTER (WHERE waits IS NULL) AS entry, min(waits) AS waits,
        txid_current_snapshot()::text AS seen
    FROM (SELECT kind, entry, NULL::bigint AS waits FROM first
        UNION ALL SELECT kind, NULL, waits FROM waiting
        UNION ALL SELECT * FROM fresh WHERE NOT (SELECT are FROM many)) AS place
    GROUP BY kind";

// Makes due messages ready, in the order of the index of waiting messages. `SKIP LOCKED`: a locked
// message is being changed by another transaction.
const WAKE: &str = "WITH due AS (
        SELECT entry FROM bankrail_inbox_queue
        WHERE waits IS NOT NULL AND waits >= $1 AND waits <= $2
        ORDER BY waits LIMIT $3 FOR UPDATE SKIP LOCKED)
    UPDATE bankrail_inbox_queue SET waits = NULL, changed = NULL
    WHERE entry = ANY (ARRAY(SELECT entry FROM due))
    RETURNING kind, entry";

// Leases ready messages. The comparison of rows lets the planner use only the index by kind and
// number, also with old statistics of the table. `SKIP LOCKED`: another transaction is changing a
// locked message.
const LEASE: &str = "WITH found AS (
        SELECT queue.entry FROM unnest($1::text[], $2::bigint[]) AS mark (kind, entry)
        CROSS JOIN LATERAL (SELECT queue.entry FROM bankrail_inbox_queue AS queue
            WHERE waits IS NULL AND (queue.kind, queue.entry) >= (mark.kind, mark.entry)
                AND queue.kind <= mark.kind
                AND (due <= $3 OR attempts = 0) AND (until IS NULL OR until <= $3)
                AND (follows IS NULL OR
                    (SELECT entry FROM bankrail_inbox_queue AS interim
                        WHERE interim.entry = queue.follows) IS NULL)
            ORDER BY queue.kind, queue.entry LIMIT $4 FOR UPDATE OF queue SKIP LOCKED) AS queue
        ORDER BY queue.entry LIMIT $4),
    taken AS (
        UPDATE bankrail_inbox_queue
        SET owner = $5, until = $6, waits = greatest(due, $6), changed = NULL,
            attempts = attempts + 1
        WHERE entry = ANY (ARRAY(SELECT entry FROM found)) RETURNING entry, attempts, last_error)
    SELECT taken.attempts, taken.last_error, 'pending' AS state, message.* FROM taken
    CROSS JOIN LATERAL (SELECT * FROM bankrail_inbox WHERE id = taken.entry OFFSET 0) AS message
    ORDER BY taken.entry";

const WRITE: &str = "INSERT INTO bankrail_inbox_cursor (number, seen, waits_from, kinds, entries)
    SELECT $1, $2::text::txid_snapshot, coalesce((SELECT waits FROM bankrail_inbox_queue
            WHERE waits IS NOT NULL AND waits >= $3 AND waits <= $4
            ORDER BY waits LIMIT 1), greatest($3, $4)),
        coalesce(array_agg(mark.kind) FILTER (WHERE first.entry IS NOT NULL), '{}'),
        coalesce(array_agg(first.entry) FILTER (WHERE first.entry IS NOT NULL), '{}')
    FROM unnest($5::text[], $6::bigint[]) AS mark (kind, entry)
    LEFT JOIN LATERAL (SELECT entry FROM bankrail_inbox_queue AS queue
        WHERE waits IS NULL AND (queue.kind, queue.entry) >= (mark.kind, mark.entry)
            AND queue.kind <= mark.kind
        ORDER BY queue.kind, queue.entry LIMIT 1) AS first ON TRUE";

const DELETE: &str = "DELETE FROM bankrail_inbox_cursor WHERE number = $1";

/// The time, in milliseconds, for which leases that find nothing leave the positions unchanged, so
/// that idle workers do not write.
const IDLE_MILLIS: i64 = 10_000;

/// Leases messages in its own transaction.
pub(super) async fn lease(
    session: Session<'_>,
    kinds: &[Kind],
    limit: u32,
    lease: Lease,
    now: Timestamp,
) -> Result<Vec<InboxEntry>, Fault> {
    let [_, rows, fresh] = session
        .begin_with([(LOCK, &[]), (READ, &[]), (FRESH, &[])])
        .await?;
    let mut positions = Positions::of(&rows, &fresh)?;
    positions
        .wake(session, limit.max(MAX_WOKEN_ENTRIES), now)
        .await?;
    let wanted =
        |kind: &str| kinds.is_empty() || kinds.iter().any(|wanted| wanted.as_str() == kind);
    let marks = positions.marks.iter().filter(|(kind, _)| wanted(kind));
    let (kinds, firsts): (Vec<&str>, Vec<i64>) =
        marks.map(|(kind, first)| (&**kind, *first)).unzip();
    let mut rows = Vec::new();
    if !kinds.is_empty() && limit > 0 {
        let owner = lease.owner.as_bytes().as_slice();
        let until = lease.until.unix_millis();
        let now = now.unix_millis();
        let limit = i64::from(limit);
        rows = session
            .query(LEASE, params![kinds, firsts, now, limit, owner, until])
            .await?;
    }
    if !rows.is_empty() {
        positions.waits_from = positions.waits_from.min(lease.until.unix_millis());
        positions.changed = true;
    }
    let mut entries = Vec::with_capacity(rows.len());
    for row in &rows {
        match readable(row)? {
            Ok(entry) => entries.push(entry),
            // Made a dead letter, because each lease would find it again.
            Err(id) => {
                let given_up = InboxUpdate {
                    error: Some(UNREADABLE),
                    ..InboxUpdate::to(InboxState::DeadLetter)
                };
                update(session, id, lease.owner, given_up, now).await?;
            }
        }
    }
    positions.write(session, now.unix_millis()).await?;
    Ok(entries)
}

/// The positions at which the search begins.
struct Positions {
    number: i64,
    seen: String,
    waits_from: i64,
    marks: BTreeMap<String, i64>,
    changed: bool,
}

impl Positions {
    fn of(rows: &[Row], fresh: &[Row]) -> Result<Self, Fault> {
        let row = rows
            .first()
            .ok_or_else(|| Fault::corrupt("expected a row of positions, found none"))?;
        let marks = get::<Vec<String>>(row, "kinds")?
            .into_iter()
            .zip(get::<Vec<i64>>(row, "entries")?);
        let mut positions = Self {
            number: get(row, "number")?,
            seen: get(row, "seen")?,
            waits_from: get(row, "waits_from")?,
            marks: marks.collect(),
            changed: !fresh.is_empty(),
        };
        for row in fresh {
            positions.seen = get(row, "seen")?;
            if let Some(waits) = get::<Option<i64>>(row, "waits")? {
                positions.waits_from = positions.waits_from.min(waits);
            }
            if get::<Option<i64>>(row, "entry")?.is_some() {
                positions.ready(row)?;
            }
        }
        Ok(positions)
    }

    /// Moves the mark of a kind back to a ready entry.
    fn ready(&mut self, row: &Row) -> Result<(), Fault> {
        let entry: i64 = get(row, "entry")?;
        self.marks
            .entry(get(row, "kind")?)
            .and_modify(|first| *first = entry.min(*first))
            .or_insert(entry);
        Ok(())
    }

    async fn wake(&mut self, session: Session<'_>, most: u32, now: Timestamp) -> Result<(), Fault> {
        let now = now.unix_millis();
        if self.waits_from <= now {
            let woken = session
                .query(WAKE, params![self.waits_from, now, i64::from(most)])
                .await?;
            woken.iter().try_for_each(|row| self.ready(row))?;
            self.changed |= !woken.is_empty() || self.waits_from < now.saturating_sub(IDLE_MILLIS);
        }
        Ok(())
    }

    /// Writes changed positions, and commits.
    async fn write(&self, session: Session<'_>, now: i64) -> Result<(), Fault> {
        if !self.changed {
            session.commit_with([]).await?;
            return Ok(());
        }
        let (kinds, entries): (Vec<&str>, Vec<i64>) = self
            .marks
            .iter()
            .map(|(kind, entry)| (&**kind, *entry))
            .unzip();
        let seen = &self.seen;
        let next = self.number + 1;
        let values = params![next, seen, self.waits_from, now, kinds, entries];
        session
            .commit_with([(WRITE, values), (DELETE, params![self.number])])
            .await?;
        Ok(())
    }
}
