//! Statement entries that were imported, and the positions of the walks through statements.

use super::session::Session;
use super::values::params;
use super::{Fault, PostgresStore, PostgresWork};
use crate::columns::{Columns, FromRow};
use bankrail_statement::{
    AccountId, EntryKey, PageRecord, PositionChange, Recorded, SeenEntries, SeenEntry,
    TransactionalSeenEntries, check_position,
};
use bankrail_values::{Date, StoreError, StoreFuture};
use std::collections::{BTreeMap, HashMap};

// Held until the transaction ends, so that one transaction at a time reads and writes the entries
// of an account.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('bankrail_seen ' || $1, 0))";

// Selects the counts of keys. `OFFSET 0` makes the planner look up each key separately, so that no
// plan reads a whole account.
const KNOWN: &str = "SELECT known.* FROM unnest($2::bytea[]) AS wanted (key) CROSS JOIN LATERAL (
        SELECT key, count, day FROM bankrail_seen
        WHERE account = $1 AND bankrail_seen.key = wanted.key OFFSET 0) AS known";

const WRITE: &str = "INSERT INTO bankrail_seen (account, key, count, day)
    SELECT $1, key, count, day
    FROM unnest($2::bytea[], $3::bigint[], $4::text[]) AS entry (key, count, day)
    ON CONFLICT (account, key) DO UPDATE SET count = excluded.count, day = excluded.day";

const MOVE: &str = "INSERT INTO bankrail_seen_position (account, position) VALUES ($1, $2)
    ON CONFLICT (account) DO UPDATE SET position = excluded.position";

const IS_AT: &str = "SELECT (SELECT position FROM bankrail_seen_position WHERE account = $1)
    IS NOT DISTINCT FROM $2 AS is_at";

const POSITION: &str = "SELECT position FROM bankrail_seen_position WHERE account = $1";

const FORGET: &str = "DELETE FROM bankrail_seen WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM bankrail_seen WHERE account = $1 AND day < $2 ORDER BY day LIMIT 1000))";

impl SeenEntries for PostgresStore {
    fn counts<'a>(
        &'a self,
        account: &'a AccountId,
        keys: &'a [EntryKey],
    ) -> StoreFuture<'a, Vec<u32>> {
        Box::pin(self.with_session(async move |session| counts(session, account, keys).await))
    }

    fn record<'a>(
        &'a self,
        account: &'a AccountId,
        entries: &'a [SeenEntry],
        position: Option<PositionChange<'a>>,
    ) -> StoreFuture<'a, Recorded> {
        Box::pin(self.with_transaction(async move |session| {
            record(session, account, entries, position).await
        }))
    }

    fn position<'a>(&'a self, account: &'a AccountId) -> StoreFuture<'a, Option<String>> {
        Box::pin(self.with_session(async move |session| position(session, account).await))
    }

    fn forget_before<'a>(&'a self, account: &'a AccountId, day: Date) -> StoreFuture<'a, u64> {
        Box::pin(async move {
            let day = day.to_string();
            let mut forgotten = 0;
            loop {
                let work = async |session: Session<'_>| forget_some(session, account, &day).await;
                match self.with_transaction(work).await? {
                    0 => return Ok(forgotten),
                    piece => forgotten += piece,
                }
            }
        })
    }
}

impl TransactionalSeenEntries for PostgresStore {
    type Work = PostgresWork;

    /// The work and the wait for a connection and for other transactions on the account share the
    /// maximum duration of one operation. When it is over, the work is undone unless its commit has
    /// begun.
    fn record_with<'a>(
        &'a self,
        account: &'a AccountId,
        page: PageRecord<'a>,
        work: PostgresWork,
    ) -> StoreFuture<'a, Recorded> {
        let own = async move |session: Session<'_>| {
            session.query(LOCK, params![account.as_str()]).await?;
            if page.is_overtaken(&counts(session, account, &page.new_keys()).await?) {
                return Ok(Some(Recorded::Overtaken));
            }
            Ok(
                match record(session, account, page.entries, page.position).await? {
                    Recorded::Committed => None,
                    instead => Some(instead),
                },
            )
        };
        let outcome =
            |done: Result<(), _>| done.map_or_else(Recorded::Undone, |()| Recorded::Committed);
        Box::pin(self.timed(self.run_work(own, work, outcome)))
    }
}

