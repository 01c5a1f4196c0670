//! Accounts, and the customers that may ask for them.

use super::corrupt;
use super::error::{AccountError, RegisterError};
use crate::booking::{BookingMember, check_text};
use bankrail_camt052::{Amount, NumberError};
use bankrail_client_assertion::CustomerCode;
use bankrail_service::RegisteredAccount;
use bankrail_statement::{AccountId, AccountKind};
use bankrail_stores::sqlite::rusqlite::{Connection, OptionalExtension as _, Row, params};
use bankrail_stores::sqlite::store_error;
use bankrail_values::{Currency, Decimal, Money, StoreError, parse_decimal};
use std::collections::HashSet;

const FIND: &str = "SELECT id, account, currency, balance, last_entry FROM bankrail_account WHERE account = ?1";

const OPEN: &str = "INSERT INTO bankrail_account (account, currency, balance, last_entry) VALUES (?1, ?2, ?3, 0)";

const SET_BALANCE: &str = "UPDATE bankrail_account SET balance = ?2 WHERE id = ?1";

const CLEAR: &str = "DELETE FROM bankrail_account_customer WHERE customer = ?1";

const REGISTER: &str = "INSERT INTO bankrail_account_customer
    (customer, account, name, virtual_accounts, reporting_source) VALUES (?1, ?2, ?3, ?4, ?5)";

const REGISTERED: &str = "SELECT account.id, account.account, currency, balance, last_entry,
        name, virtual_accounts, reporting_source
    FROM bankrail_account AS account JOIN bankrail_account_customer AS of
        ON of.account = account.id AND of.customer = ?2
    WHERE account.account = ?1";

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[FIND, OPEN, SET_BALANCE, CLEAR, REGISTER, REGISTERED];

/// An account of the ledger.
#[derive(Clone, Debug)]
pub(super) struct Account {
    pub(super) row: i64,
    pub(super) id: String,
    pub(super) currency: Currency,
    pub(super) balance: Decimal,
    pub(super) last_entry: i64,
}

pub(super) fn find(connection: &Connection, id: &AccountId) -> Result<Option<Account>, StoreError> {
    let mut find = connection.prepare_cached(FIND).map_err(store_error)?;
    let mut rows = find.query([id.as_str()]).map_err(store_error)?;
    rows.next().map_err(store_error)?.map(account).transpose()
}

/// The account with what statements say about it; `None` unless it is registered for the customer.
pub(super) fn registered(
    connection: &Connection,
    customer: &CustomerCode,
    id: &AccountId,
) -> Result<Option<(Account, RegisteredAccount)>, StoreError> {
    let mut find = connection.prepare_cached(REGISTERED).map_err(store_error)?;
    let mut rows = find.query([id.as_str(), customer.as_str()]).map_err(store_error)?;
    let Some(row) = rows.next().map_err(store_error)? else { return Ok(None) };
    let found = account(row)?;
    let mut facts = RegisteredAccount::new(found.currency);
    facts.name = row.get("name").map_err(store_error)?;
    facts.reporting_source = row.get("reporting_source").map_err(store_error)?;
    if row.get("virtual_accounts").map_err(store_error)? {
        facts = facts.with_virtual_accounts();
    }
    Ok(Some((found, facts)))
}

pub(super) fn account(row: &Row<'_>) -> Result<Account, StoreError> {
    let text = |column: &str| row.get::<_, String>(column).map_err(store_error);
    Ok(Account {
        row: row.get("id").map_err(store_error)?,
        id: text("account")?,
        currency: Currency::parse(&text("currency")?).map_err(corrupt)?,
        balance: parse_decimal(&text("balance")?).map_err(corrupt)?,
        last_entry: row.get("last_entry").map_err(store_error)?,
    })
}

/// Opens an account. False if it is there in this currency.
pub(super) fn open(connection: &Connection, id: &AccountId, opening: Money) -> Result<bool, AccountError> {
    let currency = opening.currency();
    if let Some(there) = find(connection, id)? {
        let same = there.currency == currency;
        return if same {
            Ok(false)
        } else {
            Err(AccountError::Currency { expected: there.currency, found: currency })
        };
    }
    if !currency.is_listed() {
        return Err(AccountError::UnlistedCurrency { found: currency });
    }
    let fits: Result<Amount, NumberError> = Amount::new(opening.amount().abs(), currency);
    fits.map_err(|_| AccountError::Balance)?;
    let mut open = connection.prepare_cached(OPEN).map_err(store_error)?;
    let row = params![id.as_str(), currency.as_str(), opening.amount().to_string()];
    open.execute(row).map_err(store_error)?;
    Ok(true)
}

pub(super) fn set_balance(connection: &Connection, account: i64, balance: Decimal) -> Result<(), StoreError> {
    let mut set = connection.prepare_cached(SET_BALANCE).map_err(store_error)?;
    set.execute(params![account, balance.to_string()]).map(drop).map_err(store_error)
}

pub(super) fn register(
    connection: &Connection,
    customer: &CustomerCode,
    accounts: &[(AccountId, RegisteredAccount)],
) -> Result<(), RegisterError> {
    connection.prepare_cached(CLEAR).map_err(store_error)?.execute([customer.as_str()]).map_err(store_error)?;
    let mut seen = HashSet::new();
    for (number, (id, facts)) in (1..).zip(accounts) {
        if !seen.insert(id) {
            return Err(RegisterError::Twice { number });
        }
        register_one(connection, customer, id, facts).map_err(|source| RegisterError::Account { number, source })?;
    }
    Ok(())
}

fn register_one(
    connection: &Connection,
    customer: &CustomerCode,
    id: &AccountId,
    facts: &RegisteredAccount,
) -> Result<(), AccountError> {
    let RegisteredAccount { currency, name, kind, reporting_source, .. } = facts;
    let fits = |text: &Option<String>, most| {
        text.as_deref().is_none_or(|text| check_text(BookingMember::Reference, text, most).is_ok())
    };
    if !fits(name, 70) {
        return Err(AccountError::Name);
    }
    if !fits(reporting_source, 35) {
        return Err(AccountError::ReportingSource);
    }
    open(connection, id, Money::new(Decimal::ZERO, *currency))?;
    let row = connection.prepare_cached(FIND).map_err(store_error)?.query_row([id.as_str()], |row| row.get(0));
    let row: Option<i64> = row.optional().map_err(store_error)?;
    let virtual_accounts = *kind == AccountKind::WithVirtualAccounts;
    let mut register = connection.prepare_cached(REGISTER).map_err(store_error)?;
    let values = params![customer.as_str(), row, name, virtual_accounts, reporting_source];
    register.execute(values).map(drop).map_err(store_error)?;
    Ok(())
}
