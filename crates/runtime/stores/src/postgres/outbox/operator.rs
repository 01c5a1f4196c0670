//! Operations for operators.

use crate::columns::{Columns as _, entry_number};
use crate::postgres::session::Session;
use crate::postgres::values::{get, params, storable};
use crate::postgres::{Fault, PostgresStore};
use bankrail_mailbox::{
    DropOutcome, EndpointBacklog, EndpointId, EntryId, Intervention, Kind, OutboxCounts,
    OutboxQuery, OutboxState, OutboxSummary,
};
use bankrail_values::{StoreError, Timestamp};

// A summary is an entry without its payload.
//
// In each query the subquery `page` finds the numbers of entries in an order that an index has.
// `OFFSET 0` keeps that order, and makes the planner look up each entry by its number. So a page
// reads only the rows that it returns or passes over.
//
// `$1` is the number before the page, `$2` the maximum number of entries, `$3` a kind or NULL, `$4`
// an instant or NULL, and `$5` the endpoint.

pub(super) const FIND: &str = "SELECT message.id, message.endpoint, kind, message_id, enqueued,
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

const LIST: &str = "SELECT message.id, message.endpoint, kind, message_id, enqueued,
        coalesce(finished.state, 'pending') AS state,
        coalesce(queue.due, finished.due) AS due,
        coalesce(queue.deliveries, finished.deliveries) AS deliveries,
        queue.until, finished.finished, dropped.dropped_by, dropped.reason
    FROM (
        SELECT id AS entry FROM bankrail_outbox WHERE id > $1
        ORDER BY entry OFFSET 0) AS page
    CROSS JOIN LATERAL (
        SELECT * FROM bankrail_outbox WHERE id = page.entry OFFSET 0) AS message
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_queue WHERE entry = page.entry OFFSET 0) AS queue ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_finished WHERE entry = page.entry OFFSET 0) AS finished
        ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_dropped WHERE entry = page.entry OFFSET 0) AS dropped ON TRUE
    WHERE ($3 IS NULL OR kind = $3) AND ($4 IS NULL OR enqueued < $4)
    ORDER BY page.entry LIMIT $2";

// The order begins with the endpoint, here and in the other lists of an endpoint. Without it the
// planner would use an index of all entries wherever it expects many of this endpoint.
const LIST_OF_ENDPOINT: &str = "SELECT message.id, message.endpoint, kind, message_id, enqueued,
        coalesce(finished.state, 'pending') AS state,
        coalesce(queue.due, finished.due) AS due,
        coalesce(queue.deliveries, finished.deliveries) AS deliveries,
        queue.until, finished.finished, dropped.dropped_by, dropped.reason
    FROM (
        SELECT endpoint || '' AS endpoint, id AS entry FROM bankrail_outbox
        WHERE (endpoint || '', id) > ($5, $1) AND endpoint || '' <= $5
        ORDER BY endpoint, entry OFFSET 0) AS page
    CROSS JOIN LATERAL (
        SELECT * FROM bankrail_outbox WHERE id = page.entry OFFSET 0) AS message
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_queue WHERE entry = page.entry OFFSET 0) AS queue ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_finished WHERE entry = page.entry OFFSET 0) AS finished
        ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_dropped WHERE entry = page.entry OFFSET 0) AS dropped ON TRUE
    WHERE ($3 IS NULL OR kind = $3) AND ($4 IS NULL OR enqueued < $4)
    ORDER BY page.endpoint, page.entry LIMIT $2";

const LIST_PENDING: &str = "SELECT message.id, message.endpoint, kind, message_id, enqueued,
        coalesce(finished.state, 'pending') AS state,
        coalesce(queue.due, finished.due) AS due,
        coalesce(queue.deliveries, finished.deliveries) AS deliveries,
        queue.until, finished.finished, dropped.dropped_by, dropped.reason
    FROM (
        SELECT entry FROM bankrail_outbox_queue WHERE entry > $1
        ORDER BY entry OFFSET 0) AS page
    CROSS JOIN LATERAL (
        SELECT * FROM bankrail_outbox WHERE id = page.entry OFFSET 0) AS message
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_queue WHERE entry = page.entry OFFSET 0) AS queue ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_finished WHERE entry = page.entry OFFSET 0) AS finished
        ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_dropped WHERE entry = page.entry OFFSET 0) AS dropped ON TRUE
    WHERE ($3 IS NULL OR kind = $3) AND ($4 IS NULL OR enqueued < $4)
    ORDER BY page.entry LIMIT $2";

