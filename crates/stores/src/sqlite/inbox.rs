//! Received messages.

use super::SqliteStore;
use super::connection::Fault;
use super::values::{Unreadable, count, entry_id, instant, kind_and_headers, named, number, readable};
use crate::{MOST_WOKEN, UNREADABLE};
use bankrail_values::{StoreFuture, Timestamp};
use bankrail_webhook::store::inbox::InboxCounts;
use bankrail_webhook::{
    Acknowledgement, EntryId, Finding, Inbox, InboxEntry, InboxState, Incoming, Lease, MessageKind, Owner, Verdict,
};
use rusqlite::{Connection, Row, named_params, params};

/// Entries that have a key in common with a message, earliest first.
const KNOWN: &str = "SELECT i.id, i.fingerprint, i.state, i.acknowledgement, i.conflicts_with, i.owner, i.until
    FROM bankrail_inbox_key k JOIN bankrail_inbox i ON i.id = k.id WHERE k.key = ?1 ORDER BY k.id";

const INSERT: &str =
    "INSERT INTO bankrail_inbox (kind, request_key, message_id, correlation_id, priority, header_findings,
    fingerprint, acknowledgement, received, conflicts_with, state, due, owner, until, waits, attempts, body)
    VALUES (:kind, :request_key, :message_id, :correlation_id, :priority, :header_findings,
    :fingerprint, :acknowledgement, :now, :conflicts_with, 'pending', :now, :owner, :until,
    max(:now, :until), :owner IS NOT NULL, :body)";

const INSERT_KEY: &str = "INSERT INTO bankrail_inbox_key (key, id) VALUES (?1, ?2)";

const TAKE: &str = "UPDATE bankrail_inbox SET owner = ?2, until = ?3, waits = max(due, ?3), attempts = attempts + ?4
    WHERE id = ?1";

/// Makes ready what has waited long enough: what waits on is not looked at, and what is ready is found in its order.
const WAKE: &str = "UPDATE bankrail_inbox SET waits = NULL WHERE id IN (SELECT id FROM bankrail_inbox
    WHERE state = 'pending' AND waits IS NOT NULL AND waits <= :now ORDER BY waits LIMIT :most)";

const LEASE: &str = "UPDATE bankrail_inbox SET owner = :owner, until = :until, waits = max(due, :until),
    attempts = attempts + 1
    WHERE id IN (SELECT id FROM bankrail_inbox WHERE state = 'pending' AND waits IS NULL AND due <= :now
        AND (until IS NULL OR until <= :now) AND kind IN (:a, :b, :c, :d) ORDER BY id LIMIT :limit)
    RETURNING ";

const COLUMNS: &str = "id, kind, request_key, message_id, correlation_id, priority, body, acknowledgement, received,
    conflicts_with, state, attempts, last_error, header_findings";

const EXTEND: &str = "UPDATE bankrail_inbox SET until = ?3, waits = max(due, ?3) WHERE id = ?1 AND owner = ?2";

const COMPLETE: &str = "UPDATE bankrail_inbox SET state = 'completed', finished = ?3, owner = NULL, until = NULL
    WHERE id = ?1 AND owner = ?2";

const RELEASE: &str = "UPDATE bankrail_inbox SET due = ?3, waits = ?3, last_error = ?4, owner = NULL, until = NULL
    WHERE id = ?1 AND owner = ?2";

const SET_ASIDE: &str = "UPDATE bankrail_inbox SET state = 'set_aside', finished = ?3, last_error = ?4, owner = NULL,
    until = NULL WHERE id = ?1 AND owner = ?2";

const RETRY: &str = "UPDATE bankrail_inbox SET state = 'pending', due = ?2, waits = NULL, finished = NULL, attempts = 0
    WHERE id = ?1 AND state = 'set_aside'";

