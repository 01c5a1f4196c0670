//! Records are written to their tables.

use super::CustomerChangeError;
use super::read::{code, record};
use crate::customers::check::Checker;
use crate::customers::{CustomerRecord, CustomersError};
use crate::sql::{rows, run};
use bankrail_client_assertion::CustomerCode;
use bankrail_service::ApiKeyHash;
use bankrail_statement::AccountKind;
use bankrail_stores::sqlite::rusqlite::{Connection, params};
use bankrail_values::{StoreError, Timestamp};
use std::collections::BTreeSet;

/// Adds or replaces customers, after validating them with all others.
pub(super) fn put(connection: &Connection, records: &[&CustomerRecord]) -> Result<(), CustomerChangeError> {
    check(connection, records)?;
    let change = next_change(connection)?;
    // What is replaced is deleted first, because another of these customers may take it over.
    for record in records {
        let code = record.customer.code.as_str();
        for table in TABLES {
            run(connection, &format!("DELETE FROM {table} WHERE customer = ?1"), [code])?;
        }
    }
    for record in records {
        insert(connection, record, change)?;
    }
    Ok(())
}

/// The tables of a customer's lists.
const TABLES: &[&str] = &[
    "bankrail_customer_key",
    "bankrail_customer_api_key",
    "bankrail_customer_limit",
    "bankrail_customer_account",
    "bankrail_customer_endpoint",
];

pub(super) fn remove(connection: &Connection, code: &CustomerCode) -> Result<bool, StoreError> {
    let removed = run(connection, "DELETE FROM bankrail_customer WHERE code = ?1", [code.as_str()])? > 0;
    if removed {
        next_change(connection)?;
    }
    Ok(removed)
}

pub(super) fn retire(connection: &Connection, key: ApiKeyHash, at: Timestamp) -> Result<bool, StoreError> {
    let owner = "SELECT customer FROM bankrail_customer_api_key WHERE hash = ?1";
    let Some(owner) = rows(connection, owner, [key.as_bytes()], |row| code(row, "customer"))?.pop() else {
        return Ok(false);
    };
    // A key that would expire before it becomes valid is deleted.
    let begins_later = "DELETE FROM bankrail_customer_api_key WHERE hash = ?1 AND not_before >= ?2";
    run(connection, begins_later, params![key.as_bytes(), at.unix_millis()])?;
    let expire = "UPDATE bankrail_customer_api_key SET expires = ?2
        WHERE hash = ?1 AND (expires IS NULL OR expires > ?2)";
    run(connection, expire, params![key.as_bytes(), at.unix_millis()])?;
    let change = next_change(connection)?;
    run(connection, "UPDATE bankrail_customer SET change = ?2 WHERE code = ?1", params![owner.as_str(), change])?;
    Ok(true)
}

/// Checks the records with those of other customers that share something with them.
fn check(connection: &Connection, records: &[&CustomerRecord]) -> Result<(), CustomerChangeError> {
    let mut codes = BTreeSet::new();
    let mut owners = |sql: &str, parameters: &[&dyn bankrail_stores::sqlite::rusqlite::ToSql]| {
        codes.extend(rows(connection, sql, parameters, |row| code(row, "customer"))?);
        Ok::<(), StoreError>(())
    };
    for record in records {
        for key in &record.api_keys {
            let sql = "SELECT customer FROM bankrail_customer_api_key WHERE hash = ?1";
            owners(sql, &[key.hash().as_bytes()])?;
        }
        for (id, _) in &record.accounts {
            owners("SELECT customer FROM bankrail_customer_account WHERE account = ?1", &[&id.as_str()])?;
        }
        for endpoint in &record.endpoints {
            let id: &str = endpoint.id().as_ref();
            owners("SELECT customer FROM bankrail_customer_endpoint WHERE endpoint = ?1", &[&id])?;
        }
    }
    for replaced in records {
        codes.remove(&replaced.customer.code);
    }
    let mut others = Vec::with_capacity(codes.len());
    for code in codes {
        others.extend(record(connection, &code)?);
    }
    let mut checker = Checker::default();
    for record in others.iter().chain(records.iter().copied()) {
        checker.check(record.into(), record);
    }
    let faults = checker.faults();
    if faults.is_empty() { Ok(()) } else { Err(CustomerChangeError::Refused(CustomersError::of(faults))) }
}

fn insert(connection: &Connection, record: &CustomerRecord, change: i64) -> Result<(), StoreError> {
    let customer = record.customer.code.as_str();
    let scopes: Vec<&str> = record.customer.scopes.iter().map(|scope| scope.as_str()).collect();
    let sql = "INSERT INTO bankrail_customer (code, scopes, change) VALUES (?1, ?2, ?3)
        ON CONFLICT (code) DO UPDATE SET scopes = ?2, change = ?3";
    run(connection, sql, params![customer, scopes.join(" "), change])?;
    for key in record.customer.keys.keys().iter() {
        let sql = "INSERT INTO bankrail_customer_key (customer, kid, key) VALUES (?1, ?2, ?3)";
        run(connection, sql, params![customer, key.kid(), key.public_key().to_spki_der()])?;
    }
    for key in &record.api_keys {
        let sql = "INSERT INTO bankrail_customer_api_key (customer, hash, not_before, expires)
            VALUES (?1, ?2, ?3, ?4)";
        let [from, until] = [key.valid_from(), key.valid_until()].map(|instant| instant.map(Timestamp::unix_millis));
        run(connection, sql, params![customer, key.hash().as_bytes(), from, until])?;
    }
    for limit in &record.limits {
        let unit = |name| limit.units().find(|(unit, _)| *unit == name).map(|(_, limit)| limit);
        let sql = "INSERT INTO bankrail_customer_limit (customer, call_type, per_hour, per_minute, per_second, until)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let [hour, minute, second] = ["per_hour", "per_minute", "per_second"].map(unit);
        let until = limit.ends().map(Timestamp::unix_millis);
        run(connection, sql, params![customer, limit.call_type().as_str(), hour, minute, second, until])?;
    }
    for (id, account) in &record.accounts {
        let sql = "INSERT INTO bankrail_customer_account
            (customer, account, currency, name, virtual_accounts, reporting_source) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let virtual_accounts = account.kind == AccountKind::WithVirtualAccounts;
        let (currency, source) = (account.currency.as_str(), &account.reporting_source);
        run(connection, sql, params![customer, id.as_str(), currency, account.name, virtual_accounts, source])?;
    }
    for endpoint in &record.endpoints {
        insert_endpoint(connection, customer, endpoint)?;
    }
    Ok(())
}

fn insert_endpoint(
    connection: &Connection,
    customer: &str,
    endpoint: &crate::customers::EndpointRecord,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO bankrail_customer_endpoint (customer, endpoint, url, header, api_key, kid, key)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let id: &str = endpoint.id().as_ref();
    let (header, value) = endpoint.api_key().map(|(header, value)| (header, value.expose_secret())).unzip();
    let key = endpoint.encryption_key();
    let der = key.public_key().to_spki_der();
    run(connection, sql, params![customer, id, endpoint.url().as_str(), header, value, key.kid(), der])?;
    let row = connection.last_insert_rowid();
    for (kind, path) in endpoint.paths() {
        let sql = "INSERT INTO bankrail_customer_endpoint_path (endpoint, kind, path) VALUES (?1, ?2, ?3)";
        run(connection, sql, params![row, kind.as_str(), path])?;
    }
    Ok(())
}

fn next_change(connection: &Connection) -> Result<i64, StoreError> {
    run(connection, "UPDATE bankrail_customer_change SET last = last + 1", [])?;
    super::read::last_change(connection)
}
