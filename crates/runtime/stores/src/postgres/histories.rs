//! Histories of mandates and payments.

use super::session::Session;
use super::values::{get, params, storable};
use super::{Fault, InTransaction, PostgresStore};
use crate::columns::{FromRow as _, row_number};
use bankrail_values::{StoreError, StoreFuture, Timestamp, ValueError};
use bankrail_webhook::Message;
use bankrail_webhook::history::{
    Fold, Histories, HistoryId, HistoryState, KeptHistory, Observation,
};
use std::time::Duration;
use tokio_postgres::Row;

// The interval of polling for changes of other processes: the database notifies only the own
// process.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

// Locks the row until the transaction ends, so that messages are folded one after the other and
// changes become visible in the order of their numbers.
const LAST_CHANGE: &str = "SELECT last FROM bankrail_history_change FOR UPDATE";

const SET_LAST_CHANGE: &str = "UPDATE bankrail_history_change SET last = $1";

// Selects histories by their names. `OFFSET 0` makes the planner look up each name separately, so
// that no plan reads the names of a whole scope.
const NAMED: &str = "SELECT h.id, h.scope, h.changed, h.change, h.history,
        ARRAY(SELECT name FROM bankrail_history_name WHERE id = h.id) AS names
    FROM bankrail_history h
    WHERE h.id = ANY (ARRAY(
        SELECT named.id FROM unnest($2::text[]) AS wanted (name) CROSS JOIN LATERAL (
            SELECT id FROM bankrail_history_name AS one
            WHERE scope = $1 AND one.name = wanted.name OFFSET 0) AS named))";

// Selects like `NAMED` and locks each row, so that none is forgotten before it is written.
const LOCK_NAMED: &str = "SELECT h.id, h.scope, h.changed, h.change, h.history,
        ARRAY(SELECT name FROM bankrail_history_name WHERE id = h.id) AS names
    FROM bankrail_history h
    WHERE h.id = ANY (ARRAY(
        SELECT named.id FROM unnest($2::text[]) AS wanted (name) CROSS JOIN LATERAL (
            SELECT id FROM bankrail_history_name AS one
            WHERE scope = $1 AND one.name = wanted.name OFFSET 0) AS named))
    FOR UPDATE OF h";

const BY_STATE: &str = "SELECT h.id, h.scope, h.changed, h.change, h.history,
        ARRAY(SELECT name FROM bankrail_history_name WHERE id = h.id) AS names
    FROM bankrail_history h WHERE h.scope = $1 AND h.state = $2 AND h.id > $3 ORDER BY h.id
        LIMIT $4";

const BY_CHANGE: &str = "SELECT h.id, h.scope, h.changed, h.change, h.history,
        ARRAY(SELECT name FROM bankrail_history_name WHERE id = h.id) AS names
    FROM bankrail_history h WHERE h.change > $1 ORDER BY h.change LIMIT $2";

const INSERT: &str = "INSERT INTO bankrail_history (scope, state, final, changed, change, history)
    VALUES ($1, $2, $3, $4, $5, $6) RETURNING id";

const UPDATE: &str =
    "UPDATE bankrail_history SET state = $2, final = $3, changed = $4, change = $5, history = $6
    WHERE id = $1";

const INSERT_NAMES: &str = "INSERT INTO bankrail_history_name (scope, name, id)
    SELECT $1, name, $3 FROM unnest($2::text[]) AS name ON CONFLICT (scope, name) DO NOTHING";

const DELETE: &str = "DELETE FROM bankrail_history WHERE id = ANY ($1)";

const FORGET: &str = "WITH piece AS (
        SELECT id AS entry, changed AS finished FROM bankrail_history
        WHERE final AND changed < $1 AND (changed, id) > ($2, $3)
        ORDER BY changed, id LIMIT 500 FOR UPDATE SKIP LOCKED),
    gone AS (DELETE FROM bankrail_history WHERE id = ANY (ARRAY(SELECT entry FROM piece)))
    SELECT finished, entry, count(*) OVER () AS forgotten FROM piece
    ORDER BY finished DESC, entry DESC LIMIT 1";

/// The histories of a [`PostgresStore`]. To fold a message in the transaction of the inbox, use
/// [`InTransaction::apply_history`] in the work of a handler.
///
/// Keep transactions that fold a message short: they wait for each other, so that changes become
/// visible in the order of their numbers.
#[derive(Clone, Debug)]
pub struct PostgresHistories {
    pub(super) store: PostgresStore,
}

