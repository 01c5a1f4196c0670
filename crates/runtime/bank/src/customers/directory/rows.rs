//! The rows of customers. A record is one text, that of its TOML file, with the names that lookups
//! and checks use.

use super::CustomerChangeError;
use crate::customers::check::Checker;
use crate::customers::{CustomerRecord, CustomersError};
use crate::sql::{self, Sql, rows};
use bankrail_client_assertion::CustomerCode;
use bankrail_service::ApiKeyHash;
use bankrail_stores::{Cells, Columns as _, corrupt};
use bankrail_values::{StoreError, StoreErrorKind, Timestamp, random_bytes};
use std::collections::BTreeSet;

const RECORD: &str = "SELECT code, record FROM bankrail_customer WHERE code = $1";
const RECORDS: &str = "SELECT code, record, change FROM bankrail_customer";
const CHANGED: &str =
    "SELECT code, record, change FROM bankrail_customer WHERE change > $1 LIMIT $2";
const CODES: &str = "SELECT code FROM bankrail_customer";

/// Sums the lower half of each number, so that no sum overflows. The steps between numbers are
/// random, so that two different lists of changes have different sums.
const COUNT_AND_SUM: &str = "SELECT count(*) AS count,
    CAST(coalesce(sum(change & 4294967295), 0) AS BIGINT) AS sum FROM bankrail_customer";

/// Selects the customer of an API key. Each call of a customer runs this query, which reads both
/// tables by their primary keys.
const BY_API_KEY: &str = "SELECT code, change FROM bankrail_customer_name
    JOIN bankrail_customer ON code = customer WHERE kind = 'api_key' AND name = $1";
const BY_NAME: &str =
    "SELECT customer AS code FROM bankrail_customer_name WHERE kind = $1 AND name = $2";

const PUT: &str = "INSERT INTO bankrail_customer (code, record, change) VALUES ($1, $2, $3)
    ON CONFLICT (code) DO UPDATE SET record = $2, change = $3";
const PUT_NAME: &str =
    "INSERT INTO bankrail_customer_name (kind, name, customer) VALUES ($1, $2, $3)";
const DELETE: &str = "DELETE FROM bankrail_customer WHERE code = $1";
const DELETE_NAMES: &str = "DELETE FROM bankrail_customer_name WHERE customer = $1";

const LAST_CHANGE: &str = "SELECT last FROM bankrail_customer_change";
const LOCK_CHANGE: &str = "SELECT last FROM bankrail_customer_change FOR UPDATE";
const NEXT_CHANGE: &str = "UPDATE bankrail_customer_change SET last = last + $1";

/// Returns the code of the customer with an API key, and the number of its last change.
pub(super) async fn by_api_key(
    connection: &impl Sql,
    key: ApiKeyHash,
) -> Result<Option<(CustomerCode, i64)>, StoreError> {
    let found = |row: &dyn Cells| Ok((code(row)?, row.number("change")?));
    sql::row(
        connection,
        BY_API_KEY,
        &[key.to_string().as_str().into()],
        found,
    )
    .await
}

pub(super) async fn record(
    connection: &impl Sql,
    code: &CustomerCode,
) -> Result<Option<CustomerRecord>, StoreError> {
    sql::row(connection, RECORD, &[code.as_str().into()], read_record).await
}

/// Returns all records, each with the number of its last change.
pub(super) async fn records(
    connection: &impl Sql,
) -> Result<Vec<(CustomerRecord, i64)>, StoreError> {
    let found = |row: &dyn Cells| Ok((read_record(row)?, row.number("change")?));
    rows(connection, RECORDS, &[], found).await
}

/// Returns at most `limit` records whose last change comes after this one, each with that change's
/// number.
pub(super) async fn changed_after(
    connection: &impl Sql,
    change: i64,
    limit: u32,
) -> Result<Vec<(CustomerRecord, i64)>, StoreError> {
    let found = |row: &dyn Cells| Ok((read_record(row)?, row.number("change")?));
    rows(connection, CHANGED, &[change.into(), limit.into()], found).await
}

pub(super) async fn codes(connection: &impl Sql) -> Result<BTreeSet<CustomerCode>, StoreError> {
    Ok(rows(connection, CODES, &[], code)
        .await?
        .into_iter()
        .collect())
}

pub(super) async fn last_change(connection: &impl Sql) -> Result<i64, StoreError> {
    let last = sql::row(connection, LAST_CHANGE, &[], |row| row.number("last")).await?;
    last.ok_or_else(|| unreadable("the number of the last change"))
}

/// Returns the number of customers, and the sum of the lower halves of their last changes' numbers,
/// as [`lower_half`] returns them.
pub(super) async fn count_and_sum(connection: &impl Sql) -> Result<(usize, i64), StoreError> {
    let read = |row: &dyn Cells| Ok((row.number("count")?, row.number("sum")?));
    let found = sql::row(connection, COUNT_AND_SUM, &[], read).await?;
    found.ok_or_else(|| unreadable("the number of customers"))
}

/// Returns the lower half of a change's number, as the sum in the store uses it.
pub(super) fn lower_half(change: i64) -> i64 {
    change & 0xffff_ffff
}

/// Adds or replaces customers, after a check together with those that share a name with them.
pub(super) async fn put(
    connection: &impl Sql,
    records: &[&CustomerRecord],
) -> Result<(), CustomerChangeError> {
    // Before the check, so that no other change takes a name in between.
    lock(connection).await?;
    check(connection, records).await?;
    write(connection, records).await?;
    Ok(())
}

