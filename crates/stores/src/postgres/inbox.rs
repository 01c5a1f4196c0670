//! The inbox: received messages.

use super::choice::{forget, written};
use super::session::Session;
use super::values::{bytes, entry_id, kind, named, number, readable, storable, unsigned};
use super::{Fault, PostgresStore, Typed, get, instant, oldest};
use bankrail_mailbox::{
    EntryId, Inbox, InboxCounts, InboxEntry, InboxState, Incoming, Kind, Lease, LeaseOwner, ReceiveOutcome,
};
use bankrail_values::{StoreFuture, Timestamp};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

mod lease;
mod receive;

pub(super) use receive::receive;

/// Moves a message to those that are handled or given up.
macro_rules! finish {
    ($state:literal, $error:literal) => {
        concat!(
            "WITH entry AS (
                DELETE FROM bankrail_inbox_queue WHERE entry = $1 AND owner = $2 RETURNING entry, attempts, last_error)
            INSERT INTO bankrail_inbox_finished (entry, state, attempts, last_error, finished)
            SELECT entry, '",
            $state,
            "', attempts, ",
            $error,
            ", $3 FROM entry"
        )
    };
}

const COMPLETE: &str = finish!("completed", "last_error");

const DEAD_LETTER: &str = finish!("dead_letter", "$4");

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

const DEAD_LETTERS: &str =
    entries!("WHERE finished.state = 'dead_letter' AND finished.entry > $1 ORDER BY finished.entry LIMIT $2");

const EXTEND: &str = concat!(
    "UPDATE bankrail_inbox_queue SET until = $3, waits = greatest(due, $3), changed = ",
    written!("bankrail_inbox_cursor"),
    " WHERE entry = $1 AND owner = $2"
);

const RELEASE: &str = concat!(
    "UPDATE bankrail_inbox_queue SET due = $3, waits = $3, last_error = $4, owner = NULL, until = NULL, changed = ",
    written!("bankrail_inbox_cursor"),
    " WHERE entry = $1 AND owner = $2"
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

/// The inbox of a [`PostgresStore`].
#[derive(Clone, Debug)]
pub struct PostgresInbox {
    pub(super) store: PostgresStore,
}

impl Inbox for PostgresInbox {
    fn receive<'a>(&'a self, message: &'a Incoming, now: Timestamp) -> StoreFuture<'a, ReceiveOutcome> {
        Box::pin(self.store.timed(self.store.receive_or_claim(message, None, now)))
    }

    fn claim<'a>(&'a self, message: &'a Incoming, lease: Lease, now: Timestamp) -> StoreFuture<'a, ReceiveOutcome> {
        Box::pin(self.store.timed(self.store.receive_or_claim(message, Some(lease), now)))
    }

    fn lease<'a>(
        &'a self,
        kinds: &'a [Kind],
        limit: u32,
        lease: Lease,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<InboxEntry>> {
        Box::pin(self.store.timed(async move {
            let client = self.store.client().await?;
            let entries = lease::lease(client.own(), kinds, limit, lease, now).await?;
            client.give_back();
            Ok(entries)
        }))
    }

    fn extend(&self, id: EntryId, lease: Lease, _now: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(self.store.timed(self.store.as_owner(EXTEND, id, lease.owner, lease.until, None)))
    }

    fn complete(&self, id: EntryId, owner: LeaseOwner, now: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(self.store.timed(self.store.as_owner(COMPLETE, id, owner, now, None)))
    }

    fn release<'a>(&'a self, id: EntryId, owner: LeaseOwner, due: Timestamp, error: &'a str) -> StoreFuture<'a, bool> {
        Box::pin(self.store.timed(self.store.as_owner(RELEASE, id, owner, due, Some(error))))
    }

    fn dead_letter<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        error: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        Box::pin(self.store.timed(self.store.as_owner(DEAD_LETTER, id, owner, now, Some(error))))
    }

    fn dead_letters(&self, after: Option<EntryId>, limit: u32) -> StoreFuture<'_, Vec<InboxEntry>> {
        Box::pin(
            self.store.timed(async move { self.store.readable_page(DEAD_LETTERS, after, limit, &[], entry).await }),
        )
    }

    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(self.store.timed(async move {
            let parameters: [Typed<'_>; 2] = [(&number(id), Type::INT8), (&now.unix_millis(), Type::INT8)];
            Ok(self.store.execute(RESEND, &parameters).await? == 1)
        }))
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<InboxEntry>> {
        Box::pin(self.store.timed(async move {
            let rows = self.store.query(FIND, &[(&number(id), Type::INT8)]).await?;
            rows.first().map(entry).transpose()
        }))
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.store.forget_in_pieces(FORGET, before))
    }

    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>> {
        Box::pin(self.store.oldest(oldest::INBOX))
    }

    fn counts(&self) -> StoreFuture<'_, InboxCounts> {
        Box::pin(self.store.timed(async move {
            let rows = self.store.survey(COUNTS, &[]).await?;
            let row = rows.first().ok_or_else(|| Fault::corrupt("no counts"))?;
            Ok(InboxCounts {
                pending: unsigned::<i64, _>(row, "pending")?,
                completed: unsigned::<i64, _>(row, "completed")?,
                dead_letters: unsigned::<i64, _>(row, "dead_letters")?,
            })
        }))
    }
}

