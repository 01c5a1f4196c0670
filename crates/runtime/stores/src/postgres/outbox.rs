//! The outbox: messages to deliver.
//!
//! A statement that makes a message free to lease writes the number of its transaction into the
//! column `freed`. The next lease finds the message by that number.
//!
//! The snapshot `seen` of the last lease cannot contain a transaction that still writes. If its
//! numbers seem to contain it, they are those of another cluster, as after a restore of a dump. In
//! that case the statement writes the greatest number, 9223372036854775807, and every lease reads
//! the message.

use super::inbox::owner_bytes;
use super::session::Session;
use super::values::{params, storable, typed};
use super::{Fault, PostgresStore};
use crate::columns::{Columns as _, entry_number};
use bankrail_mailbox::{
    Circuit, DeliveryNote, DeliveryRecord, Disposition, EndpointId, Enqueued, EntryId,
    Intervention, LeaseOwner, LeaseRequest, Outbox, OutboxEntry, OutboxState, Outgoing,
};
use bankrail_values::{StoreErrorKind, StoreFuture, Timestamp};

mod changed;
mod lease;
mod operator;

pub(super) use changed::Idle;

// Stores a message once, and notifies idle workers after the commit. No worker is idle if the
// statement gets one of two locks (see `changed`). Two enqueues that try for the same lock take each
// other for a worker, unless one of them gets its second lock. Connections that were opened one
// after the other have different first locks, and most others have different second locks.
const INSERT: &str = "WITH message AS (
        INSERT INTO bankrail_outbox (
            endpoint, kind, message_id, fingerprint, attributes, enqueued, body)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (endpoint, message_id) DO NOTHING RETURNING id)
    INSERT INTO bankrail_outbox_queue (entry, endpoint, due, freed)
    SELECT id, $1, $6, (SELECT CASE WHEN txid_visible_in_snapshot(txid_current(), seen)
        THEN 9223372036854775807 ELSE txid_current() END
        FROM bankrail_outbox_cursor ORDER BY number DESC LIMIT 1)
    FROM message
    RETURNING entry, CASE WHEN pg_try_advisory_xact_lock(hashtextextended('bankrail_outbox_idle',
            64 * 'bankrail_outbox_queue'::regclass::oid::bigint + pg_backend_pid() % 64)) THEN FALSE
        WHEN pg_try_advisory_xact_lock(hashtextextended('bankrail_outbox_idle',
            64 * 'bankrail_outbox_queue'::regclass::oid::bigint + pg_backend_pid() / 64 % 64))
            THEN FALSE
        ELSE pg_notify('bankrail_outbox_' || 'bankrail_outbox_queue'::regclass::oid, '') IS NOT NULL
        END AS notified";

// Selects a message with its state, by the unique index of the sender's identification. `OFFSET 0`
// makes the planner look up each row by its number, so that no plan joins whole tables.
const BY_MESSAGE_ID: &str =
    "SELECT message.id, message.endpoint, message.kind, message_id, fingerprint, attributes, body,
        message.enqueued, coalesce(finished.state, 'pending') AS state,
        coalesce(queue.due, finished.due) AS due,
        coalesce(queue.deliveries, finished.deliveries) AS deliveries
    FROM (SELECT * FROM bankrail_outbox WHERE endpoint = $1 AND message_id = $2 OFFSET 0) AS message
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_queue WHERE entry = message.id OFFSET 0) AS queue ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_finished WHERE entry = message.id OFFSET 0) AS finished
        ON TRUE";

const RELEASE: &str = "UPDATE bankrail_outbox_queue
    SET due = $3, owner = NULL, until = NULL, lease = NULL,
        freed = (SELECT CASE WHEN txid_visible_in_snapshot(txid_current(), seen)
            THEN 9223372036854775807 ELSE txid_current() END
            FROM bankrail_outbox_cursor ORDER BY number DESC LIMIT 1)
    WHERE entry = $1 AND owner = $2";

