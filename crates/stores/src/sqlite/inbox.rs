//! The inbox: received messages.

use super::connection::Fault;
use super::values::{Unreadable, bytes, count, entry_id, kind, named, number, readable};
use super::{SqliteStore, instant, oldest};
use crate::{MOST_WOKEN, UNREADABLE};
use bankrail_mailbox::{
    EntryId, Fingerprint, Inbox, InboxCounts, InboxEntry, InboxState, Incoming, Kind, KnownEntry, Lease, LeaseOwner,
    ReceiveDecision, ReceiveOutcome,
};
use bankrail_values::{StoreFuture, Timestamp};
use rusqlite::{Connection, Row, named_params, params};

/// Entries that have a hash in common with a message.
const KNOWN: &str = "SELECT
    i.id, i.fingerprint, i.interim, i.state, i.acknowledgement, i.conflicts_with, i.owner, i.until
    FROM bankrail_inbox_key k JOIN bankrail_inbox i ON i.id = k.id WHERE k.key = ?1";

const INSERT: &str = "INSERT INTO bankrail_inbox
    (kind, attributes, fingerprint, interim, acknowledgement, received, conflicts_with, follows, state, due, owner,
    until, waits, attempts)
    VALUES (:kind, :attributes, :fingerprint, :interim, :acknowledgement, :now, :conflicts_with, :follows, 'pending',
    :now, :owner, :until, max(:now, :until), :owner IS NOT NULL)";

const INSERT_BODY: &str = "INSERT INTO bankrail_inbox_body (id, body) VALUES (?1, ?2)";

const INSERT_KEY: &str = "INSERT INTO bankrail_inbox_key (key, id) VALUES (?1, ?2)";

const FOLLOW: &str = "UPDATE bankrail_inbox SET follows = ?2 WHERE id = ?1 AND state = 'pending'";

const TAKE: &str = "UPDATE bankrail_inbox SET owner = ?2, until = ?3, waits = max(due, ?3), attempts = attempts + ?4
    WHERE id = ?1";

/// Makes due entries ready. Entries that still wait are not read, and ready ones are found in the order of their
/// arrival.
const WAKE: &str = "UPDATE bankrail_inbox SET waits = NULL WHERE id IN (SELECT id FROM bankrail_inbox
    WHERE state = 'pending' AND waits IS NOT NULL AND waits <= :now ORDER BY waits LIMIT :most)";

const LEASE: &str = "UPDATE bankrail_inbox SET owner = :owner, until = :until, waits = max(due, :until),
    attempts = attempts + 1
    WHERE id IN (SELECT id FROM bankrail_inbox WHERE state = 'pending' AND waits IS NULL AND due <= :now
        AND (until IS NULL OR until <= :now)
        AND (follows IS NULL OR NOT EXISTS
            (SELECT 1 FROM bankrail_inbox AS interim
            WHERE interim.id = bankrail_inbox.follows AND interim.state = 'pending'))
        AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
        ORDER BY id LIMIT :limit)
    RETURNING ";

/// With the payload. If that is missing, the entry cannot be read.
const COLUMNS: &str = "id, kind, attributes, acknowledgement, received, conflicts_with, follows, state, attempts,
    last_error, (SELECT body FROM bankrail_inbox_body AS payload WHERE payload.id = bankrail_inbox.id) AS body";

const EXTEND: &str = "UPDATE bankrail_inbox SET until = ?3, waits = max(due, ?3) WHERE id = ?1 AND owner = ?2";

const COMPLETE: &str = "UPDATE bankrail_inbox SET state = 'completed', finished = ?3, owner = NULL, until = NULL
    WHERE id = ?1 AND owner = ?2";

const RELEASE: &str = "UPDATE bankrail_inbox SET due = ?3, waits = ?3, last_error = ?4, owner = NULL, until = NULL
    WHERE id = ?1 AND owner = ?2";

const DEAD_LETTER: &str =
    "UPDATE bankrail_inbox SET state = 'dead_letter', finished = ?3, last_error = ?4, owner = NULL,
    until = NULL WHERE id = ?1 AND owner = ?2";

const RESEND: &str =
    "UPDATE bankrail_inbox SET state = 'pending', due = ?2, waits = NULL, finished = NULL, attempts = 0
    WHERE id = ?1 AND state = 'dead_letter'";

/// Deletes a bounded number of entries, so that other writes run in between.
const FORGET: &str = "DELETE FROM bankrail_inbox WHERE id IN (SELECT id FROM bankrail_inbox
    WHERE state = 'completed' AND finished < ?1 ORDER BY finished LIMIT ?2)";

#[cfg(test)]
pub(super) const LEASING: [&str; 2] = [WAKE, LEASE];

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[
    WAKE,
    LEASE,
    KNOWN,
    INSERT,
    INSERT_BODY,
    INSERT_KEY,
    FOLLOW,
    TAKE,
    EXTEND,
    COMPLETE,
    RELEASE,
    DEAD_LETTER,
    RESEND,
    FORGET,
];

