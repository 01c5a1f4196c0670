//! The outbox: messages to deliver.

use super::choice::{forget, written};
use super::session::{Session, operations};
use super::values::{params, typed};
use super::{Fault, PostgresStore};
use crate::columns::{Columns as _, entry_number};
use bankrail_mailbox::{
    Circuit, DeliveryNote, DeliveryRecord, Disposition, DropOutcome, EndpointBacklog,
    EndpointCircuit, EndpointId, Enqueued, EntryId, Intervention, LeaseOwner, LeaseRequest, Outbox,
    OutboxCounts, OutboxEntry, OutboxOperator, OutboxQuery, OutboxState, OutboxSummary, Outgoing,
    StoppedEndpoint,
};
use bankrail_values::{StoreErrorKind, StoreFuture, Timestamp};

mod changed;
mod circuit;
mod lease;
mod operator;

pub(super) use changed::Idle;

const INSERT: &str = concat!(
    "WITH message AS (
        INSERT INTO bankrail_outbox (endpoint, kind, message_id, fingerprint, attributes, enqueued, body)
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (endpoint, message_id) DO NOTHING RETURNING id)
    INSERT INTO bankrail_outbox_queue (entry, endpoint, due, freed) SELECT id, $1, $6, ",
    written!("bankrail_outbox_cursor"),
    " FROM message RETURNING entry, ",
    changed::notified!()
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

/// By the index of leases.
const RELEASE_ALL: &str = concat!(
    "UPDATE bankrail_outbox_queue SET owner = NULL, until = NULL, lease = NULL, freed = ",
    written!("bankrail_outbox_cursor"),
    " WHERE owner = ANY ($1)
        AND lease >= (SELECT leases_from FROM bankrail_outbox_cursor ORDER BY number DESC LIMIT 1)"
);

/// Adds a delivery to the messages of `entry`, and closes the circuit of an endpoint as
/// `Circuit::closed` does.
macro_rules! with_delivery {
    ($($entry:expr),+) => {
        concat!(
            "WITH closed AS (
                DELETE FROM bankrail_circuit WHERE endpoint = $8 AND (rests_until IS NULL OR rests_until <= $7)),
            resting AS (
                UPDATE bankrail_circuit SET openings = 0, open_until = NULL WHERE endpoint = $8 AND rests_until > $7),
            entry AS (",
            $($entry,)+
            " INSERT INTO bankrail_delivery (entry, number, started, duration, status, note)
            SELECT entry, 1 + (SELECT coalesce(max(number), 0) FROM bankrail_delivery WHERE entry = $1), $3, $4, $5, $6
            FROM entry"
        )
    };
}

const RETRY: &str = with_delivery!(
    "UPDATE bankrail_outbox_queue SET due = $9, deliveries = deliveries + 1, owner = NULL, until = NULL, lease = NULL,
        freed = ",
    written!("bankrail_outbox_cursor"),
    " WHERE entry = $1 AND owner = $2 RETURNING entry)"
);

const FINISH: &str = with_delivery!(
    "DELETE FROM bankrail_outbox_queue WHERE entry = $1 AND owner = $2 RETURNING entry, endpoint, due, deliveries),
    finished AS (
        INSERT INTO bankrail_outbox_finished (entry, endpoint, state, due, deliveries, finished)
        SELECT entry, endpoint, $9, due, deliveries + 1, $7 FROM entry)"
);

const DELIVERIES: &str = "SELECT started, duration, status, note FROM bankrail_delivery WHERE entry = $1 ORDER BY number";

const RESEND: &str = concat!(
    "WITH entry AS (
        DELETE FROM bankrail_outbox_finished WHERE entry = $1 AND state = 'dead_letter' RETURNING entry, endpoint)
    INSERT INTO bankrail_outbox_queue (entry, endpoint, due, freed) SELECT entry, endpoint, $2, ",
    written!("bankrail_outbox_cursor"),
    " FROM entry"
);

const FORGET: &str = forget!("bankrail_outbox", "state <> 'dead_letter'");

const OLDEST: &str = "SELECT enqueued AS at FROM bankrail_outbox WHERE id = (
    SELECT entry FROM bankrail_outbox_queue WHERE endpoint NOT IN (SELECT endpoint FROM bankrail_stopped)
    ORDER BY entry LIMIT 1)";

/// The outbox of a [`PostgresStore`].
#[derive(Clone, Debug)]
pub struct PostgresOutbox {
    pub(super) store: PostgresStore,
}

