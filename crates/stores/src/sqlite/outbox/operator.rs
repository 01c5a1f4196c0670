//! What operators see and do.

use super::{circuit, endpoint};
use crate::sqlite::connection::Fault;
use crate::sqlite::values::{entry_id, kind, named, number, readable};
use crate::sqlite::{SqliteStore, instant};
use bankrail_mailbox::{
    DropOutcome, EndpointBacklog, EndpointId, EntryId, Intervention, OutboxQuery, OutboxState, OutboxSummary,
    StoppedEndpoint,
};
use bankrail_values::{HyphenatedUuid, StoreError, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};

/// An entry without its payload. A dropped entry is `delivered` in its own row, so that nobody delivers it.
const SUMMARY: &str = "SELECT id, endpoint, kind, message_id, enqueued, due, deliveries, until, finished, dropped_by,
    reason, CASE WHEN dropped_by IS NULL THEN state ELSE 'dropped' END AS state
    FROM bankrail_outbox LEFT JOIN bankrail_dropped ON entry = id";

/// The dead letters that one transaction resends, so that other writes run in between: those after an entry, which go
/// round only once even if they fail again meanwhile. The sign keeps SQLite from reading all entries of the endpoint.
const RESEND_SOME: &str = "UPDATE bankrail_outbox SET state = 'pending', due = ?2, finished = NULL, deliveries = 0
    WHERE id IN (SELECT id FROM bankrail_outbox WHERE state = 'dead_letter' AND +endpoint = ?1 AND id > ?3
        ORDER BY id LIMIT 500) RETURNING id";

const DROP: &str = "UPDATE bankrail_outbox SET state = 'delivered', finished = ?2, owner = NULL, until = NULL
    WHERE id = ?1 AND (state = 'dead_letter' OR state = 'pending' AND (until IS NULL OR until <= ?2))";

const INSERT_DROPPED: &str = "INSERT INTO bankrail_dropped (entry, dropped_by, reason) VALUES (?1, ?2, ?3)";

const LEASED_UNTIL: &str = "SELECT until FROM bankrail_outbox WHERE id = ?1 AND state = 'pending'";

const STOP: &str = "INSERT INTO bankrail_stopped (endpoint, since, stopped_by, reason) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (endpoint) DO NOTHING";

const RESUME: &str = "DELETE FROM bankrail_stopped WHERE endpoint = ?1";

const STOPPED: &str = "SELECT endpoint, since, stopped_by, reason FROM bankrail_stopped ORDER BY endpoint";

pub(super) const DROPPED: &str = "SELECT count(*) FROM bankrail_dropped";

pub(super) const DROPPED_OF: &str =
    "SELECT count(*) FROM bankrail_dropped JOIN bankrail_outbox ON id = entry WHERE endpoint = ?1";

const BACKLOGS: &str = "SELECT endpoint, sum(pending) AS pending, sum(dead) AS dead_letters, min(due) AS oldest FROM (
        SELECT endpoint, count(*) AS pending, 0 AS dead, min(due) AS due FROM bankrail_outbox
            WHERE state = 'pending' AND endpoint > ?1 GROUP BY endpoint
        UNION ALL
        SELECT endpoint, 0, count(*), NULL FROM bankrail_outbox
            WHERE state = 'dead_letter' AND endpoint > ?1 GROUP BY endpoint)
    GROUP BY endpoint ORDER BY endpoint LIMIT ?2";

#[cfg(test)]
pub(in crate::sqlite) const DAILY: &[&str] = &[RESEND_SOME, DROP, INSERT_DROPPED, LEASED_UNTIL, STOP, RESUME];

pub(super) fn list(connection: &Connection, query: &OutboxQuery) -> Result<Vec<OutboxSummary>, Fault> {
    // The state is in the text, so that SQLite uses the index of that state.
    let state = match query.state {
        None => "TRUE",
        Some(OutboxState::Pending) => "state = 'pending'",
        Some(OutboxState::DeadLetter) => "state = 'dead_letter'",
        Some(OutboxState::Delivered) => "state = 'delivered' AND dropped_by IS NULL",
        Some(OutboxState::Dropped) => "id IN (SELECT entry FROM bankrail_dropped)",
    };
    let sql = format!(
        "{SUMMARY} WHERE {state} AND id > :after AND (:endpoint IS NULL OR endpoint = :endpoint)
        AND (:kind IS NULL OR kind = :kind) AND (:before IS NULL OR enqueued < :before) ORDER BY id"
    );
    let mut list = connection.prepare_cached(&sql)?;
    let parameters = named_params! {
        ":after": query.after.map_or(-1, number),
        ":endpoint": query.endpoint.as_ref().map(EndpointId::as_str),
        ":kind": query.kind.as_ref().map(bankrail_mailbox::Kind::as_str),
        ":before": query.enqueued_before.map(Timestamp::unix_millis),
    };
    let rows = list.query_and_then(parameters, |row| readable(row, summary))?;
    let page = usize::try_from(query.page()).unwrap_or(usize::MAX);
    rows.filter_map(|row| row.map(Result::ok).transpose()).take(page).collect()
}

