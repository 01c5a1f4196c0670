//! Storing a message once.

use super::{Typed, acknowledgement};
use crate::postgres::Fault;
use crate::postgres::values::{entry_id, get, number};
use bankrail_values::Timestamp;
use bankrail_webhook::{Acknowledgement, EntryId, Finding, InboxState, Incoming, KeyHash, Lease, Verdict};
use tokio_postgres::types::Type;
use tokio_postgres::{Row, Transaction};

/// Two messages with a key in common are stored one after the other: each key is locked until the transaction ends, in
/// ascending order. The lock's number is the key's first eight octets; keys that share them wait without need.
const LOCK: &str = "SELECT pg_advisory_xact_lock(number) FROM unnest($1::bigint[]) AS number ORDER BY number";

/// Entries that have a key in common with the message, earliest first.
const KNOWN: &str = "SELECT id, fingerprint, state, acknowledgement, conflicts_with, owner, until FROM bankrail_inbox
    WHERE id IN (SELECT id FROM bankrail_inbox_key WHERE key = ANY ($1)) ORDER BY id";

const INSERT: &str = "WITH entry AS (
        INSERT INTO bankrail_inbox (kind, request_key, message_id, correlation_id, priority, fingerprint,
            acknowledgement, received, conflicts_with, state, due, owner, until, waits, attempts, body, header_findings)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'pending', $8, $10, $11,
            CASE WHEN $11 IS NOT NULL THEN greatest($8, $11) END, ($10 IS NOT NULL)::integer, $12, $14)
        RETURNING id),
    keys AS (
        INSERT INTO bankrail_inbox_key (key, fingerprint, id)
        SELECT key, $6, entry.id FROM entry, unnest($13::bytea[]) AS key)
    SELECT id FROM entry";

const TAKE: &str =
    "UPDATE bankrail_inbox SET owner = $2, until = $3, waits = greatest(due, $3), attempts = attempts + $4
    WHERE id = $1";

/// What is known of an entry that has a key in common with a message.
struct Known {
    id: EntryId,
    same: bool,
    finished: bool,
    acknowledgement: Acknowledgement,
    conflicts_with: Option<EntryId>,
    owner: Option<Vec<u8>>,
    until: Option<i64>,
}

pub(in crate::postgres) async fn receive(
    transaction: &Transaction<'_>,
    message: &Incoming,
    lease: Option<Lease>,
    now: Timestamp,
) -> Result<Verdict, Fault> {
    let locks: Vec<i64> = message.key.keys().iter().map(lock_number).collect();
    transaction.query_typed(LOCK, &[(&locks, Type::INT8_ARRAY)]).await?;
    let keys: Vec<&[u8]> = message.key.keys().iter().map(|key| key.as_bytes().as_slice()).collect();
    // A claim may take an entry that a worker is at, and waits for the end of its step. A message that is only stored
    // reads what is committed: its sender is not kept waiting by a handler.
    let locking = if lease.is_some() { " FOR UPDATE" } else { "" };
    let rows = transaction.query_typed(&format!("{KNOWN}{locking}"), &[(&keys, Type::BYTEA_ARRAY)]).await?;
    let mut known = rows.iter().map(|row| read_known(row, message)).collect::<Result<Vec<_>, _>>()?;
    if let Some(same) = known.iter().position(|known| known.same) {
        return again(transaction, known.swap_remove(same), lease, now).await;
    }
    let with = known.first().map(|known| known.id);
    let id = insert(transaction, message, with, lease, now).await?;
    let acknowledgement = message.acknowledgement.clone();
    Ok(match with {
        None => Verdict::New { id, acknowledgement },
        Some(with) => Verdict::Conflict { id, acknowledgement, with },
    })
}

fn lock_number(key: &KeyHash) -> i64 {
    let [a, b, c, d, e, f, g, h, ..] = *key.as_bytes();
    i64::from_be_bytes([a, b, c, d, e, f, g, h])
}

fn read_known(row: &Row, message: &Incoming) -> Result<Known, Fault> {
    Ok(Known {
        id: entry_id(get(row, 0)?)?,
        same: get::<&[u8]>(row, 1)? == message.fingerprint.as_bytes(),
        finished: get::<&str>(row, 2)? != InboxState::Pending.as_str(),
        acknowledgement: acknowledgement(row, 3)?,
        conflicts_with: get::<Option<i64>>(row, 4)?.map(entry_id).transpose()?,
        owner: get(row, 5)?,
        until: get(row, 6)?,
    })
}

/// The verdict on a message that is there already, after the lease that a claim takes of it.
async fn again(
    transaction: &Transaction<'_>,
    known: Known,
    lease: Option<Lease>,
    now: Timestamp,
) -> Result<Verdict, Fault> {
    let Known { id, acknowledgement, .. } = known;
    if known.finished {
        return Ok(Verdict::Duplicate { id, acknowledgement });
    }
    let free = known.until.is_none_or(|until| until <= now.unix_millis());
    let Some(lease) = lease.filter(|lease| free || known.owner.as_deref() == Some(lease.owner.as_bytes())) else {
        return Ok(Verdict::InProgress { id, acknowledgement });
    };
    // The owner's own repetition is the same lease.
    let parameters: [Typed<'_>; 4] = [
        (&number(id), Type::INT8),
        (&lease.owner.as_bytes().as_slice(), Type::BYTEA),
        (&lease.until.unix_millis(), Type::INT8),
        (&i32::from(free), Type::INT4),
    ];
    transaction.execute_typed(TAKE, &parameters).await?;
    Ok(match known.conflicts_with {
        None => Verdict::New { id, acknowledgement },
        Some(with) => Verdict::Conflict { id, acknowledgement, with },
    })
}

async fn insert(
    transaction: &Transaction<'_>,
    message: &Incoming,
    conflicts_with: Option<EntryId>,
    lease: Option<Lease>,
    now: Timestamp,
) -> Result<EntryId, Fault> {
    let headers = &message.headers;
    let keys: Vec<&[u8]> = message.key.keys().iter().map(|key| key.as_bytes().as_slice()).collect();
    let parameters: [Typed<'_>; 14] = [
        (&message.kind.as_str(), Type::TEXT),
        (&headers.request_key.map(|id| id.to_string()), Type::TEXT),
        (&headers.message_id.to_string(), Type::TEXT),
        (&headers.correlation_id.map(|id| id.to_string()), Type::TEXT),
        (&headers.priority.map(|priority| priority.as_str()), Type::TEXT),
        (&message.fingerprint.as_bytes().as_slice(), Type::BYTEA),
        (&message.acknowledgement.to_json(), Type::BYTEA),
        (&now.unix_millis(), Type::INT8),
        (&conflicts_with.map(number), Type::INT8),
        (&lease.as_ref().map(|lease| lease.owner.as_bytes().as_slice()), Type::BYTEA),
        (&lease.map(|lease| lease.until.unix_millis()), Type::INT8),
        (&message.body, Type::BYTEA),
        (&keys, Type::BYTEA_ARRAY),
        (&Finding::list_to_json(&message.header_findings), Type::TEXT),
    ];
    let row = transaction.query_typed(INSERT, &parameters).await?;
    entry_id(get(row.first().ok_or_else(|| Fault::corrupt("no number for a new entry"))?, 0)?)
}
