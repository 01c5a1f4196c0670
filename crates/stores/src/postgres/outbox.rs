//! The outbox: messages to deliver.

use super::choice::{forget, written};
use super::session::Session;
use super::values::{bytes, entry_id, fingerprint, kind, named, number, unsigned};
use super::{Fault, PostgresStore, Typed, get, instant, oldest};
use bankrail_mailbox::{
    Circuit, DeliveryNote, DeliveryRecord, Disposition, DropOutcome, EndpointBacklog, EndpointCircuit, EndpointId,
    Enqueued, EntryId, Intervention, LeaseOwner, LeaseRequest, Outbox, OutboxCounts, OutboxEntry, OutboxQuery,
    OutboxState, OutboxSummary, Outgoing, StoppedEndpoint,
};
use bankrail_values::{HyphenatedUuid, StoreErrorKind, StoreFuture, Timestamp};
use std::time::Duration;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

mod circuit;
mod lease;
mod operator;

const INSERT: &str = concat!(
    "WITH message AS (
        INSERT INTO bankrail_outbox (endpoint, kind, message_id, fingerprint, attributes, enqueued, body)
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (endpoint, message_id) DO NOTHING RETURNING id)
    INSERT INTO bankrail_outbox_queue (entry, endpoint, due, freed) SELECT id, $1, $6, ",
    written!("bankrail_outbox_cursor"),
    " FROM message RETURNING entry"
);

/// A message with its state.
macro_rules! entry {
    ($which:literal) => {
        concat!(
            "SELECT message.id, message.endpoint, message.kind, message_id, fingerprint, attributes, body,
                message.enqueued, coalesce(finished.state, 'pending') AS state,
                coalesce(queue.due, finished.due) AS due,
                coalesce(queue.deliveries, finished.deliveries) AS deliveries
            FROM (SELECT * FROM bankrail_outbox WHERE ",
            $which,
            " OFFSET 0) AS message
            LEFT JOIN LATERAL (SELECT * FROM bankrail_outbox_queue WHERE entry = message.id OFFSET 0) AS queue ON TRUE
            LEFT JOIN LATERAL (SELECT * FROM bankrail_outbox_finished WHERE entry = message.id OFFSET 0) AS finished
                ON TRUE"
        )
    };
}

const FIND: &str = entry!("id = $1");

const THERE: &str = entry!("endpoint = $1 AND message_id = $2");

const RELEASE: &str = concat!(
    "UPDATE bankrail_outbox_queue SET due = $3, owner = NULL, until = NULL, lease = NULL, freed = ",
    written!("bankrail_outbox_cursor"),
    " WHERE entry = $1 AND owner = $2"
);

/// Adds a delivery to the messages of `entry`.
macro_rules! with_delivery {
    ($($entry:expr),+) => {
        concat!(
            "WITH entry AS (",
            $($entry,)+
            " INSERT INTO bankrail_delivery (entry, number, started, duration, status, note)
            SELECT entry, 1 + (SELECT coalesce(max(number), 0) FROM bankrail_delivery WHERE entry = $1), $3, $4, $5, $6
            FROM entry"
        )
    };
}

const RETRY: &str = with_delivery!(
    "UPDATE bankrail_outbox_queue SET due = $7, deliveries = deliveries + 1, owner = NULL, until = NULL, lease = NULL,
        freed = ",
    written!("bankrail_outbox_cursor"),
    " WHERE entry = $1 AND owner = $2 RETURNING entry)"
);

const FINISH: &str = with_delivery!(
    "DELETE FROM bankrail_outbox_queue WHERE entry = $1 AND owner = $2 RETURNING entry, endpoint, due, deliveries),
    finished AS (
        INSERT INTO bankrail_outbox_finished (entry, endpoint, state, due, deliveries, finished)
        SELECT entry, endpoint, $8, due, deliveries + 1, $7 FROM entry)"
);

const DELIVERIES: &str =
    "SELECT started, duration, status, note FROM bankrail_delivery WHERE entry = $1 ORDER BY number";

const RESEND: &str = concat!(
    "WITH entry AS (
        DELETE FROM bankrail_outbox_finished WHERE entry = $1 AND state = 'dead_letter' RETURNING entry, endpoint)
    INSERT INTO bankrail_outbox_queue (entry, endpoint, due, freed) SELECT entry, endpoint, $2, ",
    written!("bankrail_outbox_cursor"),
    " FROM entry"
);

const FORGET: &str = forget!("bankrail_outbox", "state <> 'dead_letter'");

/// The outbox of a [`PostgresStore`].
#[derive(Clone, Debug)]
pub struct PostgresOutbox {
    pub(super) store: PostgresStore,
}

