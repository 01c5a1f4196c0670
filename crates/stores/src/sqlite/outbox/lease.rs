//! The choice of the messages that are delivered next.
//!
//! The work is proportional to the number of endpoints that have something pending and to the number of leases, not to
//! the backlog: an endpoint that is down for days, or at its bound, does not slow the others down.

use super::{COLUMNS, entry};
use crate::sqlite::connection::Fault;
use crate::sqlite::instant;
use crate::sqlite::values::{Unreadable, readable};
use bankrail_mailbox::{EndpointId, Lease, OutboxEntry};
use bankrail_values::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

/// Finds the next endpoint's name by the index.
const NEXT_ENDPOINT: &str = "SELECT endpoint FROM bankrail_outbox
    WHERE state = 'pending' AND endpoint > ?1 ORDER BY endpoint LIMIT 1";

const IS_STOPPED: &str = "SELECT 1 FROM bankrail_stopped WHERE endpoint = ?1";

const LEASED: &str = "SELECT count(*) FROM bankrail_outbox WHERE owner IS NOT NULL AND endpoint = ?1 AND until > ?2";

const FREE: &str = "SELECT due, id FROM bankrail_outbox WHERE state = 'pending' AND endpoint = ?1 AND due <= ?2
    AND (until IS NULL OR until <= ?2) ORDER BY due, id LIMIT ?3";

const TAKE: &str = "UPDATE bankrail_outbox SET owner = ?2, until = ?3 WHERE id = ?1 RETURNING ";

const GIVE_UP: &str =
    "UPDATE bankrail_outbox SET state = 'dead_letter', finished = ?2, owner = NULL, until = NULL WHERE id = ?1";

const FIRST_FREE: &str = "SELECT due FROM bankrail_outbox WHERE state = 'pending' AND endpoint = ?1 AND owner IS NULL
    ORDER BY due, id LIMIT 1";

const FIRST_LEASED: &str = "SELECT min(max(due, until)) FROM bankrail_outbox WHERE owner IS NOT NULL AND endpoint = ?1";

#[cfg(test)]
pub(in crate::sqlite) const DAILY: &[&str] =
    &[TAKE, GIVE_UP, NEXT_ENDPOINT, IS_STOPPED, LEASED, FREE, FIRST_FREE, FIRST_LEASED];

/// One call of [`bankrail_mailbox::Outbox::lease`].
pub(super) struct Work {
    pub(super) lease: Lease,
    pub(super) limit: u32,
    pub(super) per_endpoint: u32,
    pub(super) except: Vec<EndpointId>,
    pub(super) now: Timestamp,
}

impl Work {
    pub(super) fn run(self, connection: &Connection) -> Result<Vec<OutboxEntry>, Fault> {
        let mut free: Vec<(i64, i64)> = Vec::new();
        each_open_endpoint(connection, |endpoint| {
            if self.except.iter().any(|except| except.as_str() == endpoint) {
                return Ok(());
            }
            let slots = self.limit.min(self.slots(connection, endpoint)?);
            let mut statement = connection.prepare_cached(FREE)?;
            let rows = statement.query_map(params![endpoint, self.now.unix_millis(), slots], |row| row.try_into())?;
            for row in rows {
                free.push(row?);
            }
            Ok(())
        })?;
        free.sort_unstable();
        free.truncate(usize::try_from(self.limit).unwrap_or(usize::MAX));
        let mut take = connection.prepare_cached(&format!("{TAKE}{COLUMNS}"))?;
        let mut entries = Vec::with_capacity(free.len());
        for (_, id) in free {
            let parameters = params![id, self.lease.owner.as_bytes(), self.lease.until.unix_millis()];
            let taken = take.query_and_then(parameters, |row| readable(row, entry))?.next().transpose()?;
            match taken {
                Some(Ok(entry)) => entries.push(entry),
                // Otherwise each lease would find it again.
                Some(Err(Unreadable(id))) => {
                    connection.prepare_cached(GIVE_UP)?.execute(params![id, self.now.unix_millis()])?;
                }
                None => {}
            }
        }
        Ok(entries)
    }

    /// The number of further entries of an endpoint that may be leased.
    fn slots(&self, connection: &Connection, endpoint: &str) -> Result<u32, Fault> {
        let mut leased = connection.prepare_cached(LEASED)?;
        let leased: u32 = leased.query_row(params![endpoint, self.now.unix_millis()], |row| row.get(0))?;
        Ok(match self.per_endpoint.saturating_sub(leased) {
            // A lease that is already over does not count.
            1.. if self.lease.until <= self.now => u32::MAX,
            slots => slots,
        })
    }
}

pub(super) fn next_due(connection: &Connection) -> Result<Option<Timestamp>, Fault> {
    let mut next: Option<i64> = None;
    each_open_endpoint(connection, |endpoint| {
        let free: Option<i64> =
            connection.prepare_cached(FIRST_FREE)?.query_row([endpoint], |row| row.get(0)).optional()?;
        let leased: Option<i64> = connection.prepare_cached(FIRST_LEASED)?.query_row([endpoint], |row| row.get(0))?;
        next = [next, free, leased].into_iter().flatten().min();
        Ok(())
    })?;
    next.map(instant).transpose()
}

/// Visits the endpoints that have something pending and are not stopped.
fn each_open_endpoint(connection: &Connection, mut visit: impl FnMut(&str) -> Result<(), Fault>) -> Result<(), Fault> {
    let mut next_endpoint = connection.prepare_cached(NEXT_ENDPOINT)?;
    let mut is_stopped = connection.prepare_cached(IS_STOPPED)?;
    let mut endpoint = String::new();
    while let Some(next) = next_endpoint.query_row([&endpoint], |row| row.get::<_, String>(0)).optional()? {
        endpoint = next;
        if !is_stopped.exists([&endpoint])? {
            visit(&endpoint)?;
        }
    }
    Ok(())
}
