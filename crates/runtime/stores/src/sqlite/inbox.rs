//! The inbox: received messages.

use super::connection::{Database, Fault};
use super::statements::{RowCells, all, changes, first, readable_page, run};
use crate::columns::{entry_number, readable};
use crate::{MAX_WOKEN_ENTRIES, UNREADABLE};
use bankrail_mailbox::{
    EntryId, Inbox, InboxCounts, InboxEntry, InboxState, InboxUpdate, Incoming, Kind, KnownEntry,
    Lease, LeaseOwner, ReceiveDecision, ReceiveOutcome,
};
use bankrail_values::{StoreFuture, Timestamp};
use rusqlite::{Connection, OptionalExtension, named_params, params};
use std::sync::Arc;

/// Selects the entries that have a hash in common with a message.
const KNOWN: &str =
    "SELECT i.id, i.fingerprint, i.interim, i.state, i.acknowledgement, i.conflicts_with
    FROM bankrail_inbox_key k JOIN bankrail_inbox i ON i.id = k.id WHERE k.key = ?1";

const INSERT: &str = "INSERT INTO bankrail_inbox
    (kind, attributes, fingerprint, interim, acknowledgement, received, conflicts_with, follows,
        state, due)
    VALUES (:kind, :attributes, :fingerprint, :interim, :acknowledgement, :now, :conflicts_with,
        :follows, 'pending', :now)";

const INSERT_BODY: &str = "INSERT INTO bankrail_inbox_body (id, body) VALUES (?1, ?2)";

const INSERT_KEY: &str = "INSERT INTO bankrail_inbox_key (key, id) VALUES (?1, ?2)";

const FOLLOW: &str =
    "UPDATE bankrail_inbox SET follows = ?2 WHERE id = ?1 AND state <> 'completed'";

// Makes due entries ready, in the order of the index of waiting entries. The partial index has no
// ready ones, and later entries are not read.
const WAKE: &str =
    "UPDATE bankrail_inbox SET waits = NULL WHERE id IN (SELECT id FROM bankrail_inbox
    WHERE state = 'pending' AND waits IS NOT NULL AND waits <= :now ORDER BY waits LIMIT :most)";

// Selects the next kind with ready entries, in the index of ready entries by kind.
const NEXT_KIND: &str = "SELECT kind FROM bankrail_inbox
    WHERE state = 'pending' AND waits IS NULL AND kind > ?1 ORDER BY kind LIMIT 1";

// Selects the ready entries of one kind, in the order of its index, so that entries of kinds
// without a worker are not read.
const READY: &str =
    "SELECT id FROM bankrail_inbox WHERE state = 'pending' AND waits IS NULL AND kind = :kind
    AND (due <= :now OR attempts = 0) AND (until IS NULL OR until <= :now)
    AND (follows IS NULL OR NOT EXISTS
        (SELECT 1 FROM bankrail_inbox AS interim
        WHERE interim.id = bankrail_inbox.follows AND interim.state = 'pending'))
    ORDER BY id LIMIT :limit";

const TAKE: &str =
    "UPDATE bankrail_inbox SET owner = :owner, until = :until, waits = max(due, :until),
    attempts = attempts + 1 WHERE id = :id";

// Selects an entry, with a subquery for the payload, so that an entry without one is found as
// unreadable.
const FIND: &str =
    "SELECT id, kind, attributes, acknowledgement, received, conflicts_with, follows, state,
        attempts, last_error,
        (SELECT body FROM bankrail_inbox_body AS payload
            WHERE payload.id = bankrail_inbox.id) AS body
    FROM bankrail_inbox WHERE id = ?1";

const DEAD_LETTERS: &str =
    "SELECT id, kind, attributes, acknowledgement, received, conflicts_with, follows, state,
        attempts, last_error,
        (SELECT body FROM bankrail_inbox_body AS payload
            WHERE payload.id = bankrail_inbox.id) AS body
    FROM bankrail_inbox WHERE state = 'dead_letter' AND id > ?1 ORDER BY id";

/// Makes an [`InboxUpdate`]. `waits` has no meaning for an entry that is no longer pending.
const UPDATE: &str = "UPDATE bankrail_inbox
    SET state = :state, due = coalesce(:due, due), until = :until,
        owner = CASE WHEN :until IS NOT NULL THEN owner END,
        waits = max(coalesce(:due, due), coalesce(:until, :due, due)),
        last_error = coalesce(:error, last_error),
        finished = CASE WHEN :state <> 'pending' THEN :now END
    WHERE id = :id AND owner = :owner";

// Leased entries are among those that wait, all of which are read. An index of owners would cost a
// write with each lease, and this statement runs only for half a minute after a failure. An entry
// that was never tried is ready, as when it was received.
const RELEASE_ALL: &str = "UPDATE bankrail_inbox SET owner = NULL, until = NULL,
    waits = CASE WHEN attempts > 1 THEN due END,
    attempts = max(attempts - 1, 0) WHERE id IN (SELECT id FROM bankrail_inbox
    WHERE state = 'pending' AND waits IS NOT NULL
        AND hex(owner) IN (SELECT value FROM json_each(?1)))";

