//! Pages of a statement.

use super::account::{self, Account};
use super::stored::{self, Stored};
use crate::sql::{self, Sql};
use bankrail_service::{LedgerAnswer, LedgerPage, PageEntry, StatementQuery};
use bankrail_statement::{PagePosition, SortOrder};
use bankrail_stores::{Cells, corrupt};
use bankrail_values::{Decimal, StoreError};
use std::ops::ControlFlow;

const IS_THERE: &str =
    "SELECT 1 FROM bankrail_account_entry WHERE account = $1 AND day = $2 AND number = $3";

const FORWARD: &str =
    "SELECT number, day, amount, channel, entry, checksum FROM bankrail_account_entry
    WHERE account = $1 AND day = $2 AND number > $3 ORDER BY number LIMIT $4";

const BACKWARD: &str =
    "SELECT number, day, amount, channel, entry, checksum FROM bankrail_account_entry
    WHERE account = $1 AND day = $2 AND number < $3 ORDER BY number DESC LIMIT $4";

/// [`FORWARD`] without the rows after the first entry for which a page of
/// [`stored::MAX_BYTES`] has no room: from PostgreSQL all rows are received before the first one is
/// read.
const FORWARD_IN_BOUNDS: &str = "SELECT number, day, amount, channel, entry, checksum
    FROM (SELECT *, sum(octet_length(entry)) OVER (ORDER BY number) - octet_length(entry) AS before
        FROM (SELECT number, day, amount, channel, entry, checksum FROM bankrail_account_entry
            WHERE account = $1 AND day = $2 AND number > $3 ORDER BY number LIMIT $4) AS page) AS page
    WHERE before <= 4194304 ORDER BY number";

const BACKWARD_IN_BOUNDS: &str = "SELECT number, day, amount, channel, entry, checksum
    FROM (SELECT *, sum(octet_length(entry)) OVER (ORDER BY number DESC) - octet_length(entry) AS before
        FROM (SELECT number, day, amount, channel, entry, checksum FROM bankrail_account_entry
            WHERE account = $1 AND day = $2 AND number < $3 ORDER BY number DESC LIMIT $4) AS page) AS page
    WHERE before <= 4194304 ORDER BY number DESC";

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[IS_THERE, FORWARD, BACKWARD];

// The two queries above have this number.
const _: () = assert!(stored::MAX_BYTES == 4_194_304);

/// One more than the largest sum that 18 digits can carry, in units of its last decimal.
const SUM_END: i128 = 1_000_000_000_000_000_000;

/// Returns the answer, and true if its entries must be read before they are shown.
pub(super) async fn page(
    connection: &impl Sql,
    query: &StatementQuery,
) -> Result<(LedgerAnswer, bool), StoreError> {
    let Some((found, facts)) =
        account::registered(connection, &query.customer, &query.account).await?
    else {
        return Ok((LedgerAnswer::UnknownAccount, false));
    };
    let forgotten = found.has_forgotten(query.day);
    let after = match &query.position {
        None => None,
        // Even while some of its entries are still there: a walk would miss the others.
        Some(_) if forgotten => return Ok((LedgerAnswer::UnknownPosition, false)),
        Some(position) => match number(connection, &found, query, position).await? {
            Some(number) => Some(number),
            None => return Ok((LedgerAnswer::UnknownPosition, false)),
        },
    };
    let entries = if forgotten {
        Entries::default()
    } else {
        entries(connection, &found, query, after).await?
    };
    let mut page = LedgerPage::new(facts, found.balance, query.day).with_entries(entries.list);
    if let Some(last) = entries.last.filter(|_| entries.more) {
        page = page.with_next(PagePosition::from_number(
            u64::try_from(last).map_err(corrupt)?,
        ));
    }
    Ok((page.into(), entries.unproven))
}

/// Returns the number of the entry that a position names; `None` if it names no entry of the day.
async fn number(
    connection: &impl Sql,
    account: &Account,
    query: &StatementQuery,
    position: &PagePosition,
) -> Result<Option<i64>, StoreError> {
    let Some(number) = position
        .as_number()
        .and_then(|number| i64::try_from(number).ok())
    else {
        return Ok(None);
    };
    sql::row(
        connection,
        IS_THERE,
        &[
            account.row.into(),
            query.day.to_string().as_str().into(),
            number.into(),
        ],
        |_| Ok(number),
    )
    .await
}