pub(super) fn find(connection: &Connection, id: EntryId) -> Result<Option<OutboxSummary>, Fault> {
    let mut find = connection.prepare_cached(&format!("{SUMMARY} WHERE id = ?1"))?;
    find.query_and_then([number(id)], summary)?.next().transpose()
}

pub(super) async fn resend_all(store: &SqliteStore, endpoint: &EndpointId, now: Timestamp) -> Result<u64, StoreError> {
    let (mut after, mut resent) = (-1, 0);
    loop {
        let endpoint = endpoint.as_str().to_owned();
        let piece = store.database.write(move |connection| {
            let mut resend = connection.prepare_cached(RESEND_SOME)?;
            let ids = resend.query_map(params![endpoint, now.unix_millis(), after], |row| row.get::<_, i64>(0))?;
            Ok(ids.collect::<Result<Vec<_>, _>>()?)
        });
        let ids = piece.await?;
        let Some(last) = ids.iter().max() else { return Ok(resent) };
        after = *last;
        resent += u64::try_from(ids.len()).unwrap_or(u64::MAX);
    }
}

pub(super) fn drop_entry(
    connection: &Connection,
    id: EntryId,
    intervention: &Intervention,
    now: Timestamp,
) -> Result<DropOutcome, Fault> {
    if connection.prepare_cached(DROP)?.execute(params![number(id), now.unix_millis()])? == 1 {
        let Intervention { by, reason } = intervention;
        connection.prepare_cached(INSERT_DROPPED)?.execute(params![number(id), by.as_str(), reason.as_str()])?;
        return Ok(DropOutcome::Dropped);
    }
    let mut leased = connection.prepare_cached(LEASED_UNTIL)?;
    Ok(match leased.query_row([number(id)], |row| row.get(0)).optional()? {
        Some(until) => DropOutcome::Leased { until: instant(until)? },
        None => DropOutcome::NotOpen,
    })
}

pub(super) fn stop(
    connection: &Connection,
    endpoint: &EndpointId,
    intervention: &Intervention,
    now: Timestamp,
) -> Result<(), Fault> {
    let Intervention { by, reason } = intervention;
    let parameters = params![endpoint.as_str(), now.unix_millis(), by.as_str(), reason.as_str()];
    connection.prepare_cached(STOP)?.execute(parameters)?;
    Ok(())
}

pub(super) fn resume(connection: &Connection, endpoint: &EndpointId) -> Result<bool, Fault> {
    circuit::keep(connection, endpoint, None)?;
    Ok(connection.prepare_cached(RESUME)?.execute([endpoint.as_str()])? == 1)
}

pub(super) fn stopped(connection: &Connection) -> Result<Vec<StoppedEndpoint>, Fault> {
    let stopped = |row: &Row<'_>| {
        Ok(StoppedEndpoint {
            endpoint: endpoint(row)?,
            since: instant(row.get("since")?)?,
            intervention: intervention(row.get("stopped_by")?, row.get("reason")?)?,
        })
    };
    connection.prepare_cached(STOPPED)?.query_and_then([], stopped)?.collect()
}

pub(super) fn backlogs(connection: &Connection, after: &str, limit: u32) -> Result<Vec<EndpointBacklog>, Fault> {
    let backlog = |row: &Row<'_>| {
        let number = |column: &str| u64::try_from(row.get::<_, i64>(column)?).map_err(Fault::corrupt);
        let oldest: Option<i64> = row.get("oldest")?;
        Ok(EndpointBacklog {
            endpoint: endpoint(row)?,
            pending: number("pending")?,
            dead_letters: number("dead_letters")?,
            oldest_due: oldest.map(instant).transpose()?,
        })
    };
    let parameters = params![after, limit.min(OutboxQuery::MAX_LIMIT)];
    connection.prepare_cached(BACKLOGS)?.query_and_then(parameters, backlog)?.collect()
}

fn summary(row: &Row<'_>) -> Result<OutboxSummary, Fault> {
    let (until, finished): (Option<i64>, Option<i64>) = (row.get("until")?, row.get("finished")?);
    let dropped_by: Option<String> = row.get("dropped_by")?;
    let dropped = dropped_by.map(|by| intervention(by, row.get("reason")?)).transpose()?;
    Ok(OutboxSummary {
        id: entry_id(row.get("id")?)?,
        endpoint: endpoint(row)?,
        kind: kind(row)?,
        message_id: named(row, "message_id", |text| HyphenatedUuid::parse(text).ok())?,
        state: named(row, "state", OutboxState::from_name)?,
        enqueued_at: instant(row.get("enqueued")?)?,
        due: instant(row.get("due")?)?,
        deliveries: row.get("deliveries")?,
        leased_until: until.map(instant).transpose()?,
        finished_at: finished.map(instant).transpose()?,
        dropped,
    })
}

fn intervention(by: String, reason: String) -> Result<Intervention, Fault> {
    let by = by.try_into().map_err(Fault::corrupt)?;
    Ok(Intervention { by, reason: reason.try_into().map_err(Fault::corrupt)? })
}