impl PostgresStore {
    async fn receive_or_claim(
        &self,
        message: &Incoming,
        lease: Option<Lease>,
        now: Timestamp,
    ) -> Result<ReceiveOutcome, Fault> {
        let client = self.client().await?;
        let outcome = receive(client.own(), message, lease, now).await?;
        client.give_back();
        Ok(outcome)
    }

    /// Runs a change that only the owner of a lease may make. Its parameters are `id`, `owner`, an instant and an
    /// optional text.
    pub(super) async fn as_owner(
        &self,
        sql: &'static str,
        id: EntryId,
        owner: LeaseOwner,
        instant: Timestamp,
        error: Option<&str>,
    ) -> Result<bool, Fault> {
        let (id, owner, instant) = (number(id), owner.as_bytes().as_slice(), instant.unix_millis());
        let error = error.map(storable);
        let mut parameters: Vec<Typed<'_>> = vec![(&id, Type::INT8), (&owner, Type::BYTEA), (&instant, Type::INT8)];
        if let Some(error) = &error {
            parameters.push((error, Type::TEXT));
        }
        Ok(self.execute(sql, &parameters).await? == 1)
    }

    /// Returns the next `limit` readable entries of a query for an operator. Its parameters are the number before them,
    /// a limit and `further`.
    pub(super) async fn readable_page<T>(
        &self,
        sql: &'static str,
        after: Option<EntryId>,
        limit: u32,
        further: &[Typed<'_>],
        read: fn(&Row) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let (mut after, mut left) = (after.map_or(-1, number), i64::from(limit));
        let mut entries = Vec::new();
        while left > 0 {
            let rows = {
                let mut parameters: Vec<Typed<'_>> = vec![(&after, Type::INT8), (&left, Type::INT8)];
                parameters.extend_from_slice(further);
                self.survey(sql, &parameters).await?
            };
            let Some(last) = rows.last() else { break };
            after = get(last, "id")?;
            for row in &rows {
                if let Ok(entry) = readable(row, read)? {
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
    ) -> Result<u64, bankrail_values::StoreError> {
        let (mut finished, mut entry, mut forgotten) = (i64::MIN, i64::MIN, 0);
        loop {
            let piece = self.timed(async {
                let parameters: [Typed<'_>; 3] =
                    [(&before.unix_millis(), Type::INT8), (&finished, Type::INT8), (&entry, Type::INT8)];
                let rows = self.query(sql, &parameters).await?;
                let Some(last) = rows.first() else { return Ok(None) };
                Ok(Some((get(last, "finished")?, get(last, "entry")?, unsigned::<i64, u64>(last, "forgotten")?)))
            });
            let Some(piece) = piece.await? else { return Ok(forgotten) };
            (finished, entry, forgotten) = (piece.0, piece.1, forgotten + piece.2);
        }
    }
}

pub(super) async fn complete(
    session: Session<'_>,
    id: EntryId,
    owner: LeaseOwner,
    now: Timestamp,
) -> Result<bool, Fault> {
    let parameters: [Typed<'_>; 3] =
        [(&number(id), Type::INT8), (&owner.as_bytes().as_slice(), Type::BYTEA), (&now.unix_millis(), Type::INT8)];
    Ok(session.execute(COMPLETE, &parameters).await? == 1)
}

fn entry(row: &Row) -> Result<InboxEntry, Fault> {
    Ok(InboxEntry {
        id: entry_id(get(row, "id")?)?,
        kind: kind(row)?,
        attributes: bytes(row, "attributes")?,
        body: bytes(row, "body")?,
        acknowledgement: bytes(row, "acknowledgement")?,
        received_at: instant(get(row, "received")?)?,
        conflicts_with: get::<Option<i64>>(row, "conflicts_with")?.map(entry_id).transpose()?,
        follows: get::<Option<i64>>(row, "follows")?.map(entry_id).transpose()?,
        state: named(row, "state", InboxState::from_name)?,
        attempts: unsigned::<i32, _>(row, "attempts")?,
        last_error: get(row, "last_error")?,
    })
}