/// The inbox of a [`SqliteStore`].
#[derive(Clone, Debug)]
pub struct SqliteInbox {
    pub(super) store: SqliteStore,
}

impl Inbox for SqliteInbox {
    fn receive<'a>(&'a self, message: &'a Incoming, now: Timestamp) -> StoreFuture<'a, ReceiveOutcome> {
        let message = message.clone();
        Box::pin(self.store.database.write(move |connection| receive(connection, &message, None, now)))
    }

    fn claim<'a>(&'a self, message: &'a Incoming, lease: Lease, now: Timestamp) -> StoreFuture<'a, ReceiveOutcome> {
        let message = message.clone();
        Box::pin(self.store.database.write(move |connection| receive(connection, &message, Some(lease), now)))
    }

    fn lease<'a>(
        &'a self,
        kinds: &'a [Kind],
        limit: u32,
        lease: Lease,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<InboxEntry>> {
        let names: Vec<_> = kinds.iter().map(|kind| format!("\"{kind}\"")).collect();
        let kinds = (!names.is_empty()).then(|| format!("[{}]", names.join(",")));
        Box::pin(
            self.store.database.write(move |connection| lease_due(connection, kinds.as_deref(), limit, lease, now)),
        )
    }

    fn extend(&self, id: EntryId, lease: Lease, _now: Timestamp) -> StoreFuture<'_, bool> {
        self.store.change(EXTEND, move |sql| {
            sql.execute(params![number(id), lease.owner.as_bytes(), lease.until.unix_millis()])
        })
    }

    fn complete(&self, id: EntryId, owner: LeaseOwner, now: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(self.store.database.write(move |connection| complete(connection, id, owner, now)))
    }

    fn release<'a>(&'a self, id: EntryId, owner: LeaseOwner, due: Timestamp, error: &'a str) -> StoreFuture<'a, bool> {
        let error = error.to_owned();
        self.store
            .change(RELEASE, move |sql| sql.execute(params![number(id), owner.as_bytes(), due.unix_millis(), error]))
    }

    fn dead_letter<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        error: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let error = error.to_owned();
        self.store.change(DEAD_LETTER, move |sql| {
            sql.execute(params![number(id), owner.as_bytes(), now.unix_millis(), error])
        })
    }

    fn dead_letters(&self, after: Option<EntryId>, limit: u32) -> StoreFuture<'_, Vec<InboxEntry>> {
        let after = after.map_or(-1, number);
        Box::pin(self.store.database.read(move |connection| {
            let sql =
                format!("SELECT {COLUMNS} FROM bankrail_inbox WHERE state = 'dead_letter' AND id > ?1 ORDER BY id");
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            let mut list = connection.prepare_cached(&sql)?;
            let rows = list.query_and_then([after], |row| readable(row, entry))?;
            rows.filter_map(|row| row.map(Result::ok).transpose()).take(limit).collect()
        }))
    }

    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        self.store.change(RESEND, move |sql| sql.execute(params![number(id), now.unix_millis()]))
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<InboxEntry>> {
        Box::pin(self.store.database.read(move |connection| {
            let sql = format!("SELECT {COLUMNS} FROM bankrail_inbox WHERE id = ?1");
            let mut find = connection.prepare_cached(&sql)?;
            find.query_and_then([number(id)], entry)?.next().transpose()
        }))
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.store.forget_in_pieces(FORGET, before))
    }

    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>> {
        Box::pin(self.store.database.read(|connection| oldest::oldest(connection, oldest::INBOX)))
    }

    fn counts(&self) -> StoreFuture<'_, InboxCounts> {
        Box::pin(self.store.database.read(move |connection| {
            let count = |sql| count(connection, sql, []);
            Ok(InboxCounts {
                // Each text selects an index.
                pending: count("SELECT count(*) FROM bankrail_inbox WHERE state = 'pending' AND waits IS NULL")?
                    + count("SELECT count(*) FROM bankrail_inbox WHERE state = 'pending' AND waits IS NOT NULL")?,
                completed: count("SELECT count(*) FROM bankrail_inbox WHERE state = 'completed'")?,
                dead_letters: count("SELECT count(*) FROM bankrail_inbox WHERE state = 'dead_letter'")?,
            })
        }))
    }
}

