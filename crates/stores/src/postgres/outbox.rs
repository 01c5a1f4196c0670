//! Messages to deliver.

use super::inbox::Typed;
use super::values::{entry_id, get, instant, kind_and_headers, named, number, storable, unsigned};
use super::{Fault, PostgresStore};
use bankrail_values::{StoreFuture, Timestamp};
use bankrail_webhook::store::outbox::{Enqueued, LeaseRequest, Next, OutboxCounts, OutboxState, StoppedEndpoint};
use bankrail_webhook::{Attempt, AttemptNote, EndpointId, EntryId, Outbox, OutboxEntry, Outgoing, Owner};
use std::time::Duration;
use tokio_postgres::types::Type;
use tokio_postgres::{GenericClient, Row};

mod lease;

const INSERT: &str = "INSERT INTO bankrail_outbox (endpoint, kind, request_key, message_id, correlation_id, priority,
    state, enqueued, due, body) VALUES ($1, $2, $3, $4, $5, $6, 'pending', $7, $7, $8)
    ON CONFLICT (endpoint, message_id) DO NOTHING RETURNING id";

const THERE: &str = " FROM bankrail_outbox WHERE endpoint = $1 AND message_id = $2";

const COLUMNS: &str =
    "id, endpoint, kind, request_key, message_id, correlation_id, priority, body, state, enqueued, due,
    attempts";

const RELEASE: &str = "UPDATE bankrail_outbox SET due = $3, owner = NULL, until = NULL WHERE id = $1 AND owner = $2";

const RECORD: &str = "WITH entry AS (
        UPDATE bankrail_outbox SET state = $3, due = coalesce($4, due), finished = $5, attempts = attempts + 1,
            owner = NULL, until = NULL
        WHERE id = $1 AND owner = $2 RETURNING id)
    INSERT INTO bankrail_attempt (entry, number, started, duration, status, note)
    SELECT id, 1 + (SELECT coalesce(max(number), 0) FROM bankrail_attempt WHERE entry = $1), $6, $7, $8, $9 FROM entry";

const ATTEMPTS: &str = "SELECT started, duration, status, note FROM bankrail_attempt WHERE entry = $1 ORDER BY number";

const RESEND: &str = "UPDATE bankrail_outbox SET state = 'pending', due = $2, finished = NULL, attempts = 0
    WHERE id = $1 AND state = 'dead'";

const STOP: &str = "INSERT INTO bankrail_stopped (endpoint, since, reason) VALUES ($1, $2, $3)
    ON CONFLICT (endpoint) DO NOTHING";

const FORGET: &str = "DELETE FROM bankrail_outbox WHERE id IN (SELECT id FROM bankrail_outbox
    WHERE state = 'delivered' AND finished < $1 ORDER BY finished LIMIT 500 FOR UPDATE SKIP LOCKED)";

const COUNTS: &str = "SELECT
    (SELECT count(*) FROM bankrail_outbox WHERE state = 'pending' AND endpoint = coalesce($1, endpoint)),
    (SELECT count(*) FROM bankrail_outbox WHERE state = 'delivered' AND endpoint = coalesce($1, endpoint)),
    (SELECT count(*) FROM bankrail_outbox WHERE state = 'dead' AND endpoint = coalesce($1, endpoint))";

impl Outbox for PostgresStore {
    fn enqueue<'a>(&'a self, message: &'a Outgoing, now: Timestamp) -> StoreFuture<'a, Enqueued> {
        Box::pin(self.timed(async move {
            let client = self.client().await?;
            let enqueued = enqueue(&*client, message, now).await?;
            client.give_back();
            Ok(enqueued)
        }))
    }

    fn lease<'a>(&'a self, request: LeaseRequest<'a>, now: Timestamp) -> StoreFuture<'a, Vec<OutboxEntry>> {
        Box::pin(self.timed(async move {
            let mut client = self.client().await?;
            let entries = lease::lease(&mut client, request, now).await?;
            client.give_back();
            Ok(entries)
        }))
    }

