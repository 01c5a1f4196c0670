//! The outbox: messages to deliver.

use super::connection::Fault;
use super::values::{bytes, count, entry_id, kind, named, number};
use super::{SqliteStore, instant, oldest};
use bankrail_mailbox::{
    Circuit, DeliveryNote, DeliveryRecord, Disposition, DropOutcome, EndpointBacklog, EndpointCircuit, EndpointId,
    Enqueued, EntryId, Fingerprint, Intervention, LeaseOwner, LeaseRequest, Outbox, OutboxCounts, OutboxEntry,
    OutboxQuery, OutboxState, OutboxSummary, Outgoing, StoppedEndpoint,
};
use bankrail_values::{HyphenatedUuid, StoreErrorKind, StoreFuture, Timestamp};
use rusqlite::{Connection, Row, named_params, params};
use std::time::Duration;

mod circuit;
mod lease;
mod operator;

const INSERT: &str = "INSERT INTO bankrail_outbox
    (endpoint, kind, message_id, fingerprint, attributes, state, enqueued, due)
    VALUES (:endpoint, :kind, :message_id, :fingerprint, :attributes, 'pending', :now, :now)
    ON CONFLICT (endpoint, message_id) DO NOTHING";

const INSERT_BODY: &str = "INSERT INTO bankrail_outbox_body (id, body) VALUES (?1, ?2)";

/// Entries with their payloads. An entry whose payload is missing is found and cannot be read.
macro_rules! entries {
    ($state:literal, $which:literal) => {
        concat!(
            "SELECT o.id, endpoint, kind, message_id, fingerprint, attributes, body, enqueued, due, deliveries, ",
            $state,
            " FROM bankrail_outbox o LEFT JOIN bankrail_outbox_body b ON b.id = o.id WHERE ",
            $which
        )
    };
}

const WITH_BODY: &str = entries!("state", "o.id = ?1");

const SAME_ID: &str = entries!("state", "endpoint = ?1 AND message_id = ?2");

/// With the state of dropped entries, which is not in the entry's row.
const FIND: &str = entries!(
    "CASE WHEN EXISTS (SELECT 1 FROM bankrail_dropped WHERE entry = o.id) THEN 'dropped' ELSE state END AS state",
    "o.id = ?1"
);

const RELEASE: &str = "UPDATE bankrail_outbox SET due = ?3, owner = NULL, until = NULL WHERE id = ?1 AND owner = ?2";

const RECORD: &str = "UPDATE bankrail_outbox SET state = :state, due = coalesce(:due, due), finished = :finished,
    deliveries = deliveries + 1, owner = NULL, until = NULL WHERE id = :id AND owner = :owner";

const INSERT_DELIVERY: &str = "INSERT INTO bankrail_delivery (entry, number, started, duration, status, note) VALUES
    (:entry, (SELECT coalesce(max(number), 0) + 1 FROM bankrail_delivery WHERE entry = :entry), :started, :duration,
    :status, :note)";

const DELIVERIES: &str =
    "SELECT started, duration, status, note FROM bankrail_delivery WHERE entry = ?1 ORDER BY number";

const RESEND: &str = "UPDATE bankrail_outbox SET state = 'pending', due = ?2, finished = NULL, deliveries = 0
    WHERE id = ?1 AND state = 'dead_letter'";

/// Deletes a bounded number of entries, so that other writes run in between.
const FORGET: &str = "DELETE FROM bankrail_outbox WHERE id IN (SELECT id FROM bankrail_outbox
    WHERE state = 'delivered' AND finished < ?1 ORDER BY finished LIMIT ?2)";

#[cfg(test)]
pub(super) use circuit::DAILY as DAILY_CIRCUITS;
#[cfg(test)]
pub(super) use lease::DAILY as DAILY_LEASES;
#[cfg(test)]
pub(super) use operator::DAILY as DAILY_INTERVENTIONS;

#[cfg(test)]
pub(super) const DAILY: &[&str] =
    &[INSERT, INSERT_BODY, WITH_BODY, SAME_ID, FIND, RELEASE, RECORD, INSERT_DELIVERY, DELIVERIES, RESEND, FORGET];

/// The outbox of a [`SqliteStore`].
#[derive(Clone, Debug)]
pub struct SqliteOutbox {
    pub(super) store: SqliteStore,
}

impl Outbox for SqliteOutbox {
    fn enqueue<'a>(&'a self, message: &'a Outgoing, now: Timestamp) -> StoreFuture<'a, Enqueued> {
        let message = message.clone();
        Box::pin(self.store.database.write(move |connection| enqueue(connection, &message, now)))
    }

