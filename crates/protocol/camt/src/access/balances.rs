//! Balances by kind, and the balance after each entry.

use crate::{Balance, BalanceCode, BalanceTypeCode, Entry, EntryStatus};
use bankrail_iso20022::CurrencyCode;
use bankrail_values::{Decimal, Money};

impl Balance {
    /// Returns the amount with its sign: below zero for a debit. `None` for an unknown direction.
    #[must_use]
    pub fn signed_amount(&self) -> Option<Decimal> {
        self.direction.apply(self.amount.value())
    }

    /// Returns the [signed amount](Self::signed_amount) in its currency. `None` also without a
    /// well-formed currency code.
    #[must_use]
    pub fn signed_money(&self) -> Option<Money> {
        self.direction.apply_to_money(&self.amount)
    }

    /// True for a balance of this kind, with any sub-type.
    #[must_use]
    pub fn is(&self, kind: &BalanceCode) -> bool {
        matches!(&self.kind.code, BalanceTypeCode::Code(code) if code == kind)
    }
}

/// Returns the first balance of a kind.
pub fn balance<'a>(balances: &'a [Balance], kind: &BalanceCode) -> Option<&'a Balance> {
    balances.iter().find(|balance| balance.is(kind))
}

/// Returns the first opening balance; where there is none, the first closing balance of the day
/// before.
pub fn opening(balances: &[Balance]) -> Option<&Balance> {
    let opening = balance(balances, &BalanceCode::OpeningBooked);
    opening.or_else(|| balance(balances, &BalanceCode::PreviouslyClosedBooked))
}

/// Returns the last closing balance; where there is none, the last interim one.
pub fn closing(balances: &[Balance]) -> Option<&Balance> {
    let last = |kind| balances.iter().rfind(|balance| balance.is(&kind));
    last(BalanceCode::ClosingBooked).or_else(|| last(BalanceCode::InterimBooked))
}

/// Returns each entry with the balance after it.
pub fn running<'a>(
    opening: Option<&'a Balance>,
    entries: &'a [Entry],
) -> impl Iterator<Item = (&'a Entry, Option<Decimal>)> {
    let currency = opening.and_then(|balance| balance.amount.currency());
    let start = opening.and_then(Balance::signed_amount);
    entries.iter().scan(start, move |sum, entry| {
        *sum = sum.and_then(|sum| after(sum, currency, entry));
        Some((entry, *sum))
    })
}

fn after(sum: Decimal, currency: Option<&CurrencyCode>, entry: &Entry) -> Option<Decimal> {
    if entry.status != EntryStatus::Booked {
        return Some(sum);
    }
    let same = currency.is_some() && entry.amount.currency() == currency;
    if same {
        sum.checked_add(entry.signed_amount()?)
    } else {
        None
    }
}
