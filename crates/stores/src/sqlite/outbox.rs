//! Messages to deliver.

use super::SqliteStore;
use super::connection::Fault;
use super::values::{count, entry_id, instant, kind_and_headers, named, number, readable};
use bankrail_values::{StoreErrorKind, StoreFuture, Timestamp};
use bankrail_webhook::store::outbox::{Enqueued, LeaseRequest, Next, OutboxCounts, OutboxState, StoppedEndpoint};
use bankrail_webhook::{Attempt, AttemptNote, EndpointId, EntryId, Outbox, OutboxEntry, Outgoing, Owner};
use rusqlite::{Connection, Row, named_params, params};
use std::time::Duration;

mod lease;

const INSERT: &str = "INSERT INTO bankrail_outbox (endpoint, kind, request_key, message_id, correlation_id, priority,
    state, enqueued, due, body) VALUES (:endpoint, :kind, :request_key, :message_id, :correlation_id, :priority,
    'pending', :now, :now, :body) ON CONFLICT (endpoint, message_id) DO NOTHING";

const COLUMNS: &str =
    "id, endpoint, kind, request_key, message_id, correlation_id, priority, body, state, enqueued, due,
    attempts";

const RELEASE: &str = "UPDATE bankrail_outbox SET due = ?3, owner = NULL, until = NULL WHERE id = ?1 AND owner = ?2";

const RECORD: &str = "UPDATE bankrail_outbox SET state = :state, due = coalesce(:due, due), finished = :finished,
    attempts = attempts + 1, owner = NULL, until = NULL WHERE id = :id AND owner = :owner";

const INSERT_ATTEMPT: &str = "INSERT INTO bankrail_attempt (entry, number, started, duration, status, note)
    SELECT :entry, coalesce(max(number), 0) + 1, :started, :duration, :status, :note
    FROM bankrail_attempt WHERE entry = :entry";

const ATTEMPTS: &str = "SELECT started, duration, status, note FROM bankrail_attempt WHERE entry = ?1 ORDER BY number";

const RESEND: &str = "UPDATE bankrail_outbox SET state = 'pending', due = ?2, finished = NULL, attempts = 0
    WHERE id = ?1 AND state = 'dead'";

const STOP: &str = "INSERT INTO bankrail_stopped (endpoint, since, reason) VALUES (?1, ?2, ?3)
    ON CONFLICT (endpoint) DO NOTHING";

/// A bounded piece, so that others can write in between.
const FORGET: &str = "DELETE FROM bankrail_outbox WHERE id IN (SELECT id FROM bankrail_outbox
    WHERE state = 'delivered' AND finished < ?1 ORDER BY finished LIMIT ?2)";

#[cfg(test)]
pub(super) use lease::DAILY as DAILY_LEASES;

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[INSERT, RELEASE, RECORD, INSERT_ATTEMPT, ATTEMPTS, RESEND, STOP, FORGET];

impl Outbox for SqliteStore {
    fn enqueue<'a>(&'a self, message: &'a Outgoing, now: Timestamp) -> StoreFuture<'a, Enqueued> {
        let message = message.clone();
        Box::pin(self.database.write(move |connection| enqueue(connection, &message, now)))
    }

    fn lease<'a>(&'a self, request: LeaseRequest<'a>, now: Timestamp) -> StoreFuture<'a, Vec<OutboxEntry>> {
        let LeaseRequest { lease, limit, per_endpoint, except } = request;
        let except = except.to_vec();
        let work = lease::Work { lease, limit, per_endpoint, except, now };
        Box::pin(self.database.write(move |connection| work.run(connection)))
    }

