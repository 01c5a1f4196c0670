//! Operations for operators.

use super::{SqliteOutbox, circuit};
use crate::columns::entry_number;
use crate::sqlite::connection::{Database, Fault};
use crate::sqlite::statements::{all, changes, first, readable_page, run};
use bankrail_mailbox::{
    DeliveryRecord, DropOutcome, EndpointBacklog, EndpointCircuit, EndpointId, EntryId,
    Intervention, Kind, OutboxCounts, OutboxEntry, OutboxOperator, OutboxQuery, OutboxState,
    OutboxSummary, StoppedEndpoint,
};
use bankrail_values::{StoreError, StoreFuture, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, params};
use std::collections::BTreeMap;

// Selects like `WITH_BODY`, with the state of a dropped entry, which is not in the entry's row.
const FIND: &str =
    "SELECT o.id, endpoint, kind, message_id, fingerprint, attributes, body, enqueued, due,
        deliveries, CASE WHEN EXISTS (SELECT 1 FROM bankrail_dropped WHERE entry = o.id)
        THEN 'dropped' ELSE state END AS state
    FROM bankrail_outbox o LEFT JOIN bankrail_outbox_body b ON b.id = o.id WHERE o.id = ?1";

/// Selects an entry without its payload. A dropped entry is `delivered` in its own row, so that
/// nobody delivers it.
const SUMMARY: &str =
    "SELECT id, endpoint, kind, message_id, enqueued, due, deliveries, until, finished, dropped_by,
        reason, CASE WHEN dropped_by IS NULL THEN state ELSE 'dropped' END AS state
    FROM bankrail_outbox LEFT JOIN bankrail_dropped ON entry = id
    WHERE id = ?1";

const DELIVERIES: &str = "SELECT started, duration, status, note FROM bankrail_delivery
    WHERE entry = ?1 ORDER BY number";

const RESEND: &str =
    "UPDATE bankrail_outbox SET state = 'pending', due = ?2, finished = NULL, deliveries = 0
    WHERE id = ?1 AND state <> 'pending'
        AND NOT EXISTS (SELECT 1 FROM bankrail_dropped WHERE entry = ?1)";

// Lists all entries after a given one, in the order of the table, so that only returned and skipped
// ones are read.
const LIST: &str =
    "SELECT id, endpoint, kind, message_id, enqueued, due, deliveries, until, finished, dropped_by,
        reason, CASE WHEN dropped_by IS NULL THEN state ELSE 'dropped' END AS state
    FROM bankrail_outbox LEFT JOIN bankrail_dropped ON entry = id
    WHERE id > ?2 AND (?1 IS NULL OR endpoint = ?1)
        AND (?3 IS NULL OR kind = ?3) AND (?4 IS NULL OR enqueued < ?4)
    ORDER BY id";

// Lists the dropped entries like `LIST`. All of them are read, because operators drop few.
const LIST_DROPPED: &str =
    "SELECT id, endpoint, kind, message_id, enqueued, due, deliveries, until, finished, dropped_by,
        reason, CASE WHEN dropped_by IS NULL THEN state ELSE 'dropped' END AS state
    FROM bankrail_outbox LEFT JOIN bankrail_dropped ON entry = id
    WHERE id IN (SELECT entry FROM bankrail_dropped) AND id > ?2 AND (?1 IS NULL OR endpoint = ?1)
        AND (?3 IS NULL OR kind = ?3) AND (?4 IS NULL OR enqueued < ?4)
    ORDER BY id";

// Resends a bounded number of dead letters after an entry, so that other writes run in between, and
// each is resent once even if it fails again meanwhile.
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

// Makes a bounded number of messages due, so that other writes run in between, in the order of the
// index of an endpoint's pending messages.
const MAKE_SOME_DUE: &str =
    "UPDATE bankrail_outbox SET due = ?2 WHERE id IN (SELECT id FROM bankrail_outbox
    WHERE state = 'pending' AND endpoint = ?1 AND due > ?2 ORDER BY due LIMIT ?3)";

const BATCH_ROWS: u16 = 500;

const RESUME: &str = "DELETE FROM bankrail_stopped WHERE endpoint = ?1";