    fn lease<'a>(&'a self, request: LeaseRequest<'a>, now: Timestamp) -> StoreFuture<'a, Vec<OutboxEntry>> {
        let (except, slow) = (request.except.to_vec(), request.slow.to_vec());
        let (after, slow_after) = (request.after.cloned(), request.slow_after.cloned());
        let LeaseRequest { lease, limit, per_endpoint, slow_limit, reserve, .. } = request;
        Box::pin(self.store.database.write(move |connection| {
            let request = LeaseRequest::new(lease, limit).after(after.as_ref()).per_endpoint(per_endpoint);
            let request = request.except(&except).slow(&slow, slow_limit, slow_after.as_ref()).reserve(reserve);
            lease::run(connection, &request, now)
        }))
    }

    fn record<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        delivery: &'a DeliveryRecord,
        disposition: Disposition,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let delivery = delivery.clone();
        Box::pin(self.store.database.write(move |c| record(c, id, owner, &delivery, disposition, now)))
    }

    fn release(&self, id: EntryId, owner: LeaseOwner, due: Timestamp) -> StoreFuture<'_, bool> {
        self.store.change(RELEASE, move |sql| sql.execute(params![number(id), owner.as_bytes(), due.unix_millis()]))
    }

    fn next_due(&self) -> StoreFuture<'_, Option<Timestamp>> {
        Box::pin(self.store.database.read(lease::next_due))
    }

    fn hold_endpoint<'a>(&'a self, endpoint: &'a EndpointId, circuit: Circuit) -> StoreFuture<'a, ()> {
        let endpoint = endpoint.clone();
        Box::pin(self.store.database.write(move |connection| circuit::hold(connection, &endpoint, circuit)))
    }

    fn close_circuit<'a>(&'a self, endpoint: &'a EndpointId, openings: u32, now: Timestamp) -> StoreFuture<'a, ()> {
        let endpoint = endpoint.clone();
        Box::pin(self.store.database.write(move |connection| circuit::close(connection, &endpoint, openings, now)))
    }

    fn circuits(&self) -> StoreFuture<'_, Vec<EndpointCircuit>> {
        Box::pin(self.store.database.read(circuit::all))
    }

    fn deliveries(&self, id: EntryId) -> StoreFuture<'_, Vec<DeliveryRecord>> {
        Box::pin(self.store.database.read(move |connection| {
            connection.prepare_cached(DELIVERIES)?.query_and_then([number(id)], delivery)?.collect()
        }))
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxEntry>> {
        Box::pin(self.store.database.read(move |connection| {
            let mut find = connection.prepare_cached(FIND)?;
            find.query_and_then([number(id)], entry)?.next().transpose()
        }))
    }

    fn list<'a>(&'a self, query: &'a OutboxQuery) -> StoreFuture<'a, Vec<OutboxSummary>> {
        let query = query.clone();
        Box::pin(self.store.database.read(move |connection| operator::list(connection, &query)))
    }

    fn summary(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxSummary>> {
        Box::pin(self.store.database.read(move |connection| operator::find(connection, id)))
    }

    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        self.store.change(RESEND, move |sql| sql.execute(params![number(id), now.unix_millis()]))
    }

    fn resend_all<'a>(&'a self, endpoint: &'a EndpointId, now: Timestamp) -> StoreFuture<'a, u64> {
        Box::pin(operator::resend_all(&self.store, endpoint, now))
    }

    fn drop_entry<'a>(
        &'a self,
        id: EntryId,
        intervention: &'a Intervention,
        now: Timestamp,
    ) -> StoreFuture<'a, DropOutcome> {
        let intervention = intervention.clone();
        Box::pin(self.store.database.write(move |c| operator::drop_entry(c, id, &intervention, now)))
    }

    fn stop_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        intervention: &'a Intervention,
        now: Timestamp,
    ) -> StoreFuture<'a, ()> {
        let (endpoint, intervention) = (endpoint.clone(), intervention.clone());
        Box::pin(self.store.database.write(move |c| operator::stop(c, &endpoint, &intervention, now)))
    }

    fn resume_endpoint<'a>(&'a self, endpoint: &'a EndpointId) -> StoreFuture<'a, bool> {
        let endpoint = endpoint.clone();
        Box::pin(self.store.database.write(move |connection| operator::resume(connection, &endpoint)))
    }

    fn stopped_endpoints(&self) -> StoreFuture<'_, Vec<StoppedEndpoint>> {
        Box::pin(self.store.database.read(operator::stopped))
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.store.forget_in_pieces(FORGET, before))
    }

    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>> {
        Box::pin(self.store.database.read(|connection| oldest::oldest(connection, oldest::OUTBOX)))
    }

    fn counts<'a>(&'a self, endpoint: Option<&'a EndpointId>) -> StoreFuture<'a, OutboxCounts> {
        let endpoint = endpoint.map(|endpoint| endpoint.as_str().to_owned());
        Box::pin(self.store.database.read(move |connection| {
            let of = |state: OutboxState| {
                let state = state.as_str();
                // The state is in the text, so that SQLite uses the index of that state.
                let sql = format!("SELECT count(*) FROM bankrail_outbox WHERE state = '{state}'");
                match &endpoint {
                    None => count(connection, &sql, []),
                    Some(endpoint) => count(connection, &format!("{sql} AND endpoint = ?1"), [endpoint]),
                }
            };
            let dropped = match &endpoint {
                None => count(connection, operator::DROPPED, [])?,
                Some(endpoint) => count(connection, operator::DROPPED_OF, [endpoint])?,
            };
            Ok(OutboxCounts {
                pending: of(OutboxState::Pending)?,
                delivered: of(OutboxState::Delivered)?.saturating_sub(dropped),
                dead_letters: of(OutboxState::DeadLetter)?,
                dropped,
            })
        }))
    }

    fn backlogs<'a>(&'a self, after: Option<&'a EndpointId>, limit: u32) -> StoreFuture<'a, Vec<EndpointBacklog>> {
        let after = after.map_or_else(String::new, |after| after.as_str().to_owned());
        Box::pin(self.store.database.read(move |connection| operator::backlogs(connection, &after, limit)))
    }
}

