//! Storing a message once.

use crate::postgres::choice::written;
use crate::postgres::values::{bytes, entry_id, fingerprint, named, number};
use crate::postgres::{Fault, Typed, get, instant};
use bankrail_mailbox::{
    EntryId, InboxState, Incoming, KeyHash, KnownEntry, Lease, LeaseOwner, ReceiveDecision, ReceiveOutcome,
};
use bankrail_values::Timestamp;
use tokio_postgres::types::Type;
use tokio_postgres::{Row, Transaction};

/// Locks each key until the transaction ends, in ascending order, so that two messages with a key in common are stored
/// one after the other. The lock's number is the key's first eight bytes; two keys that share them wait for each other
/// without need.
const LOCK: &str = "SELECT pg_advisory_xact_lock(number) FROM unnest($1::bigint[]) AS number ORDER BY number";

/// Entries that have a key in common with the message.
const KNOWN: &str = "SELECT message.id, fingerprint, interim, coalesce(finished.state, 'pending') AS state,
        acknowledgement, conflicts_with, owner, until
    FROM bankrail_inbox AS message
    LEFT JOIN bankrail_inbox_queue AS queue ON queue.entry = message.id
    LEFT JOIN bankrail_inbox_finished AS finished ON finished.entry = message.id
    WHERE message.id IN (SELECT id FROM bankrail_inbox_key WHERE key = ANY ($1))";

/// Waits for those who work on these entries.
const LOCK_KNOWN: &str = "SELECT entry FROM bankrail_inbox_queue
    WHERE entry IN (SELECT id FROM bankrail_inbox_key WHERE key = ANY ($1)) ORDER BY entry FOR UPDATE";

const INSERT: &str = concat!(
    "WITH message AS (
        INSERT INTO bankrail_inbox (kind, attributes, fingerprint, acknowledgement, received, conflicts_with, body,
            interim, follows)
        VALUES ($1, $2, $3, $4, $5, $6, $9, $11, $12)
        RETURNING id),
    keys AS (
        INSERT INTO bankrail_inbox_key (key, fingerprint, id)
        SELECT key, $3, message.id FROM message, unnest($10::bytea[]) AS key)
    INSERT INTO bankrail_inbox_queue (entry, kind, follows, due, owner, until, waits, attempts, changed)
    SELECT id, $1, $12, $5, $7, $8, CASE WHEN $8 IS NOT NULL THEN greatest($5, $8) END, ($7 IS NOT NULL)::integer, ",
    written!("bankrail_inbox_cursor"),
    " FROM message RETURNING entry"
);

const FOLLOW: &str = "WITH pending AS (UPDATE bankrail_inbox_queue SET follows = $2 WHERE entry = $1 RETURNING entry)
    UPDATE bankrail_inbox SET follows = $2 FROM pending WHERE id = pending.entry";

const TAKE: &str = concat!(
    "UPDATE bankrail_inbox_queue SET owner = $2, until = $3, waits = greatest(due, $3), attempts = attempts + $4,
        changed = ",
    written!("bankrail_inbox_cursor"),
    " WHERE entry = $1 AND (owner IS NULL OR until <= $5 OR owner = $2)"
);