/// Replaces the records of these customers, as one change.
async fn write(connection: &impl Sql, records: &[&CustomerRecord]) -> Result<(), StoreError> {
    let change = next_change(connection).await?;
    // All names are deleted before any is written, because another of these customers may take one
    // over.
    for record in records {
        let code = record.customer.code.as_str();
        connection.run(DELETE_NAMES, &[code.into()]).await?;
    }
    for record in records {
        let (code, text) = (record.customer.code.as_str(), record.to_toml());
        let values = [code.into(), text.as_str().into(), change.into()];
        connection.run(PUT, &values).await?;
        for (kind, name) in names(record) {
            let values = [kind.into(), name.as_str().into(), code.into()];
            connection.run(PUT_NAME, &values).await?;
        }
    }
    Ok(())
}

/// Locks the customers until the end of the transaction, so that changes become visible in the
/// order of their numbers. SQLite needs no lock, because it has one writer at a time.
pub(super) async fn lock<C: Sql>(connection: &C) -> Result<(), StoreError> {
    if C::SHARED {
        connection.run(LOCK_CHANGE, &[]).await?;
    }
    Ok(())
}

pub(super) async fn remove(connection: &impl Sql, code: &CustomerCode) -> Result<bool, StoreError> {
    lock(connection).await?;
    let removed = connection.run(DELETE, &[code.as_str().into()]).await? > 0;
    if removed {
        next_change(connection).await?;
    }
    Ok(removed)
}

/// Makes an API key expire. A key that would expire before it becomes valid is deleted.
pub(super) async fn retire(
    connection: &impl Sql,
    hash: ApiKeyHash,
    at: Timestamp,
) -> Result<bool, StoreError> {
    lock(connection).await?;
    let Some((code, _)) = by_api_key(connection, hash).await? else {
        return Ok(false);
    };
    let Some(mut record) = record(connection, &code).await? else {
        return Ok(false);
    };
    let begins_later = |from: Option<Timestamp>| from.is_some_and(|from| from >= at);
    record
        .api_keys
        .retain(|key| key.hash != hash || !begins_later(key.not_before));
    for key in &mut record.api_keys {
        if key.hash == hash && key.expires.is_none_or(|until| until > at) {
            key.expires = Some(at);
        }
    }
    write(connection, &[&record]).await?;
    Ok(true)
}

/// Checks the records together with those of other customers that share a name with them.
async fn check(
    connection: &impl Sql,
    records: &[&CustomerRecord],
) -> Result<(), CustomerChangeError> {
    let mut codes = BTreeSet::new();
    for record in records {
        for (kind, name) in names(record) {
            let values = [kind.into(), name.as_str().into()];
            codes.extend(rows(connection, BY_NAME, &values, code).await?);
        }
    }
    for replaced in records {
        codes.remove(&replaced.customer.code);
    }
    let mut others = Vec::with_capacity(codes.len());
    for code in codes {
        others.extend(record(connection, &code).await?);
    }
    let mut checker = Checker::default();
    for record in others.iter().chain(records.iter().copied()) {
        checker.check(record.into(), record);
    }
    let errors = checker.errors();
    if errors.is_empty() {
        Ok(())
    } else {
        Err(CustomerChangeError::Refused(CustomersError::of(errors)))
    }
}

/// Returns the names that a record is found by, each with its kind.
fn names(record: &CustomerRecord) -> BTreeSet<(&'static str, String)> {
    let api_keys = record
        .api_keys
        .iter()
        .map(|key| ("api_key", key.hash.to_string()));
    let accounts = record
        .accounts
        .iter()
        .map(|(id, _)| ("account", id.to_string()));
    let endpoints = record
        .endpoints
        .iter()
        .map(|endpoint| ("endpoint", endpoint.id().to_string()));
    api_keys.chain(accounts).chain(endpoints).collect()
}

/// Takes the number of a change. Listeners are notified when the transaction is committed.
///
/// The step is random, so that a change does not get the number of an earlier one that the database
/// has lost and that an instance has cached.
async fn next_change<C: Sql>(connection: &C) -> Result<i64, StoreError> {
    let step =
        random_bytes().map_err(|error| StoreError::new(StoreErrorKind::Unavailable, error))?;
    let step = 1 + i64::from(u32::from_le_bytes(step));
    connection.run(NEXT_CHANGE, &[step.into()]).await?;
    if C::SHARED {
        // Sent at the commit, so that no follower asks too early.
        connection.run("NOTIFY bankrail_customer", &[]).await?;
    }
    last_change(connection).await
}

fn read_record(row: &dyn Cells) -> Result<CustomerRecord, StoreError> {
    let code = code(row)?;
    CustomerRecord::from_stored(row.str("record")?)
        .filter(|record| record.customer.code == code)
        .ok_or_else(|| unreadable("a record"))
}

fn code(row: &dyn Cells) -> Result<CustomerCode, StoreError> {
    CustomerCode::parse(row.str("code")?).map_err(|_| unreadable("a customer code"))
}

/// Makes the error of a value that cannot be read back, without the value.
fn unreadable(what: &str) -> StoreError {
    corrupt(format!(
        "expected {what} that this version can read, found another"
    ))
}
