//! Histories of mandates and payments.

use super::Transaction;
use super::connection::{Database, Fault, Outcome};
use super::statements::{all, run};
use crate::columns::row_number;
use bankrail_values::{StoreError, StoreFuture, Timestamp};
use bankrail_webhook::Message;
use bankrail_webhook::history::{
    Fold, Histories, HistoryId, HistoryState, KeptHistory, Observation,
};
use rusqlite::{Connection, OptionalExtension, params};
use std::sync::Arc;
use std::time::Duration;

// The interval of polling for changes of other processes: only the own process's changes are
// notified.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

const NAMED: &str = "SELECT id FROM bankrail_history_name WHERE scope = ?1 AND name = ?2";

const NAMES: &str = "SELECT name FROM bankrail_history_name WHERE id = ?1";

const BY_ID: &str =
    "SELECT id, scope, changed, change, history FROM bankrail_history WHERE id = ?1";

const BY_STATE: &str = "SELECT id, scope, changed, change, history FROM bankrail_history
    WHERE scope = ?1 AND state = ?2 AND id > ?3 ORDER BY id LIMIT ?4";

const BY_CHANGE: &str = "SELECT id, scope, changed, change, history FROM bankrail_history
    WHERE change > ?1 ORDER BY change LIMIT ?2";

const NEXT_CHANGE: &str = "UPDATE bankrail_history_change SET last = last + 1 RETURNING last";

const INSERT: &str = "INSERT INTO bankrail_history (scope, state, final, changed, change, history)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

const UPDATE: &str =
    "UPDATE bankrail_history SET state = ?2, final = ?3, changed = ?4, change = ?5, history = ?6
    WHERE id = ?1";

const INSERT_NAME: &str = "INSERT INTO bankrail_history_name (scope, name, id) VALUES (?1, ?2, ?3)
    ON CONFLICT (scope, name) DO NOTHING";

const DELETE: &str = "DELETE FROM bankrail_history WHERE id = ?1";

const FORGET: &str = "DELETE FROM bankrail_history WHERE id IN
    (SELECT id FROM bankrail_history WHERE final = 1 AND changed < ?1 ORDER BY changed LIMIT ?2)";

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[
    NAMED,
    NAMES,
    BY_ID,
    BY_STATE,
    BY_CHANGE,
    INSERT,
    UPDATE,
    INSERT_NAME,
    DELETE,
    FORGET,
];

/// The histories of a [`SqliteStore`](super::SqliteStore). To fold a message in the transaction of
/// the inbox, use [`Transaction::apply_history`] in the work of a handler.
#[derive(Clone, Debug)]
pub struct SqliteHistories {
    pub(super) database: Arc<Database>,
}

impl Histories for SqliteHistories {
    fn apply<'a>(
        &'a self,
        scope: &'a str,
        message: &'a Message,
        now: Timestamp,
    ) -> StoreFuture<'a, Observation> {
        let scope = scope.to_owned();
        let message = message.clone();
        Box::pin(self.database.write_alone(move |connection| {
            Ok(Outcome::Keep(apply(connection, &scope, &message, now)?))
        }))
    }

    fn find<'a>(
        &'a self,
        scope: &'a str,
        id: &'a HistoryId,
    ) -> StoreFuture<'a, Option<KeptHistory>> {
        let scope = scope.to_owned();
        let name = id.to_string();
        self.database
            .read(move |connection| find(connection, &scope, &name))
    }

    fn list<'a>(
        &'a self,
        scope: &'a str,
        state: HistoryState,
        after: Option<u64>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<KeptHistory>> {
        let scope = scope.to_owned();
        let after = after.map_or(-1, row_number);
        self.database.read(move |connection| {
            let values = params![scope, state.as_str(), after, limit];
            with_names(connection, all(connection, BY_STATE, values)?)
        })
    }

    fn changes_after(&self, change: u64, limit: u32) -> StoreFuture<'_, Vec<KeptHistory>> {
        self.database.read(move |connection| {
            with_names(
                connection,
                all(connection, BY_CHANGE, params![row_number(change), limit])?,
            )
        })
    }

    fn changed_after(&self, change: u64) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            loop {
                // Created before the database is read, so that no change in between is missed.
                let committed = self.database.committed();
                let exists = self.database.read(move |connection| {
                    let mut any = connection.prepare_cached(
                        "SELECT 1 FROM bankrail_history WHERE change > ?1 LIMIT 1",
                    )?;
                    Ok(any.exists([row_number(change)])?)
                });
                if exists.await? {
                    return Ok(());
                }
                // The end of the time is no error: then another process may have made a change.
                let _ = tokio::time::timeout(POLL_INTERVAL, committed).await;
            }
        })
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(
            self.database
                .forget_in_pieces(FORGET, move |most| (before.unix_millis(), most)),
        )
    }
}

