//! The movement of money behind a new entry.

use super::handler::{NewEntries, NewEntry};
use bankrail_camt052::{CurrencyCode, DateOrDateTime, EntryStatus};
use bankrail_statement::{
    AccountId, AccountNotice, EntryRelation, ReplyFinding, SeenEntryId, StatementDay,
};
use bankrail_values::{Date, Money, Timestamp};

/// The maximum number of days between the day on which a report was made and that of the call,
/// without a notice.
const MAX_DAYS_OFF: i64 = 7;

/// A change of a ledger that follows the bank's list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a ledger must follow each")]
pub enum LedgerChange {
    /// The row of this id no longer counts. A ledger without such a row needs no change.
    Remove {
        /// The [`Movement::id`] of the movement.
        id: SeenEntryId,
        /// The reason.
        because: Removal,
    },
    /// A row is added. [`Movement::because`] has the reason.
    Add(Movement),
}

/// The reason why a movement is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Addition {
    /// The entry is new: one of [`NewEntries::entries`]. If it replaces an earlier one, a preceding
    /// change has removed that.
    New,
    /// The entry was removed, because another one replaced it or because it was pending and
    /// vanished, and the bank lists it again: one of [`NewEntries::again`]. It has its earlier id.
    Returned,
    /// The bank has changed the parties or the text of a known entry: one of [`NewEntries::again`].
    /// It has its earlier id and amount, and a preceding change has removed it.
    TextChanged,
}

/// The reason why a movement no longer counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Removal {
    /// The next added movement replaces this one, which is now booked or corrected.
    Replaced,
    /// The entry was pending, and the bank no longer lists it ([`AccountNotice::Vanished`]).
    Vanished,
}

/// A movement of an account's money, as a complete row for a ledger. With
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
    /// The reason why the movement is added.
    pub because: Addition,
    /// The amount as it changes the account: negative for a debit. The amount is in the account's
    /// currency if the entry states none.
    pub amount: Money,
    /// The status of the entry, such as booked (`Sts`).
    pub status: EntryStatus,
    /// The day on which the entry was booked (`BookgDt`).
    pub booked_on: Option<Date>,
    /// The day from which on the amount earns or costs interest (`ValDt`).
    pub value_on: Option<Date>,
    /// The name of the payer of a credit, or of the payee of a debit.
    pub counterparty: Option<String>,
    /// All references of the entry and its transactions: the wire name, such as `AcctSvcrRef`, or
    /// the kind of a proprietary one, and the text.
    pub references: Vec<(String, String)>,
    /// All texts of the entry, one a line.
    pub text: String,
    /// True if the entry's day was complete already ([`NewEntry::late`]).
    pub late: bool,
    /// Movements that this one may replace, without any proof in the statement
    /// ([`EntryRelation::New`]).
    pub may_replace: Vec<SeenEntryId>,
}

impl Movement {
    /// Returns the debtor's reference of the first transaction that has one (`EndToEndId`).
    #[must_use]
    pub fn end_to_end_id(&self) -> Option<&str> {
        self.reference("EndToEndId")
    }

    /// Returns the first reference of a wire name or kind.
    #[must_use]
    pub fn reference(&self, name: &str) -> Option<&str> {
        let mut named = self.references.iter().filter(|(kind, _)| kind == name);
        named.next().map(|(_, text)| text.as_str())
    }

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
            because: match new.relation {
                EntryRelation::Returned { .. } => Addition::Returned,
                EntryRelation::TextChanged => Addition::TextChanged,
                _ => Addition::New,
            },
            amount: Money::new(amount, currency),
            status: entry.status.clone(),
            booked_on: day(&entry.booking_date),
            value_on: day(&entry.value_date),
            counterparty: entry
                .lines_on(all.page.report().map(|report| &report.account))
                .find_map(|line| line.counterparty_name().map(str::to_owned)),
            references: entry
                .references()
                .map(|(name, text)| (name.to_owned(), text.to_owned()))
                .collect(),
            text: entry.narrative(),
            late: new.late,
            may_replace: match &new.relation {
                EntryRelation::New { may_replace } => may_replace.clone(),
                _ => Vec::new(),
            },
        })
    }
}