impl Outbox for PostgresOutbox {
    fn enqueue<'a>(&'a self, message: &'a Outgoing, now: Timestamp) -> StoreFuture<'a, Enqueued> {
        Box::pin(self.store.timed(async move {
            let client = self.store.client().await?;
            let enqueued = enqueue(client.each(), message, now).await?;
            client.give_back();
            Ok(enqueued)
        }))
    }

    fn lease<'a>(&'a self, request: LeaseRequest<'a>, now: Timestamp) -> StoreFuture<'a, Vec<OutboxEntry>> {
        Box::pin(self.store.timed(async move {
            let client = self.store.client().await?;
            let entries = lease::lease(client.own(), request, now).await?;
            client.give_back();
            Ok(entries)
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
        Box::pin(self.store.timed(self.store.record_delivery(id, owner, delivery, disposition, now)))
    }

    fn release(&self, id: EntryId, owner: LeaseOwner, due: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(self.store.timed(self.store.as_owner(RELEASE, id, owner, due, None)))
    }

    fn next_due(&self) -> StoreFuture<'_, Option<Timestamp>> {
        Box::pin(self.store.timed(async move {
            let rows = self.store.query(lease::NEXT_DUE, &[]).await?;
            let row = rows.first().ok_or_else(|| Fault::corrupt("no answer"))?;
            get::<Option<i64>>(row, "due")?.map(instant).transpose()
        }))
    }

    fn hold_endpoint<'a>(&'a self, endpoint: &'a EndpointId, circuit: Circuit) -> StoreFuture<'a, ()> {
        Box::pin(self.store.timed(circuit::hold(&self.store, endpoint, circuit)))
    }

    fn close_circuit<'a>(&'a self, endpoint: &'a EndpointId, openings: u32, now: Timestamp) -> StoreFuture<'a, ()> {
        Box::pin(self.store.timed(circuit::close(&self.store, endpoint, openings, now)))
    }

    fn circuits(&self) -> StoreFuture<'_, Vec<EndpointCircuit>> {
        Box::pin(self.store.timed(circuit::all(&self.store)))
    }

    fn deliveries(&self, id: EntryId) -> StoreFuture<'_, Vec<DeliveryRecord>> {
        Box::pin(self.store.timed(async move {
            let rows = self.store.query(DELIVERIES, &[(&number(id), Type::INT8)]).await?;
            rows.iter().map(delivery).collect()
        }))
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxEntry>> {
        Box::pin(self.store.timed(async move {
            let rows = self.store.query(FIND, &[(&number(id), Type::INT8)]).await?;
            rows.first().map(entry).transpose()
        }))
    }

    fn list<'a>(&'a self, query: &'a OutboxQuery) -> StoreFuture<'a, Vec<OutboxSummary>> {
        Box::pin(self.store.timed(operator::list(&self.store, query)))
    }

    fn summary(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxSummary>> {
        Box::pin(self.store.timed(operator::find(&self.store, id)))
    }

    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(self.store.timed(async move {
            let parameters: [Typed<'_>; 2] = [(&number(id), Type::INT8), (&now.unix_millis(), Type::INT8)];
            Ok(self.store.execute(RESEND, &parameters).await? == 1)
        }))
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
        Box::pin(self.store.timed(operator::drop_entry(&self.store, id, intervention, now)))
    }

    fn stop_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        intervention: &'a Intervention,
        now: Timestamp,
    ) -> StoreFuture<'a, ()> {
        Box::pin(self.store.timed(operator::stop(&self.store, endpoint, intervention, now)))
    }

    fn resume_endpoint<'a>(&'a self, endpoint: &'a EndpointId) -> StoreFuture<'a, bool> {
        Box::pin(self.store.timed(async move {
            Ok(self.store.execute(operator::RESUME, &[(&endpoint.as_str(), Type::TEXT)]).await? == 1)
        }))
    }

    fn stopped_endpoints(&self) -> StoreFuture<'_, Vec<StoppedEndpoint>> {
        Box::pin(self.store.timed(operator::stopped(&self.store)))
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.store.forget_in_pieces(FORGET, before))
    }

    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>> {
        Box::pin(self.store.oldest(oldest::OUTBOX))
    }

    fn counts<'a>(&'a self, endpoint: Option<&'a EndpointId>) -> StoreFuture<'a, OutboxCounts> {
        Box::pin(self.store.timed(operator::counts(&self.store, endpoint)))
    }

    fn backlogs<'a>(&'a self, after: Option<&'a EndpointId>, limit: u32) -> StoreFuture<'a, Vec<EndpointBacklog>> {
        Box::pin(self.store.timed(operator::backlogs(&self.store, after, limit)))
    }
}