/// A bounded piece, so that others can write in between.
const FORGET: &str = "DELETE FROM bankrail_inbox WHERE id IN (SELECT id FROM bankrail_inbox
    WHERE state = 'completed' AND finished < ?1 ORDER BY finished LIMIT ?2)";

#[cfg(test)]
pub(super) const LEASING: [&str; 2] = [WAKE, LEASE];

#[cfg(test)]
pub(super) const DAILY: &[&str] =
    &[WAKE, LEASE, KNOWN, INSERT, INSERT_KEY, TAKE, EXTEND, COMPLETE, RELEASE, SET_ASIDE, RETRY, FORGET];

impl Inbox for SqliteStore {
    fn receive<'a>(&'a self, message: &'a Incoming, now: Timestamp) -> StoreFuture<'a, Verdict> {
        let message = message.clone();
        Box::pin(self.database.write(move |connection| receive(connection, &message, None, now)))
    }

    fn claim<'a>(&'a self, message: &'a Incoming, lease: Lease, now: Timestamp) -> StoreFuture<'a, Verdict> {
        let message = message.clone();
        Box::pin(self.database.write(move |connection| receive(connection, &message, Some(lease), now)))
    }

    fn lease<'a>(
        &'a self,
        kinds: &'a [MessageKind],
        limit: u32,
        lease: Lease,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<InboxEntry>> {
        // A kind that is not wanted is replaced by one that is.
        let any = MessageKind::ALL.into_iter().find(|kind| kinds.is_empty() || kinds.contains(kind));
        let names = MessageKind::ALL.map(|kind| {
            let wanted = kinds.is_empty() || kinds.contains(&kind);
            Some(kind).filter(|_| wanted).or(any).unwrap_or(kind).as_str()
        });
        Box::pin(self.database.write(move |connection| lease_due(connection, names, limit, lease, now)))
    }

    fn extend(&self, id: EntryId, lease: Lease, _now: Timestamp) -> StoreFuture<'_, bool> {
        self.change(EXTEND, move |sql| {
            sql.execute(params![number(id), lease.owner.as_bytes(), lease.until.unix_millis()])
        })
    }

    fn complete(&self, id: EntryId, owner: Owner, now: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(self.database.write(move |connection| complete(connection, id, owner, now)))
    }

    fn release<'a>(&'a self, id: EntryId, owner: Owner, due: Timestamp, error: &'a str) -> StoreFuture<'a, bool> {
        let error = error.to_owned();
        self.change(RELEASE, move |sql| sql.execute(params![number(id), owner.as_bytes(), due.unix_millis(), error]))
    }

    fn set_aside<'a>(&'a self, id: EntryId, owner: Owner, error: &'a str, now: Timestamp) -> StoreFuture<'a, bool> {
        let error = error.to_owned();
        self.change(SET_ASIDE, move |sql| sql.execute(params![number(id), owner.as_bytes(), now.unix_millis(), error]))
    }

    fn list_set_aside(&self, after: Option<EntryId>, limit: u32) -> StoreFuture<'_, Vec<InboxEntry>> {
        let after = after.map_or(-1, number);
        Box::pin(self.database.read(move |connection| {
            let sql = format!("SELECT {COLUMNS} FROM bankrail_inbox WHERE state = 'set_aside' AND id > ?1 ORDER BY id");
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            let mut list = connection.prepare_cached(&sql)?;
            let rows = list.query_and_then([after], |row| readable(row, entry))?;
            rows.filter_map(|row| row.map(Result::ok).transpose()).take(limit).collect()
        }))
    }

    fn retry(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        self.change(RETRY, move |sql| sql.execute(params![number(id), now.unix_millis()]))
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<InboxEntry>> {
        Box::pin(self.database.read(move |connection| {
            let sql = format!("SELECT {COLUMNS} FROM bankrail_inbox WHERE id = ?1");
            let mut find = connection.prepare_cached(&sql)?;
            find.query_and_then([number(id)], entry)?.next().transpose()
        }))
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.forget_in_pieces(FORGET, before))
    }

    fn counts(&self) -> StoreFuture<'_, InboxCounts> {
        Box::pin(self.database.read(move |connection| {
            let count = |sql| count(connection, sql, []);
            Ok(InboxCounts {
                // The text says which index serves.
                pending: count("SELECT count(*) FROM bankrail_inbox WHERE state = 'pending' AND waits IS NULL")?
                    + count("SELECT count(*) FROM bankrail_inbox WHERE state = 'pending' AND waits IS NOT NULL")?,
                completed: count("SELECT count(*) FROM bankrail_inbox WHERE state = 'completed'")?,
                set_aside: count("SELECT count(*) FROM bankrail_inbox WHERE state = 'set_aside'")?,
            })
        }))
    }
}

