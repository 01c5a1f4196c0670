//! Operations for operators.

use super::{CIRCUITS, PostgresOutbox};
use crate::columns::{Columns as _, corrupt, entry_number};
use crate::postgres::values::{get, params, storable};
use crate::postgres::{Fault, PostgresStore};
use bankrail_mailbox::{
    DeliveryRecord, DropOutcome, EndpointBacklog, EndpointCircuit, EndpointId, EntryId,
    Intervention, OutboxCounts, OutboxEntry, OutboxOperator, OutboxQuery, OutboxSummary,
    StoppedEndpoint,
};
use bankrail_values::{StoreError, StoreFuture, Timestamp};

mod list;

// Selects a message with its state, by its number, like `BY_MESSAGE_ID`.
const FIND: &str =
    "SELECT message.id, message.endpoint, message.kind, message_id, fingerprint, attributes, body,
        message.enqueued, coalesce(finished.state, 'pending') AS state,
        coalesce(queue.due, finished.due) AS due,
        coalesce(queue.deliveries, finished.deliveries) AS deliveries
    FROM (SELECT * FROM bankrail_outbox WHERE id = $1 OFFSET 0) AS message
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_queue WHERE entry = message.id OFFSET 0) AS queue ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_finished WHERE entry = message.id OFFSET 0) AS finished
        ON TRUE";

// Selects an entry without its payload.
const SUMMARY: &str = "SELECT message.id, message.endpoint, kind, message_id, enqueued,
        coalesce(finished.state, 'pending') AS state,
        coalesce(queue.due, finished.due) AS due,
        coalesce(queue.deliveries, finished.deliveries) AS deliveries,
        queue.until, finished.finished, dropped.dropped_by, dropped.reason
    FROM (SELECT $1::BIGINT AS entry) AS page
    CROSS JOIN LATERAL (
        SELECT * FROM bankrail_outbox WHERE id = page.entry OFFSET 0) AS message
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_queue WHERE entry = page.entry OFFSET 0) AS queue ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_finished WHERE entry = page.entry OFFSET 0) AS finished
        ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_dropped WHERE entry = page.entry OFFSET 0) AS dropped ON TRUE";

const DELIVERIES: &str = "SELECT started, duration, status, note FROM bankrail_delivery
    WHERE entry = $1 ORDER BY number";

const RESEND: &str = "WITH entry AS (
        DELETE FROM bankrail_outbox_finished WHERE entry = $1 AND state <> 'dropped'
        RETURNING entry, endpoint)
    INSERT INTO bankrail_outbox_queue (entry, endpoint, due, freed)
    SELECT entry, endpoint, $2, (SELECT CASE WHEN txid_visible_in_snapshot(txid_current(), seen)
        THEN 9223372036854775807 ELSE txid_current() END
        FROM bankrail_outbox_cursor ORDER BY number DESC LIMIT 1)
    FROM entry";

// Resends some dead letters after an entry, so that each is resent once even if it fails again
// meanwhile. They are in the order of the index of dead letters.
const RESEND_SOME: &str = "WITH piece AS (
        SELECT entry FROM bankrail_outbox_finished
        WHERE state = 'dead_letter' AND endpoint = $1 AND entry > $3
        ORDER BY entry LIMIT 500 FOR UPDATE),
    gone AS (
        DELETE FROM bankrail_outbox_finished WHERE entry = ANY (ARRAY(SELECT entry FROM piece))
        RETURNING entry, endpoint),
    resent AS (
        INSERT INTO bankrail_outbox_queue (entry, endpoint, due, freed)
        SELECT entry, endpoint, $2, (SELECT CASE WHEN txid_visible_in_snapshot(txid_current(), seen)
            THEN 9223372036854775807 ELSE txid_current() END
            FROM bankrail_outbox_cursor ORDER BY number DESC LIMIT 1)
        FROM gone RETURNING entry)
    SELECT count(*) AS resent, max(entry) AS last FROM resent";

const DROP: &str = "WITH queued AS (
        DELETE FROM bankrail_outbox_queue WHERE entry = $1 AND (until IS NULL OR until <= $2)
        RETURNING entry, endpoint, due, deliveries),
    moved AS (
        INSERT INTO bankrail_outbox_finished (entry, endpoint, state, due, deliveries, finished)
        SELECT entry, endpoint, 'dropped', due, deliveries, $2 FROM queued RETURNING entry),
    given_up AS (
        UPDATE bankrail_outbox_finished SET state = 'dropped', finished = $2
        WHERE entry = $1 AND state = 'dead_letter' RETURNING entry)
    INSERT INTO bankrail_dropped (entry, dropped_by, reason)
    SELECT entry, $3, $4
    FROM (SELECT entry FROM moved UNION ALL SELECT entry FROM given_up) AS dropped";

