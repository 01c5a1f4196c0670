//! Marks at which the search for free messages begins.
//!
//! - A mark is a position in the order of an endpoint's messages, by due time and then by number.
//!   The only free messages of the endpoint before that position are those that were written since
//!   the last lease ([`FRESH`]).
//! - Only a lease moves marks, and one lease runs at a time.
//! - Marks are rows that are inserted, never updated, and read with the youngest first. An
//!   updated row would leave old versions that each reader passes over.

use crate::postgres::Fault;
use crate::postgres::session::{Query, Session};
use crate::postgres::values::{get, params};
use std::collections::{BTreeMap, BTreeSet};
use tokio_postgres::Row;

pub(super) const READ: &str = "SELECT number, leases_from, leases_to, marks_from, seen::text,
    endpoints, dues, entries
    FROM bankrail_outbox_cursor
    WHERE number >= (SELECT marks_from FROM bankrail_outbox_cursor ORDER BY number DESC LIMIT 1)
    ORDER BY number";

// Selects the first fresh message of each endpoint, and the snapshot of this statement. Fresh
// messages are the free ones of transactions that the last lease did not see, found by the index of
// `freed`. If there are many, the query returns the first free message of each endpoint instead: a
// lease that did not end in time would find the same fresh messages again, and more.
pub(super) const FRESH: &str = "WITH RECURSIVE state AS MATERIALIZED (
        SELECT seen FROM bankrail_outbox_cursor ORDER BY number DESC LIMIT 1),
    fresh AS MATERIALIZED (
        SELECT endpoint, due, entry FROM bankrail_outbox_queue
        WHERE freed >= (SELECT txid_snapshot_xmax(seen) FROM state)
        UNION ALL
        SELECT endpoint, due, entry FROM bankrail_outbox_queue
        WHERE freed IS NOT NULL AND freed = ANY (ARRAY(SELECT txid_snapshot_xip(seen) FROM state))
        LIMIT 10001),
    many AS MATERIALIZED (SELECT count(*) > 10000 AS are FROM fresh),
    first (endpoint, due, entry) AS (
        (SELECT endpoint, due, entry FROM bankrail_outbox_queue
        WHERE owner IS NULL AND (SELECT are FROM many) ORDER BY endpoint, due, entry LIMIT 1)
        UNION ALL
        SELECT next.* FROM first
        CROSS JOIN LATERAL (SELECT endpoint, due, entry FROM bankrail_outbox_queue AS queue
            WHERE owner IS NULL AND queue.endpoint > first.endpoint
            ORDER BY queue.endpoint, queue.due, queue.entry LIMIT 1) AS next)
    SELECT DISTINCT ON (endpoint) endpoint, due, entry, txid_current_snapshot()::text AS seen
    FROM (SELECT * FROM first UNION ALL SELECT * FROM fresh
        WHERE NOT (SELECT are FROM many)) AS place
    ORDER BY endpoint, due, entry";

const WRITE: &str = "INSERT INTO bankrail_outbox_cursor
    (number, seen, leases_from, leases_to, marks_from, endpoints, dues, entries)
    SELECT $1, $2::text::txid_snapshot, $3, $4, $5,
        coalesce(array_agg(endpoint.name ORDER BY endpoint.name), '{}'),
        coalesce(array_agg(first.due ORDER BY endpoint.name), '{}'),
        coalesce(array_agg(first.entry ORDER BY endpoint.name), '{}')
    FROM unnest($6::text[], $7::bigint[], $8::bigint[]) AS endpoint (name, due, entry)
    LEFT JOIN LATERAL (SELECT due, entry FROM bankrail_outbox_queue AS queue
        WHERE owner IS NULL AND queue.endpoint = endpoint.name
            AND (queue.due, queue.entry) >= (endpoint.due, endpoint.entry)
        ORDER BY queue.due, queue.entry LIMIT 1) AS first ON TRUE";

const DELETE: &str = "DELETE FROM bankrail_outbox_cursor WHERE number >= $1 AND number < $2";

// Selects the first instant at which a message can be leased: it is due, free of its lease, and its
// endpoint is neither stopped nor held back by its circuit. Each part reads the same as a lease:
// fresh messages, leases, and the first message at each mark.
pub(super) const NEXT_DUE: &str = "WITH state AS MATERIALIZED (
        SELECT seen, leases_from, marks_from FROM bankrail_outbox_cursor
        ORDER BY number DESC LIMIT 1),
    fresh AS (
        SELECT endpoint, due, entry FROM bankrail_outbox_queue
        WHERE freed >= (SELECT txid_snapshot_xmax(seen) FROM state)
        UNION ALL
        SELECT endpoint, due, entry FROM bankrail_outbox_queue
        WHERE freed IS NOT NULL AND freed = ANY (ARRAY(SELECT txid_snapshot_xip(seen) FROM state))),
    marks AS (
        SELECT DISTINCT ON (name) name, mark.due, mark.entry
        FROM bankrail_outbox_cursor AS cursor,
            unnest(endpoints, dues, entries) AS mark (name, due, entry)
        WHERE number >= (SELECT marks_from FROM state) ORDER BY name, number DESC),
    pending (name, due) AS (
        SELECT endpoint, due FROM fresh
        UNION ALL
        SELECT endpoint, greatest(due, until) FROM bankrail_outbox_queue
        WHERE lease >= (SELECT leases_from FROM state)
        UNION ALL
        SELECT name, first.due FROM marks
        CROSS JOIN LATERAL (SELECT due FROM bankrail_outbox_queue AS queue
            WHERE owner IS NULL AND queue.endpoint = name
                AND (queue.due, queue.entry) >= (marks.due, marks.entry)
            ORDER BY queue.due, queue.entry LIMIT 1) AS first)
    SELECT min(greatest(due, open_until, rests_until)) AS due
    FROM pending LEFT JOIN bankrail_circuit AS circuit ON circuit.endpoint = name
    WHERE name NOT IN (SELECT endpoint FROM bankrail_stopped)";