impl Histories for PostgresHistories {
    fn apply<'a>(
        &'a self,
        scope: &'a str,
        message: &'a Message,
        now: Timestamp,
    ) -> StoreFuture<'a, Observation> {
        Box::pin(async move {
            let work = async move |session: Session<'_>| apply(session, scope, message, now).await;
            let observation = self.store.with_transaction(work).await?;
            self.store.inner.committed.notify_waiters();
            Ok(observation)
        })
    }

    fn find<'a>(
        &'a self,
        scope: &'a str,
        id: &'a HistoryId,
    ) -> StoreFuture<'a, Option<KeptHistory>> {
        Box::pin(
            self.store
                .with_session(async move |session| find(session, scope, id).await),
        )
    }

    fn list<'a>(
        &'a self,
        scope: &'a str,
        state: HistoryState,
        after: Option<u64>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<KeptHistory>> {
        Box::pin(self.store.with_session(async move |session| {
            let scope = storable(scope);
            let after = after.map_or(-1, row_number);
            let limit = i64::from(limit);
            let rows = session
                .query(BY_STATE, params![scope, state.as_str(), after, limit])
                .await?;
            rows.iter().map(kept).collect()
        }))
    }

    fn changes_after(&self, change: u64, limit: u32) -> StoreFuture<'_, Vec<KeptHistory>> {
        Box::pin(self.store.with_session(async move |session| {
            let rows = session
                .query(BY_CHANGE, params![row_number(change), i64::from(limit)])
                .await?;
            rows.iter().map(kept).collect()
        }))
    }

    fn changed_after(&self, change: u64) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            loop {
                // Created before the database is read, so that no change in between is missed.
                let committed = self.store.inner.committed.notified();
                let sql = "SELECT 1 FROM bankrail_history WHERE change > $1 LIMIT 1";
                let rows = self.store.with_session(async |session| {
                    session.query(sql, params![row_number(change)]).await
                });
                if !rows.await?.is_empty() {
                    return Ok(());
                }
                // The end of the time is no error: then another process may have made a change.
                let _ = tokio::time::timeout(POLL_INTERVAL, committed).await;
            }
        })
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.store.forget_in_pieces(FORGET, before))
    }
}

impl InTransaction<'_> {
    /// Folds a message into the history of its mandate or payment, as [`Histories::apply`] does:
    /// the history changes together with the inbox and with the caller's tables, or not at all.
    /// Another transaction that folds a message waits for the end of this one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn apply_history(
        &self,
        scope: &str,
        message: &Message,
        now: Timestamp,
    ) -> Result<Observation, StoreError> {
        self.bounded(apply(self.session, scope, message, now)).await
    }

    /// Returns the history of a mandate or payment in its state within this transaction, like
    /// [`Histories::find`]. After [`InTransaction::apply_history`] it includes that message.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn find_history(
        &self,
        scope: &str,
        id: &HistoryId,
    ) -> Result<Option<KeptHistory>, StoreError> {
        self.bounded(find(self.session, scope, id)).await
    }
}

async fn find(
    session: Session<'_>,
    scope: &str,
    id: &HistoryId,
) -> Result<Option<KeptHistory>, Fault> {
    let rows = session
        .query(NAMED, params![storable(scope), vec![name(id)]])
        .await?;
    rows.first().map(kept).transpose()
}

/// Folds a message, in its own transaction unless the session has one.
async fn apply(
    session: Session<'_>,
    scope: &str,
    message: &Message,
    now: Timestamp,
) -> Result<Observation, Fault> {
    let names: Vec<String> = HistoryId::of(message).iter().map(name).collect();
    if names.is_empty() {
        return Ok(Observation::NotApplicable);
    }
    let scope = storable(scope);
    // The last change is locked first, so that the rows that are read next are the latest.
    let [last, rows] = session
        .begin_with([(LAST_CHANGE, &[]), (LOCK_NAMED, params![scope, names])])
        .await?;
    let last = last
        .first()
        .ok_or_else(|| Fault::corrupt("expected the number of the last change"))?;
    let last: i64 = get(last, "last")?;
    let known = rows.iter().map(kept).collect::<Result<Vec<_>, _>>()?;
    let before = known
        .iter()
        .min_by_key(|kept| kept.number)
        .map(|kept| (kept.changed_at, kept.change));
    let Some(fold) = Fold::of(message, known, now) else {
        session.commit_with([]).await?;
        return Ok(Observation::NotApplicable);
    };
    let (changed_at, change) = match before {
        Some((changed_at, change)) if !fold.changed => (changed_at, row_number(change)),
        _ => {
            session.execute(SET_LAST_CHANGE, params![last + 1]).await?;
            (now, last + 1)
        }
    };
    if !fold.merged.is_empty() {
        let merged: Vec<i64> = fold.merged.iter().copied().map(row_number).collect();
        session.execute(DELETE, params![merged]).await?;
    }
    let state = fold.history.state();
    let json = fold.history.to_json().into_bytes();
    let changed_at = changed_at.unix_millis();
    let is_final = state.is_final();
    let state = state.as_str();
    let id = match fold.number.map(row_number) {
        Some(id) => {
            session
                .execute(
                    UPDATE,
                    params![id, state, is_final, changed_at, change, json],
                )
                .await?;
            id
        }
        None => {
            let rows = session
                .query(
                    INSERT,
                    params![scope, state, is_final, changed_at, change, json],
                )
                .await?;
            get(
                rows.first()
                    .ok_or_else(|| Fault::corrupt("no number for a new history"))?,
                "id",
            )?
        }
    };
    let names: Vec<String> = fold.ids.iter().map(name).collect();
    session
        .commit_with([(INSERT_NAMES, params![scope, names, id])])
        .await?;
    Ok(fold.observation)
}

fn kept(row: &Row) -> Result<KeptHistory, Fault> {
    let ids: Result<_, _> = get::<Vec<&str>>(row, "names")?
        .into_iter()
        .map(str::parse)
        .collect();
    let mut kept = KeptHistory::read(row)?;
    kept.ids = ids.map_err(|error: ValueError| Fault::corrupt(error))?;
    kept.ids.sort_unstable();
    Ok(kept)
}

/// Returns the name of an id in the database. PostgreSQL stores no U+0000, so an id with it has the
/// name of the id with U+FFFD.
fn name(id: &HistoryId) -> String {
    storable(&id.to_string())
}
