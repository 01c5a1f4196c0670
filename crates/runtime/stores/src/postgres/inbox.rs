//! The inbox: received messages.
//!
//! A statement that makes a message ready, or changes the time for which it waits, writes the
//! number of its transaction into the column `changed`. The next lease finds the message by that
//! number. The outbox does the same in the column `freed`: see [`outbox`](super::outbox).

use super::session::Session;
use super::values::{get, params, storable, typed};
use super::{Fault, PostgresStore, Typed};
use crate::columns::{Columns as _, FromRow, corrupt, entry_number, readable};
use bankrail_mailbox::{
    EntryId, Inbox, InboxCounts, InboxEntry, InboxState, InboxUpdate, Incoming, Kind, Lease,
    LeaseOwner, ReceiveOutcome,
};
use bankrail_values::{StoreError, StoreFuture, Timestamp};

mod lease;
mod receive;

pub(super) use receive::receive;

/// Makes the [`InboxUpdate`] of a message that is handled or becomes a dead letter.
const FINISH: &str = "WITH entry AS (
        DELETE FROM bankrail_inbox_queue WHERE entry = $1 AND owner = $2
        RETURNING entry, attempts, last_error)
    INSERT INTO bankrail_inbox_finished (entry, state, attempts, last_error, finished)
    SELECT entry, $3, attempts, coalesce($4, last_error), $5 FROM entry";

/// Makes the [`InboxUpdate`] of a message that is still pending.
const REQUEUE: &str = "UPDATE bankrail_inbox_queue
    SET due = coalesce($3, due), until = $4, owner = CASE WHEN $4 IS NOT NULL THEN owner END,
        waits = greatest(coalesce($3, due), $4), last_error = coalesce($5, last_error),
        changed = (SELECT CASE WHEN txid_visible_in_snapshot(txid_current(), seen)
            THEN 9223372036854775807 ELSE txid_current() END
            FROM bankrail_inbox_cursor ORDER BY number DESC LIMIT 1)
    WHERE entry = $1 AND owner = $2";

// Releases the leases of these owners. Leased messages are waiting ones, and `waits_from` is not
// after the end of any lease. The comparison with it selects the index of waiting messages; there
// is no index of owners.
const RELEASE_ALL: &str = "UPDATE bankrail_inbox_queue
    SET owner = NULL, until = NULL, waits = CASE WHEN attempts > 1 THEN due END,
        attempts = greatest(attempts - 1, 0),
        changed = (SELECT CASE WHEN txid_visible_in_snapshot(txid_current(), seen)
            THEN 9223372036854775807 ELSE txid_current() END
            FROM bankrail_inbox_cursor ORDER BY number DESC LIMIT 1)
    WHERE owner = ANY ($1)
        AND waits >= (SELECT waits_from FROM bankrail_inbox_cursor ORDER BY number DESC LIMIT 1)";

const FIND: &str =
    "SELECT message.id, message.kind, attributes, body, acknowledgement, received, conflicts_with,
        message.follows, coalesce(finished.state, 'pending') AS state,
        coalesce(queue.attempts, finished.attempts) AS attempts,
        coalesce(queue.last_error, finished.last_error) AS last_error
    FROM bankrail_inbox AS message
    LEFT JOIN bankrail_inbox_queue AS queue ON queue.entry = message.id
    LEFT JOIN bankrail_inbox_finished AS finished ON finished.entry = message.id
    WHERE message.id = $1";

// Selects dead letters. The comparison and the order select their index.
const DEAD_LETTERS: &str =
    "SELECT message.id, message.kind, attributes, body, acknowledgement, received, conflicts_with,
        message.follows, coalesce(finished.state, 'pending') AS state,
        coalesce(queue.attempts, finished.attempts) AS attempts,
        coalesce(queue.last_error, finished.last_error) AS last_error
    FROM bankrail_inbox AS message
    LEFT JOIN bankrail_inbox_queue AS queue ON queue.entry = message.id
    LEFT JOIN bankrail_inbox_finished AS finished ON finished.entry = message.id
    WHERE finished.state = 'dead_letter' AND finished.entry > $1
    ORDER BY finished.entry LIMIT $2";