const STOPPED: &str =
    "SELECT endpoint, since, stopped_by, reason FROM bankrail_stopped ORDER BY endpoint";

// Selects the next message of an endpoint in a state, by the index of endpoint and state. `?6`
// includes dropped messages.
const NEXT: &str = "SELECT id FROM bankrail_outbox WHERE state = ?5 AND endpoint = ?1 AND id > ?2
    AND (?3 IS NULL OR kind = ?3) AND (?4 IS NULL OR enqueued < ?4)
    AND (?6 OR NOT EXISTS (SELECT 1 FROM bankrail_dropped WHERE entry = id)) ORDER BY id LIMIT 1";

/// Selects the endpoints that have any message.
const COUNTED: &str = "SELECT endpoint FROM bankrail_outbox_count";

// Selects the counts, which the triggers of the schema update, so that no query counts messages.
const COUNTS: &str =
    "SELECT coalesce(sum(pending), 0) AS pending, coalesce(sum(delivered), 0) AS delivered,
        coalesce(sum(dead_letters), 0) AS dead_letters, coalesce(sum(dropped), 0) AS dropped
    FROM bankrail_outbox_count";

const COUNTS_OF_ENDPOINT: &str = "SELECT pending, delivered, dead_letters, dropped
    FROM bankrail_outbox_count WHERE endpoint = ?1";

// Selects backlogs. `min(due)` is one search in the index of an endpoint's pending messages, which
// is by due time.
const BACKLOGS: &str = "SELECT endpoint, pending, dead_letters,
        (SELECT min(due) FROM bankrail_outbox AS o
            WHERE state = 'pending' AND o.endpoint = c.endpoint) AS oldest
    FROM bankrail_outbox_count AS c WHERE endpoint > ?1 AND (pending > 0 OR dead_letters > 0)
    ORDER BY endpoint LIMIT ?2";

// Selects the oldest of the first pending messages of all endpoints, each by one search in the
// index.
const OLDEST: &str = "SELECT enqueued AS at FROM bankrail_outbox WHERE id = (
    SELECT min((SELECT min(id) FROM bankrail_outbox AS o
        WHERE state = 'pending' AND o.endpoint = c.endpoint))
    FROM bankrail_outbox_count AS c
    WHERE pending > 0 AND endpoint NOT IN (SELECT endpoint FROM bankrail_stopped))";

#[cfg(test)]
pub(in crate::sqlite) const DAILY: &[&str] = &[
    FIND,
    DELIVERIES,
    RESEND,
    RESEND_SOME,
    DROP,
    INSERT_DROPPED,
    LEASED_UNTIL,
    MAKE_SOME_DUE,
    RESUME,
];

/// The queries of operators, for the test of their plans.
#[cfg(test)]
pub(in crate::sqlite) const LOOKS: [&str; 6] =
    [NEXT, COUNTED, BACKLOGS, OLDEST, COUNTS, COUNTS_OF_ENDPOINT];

impl OutboxOperator for SqliteOutbox {
    fn list<'a>(&'a self, query: &'a OutboxQuery) -> StoreFuture<'a, Vec<OutboxSummary>> {
        let query = query.clone();
        self.database.read(move |connection| match query.state {
            Some(OutboxState::Dropped) => in_order_of_id(connection, LIST_DROPPED, &query),
            None if query.endpoint.is_none() => in_order_of_id(connection, LIST, &query),
            _ => merged(connection, &query),
        })
    }

    fn summary(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxSummary>> {
        self.database
            .read(move |connection| first(connection, SUMMARY, [entry_number(id)]))
    }

    fn deliveries(&self, id: EntryId) -> StoreFuture<'_, Vec<DeliveryRecord>> {
        self.database
            .read(move |connection| all(connection, DELIVERIES, [entry_number(id)]))
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxEntry>> {
        self.database
            .read(move |connection| first(connection, FIND, [entry_number(id)]))
    }

    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        self.database.write(move |connection| {
            changes(
                connection,
                RESEND,
                params![entry_number(id), now.unix_millis()],
            )
        })
    }

