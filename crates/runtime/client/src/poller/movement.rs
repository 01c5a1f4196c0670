//! The movement of money behind a new entry.

use super::handler::{NewEntries, NewEntry};
use bankrail_camt052::{CurrencyCode, DateOrDateTime, EntryStatus};
use bankrail_statement::{AccountId, AccountNotice, EntryRelation, SeenEntryId};
use bankrail_values::{Date, Money};
use std::fmt;

/// A change of a ledger that holds what the bank lists.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a ledger must follow each")]
pub enum LedgerChange {
    /// The row of this id no longer counts. A ledger that never had it is right already.
    Remove {
        /// The [`Movement::id`] of the movement.
        id: SeenEntryId,
        /// The reason.
        because: Removal,
    },
    /// A new row.
    Add(Movement),
}

/// The reason for which a movement no longer counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Removal {
    /// The movement that is added next stands for it: it was pending and is booked, or the bank has
    /// corrected it.
    Replaced,
    /// The entry was pending, and the bank no longer lists it ([`AccountNotice::Vanished`]).
    Vanished,
}

/// A movement of an account's money: a row for a ledger, with nothing left to combine. With
/// [`PollerOptions::unbooked`](super::PollerOptions::unbooked) it may also be an expected movement,
/// depending on its status.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Movement {
    /// The account.
    pub account: AccountId,
    /// The identifier within the account, the same each time the entry is handed over
    /// ([`NewEntry::id`]).
    pub id: SeenEntryId,
    /// The amount as it changes the account: negative for a debit. In the account's currency if the
    /// entry states none.
    pub amount: Money,
    /// True if it is booked (`Sts`).
    pub status: EntryStatus,
    /// The day on which it was booked (`BookgDt`).
    pub booked_on: Option<Date>,
    /// The day from which on it earns or costs interest (`ValDt`).
    pub value_on: Option<Date>,
    /// The name of the payer of a credit, or of the payee of a debit.
    pub counterparty: Option<String>,
    /// All texts of the entry, one a line.
    pub text: String,
    /// True if its day was complete already ([`NewEntry::late`]).
    pub late: bool,
    /// Movements that it may replace, though nothing shows it ([`EntryRelation::New`]).
    pub may_replace: Vec<SeenEntryId>,
}

impl Movement {
    fn of(new: &NewEntry, all: &NewEntries) -> Result<Self, MovementError> {
        let (entry, id) = (&new.entry, new.id);
        let stated = entry.amount.currency().or_else(|| all.account_currency());
        let currency = stated
            .and_then(CurrencyCode::to_currency)
            .ok_or(MovementError::Currency { id })?;
        let amount = entry
            .signed_amount()
            .ok_or(MovementError::Direction { id })?;
        let day =
            |date: &Option<DateOrDateTime>| Date::from_time(date.as_ref()?.date()?.to_time()?);
        Ok(Self {
            account: all.account.clone(),
            id,
            amount: Money::new(amount, currency),
            status: entry.status.clone(),
            booked_on: day(&entry.booking_date),
            value_on: day(&entry.value_date),
            counterparty: entry.counterparty_name().map(str::to_owned),
            text: entry.narrative(),
            late: new.late,
            may_replace: match &new.relation {
                EntryRelation::New { may_replace } => may_replace.clone(),
                _ => Vec::new(),
            },
        })
    }
}

impl fmt::Debug for Movement {
    /// Without account, amount and texts.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Movement")
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

impl NewEntries {
    /// Returns the changes of a ledger that follows the bank's list, to be applied in this order.
    /// Applied twice, they have the same result, if a row's key is account and [`Movement::id`],
    /// and adding a row that is there changes nothing.
    ///
    /// A booked entry that the bank no longer lists is not removed, because that may be a mistake:
    /// it is in [`NewEntries::notices`], and a person decides.
    ///
    /// # Errors
    /// [`MovementError`] for the first entry without a usable amount, currency or direction. A
    /// handler that returns it stops the account
    /// ([`PollError::Handler`](super::PollError::Handler)), and nothing is booked wrong.
    pub fn changes(&self) -> Result<Vec<LedgerChange>, MovementError> {
        let mut changes = Vec::new();
        for notice in &self.notices {
            if let AccountNotice::Vanished { id, booked: false } = notice {
                changes.push(LedgerChange::Remove {
                    id: *id,
                    because: Removal::Vanished,
                });
            }
        }
        for one in self.entries.iter().chain(&self.again) {
            let replaced = match one.relation {
                EntryRelation::Replaces(earlier)
                | EntryRelation::Returned {
                    replaces: Some(earlier),
                } => Some(earlier),
                EntryRelation::TextChanged => Some(one.id),
                _ => None,
            };
            // Before the addition: an entry whose text changed keeps its id.
            changes.extend(replaced.map(|id| LedgerChange::Remove {
                id,
                because: Removal::Replaced,
            }));
            changes.push(LedgerChange::Add(Movement::of(one, self)?));
        }
        Ok(changes)
    }

    /// The currency of the account, which is that of its entries: as the report states it, if there
    /// is one report.
    fn account_currency(&self) -> Option<&CurrencyCode> {
        self.page.report()?.account.currency.as_ref()
    }
}

/// An entry without a usable amount, currency or direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MovementError {
    /// `CdtDbtInd` is neither `CRDT` nor `DBIT`, so the amount has no sign.
    #[error("entry {id}: expected CRDT or DBIT in CdtDbtInd")]
    Direction {
        /// The [`NewEntry::id`] of the entry.
        id: SeenEntryId,
    },
    /// The `Ccy` of `Amt`, or of the account if `Amt` has none, is missing or no currency's code.
    #[error("entry {id}: expected the code of a currency in Amt or Acct")]
    Currency {
        /// The [`NewEntry::id`] of the entry.
        id: SeenEntryId,
    },
}