// In the order of all pending messages: an index of those of each endpoint in this order would have
// to be written with each enqueue and lease.
const LIST_PENDING_OF_ENDPOINT: &str =
    "SELECT message.id, message.endpoint, kind, message_id, enqueued,
        coalesce(finished.state, 'pending') AS state,
        coalesce(queue.due, finished.due) AS due,
        coalesce(queue.deliveries, finished.deliveries) AS deliveries,
        queue.until, finished.finished, dropped.dropped_by, dropped.reason
    FROM (
        SELECT entry FROM bankrail_outbox_queue WHERE endpoint = $5 AND entry > $1
        ORDER BY entry OFFSET 0) AS page
    CROSS JOIN LATERAL (
        SELECT * FROM bankrail_outbox WHERE id = page.entry OFFSET 0) AS message
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_queue WHERE entry = page.entry OFFSET 0) AS queue ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_finished WHERE entry = page.entry OFFSET 0) AS finished
        ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_dropped WHERE entry = page.entry OFFSET 0) AS dropped ON TRUE
    WHERE ($3 IS NULL OR kind = $3) AND ($4 IS NULL OR enqueued < $4)
    ORDER BY page.entry LIMIT $2";

// In the order of all finished messages, nearly all of which are delivered.
const LIST_DELIVERED: &str = "SELECT message.id, message.endpoint, kind, message_id, enqueued,
        coalesce(finished.state, 'pending') AS state,
        coalesce(queue.due, finished.due) AS due,
        coalesce(queue.deliveries, finished.deliveries) AS deliveries,
        queue.until, finished.finished, dropped.dropped_by, dropped.reason
    FROM (
        SELECT entry FROM (
            SELECT entry, state FROM bankrail_outbox_finished
            WHERE entry > $1 ORDER BY entry OFFSET 0) AS finished
        WHERE state = 'delivered'
        ORDER BY entry OFFSET 0) AS page
    CROSS JOIN LATERAL (
        SELECT * FROM bankrail_outbox WHERE id = page.entry OFFSET 0) AS message
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_queue WHERE entry = page.entry OFFSET 0) AS queue ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_finished WHERE entry = page.entry OFFSET 0) AS finished
        ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_dropped WHERE entry = page.entry OFFSET 0) AS dropped ON TRUE
    WHERE ($3 IS NULL OR kind = $3) AND ($4 IS NULL OR enqueued < $4)
    ORDER BY page.entry LIMIT $2";

// In the order of all messages of the endpoint: an index of the delivered ones would have to be
// written with each delivery.
const LIST_DELIVERED_OF_ENDPOINT: &str =
    "SELECT message.id, message.endpoint, kind, message_id, enqueued,
        coalesce(finished.state, 'pending') AS state,
        coalesce(queue.due, finished.due) AS due,
        coalesce(queue.deliveries, finished.deliveries) AS deliveries,
        queue.until, finished.finished, dropped.dropped_by, dropped.reason
    FROM (
        SELECT endpoint, entry FROM (
            SELECT endpoint || '' AS endpoint, id AS entry FROM bankrail_outbox
            WHERE (endpoint || '', id) > ($5, $1) AND endpoint || '' <= $5
            ORDER BY endpoint, entry OFFSET 0) AS message
        CROSS JOIN LATERAL (
            SELECT state FROM bankrail_outbox_finished AS finished
            WHERE finished.entry = message.entry OFFSET 0) AS finished
        WHERE state = 'delivered'
        ORDER BY endpoint, entry OFFSET 0) AS page
    CROSS JOIN LATERAL (
        SELECT * FROM bankrail_outbox WHERE id = page.entry OFFSET 0) AS message
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_queue WHERE entry = page.entry OFFSET 0) AS queue ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_finished WHERE entry = page.entry OFFSET 0) AS finished
        ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_dropped WHERE entry = page.entry OFFSET 0) AS dropped ON TRUE
    WHERE ($3 IS NULL OR kind = $3) AND ($4 IS NULL OR enqueued < $4)
    ORDER BY page.endpoint, page.entry LIMIT $2";

const LIST_DEAD_LETTERS: &str = "SELECT message.id, message.endpoint, kind, message_id, enqueued,
        coalesce(finished.state, 'pending') AS state,
        coalesce(queue.due, finished.due) AS due,
        coalesce(queue.deliveries, finished.deliveries) AS deliveries,
        queue.until, finished.finished, dropped.dropped_by, dropped.reason
    FROM (
        SELECT entry FROM bankrail_outbox_finished WHERE state = 'dead_letter' AND entry > $1
        ORDER BY entry OFFSET 0) AS page
    CROSS JOIN LATERAL (
        SELECT * FROM bankrail_outbox WHERE id = page.entry OFFSET 0) AS message
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_queue WHERE entry = page.entry OFFSET 0) AS queue ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_finished WHERE entry = page.entry OFFSET 0) AS finished
        ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_dropped WHERE entry = page.entry OFFSET 0) AS dropped ON TRUE
    WHERE ($3 IS NULL OR kind = $3) AND ($4 IS NULL OR enqueued < $4)
    ORDER BY page.entry LIMIT $2";

