//! What operators see and do.

use super::endpoint;
use crate::postgres::values::{entry_id, kind, named, number, storable, unsigned};
use crate::postgres::{Fault, PostgresStore, Typed, get, instant};
use bankrail_mailbox::{
    DropOutcome, EndpointBacklog, EndpointId, EntryId, Intervention, Kind, OutboxCounts, OutboxQuery, OutboxState,
    OutboxSummary, StoppedEndpoint,
};
use bankrail_values::{HyphenatedUuid, StoreError, Timestamp};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

/// An entry without its payload. A dropped entry is `delivered` in its own row, so that nobody delivers it.
const SUMMARY: &str = "SELECT id, endpoint, kind, message_id, enqueued, due, deliveries, until, finished, dropped_by,
    reason, CASE WHEN dropped_by IS NULL THEN state ELSE 'dropped' END AS state
    FROM bankrail_outbox LEFT JOIN bankrail_dropped ON entry = id";

/// The dead letters that one statement resends: those after an entry, which go round only once even if they fail again
/// meanwhile.
const RESEND_SOME: &str = "WITH resent AS (
        UPDATE bankrail_outbox SET state = 'pending', due = $2, finished = NULL, deliveries = 0
        WHERE id IN (SELECT id FROM bankrail_outbox WHERE state = 'dead_letter' AND endpoint = $1 AND id > $3
            ORDER BY id LIMIT 500 FOR UPDATE)
        RETURNING id)
    SELECT count(*) AS resent, max(id) AS last FROM resent";

const DROP: &str = "WITH entry AS (
        UPDATE bankrail_outbox SET state = 'delivered', finished = $2, owner = NULL, until = NULL
        WHERE id = $1 AND (state = 'dead_letter' OR state = 'pending' AND (until IS NULL OR until <= $2))
        RETURNING id)
    INSERT INTO bankrail_dropped (entry, dropped_by, reason) SELECT id, $3, $4 FROM entry";

const LEASED_UNTIL: &str =
    "SELECT until FROM bankrail_outbox WHERE id = $1 AND state = 'pending' AND until IS NOT NULL";

const STOP: &str = "INSERT INTO bankrail_stopped (endpoint, since, stopped_by, reason) VALUES ($1, $2, $3, $4)
    ON CONFLICT (endpoint) DO NOTHING";

pub(super) const RESUME: &str = "WITH circuit AS (DELETE FROM bankrail_circuit WHERE endpoint = $1)
    DELETE FROM bankrail_stopped WHERE endpoint = $1";

const STOPPED: &str = "SELECT endpoint, since, stopped_by, reason FROM bankrail_stopped ORDER BY endpoint";

const COUNTS: &str = "SELECT
    (SELECT count(*) FROM bankrail_outbox WHERE state = 'pending' AND endpoint = coalesce($1, endpoint))
        AS pending,
    (SELECT count(*) FROM bankrail_outbox WHERE state = 'delivered' AND endpoint = coalesce($1, endpoint))
        AS delivered,
    (SELECT count(*) FROM bankrail_outbox WHERE state = 'dead_letter' AND endpoint = coalesce($1, endpoint))
        AS dead_letters,
    (SELECT count(*) FROM bankrail_dropped JOIN bankrail_outbox ON id = entry
        WHERE endpoint = coalesce($1, endpoint)) AS dropped";

const BACKLOGS: &str = "SELECT endpoint, sum(pending)::BIGINT AS pending, sum(dead)::BIGINT AS dead_letters,
    min(due) AS oldest FROM (
        SELECT endpoint, count(*) AS pending, 0 AS dead, min(due) AS due FROM bankrail_outbox
            WHERE state = 'pending' AND endpoint > $1 GROUP BY endpoint
        UNION ALL
        SELECT endpoint, 0, count(*), NULL FROM bankrail_outbox
            WHERE state = 'dead_letter' AND endpoint > $1 GROUP BY endpoint) AS states
    GROUP BY endpoint ORDER BY endpoint LIMIT $2";

pub(super) async fn list(store: &PostgresStore, query: &OutboxQuery) -> Result<Vec<OutboxSummary>, Fault> {
    // The state is in the text, so that the planner uses the index of that state.
    let state = match query.state {
        None => "TRUE",
        Some(OutboxState::Pending) => "state = 'pending'",
        Some(OutboxState::DeadLetter) => "state = 'dead_letter'",
        Some(OutboxState::Delivered) => "state = 'delivered' AND dropped_by IS NULL",
        Some(OutboxState::Dropped) => "id IN (SELECT entry FROM bankrail_dropped)",
    };
    let sql = format!(
        "{SUMMARY} WHERE {state} AND id > $1 AND ($3 IS NULL OR endpoint = $3) AND ($4 IS NULL OR kind = $4)
        AND ($5 IS NULL OR enqueued < $5) ORDER BY id LIMIT $2"
    );
    let (endpoint, kind) = (query.endpoint.as_ref().map(EndpointId::as_str), query.kind.as_ref().map(Kind::as_str));
    let before = query.enqueued_before.map(Timestamp::unix_millis);
    let further: [Typed<'_>; 3] = [(&endpoint, Type::TEXT), (&kind, Type::TEXT), (&before, Type::INT8)];
    store.readable_page(&sql, query.after, query.page(), &further, summary).await
}

pub(super) async fn find(store: &PostgresStore, id: EntryId) -> Result<Option<OutboxSummary>, Fault> {
    let rows = store.query(&format!("{SUMMARY} WHERE id = $1"), &[(&number(id), Type::INT8)]).await?;
    rows.first().map(summary).transpose()
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
            let parameters: [Typed<'_>; 3] = [(&endpoint, Type::TEXT), (&now, Type::INT8), (&after, Type::INT8)];
            let rows = store.query(RESEND_SOME, &parameters).await?;
            let row = rows.first().ok_or_else(|| Fault::corrupt("no count"))?;
            Ok((unsigned::<i64, u64>(row, "resent")?, get::<Option<i64>>(row, "last")?))
        });
        let (piece, last) = piece.await?;
        let Some(last) = last else { return Ok(resent) };
        after = last;
        resent += piece;
    }
}

