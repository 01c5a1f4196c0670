//! The choice of the messages that are delivered next.
//!
//! The work is proportional to the number of endpoints that have something pending and to the number of leases, not to
//! the backlog: an endpoint that is down for days, or at its bound, does not slow the others down.

use super::circuit::circuit;
use super::{COLUMNS, entry};
use crate::postgres::values::{Unreadable, number, readable};
use crate::postgres::{Fault, Typed};
use bankrail_mailbox::{EndpointId, LeaseRequest, OutboxEntry};
use bankrail_values::Timestamp;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

/// Workers choose one after the other, so that together they keep an endpoint's bound. Only this choice takes the lock.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('bankrail_outbox lease', 0))";

/// The endpoints that have something pending and are not stopped, with their circuits: from one name to the next by the
/// index.
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
                SELECT name, openings, open_until, rests_until FROM endpoints
                LEFT JOIN bankrail_circuit AS circuit ON circuit.endpoint = name WHERE name IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM bankrail_stopped AS stopped WHERE stopped.endpoint = name))",
            $rest
        )
    };
}

/// Chooses as `LeaseRequest::choose` does. A lease that is already over does not count towards an endpoint's bound.
/// Once an entry does not fit into a limit, no later one does, so the places of those that fit have no gaps.
const LEASE: &str = with_open_endpoints!(
    ", free AS MATERIALIZED (
        SELECT entry.id, entry.due, name, leased, is_slow, most, openings, open_until, rests_until FROM open
        CROSS JOIN LATERAL (SELECT count(*) AS leased FROM bankrail_outbox
            WHERE owner IS NOT NULL AND endpoint = name AND until > $3) AS bound
        CROSS JOIN LATERAL (SELECT CASE WHEN openings > 0 THEN least($5, 1) ELSE $5 END AS allowed) AS circuit
        CROSS JOIN LATERAL (SELECT name = ANY ($7) AS is_slow) AS slowness
        CROSS JOIN LATERAL (SELECT CASE WHEN is_slow THEN $8 ELSE $4 END AS most) AS bounds
        CROSS JOIN LATERAL (SELECT id, due FROM bankrail_outbox
            WHERE state = 'pending' AND endpoint = name AND due <= $3 AND (until IS NULL OR until <= $3)
            ORDER BY due, id
            LIMIT CASE WHEN leased < allowed AND $2 <= $3 THEN most
                ELSE least(most, greatest(allowed - leased, 0)) END
            FOR UPDATE SKIP LOCKED) AS entry
        WHERE name <> ALL ($6) AND (open_until IS NULL OR open_until <= $3)
            AND (rests_until IS NULL OR rests_until <= $3)),
    turns AS (
        SELECT id, name, is_slow, most, openings, open_until, rests_until,
            leased - 1 + row_number() OVER (PARTITION BY name ORDER BY due, id) AS turn,
            name <= CASE WHEN is_slow THEN $11 ELSE $10 END AS next_round
        FROM free),
    places AS (
        SELECT id AS chosen, is_slow, most, turn, openings, open_until, rests_until,
            row_number() OVER (PARTITION BY is_slow ORDER BY turn, next_round, name) AS place
        FROM turns)
    UPDATE bankrail_outbox SET owner = $1, until = $2 FROM places
    WHERE id = chosen AND place + turn * $9 <= most RETURNING is_slow, place, openings, open_until, rests_until, "
);

const GIVE_UP: &str =
    "UPDATE bankrail_outbox SET state = 'dead_letter', finished = $2, owner = NULL, until = NULL WHERE id = $1";

pub(super) const NEXT_DUE: &str = with_open_endpoints!(
    " SELECT min(greatest(open_until, rests_until, least(
        (SELECT due FROM bankrail_outbox WHERE state = 'pending' AND endpoint = name AND owner IS NULL
            ORDER BY due, id LIMIT 1),
        (SELECT min(greatest(due, until)) FROM bankrail_outbox WHERE owner IS NOT NULL AND endpoint = name)))) AS due
    FROM open"
);

pub(super) async fn lease<'a>(
    client: &mut Client,
    request: LeaseRequest<'a>,
    now: Timestamp,
) -> Result<Vec<OutboxEntry>, Fault> {
    let names = |endpoints: &'a [EndpointId]| endpoints.iter().map(EndpointId::as_str).collect::<Vec<_>>();
    let (except, slow) = (names(request.except), names(request.slow));
    // No name is empty: after this one comes the first.
    let name = |endpoint: Option<&'a EndpointId>| endpoint.map_or("", EndpointId::as_str);
    let parameters: [Typed<'_>; 11] = [
        (&request.lease.owner.as_bytes().as_slice(), Type::BYTEA),
        (&request.lease.until.unix_millis(), Type::INT8),
        (&now.unix_millis(), Type::INT8),
        (&i64::from(request.limit), Type::INT8),
        (&i64::from(request.per_endpoint), Type::INT8),
        (&except, Type::TEXT_ARRAY),
        (&slow, Type::TEXT_ARRAY),
        (&i64::from(request.slow_limit), Type::INT8),
        (&i64::from(request.reserve), Type::INT8),
        (&name(request.after), Type::TEXT),
        (&name(request.slow_after), Type::TEXT),
    ];
    let transaction = client.transaction().await?;
    transaction.batch_execute(LOCK).await?;
    let mut rows = transaction.query_typed(&format!("{LEASE}{COLUMNS}"), &parameters).await?;
    // An update returns its rows in no particular order.
    rows.sort_by_cached_key(|row| (row.try_get::<_, bool>("is_slow").ok(), row.try_get::<_, i64>("place").ok()));
    let mut entries = Vec::with_capacity(rows.len());
    for row in &rows {
        match readable(row, entry)? {
            Ok(entry) => entries.push(OutboxEntry { circuit: circuit(row)?, ..entry }),
            // Otherwise each lease would find it again.
            Err(Unreadable(id)) => {
                let parameters: [Typed<'_>; 2] = [(&number(id), Type::INT8), (&now.unix_millis(), Type::INT8)];
                transaction.execute_typed(GIVE_UP, &parameters).await?;
            }
        }
    }
    transaction.commit().await?;
    Ok(entries)
}