impl PostgresStore {
    async fn record_delivery(
        &self,
        id: EntryId,
        owner: LeaseOwner,
        delivery: &DeliveryRecord,
        disposition: Disposition,
        now: Timestamp,
    ) -> Result<bool, Fault> {
        let (sql, instant, state) = match disposition {
            Disposition::Delivered => (FINISH, now, Some(OutboxState::Delivered)),
            Disposition::RetryAt(due) => (RETRY, due, None),
            Disposition::DeadLetter => (FINISH, now, Some(OutboxState::DeadLetter)),
        };
        let state = state.map(OutboxState::as_str);
        let parameters: [Typed<'_>; 7] = [
            (&number(id), Type::INT8),
            (&owner.as_bytes().as_slice(), Type::BYTEA),
            (&delivery.started_at.unix_millis(), Type::INT8),
            (&i64::try_from(delivery.duration.as_millis()).unwrap_or(i64::MAX), Type::INT8),
            (&delivery.status.map(i32::from), Type::INT4),
            (&delivery.note.map(DeliveryNote::as_str), Type::TEXT),
            (&instant.unix_millis(), Type::INT8),
        ];
        let state = state.as_ref().map(|state| -> Typed<'_> { (state, Type::TEXT) });
        let parameters: Vec<_> = parameters.into_iter().chain(state).collect();
        Ok(self.execute(sql, &parameters).await? == 1)
    }
}

pub(super) async fn enqueue(session: Session<'_>, message: &Outgoing, now: Timestamp) -> Result<Enqueued, Fault> {
    let (endpoint, message_id) = (message.endpoint.as_str(), message.message_id.to_string());
    let parameters: [Typed<'_>; 7] = [
        (&endpoint, Type::TEXT),
        (&message.kind.as_str(), Type::TEXT),
        (&message_id, Type::TEXT),
        (&message.fingerprint.as_bytes().as_slice(), Type::BYTEA),
        (&&*message.attributes, Type::BYTEA),
        (&now.unix_millis(), Type::INT8),
        (&&*message.body, Type::BYTEA),
    ];
    if let Some(row) = session.query(INSERT, &parameters).await?.first() {
        return Ok(Enqueued::New(entry_id(get(row, "entry")?)?));
    }
    // A statement of its own sees what another worker has committed in the meantime.
    let parameters: [Typed<'_>; 2] = [(&endpoint, Type::TEXT), (&message_id, Type::TEXT)];
    let there = session.query(THERE, &parameters).await?;
    let row = there.first().ok_or_else(|| Fault::Lost("the message was stored before and has been forgotten"))?;
    let there = entry(row)?;
    if there.message.has_same_content(message) {
        Ok(Enqueued::Already(there.id))
    } else {
        Err(Fault::Store(StoreErrorKind::Conflict.into()))
    }
}

fn entry(row: &Row) -> Result<OutboxEntry, Fault> {
    Ok(OutboxEntry {
        id: entry_id(get(row, "id")?)?,
        message: Outgoing {
            endpoint: endpoint(row)?,
            kind: kind(row)?,
            message_id: named(row, "message_id", |text| HyphenatedUuid::parse(text).ok())?,
            fingerprint: fingerprint(row)?,
            attributes: bytes(row, "attributes")?,
            body: bytes(row, "body")?,
        },
        state: named(row, "state", OutboxState::from_name)?,
        enqueued_at: instant(get(row, "enqueued")?)?,
        due: instant(get(row, "due")?)?,
        deliveries: unsigned::<i32, _>(row, "deliveries")?,
        circuit: None,
    })
}

fn endpoint(row: &Row) -> Result<EndpointId, Fault> {
    EndpointId::try_from(get::<String>(row, "endpoint")?).map_err(Fault::corrupt)
}

fn delivery(row: &Row) -> Result<DeliveryRecord, Fault> {
    let unknown = |name| Fault::corrupt(format!("expected a known delivery note, found {name:?}"));
    let note = get::<Option<&str>>(row, "note")?;
    Ok(DeliveryRecord {
        started_at: instant(get(row, "started")?)?,
        duration: Duration::from_millis(unsigned::<i64, _>(row, "duration")?),
        status: get::<Option<i32>>(row, "status")?.map(u16::try_from).transpose().map_err(Fault::corrupt)?,
        note: note.map(|name| DeliveryNote::from_name(name).ok_or_else(|| unknown(name))).transpose()?,
    })
}
