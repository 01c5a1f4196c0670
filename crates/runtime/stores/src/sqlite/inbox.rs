//! The inbox: received messages.

use super::SqliteStore;
use super::connection::Fault;
use super::statements::{RowCells, all, changes, count, first, operations, readable_page, run};
use crate::columns::{entry_number, readable};
use crate::{MOST_WOKEN, UNREADABLE};
use bankrail_mailbox::{
    EntryId, Inbox, InboxCounts, InboxEntry, InboxState, InboxUpdate, Incoming, Kind, KnownEntry,
    Lease, LeaseOwner, ReceiveDecision, ReceiveOutcome,
};
use bankrail_values::{StoreFuture, Timestamp};
use rusqlite::{Connection, OptionalExtension, named_params, params};

/// Entries that have a hash in common with a message.
const KNOWN: &str =
    "SELECT i.id, i.fingerprint, i.interim, i.state, i.acknowledgement, i.conflicts_with
    FROM bankrail_inbox_key k JOIN bankrail_inbox i ON i.id = k.id WHERE k.key = ?1";

const INSERT: &str = "INSERT INTO bankrail_inbox
    (kind, attributes, fingerprint, interim, acknowledgement, received, conflicts_with, follows, state, due)
    VALUES (:kind, :attributes, :fingerprint, :interim, :acknowledgement, :now, :conflicts_with, :follows, 'pending',
    :now)";

const INSERT_BODY: &str = "INSERT INTO bankrail_inbox_body (id, body) VALUES (?1, ?2)";

const INSERT_KEY: &str = "INSERT INTO bankrail_inbox_key (key, id) VALUES (?1, ?2)";

const FOLLOW: &str = "UPDATE bankrail_inbox SET follows = ?2 WHERE id = ?1 AND state = 'pending'";

/// Makes due entries ready. Entries that still wait are not read, and ready ones are found in the
/// order of their arrival.
const WAKE: &str =
    "UPDATE bankrail_inbox SET waits = NULL WHERE id IN (SELECT id FROM bankrail_inbox
    WHERE state = 'pending' AND waits IS NOT NULL AND waits <= :now ORDER BY waits LIMIT :most)";

/// The kinds that have ready entries, one after the other.
const NEXT_KIND: &str = "SELECT kind FROM bankrail_inbox
    WHERE state = 'pending' AND waits IS NULL AND kind > ?1 ORDER BY kind LIMIT 1";

/// The ready entries of a kind, so that those of kinds that nobody leases are not read.
const READY: &str =
    "SELECT id FROM bankrail_inbox WHERE state = 'pending' AND waits IS NULL AND kind = :kind
    AND due <= :now AND (until IS NULL OR until <= :now)
    AND (follows IS NULL OR NOT EXISTS
        (SELECT 1 FROM bankrail_inbox AS interim
        WHERE interim.id = bankrail_inbox.follows AND interim.state = 'pending'))
    ORDER BY id LIMIT :limit";

const TAKE: &str =
    "UPDATE bankrail_inbox SET owner = :owner, until = :until, waits = max(due, :until),
    attempts = attempts + 1 WHERE id = :id";

/// With the payload. If that is missing, the entry cannot be read.
const COLUMNS: &str = "id, kind, attributes, acknowledgement, received, conflicts_with, follows, state, attempts,
    last_error, (SELECT body FROM bankrail_inbox_body AS payload WHERE payload.id = bankrail_inbox.id) AS body";

/// An [`InboxUpdate`]. An entry that is no longer pending does not look at `waits`.
const UPDATE: &str = "UPDATE bankrail_inbox SET state = :state, due = coalesce(:due, due), until = :until,
    owner = CASE WHEN :until IS NOT NULL THEN owner END, waits = max(coalesce(:due, due), coalesce(:until, :due, due)),
    last_error = coalesce(:error, last_error), finished = CASE WHEN :state <> 'pending' THEN :now END
    WHERE id = :id AND owner = :owner";

/// Leased entries are among those that wait, all of which are read: this runs for half a minute
/// after a failure.
const RELEASE_ALL: &str = "UPDATE bankrail_inbox SET owner = NULL, until = NULL, waits = due,
    attempts = max(attempts - 1, 0) WHERE id IN (SELECT id FROM bankrail_inbox
    WHERE state = 'pending' AND waits IS NOT NULL AND hex(owner) IN (SELECT value FROM json_each(?1)))";

