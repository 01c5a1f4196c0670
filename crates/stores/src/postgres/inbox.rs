//! The inbox: received messages.

use super::values::{Unreadable, bytes, entry_id, kind, named, number, readable, storable, unsigned};
use super::{Fault, PostgresStore, Typed, get, instant, oldest};
use crate::{MOST_WOKEN, UNREADABLE};
use bankrail_mailbox::{
    EntryId, Inbox, InboxCounts, InboxEntry, InboxState, Incoming, Kind, Lease, LeaseOwner, ReceiveOutcome,
};
use bankrail_values::{StoreFuture, Timestamp};
use tokio_postgres::types::Type;
use tokio_postgres::{Row, Transaction};

mod receive;

pub(super) use receive::receive;

const COMPLETE: &str = "UPDATE bankrail_inbox SET state = 'completed', finished = $3, owner = NULL, until = NULL
    WHERE id = $1 AND owner = $2";

const COLUMNS: &str = "id, kind, attributes, body, acknowledgement, received, conflicts_with, follows, state, attempts,
    last_error";

/// Makes due entries ready. Entries that still wait are not read, and ready ones are found in the order of their
/// arrival.
const WAKE: &str = "UPDATE bankrail_inbox SET waits = NULL WHERE id IN (SELECT id FROM bankrail_inbox
    WHERE state = 'pending' AND waits IS NOT NULL AND waits <= $1 ORDER BY waits LIMIT $2 FOR UPDATE SKIP LOCKED)";

const LEASE: &str =
    "UPDATE bankrail_inbox SET owner = $1, until = $2, waits = greatest(due, $2), attempts = attempts + 1
    WHERE id IN (SELECT id FROM bankrail_inbox WHERE state = 'pending' AND waits IS NULL AND due <= $3
        AND (until IS NULL OR until <= $3) AND (follows IS NULL OR NOT EXISTS
            (SELECT 1 FROM bankrail_inbox AS interim
            WHERE interim.id = bankrail_inbox.follows AND interim.state = 'pending'))
        AND ($4 IS NULL OR kind = ANY ($4))
        ORDER BY id LIMIT $5 FOR UPDATE SKIP LOCKED)
    RETURNING ";

const EXTEND: &str = "UPDATE bankrail_inbox SET until = $3, waits = greatest(due, $3) WHERE id = $1 AND owner = $2";

const RELEASE: &str = "UPDATE bankrail_inbox SET due = $3, waits = $3, last_error = $4, owner = NULL, until = NULL
    WHERE id = $1 AND owner = $2";

const DEAD_LETTER: &str =
    "UPDATE bankrail_inbox SET state = 'dead_letter', finished = $3, last_error = $4, owner = NULL,
    until = NULL WHERE id = $1 AND owner = $2";

const RESEND: &str =
    "UPDATE bankrail_inbox SET state = 'pending', due = $2, waits = NULL, finished = NULL, attempts = 0
    WHERE id = $1 AND state = 'dead_letter'";

const FORGET: &str = "DELETE FROM bankrail_inbox WHERE id IN (SELECT id FROM bankrail_inbox
    WHERE state = 'completed' AND finished < $1 ORDER BY finished LIMIT 500 FOR UPDATE SKIP LOCKED)";

