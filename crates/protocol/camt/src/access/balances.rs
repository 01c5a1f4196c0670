//! Balances by kind, and the balance after each entry.

use crate::{Balance, BalanceCode, BalanceTypeCode, Entry, EntryStatus, Pagination};
use bankrail_iso20022::CurrencyCode;
use bankrail_values::{Decimal, Money};

impl Balance {
    /// Returns the amount with its sign: below zero for a debit. `None` for an unknown direction.
    #[must_use]
    pub fn signed_amount(&self) -> Option<Decimal> {
        self.direction.apply(self.amount.value())
    }

    /// Returns the [signed amount](Self::signed_amount) in its currency. Also returns `None`
    /// without a well-formed currency code.
    #[must_use]
    pub fn signed_money(&self) -> Option<Money> {
        self.direction.apply_to_money(&self.amount)
    }

    /// Returns true for a balance of this kind, with any sub-type.
    #[must_use]
    pub fn is(&self, kind: &BalanceCode) -> bool {
        matches!(&self.kind.code, BalanceTypeCode::Code(code) if code == kind)
    }

    /// Returns true for a balance before the first entry: `OPBD`, `OPAV`, and `PRCD`, the closing
    /// balance of the previous day.
    #[must_use]
    pub fn is_opening(&self) -> bool {
        use BalanceCode::{OpeningAvailable, OpeningBooked, PreviouslyClosedBooked};
        let kinds = [OpeningBooked, OpeningAvailable, PreviouslyClosedBooked];
        kinds.iter().any(|kind| self.is(kind))
    }
}

/// Returns the first balance of a kind.
pub(crate) fn balance<'a>(balances: &'a [Balance], kind: &BalanceCode) -> Option<&'a Balance> {
    balances.iter().find(|balance| balance.is(kind))
}

/// Returns the first opening balance; otherwise the first closing balance of the previous day;
/// otherwise the interim balance that opens a later page.
pub(crate) fn opening<'a>(
    balances: &'a [Balance],
    page: Option<&Pagination>,
) -> Option<&'a Balance> {
    let opening = balance(balances, &BalanceCode::OpeningBooked);
    opening
        .or_else(|| balance(balances, &BalanceCode::PreviouslyClosedBooked))
        .or_else(|| carried(balances, page))
}

/// Returns the first interim balance of a page after the first, if another booked balance closes
/// the page: an interim balance alone may be the one that closes the page.
fn carried<'a>(balances: &'a [Balance], page: Option<&Pagination>) -> Option<&'a Balance> {
    let first = balance(balances, &BalanceCode::InterimBooked)?;
    let later = page?.page.to_number()? > 1;
    let closing = closing(balances)?;
    (later && !std::ptr::eq(first, closing)).then_some(first)
}

/// Returns the opening and the closing balance, if all booked entries between them are present.
///
/// This holds for a single page, and for a later page that an interim balance opens. The time of an
/// interim balance on a single page is unknown, so that balance is not compared with the entries.
pub(crate) fn framing<'a>(
    balances: &'a [Balance],
    page: Option<&Pagination>,
) -> Option<(&'a Balance, &'a Balance)> {
    let opening = opening(balances, page)?;
    let closing = closing(balances)?;
    let whole = closing.is(&BalanceCode::ClosingBooked)
        && page.is_none_or(|page| page.last_page && page.page.to_number() == Some(1));
    (whole || opening.is(&BalanceCode::InterimBooked)).then_some((opening, closing))
}

/// Returns the last closing balance; otherwise the last interim balance.
pub(crate) fn closing(balances: &[Balance]) -> Option<&Balance> {
    let last = |kind| balances.iter().rfind(|balance| balance.is(&kind));
    last(BalanceCode::ClosingBooked).or_else(|| last(BalanceCode::InterimBooked))
}

/// Returns each entry with the balance after it.
pub(crate) fn running<'a>(
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
    if entry.status != EntryStatus::BOOKED {
        return Some(sum);
    }
    let same = currency.is_some() && entry.amount.currency() == currency;
    if same {
        sum.checked_add(entry.signed_amount()?)
    } else {
        None
    }
}
