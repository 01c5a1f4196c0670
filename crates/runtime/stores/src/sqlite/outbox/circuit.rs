//! The circuits of endpoints.

use crate::sqlite::connection::Fault;
use crate::sqlite::statements::{first, run};
use bankrail_mailbox::{Circuit, EndpointId};
use bankrail_values::Timestamp;
use rusqlite::{Connection, params};

const FIND: &str =
    "SELECT openings, open_until, rests_until FROM bankrail_circuit WHERE endpoint = ?1";

const KEEP: &str = "INSERT INTO bankrail_circuit (endpoint, openings, open_until, rests_until)
    VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (endpoint) DO UPDATE
    SET openings = excluded.openings, open_until = excluded.open_until,
    rests_until = excluded.rests_until";

pub(super) const FORGET: &str = "DELETE FROM bankrail_circuit WHERE endpoint = ?1";

pub(super) const RECALL: &str =
    "DELETE FROM bankrail_circuit WHERE open_until > ?1 OR rests_until > ?1";

pub(super) const END_OPENING: &str =
    "UPDATE bankrail_circuit SET open_until = NULL WHERE endpoint = ?1";

pub(super) const ALL: &str =
    "SELECT endpoint, openings, open_until, rests_until FROM bankrail_circuit ORDER BY endpoint";

#[cfg(test)]
pub(in crate::sqlite) const DAILY: &[&str] = &[FIND, KEEP, FORGET, END_OPENING];

pub(super) fn find(connection: &Connection, endpoint: &str) -> Result<Option<Circuit>, Fault> {
    first(connection, FIND, [endpoint])
}

pub(super) fn hold(
    connection: &Connection,
    endpoint: &EndpointId,
    news: Circuit,
) -> Result<(), Fault> {
    let kept = find(connection, endpoint.as_str())?.unwrap_or_default();
    keep(connection, endpoint, Some(kept.joined(news)))
}

pub(super) fn close(
    connection: &Connection,
    endpoint: &EndpointId,
    now: Timestamp,
) -> Result<(), Fault> {
    match find(connection, endpoint.as_str())? {
        Some(kept) => keep(connection, endpoint, kept.closed(now)),
        None => Ok(()),
    }
}

pub(super) fn forget(connection: &Connection, endpoint: &str) -> Result<(), Fault> {
    run(connection, FORGET, [endpoint]).map(drop)
}

pub(super) fn keep(
    connection: &Connection,
    endpoint: &EndpointId,
    circuit: Option<Circuit>,
) -> Result<(), Fault> {
    let Some(Circuit {
        openings,
        open_until,
        rests_until,
    }) = circuit
    else {
        return forget(connection, endpoint.as_str());
    };
    let [open_until, rests_until] =
        [open_until, rests_until].map(|until| until.map(Timestamp::unix_millis));
    run(
        connection,
        KEEP,
        params![endpoint.as_str(), openings, open_until, rests_until],
    )
    .map(drop)
}
