//! Rows of accounts, and of the customers that may request their statements.

use super::error::{AccountError, RegisterError};
use crate::booking::{BookingMember, check_text};
use crate::sql::{self, Sql};
use bankrail_camt052::{Amount, NumberError};
use bankrail_client_assertion::CustomerCode;
use bankrail_service::RegisteredAccount;
use bankrail_statement::{AccountId, AccountKind};
use bankrail_stores::{Cells, Columns as _, corrupt};
use bankrail_values::{Currency, Date, Decimal, Money, StoreError, parse_decimal};
use std::collections::HashSet;

const FIND: &str =
    "SELECT id, currency, balance, last_entry, forgotten_before FROM bankrail_account
    WHERE account = $1";

/// Selects like [`FIND`] and locks the row, so that no other transaction books on the account
/// before the end of this one.
const LOCK: &str =
    "SELECT id, currency, balance, last_entry, forgotten_before FROM bankrail_account
    WHERE account = $1 FOR NO KEY UPDATE";

const OPEN: &str =
    "INSERT INTO bankrail_account (account, currency, balance, last_entry) VALUES ($1, $2, $3, 0)
    ON CONFLICT (account) DO NOTHING";

/// Locks a customer, so that no other transaction registers its accounts before the end of this
/// one. The lock is advisory, because a customer without accounts has no row.
const LOCK_CUSTOMER: &str =
    "SELECT pg_advisory_xact_lock(hashtextextended('bankrail_account_customer ' || $1, 0))";

const CLEAR: &str = "DELETE FROM bankrail_account_customer WHERE customer = $1";

const REGISTER: &str = "INSERT INTO bankrail_account_customer
    (customer, account, name, virtual_accounts, reporting_source) VALUES ($1, $2, $3, $4, $5)";

const REGISTERED: &str = "SELECT account.id, currency, balance, last_entry, forgotten_before,
        name, virtual_accounts, reporting_source
    FROM bankrail_account AS account JOIN bankrail_account_customer AS of
        ON of.account = account.id AND of.customer = $2
    WHERE account.account = $1";

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[FIND, OPEN, CLEAR, REGISTER, REGISTERED];

/// An account of the ledger.
#[derive(Clone, Debug)]
pub(super) struct Account {
    pub(super) row: i64,
    pub(super) currency: Currency,
    pub(super) balance: Decimal,
    pub(super) last_entry: i64,
    /// The first day whose entries were not deleted, `YYYY-MM-DD`; empty if none was.
    forgotten_before: String,
}

impl Account {
    /// Returns true if the entries of this day were deleted.
    pub(super) fn has_forgotten(&self, day: Date) -> bool {
        // Days as text are of one length, so they sort as days.
        day.to_string() < self.forgotten_before
    }
}

pub(super) async fn find(
    connection: &impl Sql,
    id: &AccountId,
) -> Result<Option<Account>, StoreError> {
    sql::row(connection, FIND, &[id.as_str().into()], account).await
}

/// Locks an account for a change, and returns it with all committed changes.
pub(super) async fn lock<C: Sql>(
    connection: &C,
    id: &AccountId,
) -> Result<Option<Account>, StoreError> {
    sql::row(
        connection,
        // SQLite has one writer at a time, so there is nothing to lock.
        if C::SHARED { LOCK } else { FIND },
        &[id.as_str().into()],
        account,
    )
    .await
}

/// Returns the account with its details for statements; `None` unless it is registered for the
/// customer.
pub(super) async fn registered(
    connection: &impl Sql,
    customer: &CustomerCode,
    id: &AccountId,
) -> Result<Option<(Account, RegisteredAccount)>, StoreError> {
    sql::row(
        connection,
        REGISTERED,
        &[id.as_str().into(), customer.as_str().into()],
        |row| {
            let found = account(row)?;
            let mut facts = RegisteredAccount::new(found.currency);
            facts.name = row.text("name")?.map(str::to_owned);
            facts.reporting_source = row.text("reporting_source")?.map(str::to_owned);
            Ok((
                found,
                if row.number::<i64>("virtual_accounts")? != 0 {
                    facts.with_virtual_accounts()
                } else {
                    facts
                },
            ))
        },
    )
    .await
}

