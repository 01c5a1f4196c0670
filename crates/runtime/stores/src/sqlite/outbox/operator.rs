//! Operations for operators.

use super::circuit;
use crate::columns::entry_number;
use crate::sqlite::SqliteStore;
use crate::sqlite::connection::Fault;
use crate::sqlite::statements::{changes, first, readable_page, run};
use bankrail_mailbox::{
    DropOutcome, EndpointId, EntryId, Intervention, Kind, OutboxCounts, OutboxQuery, OutboxState,
    OutboxSummary,
};
use bankrail_values::{StoreError, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, params};
use std::collections::BTreeMap;

/// An entry without its payload. A dropped entry is `delivered` in its own row, so that nobody
/// delivers it.
pub(super) const FIND: &str =
    "SELECT id, endpoint, kind, message_id, enqueued, due, deliveries, until, finished, dropped_by,
        reason, CASE WHEN dropped_by IS NULL THEN state ELSE 'dropped' END AS state
    FROM bankrail_outbox LEFT JOIN bankrail_dropped ON entry = id
    WHERE id = ?1";

// All entries after one, in the order of the table, so that no more are read than are returned or
// passed over.
const LIST: &str =
    "SELECT id, endpoint, kind, message_id, enqueued, due, deliveries, until, finished, dropped_by,
        reason, CASE WHEN dropped_by IS NULL THEN state ELSE 'dropped' END AS state
    FROM bankrail_outbox LEFT JOIN bankrail_dropped ON entry = id
    WHERE id > ?2 AND (?1 IS NULL OR endpoint = ?1)
        AND (?3 IS NULL OR kind = ?3) AND (?4 IS NULL OR enqueued < ?4)
    ORDER BY id";

// As `LIST`, for the dropped entries, all of which are read: operators drop few.
const LIST_DROPPED: &str =
    "SELECT id, endpoint, kind, message_id, enqueued, due, deliveries, until, finished, dropped_by,
        reason, CASE WHEN dropped_by IS NULL THEN state ELSE 'dropped' END AS state
    FROM bankrail_outbox LEFT JOIN bankrail_dropped ON entry = id
    WHERE id IN (SELECT entry FROM bankrail_dropped) AND id > ?2 AND (?1 IS NULL OR endpoint = ?1)
        AND (?3 IS NULL OR kind = ?3) AND (?4 IS NULL OR enqueued < ?4)
    ORDER BY id";

// Resends a bounded number of dead letters, so that other writes run in between: those after an
// entry, so that each is resent once even if it fails again meanwhile.
const RESEND_SOME: &str = "UPDATE bankrail_outbox
    SET state = 'pending', due = ?2, finished = NULL, deliveries = 0
    WHERE id IN (SELECT id FROM bankrail_outbox
        WHERE state = 'dead_letter' AND endpoint = ?1 AND id > ?3
        ORDER BY id LIMIT 500) RETURNING id";

const DROP: &str = "UPDATE bankrail_outbox
    SET state = 'delivered', finished = ?2, owner = NULL, until = NULL
    WHERE id = ?1 AND (state = 'dead_letter'
        OR state = 'pending' AND (until IS NULL OR until <= ?2))";

const INSERT_DROPPED: &str =
    "INSERT INTO bankrail_dropped (entry, dropped_by, reason) VALUES (?1, ?2, ?3)";

const LEASED_UNTIL: &str =
    "SELECT until AS at FROM bankrail_outbox WHERE id = ?1 AND state = 'pending'";

const STOP: &str =
    "INSERT INTO bankrail_stopped (endpoint, since, stopped_by, reason) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (endpoint) DO NOTHING";

// Makes a bounded number of messages due, so that other writes run in between, in the order of the
// index of an endpoint's pending messages.
const MAKE_SOME_DUE: &str =
    "UPDATE bankrail_outbox SET due = ?2 WHERE id IN (SELECT id FROM bankrail_outbox
    WHERE state = 'pending' AND endpoint = ?1 AND due > ?2 ORDER BY due LIMIT ?3)";

