//! Storing a message once.

use crate::postgres::choice::written;
use crate::postgres::session::Session;
use crate::postgres::values::{bytes, entry_id, fingerprint, named, number};
use crate::postgres::{Fault, Typed, get, instant};
use bankrail_mailbox::{
    EntryId, InboxState, Incoming, KeyHash, KnownEntry, Lease, LeaseOwner, ReceiveDecision, ReceiveOutcome,
};
use bankrail_values::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

/// Locks each key until the transaction ends, in ascending order, so that two messages with a key in common are stored
/// one after the other. The lock's number is the key's first eight bytes; two keys that share them wait for each other
/// without need.
const LOCK: &str = "SELECT pg_advisory_xact_lock(number) FROM unnest($1::bigint[]) AS number ORDER BY number";

/// The numbers of entries that have a key in common with the message.
macro_rules! known {
    () => {
        "(SELECT DISTINCT named.id FROM unnest($1::bytea[]) AS wanted (key) CROSS JOIN LATERAL (
            SELECT id FROM bankrail_inbox_key WHERE key = wanted.key ORDER BY fingerprint OFFSET 0) AS named
        ORDER BY named.id) AS known"
    };
}

/// These entries. Each is looked up by itself, so that no plan goes through a table.
const KNOWN: &str = concat!(
    "SELECT message.id, fingerprint, interim, coalesce(finished.state, 'pending') AS state, acknowledgement,
        conflicts_with, owner, until
    FROM ",
    known!(),
    " CROSS JOIN LATERAL (SELECT * FROM bankrail_inbox WHERE id = known.id OFFSET 0) AS message
    LEFT JOIN LATERAL (SELECT * FROM bankrail_inbox_queue WHERE entry = known.id OFFSET 0) AS queue ON TRUE
    LEFT JOIN LATERAL (SELECT * FROM bankrail_inbox_finished WHERE entry = known.id OFFSET 0) AS finished ON TRUE"
);

/// Waits for those who work on these entries, in the order of their numbers.
const LOCK_KNOWN: &str = concat!(
    "SELECT queue.entry FROM ",
    known!(),
    " CROSS JOIN LATERAL (SELECT entry FROM bankrail_inbox_queue WHERE entry = known.id FOR UPDATE) AS queue"
);

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
    UPDATE bankrail_inbox SET follows = $2 WHERE id = (SELECT entry FROM pending)";

const TAKE: &str = concat!(
    "UPDATE bankrail_inbox_queue SET owner = $2, until = $3, waits = greatest(due, $3), attempts = attempts + $4,
        changed = ",
    written!("bankrail_inbox_cursor"),
    " WHERE entry = $1 AND (owner IS NULL OR until <= $5 OR owner = $2)"
);

/// Begins the transaction and commits it, unless a caller does.
pub(in crate::postgres) async fn receive(
    session: Session<'_>,
    message: &Incoming,
    lease: Option<Lease>,
    now: Timestamp,
) -> Result<ReceiveOutcome, Fault> {
    let locks: Vec<i64> = message.key.hashes().iter().map(lock_number).collect();
    let keys: Vec<&[u8]> = message.key.hashes().iter().map(|key| key.as_bytes().as_slice()).collect();
    let (locks, keys): ([Typed<'_>; 1], [Typed<'_>; 1]) = ([(&locks, Type::INT8_ARRAY)], [(&keys, Type::BYTEA_ARRAY)]);
    // A claim may take over an entry, so it waits for a worker's open transaction on it. A message that is only stored
    // reads committed rows, so that its sender does not wait for a handler.
    let rows = if lease.is_some() {
        let [_, _, rows] = session.begin_with([(LOCK, &locks), (LOCK_KNOWN, &keys), (KNOWN, &keys)]).await?;
        rows
    } else {
        let [_, rows] = session.begin_with([(LOCK, &locks), (KNOWN, &keys)]).await?;
        rows
    };
    let known = rows.iter().map(known_entry).collect::<Result<_, _>>()?;
    match ReceiveDecision::of(message, known, lease.as_ref(), now) {
        ReceiveDecision::Answer(outcome) => {
            session.commit_with([]).await?;
            Ok(outcome)
        }
        ReceiveDecision::Lease { outcome, attempts } => {
            let parameters: [Typed<'_>; 5] = [
                (&number(outcome.id()), Type::INT8),
                (&lease.as_ref().map(|lease| lease.owner.as_bytes().as_slice()), Type::BYTEA),
                (&lease.map(|lease| lease.until.unix_millis()), Type::INT8),
                (&i32::from(attempts == 1), Type::INT4),
                (&now.unix_millis(), Type::INT8),
            ];
            // An operator may have resent it since it was found.
            if session.execute(TAKE, &parameters).await? == 0 {
                return Err(Fault::Lost("another worker has leased the message"));
            }
            session.commit_with([]).await?;
            Ok(outcome)
        }
        ReceiveDecision::Store { conflicts_with, follows, followed_by } => {
            let id = insert(session, message, (conflicts_with, follows, followed_by), lease, now).await?;
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

/// Stores a message, and commits as [`receive`] does.
async fn insert(
    session: Session<'_>,
    message: &Incoming,
    (conflicts_with, follows, followed_by): (Option<EntryId>, Option<EntryId>, Option<EntryId>),
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
    let entry = |rows: &[Row]| {
        entry_id(get(rows.first().ok_or_else(|| Fault::corrupt("no number for a new entry"))?, "entry")?)
    };
    let Some(result) = followed_by else {
        let [rows] = session.commit_with([(INSERT, &parameters)]).await?;
        return entry(&rows);
    };
    let id = entry(&session.query(INSERT, &parameters).await?)?;
    let parameters: [Typed<'_>; 2] = [(&number(result), Type::INT8), (&number(id), Type::INT8)];
    session.commit_with([(FOLLOW, &parameters)]).await?;
    Ok(id)
}