pub(in crate::postgres) async fn receive(
    transaction: &Transaction<'_>,
    message: &Incoming,
    lease: Option<Lease>,
    now: Timestamp,
) -> Result<ReceiveOutcome, Fault> {
    let locks: Vec<i64> = message.key.hashes().iter().map(lock_number).collect();
    transaction.query_typed(LOCK, &[(&locks, Type::INT8_ARRAY)]).await?;
    let keys: Vec<&[u8]> = message.key.hashes().iter().map(|key| key.as_bytes().as_slice()).collect();
    // A claim may take over an entry, so it waits for a worker's open transaction on it. A message that is only stored
    // reads committed rows, so that its sender does not wait for a handler.
    if lease.is_some() {
        transaction.query_typed(LOCK_KNOWN, &[(&keys, Type::BYTEA_ARRAY)]).await?;
    }
    let rows = transaction.query_typed(KNOWN, &[(&keys, Type::BYTEA_ARRAY)]).await?;
    let known = rows.iter().map(known_entry).collect::<Result<_, _>>()?;
    match ReceiveDecision::of(message, known, lease.as_ref(), now) {
        ReceiveDecision::Answer(outcome) => Ok(outcome),
        ReceiveDecision::Lease { outcome, attempts } => {
            let parameters: [Typed<'_>; 5] = [
                (&number(outcome.id()), Type::INT8),
                (&lease.as_ref().map(|lease| lease.owner.as_bytes().as_slice()), Type::BYTEA),
                (&lease.map(|lease| lease.until.unix_millis()), Type::INT8),
                (&i32::from(attempts == 1), Type::INT4),
                (&now.unix_millis(), Type::INT8),
            ];
            // An operator may have resent it since it was found.
            if transaction.execute_typed(TAKE, &parameters).await? == 0 {
                return Err(Fault::Lost("another worker has leased the message"));
            }
            Ok(outcome)
        }
        ReceiveDecision::Store { conflicts_with, follows, followed_by } => {
            let id = insert(transaction, message, (conflicts_with, follows), lease, now).await?;
            if let Some(result) = followed_by {
                let parameters: [Typed<'_>; 2] = [(&number(result), Type::INT8), (&number(id), Type::INT8)];
                transaction.execute_typed(FOLLOW, &parameters).await?;
            }
            Ok(ReceiveOutcome::work(id, message.acknowledgement.clone(), conflicts_with))
        }
    }
}

fn lock_number(key: &KeyHash) -> i64 {
    let [a, b, c, d, e, f, g, h, ..] = *key.as_bytes();
    i64::from_be_bytes([a, b, c, d, e, f, g, h])
}

fn known_entry(row: &Row) -> Result<KnownEntry, Fault> {
    let lease = match (get::<Option<&[u8]>>(row, "owner")?, get::<Option<i64>>(row, "until")?) {
        (Some(owner), Some(until)) => {
            let owner = LeaseOwner::from_random_bytes(owner.try_into().map_err(Fault::corrupt)?);
            Some(Lease { owner, until: instant(until)? })
        }
        _ => None,
    };
    Ok(KnownEntry {
        id: entry_id(get(row, "id")?)?,
        fingerprint: fingerprint(row)?,
        interim: get(row, "interim")?,
        state: named(row, "state", InboxState::from_name)?,
        acknowledgement: bytes(row, "acknowledgement")?,
        conflicts_with: get::<Option<i64>>(row, "conflicts_with")?.map(entry_id).transpose()?,
        lease,
    })
}

async fn insert(
    transaction: &Transaction<'_>,
    message: &Incoming,
    (conflicts_with, follows): (Option<EntryId>, Option<EntryId>),
    lease: Option<Lease>,
    now: Timestamp,
) -> Result<EntryId, Fault> {
    let keys: Vec<&[u8]> = message.key.hashes().iter().map(|key| key.as_bytes().as_slice()).collect();
    let parameters: [Typed<'_>; 12] = [
        (&message.kind.as_str(), Type::TEXT),
        (&&*message.attributes, Type::BYTEA),
        (&message.fingerprint.as_bytes().as_slice(), Type::BYTEA),
        (&&*message.acknowledgement, Type::BYTEA),
        (&now.unix_millis(), Type::INT8),
        (&conflicts_with.map(number), Type::INT8),
        (&lease.as_ref().map(|lease| lease.owner.as_bytes().as_slice()), Type::BYTEA),
        (&lease.map(|lease| lease.until.unix_millis()), Type::INT8),
        (&&*message.body, Type::BYTEA),
        (&keys, Type::BYTEA_ARRAY),
        (&message.interim, Type::BOOL),
        (&follows.map(number), Type::INT8),
    ];
    let row = transaction.query_typed(INSERT, &parameters).await?;
    entry_id(get(row.first().ok_or_else(|| Fault::corrupt("no number for a new entry"))?, "entry")?)
}