    fn record<'a>(
        &'a self,
        id: EntryId,
        owner: Owner,
        attempt: &'a Attempt,
        next: Next,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        Box::pin(self.timed(self.record_attempt(id, owner, attempt, next, now)))
    }

    fn release(&self, id: EntryId, owner: Owner, due: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(self.timed(self.as_owner(RELEASE, id, owner, due, None)))
    }

    fn next_due(&self) -> StoreFuture<'_, Option<Timestamp>> {
        Box::pin(self.timed(async move {
            let rows = self.query(lease::NEXT_DUE, &[]).await?;
            let row = rows.first().ok_or_else(|| Fault::corrupt("no answer"))?;
            get::<Option<i64>>(row, 0)?.map(|_| instant(row, 0)).transpose()
        }))
    }

    fn attempts(&self, id: EntryId) -> StoreFuture<'_, Vec<Attempt>> {
        Box::pin(self.timed(async move {
            let rows = self.query(ATTEMPTS, &[(&number(id), Type::INT8)]).await?;
            rows.iter().map(attempt).collect()
        }))
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxEntry>> {
        Box::pin(self.timed(async move {
            let sql = format!("SELECT {COLUMNS} FROM bankrail_outbox WHERE id = $1");
            let rows = self.query(&sql, &[(&number(id), Type::INT8)]).await?;
            rows.first().map(entry).transpose()
        }))
    }

    fn dead_letters<'a>(
        &'a self,
        endpoint: Option<&'a EndpointId>,
        after: Option<EntryId>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<OutboxEntry>> {
        Box::pin(self.timed(async move {
            let sql = format!(
                "SELECT {COLUMNS} FROM bankrail_outbox
                WHERE state = 'dead' AND id > $1 AND endpoint = coalesce($3, endpoint) ORDER BY id LIMIT $2"
            );
            let endpoint = endpoint.map(EndpointId::as_str);
            self.readable_page(&sql, after, limit, &[(&endpoint, Type::TEXT)], entry).await
        }))
    }

    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(self.timed(async move {
            let parameters: [Typed<'_>; 2] = [(&number(id), Type::INT8), (&now.unix_millis(), Type::INT8)];
            Ok(self.execute(RESEND, &parameters).await? == 1)
        }))
    }

    fn stop_endpoint<'a>(&'a self, endpoint: &'a EndpointId, reason: &'a str, now: Timestamp) -> StoreFuture<'a, ()> {
        Box::pin(self.timed(async move {
            let (endpoint, now, reason) = (endpoint.as_str(), now.unix_millis(), storable(reason));
            let parameters: [Typed<'_>; 3] = [(&endpoint, Type::TEXT), (&now, Type::INT8), (&reason, Type::TEXT)];
            self.execute(STOP, &parameters).await.map(drop)
        }))
    }

    fn resume_endpoint<'a>(&'a self, endpoint: &'a EndpointId) -> StoreFuture<'a, bool> {
        Box::pin(self.timed(async move {
            let sql = "DELETE FROM bankrail_stopped WHERE endpoint = $1";
            Ok(self.execute(sql, &[(&endpoint.as_str(), Type::TEXT)]).await? == 1)
        }))
    }

    fn stopped_endpoints(&self) -> StoreFuture<'_, Vec<StoppedEndpoint>> {
        Box::pin(self.timed(async move {
            let sql = "SELECT endpoint, since, reason FROM bankrail_stopped ORDER BY endpoint";
            let stopped = |row: &Row| {
                Ok(StoppedEndpoint { endpoint: endpoint(row, 0)?, since: instant(row, 1)?, reason: get(row, 2)? })
            };
            self.query(sql, &[]).await?.iter().map(stopped).collect()
        }))
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.forget_in_pieces(FORGET, before))
    }

    fn counts<'a>(&'a self, endpoint: Option<&'a EndpointId>) -> StoreFuture<'a, OutboxCounts> {
        Box::pin(self.timed(async move {
            let rows = self.query(COUNTS, &[(&endpoint.map(EndpointId::as_str), Type::TEXT)]).await?;
            let row = rows.first().ok_or_else(|| Fault::corrupt("no counts"))?;
            Ok(OutboxCounts {
                pending: unsigned::<i64, _>(row, 0)?,
                delivered: unsigned::<i64, _>(row, 1)?,
                dead: unsigned::<i64, _>(row, 2)?,
            })
        }))
    }
}