pub(super) async fn drop_entry(
    store: &PostgresStore,
    id: EntryId,
    intervention: &Intervention,
    now: Timestamp,
) -> Result<DropOutcome, Fault> {
    let (by, reason) = (storable(intervention.by.as_str()), storable(intervention.reason.as_str()));
    let parameters: [Typed<'_>; 4] =
        [(&number(id), Type::INT8), (&now.unix_millis(), Type::INT8), (&by, Type::TEXT), (&reason, Type::TEXT)];
    if store.execute(DROP, &parameters).await? == 1 {
        return Ok(DropOutcome::Dropped);
    }
    let leased = store.query(LEASED_UNTIL, &[(&number(id), Type::INT8)]).await?;
    Ok(match leased.first() {
        Some(row) => DropOutcome::Leased { until: instant(get(row, "until")?)? },
        None => DropOutcome::NotOpen,
    })
}

pub(super) async fn stop(
    store: &PostgresStore,
    endpoint: &EndpointId,
    intervention: &Intervention,
    now: Timestamp,
) -> Result<(), Fault> {
    let (by, reason) = (storable(intervention.by.as_str()), storable(intervention.reason.as_str()));
    let parameters: [Typed<'_>; 4] =
        [(&endpoint.as_str(), Type::TEXT), (&now.unix_millis(), Type::INT8), (&by, Type::TEXT), (&reason, Type::TEXT)];
    store.execute(STOP, &parameters).await.map(drop)
}

pub(super) async fn stopped(store: &PostgresStore) -> Result<Vec<StoppedEndpoint>, Fault> {
    let stopped = |row: &Row| {
        Ok(StoppedEndpoint {
            endpoint: endpoint(row)?,
            since: instant(get(row, "since")?)?,
            intervention: intervention(get(row, "stopped_by")?, get(row, "reason")?)?,
        })
    };
    store.query(STOPPED, &[]).await?.iter().map(stopped).collect()
}

pub(super) async fn counts(store: &PostgresStore, endpoint: Option<&EndpointId>) -> Result<OutboxCounts, Fault> {
    let rows = store.query(COUNTS, &[(&endpoint.map(EndpointId::as_str), Type::TEXT)]).await?;
    let row = rows.first().ok_or_else(|| Fault::corrupt("no counts"))?;
    let number = |column: &str| unsigned::<i64, u64>(row, column);
    let dropped = number("dropped")?;
    Ok(OutboxCounts {
        pending: number("pending")?,
        delivered: number("delivered")?.saturating_sub(dropped),
        dead_letters: number("dead_letters")?,
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
    let limit = i64::from(limit.min(OutboxQuery::MAX_LIMIT));
    let backlog = |row: &Row| {
        Ok(EndpointBacklog {
            endpoint: endpoint(row)?,
            pending: unsigned::<i64, _>(row, "pending")?,
            dead_letters: unsigned::<i64, _>(row, "dead_letters")?,
            oldest_due: get::<Option<i64>>(row, "oldest")?.map(instant).transpose()?,
        })
    };
    store.query(BACKLOGS, &[(&after, Type::TEXT), (&limit, Type::INT8)]).await?.iter().map(backlog).collect()
}

fn summary(row: &Row) -> Result<OutboxSummary, Fault> {
    let dropped_by: Option<String> = get(row, "dropped_by")?;
    let dropped = dropped_by.map(|by| intervention(by, get(row, "reason")?)).transpose()?;
    Ok(OutboxSummary {
        id: entry_id(get(row, "id")?)?,
        endpoint: endpoint(row)?,
        kind: kind(row)?,
        message_id: named(row, "message_id", |text| HyphenatedUuid::parse(text).ok())?,
        state: named(row, "state", OutboxState::from_name)?,
        enqueued_at: instant(get(row, "enqueued")?)?,
        due: instant(get(row, "due")?)?,
        deliveries: unsigned::<i32, _>(row, "deliveries")?,
        leased_until: get::<Option<i64>>(row, "until")?.map(instant).transpose()?,
        finished_at: get::<Option<i64>>(row, "finished")?.map(instant).transpose()?,
        dropped,
    })
}

fn intervention(by: String, reason: String) -> Result<Intervention, Fault> {
    let by = by.try_into().map_err(Fault::corrupt)?;
    Ok(Intervention { by, reason: reason.try_into().map_err(Fault::corrupt)? })
}