/// Forgets a bounded number of entries, so that other transactions on the account run in between.
async fn forget_some(session: Session<'_>, account: &AccountId, day: &str) -> Result<u64, Fault> {
    session
        .begin_with([(LOCK, params![account.as_str()])])
        .await?;
    let forgotten = session
        .execute(FORGET, params![account.as_str(), day])
        .await?;
    session.commit_with([]).await?;
    Ok(forgotten)
}

/// Reads the entry of a row of [`KNOWN`].
impl FromRow for SeenEntry {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        let has_day = row.text("day")?.is_some();
        let day = has_day.then(|| row.parsed("day")).transpose()?;
        Ok(Self::new(
            EntryKey::from(row.array::<32>("key")?),
            row.number("count")?,
            day,
        ))
    }
}

async fn counts(
    session: Session<'_>,
    account: &AccountId,
    keys: &[EntryKey],
) -> Result<Vec<u32>, Fault> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let known: Vec<SeenEntry> = session
        .all(KNOWN, params![account.as_str(), hashes(keys)])
        .await?;
    let counts: HashMap<_, _> = known
        .into_iter()
        .map(|entry| (entry.key, entry.occurrence))
        .collect();
    Ok(keys
        .iter()
        .map(|key| counts.get(key).copied().unwrap_or(0))
        .collect())
}

fn hashes(keys: &[EntryKey]) -> Vec<&[u8]> {
    keys.iter().map(|key| key.as_bytes().as_slice()).collect()
}

async fn position(session: Session<'_>, account: &AccountId) -> Result<Option<String>, Fault> {
    let rows = session.query(POSITION, params![account.as_str()]).await?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    String::from_utf8(row.bytes("position")?)
        .map(Some)
        .map_err(Fault::corrupt)
}

/// Records entries, in its own transaction unless the session has one.
async fn record(
    session: Session<'_>,
    account: &AccountId,
    entries: &[SeenEntry],
    change: Option<PositionChange<'_>>,
) -> Result<Recorded, Fault> {
    check_position(change).map_err(Fault::Store)?;
    let keys: Vec<EntryKey> = entries.iter().map(|entry| entry.key).collect();
    let account = account.as_str();
    let hashes = hashes(&keys);
    let before = change.and_then(|change| change.before).map(str::as_bytes);
    let [_, known, is_at] = session
        .begin_with([
            (LOCK, params![account]),
            (KNOWN, params![account, hashes]),
            (IS_AT, params![account, before]),
        ])
        .await?;
    let is_at: u8 = is_at.first().map_or(Ok(0), |row| row.number("is_at"))?;
    if change.is_some() && is_at == 0 {
        session.commit_with([]).await?;
        return Ok(Recorded::Overtaken);
    }
    let mut after = HashMap::new();
    for row in &known {
        let entry = SeenEntry::read(row)?;
        after.insert(entry.key, entry);
    }
    let mut changed = BTreeMap::new();
    for entry in entries {
        if let Some(recorded) = entry.recorded_over(after.get(&entry.key)) {
            after.insert(entry.key, recorded.clone());
            changed.insert(entry.key, recorded);
        }
    }
    if !changed.is_empty() {
        let keys: Vec<&[u8]> = changed
            .keys()
            .map(|key| key.as_bytes().as_slice())
            .collect();
        let counts: Vec<i64> = changed
            .values()
            .map(|entry| entry.occurrence.into())
            .collect();
        let days: Vec<Option<String>> = changed
            .values()
            .map(|entry| entry.day.map(|day| day.to_string()))
            .collect();
        session
            .execute(WRITE, params![account, keys, counts, days])
            .await?;
    }
    if let Some(position) = change.and_then(|change| change.after) {
        session
            .execute(MOVE, params![account, position.as_bytes()])
            .await?;
    }
    session.commit_with([]).await?;
    Ok(Recorded::Committed)
}
