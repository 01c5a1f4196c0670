//! The receipt of a message, which stores it once.

use crate::columns::{Columns as _, FromRow as _, entry_number};
use crate::postgres::Fault;
use crate::postgres::session::Session;
use crate::postgres::values::params;
use bankrail_mailbox::{EntryId, Incoming, KeyHash, KnownEntry, ReceiveDecision, ReceiveOutcome};
use bankrail_values::Timestamp;
use tokio_postgres::Row;

// Locks the keys until the transaction ends, so that two messages with a key in common are stored
// one after the other. The locks are taken in ascending order, so that two receipts do not wait for
// each other. The number of a lock is the first eight bytes of the key; different keys that share
// them wait without need.
const LOCK: &str =
    "SELECT pg_advisory_xact_lock(number) FROM unnest($1::bigint[]) AS number ORDER BY number";

// Selects the entries that have a key in common with the message. `OFFSET 0` makes the planner look
// up each one separately, so that no plan reads whole tables. The rows are not locked, so that the
// sender does not wait for a handler.
const KNOWN: &str = "SELECT message.id, fingerprint, interim,
    coalesce(finished.state, 'pending') AS state,
        acknowledgement, conflicts_with
    FROM (SELECT DISTINCT named.id FROM unnest($1::bytea[]) AS wanted (key) CROSS JOIN LATERAL (
            SELECT id FROM bankrail_inbox_key WHERE key = wanted.key
            ORDER BY fingerprint OFFSET 0) AS named
        ORDER BY named.id) AS known
    CROSS JOIN LATERAL (SELECT * FROM bankrail_inbox WHERE id = known.id OFFSET 0) AS message
    LEFT JOIN LATERAL (
        SELECT * FROM bankrail_inbox_finished WHERE entry = known.id OFFSET 0) AS finished ON TRUE";

const INSERT: &str = "WITH message AS (
        INSERT INTO bankrail_inbox (
            kind, attributes, fingerprint, acknowledgement, received, conflicts_with, body,
            interim, follows)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $9, $10)
        RETURNING id),
    keys AS (
        INSERT INTO bankrail_inbox_key (key, fingerprint, id)
        SELECT key, $3, message.id FROM message, unnest($8::bytea[]) AS key)
    INSERT INTO bankrail_inbox_queue (entry, kind, follows, due, changed)
    SELECT id, $1, $10, $5, (SELECT CASE WHEN txid_visible_in_snapshot(txid_current(), seen)
        THEN 9223372036854775807 ELSE txid_current() END
        FROM bankrail_inbox_cursor ORDER BY number DESC LIMIT 1)
    FROM message RETURNING entry";

// The three statements run in this order, and each sees earlier commits. The first one waits for a
// call that resends the result, but not for calls that complete it or make it a dead letter. The
// second one waits for these, so that the third one sees the result's new state.
const LOCK_RESULT: &str = "SELECT 1 FROM bankrail_inbox WHERE id = $1 FOR NO KEY UPDATE";

const HOLD: &str = "UPDATE bankrail_inbox_queue SET follows = $2 WHERE entry = $1";

const FOLLOW: &str = "UPDATE bankrail_inbox SET follows = $2 WHERE id = $1 AND NOT EXISTS (
        SELECT FROM bankrail_inbox_finished WHERE entry = $1 AND state = 'completed')";

/// Stores a message, in its own transaction unless the session has one.
pub(in crate::postgres) async fn receive(
    session: Session<'_>,
    message: &Incoming,
    now: Timestamp,
) -> Result<ReceiveOutcome, Fault> {
    let locks: Vec<i64> = message.key.hashes().iter().map(lock_number).collect();
    let keys: Vec<&[u8]> = message
        .key
        .hashes()
        .iter()
        .map(|key| key.as_bytes().as_slice())
        .collect();
    let [_, rows] = session
        .begin_with([(LOCK, params![locks]), (KNOWN, params![keys])])
        .await?;
    let known = rows
        .iter()
        .map(KnownEntry::read)
        .collect::<Result<_, _>>()?;
    let (conflicts_with, follows, followed_by) = match ReceiveDecision::of(message, known) {
        ReceiveDecision::Answer(outcome) => {
            session.commit_with([]).await?;
            return Ok(outcome);
        }
        ReceiveDecision::Store {
            conflicts_with,
            follows,
            followed_by,
        } => (conflicts_with, follows, followed_by),
    };
    let contradicted = conflicts_with.map(entry_number);
    let followed = follows.map(entry_number);
    let fingerprint = message.fingerprint.as_bytes().as_slice();
    let acknowledgement = &*message.acknowledgement;
    let kind = message.kind.as_str();
    let attributes = &*message.attributes;
    let body = &*message.body;
    let interim = message.interim;
    let now = now.unix_millis();
    let values = params![
        kind,
        attributes,
        fingerprint,
        acknowledgement,
        now,
        contradicted,
        body,
        keys,
        interim,
        followed
    ];
    let id = match followed_by {
        None => {
            let [rows] = session.commit_with([(INSERT, values)]).await?;
            entry(&rows)?
        }
        Some(result) => {
            let id = entry(&session.query(INSERT, values).await?)?;
            let (result, followed) = (entry_number(result), entry_number(id));
            session
                .commit_with([
                    (LOCK_RESULT, params![result]),
                    (HOLD, params![result, followed]),
                    (FOLLOW, params![result, followed]),
                ])
                .await?;
            id
        }
    };
    Ok(ReceiveOutcome::stored(
        id,
        message.acknowledgement.clone(),
        conflicts_with,
    ))
}

fn lock_number(key: &KeyHash) -> i64 {
    let [a, b, c, d, e, f, g, h, ..] = *key.as_bytes();
    i64::from_be_bytes([a, b, c, d, e, f, g, h])
}

fn entry(rows: &[Row]) -> Result<EntryId, Fault> {
    let row = rows
        .first()
        .ok_or_else(|| Fault::corrupt("no number for a new entry"))?;
    Ok(row.number("entry").map(EntryId::new)?)
}
