//! Deletion of old days, a bounded number of entries in each transaction.

use crate::sql::{self, Engine, Sql as _};
use bankrail_stores::Columns as _;
use bankrail_values::{Date, StoreError};

/// Selects the next account with entries to delete.
const NEXT: &str = "SELECT id FROM bankrail_account AS account WHERE id > $1 AND EXISTS (
        SELECT 1 FROM bankrail_account_entry WHERE account = account.id AND day < $2)
    ORDER BY id LIMIT 1";

/// Closes an account for bookings on earlier days. The update waits for a transaction that books on
/// the account.
const CLOSE: &str =
    "UPDATE bankrail_account SET forgotten_before = $2 WHERE id = $1 AND forgotten_before < $2";

const FORGET: &str = "DELETE FROM bankrail_account_entry WHERE (account, day, number) IN (
    SELECT account, day, number FROM bankrail_account_entry WHERE account = $1 AND day < $2
    ORDER BY account, day, number LIMIT 500)";

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[CLOSE, FORGET];

/// One of the queries. Not its text, because rustc takes a closure that captures a reference for
/// one that does not live long enough, where its future has to be `Send`.
#[derive(Clone, Copy)]
enum Step {
    Close,
    Forget,
}

/// Closes each account for the days before `day`, in a transaction that does nothing else, then
/// deletes its entries.
pub(super) async fn before<S: Engine>(store: &S, day: Date) -> Result<u64, StoreError> {
    let (mut account, mut forgotten) = (0, 0);
    while let Some(next) = next(store, account, day).await? {
        account = next;
        // Closed first, so that no page shows a day of which some entries are deleted already.
        run(store, Step::Close, account, day).await?;
        loop {
            match run(store, Step::Forget, account, day).await? {
                0 => break,
                deleted => forgotten += deleted,
            }
        }
    }
    Ok(forgotten)
}

async fn next<S: Engine>(store: &S, account: i64, day: Date) -> Result<Option<i64>, StoreError> {
    let next = async move |connection: &S::Connection<'_>| {
        sql::row(
            connection,
            NEXT,
            &[account.into(), day.to_string().as_str().into()],
            |row| row.number("id"),
        )
        .await
    };
    store.read_long(next).await
}

/// Runs one of the queries in its own transaction.
async fn run<S: Engine>(store: &S, step: Step, account: i64, day: Date) -> Result<u64, StoreError> {
    let run = async move |connection: &S::Connection<'_>| {
        let sql = match step {
            Step::Close => CLOSE,
            Step::Forget => FORGET,
        };
        connection
            .run(sql, &[account.into(), day.to_string().as_str().into()])
            .await
    };
    store.write(run).await
}
