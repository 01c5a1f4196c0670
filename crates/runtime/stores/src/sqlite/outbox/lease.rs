//! The lease of the messages that are delivered next.
//!
//! The work is not proportional to the backlog: an endpoint that is down for days, or at its bound,
//! does not slow down the others. Endpoints are searched in the order of the round until enough of
//! them have due messages.

use super::{WITH_BODY, circuit};
use crate::columns::{corrupt, entry_number, readable};
use crate::sqlite::connection::Fault;
use crate::sqlite::statements::RowCells;
use bankrail_mailbox::{Circuit, EndpointId, EntryId, LeaseCandidate, LeaseRequest, OutboxEntry};
use bankrail_values::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

// Selects the next endpoint by one search in the index of pending messages; `DISTINCT` would read
// all messages.
const NEXT_ENDPOINT: &str = "SELECT endpoint FROM bankrail_outbox
    WHERE state = 'pending' AND endpoint > ?1 ORDER BY endpoint LIMIT 1";

const IS_STOPPED: &str = "SELECT 1 FROM bankrail_stopped WHERE endpoint = ?1";

const LEASED: &str =
    "SELECT count(*) FROM bankrail_outbox WHERE owner IS NOT NULL AND endpoint = ?1 AND until > ?2";

const FREE: &str =
    "SELECT id FROM bankrail_outbox WHERE state = 'pending' AND endpoint = ?1 AND due <= ?2
    AND (until IS NULL OR until <= ?2) ORDER BY due, id LIMIT ?3";

const TAKE: &str = "UPDATE bankrail_outbox SET owner = ?2, until = ?3 WHERE id = ?1";

const GIVE_UP: &str = "UPDATE bankrail_outbox
    SET state = 'dead_letter', finished = ?2, owner = NULL, until = NULL WHERE id = ?1";

const FIRST_FREE: &str =
    "SELECT due FROM bankrail_outbox WHERE state = 'pending' AND endpoint = ?1 AND owner IS NULL
    ORDER BY due, id LIMIT 1";

const FIRST_LEASED: &str =
    "SELECT min(max(due, until)) FROM bankrail_outbox WHERE owner IS NOT NULL AND endpoint = ?1";

#[cfg(test)]
pub(in crate::sqlite) const DAILY: &[&str] = &[
    TAKE,
    GIVE_UP,
    NEXT_ENDPOINT,
    IS_STOPPED,
    LEASED,
    FREE,
    FIRST_FREE,
    FIRST_LEASED,
];