// Selects an entry that [`DROP`] has not dropped because of its lease.
const OPEN: &str = "SELECT until FROM bankrail_outbox_queue WHERE entry = $1
    UNION ALL SELECT NULL FROM bankrail_outbox_finished WHERE entry = $1 AND state = 'dead_letter'";

// Makes the first messages after a position due, in the order of the index of free messages. `SKIP
// LOCKED`: another transaction is dropping a locked message, or is making it due.
const MAKE_SOME_DUE: &str = "WITH piece AS (
        SELECT due, entry FROM bankrail_outbox_queue
        WHERE owner IS NULL AND endpoint = $1 AND (due, entry) > ($3, $4)
        ORDER BY due, entry LIMIT 500 FOR UPDATE SKIP LOCKED),
    now_due AS (
        UPDATE bankrail_outbox_queue
        SET due = $2, freed = (SELECT CASE WHEN txid_visible_in_snapshot(txid_current(), seen)
            THEN 9223372036854775807 ELSE txid_current() END
            FROM bankrail_outbox_cursor ORDER BY number DESC LIMIT 1)
        WHERE entry = ANY (ARRAY(SELECT entry FROM piece)))
    SELECT due, entry FROM piece ORDER BY due DESC, entry DESC LIMIT 1";

const RESUME: &str = "WITH circuit AS (DELETE FROM bankrail_circuit WHERE endpoint = $1)
    DELETE FROM bankrail_stopped WHERE endpoint = $1 RETURNING endpoint";

pub(super) const END_OPENING: &str =
    "UPDATE bankrail_circuit SET open_until = NULL WHERE endpoint = $1";

const STOPPED: &str =
    "SELECT endpoint, since, stopped_by, reason FROM bankrail_stopped ORDER BY endpoint";

const COUNTS: &str = "SELECT
    (SELECT count(*) FROM bankrail_outbox_queue WHERE endpoint = coalesce($1, endpoint)) AS pending,
    (SELECT count(*) FROM bankrail_outbox_finished
        WHERE state = 'delivered' AND endpoint = coalesce($1, endpoint))
        AS delivered,
    (SELECT count(*) FROM bankrail_outbox_finished
        WHERE state = 'dead_letter' AND endpoint = coalesce($1, endpoint))
        AS dead_letters,
    (SELECT count(*) FROM bankrail_dropped AS dropped JOIN bankrail_outbox_finished AS finished
        ON finished.entry = dropped.entry WHERE endpoint = coalesce($1, endpoint)) AS dropped";

const OLDEST: &str = "SELECT enqueued AS at FROM bankrail_outbox WHERE id = (
    SELECT entry FROM bankrail_outbox_queue
    WHERE endpoint NOT IN (SELECT endpoint FROM bankrail_stopped)
    ORDER BY entry LIMIT 1)";

const BACKLOGS: &str =
    "SELECT endpoint, sum(pending)::BIGINT AS pending, sum(dead)::BIGINT AS dead_letters,
    min(due) AS oldest FROM (
        SELECT endpoint, count(*) AS pending, 0 AS dead, min(due) AS due FROM bankrail_outbox_queue
            WHERE endpoint > $1 GROUP BY endpoint
        UNION ALL
        SELECT endpoint, 0, count(*), NULL FROM bankrail_outbox_finished
            WHERE state = 'dead_letter' AND endpoint > $1 GROUP BY endpoint) AS states
    GROUP BY endpoint ORDER BY endpoint LIMIT $2";

impl OutboxOperator for PostgresOutbox {
    fn list<'a>(&'a self, query: &'a OutboxQuery) -> StoreFuture<'a, Vec<OutboxSummary>> {
        Box::pin(
            self.store
                .with_session(async move |session| list::list(session, query).await),
        )
    }

    fn summary(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxSummary>> {
        Box::pin(self.store.with_session(async move |session| {
            session.first(SUMMARY, params![entry_number(id)]).await
        }))
    }

    fn deliveries(&self, id: EntryId) -> StoreFuture<'_, Vec<DeliveryRecord>> {
        Box::pin(self.store.with_session(async move |session| {
            session.all(DELIVERIES, params![entry_number(id)]).await
        }))
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxEntry>> {
        Box::pin(self.store.with_session(async move |session| {
            session.first(FIND, params![entry_number(id)]).await
        }))
    }

    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(self.store.with_session(async move |session| {
            session
                .changes(RESEND, params![entry_number(id), now.unix_millis()])
                .await
        }))
    }