impl Outbox for PostgresOutbox {
    operations! {
        self => self.store;
        each enqueue(message: &'a Outgoing, now: Timestamp) -> Enqueued = s => enqueue(s, message, now);
        own lease(request: LeaseRequest<'a>, now: Timestamp) -> Vec<OutboxEntry> = s => lease::lease(s, request, now);
        each record(
            id: EntryId,
            owner: LeaseOwner,
            delivery: &'a DeliveryRecord,
            disposition: Disposition,
            answered: Option<&'a EndpointId>,
            now: Timestamp
        ) -> bool = s => record(s, id, owner, delivery, disposition, answered, now);
        each release(id: EntryId, owner: LeaseOwner, due: Timestamp) -> bool =
            s => s.changes(RELEASE, params![entry_number(id), owner.as_bytes().as_slice(), due.unix_millis()]);
        each release_all(owners: &'a [LeaseOwner]) -> u64 = s => {
            let owners: Vec<&[u8]> = owners.iter().map(|owner| owner.as_bytes().as_slice()).collect();
            async move { s.execute(RELEASE_ALL, params![owners]).await }
        };
        each next_due() -> Option<Timestamp> = s => lease::next_due(s);
        each hold_endpoint(endpoint: &'a EndpointId, circuit: Circuit) -> () = s => circuit::hold(s, endpoint, circuit);
        each stop_endpoint(endpoint: &'a EndpointId, intervention: &'a Intervention, now: Timestamp) -> () =
            s => operator::stop(s, endpoint, intervention, now);
    }

    fn changed(&self) -> StoreFuture<'_, ()> {
        Box::pin(changed::changed(&self.store))
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.store.forget_in_pieces(FORGET, before))
    }
}

impl OutboxOperator for PostgresOutbox {
    operations! {
        self => self.store;
        each summary(id: EntryId) -> Option<OutboxSummary> = s => s.first(operator::FIND, params![entry_number(id)]);
        each deliveries(id: EntryId) -> Vec<DeliveryRecord> = s => s.all(DELIVERIES, params![entry_number(id)]);
        each find(id: EntryId) -> Option<OutboxEntry> = s => s.first(FIND, params![entry_number(id)]);
        each resend(id: EntryId, now: Timestamp) -> bool =
            s => s.changes(RESEND, params![entry_number(id), now.unix_millis()]);
        each drop_entry(id: EntryId, intervention: &'a Intervention, now: Timestamp) -> DropOutcome =
            s => operator::drop_entry(s, id, intervention, now);
        each stopped_endpoints() -> Vec<StoppedEndpoint> = s => s.all(operator::STOPPED, &[]);
        each circuits() -> Vec<EndpointCircuit> = s => s.all(circuit::ALL, &[]);
        each oldest_pending() -> Option<Timestamp> = s => s.first(OLDEST, &[]);
    }

    fn list<'a>(&'a self, query: &'a OutboxQuery) -> StoreFuture<'a, Vec<OutboxSummary>> {
        Box::pin(self.store.timed(operator::list(&self.store, query)))
    }

    fn resend_all<'a>(&'a self, endpoint: &'a EndpointId, now: Timestamp) -> StoreFuture<'a, u64> {
        Box::pin(operator::resend_all(&self.store, endpoint, now))
    }

    fn resume_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        Box::pin(operator::resume(&self.store, endpoint, now))
    }

    fn counts<'a>(&'a self, endpoint: Option<&'a EndpointId>) -> StoreFuture<'a, OutboxCounts> {
        Box::pin(self.store.timed(operator::counts(&self.store, endpoint)))
    }

    fn backlogs<'a>(
        &'a self,
        after: Option<&'a EndpointId>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<EndpointBacklog>> {
        Box::pin(
            self.store
                .timed(operator::backlogs(&self.store, after, limit)),
        )
    }
}

async fn record(
    session: Session<'_>,
    id: EntryId,
    owner: LeaseOwner,
    delivery: &DeliveryRecord,
    disposition: Disposition,
    answered: Option<&EndpointId>,
    now: Timestamp,
) -> Result<bool, Fault> {
    let (sql, due, state) = match disposition {
        Disposition::Delivered => (FINISH, None, Some(OutboxState::Delivered)),
        Disposition::RetryAt(due) => (RETRY, Some(due), None),
        Disposition::DeadLetter => (FINISH, None, Some(OutboxState::DeadLetter)),
    };
    let (id, owner, started) = (
        entry_number(id),
        owner.as_bytes().as_slice(),
        delivery.started_at.unix_millis(),
    );
    let duration = i64::try_from(delivery.duration.as_millis()).unwrap_or(i64::MAX);
    let (status, note) = (
        delivery.status.map(i32::from),
        delivery.note.map(DeliveryNote::as_str),
    );
    let (now, answered) = (now.unix_millis(), answered.map(EndpointId::as_str));
    let (due, state) = (
        due.map(Timestamp::unix_millis),
        state.map(OutboxState::as_str),
    );
    let mut values = params![id, owner, started, duration, status, note, now, answered].to_vec();
    values.extend(due.as_ref().map(typed));
    values.extend(state.as_ref().map(typed));
    session.changes(sql, &values).await
}

pub(super) async fn enqueue(
    session: Session<'_>,
    message: &Outgoing,
    now: Timestamp,
) -> Result<Enqueued, Fault> {
    let (endpoint, message_id) = (message.endpoint.as_str(), message.message_id.to_string());
    let (kind, fingerprint) = (
        message.kind.as_str(),
        message.fingerprint.as_bytes().as_slice(),
    );
    let (attributes, body, now) = (&*message.attributes, &*message.body, now.unix_millis());
    let values = params![
        endpoint,
        kind,
        message_id,
        fingerprint,
        attributes,
        now,
        body
    ];
    if let Some(row) = session.query(INSERT, values).await?.first() {
        return Ok(row
            .number("entry")
            .map(|id| Enqueued::New(EntryId::new(id)))?);
    }
    // A statement of its own sees what another worker has committed in the meantime.
    let there: Option<OutboxEntry> = session.first(THERE, params![endpoint, message_id]).await?;
    let there = there.ok_or(Fault::Lost(
        "the message was stored before and has been forgotten",
    ))?;
    if there.message.has_same_content(message) {
        Ok(Enqueued::AlreadyStored(there.id))
    } else {
        Err(Fault::Store(StoreErrorKind::Conflict.into()))
    }
}