/// The maximum number of replaced marks that a lease reads in addition to the current ones.
const MAX_REPLACED_MARKS: usize = 32;

/// A position in the order of an endpoint's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mark {
    pub(super) due: i64,
    pub(super) entry: i64,
}

/// The marks of the endpoints that have free messages.
pub(super) struct Marks {
    /// The lower bound of the numbers of leases.
    pub(super) leases_from: i64,
    /// The number of the next lease.
    pub(super) leases_to: i64,
    number: i64,
    marks_from: i64,
    seen: String,
    marks: BTreeMap<String, Mark>,
    /// The number of rows of marks that younger ones replace.
    replaced: usize,
    touched: BTreeSet<String>,
}

impl Marks {
    /// Builds the marks from the rows of [`READ`] and [`FRESH`].
    pub(super) fn of(rows: &[Row], fresh: &[Row]) -> Result<Self, Fault> {
        let newest = rows
            .last()
            .ok_or_else(|| Fault::corrupt("expected a row of positions, found none"))?;
        let mut marks = Self {
            leases_from: get(newest, "leases_from")?,
            leases_to: get(newest, "leases_to")?,
            number: get(newest, "number")?,
            marks_from: get(newest, "marks_from")?,
            seen: get(newest, "seen")?,
            marks: BTreeMap::new(),
            replaced: 0,
            touched: BTreeSet::new(),
        };
        for row in rows {
            let dues = get::<Vec<Option<i64>>>(row, "dues")?.into_iter();
            let places = dues.zip(get::<Vec<Option<i64>>>(row, "entries")?);
            for (name, place) in get::<Vec<String>>(row, "endpoints")?
                .into_iter()
                .zip(places)
            {
                match place {
                    (Some(due), Some(entry)) => marks.marks.insert(name, Mark { due, entry }),
                    _ => marks.marks.remove(&name),
                };
                marks.replaced += 1;
            }
        }
        marks.replaced -= marks.marks.len();
        for row in fresh {
            let name = get::<String>(row, "endpoint")?;
            let mark = Mark {
                due: get(row, "due")?,
                entry: get(row, "entry")?,
            };
            marks
                .marks
                .entry(name.clone())
                .and_modify(|known| *known = mark.min(*known))
                .or_insert(mark);
            marks.touched.insert(name);
            marks.seen = get(row, "seen")?;
        }
        Ok(marks)
    }

    /// Returns the endpoints that may have due messages.
    pub(super) fn due(&self, now: i64) -> impl Iterator<Item = (&str, Mark)> {
        self.marks
            .iter()
            .filter(move |(_, mark)| mark.due <= now)
            .map(|(name, mark)| (&**name, *mark))
    }

    /// Registers that the endpoint's mark must move to its first free message.
    pub(super) fn touch(&mut self, endpoint: &str) {
        if self.marks.contains_key(endpoint) {
            self.touched.insert(endpoint.to_owned());
        }
    }

    pub(super) fn is_changed(&self) -> bool {
        !self.touched.is_empty()
    }

    /// Runs the statement that takes the messages, moves the marks in the same round trip, and
    /// returns the statement's rows.
    pub(super) async fn write_after(
        &self,
        take: Query<'_>,
        session: Session<'_>,
    ) -> Result<Vec<Row>, Fault> {
        let all = self.replaced + self.touched.len() > self.marks.len() + MAX_REPLACED_MARKS;
        let written = self
            .marks
            .iter()
            .filter(|(name, _)| all || self.touched.contains(*name));
        let mut names = Vec::new();
        let mut dues = Vec::new();
        let mut entries = Vec::new();
        for (name, mark) in written {
            names.push(&**name);
            dues.push(mark.due);
            entries.push(mark.entry);
        }
        let number = self.number + 1;
        let seen = &self.seen;
        let from = self.leases_from;
        let to = self.leases_to;
        let marks_from = if all { number } else { self.marks_from };
        let write: Query<'_> = (
            WRITE,
            params![number, seen, from, to, marks_from, names, dues, entries],
        );
        if !all {
            let [rows, _] = session.queries([take, write]).await?;
            return Ok(rows);
        }
        let [rows, _, _] = session
            .queries([take, write, (DELETE, params![self.marks_from, number])])
            .await?;
        Ok(rows)
    }
}