// Waits for what is left: the time at which the entry is due, and the end of a lease that is
// believed. Without such a lease, the second value is not later than the first.
const RECALL: &str = "UPDATE bankrail_inbox SET due = CASE WHEN due > ?1 THEN ?2 ELSE due END,
    owner = CASE WHEN until > ?1 THEN NULL ELSE owner END,
    until = CASE WHEN until > ?1 THEN NULL ELSE until END,
    waits = max(CASE WHEN due > ?1 THEN ?2 ELSE due END,
        CASE WHEN until <= ?1 THEN until ELSE min(due, ?2) END)
    WHERE id IN (SELECT id FROM bankrail_inbox
        WHERE state = 'pending' AND waits IS NOT NULL AND waits > ?1)";

const RESEND: &str = "UPDATE bankrail_inbox
    SET state = 'pending', due = ?2, waits = NULL, finished = NULL, attempts = 0
    WHERE id = ?1 AND state = 'dead_letter'";

// Deletes a bounded number of entries, so that other writes run in between.
const FORGET: &str = "DELETE FROM bankrail_inbox WHERE id IN (SELECT id FROM bankrail_inbox
    WHERE state = 'completed' AND finished < ?1 ORDER BY finished LIMIT ?2)";

// Selects the oldest pending entry. `+ 0` prevents that SQLite scans the table in the order of `id`
// past all finished entries, so that it reads the indexes of the pending ones.
const OLDEST: &str = "SELECT received AS at FROM bankrail_inbox WHERE id = (SELECT min(id) FROM (
    SELECT min(id + 0) AS id FROM bankrail_inbox WHERE state = 'pending' AND waits IS NULL
    UNION ALL SELECT min(id + 0) FROM bankrail_inbox 
        WHERE state = 'pending' AND waits IS NOT NULL))";

// Counts the entries in each state. The condition of each count is that of a partial index, so only
// that is read.
const COUNTS: &str = "SELECT
    (SELECT count(*) FROM bankrail_inbox WHERE state = 'pending' AND waits IS NULL)
        + (SELECT count(*) FROM bankrail_inbox WHERE state = 'pending' AND waits IS NOT NULL)
        AS pending,
    (SELECT count(*) FROM bankrail_inbox WHERE state = 'completed') AS completed,
    (SELECT count(*) FROM bankrail_inbox WHERE state = 'dead_letter') AS dead_letters";

#[cfg(test)]
pub(super) const LEASING: [&str; 3] = [WAKE, NEXT_KIND, READY];

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[
    WAKE,
    NEXT_KIND,
    READY,
    TAKE,
    KNOWN,
    INSERT,
    INSERT_BODY,
    INSERT_KEY,
    FOLLOW,
    UPDATE,
    RELEASE_ALL,
    RECALL,
    RESEND,
    FORGET,
];

/// The inbox of a [`SqliteStore`](super::SqliteStore).
#[derive(Clone, Debug)]
pub struct SqliteInbox {
    pub(super) database: Arc<Database>,
}

impl Inbox for SqliteInbox {
    fn receive<'a>(
        &'a self,
        message: &'a Incoming,
        now: Timestamp,
    ) -> StoreFuture<'a, ReceiveOutcome> {
        let message = message.clone();
        self.database
            .write(move |connection| receive(connection, &message, now))
    }

    fn lease<'a>(
        &'a self,
        kinds: &'a [Kind],
        limit: u32,
        lease: Lease,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<InboxEntry>> {
        let kinds = kinds.to_vec();
        self.database
            .write(move |connection| lease_due(connection, &kinds, limit, lease, now))
    }

    fn release_all<'a>(&'a self, owners: &'a [LeaseOwner]) -> StoreFuture<'a, u64> {
        let owners: Vec<_> = owners
            .iter()
            .map(|owner| format!("\"{:032X}\"", u128::from_be_bytes(*owner.as_bytes())))
            .collect();
        let owners = format!("[{}]", owners.join(","));
        self.database.write(move |connection| {
            u64::try_from(run(connection, RELEASE_ALL, [&owners])?).map_err(Fault::corrupt)
        })
    }

    fn recall(&self, latest: Timestamp, now: Timestamp) -> StoreFuture<'_, u64> {
        self.database.write(move |connection| {
            let ahead = params![latest.unix_millis(), now.unix_millis()];
            u64::try_from(run(connection, RECALL, ahead)?).map_err(Fault::corrupt)
        })
    }

    fn dead_letters(&self, after: Option<EntryId>, limit: u32) -> StoreFuture<'_, Vec<InboxEntry>> {
        let after = after.map_or(-1, entry_number);
        self.database
            .read(move |connection| readable_page(connection, DEAD_LETTERS, [after], limit))
    }

    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        self.database.write(move |connection| {
            changes(
                connection,
                RESEND,
                params![entry_number(id), now.unix_millis()],
            )
        })
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<InboxEntry>> {
        self.database
            .read(move |connection| first(connection, FIND, [entry_number(id)]))
    }

    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>> {
        self.database
            .read(|connection| first(connection, OLDEST, []))
    }

    fn counts(&self) -> StoreFuture<'_, InboxCounts> {
        self.database
            .read(|connection| Ok(first(connection, COUNTS, [])?.unwrap_or_default()))
    }

    fn update<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        InboxUpdate {
            state,
            due,
            until,
            error,
        }: InboxUpdate<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let error = error.map(str::to_owned);
        self.database.write(move |connection| {
            let update = InboxUpdate {
                state,
                due,
                until,
                error: error.as_deref(),
            };
            self::update(connection, id, owner, update, now)
        })
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(
            self.database
                .forget_in_pieces(FORGET, move |most| (before.unix_millis(), most)),
        )
    }
}