// Releases the leases of these owners. The comparison of `lease` selects the index of leases; there
// is no index of owners.
const RELEASE_ALL: &str = "UPDATE bankrail_outbox_queue
    SET owner = NULL, until = NULL, lease = NULL,
        freed = (SELECT CASE WHEN txid_visible_in_snapshot(txid_current(), seen)
            THEN 9223372036854775807 ELSE txid_current() END
            FROM bankrail_outbox_cursor ORDER BY number DESC LIMIT 1)
    WHERE owner = ANY ($1)
        AND lease >= (SELECT leases_from FROM bankrail_outbox_cursor ORDER BY number DESC LIMIT 1)";

// Corrects the times of messages: finds free ones by a search of each endpoint's last ones, in the
// index of free messages, and leased ones by the index of leases. The inner order prevents that the
// planner joins both by a scan of all free messages. `SKIP LOCKED`: another transaction is changing
// a locked message.
const RECALL: &str = "WITH RECURSIVE first (endpoint) AS (
        (SELECT endpoint FROM bankrail_outbox_queue
        WHERE owner IS NULL ORDER BY endpoint, due, entry LIMIT 1)
        UNION ALL
        SELECT next.endpoint FROM first
        CROSS JOIN LATERAL (SELECT endpoint FROM bankrail_outbox_queue AS queue
            WHERE owner IS NULL AND queue.endpoint > first.endpoint
            ORDER BY queue.endpoint, queue.due, queue.entry LIMIT 1) AS next),
    ahead AS (
        SELECT queue.entry FROM first
        CROSS JOIN LATERAL (SELECT entry FROM bankrail_outbox_queue AS queue
            WHERE owner IS NULL AND queue.endpoint = first.endpoint AND queue.due > $1
            ORDER BY queue.due) AS queue
        UNION ALL
        SELECT entry FROM bankrail_outbox_queue
        WHERE lease >= (SELECT leases_from FROM bankrail_outbox_cursor ORDER BY number DESC LIMIT 1)
            AND greatest(due, until) > $1),
    chosen AS (
        SELECT entry FROM bankrail_outbox_queue WHERE entry = ANY (ARRAY(SELECT entry FROM ahead))
        FOR UPDATE SKIP LOCKED),
    circuits AS (DELETE FROM bankrail_circuit WHERE greatest(open_until, rests_until) > $1)
    UPDATE bankrail_outbox_queue
    SET due = CASE WHEN due > $1 THEN $2 ELSE due END,
        owner = CASE WHEN until <= $1 THEN owner END, until = CASE WHEN until <= $1 THEN until END,
        lease = CASE WHEN until <= $1 THEN lease END,
        freed = CASE WHEN until <= $1 THEN NULL
            ELSE (SELECT CASE WHEN txid_visible_in_snapshot(txid_current(), seen)
                THEN 9223372036854775807 ELSE txid_current() END
                FROM bankrail_outbox_cursor ORDER BY number DESC LIMIT 1) END
    WHERE entry = ANY (ARRAY(SELECT entry FROM chosen))";

// Adds a delivery to a message that becomes due again, and closes the circuit of an endpoint as
// `Circuit::closed` does, in one statement and so in one round trip.
const RETRY: &str = "WITH closed AS (
        DELETE FROM bankrail_circuit
        WHERE endpoint = $8 AND (rests_until IS NULL OR rests_until <= $7)),
    resting AS (
        UPDATE bankrail_circuit SET openings = 0, open_until = NULL
        WHERE endpoint = $8 AND rests_until > $7),
    entry AS (
        UPDATE bankrail_outbox_queue
        SET due = $9, deliveries = deliveries + 1, owner = NULL, until = NULL, lease = NULL,
            freed = (SELECT CASE WHEN txid_visible_in_snapshot(txid_current(), seen)
                THEN 9223372036854775807 ELSE txid_current() END
                FROM bankrail_outbox_cursor ORDER BY number DESC LIMIT 1)
        WHERE entry = $1 AND owner = $2 RETURNING entry)
    INSERT INTO bankrail_delivery (entry, number, started, duration, status, note)
    SELECT entry,
        1 + (SELECT coalesce(max(number), 0) FROM bankrail_delivery WHERE entry = $1),
        $3, $4, $5, $6
    FROM entry";

