//! The inbox: received messages.

use super::choice::{forget, written};
use super::session::{Session, operations};
use super::values::{get, params, storable, typed};
use super::{Fault, PostgresStore, Typed};
use crate::columns::{Columns as _, FromRow, entry_number, readable};
use bankrail_mailbox::{
    EntryId, Inbox, InboxCounts, InboxEntry, InboxState, InboxUpdate, Incoming, Kind, Lease,
    LeaseOwner, ReceiveOutcome,
};
use bankrail_values::{StoreError, StoreFuture, Timestamp};

mod lease;
mod receive;

pub(super) use receive::receive;

/// An [`InboxUpdate`] of a message that is handled or given up from now on.
const FINISH: &str = "WITH entry AS (
        DELETE FROM bankrail_inbox_queue WHERE entry = $1 AND owner = $2 RETURNING entry, attempts, last_error)
    INSERT INTO bankrail_inbox_finished (entry, state, attempts, last_error, finished)
    SELECT entry, $3, attempts, coalesce($4, last_error), $5 FROM entry";

/// An [`InboxUpdate`] of a message that is still to be handled.
const REQUEUE: &str = concat!(
    "UPDATE bankrail_inbox_queue SET due = coalesce($3, due), until = $4,
        owner = CASE WHEN $4 IS NOT NULL THEN owner END, waits = greatest(coalesce($3, due), $4),
        last_error = coalesce($5, last_error), changed = ",
    written!("bankrail_inbox_cursor"),
    " WHERE entry = $1 AND owner = $2"
);

/// Leased messages are among those that wait, and `waits_from` is not after the end of any lease.
const RELEASE_ALL: &str = concat!(
    "UPDATE bankrail_inbox_queue SET owner = NULL, until = NULL, waits = due, attempts = greatest(attempts - 1, 0),
        changed = ",
    written!("bankrail_inbox_cursor"),
    " WHERE owner = ANY ($1)
        AND waits >= (SELECT waits_from FROM bankrail_inbox_cursor ORDER BY number DESC LIMIT 1)"
);

/// Messages with their state.
macro_rules! entries {
    ($rest:literal) => {
        concat!(
            "SELECT message.id, message.kind, attributes, body, acknowledgement, received, conflicts_with,
                message.follows, coalesce(finished.state, 'pending') AS state,
                coalesce(queue.attempts, finished.attempts) AS attempts,
                coalesce(queue.last_error, finished.last_error) AS last_error
            FROM bankrail_inbox AS message
            LEFT JOIN bankrail_inbox_queue AS queue ON queue.entry = message.id
            LEFT JOIN bankrail_inbox_finished AS finished ON finished.entry = message.id ",
            $rest
        )
    };
}

const FIND: &str = entries!("WHERE message.id = $1");

const DEAD_LETTERS: &str = entries!(
    "WHERE finished.state = 'dead_letter' AND finished.entry > $1 ORDER BY finished.entry LIMIT $2"
);

const RESEND: &str = concat!(
    "WITH entry AS (
        DELETE FROM bankrail_inbox_finished WHERE entry = $1 AND state = 'dead_letter' RETURNING entry, last_error)
    INSERT INTO bankrail_inbox_queue (entry, kind, follows, due, last_error, changed)
    SELECT id, kind, follows, $2, last_error, ",
    written!("bankrail_inbox_cursor"),
    " FROM entry CROSS JOIN LATERAL (
        SELECT id, kind, follows FROM bankrail_inbox WHERE id = entry.entry OFFSET 0) AS message"
);

const FORGET: &str = forget!("bankrail_inbox", "state = 'completed'");

const COUNTS: &str = "SELECT (SELECT count(*) FROM bankrail_inbox_queue) AS pending,
    (SELECT count(*) FROM bankrail_inbox_finished WHERE state = 'completed') AS completed,
    (SELECT count(*) FROM bankrail_inbox_finished WHERE state = 'dead_letter') AS dead_letters";

const OLDEST: &str = "SELECT received AS at FROM bankrail_inbox WHERE id = (SELECT min(entry) FROM bankrail_inbox_queue)";

/// The inbox of a [`PostgresStore`].
#[derive(Clone, Debug)]
pub struct PostgresInbox {
    pub(super) store: PostgresStore,
}