impl Transaction<'_> {
    /// Folds a message into the history of its mandate or payment, as [`Histories::apply`] does, in
    /// this transaction: the history changes together with the inbox and with the caller's tables,
    /// or not at all.
    ///
    /// ```
    /// use bankrail_stores::sqlite::SqliteWork;
    /// use bankrail_webhook::{Message, TransactionStatus, samples};
    ///
    /// let outcome = samples::payment_outcome(&TransactionStatus::SettlementCompleted);
    /// let message = Message::from(outcome);
    /// let now = "2026-11-21T06:00:00.000Z".parse().unwrap();
    /// let work = SqliteWork::new(move |transaction| {
    ///     transaction.apply_history("", &message, now).map(|_| ())
    /// });
    /// # drop(work);
    /// ```
    ///
    /// # Errors
    /// [`StoreError`]; the transaction's work must then return an error.
    pub fn apply_history(
        &self,
        scope: &str,
        message: &Message,
        now: Timestamp,
    ) -> Result<Observation, StoreError> {
        Ok(apply(self.connection(), scope, message, now)?)
    }

    /// Returns the history of a mandate or payment in its state within this transaction, like
    /// [`Histories::find`]. After [`Transaction::apply_history`] it includes that message.
    ///
    /// # Errors
    /// [`StoreError`]; the transaction's work must then return an error.
    pub fn find_history(
        &self,
        scope: &str,
        id: &HistoryId,
    ) -> Result<Option<KeptHistory>, StoreError> {
        Ok(find(self.connection(), scope, &id.to_string())?)
    }
}

fn apply(
    connection: &Connection,
    scope: &str,
    message: &Message,
    now: Timestamp,
) -> Result<Observation, Fault> {
    let mut known: Vec<KeptHistory> = Vec::new();
    for id in HistoryId::of(message) {
        if let Some(kept) = find(connection, scope, &id.to_string())?
            && known.iter().all(|known| known.number != kept.number)
        {
            known.push(kept);
        }
    }
    let before = known
        .iter()
        .min_by_key(|kept| kept.number)
        .map(|kept| (kept.changed_at, kept.change));
    let Some(fold) = Fold::of(message, known, now) else {
        return Ok(Observation::NotApplicable);
    };
    let (changed_at, change) = match before {
        Some(before) if !fold.changed => before,
        _ => {
            let next: i64 = connection
                .prepare_cached(NEXT_CHANGE)?
                .query_row([], |row| row.get(0))?;
            (now, u64::try_from(next).map_err(Fault::corrupt)?)
        }
    };
    for other in fold.merged {
        run(connection, DELETE, [row_number(other)])?;
    }
    let state = fold.history.state();
    let changed_at = changed_at.unix_millis();
    let change = row_number(change);
    let json = fold.history.to_json().into_bytes();
    let id = match fold.number {
        None => {
            run(
                connection,
                INSERT,
                params![
                    scope,
                    state.as_str(),
                    state.is_final(),
                    changed_at,
                    change,
                    json
                ],
            )?;
            connection.last_insert_rowid()
        }
        Some(number) => {
            let number = row_number(number);
            run(
                connection,
                UPDATE,
                params![
                    number,
                    state.as_str(),
                    state.is_final(),
                    changed_at,
                    change,
                    json
                ],
            )?;
            number
        }
    };
    for name in &fold.ids {
        run(
            connection,
            INSERT_NAME,
            params![scope, name.to_string(), id],
        )?;
    }
    Ok(fold.observation)
}

fn find(connection: &Connection, scope: &str, name: &str) -> Result<Option<KeptHistory>, Fault> {
    let id: Option<i64> = connection
        .prepare_cached(NAMED)?
        .query_row([scope, name], |row| row.get(0))
        .optional()?;
    let Some(id) = id else { return Ok(None) };
    Ok(with_names(connection, all(connection, BY_ID, [id])?)?.pop())
}

fn with_names(
    connection: &Connection,
    mut histories: Vec<KeptHistory>,
) -> Result<Vec<KeptHistory>, Fault> {
    let mut names = connection.prepare_cached(NAMES)?;
    for kept in &mut histories {
        for name in names.query_map([row_number(kept.number)], |row| row.get::<_, String>(0))? {
            let id = name?.parse::<HistoryId>().map_err(Fault::corrupt)?;
            kept.ids.push(id);
        }
        kept.ids.sort_unstable();
    }
    Ok(histories)
}