pub(super) fn receive(
    connection: &Connection,
    message: &Incoming,
    now: Timestamp,
) -> Result<ReceiveOutcome, Fault> {
    let mut known: Vec<KnownEntry> = Vec::new();
    for key in message.key.hashes() {
        known.extend(all::<KnownEntry>(connection, KNOWN, [key.as_bytes()])?);
    }
    let (conflicts_with, follows, followed_by) = match ReceiveDecision::of(message, known) {
        ReceiveDecision::Answer(outcome) => return Ok(outcome),
        ReceiveDecision::Store {
            conflicts_with,
            follows,
            followed_by,
        } => (conflicts_with, follows, followed_by),
    };
    let values = named_params! {
        ":kind": message.kind.as_str(),
        ":attributes": &*message.attributes,
        ":fingerprint": message.fingerprint.as_bytes(),
        ":interim": message.interim,
        ":acknowledgement": &*message.acknowledgement,
        ":now": now.unix_millis(),
        ":conflicts_with": conflicts_with.map(entry_number),
        ":follows": follows.map(entry_number),
    };
    run(connection, INSERT, values)?;
    let id = connection.last_insert_rowid();
    run(connection, INSERT_BODY, params![id, &*message.body])?;
    for key in message.key.hashes() {
        run(connection, INSERT_KEY, params![key.as_bytes(), id])?;
    }
    if let Some(result) = followed_by {
        run(connection, FOLLOW, params![entry_number(result), id])?;
    }
    let id = u64::try_from(id)
        .map(EntryId::new)
        .map_err(Fault::corrupt)?;
    Ok(ReceiveOutcome::stored(
        id,
        message.acknowledgement.clone(),
        conflicts_with,
    ))
}

fn lease_due(
    connection: &Connection,
    kinds: &[Kind],
    limit: u32,
    lease: Lease,
    now: Timestamp,
) -> Result<Vec<InboxEntry>, Fault> {
    run(
        connection,
        WAKE,
        named_params! {":now": now.unix_millis(), ":most": limit.max(MAX_WOKEN_ENTRIES)},
    )?;
    let mut ready = Vec::new();
    let mut look = |kind: &str| -> Result<(), Fault> {
        let mut statement = connection.prepare_cached(READY)?;
        let values = named_params! {":kind": kind, ":now": now.unix_millis(), ":limit": limit};
        for id in statement.query_map(values, |row| row.get::<_, i64>(0))? {
            ready.push(id?);
        }
        Ok(())
    };
    if kinds.is_empty() {
        let mut next = connection.prepare_cached(NEXT_KIND)?;
        let mut kind = String::new();
        while let Some(found) = next.query_row([&kind], |row| row.get(0)).optional()? {
            kind = found;
            look(&kind)?;
        }
    } else {
        kinds.iter().try_for_each(|kind| look(kind.as_str()))?;
    }
    ready.sort_unstable();
    ready.dedup();
    let mut take = connection.prepare_cached(TAKE)?;
    let mut find = connection.prepare_cached(FIND)?;
    let mut entries: Vec<InboxEntry> = Vec::new();
    for id in ready
        .into_iter()
        .take(usize::try_from(limit).unwrap_or(usize::MAX))
    {
        let owner = lease.owner.as_bytes();
        let values =
            named_params! {":id": id, ":owner": owner, ":until": lease.until.unix_millis()};
        take.execute(values)?;
        match find.query_row([id], |row| Ok(readable(&RowCells::new(row))))?? {
            Ok(entry) => entries.push(entry),
            // Made a dead letter, because each lease would find it again.
            Err(id) => {
                let given_up = InboxUpdate {
                    error: Some(UNREADABLE),
                    ..InboxUpdate::to(InboxState::DeadLetter)
                };
                update(connection, id, lease.owner, given_up, now)?;
            }
        }
    }
    Ok(entries)
}

pub(super) fn update(
    connection: &Connection,
    id: EntryId,
    owner: LeaseOwner,
    update: InboxUpdate<'_>,
    now: Timestamp,
) -> Result<bool, Fault> {
    let values = named_params! {
        ":id": entry_number(id),
        ":owner": owner.as_bytes(),
        ":state": update.state.as_str(),
        ":due": update.due.map(Timestamp::unix_millis),
        ":until": update.until.map(Timestamp::unix_millis),
        ":error": update.error,
        ":now": now.unix_millis(),
    };
    changes(connection, UPDATE, values)
}