// Waits for what is left: the time at which the entry is due, and the end of a lease that is
// believed.
const RECALL: &str = "WITH chosen AS (
        SELECT entry FROM bankrail_inbox_queue WHERE waits IS NOT NULL AND waits > $1
        FOR UPDATE SKIP LOCKED)
    UPDATE bankrail_inbox_queue
    SET due = CASE WHEN due > $1 THEN $2 ELSE due END,
        owner = CASE WHEN until <= $1 THEN owner END, until = CASE WHEN until <= $1 THEN until END,
        waits = greatest(CASE WHEN due > $1 THEN $2 ELSE due END,
            CASE WHEN until <= $1 THEN until END),
        changed = (SELECT CASE WHEN txid_visible_in_snapshot(txid_current(), seen)
            THEN 9223372036854775807 ELSE txid_current() END
            FROM bankrail_inbox_cursor ORDER BY number DESC LIMIT 1)
    WHERE entry = ANY (ARRAY(SELECT entry FROM chosen))";

// Resends a dead letter. The lock waits for an interim message that arrives at this moment, so that
// its number is read.
const RESEND: &str = "WITH entry AS (
        DELETE FROM bankrail_inbox_finished WHERE entry = $1 AND state = 'dead_letter'
        RETURNING entry, last_error)
    INSERT INTO bankrail_inbox_queue (entry, kind, follows, due, last_error, changed)
    SELECT id, kind, follows, $2, last_error,
        (SELECT CASE WHEN txid_visible_in_snapshot(txid_current(), seen)
            THEN 9223372036854775807 ELSE txid_current() END
            FROM bankrail_inbox_cursor ORDER BY number DESC LIMIT 1)
    FROM entry CROSS JOIN LATERAL (
        SELECT id, kind, follows FROM bankrail_inbox WHERE id = entry.entry
        FOR NO KEY UPDATE) AS message";

// Deletes some completed messages from a position on, in the order of their index, and returns
// their number and the position of the last. Each statement is short, so that others run in
// between, and begins after the position, so that it does not read just deleted rows.
const FORGET: &str = "WITH piece AS (
        SELECT entry, finished FROM bankrail_inbox_finished
        WHERE state = 'completed' AND finished < $1 AND (finished, entry) > ($2, $3)
        ORDER BY finished, entry LIMIT 500 FOR UPDATE SKIP LOCKED),
    gone AS (DELETE FROM bankrail_inbox WHERE id = ANY (ARRAY(SELECT entry FROM piece)))
    SELECT finished, entry, count(*) OVER () AS forgotten FROM piece
    ORDER BY finished DESC, entry DESC LIMIT 1";

const COUNTS: &str = "SELECT (SELECT count(*) FROM bankrail_inbox_queue) AS pending,
    (SELECT count(*) FROM bankrail_inbox_finished WHERE state = 'completed') AS completed,
    (SELECT count(*) FROM bankrail_inbox_finished WHERE state = 'dead_letter') AS dead_letters";

const OLDEST: &str = "SELECT received AS at FROM bankrail_inbox
    WHERE id = (SELECT min(entry) FROM bankrail_inbox_queue)";

/// The inbox of a [`PostgresStore`].
#[derive(Clone, Debug)]
pub struct PostgresInbox {
    pub(super) store: PostgresStore,
}