const LIST_DEAD_LETTERS_OF_ENDPOINT: &str =
    "SELECT message.id, message.endpoint, kind, message_id, enqueued,
        coalesce(finished.state, 'pending') AS state,
        coalesce(queue.due, finished.due) AS due,
        coalesce(queue.deliveries, finished.deliveries) AS deliveries,
        queue.until, finished.finished, dropped.dropped_by, dropped.reason
    FROM (
        SELECT endpoint, entry FROM bankrail_outbox_finished
        WHERE state = 'dead_letter' AND (endpoint, entry) > ($5, $1) AND endpoint <= $5
        ORDER BY endpoint, entry OFFSET 0) AS page
    CROSS JOIN LATERAL (
        SELECT * FROM bankrail_outbox WHERE id = page.entry OFFSET 0) AS message
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_queue WHERE entry = page.entry OFFSET 0) AS queue ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_finished WHERE entry = page.entry OFFSET 0) AS finished
        ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_dropped WHERE entry = page.entry OFFSET 0) AS dropped ON TRUE
    WHERE ($3 IS NULL OR kind = $3) AND ($4 IS NULL OR enqueued < $4)
    ORDER BY page.endpoint, page.entry LIMIT $2";

// In the order of all dropped messages, of which there are few: operators drop them one by one.
const LIST_DROPPED: &str = "SELECT message.id, message.endpoint, kind, message_id, enqueued,
        coalesce(finished.state, 'pending') AS state,
        coalesce(queue.due, finished.due) AS due,
        coalesce(queue.deliveries, finished.deliveries) AS deliveries,
        queue.until, finished.finished, dropped.dropped_by, dropped.reason
    FROM (
        SELECT entry FROM bankrail_dropped CROSS JOIN LATERAL (
            SELECT endpoint FROM bankrail_outbox_finished AS finished
            WHERE finished.entry = bankrail_dropped.entry OFFSET 0) AS finished
        WHERE ($5 IS NULL OR endpoint = $5) AND entry > $1
        ORDER BY entry OFFSET 0) AS page
    CROSS JOIN LATERAL (
        SELECT * FROM bankrail_outbox WHERE id = page.entry OFFSET 0) AS message
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_queue WHERE entry = page.entry OFFSET 0) AS queue ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_outbox_finished WHERE entry = page.entry OFFSET 0) AS finished
        ON TRUE
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_dropped WHERE entry = page.entry OFFSET 0) AS dropped ON TRUE
    WHERE ($3 IS NULL OR kind = $3) AND ($4 IS NULL OR enqueued < $4)
    ORDER BY page.entry LIMIT $2";

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

// An entry that [`DROP`] has not dropped because of its lease.
const OPEN: &str = "SELECT until FROM bankrail_outbox_queue WHERE entry = $1
    UNION ALL SELECT NULL FROM bankrail_outbox_finished WHERE entry = $1 AND state = 'dead_letter'";

const STOP: &str =
    "INSERT INTO bankrail_stopped (endpoint, since, stopped_by, reason) VALUES ($1, $2, $3, $4)
    ON CONFLICT (endpoint) DO NOTHING";

// Makes the first messages after a position due, in the order of the index of free messages.
// `SKIP LOCKED`: a locked message is being dropped, or made due by another transaction.
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

pub(super) const STOPPED: &str =
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

const BACKLOGS: &str =
    "SELECT endpoint, sum(pending)::BIGINT AS pending, sum(dead)::BIGINT AS dead_letters,
    min(due) AS oldest FROM (
        SELECT endpoint, count(*) AS pending, 0 AS dead, min(due) AS due FROM bankrail_outbox_queue
            WHERE endpoint > $1 GROUP BY endpoint
        UNION ALL
        SELECT endpoint, 0, count(*), NULL FROM bankrail_outbox_finished
            WHERE state = 'dead_letter' AND endpoint > $1 GROUP BY endpoint) AS states
    GROUP BY endpoint ORDER BY endpoint LIMIT $2";