fn account(row: &dyn Cells) -> Result<Account, StoreError> {
    Ok(Account {
        row: row.number("id")?,
        currency: row.parsed("currency")?,
        balance: parse_decimal(row.str("balance")?).map_err(corrupt)?,
        last_entry: row.number("last_entry")?,
        forgotten_before: row.parsed("forgotten_before")?,
    })
}

/// Opens an account. Returns false if it exists in this currency.
pub(super) async fn open(
    connection: &impl Sql,
    id: &AccountId,
    opening: Money,
) -> Result<bool, AccountError> {
    let currency = opening.currency();
    let is_there = |there: Account| {
        let same = there.currency == currency;
        same.then_some(false).ok_or(AccountError::Currency {
            expected: there.currency,
            found: currency,
        })
    };
    // Most accounts are there already, and an insert that changes nothing is still a write.
    if let Some(there) = find(connection, id).await? {
        return is_there(there);
    }
    if !currency.is_listed() {
        return Err(AccountError::UnlistedCurrency { found: currency });
    }
    let fits: Result<Amount, NumberError> = Amount::new(opening.amount().abs(), currency);
    // An account whose balance no statement can carry would have no statements.
    fits.map_err(|_| AccountError::Balance)?;
    let balance = opening.amount().to_string();
    if connection
        .run(
            OPEN,
            &[
                id.as_str().into(),
                currency.as_str().into(),
                balance.as_str().into(),
            ],
        )
        .await?
        > 0
    {
        return Ok(true);
    }
    // Nothing was inserted: another transaction has opened the account meanwhile.
    find(connection, id).await?.map_or(Ok(false), is_there)
}

pub(super) async fn register<C: Sql>(
    connection: &C,
    customer: &CustomerCode,
    accounts: &[(AccountId, RegisteredAccount)],
) -> Result<(), RegisterError> {
    // Of two registrations of one customer at the same moment, the rows of both would stay.
    if C::SHARED {
        connection
            .run(LOCK_CUSTOMER, &[customer.as_str().into()])
            .await?;
    }
    connection.run(CLEAR, &[customer.as_str().into()]).await?;
    let mut seen = HashSet::new();
    for (number, (id, facts)) in (1..).zip(accounts) {
        if !seen.insert(id) {
            return Err(RegisterError::Twice { number });
        }
        let registered = register_one(connection, customer, id, facts).await;
        registered.map_err(|source| RegisterError::Account { number, source })?;
    }
    Ok(())
}

async fn register_one(
    connection: &impl Sql,
    customer: &CustomerCode,
    id: &AccountId,
    facts: &RegisteredAccount,
) -> Result<(), AccountError> {
    let RegisteredAccount {
        currency,
        name,
        kind,
        reporting_source,
        ..
    } = facts;
    let fits = |text: &Option<String>, most| {
        text.as_deref()
            .is_none_or(|text| check_text(BookingMember::Reference, text, most).is_ok())
    };
    if !fits(name, 70) {
        return Err(AccountError::Name);
    }
    if !fits(reporting_source, 35) {
        return Err(AccountError::ReportingSource);
    }
    open(connection, id, Money::new(Decimal::ZERO, *currency)).await?;
    let row = find(connection, id)
        .await?
        .ok_or_else(|| corrupt("expected the account that was opened, found none"))?
        .row;
    let virtual_accounts = *kind == AccountKind::WithVirtualAccounts;
    let values = &[
        customer.as_str().into(),
        row.into(),
        name.as_deref().into(),
        virtual_accounts.into(),
        reporting_source.as_deref().into(),
    ];
    connection.run(REGISTER, values).await?;
    Ok(())
}
