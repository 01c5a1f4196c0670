//! What operators see and do.

use crate::columns::{Columns as _, FromRow as _, entry_number};
use crate::postgres::choice::written;
use crate::postgres::session::Session;
use crate::postgres::values::{get, params, storable};
use crate::postgres::{Fault, PostgresStore};
use bankrail_mailbox::{
    DropOutcome, EndpointBacklog, EndpointId, EntryId, Intervention, Kind, OutboxCounts,
    OutboxQuery, OutboxState, OutboxSummary,
};
use bankrail_values::{StoreError, Timestamp};

/// The entries whose numbers are in the column `entry` of a page, without their payloads. Each is
/// looked up by itself, so that a page does not read whole tables.
macro_rules! summaries {
    ($($page:literal)+) => {
        concat!(
            "SELECT message.id, message.endpoint, kind, message_id, enqueued,
                coalesce(finished.state, 'pending') AS state, coalesce(queue.due, finished.due) AS due,
                coalesce(queue.deliveries, finished.deliveries) AS deliveries, queue.until, finished.finished,
                dropped.dropped_by, dropped.reason
            FROM ",
            $($page,)+
            " AS page
            CROSS JOIN LATERAL (SELECT * FROM bankrail_outbox WHERE id = page.entry OFFSET 0) AS message
            LEFT JOIN LATERAL (SELECT * FROM bankrail_outbox_queue WHERE entry = page.entry OFFSET 0) AS queue ON TRUE
            LEFT JOIN LATERAL (SELECT * FROM bankrail_outbox_finished WHERE entry = page.entry OFFSET 0) AS finished
                ON TRUE
            LEFT JOIN LATERAL (SELECT * FROM bankrail_dropped WHERE entry = page.entry OFFSET 0) AS dropped ON TRUE"
        )
    };
}

pub(super) const FIND: &str = summaries!("(SELECT $1::BIGINT AS entry)");

/// One page of the entries of `$source` after `$1`, which has them in this order by an index, so
/// that the statement reads no more of them than it returns and passes over.
macro_rules! list {
    ($source:literal, $order:literal, $page_order:literal) => {
        concat!(
            summaries!("(" $source " ORDER BY " $order " OFFSET 0)"),
            " WHERE ($3 IS NULL OR kind = $3) AND ($4 IS NULL OR enqueued < $4) ORDER BY ",
            $page_order,
            " LIMIT $2"
        )
    };
    ($source:literal) => {
        list!($source, "entry", "page.entry")
    };
}

/// A page of the endpoint `$5`. The order begins with the endpoint, so that only an index that does
/// has it: the planner would take one without it where it expects many entries of the endpoint.
macro_rules! list_of_endpoint {
    ($source:literal) => {
        list!($source, "endpoint, entry", "page.endpoint, page.entry")
    };
}

const LIST: &str = list!("SELECT id AS entry FROM bankrail_outbox WHERE id > $1");

const LIST_OF_ENDPOINT: &str = list_of_endpoint!(
    "SELECT endpoint || '' AS endpoint, id AS entry FROM bankrail_outbox
    WHERE (endpoint || '', id) > ($5, $1) AND endpoint || '' <= $5"
);

const LIST_PENDING: &str = list!("SELECT entry FROM bankrail_outbox_queue WHERE entry > $1");

/// An index of the pending messages of each endpoint in this order would have to be written with
/// each enqueue and lease.
const LIST_PENDING_OF_ENDPOINT: &str =
    list!("SELECT entry FROM bankrail_outbox_queue WHERE endpoint = $5 AND entry > $1");

/// Nearly all that is finished is delivered.
const LIST_DELIVERED: &str = list!(
    "SELECT entry FROM (
        SELECT entry, state FROM bankrail_outbox_finished WHERE entry > $1 ORDER BY entry OFFSET 0) AS finished
    WHERE state = 'delivered'"
);

/// There is no index of the delivered messages of each endpoint, which each delivery would have to
/// write.
const LIST_DELIVERED_OF_ENDPOINT: &str = list_of_endpoint!(
    "SELECT endpoint, entry FROM (
        SELECT endpoint || '' AS endpoint, id AS entry FROM bankrail_outbox
        WHERE (endpoint || '', id) > ($5, $1) AND endpoint || '' <= $5 ORDER BY endpoint, entry OFFSET 0) AS message
    CROSS JOIN LATERAL (
        SELECT state FROM bankrail_outbox_finished AS finished WHERE finished.entry = message.entry OFFSET 0
    ) AS finished
    WHERE state = 'delivered'"
);

const LIST_DEAD_LETTERS: &str =
    list!("SELECT entry FROM bankrail_outbox_finished WHERE state = 'dead_letter' AND entry > $1");

const LIST_DEAD_LETTERS_OF_ENDPOINT: &str = list_of_endpoint!(
    "SELECT endpoint, entry FROM bankrail_outbox_finished
    WHERE state = 'dead_letter' AND (endpoint, entry) > ($5, $1) AND endpoint <= $5"
);