    fn record<'a>(
        &'a self,
        id: EntryId,
        owner: Owner,
        attempt: &'a Attempt,
        next: Next,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let attempt = attempt.clone();
        Box::pin(self.database.write(move |connection| record(connection, id, owner, &attempt, next, now)))
    }

    fn release(&self, id: EntryId, owner: Owner, due: Timestamp) -> StoreFuture<'_, bool> {
        self.change(RELEASE, move |sql| sql.execute(params![number(id), owner.as_bytes(), due.unix_millis()]))
    }

    fn next_due(&self) -> StoreFuture<'_, Option<Timestamp>> {
        Box::pin(self.database.read(lease::next_due))
    }

    fn attempts(&self, id: EntryId) -> StoreFuture<'_, Vec<Attempt>> {
        Box::pin(self.database.read(move |connection| {
            connection.prepare_cached(ATTEMPTS)?.query_and_then([number(id)], attempt)?.collect()
        }))
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxEntry>> {
        Box::pin(self.database.read(move |connection| {
            let sql = format!("SELECT {COLUMNS} FROM bankrail_outbox WHERE id = ?1");
            let mut find = connection.prepare_cached(&sql)?;
            find.query_and_then([number(id)], entry)?.next().transpose()
        }))
    }

    fn dead_letters<'a>(
        &'a self,
        endpoint: Option<&'a EndpointId>,
        after: Option<EntryId>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<OutboxEntry>> {
        let endpoint = endpoint.map(|endpoint| endpoint.as_str().to_owned());
        let after = after.map_or(-1, number);
        Box::pin(self.database.read(move |connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM bankrail_outbox
                WHERE state = 'dead' AND id > ?1 AND endpoint = coalesce(?2, endpoint) ORDER BY id"
            );
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            let mut list = connection.prepare_cached(&sql)?;
            let rows = list.query_and_then(params![after, endpoint], |row| readable(row, entry))?;
            rows.filter_map(|row| row.map(Result::ok).transpose()).take(limit).collect()
        }))
    }

    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        self.change(RESEND, move |sql| sql.execute(params![number(id), now.unix_millis()]))
    }

    fn stop_endpoint<'a>(&'a self, endpoint: &'a EndpointId, reason: &'a str, now: Timestamp) -> StoreFuture<'a, ()> {
        let (endpoint, reason) = (endpoint.as_str().to_owned(), reason.to_owned());
        let stopped = self.change(STOP, move |sql| sql.execute(params![endpoint, now.unix_millis(), reason]));
        Box::pin(async move { stopped.await.map(drop) })
    }

    fn resume_endpoint<'a>(&'a self, endpoint: &'a EndpointId) -> StoreFuture<'a, bool> {
        let endpoint = endpoint.as_str().to_owned();
        self.change("DELETE FROM bankrail_stopped WHERE endpoint = ?1", move |sql| sql.execute([endpoint]))
    }

    fn stopped_endpoints(&self) -> StoreFuture<'_, Vec<StoppedEndpoint>> {
        Box::pin(self.database.read(|connection| {
            let sql = "SELECT endpoint, since, reason FROM bankrail_stopped ORDER BY endpoint";
            let stopped = |row: &Row<'_>| {
                Ok(StoppedEndpoint { endpoint: endpoint(row, 0)?, since: instant(row.get(1)?)?, reason: row.get(2)? })
            };
            connection.prepare_cached(sql)?.query_and_then([], stopped)?.collect()
        }))
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.forget_in_pieces(FORGET, before))
    }

    fn counts<'a>(&'a self, endpoint: Option<&'a EndpointId>) -> StoreFuture<'a, OutboxCounts> {
        let endpoint = endpoint.map(|endpoint| endpoint.as_str().to_owned());
        Box::pin(self.database.read(move |connection| {
            let of = |state: OutboxState| {
                let state = state.as_str();
                // The state stands in the text, so that the index of that state serves.
                let sql = format!("SELECT count(*) FROM bankrail_outbox WHERE state = '{state}'");
                match &endpoint {
                    None => count(connection, &sql, []),
                    Some(endpoint) => count(connection, &format!("{sql} AND endpoint = ?1"), [endpoint]),
                }
            };
            Ok(OutboxCounts {
                pending: of(OutboxState::Pending)?,
                delivered: of(OutboxState::Delivered)?,
                dead: of(OutboxState::Dead)?,
            })
        }))
    }
}

pub(super) fn enqueue(connection: &Connection, message: &Outgoing, now: Timestamp) -> Result<Enqueued, Fault> {
    let headers = message.headers();
    let message_id = headers.message_id.to_string();
    let stored = connection.prepare_cached(INSERT)?.execute(named_params! {
        ":endpoint": message.endpoint().as_str(),
        ":kind": message.kind().as_str(),
        ":request_key": headers.request_key.map(|id| id.to_string()),
        ":message_id": message_id,
        ":correlation_id": headers.correlation_id.map(|id| id.to_string()),
        ":priority": headers.priority.map(|priority| priority.as_str()),
        ":now": now.unix_millis(),
        ":body": message.body(),
    })?;
    if stored == 1 {
        return Ok(Enqueued::New(entry_id(connection.last_insert_rowid())?));
    }
    let there = connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM bankrail_outbox WHERE endpoint = ?1 AND message_id = ?2"))?
        .query_and_then(params![message.endpoint().as_str(), message_id], entry)?
        .next()
        .transpose()?;
    match there {
        Some(there) if there.message.says_the_same(message) => Ok(Enqueued::Already(there.id)),
        _ => Err(Fault::Store(StoreErrorKind::Conflict.into())),
    }
}

fn record(
    connection: &Connection,
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
    let recorded = connection.prepare_cached(RECORD)?.execute(named_params! {
        ":id": number(id),
        ":owner": owner.as_bytes(),
        ":state": state.as_str(),
        ":due": due,
        ":finished": due.is_none().then_some(now.unix_millis()),
    })?;
    if recorded == 0 {
        return Ok(false);
    }
    connection.prepare_cached(INSERT_ATTEMPT)?.execute(named_params! {
        ":entry": number(id),
        ":started": attempt.started_at.unix_millis(),
        ":duration": i64::try_from(attempt.duration.as_millis()).unwrap_or(i64::MAX),
        ":status": attempt.status,
        ":note": attempt.note.map(AttemptNote::as_str),
    })?;
    Ok(true)
}

fn entry(row: &Row<'_>) -> Result<OutboxEntry, Fault> {
    let (kind, headers) = kind_and_headers(row, 2)?;
    Ok(OutboxEntry {
        id: entry_id(row.get(0)?)?,
        message: Outgoing::from_stored(endpoint(row, 1)?, kind, headers, row.get(7)?),
        state: named(row.get_ref(8)?.as_str().map_err(Fault::corrupt)?, OutboxState::from_name)?,
        enqueued_at: instant(row.get(9)?)?,
        due: instant(row.get(10)?)?,
        attempts: row.get(11)?,
    })
}

fn endpoint(row: &Row<'_>, column: usize) -> Result<EndpointId, Fault> {
    EndpointId::try_from(row.get::<_, String>(column)?).map_err(Fault::corrupt)
}

fn attempt(row: &Row<'_>) -> Result<Attempt, Fault> {
    let duration: i64 = row.get(1)?;
    let note = row.get_ref(3)?.as_str_or_null().map_err(Fault::corrupt)?;
    Ok(Attempt {
        started_at: instant(row.get(0)?)?,
        duration: Duration::from_millis(u64::try_from(duration).map_err(Fault::corrupt)?),
        status: row.get(2)?,
        note: note.map(|name| named(name, AttemptNote::from_name)).transpose()?,
    })
}