impl Inbox for PostgresInbox {
    fn receive<'a>(
        &'a self,
        message: &'a Incoming,
        now: Timestamp,
    ) -> StoreFuture<'a, ReceiveOutcome> {
        Box::pin(
            self.store
                .with_transaction(async move |session| receive(session, message, now).await),
        )
    }

    fn lease<'a>(
        &'a self,
        kinds: &'a [Kind],
        limit: u32,
        lease: Lease,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<InboxEntry>> {
        Box::pin(self.store.with_transaction(async move |session| {
            lease::lease(session, kinds, limit, lease, now).await
        }))
    }

    fn update<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        update: InboxUpdate<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        Box::pin(
            self.store.with_session(async move |session| {
                self::update(session, id, owner, update, now).await
            }),
        )
    }

    fn release_all<'a>(&'a self, owners: &'a [LeaseOwner]) -> StoreFuture<'a, u64> {
        Box::pin(self.store.with_session(async move |session| {
            session
                .execute(RELEASE_ALL, params![owner_bytes(owners)])
                .await
        }))
    }

    fn recall(&self, latest: Timestamp, now: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.store.with_session(async move |session| {
            session
                .execute(RECALL, params![latest.unix_millis(), now.unix_millis()])
                .await
        }))
    }

    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(self.store.with_session(async move |session| {
            session
                .changes(RESEND, params![entry_number(id), now.unix_millis()])
                .await
        }))
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<InboxEntry>> {
        Box::pin(self.store.with_session(async move |session| {
            session.first(FIND, params![entry_number(id)]).await
        }))
    }

    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>> {
        Box::pin(
            self.store
                .with_session(async |session| session.first(OLDEST, &[]).await),
        )
    }

    fn dead_letters(&self, after: Option<EntryId>, limit: u32) -> StoreFuture<'_, Vec<InboxEntry>> {
        Box::pin(self.store.with_session(async move |session| {
            readable_page(session, DEAD_LETTERS, after, limit, &[]).await
        }))
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.store.forget_in_pieces(FORGET, before))
    }

    fn counts(&self) -> StoreFuture<'_, InboxCounts> {
        Box::pin(async {
            let counts = self.store.survey(COUNTS, &[]).await?.pop();
            counts.ok_or_else(|| corrupt("no counts"))
        })
    }
}

impl PostgresStore {
    /// Repeats a bounded deletion, each time from the last position on, until no row is left.
    pub(super) async fn forget_in_pieces(
        &self,
        sql: &'static str,
        before: Timestamp,
    ) -> Result<u64, StoreError> {
        let before = before.unix_millis();
        let mut last = Some((i64::MIN, i64::MIN));
        let mut forgotten = 0;
        while let Some((finished, entry)) = last {
            let piece = self.with_session(async |session| {
                let rows = session.query(sql, params![before, finished, entry]).await?;
                let Some(last) = rows.first() else {
                    return Ok((None, 0));
                };
                let position = (get(last, "finished")?, get(last, "entry")?);
                Ok((Some(position), last.number::<u64>("forgotten")?))
            });
            let (position, deleted) = piece.await?;
            (last, forgotten) = (position, forgotten + deleted);
        }
        Ok(forgotten)
    }
}

/// Returns the next `limit` readable entries of an operator's query. The parameters of the query
/// are the number before the page, a limit and `further`.
pub(super) async fn readable_page<T: FromRow>(
    session: Session<'_>,
    sql: &'static str,
    after: Option<EntryId>,
    limit: u32,
    further: &[Typed<'_>],
) -> Result<Vec<T>, Fault> {
    let mut after = after.map_or(-1, entry_number);
    let mut left = i64::from(limit);
    let mut entries = Vec::new();
    while left > 0 {
        let page = [&[typed(&after), typed(&left)], further].concat();
        let rows = session.query(sql, &page).await?;
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

/// Returns the owners as the parameter of `owner = ANY (…)`.
pub(super) fn owner_bytes(owners: &[LeaseOwner]) -> Vec<&[u8]> {
    owners
        .iter()
        .map(|owner| owner.as_bytes().as_slice())
        .collect()
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
    let id = entry_number(id);
    let owner = owner.as_bytes().as_slice();
    let error = error.map(storable);
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