// Adds the last delivery to a message, and closes the circuit as `RETRY` does.
const FINISH: &str = "WITH closed AS (
        DELETE FROM bankrail_circuit
        WHERE endpoint = $8 AND (rests_until IS NULL OR rests_until <= $7)),
    resting AS (
        UPDATE bankrail_circuit SET openings = 0, open_until = NULL
        WHERE endpoint = $8 AND rests_until > $7),
    entry AS (
        DELETE FROM bankrail_outbox_queue WHERE entry = $1 AND owner = $2
        RETURNING entry, endpoint, due, deliveries),
    finished AS (
        INSERT INTO bankrail_outbox_finished (entry, endpoint, state, due, deliveries, finished)
        SELECT entry, endpoint, $9, due, deliveries + 1, $7 FROM entry)
    INSERT INTO bankrail_delivery (entry, number, started, duration, status, note)
    SELECT entry,
        1 + (SELECT coalesce(max(number), 0) FROM bankrail_delivery WHERE entry = $1),
        $3, $4, $5, $6
    FROM entry";

const STOP: &str =
    "INSERT INTO bankrail_stopped (endpoint, since, stopped_by, reason) VALUES ($1, $2, $3, $4)
    ON CONFLICT (endpoint) DO NOTHING";

// Deletes some finished messages from a position on, in the order of the index of messages that are
// no dead letters, and returns their number and the position of the last. As in the inbox, each
// statement is short and does not read just deleted rows.
const FORGET: &str = "WITH piece AS (
        SELECT entry, finished FROM bankrail_outbox_finished
        WHERE state <> 'dead_letter' AND finished < $1 AND (finished, entry) > ($2, $3)
        ORDER BY finished, entry LIMIT 500 FOR UPDATE SKIP LOCKED),
    gone AS (DELETE FROM bankrail_outbox WHERE id = ANY (ARRAY(SELECT entry FROM piece)))
    SELECT finished, entry, count(*) OVER () AS forgotten FROM piece
    ORDER BY finished DESC, entry DESC LIMIT 1";

// Joins a circuit with the stored one as `Circuit::joined` does, in one statement, because several
// workers may open the circuit of an endpoint at the same time.
const HOLD_CIRCUIT: &str = "INSERT INTO bankrail_circuit AS kept
        (endpoint, openings, open_until, rests_until)
    VALUES ($1, $2, $3, $4)
    ON CONFLICT (endpoint) DO UPDATE SET openings = greatest(kept.openings, excluded.openings),
    open_until = CASE WHEN excluded.openings > kept.openings THEN excluded.open_until
        ELSE kept.open_until END,
    rests_until = greatest(kept.rests_until, excluded.rests_until)";

// Selects all circuits. Healthy endpoints have no row, so there are few.
const CIRCUITS: &str =
    "SELECT endpoint, openings, open_until, rests_until FROM bankrail_circuit ORDER BY endpoint";

/// The outbox of a [`PostgresStore`].
#[derive(Clone, Debug)]
pub struct PostgresOutbox {
    pub(super) store: PostgresStore,
}

impl Outbox for PostgresOutbox {
    fn enqueue<'a>(&'a self, message: &'a Outgoing, now: Timestamp) -> StoreFuture<'a, Enqueued> {
        Box::pin(
            self.store
                .with_session(async move |session| enqueue(session, message, now).await),
        )
    }

    fn lease<'a>(
        &'a self,
        request: LeaseRequest<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<OutboxEntry>> {
        Box::pin(
            self.store
                .with_transaction(async move |session| lease::lease(session, request, now).await),
        )
    }

