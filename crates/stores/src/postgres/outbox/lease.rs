//! The choice of the messages that are delivered next.
//!
//! The work is proportional to the number of endpoints that have something pending and to the number of leases, not to
//! the backlog: an endpoint that is down for days, or at its bound, does not slow the others down.

use super::{COLUMNS, entry};
use crate::postgres::Fault;
use crate::postgres::inbox::Typed;
use crate::postgres::values::{Unreadable, number, readable};
use bankrail_mailbox::{EndpointId, LeaseRequest, OutboxEntry};
use bankrail_values::Timestamp;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

/// Workers choose one after the other, so that together they keep an endpoint's bound. Only this choice takes the lock.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('bankrail_outbox lease', 0))";

/// The endpoints that have something pending and are not stopped: from one name to the next by the index.
macro_rules! with_open_endpoints {
    ($rest:literal) => {
        concat!(
            "WITH RECURSIVE endpoints (name) AS (
                (SELECT endpoint FROM bankrail_outbox WHERE state = 'pending' ORDER BY endpoint LIMIT 1)
                UNION ALL
                SELECT (SELECT endpoint FROM bankrail_outbox WHERE state = 'pending' AND endpoint > name
                    ORDER BY endpoint LIMIT 1)
                FROM endpoints WHERE name IS NOT NULL),
            open AS (
                SELECT name FROM endpoints WHERE name IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM bankrail_stopped WHERE endpoint = name))",
            $rest
        )
    };
}

/// A lease that is already over does not count towards the bound.
const LEASE: &str = with_open_endpoints!(
    ", free AS MATERIALIZED (
        SELECT entry.id, entry.due FROM open
        CROSS JOIN LATERAL (SELECT greatest($5 - count(*), 0) AS slots FROM bankrail_outbox
            WHERE owner IS NOT NULL AND endpoint = name AND until > $3) AS bound
        CROSS JOIN LATERAL (SELECT id, due FROM bankrail_outbox
            WHERE state = 'pending' AND endpoint = name AND due <= $3 AND (until IS NULL OR until <= $3)
            ORDER BY due, id
            LIMIT CASE WHEN slots > 0 AND $2 <= $3 THEN $4 ELSE least($4, slots) END
            FOR UPDATE SKIP LOCKED) AS entry
        WHERE name <> ALL ($6))
    UPDATE bankrail_outbox SET owner = $1, until = $2
    WHERE id IN (SELECT id FROM free ORDER BY due, id LIMIT $4) RETURNING "
);

const GIVE_UP: &str =
    "UPDATE bankrail_outbox SET state = 'dead_letter', finished = $2, owner = NULL, until = NULL WHERE id = $1";

pub(super) const NEXT_DUE: &str = with_open_endpoints!(
    " SELECT min(least(
        (SELECT due FROM bankrail_outbox WHERE state = 'pending' AND endpoint = name AND owner IS NULL
            ORDER BY due, id LIMIT 1),
        (SELECT min(greatest(due, until)) FROM bankrail_outbox WHERE owner IS NOT NULL AND endpoint = name))) AS due
    FROM open"
);

pub(super) async fn lease(
    client: &mut Client,
    request: LeaseRequest<'_>,
    now: Timestamp,
) -> Result<Vec<OutboxEntry>, Fault> {
    let except: Vec<&str> = request.except.iter().map(EndpointId::as_str).collect();
    let parameters: [Typed<'_>; 6] = [
        (&request.lease.owner.as_bytes().as_slice(), Type::BYTEA),
        (&request.lease.until.unix_millis(), Type::INT8),
        (&now.unix_millis(), Type::INT8),
        (&i64::from(request.limit), Type::INT8),
        (&i64::from(request.per_endpoint), Type::INT8),
        (&except, Type::TEXT_ARRAY),
    ];
    let transaction = client.transaction().await?;
    transaction.batch_execute(LOCK).await?;
    let rows = transaction.query_typed(&format!("{LEASE}{COLUMNS}"), &parameters).await?;
    let mut entries = Vec::with_capacity(rows.len());
    for row in &rows {
        match readable(row, entry)? {
            Ok(entry) => entries.push(entry),
            // Otherwise each lease would find it again.
            Err(Unreadable(id)) => {
                let parameters: [Typed<'_>; 2] = [(&number(id), Type::INT8), (&now.unix_millis(), Type::INT8)];
                transaction.execute_typed(GIVE_UP, &parameters).await?;
            }
        }
    }
    transaction.commit().await?;
    // An update returns its rows in no particular order.
    entries.sort_unstable_by_key(|entry| (entry.due, entry.id));
    Ok(entries)
}