impl PostgresStore {
    async fn record_attempt(
        &self,
        id: EntryId,
        owner: Owner,
        attempt: &Attempt,
        next: Next,
        now: Timestamp,
    ) -> Result<bool, Fault> {
        let (state, due) = match next {
            Next::Delivered => (OutboxState::Delivered, None),
            Next::Retry(due) => (OutboxState::Pending, Some(due.unix_millis())),
            Next::Dead => (OutboxState::Dead, None),
        };
        let parameters: [Typed<'_>; 9] = [
            (&number(id), Type::INT8),
            (&owner.as_bytes().as_slice(), Type::BYTEA),
            (&state.as_str(), Type::TEXT),
            (&due, Type::INT8),
            (&due.is_none().then_some(now.unix_millis()), Type::INT8),
            (&attempt.started_at.unix_millis(), Type::INT8),
            (&i64::try_from(attempt.duration.as_millis()).unwrap_or(i64::MAX), Type::INT8),
            (&attempt.status.map(i32::from), Type::INT4),
            (&attempt.note.map(AttemptNote::as_str), Type::TEXT),
        ];
        Ok(self.execute(RECORD, &parameters).await? == 1)
    }
}

pub(super) async fn enqueue<C: GenericClient + Sync>(
    client: &C,
    message: &Outgoing,
    now: Timestamp,
) -> Result<Enqueued, Fault> {
    let headers = message.headers();
    let (endpoint, message_id) = (message.endpoint().as_str(), headers.message_id.to_string());
    let parameters: [Typed<'_>; 8] = [
        (&endpoint, Type::TEXT),
        (&message.kind().as_str(), Type::TEXT),
        (&headers.request_key.map(|id| id.to_string()), Type::TEXT),
        (&message_id, Type::TEXT),
        (&headers.correlation_id.map(|id| id.to_string()), Type::TEXT),
        (&headers.priority.map(|priority| priority.as_str()), Type::TEXT),
        (&now.unix_millis(), Type::INT8),
        (&message.body(), Type::BYTEA),
    ];
    if let Some(row) = client.query_typed(INSERT, &parameters).await?.first() {
        return Ok(Enqueued::New(entry_id(get(row, 0)?)?));
    }
    // A statement of its own: it sees what another worker has committed meanwhile.
    let parameters: [Typed<'_>; 2] = [(&endpoint, Type::TEXT), (&message_id, Type::TEXT)];
    let there = client.query_typed(&format!("SELECT {COLUMNS}{THERE}"), &parameters).await?;
    let row = there.first().ok_or_else(|| Fault::Lost("the message was there and was forgotten meanwhile"))?;
    let there = entry(row)?;
    if there.message.says_the_same(message) { Ok(Enqueued::Already(there.id)) } else { Err(Fault::Conflict) }
}

fn entry(row: &Row) -> Result<OutboxEntry, Fault> {
    let (kind, headers) = kind_and_headers(row, 2)?;
    Ok(OutboxEntry {
        id: entry_id(get(row, 0)?)?,
        message: Outgoing::from_stored(endpoint(row, 1)?, kind, headers, get(row, 7)?),
        state: named(get(row, 8)?, OutboxState::from_name)?,
        enqueued_at: instant(row, 9)?,
        due: instant(row, 10)?,
        attempts: unsigned::<i32, _>(row, 11)?,
    })
}

fn endpoint(row: &Row, column: usize) -> Result<EndpointId, Fault> {
    EndpointId::try_from(get::<String>(row, column)?).map_err(Fault::corrupt)
}

fn attempt(row: &Row) -> Result<Attempt, Fault> {
    let status = get::<Option<i32>>(row, 2)?.map(u16::try_from).transpose().map_err(Fault::corrupt)?;
    let note = get::<Option<&str>>(row, 3)?.map(|name| named(name, AttemptNote::from_name)).transpose()?;
    let duration = Duration::from_millis(unsigned::<i64, _>(row, 1)?);
    Ok(Attempt { started_at: instant(row, 0)?, duration, status, note })
}