pub(super) fn receive(
    connection: &Connection,
    message: &Incoming,
    lease: Option<Lease>,
    now: Timestamp,
) -> Result<ReceiveOutcome, Fault> {
    let mut known = Vec::new();
    let mut with_key = connection.prepare_cached(KNOWN)?;
    for key in message.key.hashes() {
        for entry in with_key.query_and_then([key.as_bytes()], known_entry)? {
            known.push(entry?);
        }
    }
    match ReceiveDecision::of(message, known, lease.as_ref(), now) {
        ReceiveDecision::Answer(outcome) => Ok(outcome),
        ReceiveDecision::Lease { outcome, attempts } => {
            let owner = lease.as_ref().map(|lease| lease.owner.as_bytes());
            let until = lease.map(|lease| lease.until.unix_millis());
            connection.prepare_cached(TAKE)?.execute(params![number(outcome.id()), owner, until, attempts])?;
            Ok(outcome)
        }
        ReceiveDecision::Store { conflicts_with, follows, followed_by } => {
            let id = insert(connection, message, (conflicts_with, follows), lease, now)?;
            if let Some(result) = followed_by {
                connection.prepare_cached(FOLLOW)?.execute(params![number(result), number(id)])?;
            }
            Ok(ReceiveOutcome::work(id, message.acknowledgement.clone(), conflicts_with))
        }
    }
}

fn known_entry(row: &Row<'_>) -> Result<KnownEntry, Fault> {
    let lease = match (row.get::<_, Option<[u8; 16]>>("owner")?, row.get::<_, Option<i64>>("until")?) {
        (Some(owner), Some(until)) => {
            Some(Lease { owner: LeaseOwner::from_random_bytes(owner), until: instant(until)? })
        }
        _ => None,
    };
    Ok(KnownEntry {
        id: entry_id(row.get("id")?)?,
        fingerprint: Fingerprint::from_bytes(row.get("fingerprint")?),
        interim: row.get("interim")?,
        state: named(row, "state", InboxState::from_name)?,
        acknowledgement: bytes(row, "acknowledgement")?,
        conflicts_with: row.get::<_, Option<i64>>("conflicts_with")?.map(entry_id).transpose()?,
        lease,
    })
}

fn insert(
    connection: &Connection,
    message: &Incoming,
    (conflicts_with, follows): (Option<EntryId>, Option<EntryId>),
    lease: Option<Lease>,
    now: Timestamp,
) -> Result<EntryId, Fault> {
    connection.prepare_cached(INSERT)?.execute(named_params! {
        ":kind": message.kind.as_str(),
        ":attributes": &*message.attributes,
        ":fingerprint": message.fingerprint.as_bytes(),
        ":interim": message.interim,
        ":acknowledgement": &*message.acknowledgement,
        ":now": now.unix_millis(),
        ":conflicts_with": conflicts_with.map(number),
        ":follows": follows.map(number),
        ":owner": lease.as_ref().map(|lease| lease.owner.as_bytes()),
        ":until": lease.map(|lease| lease.until.unix_millis()),
    })?;
    let id = connection.last_insert_rowid();
    connection.prepare_cached(INSERT_BODY)?.execute(params![id, &*message.body])?;
    for key in message.key.hashes() {
        connection.prepare_cached(INSERT_KEY)?.execute(params![key.as_bytes(), id])?;
    }
    entry_id(id)
}

fn lease_due(
    connection: &Connection,
    kinds: Option<&str>,
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
        ":kinds": kinds,
        ":limit": limit,
    };
    let rows = statement.query_and_then(parameters, |row| readable(row, entry))?.collect::<Result<Vec<_>, _>>()?;
    let mut entries = Vec::with_capacity(rows.len());
    for row in rows {
        match row {
            Ok(entry) => entries.push(entry),
            // Otherwise each lease would find it again.
            Err(Unreadable(id)) => {
                let parameters = params![id, lease.owner.as_bytes(), now.unix_millis(), UNREADABLE];
                connection.prepare_cached(DEAD_LETTER)?.execute(parameters)?;
            }
        }
    }
    // An update returns its rows in no particular order.
    entries.sort_unstable_by_key(|entry| entry.id);
    Ok(entries)
}

pub(super) fn complete(connection: &Connection, id: EntryId, owner: LeaseOwner, now: Timestamp) -> Result<bool, Fault> {
    let mut complete = connection.prepare_cached(COMPLETE)?;
    Ok(complete.execute(params![number(id), owner.as_bytes(), now.unix_millis()])? == 1)
}

fn entry(row: &Row<'_>) -> Result<InboxEntry, Fault> {
    Ok(InboxEntry {
        id: entry_id(row.get("id")?)?,
        kind: kind(row)?,
        attributes: bytes(row, "attributes")?,
        body: bytes(row, "body")?,
        acknowledgement: bytes(row, "acknowledgement")?,
        received_at: instant(row.get("received")?)?,
        conflicts_with: row.get::<_, Option<i64>>("conflicts_with")?.map(entry_id).transpose()?,
        follows: row.get::<_, Option<i64>>("follows")?.map(entry_id).transpose()?,
        state: named(row, "state", InboxState::from_name)?,
        attempts: row.get("attempts")?,
        last_error: row.get("last_error")?,
    })
}