/// Runs one call of [`bankrail_mailbox::Outbox::lease`].
pub(super) fn run(
    connection: &Connection,
    request: &LeaseRequest<'_>,
    now: Timestamp,
) -> Result<Vec<OutboxEntry>, Fault> {
    let slow: BTreeSet<&str> = request.slow.iter().map(EndpointId::as_str).collect();
    let mut candidates = Vec::new();
    let mut circuits = HashMap::new();
    let mut look = |endpoint: &str, circuit: Option<Circuit>, limit: u32| -> Result<bool, Fault> {
        if circuit.is_some_and(|circuit| circuit.is_held(now)) {
            return Ok(false);
        }
        let mut bound = request.per_endpoint;
        if let Some(circuit) = circuit {
            bound = circuit.bound(bound);
            circuits.insert(endpoint.to_owned(), circuit);
        }
        let mut leased = connection.prepare_cached(LEASED)?;
        let leased: u32 =
            leased.query_row(params![endpoint, now.unix_millis()], |row| row.get(0))?;
        let slots = match bound.saturating_sub(leased) {
            // A lease that is already over does not count, so it bounds nothing.
            1.. if request.lease.is_over(now) => u32::MAX,
            slots => slots,
        };
        let mut free = connection.prepare_cached(FREE)?;
        let most = params![endpoint, now.unix_millis(), slots.min(limit)];
        let rows = free.query_map(most, |row| row.get::<_, i64>(0))?;
        let before = candidates.len();
        for (turn, row) in (leased..=u32::MAX).zip(rows) {
            let id = u64::try_from(row?)
                .map(EntryId::new)
                .map_err(Fault::corrupt)?;
            candidates.push(LeaseCandidate {
                id,
                endpoint: endpoint.to_owned(),
                turn,
                slow: slow.contains(endpoint),
            });
        }
        Ok(leased == 0 && candidates.len() > before)
    };
    // `choose` takes entries of the first turn first, in the order of the round, so the search ends
    // with enough endpoints that have one.
    let mut missing = request.limit;
    let after = request.after.map_or("", EndpointId::as_str);
    for (from, until) in [(after, None), ("", Some(after))] {
        each_open_endpoint(connection, from, until, |endpoint, circuit| {
            if missing == 0 {
                return Ok(ControlFlow::Break(()));
            }
            if !slow.contains(endpoint) {
                missing -= u32::from(look(endpoint, circuit, request.limit)?);
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    for &endpoint in &slow {
        if let Some(circuit) = open_endpoint(connection, endpoint)? {
            look(endpoint, circuit, request.slow_limit)?;
        }
    }
    let mut find = connection.prepare_cached(WITH_BODY)?;
    let mut take = connection.prepare_cached(TAKE)?;
    let mut entries = Vec::new();
    for id in request.choose(candidates) {
        take.execute(params![
            entry_number(id),
            request.lease.owner.as_bytes(),
            request.lease.until.unix_millis()
        ])?;
        let mut taken = find.query_and_then([entry_number(id)], |row| {
            Ok::<_, Fault>(readable::<OutboxEntry>(&RowCells::new(row))?)
        })?;
        match taken.next().transpose()? {
            Some(Ok(mut entry)) => {
                entry.circuit = circuits.get(entry.message.endpoint.as_str()).copied();
                entries.push(entry);
            }
            // Made a dead letter, because each lease would find it again.
            Some(Err(id)) => {
                connection
                    .prepare_cached(GIVE_UP)?
                    .execute(params![entry_number(id), now.unix_millis()])?;
            }
            None => {}
        }
    }
    Ok(entries)
}

pub(super) fn next_due(connection: &Connection) -> Result<Option<Timestamp>, Fault> {
    let mut next: Option<i64> = None;
    each_open_endpoint(connection, "", None, |endpoint, circuit| {
        let free: Option<i64> = connection
            .prepare_cached(FIRST_FREE)?
            .query_row([endpoint], |row| row.get(0))
            .optional()?;
        let leased: Option<i64> = connection
            .prepare_cached(FIRST_LEASED)?
            .query_row([endpoint], |row| row.get(0))?;
        let held = circuit
            .and_then(|circuit| circuit.held_until())
            .map(Timestamp::unix_millis);
        let own = [free, leased]
            .into_iter()
            .flatten()
            .min()
            .map(|own| held.map_or(own, |held| held.max(own)));
        next = [next, own].into_iter().flatten().min();
        Ok(ControlFlow::Continue(()))
    })?;
    let out_of_range = || Fault::Store(corrupt("expected an instant in milliseconds"));
    next.map(|next| Timestamp::from_unix_millis(next).ok_or_else(out_of_range))
        .transpose()
}

/// Visits the endpoints with pending messages that are not stopped, with their circuits, in the
/// order of [`each_endpoint`].
fn each_open_endpoint(
    connection: &Connection,
    from: &str,
    until: Option<&str>,
    mut visit: impl FnMut(&str, Option<Circuit>) -> Result<ControlFlow<()>, Fault>,
) -> Result<(), Fault> {
    each_endpoint(connection, from, until, |endpoint| {
        match open_endpoint(connection, endpoint)? {
            Some(circuit) => visit(endpoint, circuit),
            None => Ok(ControlFlow::Continue(())),
        }
    })
}

/// Visits the endpoints with pending messages, in the order of their names, from the first one
/// after `from` up to `until`.
pub(super) fn each_endpoint(
    connection: &Connection,
    from: &str,
    until: Option<&str>,
    mut visit: impl FnMut(&str) -> Result<ControlFlow<()>, Fault>,
) -> Result<(), Fault> {
    let mut next_endpoint = connection.prepare_cached(NEXT_ENDPOINT)?;
    let mut endpoint = from.to_owned();
    while let Some(next) = next_endpoint
        .query_row([&endpoint], |row| row.get::<_, String>(0))
        .optional()?
    {
        endpoint = next;
        if until.is_some_and(|until| *endpoint > *until) {
            break;
        }
        if visit(&endpoint)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// Returns the circuit of an endpoint, if it has one; `None` if the endpoint is stopped.
fn open_endpoint(
    connection: &Connection,
    endpoint: &str,
) -> Result<Option<Option<Circuit>>, Fault> {
    if connection.prepare_cached(IS_STOPPED)?.exists([endpoint])? {
        return Ok(None);
    }
    Ok(Some(circuit::find(connection, endpoint)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankrail_mailbox::{Lease, LeaseOwner};
    use rusqlite::StatementStatus;

    /// A lease visits no more endpoints than it leases from, wherever the round begins.
    #[test]
    fn no_more_endpoints_are_looked_at_than_are_leased_from() {
        let mut connection = Connection::open_in_memory().unwrap();
        assert!(crate::sqlite::schema::migrate(&mut connection).is_ok());
        connection
            .execute_batch(
                "WITH RECURSIVE n (n) AS (VALUES (100) UNION ALL SELECT n + 1 FROM n WHERE n < 399)
                INSERT INTO bankrail_outbox (id, endpoint, kind, message_id, fingerprint, attributes, state, enqueued, due)
                SELECT n, n, 'query', '0b7c2f6e-8a1d-41eb-8dcd-' || (242000000000 + n), zeroblob(32), x'', 'pending', 0, 0
                FROM n;
                INSERT INTO bankrail_outbox_body (id, body) SELECT id, x'' FROM bankrail_outbox",
            )
            .unwrap();
        let now = Timestamp::from_unix_millis(1_000).unwrap();
        let lease = Lease {
            owner: LeaseOwner::from_random_bytes([1; 16]),
            until: Timestamp::from_unix_millis(9_000).unwrap(),
        };
        let slow = ["300".parse().unwrap()];
        let mut looked_at = 0;
        for (after, expected) in [(None, 100), (Some("395"), 396)] {
            let after: Option<EndpointId> = after.map(|name: &str| name.parse().unwrap());
            let request = LeaseRequest::new(lease, 8)
                .after(after.as_ref())
                .per_endpoint(1)
                .slow(&slow, 1, None);
            let leased = run(&connection, &request, now).map_err(|_| ()).unwrap();
            let endpoints: Vec<&str> = leased
                .iter()
                .map(|entry| entry.message.endpoint.as_str())
                .collect();
            let round = (expected..400)
                .chain(108..)
                .take(8)
                .map(|number: u32| number.to_string());
            let slow = looked_at == 0;
            assert_eq!(
                endpoints,
                round
                    .chain(slow.then(|| "300".to_owned()))
                    .collect::<Vec<_>>()
            );
            let total = connection
                .prepare_cached(LEASED)
                .unwrap()
                .get_status(StatementStatus::Run);
            // And the slow one, whose name is looked at in its own round.
            assert!(
                total - looked_at <= 18,
                "{} endpoints were looked at",
                total - looked_at
            );
            looked_at = total;
        }
    }
}
