//! Records are written to their tables.

use super::CustomerChangeError;
use super::read::{code, record};
use crate::customers::check::Checker;
use crate::customers::{CustomerRecord, CustomersError, EndpointRecord};
use crate::sql::{self, Sql, get, rows, values};
use bankrail_client_assertion::CustomerCode;
use bankrail_service::ApiKeyHash;
use bankrail_statement::AccountKind;
use bankrail_values::{StoreError, StoreErrorKind, Timestamp, random_bytes};
use std::collections::BTreeSet;

/// Adds or replaces customers, after validating them with those that share something with them.
pub(super) async fn put(
    connection: &impl Sql,
    records: &[&CustomerRecord],
) -> Result<(), CustomerChangeError> {
    lock(connection).await?;
    check(connection, records).await?;
    let change = next_change(connection).await?;
    // What is replaced is deleted first, because another of these customers may take it over.
    for record in records {
        for delete in DELETE_LISTS {
            connection
                .run(delete, values![record.customer.code.as_str()])
                .await?;
        }
    }
    for record in records {
        insert(connection, record, change).await?;
    }
    Ok(())
}

const DELETE_LISTS: [&str; 5] = [
    "DELETE FROM bankrail_customer_key WHERE customer = $1",
    "DELETE FROM bankrail_customer_api_key WHERE customer = $1",
    "DELETE FROM bankrail_customer_limit WHERE customer = $1",
    "DELETE FROM bankrail_customer_account WHERE customer = $1",
    "DELETE FROM bankrail_customer_endpoint WHERE customer = $1",
];

/// No other transaction changes a customer before the end of this one, so that changes become
/// visible in the order of their numbers.
pub(super) async fn lock<C: Sql>(connection: &C) -> Result<(), StoreError> {
    if C::SHARED {
        connection
            .run("SELECT last FROM bankrail_customer_change FOR UPDATE", &[])
            .await?;
    }
    Ok(())
}

pub(super) async fn remove(connection: &impl Sql, code: &CustomerCode) -> Result<bool, StoreError> {
    lock(connection).await?;
    let removed = connection
        .run(
            "DELETE FROM bankrail_customer WHERE code = $1",
            values![code.as_str()],
        )
        .await?
        > 0;
    if removed {
        next_change(connection).await?;
    }
    Ok(removed)
}

pub(super) async fn retire(
    connection: &impl Sql,
    key: ApiKeyHash,
    at: Timestamp,
) -> Result<bool, StoreError> {
    lock(connection).await?;
    let owner = "SELECT customer FROM bankrail_customer_api_key WHERE hash = $1";
    let Some(owner) = sql::row(connection, owner, values![key.as_bytes()], code).await? else {
        return Ok(false);
    };
    let values = values![key.as_bytes(), at.unix_millis()];
    // A key that would expire before it becomes valid is deleted.
    let begins_later = "DELETE FROM bankrail_customer_api_key WHERE hash = $1 AND not_before >= $2";
    connection.run(begins_later, values).await?;
    let expire = "UPDATE bankrail_customer_api_key SET expires = $2
        WHERE hash = $1 AND (expires IS NULL OR expires > $2)";
    connection.run(expire, values).await?;
    let change = next_change(connection).await?;
    let changed = "UPDATE bankrail_customer SET change = $2 WHERE code = $1";
    connection
        .run(changed, values![owner.as_str(), change])
        .await?;
    Ok(true)
}