    fn resend_all<'a>(&'a self, endpoint: &'a EndpointId, now: Timestamp) -> StoreFuture<'a, u64> {
        Box::pin(async move {
            let endpoint = endpoint.as_str();
            let now = now.unix_millis();
            let mut after = -1_i64;
            let mut resent = 0;
            loop {
                let piece = self.store.with_session(async |session| {
                    let values = params![endpoint, now, after];
                    let rows = session.query(RESEND_SOME, values).await?;
                    let row = rows.first().ok_or_else(|| Fault::corrupt("no count"))?;
                    Ok((row.number::<u64>("resent")?, row.optional("last")?))
                });
                let (piece, last) = piece.await?;
                let Some(last) = last else { return Ok(resent) };
                after = last;
                resent += piece;
            }
        })
    }

    fn drop_entry<'a>(
        &'a self,
        id: EntryId,
        intervention: &'a Intervention,
        now: Timestamp,
    ) -> StoreFuture<'a, DropOutcome> {
        Box::pin(self.store.with_session(async move |session| {
            let by = storable(intervention.by.as_str());
            let reason = storable(intervention.reason.as_str());
            let id = entry_number(id);
            let instant = now.unix_millis();
            loop {
                let values = params![id, instant, by, reason];
                if session.changes(DROP, values).await? {
                    return Ok(DropOutcome::Dropped);
                }
                let open = session.query(OPEN, params![id]).await?;
                let Some(row) = open.first() else {
                    return Ok(DropOutcome::NotOpen);
                };
                // If the lease has ended since the first statement, the entry is dropped on a
                // retry.
                if let Some(until) = row.optional_instant("until")?.filter(|until| *until > now) {
                    return Ok(DropOutcome::Leased { until });
                }
            }
        }))
    }

    fn resume_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        Box::pin(make_due(&self.store, endpoint, now, RESUME))
    }

    fn stopped_endpoints(&self) -> StoreFuture<'_, Vec<StoppedEndpoint>> {
        Box::pin(
            self.store
                .with_session(async |session| session.all(STOPPED, &[]).await),
        )
    }

    fn circuits(&self) -> StoreFuture<'_, Vec<EndpointCircuit>> {
        Box::pin(
            self.store
                .with_session(async |session| session.all(CIRCUITS, &[]).await),
        )
    }

    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>> {
        Box::pin(
            self.store
                .with_session(async |session| session.first(OLDEST, &[]).await),
        )
    }

    fn counts<'a>(&'a self, endpoint: Option<&'a EndpointId>) -> StoreFuture<'a, OutboxCounts> {
        Box::pin(async move {
            let endpoint = endpoint.map(EndpointId::as_str);
            let counts = self.store.survey(COUNTS, params![endpoint]).await?.pop();
            counts.ok_or_else(|| corrupt("no counts"))
        })
    }

    fn backlogs<'a>(
        &'a self,
        after: Option<&'a EndpointId>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<EndpointBacklog>> {
        Box::pin(async move {
            // No name is empty: all names come after the empty one.
            let after = after.map_or("", EndpointId::as_str);
            let limit = i64::from(limit.min(OutboxQuery::MAX_LIMIT));
            self.store.survey(BACKLOGS, params![after, limit]).await
        })
    }
}

/// Makes the waiting messages of an endpoint due, then runs the statement `then`. Returns true if
/// that changes a row.
pub(super) async fn make_due(
    store: &PostgresStore,
    endpoint: &EndpointId,
    now: Timestamp,
    then: &'static str,
) -> Result<bool, StoreError> {
    let endpoint = endpoint.as_str();
    let now = now.unix_millis();
    let mut last = Some((now, i64::MAX));
    while let Some((due, entry)) = last {
        let piece = store.with_session(async |session| {
            let values = params![endpoint, now, due, entry];
            let rows = session.query(MAKE_SOME_DUE, values).await?;
            rows.first()
                .map(|last| Ok((get(last, "due")?, get(last, "entry")?)))
                .transpose()
        });
        last = piece.await?;
    }
    let then = store.with_session(async |session| session.changes(then, params![endpoint]).await);
    then.await
}
