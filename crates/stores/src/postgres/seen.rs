//! Statement entries that were imported, and the positions of the walks through statements.

use super::session::Session;
use super::transaction::Work;
use super::{Fault, PostgresStore, Typed, get};
use bankrail_statement::{
    AccountId, EntryKey, PageRecord, Recorded, SeenEntries, SeenEntry, TransactionalSeenEntries, check_position,
};
use bankrail_values::{Date, StoreFuture};
use std::collections::HashMap;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

/// Held until the transaction ends: what is known of an account is read and written by one transaction at a time.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('bankrail_seen ' || $1, 0))";

/// Each is looked up by itself, so that no plan goes through an account.
const KNOWN: &str = "SELECT known.* FROM unnest($2::bytea[]) AS wanted (key) CROSS JOIN LATERAL (
    SELECT key, count, day FROM bankrail_seen WHERE account = $1 AND bankrail_seen.key = wanted.key OFFSET 0) AS known";

const WRITE: &str = "INSERT INTO bankrail_seen (account, key, count, day)
    SELECT $1, key, count, day FROM unnest($2::bytea[], $3::bigint[], $4::text[]) AS entry (key, count, day)
    ON CONFLICT (account, key) DO UPDATE SET count = excluded.count, day = excluded.day";

const MOVE: &str = "INSERT INTO bankrail_seen_position (account, position) VALUES ($1, $2)
    ON CONFLICT (account) DO UPDATE SET position = excluded.position";

const POSITION: &str = "SELECT position FROM bankrail_seen_position WHERE account = $1";

const FORGET: &str = "DELETE FROM bankrail_seen WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM bankrail_seen WHERE account = $1 AND day < $2 ORDER BY day LIMIT 1000))";

impl SeenEntries for PostgresStore {
    fn counts<'a>(&'a self, account: &'a AccountId, keys: &'a [EntryKey]) -> StoreFuture<'a, Vec<u32>> {
        Box::pin(self.timed(async move {
            let client = self.client().await?;
            let counts = counts(client.each(), account, keys).await?;
            client.give_back();
            Ok(counts)
        }))
    }

    fn record<'a>(
        &'a self,
        account: &'a AccountId,
        entries: &'a [SeenEntry],
        position: Option<&'a str>,
    ) -> StoreFuture<'a, ()> {
        Box::pin(self.timed(async move {
            let client = self.client().await?;
            record(client.own(), account, entries, position).await?;
            client.give_back();
            Ok(())
        }))
    }

    fn position<'a>(&'a self, account: &'a AccountId) -> StoreFuture<'a, Option<String>> {
        Box::pin(self.timed(async move {
            let client = self.client().await?;
            let position = position(client.each(), account).await?;
            client.give_back();
            Ok(position)
        }))
    }

    fn forget_before<'a>(&'a self, account: &'a AccountId, day: Date) -> StoreFuture<'a, u64> {
        Box::pin(async move {
            let (day, mut forgotten) = (day.to_string(), 0);
            loop {
                match self.timed(self.forget(account, &day)).await? {
                    0 => return Ok(forgotten),
                    piece => forgotten += piece,
                }
            }
        })
    }
}

impl TransactionalSeenEntries for PostgresStore {
    type Work = Work;

    /// The work and the wait for a connection and for other transactions on the account share the maximum duration of
    /// one operation. When it is over, the work is undone unless its commit has begun.
    fn record_with<'a>(
        &'a self,
        account: &'a AccountId,
        page: PageRecord<'a>,
        work: Work,
    ) -> StoreFuture<'a, Recorded> {
        Box::pin(self.timed(async move {
            let mut client = self.client().await?;
            let (transaction, prepared) = client.begin().await?;
            let session = Session::within(&transaction, prepared);
            session.query(LOCK, &[(&account.as_str(), Type::TEXT)]).await?;
            let recorded = if page.is_overtaken(&counts(session, account, &page.new_keys()).await?) {
                Recorded::Overtaken
            } else {
                record(session, account, page.entries, page.position).await?;
                match work.run(&transaction).await? {
                    Ok(()) => Recorded::Committed,
                    Err(error) => Recorded::Undone(error),
                }
            };
            match recorded {
                Recorded::Committed => {
                    transaction.commit().await?;
                    #[cfg(feature = "webhook")]
                    self.shared.committed.notify_waiters();
                }
                _ => transaction.rollback().await?,
            }
            client.give_back();
            Ok(recorded)
        }))
    }
}