    fn drop_entry<'a>(
        &'a self,
        id: EntryId,
        intervention: &'a Intervention,
        now: Timestamp,
    ) -> StoreFuture<'a, DropOutcome> {
        let intervention = intervention.clone();
        self.database.write(move |connection| {
            let id = entry_number(id);
            if changes(connection, DROP, params![id, now.unix_millis()])? {
                let Intervention { by, reason } = &intervention;
                let values = params![id, by.as_str(), reason.as_str()];
                run(connection, INSERT_DROPPED, values)?;
                return Ok(DropOutcome::Dropped);
            }
            let leased = first(connection, LEASED_UNTIL, [id])?;
            Ok(leased.map_or(DropOutcome::NotOpen, |until| DropOutcome::Leased { until }))
        })
    }

    fn stopped_endpoints(&self) -> StoreFuture<'_, Vec<StoppedEndpoint>> {
        self.database
            .read(|connection| all(connection, STOPPED, []))
    }

    fn circuits(&self) -> StoreFuture<'_, Vec<EndpointCircuit>> {
        self.database
            .read(|connection| all(connection, circuit::ALL, []))
    }

    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>> {
        self.database
            .read(|connection| first(connection, OLDEST, []))
    }

    fn resend_all<'a>(&'a self, endpoint: &'a EndpointId, now: Timestamp) -> StoreFuture<'a, u64> {
        Box::pin(async move {
            let mut after = -1;
            let mut resent = 0;
            loop {
                let endpoint = endpoint.clone();
                let piece = self.database.write(move |connection| {
                    let mut resend = connection.prepare_cached(RESEND_SOME)?;
                    let values = params![endpoint.as_str(), now.unix_millis(), after];
                    let ids = resend.query_map(values, |row| row.get::<_, i64>(0))?;
                    Ok(ids.collect::<Result<Vec<_>, _>>()?)
                });
                let ids = piece.await?;
                let Some(last) = ids.iter().max() else {
                    return Ok(resent);
                };
                after = *last;
                resent += u64::try_from(ids.len()).unwrap_or(u64::MAX);
            }
        })
    }

    fn resume_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let last = &[circuit::FORGET, RESUME];
        Box::pin(make_due(&self.database, endpoint, now, last))
    }

    fn counts<'a>(&'a self, endpoint: Option<&'a EndpointId>) -> StoreFuture<'a, OutboxCounts> {
        let endpoint = endpoint.cloned();
        self.database.read(move |connection| {
            let counts = match &endpoint {
                None => first(connection, COUNTS, []),
                Some(endpoint) => first(connection, COUNTS_OF_ENDPOINT, [endpoint.as_str()]),
            };
            counts.map(Option::unwrap_or_default)
        })
    }

    fn backlogs<'a>(
        &'a self,
        after: Option<&'a EndpointId>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<EndpointBacklog>> {
        let after = after.map_or_else(String::new, |after| after.as_str().to_owned());
        let limit = limit.min(OutboxQuery::MAX_LIMIT);
        self.database
            .read(move |connection| all(connection, BACKLOGS, params![after, limit]))
    }
}

/// Lists all messages, or all dropped ones, after a given one.
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
        page.extend(readable_page(connection, SUMMARY, [id], 1)?);
    }
    Ok(page)
}

/// Makes the waiting messages of an endpoint due. Runs the statements `last` together with the last
/// of these messages, and returns true if the last statement has changed a row.
pub(super) async fn make_due(
    database: &Database,
    endpoint: &EndpointId,
    now: Timestamp,
    last: &'static [&'static str],
) -> Result<bool, StoreError> {
    loop {
        let endpoint = endpoint.clone();
        let piece = database.write(move |connection| {
            let values = params![endpoint.as_str(), now.unix_millis(), BATCH_ROWS];
            if run(connection, MAKE_SOME_DUE, values)? == usize::from(BATCH_ROWS) {
                return Ok(None);
            }
            let mut statements = last.iter();
            let changed = statements.try_fold(false, |_, sql| {
                changes(connection, sql, [endpoint.as_str()])
            });
            changed.map(Some)
        });
        if let Some(changed) = piece.await? {
            return Ok(changed);
        }
    }
}
