//! Records are read from their tables.

use crate::customers::EndpointRecord;
use crate::customers::limit::WINDOWS;
use crate::customers::{ApiKeyRecord, CustomerRecord, LimitOverride};
use crate::sql::{self, get, rows};
use bankrail_client_assertion::CustomerCode;
use bankrail_client_assertion::token::ScopeSet;
use bankrail_jose::{EncryptionKey, KeyHandle, KeySet, VerifyingKey};
use bankrail_rate_limit::CallType;
use bankrail_service::delivery::EndpointUrl;
use bankrail_service::{ApiKeyHash, Customer, RegisteredAccount};
use bankrail_statement::AccountId;
use bankrail_stores::sqlite::rusqlite::{Connection, Row};
use bankrail_values::{Currency, SecretString, StoreError, Timestamp};
use bankrail_webhook::MessageKind;
use std::collections::BTreeMap;

const API_KEY: &str = "SELECT customer, change, hash, not_before, expires FROM bankrail_customer_api_key
    JOIN bankrail_customer ON code = customer WHERE hash = ?1";

/// The customer's code, the number of its last change, and the key.
pub(super) fn api_key(
    connection: &Connection,
    key: ApiKeyHash,
) -> Result<Option<(CustomerCode, i64, ApiKeyRecord)>, StoreError> {
    sql::row(connection, API_KEY, [key.as_bytes()], |row| {
        Ok((code(row, "customer")?, get(row, "change")?, api_key_of(row)?))
    })
}

pub(super) fn last_change(connection: &Connection) -> Result<i64, StoreError> {
    let last = sql::row(connection, "SELECT last FROM bankrail_customer_change", [], |row| get(row, "last"))?;
    last.ok_or_else(|| unreadable("the number of the last change"))
}

/// The number of the last change of each customer.
pub(super) fn changes(connection: &Connection) -> Result<BTreeMap<CustomerCode, i64>, StoreError> {
    let all = rows(connection, "SELECT code, change FROM bankrail_customer", [], |row| {
        Ok((code(row, "code")?, get(row, "change")?))
    })?;
    Ok(all.into_iter().collect())
}

/// Code, keys and scopes.
pub(super) fn customer(connection: &Connection, code: &CustomerCode) -> Result<Option<Customer>, StoreError> {
    let scopes = "SELECT scopes FROM bankrail_customer WHERE code = ?1";
    let scopes = sql::row(connection, scopes, [code.as_str()], |row| get::<String>(row, "scopes"))?;
    let Some(scopes) = scopes else { return Ok(None) };
    let scopes = ScopeSet::parse(&scopes).map_err(|_| unreadable("scopes"))?;
    let keys = "SELECT kid, key FROM bankrail_customer_key WHERE customer = ?1 ORDER BY id";
    let keys = rows(connection, keys, [code.as_str()], |row| {
        named(row, VerifyingKey::from_spki_der(&get::<Vec<u8>>(row, "key")?).map_err(|_| unreadable("a public key"))?)
    })?;
    let keys = KeySet::new(keys).map_err(|_| unreadable("public keys"))?;
    Ok(Some(Customer::new(code.clone(), keys, scopes)))
}

/// Everything that is arranged with a customer.
pub(super) fn record(connection: &Connection, code: &CustomerCode) -> Result<Option<CustomerRecord>, StoreError> {
    let Some(customer) = customer(connection, code)? else { return Ok(None) };
    let mut record = CustomerRecord::new(customer);
    let api_keys = "SELECT hash, not_before, expires FROM bankrail_customer_api_key WHERE customer = ?1 ORDER BY id";
    record.api_keys = rows(connection, api_keys, [code.as_str()], api_key_of)?;
    let limits = "SELECT call_type, per_hour, per_minute, per_second, until FROM bankrail_customer_limit
        WHERE customer = ?1 ORDER BY id";
    record.limits = rows(connection, limits, [code.as_str()], limit_of)?;
    let accounts = "SELECT account, currency, name, virtual_accounts, reporting_source FROM bankrail_customer_account
        WHERE customer = ?1 ORDER BY id";
    record.accounts = rows(connection, accounts, [code.as_str()], account_of)?;
    let endpoints = "SELECT id, endpoint, url, header, api_key, kid, key FROM bankrail_customer_endpoint
        WHERE customer = ?1 ORDER BY id";
    record.endpoints = rows(connection, endpoints, [code.as_str()], |row| endpoint_of(connection, row))?;
    Ok(Some(record))
}