pub(super) async fn list(
    store: &PostgresStore,
    query: &OutboxQuery,
) -> Result<Vec<OutboxSummary>, Fault> {
    let sql = match (query.state, &query.endpoint) {
        (None, None) => LIST,
        (None, Some(_)) => LIST_OF_ENDPOINT,
        (Some(OutboxState::Pending), None) => LIST_PENDING,
        (Some(OutboxState::Pending), Some(_)) => LIST_PENDING_OF_ENDPOINT,
        (Some(OutboxState::Delivered), None) => LIST_DELIVERED,
        (Some(OutboxState::Delivered), Some(_)) => LIST_DELIVERED_OF_ENDPOINT,
        (Some(OutboxState::DeadLetter), None) => LIST_DEAD_LETTERS,
        (Some(OutboxState::DeadLetter), Some(_)) => LIST_DEAD_LETTERS_OF_ENDPOINT,
        (Some(OutboxState::Dropped), _) => LIST_DROPPED,
    };
    let endpoint = query.endpoint.as_ref().map(EndpointId::as_str);
    let kind = query.kind.as_ref().map(Kind::as_str);
    let before = query.enqueued_before.map(Timestamp::unix_millis);
    store
        .readable_page(
            sql,
            query.after,
            query.page(),
            params![kind, before, endpoint],
        )
        .await
}

pub(super) async fn resend_all(
    store: &PostgresStore,
    endpoint: &EndpointId,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let mut after = -1_i64;
    let mut resent = 0;
    loop {
        let endpoint = endpoint.as_str();
        let now = now.unix_millis();
        let piece = store.timed(async {
            let rows = store
                .query(RESEND_SOME, params![endpoint, now, after])
                .await?;
            let row = rows.first().ok_or_else(|| Fault::corrupt("no count"))?;
            Ok((
                row.number::<u64>("resent")?,
                get::<Option<i64>>(row, "last")?,
            ))
        });
        let (piece, last) = piece.await?;
        let Some(last) = last else { return Ok(resent) };
        after = last;
        resent += piece;
    }
}

pub(super) async fn drop_entry(
    session: Session<'_>,
    id: EntryId,
    intervention: &Intervention,
    now: Timestamp,
) -> Result<DropOutcome, Fault> {
    let by = storable(intervention.by.as_str());
    let reason = storable(intervention.reason.as_str());
    let id = entry_number(id);
    loop {
        if session
            .changes(DROP, params![id, now.unix_millis(), by, reason])
            .await?
        {
            return Ok(DropOutcome::Dropped);
        }
        let open = session.query(OPEN, params![id]).await?;
        let Some(row) = open.first() else {
            return Ok(DropOutcome::NotOpen);
        };
        // If the lease has ended since the first statement, the entry is dropped on a retry.
        if let Some(until) = row.optional_instant("until")?.filter(|until| *until > now) {
            return Ok(DropOutcome::Leased { until });
        }
    }
}

pub(super) async fn stop(
    session: Session<'_>,
    endpoint: &EndpointId,
    intervention: &Intervention,
    now: Timestamp,
) -> Result<(), Fault> {
    let by = storable(intervention.by.as_str());
    let reason = storable(intervention.reason.as_str());
    session
        .execute(
            STOP,
            params![endpoint.as_str(), now.unix_millis(), by, reason],
        )
        .await
        .map(drop)
}

pub(super) async fn resume(
    store: &PostgresStore,
    endpoint: &EndpointId,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let endpoint = endpoint.as_str();
    let now = now.unix_millis();
    let mut last = Some((now, i64::MAX));
    while let Some((due, entry)) = last {
        let piece = store.timed(async {
            let rows = store
                .query(MAKE_SOME_DUE, params![endpoint, now, due, entry])
                .await?;
            rows.first()
                .map(|last| Ok((get(last, "due")?, get(last, "entry")?)))
                .transpose()
        });
        last = piece.await?;
    }
    Ok(!store
        .timed(store.query(RESUME, params![endpoint]))
        .await?
        .is_empty())
}

pub(super) async fn counts(
    store: &PostgresStore,
    endpoint: Option<&EndpointId>,
) -> Result<OutboxCounts, Fault> {
    let endpoint = endpoint.map(EndpointId::as_str);
    let counts = store.survey(COUNTS, params![endpoint]).await?.pop();
    counts.ok_or_else(|| Fault::corrupt("no counts"))
}

pub(super) async fn backlogs(
    store: &PostgresStore,
    after: Option<&EndpointId>,
    limit: u32,
) -> Result<Vec<EndpointBacklog>, Fault> {
    // No name is empty: all names come after the empty one.
    let after = after.map_or("", EndpointId::as_str);
    let limit = i64::from(limit.min(OutboxQuery::MAX_LIMIT));
    store.survey(BACKLOGS, params![after, limit]).await
}