/// What is known of an entry that has a key in common with a message.
struct Known {
    id: EntryId,
    same: bool,
    finished: bool,
    acknowledgement: Acknowledgement,
    conflicts_with: Option<EntryId>,
    owner: Option<Vec<u8>>,
    until: Option<i64>,
}

pub(super) fn receive(
    connection: &Connection,
    message: &Incoming,
    lease: Option<Lease>,
    now: Timestamp,
) -> Result<Verdict, Fault> {
    let mut known = Vec::new();
    let mut with_key = connection.prepare_cached(KNOWN)?;
    for key in message.key.keys() {
        for row in with_key.query_and_then([key.as_bytes()], |row| read_known(row, message))? {
            known.push(row?);
        }
    }
    known.sort_unstable_by_key(|known| known.id);
    if let Some(same) = known.iter().position(|known| known.same) {
        return again(connection, known.swap_remove(same), lease, now);
    }
    let acknowledgement = message.acknowledgement.clone();
    let with = known.first().map(|known| known.id);
    let id = insert(connection, message, with, lease, now)?;
    Ok(match with {
        None => Verdict::New { id, acknowledgement },
        Some(with) => Verdict::Conflict { id, acknowledgement, with },
    })
}

fn read_known(row: &Row<'_>, message: &Incoming) -> Result<Known, Fault> {
    Ok(Known {
        id: entry_id(row.get(0)?)?,
        same: row.get_ref(1)?.as_blob().map_err(Fault::corrupt)? == message.fingerprint.as_bytes(),
        finished: row.get_ref(2)?.as_str().map_err(Fault::corrupt)? != InboxState::Pending.as_str(),
        acknowledgement: read_acknowledgement(row, 3)?,
        conflicts_with: row.get::<_, Option<i64>>(4)?.map(entry_id).transpose()?,
        owner: row.get(5)?,
        until: row.get(6)?,
    })
}

/// The verdict on a message that is there already, after the lease that a claim takes of it.
fn again(connection: &Connection, known: Known, lease: Option<Lease>, now: Timestamp) -> Result<Verdict, Fault> {
    let Known { id, acknowledgement, .. } = known;
    if known.finished {
        return Ok(Verdict::Duplicate { id, acknowledgement });
    }
    let free = known.until.is_none_or(|until| until <= now.unix_millis());
    let Some(lease) = lease.filter(|lease| free || known.owner.as_deref() == Some(lease.owner.as_bytes())) else {
        return Ok(Verdict::InProgress { id, acknowledgement });
    };
    let until = lease.until.unix_millis();
    // The owner's own repetition is the same lease.
    connection.prepare_cached(TAKE)?.execute(params![number(id), lease.owner.as_bytes(), until, free])?;
    Ok(match known.conflicts_with {
        None => Verdict::New { id, acknowledgement },
        Some(with) => Verdict::Conflict { id, acknowledgement, with },
    })
}