/// The entries of a page, in their order.
#[derive(Default)]
struct Entries {
    list: Vec<PageEntry>,
    /// The number of bytes of all entries.
    bytes: usize,
    last: Option<i64>,
    /// True if the day has more entries.
    more: bool,
    /// True if an entry has no checksum.
    unproven: bool,
    /// The sum of all amounts without their signs, so that no sum or net of the page is larger.
    sum: Decimal,
}

impl Entries {
    /// Adds an entry, and returns true, unless the page has no room for it. A first entry always
    /// has room.
    fn add(&mut self, account: &Account, row: &dyn Cells) -> Result<bool, StoreError> {
        let stored = Stored::of(row)?;
        let bytes = self.bytes + stored.entry.len();
        let sum = self.sum.checked_add(stored.value()?);
        // A page has at least one entry, because a walk would not get past an empty one.
        match sum.filter(|sum| sum.mantissa() < SUM_END && bytes <= stored::MAX_BYTES) {
            None if !self.list.is_empty() => return Ok(false),
            fits => self.sum = fits.unwrap_or(Decimal::MAX),
        }
        let (entry, proven) = stored.entry(account)?;
        self.list.push(entry);
        (self.bytes, self.last) = (bytes, Some(stored.number));
        self.unproven |= !proven;
        Ok(true)
    }
}

async fn entries<C: Sql>(
    connection: &C,
    account: &Account,
    query: &StatementQuery,
    after: Option<i64>,
) -> Result<Entries, StoreError> {
    let (sql, start) = match (query.sort_order, C::SHARED) {
        (SortOrder::Backward, false) => (BACKWARD, i64::MAX),
        (SortOrder::Backward, true) => (BACKWARD_IN_BOUNDS, i64::MAX),
        (_, false) => (FORWARD, 0),
        (_, true) => (FORWARD_IN_BOUNDS, 0),
    };
    let most = query.max_entries.get();
    let mut entries = Entries::default();
    let add = |row: &dyn Cells| {
        if entries.list.len() < usize::from(most) && entries.add(account, row)? {
            return Ok(ControlFlow::Continue(()));
        }
        entries.more = true;
        Ok(ControlFlow::Break(()))
    };
    let day = query.day.to_string();
    let values = &[
        account.row.into(),
        day.as_str().into(),
        after.unwrap_or(start).into(),
        // One row more than asked for shows if there is another page.
        (i64::from(most) + 1).into(),
    ];
    connection.read_each(sql, values, add).await?;
    Ok(entries)
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use super::*;
    use bankrail_stores::Columns as _;
    use bankrail_stores::postgres::tokio_postgres::{NoTls, connect};
    use bankrail_stores::postgres::{InTransaction, PostgresOptions, PostgresStore};

    /// The server sends little more than a page has room for, whatever the number of later entries.
    #[tokio::test]
    #[ignore = "needs postgresql"]
    async fn the_server_sends_little_more_than_a_page_has_room_for() {
        let config = std::env::var("BANKRAIL_POSTGRES")
            .expect("BANKRAIL_POSTGRES names a database to write to");
        let (client, connection) = connect(&config, NoTls).await.unwrap();
        tokio::spawn(connection);
        let schema = format!("page_{}", std::process::id());
        client
            .batch_execute(&format!(
                "CREATE SCHEMA {schema}; SET search_path = {schema}"
            ))
            .await
            .unwrap();
        let config = format!("{config} options='-c search_path={schema}'");
        let store = PostgresStore::connect(&config, NoTls, PostgresOptions::new())
            .await
            .unwrap();
        client
            .batch_execute(
                "INSERT INTO bankrail_account (account, currency, balance, last_entry) VALUES ('1', 'AUD', '0', 60);
                INSERT INTO bankrail_account_entry SELECT id, n, '2021-07-29', '1', 'ordinary', NULL,
                    repeat('x', 1500000), 0 FROM bankrail_account, generate_series(1, 60) AS n",
            )
            .await
            .unwrap();
        for (sql, start, expected) in [
            (FORWARD_IN_BOUNDS, 0_i64, [1_i64, 2, 3]),
            (BACKWARD_IN_BOUNDS, 61, [60, 59, 58]),
        ] {
            let numbers = async |connection: &InTransaction<'_>| {
                let number = |row: &dyn Cells| row.number::<i64>("number");
                sql::rows(
                    connection,
                    sql,
                    &[
                        1_i64.into(),
                        "2021-07-29".into(),
                        start.into(),
                        61_i64.into(),
                    ],
                    number,
                )
                .await
            };
            assert_eq!(store.read(numbers).await.unwrap(), expected);
        }
        client
            .batch_execute(&format!("DROP SCHEMA {schema} CASCADE"))
            .await
            .unwrap();
    }
}