impl Inbox for PostgresInbox {
    operations! {
        self => self.store;
        own receive(message: &'a Incoming, now: Timestamp) -> ReceiveOutcome = s => receive(s, message, now);
        own lease(kinds: &'a [Kind], limit: u32, lease: Lease, now: Timestamp) -> Vec<InboxEntry> =
            s => lease::lease(s, kinds, limit, lease, now);
        each update(id: EntryId, owner: LeaseOwner, update: InboxUpdate<'a>, now: Timestamp) -> bool =
            s => self::update(s, id, owner, update, now);
        each release_all(owners: &'a [LeaseOwner]) -> u64 = s => {
            let owners: Vec<&[u8]> = owners.iter().map(|owner| owner.as_bytes().as_slice()).collect();
            async move { s.execute(RELEASE_ALL, params![owners]).await }
        };
        each resend(id: EntryId, now: Timestamp) -> bool =
            s => s.changes(RESEND, params![entry_number(id), now.unix_millis()]);
        each find(id: EntryId) -> Option<InboxEntry> = s => s.first(FIND, params![entry_number(id)]);
        each oldest_pending() -> Option<Timestamp> = s => s.first(OLDEST, &[]);
    }

    fn dead_letters(&self, after: Option<EntryId>, limit: u32) -> StoreFuture<'_, Vec<InboxEntry>> {
        Box::pin(
            self.store
                .timed(self.store.readable_page(DEAD_LETTERS, after, limit, &[])),
        )
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.store.forget_in_pieces(FORGET, before))
    }

    fn counts(&self) -> StoreFuture<'_, InboxCounts> {
        Box::pin(self.store.timed(async move {
            let rows = self.store.survey(COUNTS, &[]).await?;
            let row = rows.first().ok_or_else(|| Fault::corrupt("no counts"))?;
            let [pending, completed] = [row.number("pending")?, row.number("completed")?];
            Ok(InboxCounts {
                pending,
                completed,
                dead_letters: row.number("dead_letters")?,
            })
        }))
    }
}

impl PostgresStore {
    /// Returns the next `limit` readable entries of a query for an operator, which reads them in
    /// their order by an index. Its parameters are the number before them, a limit and `further`.
    pub(super) async fn readable_page<T: FromRow>(
        &self,
        sql: &'static str,
        after: Option<EntryId>,
        limit: u32,
        further: &[Typed<'_>],
    ) -> Result<Vec<T>, Fault> {
        let (mut after, mut left) = (after.map_or(-1, entry_number), i64::from(limit));
        let mut entries = Vec::new();
        while left > 0 {
            let rows = self
                .query(sql, &[&[typed(&after), typed(&left)], further].concat())
                .await?;
            let Some(last) = rows.last() else { break };
            after = last.number("id")?;
            for row in &rows {
                if let Ok(entry) = readable(row)? {
                    entries.push(entry);
                    left -= 1;
                }
            }
        }
        Ok(entries)
    }

    /// Runs a bounded deletion from the position after the last one until nothing is left.
    pub(super) async fn forget_in_pieces(
        &self,
        sql: &'static str,
        before: Timestamp,
    ) -> Result<u64, StoreError> {
        let (mut finished, mut entry, mut forgotten) = (i64::MIN, i64::MIN, 0);
        loop {
            let piece = self.timed(async {
                let rows = self
                    .query(sql, params![before.unix_millis(), finished, entry])
                    .await?;
                let Some(last) = rows.first() else {
                    return Ok(None);
                };
                Ok(Some((
                    get(last, "finished")?,
                    get(last, "entry")?,
                    last.number::<u64>("forgotten")?,
                )))
            });
            let Some(piece) = piece.await? else {
                return Ok(forgotten);
            };
            (finished, entry, forgotten) = (piece.0, piece.1, forgotten + piece.2);
        }
    }
}

pub(super) async fn update(
    session: Session<'_>,
    id: EntryId,
    owner: LeaseOwner,
    InboxUpdate {
        state,
        due,
        until,
        error,
    }: InboxUpdate<'_>,
    now: Timestamp,
) -> Result<bool, Fault> {
    let (id, owner, error) = (
        entry_number(id),
        owner.as_bytes().as_slice(),
        error.map(storable),
    );
    if state == InboxState::Pending {
        let [due, until] = [due, until].map(|instant| instant.map(Timestamp::unix_millis));
        return session
            .changes(REQUEUE, params![id, owner, due, until, error])
            .await;
    }
    session
        .changes(
            FINISH,
            params![id, owner, state.as_str(), error, now.unix_millis()],
        )
        .await
}