fn insert(
    connection: &Connection,
    message: &Incoming,
    conflicts_with: Option<EntryId>,
    lease: Option<Lease>,
    now: Timestamp,
) -> Result<EntryId, Fault> {
    let headers = &message.headers;
    connection.prepare_cached(INSERT)?.execute(named_params! {
        ":kind": message.kind.as_str(),
        ":request_key": headers.request_key.map(|id| id.to_string()),
        ":message_id": headers.message_id.to_string(),
        ":correlation_id": headers.correlation_id.map(|id| id.to_string()),
        ":priority": headers.priority.map(|priority| priority.as_str()),
        ":header_findings": Finding::list_to_json(&message.header_findings),
        ":fingerprint": message.fingerprint.as_bytes(),
        ":acknowledgement": message.acknowledgement.to_json(),
        ":now": now.unix_millis(),
        ":conflicts_with": conflicts_with.map(number),
        ":owner": lease.as_ref().map(|lease| lease.owner.as_bytes()),
        ":until": lease.map(|lease| lease.until.unix_millis()),
        ":body": message.body,
    })?;
    let id = connection.last_insert_rowid();
    for key in message.key.keys() {
        connection.prepare_cached(INSERT_KEY)?.execute(params![key.as_bytes(), id])?;
    }
    entry_id(id)
}

fn lease_due(
    connection: &Connection,
    [a, b, c, d]: [&str; 4],
    limit: u32,
    lease: Lease,
    now: Timestamp,
) -> Result<Vec<InboxEntry>, Fault> {
    let most = limit.max(MOST_WOKEN);
    connection.prepare_cached(WAKE)?.execute(named_params! {":now": now.unix_millis(), ":most": most})?;
    let mut statement = connection.prepare_cached(&format!("{LEASE}{COLUMNS}"))?;
    let parameters = named_params! {
        ":owner": lease.owner.as_bytes(),
        ":until": lease.until.unix_millis(),
        ":now": now.unix_millis(),
        ":a": a, ":b": b, ":c": c, ":d": d,
        ":limit": limit,
    };
    let rows = statement.query_and_then(parameters, |row| readable(row, entry))?.collect::<Result<Vec<_>, _>>()?;
    let mut entries = Vec::with_capacity(rows.len());
    for row in rows {
        match row {
            Ok(entry) => entries.push(entry),
            // It would be met again at every look, and the others with it.
            Err(Unreadable(id)) => {
                let parameters = params![id, lease.owner.as_bytes(), now.unix_millis(), UNREADABLE];
                connection.prepare_cached(SET_ASIDE)?.execute(parameters)?;
            }
        }
    }
    // An update returns its rows in no particular order.
    entries.sort_unstable_by_key(|entry| entry.id);
    Ok(entries)
}

pub(super) fn complete(connection: &Connection, id: EntryId, owner: Owner, now: Timestamp) -> Result<bool, Fault> {
    let mut complete = connection.prepare_cached(COMPLETE)?;
    Ok(complete.execute(params![number(id), owner.as_bytes(), now.unix_millis()])? == 1)
}

fn entry(row: &Row<'_>) -> Result<InboxEntry, Fault> {
    let (kind, headers) = kind_and_headers(row, 1)?;
    Ok(InboxEntry {
        id: entry_id(row.get(0)?)?,
        kind,
        headers,
        body: row.get(6)?,
        acknowledgement: read_acknowledgement(row, 7)?,
        received_at: instant(row.get(8)?)?,
        conflicts_with: row.get::<_, Option<i64>>(9)?.map(entry_id).transpose()?,
        state: named(row.get_ref(10)?.as_str().map_err(Fault::corrupt)?, InboxState::from_name)?,
        attempts: row.get(11)?,
        last_error: row.get(12)?,
        header_findings: named(row.get_ref(13)?.as_str().map_err(Fault::corrupt)?, Finding::list_from_json)?,
    })
}

fn read_acknowledgement(row: &Row<'_>, column: usize) -> Result<Acknowledgement, Fault> {
    Acknowledgement::from_json(row.get_ref(column)?.as_blob().map_err(Fault::corrupt)?).map_err(Fault::corrupt)
}