const BATCH_ROWS: u16 = 500;

const RESUME: &str = "DELETE FROM bankrail_stopped WHERE endpoint = ?1";

pub(super) const STOPPED: &str =
    "SELECT endpoint, since, stopped_by, reason FROM bankrail_stopped ORDER BY endpoint";

// The first message of an endpoint in a state after another one, by the index of endpoint and
// state. `?6` includes dropped messages.
const NEXT: &str = "SELECT id FROM bankrail_outbox WHERE state = ?5 AND endpoint = ?1 AND id > ?2
    AND (?3 IS NULL OR kind = ?3) AND (?4 IS NULL OR enqueued < ?4)
    AND (?6 OR NOT EXISTS (SELECT 1 FROM bankrail_dropped WHERE entry = id)) ORDER BY id LIMIT 1";

/// The endpoints that have any message.
const COUNTED: &str = "SELECT endpoint FROM bankrail_outbox_count";

// The triggers of the schema keep these counts, so that no query counts messages.
const COUNTS: &str =
    "SELECT coalesce(sum(pending), 0) AS pending, coalesce(sum(delivered), 0) AS delivered,
        coalesce(sum(dead_letters), 0) AS dead_letters, coalesce(sum(dropped), 0) AS dropped
    FROM bankrail_outbox_count";

const COUNTS_OF_ENDPOINT: &str = "SELECT pending, delivered, dead_letters, dropped
    FROM bankrail_outbox_count WHERE endpoint = ?1";

// `min(due)` is one search in the index of an endpoint's pending messages, which is by due time.
pub(super) const BACKLOGS: &str = "SELECT endpoint, pending, dead_letters,
        (SELECT min(due) FROM bankrail_outbox AS o
            WHERE state = 'pending' AND o.endpoint = c.endpoint) AS oldest
    FROM bankrail_outbox_count AS c WHERE endpoint > ?1 AND (pending > 0 OR dead_letters > 0)
    ORDER BY endpoint LIMIT ?2";

// The first pending message of each endpoint, with one search in its index, and the first of these.
pub(super) const OLDEST: &str = "SELECT enqueued AS at FROM bankrail_outbox WHERE id = (
    SELECT min((SELECT min(id) FROM bankrail_outbox AS o
        WHERE state = 'pending' AND o.endpoint = c.endpoint))
    FROM bankrail_outbox_count AS c
    WHERE pending > 0 AND endpoint NOT IN (SELECT endpoint FROM bankrail_stopped))";

#[cfg(test)]
pub(in crate::sqlite) const DAILY: &[&str] = &[
    RESEND_SOME,
    DROP,
    INSERT_DROPPED,
    LEASED_UNTIL,
    STOP,
    MAKE_SOME_DUE,
    RESUME,
];

/// The queries of operators, for the test of their plans.
#[cfg(test)]
pub(in crate::sqlite) const LOOKS: [&str; 6] =
    [NEXT, COUNTED, BACKLOGS, OLDEST, COUNTS, COUNTS_OF_ENDPOINT];

pub(super) fn list(
    connection: &Connection,
    query: &OutboxQuery,
) -> Result<Vec<OutboxSummary>, Fault> {
    match query.state {
        Some(OutboxState::Dropped) => in_order_of_id(connection, LIST_DROPPED, query),
        None if query.endpoint.is_none() => in_order_of_id(connection, LIST, query),
        _ => merged(connection, query),
    }
}

/// Lists all messages, or all dropped ones, after one.
fn in_order_of_id(
    connection: &Connection,
    sql: &str,
    query: &OutboxQuery,
) -> Result<Vec<OutboxSummary>, Fault> {
    let endpoint = query.endpoint.as_ref().map(EndpointId::as_str);
    let after = query.after.map_or(-1, entry_number);
    let kind = query.kind.as_ref().map(Kind::as_str);
    let before = query.enqueued_before.map(Timestamp::unix_millis);
    readable_page(
        connection,
        sql,
        params![endpoint, after, kind, before],
        query.page(),
    )
}

