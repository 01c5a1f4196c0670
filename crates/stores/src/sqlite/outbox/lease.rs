//! The choice of the messages that are delivered next.
//!
//! The work is proportional to the number of endpoints that have something pending and to the number of leases, not to
//! the backlog: an endpoint that is down for days, or at its bound, does not slow the others down.

use super::{WITH_BODY, circuit};
use crate::columns::{corrupt, entry_number, readable};
use crate::sqlite::connection::Fault;
use bankrail_mailbox::{Circuit, EndpointId, EntryId, LeaseCandidate, LeaseRequest, OutboxEntry};
use bankrail_values::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::{HashMap, HashSet};

/// Finds the next endpoint's name by the index.
const NEXT_ENDPOINT: &str = "SELECT endpoint FROM bankrail_outbox
    WHERE state = 'pending' AND endpoint > ?1 ORDER BY endpoint LIMIT 1";

const IS_STOPPED: &str = "SELECT 1 FROM bankrail_stopped WHERE endpoint = ?1";

const LEASED: &str = "SELECT count(*) FROM bankrail_outbox WHERE owner IS NOT NULL AND endpoint = ?1 AND until > ?2";

const FREE: &str = "SELECT id FROM bankrail_outbox WHERE state = 'pending' AND endpoint = ?1 AND due <= ?2
    AND (until IS NULL OR until <= ?2) ORDER BY due, id LIMIT ?3";

const TAKE: &str = "UPDATE bankrail_outbox SET owner = ?2, until = ?3 WHERE id = ?1";

const GIVE_UP: &str =
    "UPDATE bankrail_outbox SET state = 'dead_letter', finished = ?2, owner = NULL, until = NULL WHERE id = ?1";

const FIRST_FREE: &str = "SELECT due FROM bankrail_outbox WHERE state = 'pending' AND endpoint = ?1 AND owner IS NULL
    ORDER BY due, id LIMIT 1";

const FIRST_LEASED: &str = "SELECT min(max(due, until)) FROM bankrail_outbox WHERE owner IS NOT NULL AND endpoint = ?1";

#[cfg(test)]
pub(in crate::sqlite) const DAILY: &[&str] =
    &[TAKE, GIVE_UP, NEXT_ENDPOINT, IS_STOPPED, LEASED, FREE, FIRST_FREE, FIRST_LEASED];

/// One call of [`bankrail_mailbox::Outbox::lease`].
pub(super) fn run(
    connection: &Connection,
    request: &LeaseRequest<'_>,
    now: Timestamp,
) -> Result<Vec<OutboxEntry>, Fault> {
    let slow: HashSet<&str> = request.slow.iter().map(EndpointId::as_str).collect();
    let mut candidates = Vec::new();
    let mut circuits = HashMap::new();
    each_open_endpoint(connection, |endpoint, circuit| {
        if circuit.is_some_and(|circuit| circuit.is_held(now)) {
            return Ok(());
        }
        let mut bound = request.per_endpoint;
        if let Some(circuit) = circuit {
            bound = circuit.bound(bound);
            circuits.insert(endpoint.to_owned(), circuit);
        }
        let slow = slow.contains(endpoint);
        let mut leased = connection.prepare_cached(LEASED)?;
        let leased: u32 = leased.query_row(params![endpoint, now.unix_millis()], |row| row.get(0))?;
        let slots = match bound.saturating_sub(leased) {
            // A lease that is already over does not count.
            1.. if request.lease.is_over(now) => u32::MAX,
            slots => slots,
        };
        let most = slots.min(if slow { request.slow_limit } else { request.limit });
        let mut free = connection.prepare_cached(FREE)?;
        let rows = free.query_map(params![endpoint, now.unix_millis(), most], |row| row.get::<_, i64>(0))?;
        for (turn, row) in (leased..=u32::MAX).zip(rows) {
            let id = u64::try_from(row?).map(EntryId::new).map_err(Fault::corrupt)?;
            candidates.push(LeaseCandidate { id, endpoint: endpoint.to_owned(), turn, slow });
        }
        Ok(())
    })?;
    let mut find = connection.prepare_cached(WITH_BODY)?;
    let mut take = connection.prepare_cached(TAKE)?;
    let mut entries = Vec::new();
    for id in request.choose(candidates) {
        take.execute(params![entry_number(id), request.lease.owner.as_bytes(), request.lease.until.unix_millis()])?;
        let mut taken = find.query_and_then([entry_number(id)], |row| Ok::<_, Fault>(readable::<OutboxEntry>(row)?))?;
        match taken.next().transpose()? {
            Some(Ok(entry)) => {
                let circuit = circuits.get(entry.message.endpoint.as_str()).copied();
                entries.push(OutboxEntry { circuit, ..entry });
            }
            // Otherwise each lease would find it again.
            Some(Err(id)) => {
                connection.prepare_cached(GIVE_UP)?.execute(params![entry_number(id), now.unix_millis()])?;
            }
            None => {}
        }
    }
    Ok(entries)
}

pub(super) fn next_due(connection: &Connection) -> Result<Option<Timestamp>, Fault> {
    let mut next: Option<i64> = None;
    each_open_endpoint(connection, |endpoint, circuit| {
        let free: Option<i64> =
            connection.prepare_cached(FIRST_FREE)?.query_row([endpoint], |row| row.get(0)).optional()?;
        let leased: Option<i64> = connection.prepare_cached(FIRST_LEASED)?.query_row([endpoint], |row| row.get(0))?;
        let held = circuit.and_then(|circuit| circuit.held_until()).map(Timestamp::unix_millis);
        let own = [free, leased].into_iter().flatten().min().map(|own| held.map_or(own, |held| held.max(own)));
        next = [next, own].into_iter().flatten().min();
        Ok(())
    })?;
    let out_of_range = || Fault::Store(corrupt("expected an instant in milliseconds"));
    next.map(|next| Timestamp::from_unix_millis(next).ok_or_else(out_of_range)).transpose()
}

/// Visits the endpoints that have something pending and are not stopped, with their circuits.
fn each_open_endpoint(
    connection: &Connection,
    mut visit: impl FnMut(&str, Option<Circuit>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let any_circuit = circuit::any(connection)?;
    let mut next_endpoint = connection.prepare_cached(NEXT_ENDPOINT)?;
    let mut is_stopped = connection.prepare_cached(IS_STOPPED)?;
    let mut endpoint = String::new();
    while let Some(next) = next_endpoint.query_row([&endpoint], |row| row.get::<_, String>(0)).optional()? {
        endpoint = next;
        if !is_stopped.exists([&endpoint])? {
            let circuit = if any_circuit { circuit::find(connection, &endpoint)? } else { None };
            visit(&endpoint, circuit)?;
        }
    }
    Ok(())
}
