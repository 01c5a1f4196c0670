//! Records are read from their tables.

use crate::customers::EndpointRecord;
use crate::customers::limit::WINDOWS;
use crate::customers::{ApiKeyRecord, CustomerRecord, LimitOverride};
use crate::sql::{self, Sql, get, maybe, rows, values};
use bankrail_client_assertion::CustomerCode;
use bankrail_client_assertion::token::ScopeSet;
use bankrail_jose::{EncryptionKey, KeyHandle, KeySet, VerifyingKey};
use bankrail_rate_limit::CallType;
use bankrail_service::delivery::EndpointUrl;
use bankrail_service::{ApiKeyHash, Customer, RegisteredAccount};
use bankrail_statement::AccountId;
use bankrail_stores::Cells;
use bankrail_values::{Currency, SecretString, StoreError, Timestamp};
use bankrail_webhook::MessageKind;
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub(super) const API_KEY: &str =
    "SELECT customer, change, hash, not_before, expires FROM bankrail_customer_api_key
    JOIN bankrail_customer ON code = customer WHERE hash = $1";

const COUNT_AND_SUM: &str = "SELECT count(*) AS count,
    CAST(coalesce(sum(change & 4294967295), 0) AS BIGINT) AS sum FROM bankrail_customer";

/// Whose rows are read.
#[derive(Clone, Copy)]
pub(super) enum Whose<'a> {
    One(&'a CustomerCode),
    All,
}

/// The rows of one customer, and those of all.
struct Lists {
    one: &'static str,
    all: &'static str,
}

macro_rules! lists {
    ($columns:literal of $table:literal) => {
        lists!($columns of $table by "customer")
    };
    ($columns:literal of $table:literal by $customer:literal) => {
        Lists {
            one: concat!("SELECT ", $customer, " AS customer, ", $columns, " FROM ", $table,
                " WHERE ", $customer, " = $1 ORDER BY id"),
            all: concat!("SELECT ", $customer, " AS customer, ", $columns, " FROM ", $table,
                " ORDER BY ", $customer, ", id"),
        }
    };
}

const CUSTOMER: Lists = Lists {
    one: "SELECT code AS customer, scopes FROM bankrail_customer WHERE code = $1",
    all: "SELECT code AS customer, scopes FROM bankrail_customer",
};
const KEYS: Lists = lists!("kid, key" of "bankrail_customer_key");
const API_KEYS: Lists = lists!("hash, not_before, expires" of "bankrail_customer_api_key");
const LIMITS: Lists =
    lists!("call_type, per_hour, per_minute, per_second, until" of "bankrail_customer_limit");
const ACCOUNTS: Lists = lists!("account, currency, name, virtual_accounts, reporting_source" of "bankrail_customer_account");
const ENDPOINTS: Lists =
    lists!("id, endpoint, url, header, api_key, kid, key" of "bankrail_customer_endpoint");