fn api_key_of(row: &Row<'_>) -> Result<ApiKeyRecord, StoreError> {
    let hash = ApiKeyHash::from_bytes(get(row, "hash")?);
    Ok(ApiKeyRecord { hash, not_before: instant(row, "not_before")?, expires: instant(row, "expires")? })
}

fn limit_of(row: &Row<'_>) -> Result<LimitOverride, StoreError> {
    let call_type: CallType = get::<String>(row, "call_type")?.parse().map_err(|_| unreadable("a call type"))?;
    let mut windows = Vec::new();
    for (unit, window) in WINDOWS {
        if let Some(limit) = get::<Option<u32>>(row, unit)? {
            windows.push(window(limit).map_err(|_| unreadable("a limit"))?);
        }
    }
    let mut limit = match windows.as_slice() {
        [] => LimitOverride::unlimited(call_type),
        windows => LimitOverride::new(call_type, windows).map_err(|_| unreadable("a limit"))?,
    };
    limit.until = instant(row, "until")?;
    Ok(limit)
}

fn account_of(row: &Row<'_>) -> Result<(AccountId, RegisteredAccount), StoreError> {
    let id = AccountId::parse(&get::<String>(row, "account")?).map_err(|_| unreadable("an account"))?;
    let currency = Currency::parse(&get::<String>(row, "currency")?).map_err(|_| unreadable("a currency"))?;
    let mut account = RegisteredAccount::new(currency);
    account.name = get(row, "name")?;
    account.reporting_source = get(row, "reporting_source")?;
    Ok((id, if get(row, "virtual_accounts")? { account.with_virtual_accounts() } else { account }))
}

/// The key under the name that is stored with it.
fn named<K: KeyHandle>(row: &Row<'_>, key: K) -> Result<K, StoreError> {
    Ok(match get::<Option<String>>(row, "kid")? {
        Some(kid) => key.with_kid(&kid),
        None => key,
    })
}

fn endpoint_of(connection: &Connection, row: &Row<'_>) -> Result<EndpointRecord, StoreError> {
    let id = get::<String>(row, "endpoint")?.parse().map_err(|_| unreadable("an endpoint's id"))?;
    // Whether the address may be http was decided when the record was made.
    let url = EndpointUrl::danger_allow_http_on_loopback(&get::<String>(row, "url")?);
    let key =
        EncryptionKey::from_spki_der(&get::<Vec<u8>>(row, "key")?).map_err(|_| unreadable("an encryption key"))?;
    let url = url.map_err(|_| unreadable("an endpoint's address"))?;
    let mut endpoint = EndpointRecord::new(id, url, named(row, key)?);
    if let Some(header) = get::<Option<String>>(row, "header")? {
        let value = SecretString::from(get::<String>(row, "api_key")?);
        endpoint = endpoint.with_api_key_in(&header, value).map_err(|_| unreadable("an endpoint's API key"))?;
    }
    let paths = "SELECT kind, path FROM bankrail_customer_endpoint_path WHERE endpoint = ?1";
    let paths = rows(connection, paths, [get::<i64>(row, "id")?], |row| {
        let kind =
            MessageKind::from_name(&get::<String>(row, "kind")?).ok_or_else(|| unreadable("a kind of message"))?;
        Ok((kind, get::<String>(row, "path")?))
    })?;
    Ok(paths.into_iter().fold(endpoint, |endpoint, (kind, path)| endpoint.with_path(kind, path)))
}

fn instant(row: &Row<'_>, column: &str) -> Result<Option<Timestamp>, StoreError> {
    let millis: Option<i64> = get(row, column)?;
    millis.map(|millis| Timestamp::from_unix_millis(millis).ok_or_else(|| unreadable("an instant"))).transpose()
}

pub(super) fn code(row: &Row<'_>, column: &str) -> Result<CustomerCode, StoreError> {
    CustomerCode::parse(&get::<String>(row, column)?).map_err(|_| unreadable("a customer code"))
}

/// A value that cannot be read back. It is not shown.
fn unreadable(what: &str) -> StoreError {
    sql::corrupt(format!("expected {what} that this version can read, found another"))
}
