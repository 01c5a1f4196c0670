//! What operators see and do.

use super::circuit;
use crate::columns::entry_number;
use crate::sqlite::SqliteStore;
use crate::sqlite::connection::Fault;
use crate::sqlite::statements::{changes, count, first, readable_page, run};
use bankrail_mailbox::{
    DropOutcome, EndpointId, EntryId, Intervention, Kind, OutboxCounts, OutboxQuery, OutboxState, OutboxSummary,
};
use bankrail_values::{StoreError, Timestamp};
use rusqlite::{Connection, named_params, params};

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

const LEASED_UNTIL: &str = "SELECT until AS at FROM bankrail_outbox WHERE id = ?1 AND state = 'pending'";

const STOP: &str = "INSERT INTO bankrail_stopped (endpoint, since, stopped_by, reason) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (endpoint) DO NOTHING";

/// The messages that one transaction makes due, so that other writes run in between: those that wait the longest last.
const MAKE_SOME_DUE: &str = "UPDATE bankrail_outbox SET due = ?2 WHERE id IN (SELECT id FROM bankrail_outbox
    WHERE state = 'pending' AND endpoint = ?1 AND due > ?2 ORDER BY due LIMIT ?3)";

const PIECE: u16 = 500;

const RESUME: &str = "DELETE FROM bankrail_stopped WHERE endpoint = ?1";

pub(super) const STOPPED: &str = "SELECT endpoint, since, stopped_by, reason FROM bankrail_stopped ORDER BY endpoint";

const DROPPED: &str = "SELECT count(*) FROM bankrail_dropped";

const DROPPED_OF: &str = "SELECT count(*) FROM bankrail_dropped JOIN bankrail_outbox ON id = entry WHERE endpoint = ?1";

pub(super) const BACKLOGS: &str =
    "SELECT endpoint, sum(pending) AS pending, sum(dead) AS dead_letters, min(due) AS oldest FROM (
        SELECT endpoint, count(*) AS pending, 0 AS dead, min(due) AS due FROM bankrail_outbox
            WHERE state = 'pending' AND endpoint > ?1 GROUP BY endpoint
        UNION ALL
        SELECT endpoint, 0, count(*), NULL FROM bankrail_outbox
            WHERE state = 'dead_letter' AND endpoint > ?1 GROUP BY endpoint)
    GROUP BY endpoint ORDER BY endpoint LIMIT ?2";

#[cfg(test)]
pub(in crate::sqlite) const DAILY: &[&str] =
    &[RESEND_SOME, DROP, INSERT_DROPPED, LEASED_UNTIL, STOP, MAKE_SOME_DUE, RESUME];

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
    let parameters = named_params! {
        ":after": query.after.map_or(-1, entry_number),
        ":endpoint": query.endpoint.as_ref().map(EndpointId::as_str),
        ":kind": query.kind.as_ref().map(Kind::as_str),
        ":before": query.enqueued_before.map(Timestamp::unix_millis),
    };
    readable_page(connection, &sql, parameters, query.page())
}

pub(super) fn find(connection: &Connection, id: EntryId) -> Result<Option<OutboxSummary>, Fault> {
    first(connection, &format!("{SUMMARY} WHERE id = ?1"), [entry_number(id)])
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
    if changes(connection, DROP, params![entry_number(id), now.unix_millis()])? {
        let Intervention { by, reason } = intervention;
        run(connection, INSERT_DROPPED, params![entry_number(id), by.as_str(), reason.as_str()])?;
        return Ok(DropOutcome::Dropped);
    }
    let leased: Option<Timestamp> = first(connection, LEASED_UNTIL, [entry_number(id)])?;
    Ok(leased.map_or(DropOutcome::NotOpen, |until| DropOutcome::Leased { until }))
}

pub(super) fn stop(
    connection: &Connection,
    endpoint: &EndpointId,
    intervention: &Intervention,
    now: Timestamp,
) -> Result<(), Fault> {
    let Intervention { by, reason } = intervention;
    run(connection, STOP, params![endpoint.as_str(), now.unix_millis(), by.as_str(), reason.as_str()]).map(drop)
}

pub(super) async fn resume(store: &SqliteStore, endpoint: &EndpointId, now: Timestamp) -> Result<bool, StoreError> {
    loop {
        let endpoint = endpoint.clone();
        let piece = store.database.write(move |connection| {
            if run(connection, MAKE_SOME_DUE, params![endpoint.as_str(), now.unix_millis(), PIECE])?
                == usize::from(PIECE)
            {
                return Ok(None);
            }
            circuit::keep(connection, &endpoint, None)?;
            changes(connection, RESUME, [endpoint.as_str()]).map(Some)
        });
        if let Some(was_stopped) = piece.await? {
            return Ok(was_stopped);
        }
    }
}

pub(super) fn counts(connection: &Connection, endpoint: Option<&EndpointId>) -> Result<OutboxCounts, Fault> {
    let counted = |all: &str, of_one: &str| match endpoint {
        None => count(connection, all, []),
        Some(endpoint) => count(connection, of_one, [endpoint.as_str()]),
    };
    let of = |state: OutboxState| {
        // The state is in the text, so that SQLite uses the index of that state.
        let sql = format!("SELECT count(*) FROM bankrail_outbox WHERE state = '{}'", state.as_str());
        counted(&sql, &format!("{sql} AND endpoint = ?1"))
    };
    let dropped = counted(DROPPED, DROPPED_OF)?;
    Ok(OutboxCounts {
        pending: of(OutboxState::Pending)?,
        delivered: of(OutboxState::Delivered)?.saturating_sub(dropped),
        dead_letters: of(OutboxState::DeadLetter)?,
        dropped,
    })
}