/// Lists messages of some states or one endpoint: merges the messages of each endpoint in each
/// state, with one search in the index for each entry.
fn merged(connection: &Connection, query: &OutboxQuery) -> Result<Vec<OutboxSummary>, Fault> {
    let endpoints = match &query.endpoint {
        Some(endpoint) => vec![endpoint.as_str().to_owned()],
        None => {
            let mut counted = connection.prepare_cached(COUNTED)?;
            counted
                .query_map([], |row| row.get(0))?
                .collect::<Result<_, _>>()?
        }
    };
    let states = [
        OutboxState::Pending,
        OutboxState::Delivered,
        OutboxState::DeadLetter,
    ];
    let kind = query.kind.as_ref().map(Kind::as_str);
    let before = query.enqueued_before.map(Timestamp::unix_millis);
    let mut next = connection.prepare_cached(NEXT)?;
    let mut first_of = |state: OutboxState, endpoint: &str, after: i64| {
        let parameters = params![
            endpoint,
            after,
            kind,
            before,
            state.as_str(),
            query.state.is_none()
        ];
        next.query_row(parameters, |row| row.get::<_, i64>(0))
            .optional()
    };
    let mut first = BTreeMap::new();
    for state in states
        .into_iter()
        .filter(|state| query.state.is_none_or(|asked| asked == *state))
    {
        for endpoint in &endpoints {
            let found = first_of(state, endpoint, query.after.map_or(-1, entry_number))?;
            first.extend(found.map(|id| (id, (state, endpoint))));
        }
    }
    let mut page = Vec::new();
    while u64::from(query.page()) > u64::try_from(page.len()).unwrap_or(u64::MAX) {
        let Some((id, (state, endpoint))) = first.pop_first() else {
            break;
        };
        first.extend(first_of(state, endpoint, id)?.map(|id| (id, (state, endpoint))));
        page.extend(readable_page(connection, FIND, [id], 1)?);
    }
    Ok(page)
}

pub(super) async fn resend_all(
    store: &SqliteStore,
    endpoint: &EndpointId,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let mut after = -1;
    let mut resent = 0;
    loop {
        let endpoint = endpoint.as_str().to_owned();
        let piece = store.database.write(move |connection| {
            let mut resend = connection.prepare_cached(RESEND_SOME)?;
            let ids = resend.query_map(params![endpoint, now.unix_millis(), after], |row| {
                row.get::<_, i64>(0)
            })?;
            Ok(ids.collect::<Result<Vec<_>, _>>()?)
        });
        let ids = piece.await?;
        let Some(last) = ids.iter().max() else {
            return Ok(resent);
        };
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
    if changes(
        connection,
        DROP,
        params![entry_number(id), now.unix_millis()],
    )? {
        let Intervention { by, reason } = intervention;
        run(
            connection,
            INSERT_DROPPED,
            params![entry_number(id), by.as_str(), reason.as_str()],
        )?;
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
    run(
        connection,
        STOP,
        params![
            endpoint.as_str(),
            now.unix_millis(),
            by.as_str(),
            reason.as_str()
        ],
    )
    .map(drop)
}

pub(super) async fn resume(
    store: &SqliteStore,
    endpoint: &EndpointId,
    now: Timestamp,
) -> Result<bool, StoreError> {
    loop {
        let endpoint = endpoint.clone();
        let piece = store.database.write(move |connection| {
            if run(
                connection,
                MAKE_SOME_DUE,
                params![endpoint.as_str(), now.unix_millis(), BATCH_ROWS],
            )? == usize::from(BATCH_ROWS)
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

pub(super) fn counts(
    connection: &Connection,
    endpoint: Option<&EndpointId>,
) -> Result<OutboxCounts, Fault> {
    let counts = match endpoint {
        None => first(connection, COUNTS, []),
        Some(endpoint) => first(connection, COUNTS_OF_ENDPOINT, [endpoint.as_str()]),
    };
    counts.map(Option::unwrap_or_default)
}