/// Checks the records with those of other customers that share something with them.
async fn check(
    connection: &impl Sql,
    records: &[&CustomerRecord],
) -> Result<(), CustomerChangeError> {
    let mut codes = BTreeSet::new();
    for record in records {
        for key in &record.api_keys {
            let sql = "SELECT customer FROM bankrail_customer_api_key WHERE hash = $1";
            codes.extend(rows(connection, sql, values![key.hash().as_bytes()], code).await?);
        }
        for (id, _) in &record.accounts {
            let sql = "SELECT customer FROM bankrail_customer_account WHERE account = $1";
            codes.extend(rows(connection, sql, values![id.as_str()], code).await?);
        }
        for endpoint in &record.endpoints {
            let sql = "SELECT customer FROM bankrail_customer_endpoint WHERE endpoint = $1";
            codes.extend(rows(connection, sql, values![endpoint.id().as_str()], code).await?);
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
    let faults = checker.faults();
    if faults.is_empty() {
        Ok(())
    } else {
        Err(CustomerChangeError::Refused(CustomersError::of(faults)))
    }
}

async fn insert(
    connection: &impl Sql,
    record: &CustomerRecord,
    change: i64,
) -> Result<(), StoreError> {
    let customer = record.customer.code.as_str();
    let scopes: Vec<&str> = record
        .customer
        .scopes
        .iter()
        .map(|scope| scope.as_str())
        .collect();
    let sql = "INSERT INTO bankrail_customer (code, scopes, change) VALUES ($1, $2, $3)
        ON CONFLICT (code) DO UPDATE SET scopes = $2, change = $3";
    connection
        .run(sql, values![customer, &scopes.join(" "), change])
        .await?;
    for key in record.customer.keys.keys().iter() {
        let sql = "INSERT INTO bankrail_customer_key (customer, kid, key) VALUES ($1, $2, $3)";
        connection
            .run(
                sql,
                values![customer, key.kid(), &key.public_key().to_spki_der()],
            )
            .await?;
    }
    for key in &record.api_keys {
        let sql = "INSERT INTO bankrail_customer_api_key (customer, hash, not_before, expires)
            VALUES ($1, $2, $3, $4)";
        let hash = key.hash();
        let values = values![
            customer,
            hash.as_bytes(),
            key.valid_from(),
            key.valid_until()
        ];
        connection.run(sql, values).await?;
    }
    for limit in &record.limits {
        let unit = |name| {
            limit
                .units()
                .find(|(unit, _)| *unit == name)
                .map(|(_, limit)| limit)
        };
        let sql = "INSERT INTO bankrail_customer_limit (customer, call_type, per_hour, per_minute, per_second, until)
            VALUES ($1, $2, $3, $4, $5, $6)";
        let [hour, minute, second] = ["per_hour", "per_minute", "per_second"].map(unit);
        let values = values![
            customer,
            limit.call_type().as_str(),
            hour,
            minute,
            second,
            limit.ends()
        ];
        connection.run(sql, values).await?;
    }
    for (id, account) in &record.accounts {
        let sql = "INSERT INTO bankrail_customer_account
            (customer, account, currency, name, virtual_accounts, reporting_source) VALUES ($1, $2, $3, $4, $5, $6)";
        let virtual_accounts = account.kind == AccountKind::WithVirtualAccounts;
        let (currency, source) = (account.currency.as_str(), &account.reporting_source);
        let values = values![
            customer,
            id.as_str(),
            currency,
            &account.name,
            virtual_accounts,
            source
        ];
        connection.run(sql, values).await?;
    }
    for endpoint in &record.endpoints {
        insert_endpoint(connection, customer, endpoint).await?;
    }
    Ok(())
}

async fn insert_endpoint(
    connection: &impl Sql,
    customer: &str,
    endpoint: &EndpointRecord,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO bankrail_customer_endpoint (customer, endpoint, url, header, api_key, kid, key)
        VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id";
    let (header, value) = endpoint
        .api_key()
        .map(|(header, value)| (header, value.expose_secret()))
        .unzip();
    let (id, url, key) = (
        endpoint.id().as_str(),
        endpoint.url().as_str(),
        endpoint.encryption_key(),
    );
    let der = key.public_key().to_spki_der();
    let values = values![customer, id, url, header, value, key.kid(), &der];
    let row: Option<i64> = sql::row(connection, sql, values, |row| get(row, "id")).await?;
    let row = row.ok_or_else(|| sql::corrupt("expected the number of a new row, found none"))?;
    for (kind, path) in endpoint.paths() {
        let sql = "INSERT INTO bankrail_customer_endpoint_path (endpoint, kind, path) VALUES ($1, $2, $3)";
        connection
            .run(sql, values![row, kind.as_str(), path])
            .await?;
    }
    Ok(())
}

/// Whoever listens hears of it when the transaction is committed.
///
/// The step is random, so that no change gets the number of one that the database has lost and an
/// instance still knows.
async fn next_change<C: Sql>(connection: &C) -> Result<i64, StoreError> {
    let step =
        random_bytes().map_err(|error| StoreError::new(StoreErrorKind::Unavailable, error))?;
    let step = 1 + i64::from(u32::from_le_bytes(step));
    connection
        .run(
            "UPDATE bankrail_customer_change SET last = last + $1",
            values![step],
        )
        .await?;
    if C::SHARED {
        connection.run("NOTIFY bankrail_customer", &[]).await?;
    }
    super::read::last_change(connection).await
}
