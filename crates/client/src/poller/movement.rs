//! What a new entry says about money.

use super::handler::{NewEntries, NewEntry};
use bankrail_camt052::{DateOrDateTime, EntryStatus};
use bankrail_statement::AccountId;
use bankrail_values::{Currency, Date, Money};
use std::fmt;

/// What has happened to an account's money: a row for a ledger, with nothing left to combine. With
/// [`PollerOptions::unbooked`](super::PollerOptions::unbooked) it may also be what is expected to happen, as its status
/// says.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Movement {
    /// The account.
    pub account: AccountId,
    /// The identifier within the account, the same each time the entry is handed over ([`NewEntry::id`]).
    pub id: [u8; 32],
    /// The amount as it changes the account: negative for a debit. In the account's currency if the entry states none.
    pub amount: Money,
    /// Whether it is booked (`Sts`).
    pub status: EntryStatus,
    /// The day on which it was booked (`BookgDt`).
    pub booked_on: Option<Date>,
    /// The day from which on it earns or costs interest (`ValDt`).
    pub value_on: Option<Date>,
    /// The name of the payer of a credit, or of the payee of a debit.
    pub counterparty: Option<String>,
    /// All that the entry says in words, in lines.
    pub text: String,
}

impl Movement {
    fn of(new: &NewEntry, of: &NewEntries) -> Result<Self, MovementError> {
        let (entry, id) = (&new.entry, new.id);
        let own = entry.amount.to_money().map(|money| money.currency());
        let currency = own.or_else(|| of.account_currency()).ok_or(MovementError::Currency { id })?;
        let amount = entry.signed_amount().ok_or(MovementError::Direction { id })?;
        let day = |date: &Option<DateOrDateTime>| Date::from_time(date.as_ref()?.date()?.to_time()?);
        Ok(Self {
            account: of.account.clone(),
            id,
            amount: Money::new(amount, currency),
            status: entry.status.clone(),
            booked_on: day(&entry.booking_date),
            value_on: day(&entry.value_date),
            counterparty: entry.counterparty_name().map(str::to_owned),
            text: entry.narrative(),
        })
    }
}

impl fmt::Debug for Movement {
    /// Without account, amount and texts.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Movement").field("status", &self.status).finish_non_exhaustive()
    }
}

impl NewEntries {
    /// What the new entries say about money, in their order.
    ///
    /// # Errors
    /// [`MovementError`] for the first one that does not say what it does to the account. A handler that returns it
    /// stops the account ([`PollError::Handler`](super::PollError::Handler)), and nothing is booked wrong.
    pub fn movements(&self) -> Result<Vec<Movement>, MovementError> {
        self.entries.iter().map(|new| Movement::of(new, self)).collect()
    }

    /// The currency of the account as the report states it, which is that of its entries.
    fn account_currency(&self) -> Option<Currency> {
        self.page.document.reports.iter().find_map(|report| report.account.currency.as_ref()?.to_currency())
    }
}

/// An entry that does not say what it does to an account's money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MovementError {
    /// `CdtDbtInd` is neither `CRDT` nor `DBIT`, so the amount has no sign.
    #[error("entry {}: expected CRDT or DBIT in CdtDbtInd", hex(id))]
    Direction {
        /// Its [`NewEntry::id`].
        id: [u8; 32],
    },
    /// Neither `Amt` nor the account has a `Ccy` that is a currency's code.
    #[error("entry {}: expected the code of a currency in Amt or Acct", hex(id))]
    Currency {
        /// Its [`NewEntry::id`].
        id: [u8; 32],
    },
}

/// The first bytes of an identifier, enough to find it.
fn hex(id: &[u8; 32]) -> String {
    id.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