const COUNTS: &str = "SELECT (SELECT count(*) FROM bankrail_inbox WHERE state = 'pending' AND waits IS NULL)
        + (SELECT count(*) FROM bankrail_inbox WHERE state = 'pending' AND waits IS NOT NULL) AS pending,
    (SELECT count(*) FROM bankrail_inbox WHERE state = 'completed') AS completed,
    (SELECT count(*) FROM bankrail_inbox WHERE state = 'dead_letter') AS dead_letters";

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
        let kinds = (!kinds.is_empty()).then(|| kinds.iter().map(Kind::as_str).collect::<Vec<_>>());
        let at = now;
        Box::pin(self.store.timed(async move {
            let client = self.store.client().await?;
            let (owner, limit) = (lease.owner.as_bytes().as_slice(), i64::from(limit));
            let (until, now) = (lease.until.unix_millis(), now.unix_millis());
            let parameters: [Typed<'_>; 5] = [
                (&owner, Type::BYTEA),
                (&until, Type::INT8),
                (&now, Type::INT8),
                (&kinds, Type::TEXT_ARRAY),
                (&limit, Type::INT8),
            ];
            let most = limit.max(MOST_WOKEN.into());
            client.execute_typed(WAKE, &[(&now, Type::INT8), (&most, Type::INT8)]).await?;
            let rows = client.query_typed(&format!("{LEASE}{COLUMNS}"), &parameters).await?;
            client.give_back();
            let mut entries = Vec::with_capacity(rows.len());
            for row in &rows {
                match readable(row, entry)? {
                    Ok(entry) => entries.push(entry),
                    // Otherwise each lease would find it again. A failure does not hold up the other entries.
                    Err(Unreadable(id)) => {
                        let given_up = self.store.as_owner(DEAD_LETTER, id, lease.owner, at, Some(UNREADABLE)).await;
                        if let Err(fault) = given_up {
                            tracing::error!(
                                entry = %id,
                                error = ?fault,
                                "an unreadable entry could not be made a dead letter"
                            );
                        }
                    }
                }
            }
            // An update returns its rows in no particular order.
            entries.sort_unstable_by_key(|entry| entry.id);
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
        Box::pin(self.store.timed(async move {
            let sql = format!(
                "SELECT {COLUMNS} FROM bankrail_inbox WHERE state = 'dead_letter' AND id > $1 ORDER BY id LIMIT $2"
            );
            self.store.readable_page(&sql, after, limit, &[], entry).await
        }))
    }

    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(self.store.timed(async move {
            let parameters: [Typed<'_>; 2] = [(&number(id), Type::INT8), (&now.unix_millis(), Type::INT8)];
            Ok(self.store.execute(RESEND, &parameters).await? == 1)
        }))
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<InboxEntry>> {
        Box::pin(self.store.timed(async move {
            let sql = format!("SELECT {COLUMNS} FROM bankrail_inbox WHERE id = $1");
            let rows = self.store.query(&sql, &[(&number(id), Type::INT8)]).await?;
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
            let rows = self.store.query(COUNTS, &[]).await?;
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
        let mut client = self.client().await?;
        let transaction = client.transaction().await?;
        let outcome = receive(&transaction, message, lease, now).await?;
        transaction.commit().await?;
        client.give_back();
        Ok(outcome)
    }

    /// Runs a change that only the owner of a lease may make. Its parameters are `id`, `owner`, an instant and an
    /// optional text.
    pub(super) async fn as_owner(
        &self,
        sql: &str,
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

    /// Returns the next `limit` readable entries of a query. Its parameters are the number before them, a limit and
    /// `further`.
    pub(super) async fn readable_page<T>(
        &self,
        sql: &str,
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
                self.query(sql, &parameters).await?
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

    /// Runs a bounded deletion until it finds no more rows.
    pub(super) async fn forget_in_pieces(
        &self,
        sql: &str,
        before: Timestamp,
    ) -> Result<u64, bankrail_values::StoreError> {
        let mut forgotten = 0;
        loop {
            match self.timed(self.execute(sql, &[(&before.unix_millis(), Type::INT8)])).await? {
                0 => return Ok(forgotten),
                piece => forgotten += piece,
            }
        }
    }
}

pub(super) async fn complete(
    transaction: &Transaction<'_>,
    id: EntryId,
    owner: LeaseOwner,
    now: Timestamp,
) -> Result<bool, Fault> {
    let parameters: [Typed<'_>; 3] =
        [(&number(id), Type::INT8), (&owner.as_bytes().as_slice(), Type::BYTEA), (&now.unix_millis(), Type::INT8)];
    Ok(transaction.execute_typed(COMPLETE, &parameters).await? == 1)
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