const PATHS: Lists = lists!("id, kind, path" of "bankrail_customer_endpoint_path AS path
    JOIN bankrail_customer_endpoint AS endpoint ON endpoint.id = path.endpoint" by "endpoint.customer");

/// The customer's code, the number of its last change, and the key.
pub(super) async fn api_key(
    connection: &impl Sql,
    key: ApiKeyHash,
) -> Result<Option<(CustomerCode, i64, ApiKeyRecord)>, StoreError> {
    let found = |row: &dyn Cells| Ok((code(row)?, get(row, "change")?, api_key_of(row)?));
    sql::row(connection, API_KEY, values![key.as_bytes()], found).await
}

pub(super) async fn last_change(connection: &impl Sql) -> Result<i64, StoreError> {
    let last = sql::row(
        connection,
        "SELECT last FROM bankrail_customer_change",
        &[],
        |row| get(row, "last"),
    )
    .await?;
    last.ok_or_else(|| unreadable("the number of the last change"))
}

/// The codes of all customers.
pub(super) async fn codes(connection: &impl Sql) -> Result<BTreeSet<CustomerCode>, StoreError> {
    Ok(rows(
        connection,
        "SELECT code AS customer FROM bankrail_customer",
        &[],
        code,
    )
    .await?
    .into_iter()
    .collect())
}

/// The number of the last change of each customer.
pub(super) async fn changes(
    connection: &impl Sql,
) -> Result<HashMap<CustomerCode, i64>, StoreError> {
    let changes = "SELECT code AS customer, change FROM bankrail_customer";
    Ok(rows(connection, changes, &[], |row| {
        Ok((code(row)?, get(row, "change")?))
    })
    .await?
    .into_iter()
    .collect())
}

/// How many customers there are, and the sum of the numbers of their last changes, of each the
/// lower half.
pub(super) async fn count_and_sum(connection: &impl Sql) -> Result<(usize, i64), StoreError> {
    let all = sql::row(connection, COUNT_AND_SUM, &[], |row| {
        Ok((get(row, "count")?, get(row, "sum")?))
    })
    .await?;
    let (count, sum): (i64, i64) = all.ok_or_else(|| unreadable("the number of customers"))?;
    Ok((usize::try_from(count).map_err(sql::corrupt)?, sum))
}

/// At most so many customers whose last change comes after this one, with its number.
pub(super) async fn changed_after(
    connection: &impl Sql,
    change: i64,
    most: usize,
) -> Result<Vec<(CustomerCode, i64)>, StoreError> {
    let sql = "SELECT code AS customer, change FROM bankrail_customer WHERE change > $1 LIMIT $2";
    let changed = |row: &dyn Cells| Ok((code(row)?, get(row, "change")?));
    rows(
        connection,
        sql,
        values![change, i64::try_from(most).unwrap_or(i64::MAX)],
        changed,
    )
    .await
}

/// What each customer has in a table, in its order.
async fn lists<T>(
    connection: &impl Sql,
    of: &Lists,
    whose: Whose<'_>,
    read: impl Fn(&dyn Cells) -> Result<T, StoreError>,
) -> Result<BTreeMap<CustomerCode, Vec<T>>, StoreError> {
    let read = |row: &dyn Cells| Ok((code(row)?, read(row)?));
    let rows = match whose {
        Whose::One(code) => rows(connection, of.one, values![code.as_str()], read).await?,
        Whose::All => rows(connection, of.all, &[], read).await?,
    };
    let mut lists = BTreeMap::<CustomerCode, Vec<T>>::new();
    for (code, value) in rows {
        lists.entry(code).or_default().push(value);
    }
    Ok(lists)
}

/// Code, keys and scopes of each.
async fn customers(
    connection: &impl Sql,
    whose: Whose<'_>,
) -> Result<BTreeMap<CustomerCode, Customer>, StoreError> {
    let scopes =
        |row: &dyn Cells| ScopeSet::parse(get(row, "scopes")?).map_err(|_| unreadable("scopes"));
    let found = lists(connection, &CUSTOMER, whose, scopes).await?;
    let key = |row: &dyn Cells| {
        named(
            row,
            VerifyingKey::from_spki_der(get(row, "key")?)
                .map_err(|_| unreadable("a public key"))?,
        )
    };
    let mut keys = lists(connection, &KEYS, whose, key).await?;
    let mut customers = BTreeMap::new();
    for (code, scopes) in found
        .into_iter()
        .filter_map(|(code, found)| Some((code, found.into_iter().next()?)))
    {
        let keys = keys.remove(&code).unwrap_or_default();
        let keys = KeySet::new(keys).map_err(|_| unreadable("public keys"))?;
        customers.insert(code.clone(), Customer::new(code, keys, scopes));
    }
    Ok(customers)
}

/// Code, keys and scopes.
pub(super) async fn customer(
    connection: &impl Sql,
    code: &CustomerCode,
) -> Result<Option<Customer>, StoreError> {
    Ok(customers(connection, Whose::One(code)).await?.remove(code))
}

/// Everything that is arranged with a customer.
pub(super) async fn record(
    connection: &impl Sql,
    code: &CustomerCode,
) -> Result<Option<CustomerRecord>, StoreError> {
    Ok(records(connection, Whose::One(code)).await?.remove(code))
}

/// Everything that is arranged with customers.
pub(super) async fn records(
    connection: &impl Sql,
    whose: Whose<'_>,
) -> Result<BTreeMap<CustomerCode, CustomerRecord>, StoreError> {
    let customers = customers(connection, whose).await?;
    let mut api_keys = lists(connection, &API_KEYS, whose, api_key_of).await?;
    let mut limits = lists(connection, &LIMITS, whose, limit_of).await?;
    let mut accounts = lists(connection, &ACCOUNTS, whose, account_of).await?;
    let endpoint = |row: &dyn Cells| Ok((get::<i64>(row, "id")?, endpoint_of(row)?));
    let mut endpoints = lists(connection, &ENDPOINTS, whose, endpoint).await?;
    let paths = lists(connection, &PATHS, whose, path_of).await?;
    let mut records = BTreeMap::new();
    for (code, customer) in customers {
        let mut record = CustomerRecord::new(customer);
        record.api_keys = api_keys.remove(&code).unwrap_or_default();
        record.limits = limits.remove(&code).unwrap_or_default();
        record.accounts = accounts.remove(&code).unwrap_or_default();
        let paths = paths.get(&code).map_or([].as_slice(), Vec::as_slice);
        record
            .endpoints
            .extend(endpoints.remove(&code).unwrap_or_default().into_iter().map(
                |(id, endpoint)| {
                    let own = paths.iter().filter(|path| path.0 == id);
                    own.fold(endpoint, |endpoint, (_, kind, path)| {
                        endpoint.with_path(*kind, path)
                    })
                },
            ));
        records.insert(code, record);
    }
    Ok(records)
}

fn api_key_of(row: &dyn Cells) -> Result<ApiKeyRecord, StoreError> {
    let hash = <[u8; 32]>::try_from(get::<&[u8]>(row, "hash")?)
        .map_err(|_| unreadable("the hash of an API key"))?;
    let (not_before, expires) = (instant(row, "not_before")?, instant(row, "expires")?);
    Ok(ApiKeyRecord {
        hash: ApiKeyHash::from_bytes(hash),
        not_before,
        expires,
    })
}

fn limit_of(row: &dyn Cells) -> Result<LimitOverride, StoreError> {
    let call_type: CallType = get::<&str>(row, "call_type")?
        .parse()
        .map_err(|_| unreadable("a call type"))?;
    let mut windows = Vec::new();
    for (unit, window) in WINDOWS {
        if let Some(limit) = maybe(row, unit)? {
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

fn account_of(row: &dyn Cells) -> Result<(AccountId, RegisteredAccount), StoreError> {
    let id = AccountId::parse(get(row, "account")?).map_err(|_| unreadable("an account"))?;
    let currency = Currency::parse(get(row, "currency")?).map_err(|_| unreadable("a currency"))?;
    let mut account = RegisteredAccount::new(currency);
    account.name = maybe(row, "name")?;
    account.reporting_source = maybe(row, "reporting_source")?;
    Ok((
        id,
        if get(row, "virtual_accounts")? {
            account.with_virtual_accounts()
        } else {
            account
        },
    ))
}

/// The key under the name that is stored with it.
fn named<K: KeyHandle>(row: &dyn Cells, key: K) -> Result<K, StoreError> {
    Ok(match maybe::<&str>(row, "kid")? {
        Some(kid) => key.with_kid(kid),
        None => key,
    })
}

/// Without its paths.
fn endpoint_of(row: &dyn Cells) -> Result<EndpointRecord, StoreError> {
    let id = get::<&str>(row, "endpoint")?
        .parse()
        .map_err(|_| unreadable("an endpoint's id"))?;
    // Whether the address may be http was decided when the record was made.
    let url = EndpointUrl::danger_allow_http_on_loopback(get(row, "url")?);
    let key = EncryptionKey::from_spki_der(get(row, "key")?)
        .map_err(|_| unreadable("an encryption key"))?;
    let url = url.map_err(|_| unreadable("an endpoint's address"))?;
    let endpoint = EndpointRecord::new(id, url, named(row, key)?);
    let Some(header) = maybe::<&str>(row, "header")? else {
        return Ok(endpoint);
    };
    let value = SecretString::from(get::<String>(row, "api_key")?);
    endpoint
        .with_api_key_in(header, value)
        .map_err(|_| unreadable("an endpoint's API key"))
}

/// The row of the endpoint, the kind of message, and the path.
fn path_of(row: &dyn Cells) -> Result<(i64, MessageKind, String), StoreError> {
    let kind =
        MessageKind::from_name(get(row, "kind")?).ok_or_else(|| unreadable("a kind of message"))?;
    Ok((get(row, "id")?, kind, get(row, "path")?))
}

fn instant(row: &dyn Cells, column: &str) -> Result<Option<Timestamp>, StoreError> {
    let millis: Option<i64> = maybe(row, column)?;
    millis
        .map(|millis| Timestamp::from_unix_millis(millis).ok_or_else(|| unreadable("an instant")))
        .transpose()
}

pub(super) fn code(row: &dyn Cells) -> Result<CustomerCode, StoreError> {
    CustomerCode::parse(get(row, "customer")?).map_err(|_| unreadable("a customer code"))
}

/// A value that cannot be read back. It is not shown.
fn unreadable(what: &str) -> StoreError {
    sql::corrupt(format!(
        "expected {what} that this version can read, found another"
    ))
}