impl PostgresStore {
    /// Forgets a bounded number of entries, so that other transactions on the account run in between.
    async fn forget(&self, account: &AccountId, day: &str) -> Result<u64, Fault> {
        let client = self.client().await?;
        let session = client.own();
        session.begin_with([(LOCK, &[(&account.as_str(), Type::TEXT)])]).await?;
        let parameters: [Typed<'_>; 2] = [(&account.as_str(), Type::TEXT), (&day, Type::TEXT)];
        let forgotten = session.execute(FORGET, &parameters).await?;
        session.commit_with([]).await?;
        client.give_back();
        Ok(forgotten)
    }
}

fn key(row: &Row) -> Result<EntryKey, Fault> {
    get::<&[u8]>(row, "key")?.try_into().map(<[u8; 32]>::into).map_err(Fault::corrupt)
}

fn count(row: &Row) -> Result<u32, Fault> {
    get::<i64>(row, "count")?.try_into().map_err(Fault::corrupt)
}

fn entry(row: &Row) -> Result<SeenEntry, Fault> {
    let day = get::<Option<&str>>(row, "day")?.map(Date::parse).transpose().map_err(Fault::corrupt)?;
    Ok(SeenEntry::new(key(row)?, count(row)?, day))
}

pub(super) async fn counts(session: Session<'_>, account: &AccountId, keys: &[EntryKey]) -> Result<Vec<u32>, Fault> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let hashes = hashes(keys);
    let parameters: [Typed<'_>; 2] = [(&account.as_str(), Type::TEXT), (&hashes, Type::BYTEA_ARRAY)];
    let mut counts = HashMap::new();
    for row in session.query(KNOWN, &parameters).await? {
        counts.insert(key(&row)?, count(&row)?);
    }
    Ok(keys.iter().map(|key| counts.get(key).copied().unwrap_or(0)).collect())
}

fn hashes(keys: &[EntryKey]) -> Vec<&[u8]> {
    keys.iter().map(|key| key.as_bytes().as_slice()).collect()
}

pub(super) async fn position(session: Session<'_>, account: &AccountId) -> Result<Option<String>, Fault> {
    let rows = session.query(POSITION, &[(&account.as_str(), Type::TEXT)]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    String::from_utf8(get(row, "position")?).map(Some).map_err(Fault::corrupt)
}

/// Begins the transaction and commits it, unless a caller does.
pub(super) async fn record(
    session: Session<'_>,
    account: &AccountId,
    entries: &[SeenEntry],
    position: Option<&str>,
) -> Result<(), Fault> {
    check_position(position).map_err(Fault::Store)?;
    let keys: Vec<EntryKey> = entries.iter().map(|entry| entry.key).collect();
    let hashes = hashes(&keys);
    let of_account: Typed<'_> = (&account.as_str(), Type::TEXT);
    let known: [Typed<'_>; 2] = [of_account.clone(), (&hashes, Type::BYTEA_ARRAY)];
    let [_, known] = session.begin_with([(LOCK, &[of_account]), (KNOWN, &known)]).await?;
    let mut after = HashMap::new();
    for row in &known {
        let entry = entry(row)?;
        after.insert(entry.key, entry);
    }
    let mut changed = HashMap::new();
    for entry in entries {
        if let Some(recorded) = entry.recorded_over(after.get(&entry.key)) {
            after.insert(entry.key, recorded.clone());
            changed.insert(entry.key, recorded);
        }
    }
    if !changed.is_empty() {
        let keys: Vec<&[u8]> = changed.keys().map(|key| key.as_bytes().as_slice()).collect();
        let counts: Vec<i64> = changed.values().map(|entry| entry.occurrence.into()).collect();
        let days: Vec<Option<String>> = changed.values().map(|entry| entry.day.map(|day| day.to_string())).collect();
        let parameters: [Typed<'_>; 4] = [
            (&account.as_str(), Type::TEXT),
            (&keys, Type::BYTEA_ARRAY),
            (&counts, Type::INT8_ARRAY),
            (&days, Type::TEXT_ARRAY),
        ];
        session.execute(WRITE, &parameters).await?;
    }
    if let Some(position) = position {
        let parameters: [Typed<'_>; 2] = [(&account.as_str(), Type::TEXT), (&position.as_bytes(), Type::BYTEA)];
        session.execute(MOVE, &parameters).await?;
    }
    session.commit_with([]).await?;
    Ok(())
}