const RESEND: &str =
    "UPDATE bankrail_inbox SET state = 'pending', due = ?2, waits = NULL, finished = NULL, attempts = 0
    WHERE id = ?1 AND state = 'dead_letter'";

/// Deletes a bounded number of entries, so that other writes run in between.
const FORGET: &str = "DELETE FROM bankrail_inbox WHERE id IN (SELECT id FROM bankrail_inbox
    WHERE state = 'completed' AND finished < ?1 ORDER BY finished LIMIT ?2)";

/// `+ 0` keeps SQLite from walking the table in the order of `id` past all finished entries: it
/// reads the indexes of the pending ones instead.
const OLDEST: &str = "SELECT received AS at FROM bankrail_inbox WHERE id = (SELECT min(id) FROM (
    SELECT min(id + 0) AS id FROM bankrail_inbox WHERE state = 'pending' AND waits IS NULL
    UNION ALL SELECT min(id + 0) FROM bankrail_inbox WHERE state = 'pending' AND waits IS NOT NULL))";

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
    RESEND,
    FORGET,
];

/// The inbox of a [`SqliteStore`].
#[derive(Clone, Debug)]
pub struct SqliteInbox {
    pub(super) store: SqliteStore,
}

impl Inbox for SqliteInbox {
    operations! {
        self => self.store.database;
        write receive(message: &'a Incoming, now: Timestamp) -> ReceiveOutcome = c => receive(c, &message, now);
        write lease(kinds: &'a [Kind], limit: u32, lease: Lease, now: Timestamp) -> Vec<InboxEntry> =
            c => lease_due(c, &kinds, limit, lease, now);
        write release_all(owners: &'a [LeaseOwner]) -> u64 = c => release_all(c, &owners);
        read dead_letters(after: Option<EntryId>, limit: u32) -> Vec<InboxEntry> = c => dead_letters(c, after, limit);
        write resend(id: EntryId, now: Timestamp) -> bool =
            c => changes(c, RESEND, params![entry_number(id), now.unix_millis()]);
        read find(id: EntryId) -> Option<InboxEntry> =
            c => first(c, &by_id(), [entry_number(id)]);
        read oldest_pending() -> Option<Timestamp> = c => first(c, OLDEST, []);
        read counts() -> InboxCounts = c => counts(c);
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
        Box::pin(self.store.database.write(move |connection| {
            let error = error.as_deref();
            update(
                connection,
                id,
                owner,
                InboxUpdate {
                    state,
                    due,
                    until,
                    error,
                },
                now,
            )
        }))
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(
            self.store
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
        named_params! {":now": now.unix_millis(), ":most": limit.max(MOST_WOKEN)},
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
    let mut find = connection.prepare_cached(&by_id())?;
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
            // Otherwise each lease would find it again.
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

fn by_id() -> String {
    format!("SELECT {COLUMNS} FROM bankrail_inbox WHERE id = ?1")
}

fn release_all(connection: &Connection, owners: &[LeaseOwner]) -> Result<u64, Fault> {
    let owners: Vec<_> = owners
        .iter()
        .map(|owner| format!("\"{:032X}\"", u128::from_be_bytes(*owner.as_bytes())))
        .collect();
    let released = run(
        connection,
        RELEASE_ALL,
        params![format!("[{}]", owners.join(","))],
    )?;
    u64::try_from(released).map_err(Fault::corrupt)
}

fn dead_letters(
    connection: &Connection,
    after: Option<EntryId>,
    limit: u32,
) -> Result<Vec<InboxEntry>, Fault> {
    let sql = format!(
        "SELECT {COLUMNS} FROM bankrail_inbox WHERE state = 'dead_letter' AND id > ?1 ORDER BY id"
    );
    readable_page(connection, &sql, [after.map_or(-1, entry_number)], limit)
}

fn counts(connection: &Connection) -> Result<InboxCounts, Fault> {
    let count = |sql| count(connection, sql, []);
    Ok(InboxCounts {
        // Each text selects an index.
        pending: count(
            "SELECT count(*) FROM bankrail_inbox WHERE state = 'pending' AND waits IS NULL",
        )? + count(
            "SELECT count(*) FROM bankrail_inbox WHERE state = 'pending' AND waits IS NOT NULL",
        )?,
        completed: count("SELECT count(*) FROM bankrail_inbox WHERE state = 'completed'")?,
        dead_letters: count("SELECT count(*) FROM bankrail_inbox WHERE state = 'dead_letter'")?,
    })
}