pub(super) fn enqueue(connection: &Connection, message: &Outgoing, now: Timestamp) -> Result<Enqueued, Fault> {
    let message_id = message.message_id.to_string();
    let stored = connection.prepare_cached(INSERT)?.execute(named_params! {
        ":endpoint": message.endpoint.as_str(),
        ":kind": message.kind.as_str(),
        ":message_id": message_id,
        ":fingerprint": message.fingerprint.as_bytes(),
        ":attributes": &*message.attributes,
        ":now": now.unix_millis(),
    })?;
    if stored == 1 {
        let id = connection.last_insert_rowid();
        connection.prepare_cached(INSERT_BODY)?.execute(params![id, &*message.body])?;
        return Ok(Enqueued::New(entry_id(id)?));
    }
    let there = connection
        .prepare_cached(SAME_ID)?
        .query_and_then(params![message.endpoint.as_str(), message_id], entry)?
        .next()
        .transpose()?;
    match there {
        Some(there) if there.message.has_same_content(message) => Ok(Enqueued::Already(there.id)),
        _ => Err(Fault::Store(StoreErrorKind::Conflict.into())),
    }
}

fn record(
    connection: &Connection,
    id: EntryId,
    owner: LeaseOwner,
    delivery: &DeliveryRecord,
    disposition: Disposition,
    now: Timestamp,
) -> Result<bool, Fault> {
    let (state, due) = match disposition {
        Disposition::Delivered => (OutboxState::Delivered, None),
        Disposition::RetryAt(due) => (OutboxState::Pending, Some(due.unix_millis())),
        Disposition::DeadLetter => (OutboxState::DeadLetter, None),
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
    connection.prepare_cached(INSERT_DELIVERY)?.execute(named_params! {
        ":entry": number(id),
        ":started": delivery.started_at.unix_millis(),
        ":duration": i64::try_from(delivery.duration.as_millis()).unwrap_or(i64::MAX),
        ":status": delivery.status,
        ":note": delivery.note.map(DeliveryNote::as_str),
    })?;
    Ok(true)
}

fn entry(row: &Row<'_>) -> Result<OutboxEntry, Fault> {
    Ok(OutboxEntry {
        id: entry_id(row.get("id")?)?,
        message: Outgoing {
            endpoint: endpoint(row)?,
            kind: kind(row)?,
            message_id: named(row, "message_id", |text| HyphenatedUuid::parse(text).ok())?,
            fingerprint: Fingerprint::from_bytes(row.get("fingerprint")?),
            attributes: bytes(row, "attributes")?,
            body: bytes(row, "body")?,
        },
        state: named(row, "state", OutboxState::from_name)?,
        enqueued_at: instant(row.get("enqueued")?)?,
        due: instant(row.get("due")?)?,
        deliveries: row.get("deliveries")?,
        circuit: None,
    })
}

fn endpoint(row: &Row<'_>) -> Result<EndpointId, Fault> {
    EndpointId::try_from(row.get::<_, String>("endpoint")?).map_err(Fault::corrupt)
}

fn delivery(row: &Row<'_>) -> Result<DeliveryRecord, Fault> {
    let duration: i64 = row.get("duration")?;
    let note = row.get_ref("note")?.as_str_or_null().map_err(Fault::corrupt)?;
    let unknown = |name| Fault::corrupt(format!("expected a known delivery note, found {name:?}"));
    Ok(DeliveryRecord {
        started_at: instant(row.get("started")?)?,
        duration: Duration::from_millis(u64::try_from(duration).map_err(Fault::corrupt)?),
        status: row.get("status")?,
        note: note.map(|name| DeliveryNote::from_name(name).ok_or_else(|| unknown(name))).transpose()?,
    })
}