    fn record<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        delivery: &'a DeliveryRecord,
        disposition: Disposition,
        answered: Option<&'a EndpointId>,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let (sql, due, state) = match disposition {
            Disposition::Delivered => (FINISH, None, Some(OutboxState::Delivered)),
            Disposition::RetryAt(due) => (RETRY, Some(due), None),
            Disposition::DeadLetter => (FINISH, None, Some(OutboxState::DeadLetter)),
        };
        Box::pin(self.store.with_session(async move |session| {
            let id = entry_number(id);
            let owner = owner.as_bytes().as_slice();
            let started = delivery.started_at.unix_millis();
            let duration = i64::try_from(delivery.duration.as_millis()).unwrap_or(i64::MAX);
            let status = delivery.status.map(i32::from);
            let note = delivery.note.map(DeliveryNote::as_str);
            let now = now.unix_millis();
            let answered = answered.map(EndpointId::as_str);
            let due = due.map(Timestamp::unix_millis);
            let state = state.map(OutboxState::as_str);
            let mut values =
                params![id, owner, started, duration, status, note, now, answered].to_vec();
            values.extend(due.as_ref().map(typed));
            values.extend(state.as_ref().map(typed));
            session.changes(sql, &values).await
        }))
    }

    fn release(&self, id: EntryId, owner: LeaseOwner, due: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(self.store.with_session(async move |session| {
            let owner = owner.as_bytes().as_slice();
            session
                .changes(RELEASE, params![entry_number(id), owner, due.unix_millis()])
                .await
        }))
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

    fn next_due(&self) -> StoreFuture<'_, Option<Timestamp>> {
        Box::pin(self.store.with_session(lease::next_due))
    }

    fn hold_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        Circuit {
            openings,
            open_until,
            rests_until,
        }: Circuit,
    ) -> StoreFuture<'a, ()> {
        let [open_until, rests_until] =
            [open_until, rests_until].map(|until| until.map(Timestamp::unix_millis));
        Box::pin(self.store.with_session(async move |session| {
            let endpoint = endpoint.as_str();
            let openings = i64::from(openings);
            let values = params![endpoint, openings, open_until, rests_until];
            session.execute(HOLD_CIRCUIT, values).await.map(drop)
        }))
    }

    fn retry_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        now: Timestamp,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            operator::make_due(&self.store, endpoint, now, operator::END_OPENING)
                .await
                .map(drop)
        })
    }

    fn stop_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        intervention: &'a Intervention,
        now: Timestamp,
    ) -> StoreFuture<'a, ()> {
        Box::pin(self.store.with_session(async move |session| {
            let endpoint = endpoint.as_str();
            let since = now.unix_millis();
            let by = storable(intervention.by.as_str());
            let reason = storable(intervention.reason.as_str());
            let values = params![endpoint, since, by, reason];
            session.execute(STOP, values).await.map(drop)
        }))
    }

    fn changed(&self) -> StoreFuture<'_, ()> {
        Box::pin(changed::changed(&self.store))
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.store.forget_in_pieces(FORGET, before))
    }
}

pub(super) async fn enqueue(
    session: Session<'_>,
    message: &Outgoing,
    now: Timestamp,
) -> Result<Enqueued, Fault> {
    let endpoint = message.endpoint.as_str();
    let message_id = message.message_id.to_string();
    let kind = message.kind.as_str();
    let fingerprint = message.fingerprint.as_bytes().as_slice();
    let attributes = &*message.attributes;
    let body = &*message.body;
    let now = now.unix_millis();
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
    // Another statement, whose snapshot includes the commit of the worker that was faster.
    let there: Option<OutboxEntry> = session
        .first(BY_MESSAGE_ID, params![endpoint, message_id])
        .await?;
    let there = there.ok_or(Fault::Lost(
        "the message was stored before and has been forgotten",
    ))?;
    if there.message.has_same_content(message) {
        Ok(Enqueued::AlreadyStored(there.id))
    } else {
        Err(Fault::Store(StoreErrorKind::Conflict.into()))
    }
}
