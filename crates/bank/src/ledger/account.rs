//! Accounts, and the customers that may ask for them.

use super::error::{AccountError, RegisterError};
use crate::booking::{BookingMember, check_text};
use crate::sql::{self, corrupt, get};
use bankrail_camt052::{Amount, NumberError};
use bankrail_client_assertion::CustomerCode;
use bankrail_service::RegisteredAccount;
use bankrail_statement::{AccountId, AccountKind};
use bankrail_stores::sqlite::rusqlite::{Connection, Row, params};
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
    sql::row(connection, FIND, [id.as_str()], account)
}

/// The account with what statements say about it; `None` unless it is registered for the customer.
pub(super) fn registered(
    connection: &Connection,
    customer: &CustomerCode,
    id: &AccountId,
) -> Result<Option<(Account, RegisteredAccount)>, StoreError> {
    sql::row(connection, REGISTERED, [id.as_str(), customer.as_str()], |row| {
        let found = account(row)?;
        let mut facts = RegisteredAccount::new(found.currency);
        facts.name = get(row, "name")?;
        facts.reporting_source = get(row, "reporting_source")?;
        Ok((found, if get(row, "virtual_accounts")? { facts.with_virtual_accounts() } else { facts }))
    })
}

pub(super) fn account(row: &Row<'_>) -> Result<Account, StoreError> {
    let text = |column| get::<String>(row, column);
    Ok(Account {
        row: get(row, "id")?,
        id: text("account")?,
        currency: Currency::parse(&text("currency")?).map_err(corrupt)?,
        balance: parse_decimal(&text("balance")?).map_err(corrupt)?,
        last_entry: get(row, "last_entry")?,
    })
}

/// Opens an account. False if it is there in this currency.
pub(super) fn open(connection: &Connection, id: &AccountId, opening: Money) -> Result<bool, AccountError> {
    let currency = opening.currency();
    if let Some(there) = find(connection, id)? {
        let same = there.currency == currency;
        return same.then_some(false).ok_or(AccountError::Currency { expected: there.currency, found: currency });
    }
    if !currency.is_listed() {
        return Err(AccountError::UnlistedCurrency { found: currency });
    }
    let fits: Result<Amount, NumberError> = Amount::new(opening.amount().abs(), currency);
    fits.map_err(|_| AccountError::Balance)?;
    sql::run(connection, OPEN, params![id.as_str(), currency.as_str(), opening.amount().to_string()])?;
    Ok(true)
}

pub(super) fn set_balance(connection: &Connection, account: i64, balance: Decimal) -> Result<(), StoreError> {
    sql::run(connection, SET_BALANCE, params![account, balance.to_string()]).map(drop)
}

pub(super) fn register(
    connection: &Connection,
    customer: &CustomerCode,
    accounts: &[(AccountId, RegisteredAccount)],
) -> Result<(), RegisterError> {
    sql::run(connection, CLEAR, [customer.as_str()])?;
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
    let row = find(connection, id)?.map(|account| account.row);
    let virtual_accounts = *kind == AccountKind::WithVirtualAccounts;
    sql::run(connection, REGISTER, params![customer.as_str(), row, name, virtual_accounts, reporting_source])?;
    Ok(())
}