// Without account, amount and texts.
bankrail_values::impl_debug!(Movement, self; status: self.status);

impl NewEntries {
    /// Returns the changes of a ledger that follows the bank's list, to be applied in this order.
    /// Applying them twice has the same result, if a row's key is account and [`Movement::id`], and
    /// adding an existing row changes nothing.
    ///
    /// A booked entry that the bank no longer lists is not removed, because that may be a mistake:
    /// a notice reports it ([`NewEntries::notices`]), and a person decides. An entry without a
    /// usable amount, currency or direction is left out too; the entry that it replaces stays, and
    /// [`NewEntries::unbookable`] reports it.
    #[must_use]
    pub fn changes(&self) -> Vec<LedgerChange> {
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
            let Ok(movement) = Movement::of(one, self) else {
                continue;
            };
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
            changes.push(LedgerChange::Add(movement));
        }
        changes
    }

    /// Returns an error with the entry's id for each entry that cannot be booked. A handler that
    /// books all of a page or nothing returns the first one as its error, which stops the account.
    #[must_use]
    pub fn unbookable(&self) -> Vec<MovementError> {
        let all = self.entries.iter().chain(&self.again);
        all.filter_map(|one| Movement::of(one, self).err())
            .collect()
    }

    /// Adds the notices about the new entries, and those about the page that are new. `asked_at` is
    /// the time of the request. Returns all notices about the page.
    pub(super) fn notice(
        &mut self,
        asked_at: Timestamp,
        before: &[AccountNotice],
    ) -> Vec<AccountNotice> {
        for one in &self.entries {
            let currency = one.entry.amount.currency();
            let differs = |account| currency.is_some_and(|own| own != account);
            if Movement::of(one, self).is_err() {
                self.notices.push(AccountNotice::Unbookable { id: one.id });
            } else if self.account_currency().is_some_and(differs) {
                let notice = AccountNotice::ForeignCurrency { id: one.id };
                self.notices.push(notice);
            }
        }
        let mut of_page = Vec::new();
        let is_other =
            |finding: &ReplyFinding| matches!(finding, ReplyFinding::PayloadAccount { .. });
        if self.page.received.findings.iter().any(is_other) {
            of_page.push(AccountNotice::OtherAccount);
        }
        for report in &self.page.document.reports {
            let day = StatementDay::of(report).map(|made| made.day);
            let is_far = |day: &Date| {
                let days = (day.to_time() - asked_at.date().to_time()).whole_days();
                days.abs() > MAX_DAYS_OFF
            };
            of_page.extend(
                day.filter(is_far)
                    .map(|day| AccountNotice::DatedFarOff { day }),
            );
        }
        let news = of_page.iter().filter(|notice| !before.contains(notice));
        self.notices.extend(news.cloned());
        of_page
    }

    /// Returns the currency of the account, and so of its entries, if there is exactly one report
    /// and it states one.
    fn account_currency(&self) -> Option<&CurrencyCode> {
        self.page.report()?.account.currency.as_ref()
    }
}

/// The error of an entry without a usable amount, currency or direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MovementError {
    /// `CdtDbtInd` is neither `CRDT` nor `DBIT`, so the amount has no sign.
    #[error("entry {id}: expected CRDT or DBIT in CdtDbtInd")]
    Direction {
        /// The [`NewEntry::id`] of the entry.
        id: SeenEntryId,
    },
    /// The `Ccy` of `Amt`, or of the account if `Amt` has none, is missing or not a currency code.
    #[error("entry {id}: expected the code of a currency in Amt or Acct")]
    Currency {
        /// The [`NewEntry::id`] of the entry.
        id: SeenEntryId,
    },
}