/// Operators drop few messages.
const LIST_DROPPED: &str = list!(
    "SELECT entry FROM bankrail_dropped CROSS JOIN LATERAL (
        SELECT endpoint FROM bankrail_outbox_finished AS finished WHERE finished.entry = bankrail_dropped.entry OFFSET 0
    ) AS finished
    WHERE ($5 IS NULL OR endpoint = $5) AND entry > $1"
);

/// The dead letters that one statement resends: those after an entry, which go round only once even
/// if they fail again meanwhile.
const RESEND_SOME: &str = concat!(
    "WITH piece AS (
        SELECT entry FROM bankrail_outbox_finished WHERE state = 'dead_letter' AND endpoint = $1 AND entry > $3
        ORDER BY entry LIMIT 500 FOR UPDATE),
    gone AS (
        DELETE FROM bankrail_outbox_finished WHERE entry = ANY (ARRAY(SELECT entry FROM piece))
        RETURNING entry, endpoint),
    resent AS (
        INSERT INTO bankrail_outbox_queue (entry, endpoint, due, freed) SELECT entry, endpoint, $2, ",
    written!("bankrail_outbox_cursor"),
    " FROM gone RETURNING entry)
    SELECT count(*) AS resent, max(entry) AS last FROM resent"
);

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
    SELECT entry, $3, $4 FROM (SELECT entry FROM moved UNION ALL SELECT entry FROM given_up) AS dropped";

/// An entry that could be dropped but for its lease.
const OPEN: &str = "SELECT until FROM bankrail_outbox_queue WHERE entry = $1
    UNION ALL SELECT NULL FROM bankrail_outbox_finished WHERE entry = $1 AND state = 'dead_letter'";

const STOP: &str =
    "INSERT INTO bankrail_stopped (endpoint, since, stopped_by, reason) VALUES ($1, $2, $3, $4)
    ON CONFLICT (endpoint) DO NOTHING";

/// The messages that one statement makes due: the first ones after a position. One that is locked
/// is being dropped, or made due by somebody else.
const MAKE_SOME_DUE: &str = concat!(
    "WITH piece AS (
        SELECT due, entry FROM bankrail_outbox_queue
        WHERE owner IS NULL AND endpoint = $1 AND (due, entry) > ($3, $4)
        ORDER BY due, entry LIMIT 500 FOR UPDATE SKIP LOCKED),
    now_due AS (
        UPDATE bankrail_outbox_queue SET due = $2, freed = ",
    written!("bankrail_outbox_cursor"),
    " WHERE entry = ANY (ARRAY(SELECT entry FROM piece)))
    SELECT due, entry FROM piece ORDER BY due DESC, entry DESC LIMIT 1"
);

const RESUME: &str = "WITH circuit AS (DELETE FROM bankrail_circuit WHERE endpoint = $1)
    DELETE FROM bankrail_stopped WHERE endpoint = $1 RETURNING endpoint";

pub(super) const STOPPED: &str =
    "SELECT endpoint, since, stopped_by, reason FROM bankrail_stopped ORDER BY endpoint";

const COUNTS: &str = "SELECT
    (SELECT count(*) FROM bankrail_outbox_queue WHERE endpoint = coalesce($1, endpoint)) AS pending,
    (SELECT count(*) FROM bankrail_outbox_finished WHERE state = 'delivered' AND endpoint = coalesce($1, endpoint))
        AS delivered,
    (SELECT count(*) FROM bankrail_outbox_finished WHERE state = 'dead_letter' AND endpoint = coalesce($1, endpoint))
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
    let (endpoint, kind) = (
        query.endpoint.as_ref().map(EndpointId::as_str),
        query.kind.as_ref().map(Kind::as_str),
    );
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
    let (mut after, mut resent) = (-1_i64, 0);
    loop {
        let (endpoint, now) = (endpoint.as_str(), now.unix_millis());
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
    let (by, reason) = (
        storable(intervention.by.as_str()),
        storable(intervention.reason.as_str()),
    );
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
        // Otherwise its lease has ended since.
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
    let (by, reason) = (
        storable(intervention.by.as_str()),
        storable(intervention.reason.as_str()),
    );
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
    let (endpoint, now) = (endpoint.as_str(), now.unix_millis());
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
    let rows = store
        .survey(COUNTS, params![endpoint.map(EndpointId::as_str)])
        .await?;
    let row = rows.first().ok_or_else(|| Fault::corrupt("no counts"))?;
    let [pending, delivered] = [row.number("pending")?, row.number("delivered")?];
    let [dead_letters, dropped] = [row.number("dead_letters")?, row.number("dropped")?];
    Ok(OutboxCounts {
        pending,
        delivered,
        dead_letters,
        dropped,
    })
}

pub(super) async fn backlogs(
    store: &PostgresStore,
    after: Option<&EndpointId>,
    limit: u32,
) -> Result<Vec<EndpointBacklog>, Fault> {
    // No name is empty: after this one comes the first.
    let after = after.map_or("", EndpointId::as_str);
    let rows = store
        .survey(
            BACKLOGS,
            params![after, i64::from(limit.min(OutboxQuery::MAX_LIMIT))],
        )
        .await?;
    rows.iter()
        .map(|row| Ok(EndpointBacklog::read(row)?))
        .collect()
}
