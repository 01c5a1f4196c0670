//! Balances by kind, and the balance after each entry.

use crate::{Balance, BalanceCode, BalanceTypeCode, Entry, EntryStatus};
use bankrail_iso20022::CurrencyCode;
use bankrail_values::Decimal;

impl Balance {
    /// The amount with its sign: below zero for a debit. `None` for an unknown direction.
    #[must_use]
    pub fn signed_amount(&self) -> Option<Decimal> {
        self.direction.apply(self.amount.value())
    }

    /// True for a balance of this kind, whatever its sub-type.
    #[must_use]
    pub fn is(&self, kind: &BalanceCode) -> bool {
        matches!(&self.kind.code, BalanceTypeCode::Code(code) if code == kind)
    }
}

/// The first balance of a kind.
pub fn balance<'a>(balances: &'a [Balance], kind: &BalanceCode) -> Option<&'a Balance> {
    balances.iter().find(|balance| balance.is(kind))
}

/// The first opening balance; where there is none, the first of the day before's closing.
pub fn opening(balances: &[Balance]) -> Option<&Balance> {
    let opening = balance(balances, &BalanceCode::OpeningBooked);
    opening.or_else(|| balance(balances, &BalanceCode::PreviouslyClosedBooked))
}

/// The last closing balance; where there is none, the last interim one.
pub fn closing(balances: &[Balance]) -> Option<&Balance> {
    let last = |kind| balances.iter().rfind(|balance| balance.is(&kind));
    last(BalanceCode::ClosingBooked).or_else(|| last(BalanceCode::InterimBooked))
}

/// Each entry with the balance after it.
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
    if same { sum.checked_add(entry.signed_amount()?) } else { None }
}

/// What reports and statements answer about their entries and balances.
#[doc(hidden)]
#[macro_export]
macro_rules! __history {
    ($Type:ident) => {
        impl $Type {
            /// One line per transaction, or per entry where no transactions are detailed.
            pub fn lines(&self) -> impl Iterator<Item = $crate::Line<'_>> {
                self.entries.iter().flat_map($crate::Entry::lines)
            }

            /// The first balance of a kind.
            #[must_use]
            pub fn balance(&self, kind: &$crate::BalanceCode) -> Option<&$crate::Balance> {
                $crate::__private::balance(&self.balances, kind)
            }

            /// The opening balance: the first `OPBD`, otherwise the first `PRCD`, the closing balance before.
            #[must_use]
            pub fn opening_balance(&self) -> Option<&$crate::Balance> {
                $crate::__private::opening(&self.balances)
            }

            /// The closing balance: the last `CLBD`, otherwise the last `ITBD`, the booked balance so far.
            #[must_use]
            pub fn closing_balance(&self) -> Option<&$crate::Balance> {
                $crate::__private::closing(&self.balances)
            }

            /// Each entry, in the order of the document, with the booked balance after it: the opening balance and the
            /// booked entries up to and with it, below zero when the account is overdrawn.
            ///
            /// `None` without an opening balance, and from an entry on that is booked in another currency or has an
            /// unknown direction. Entries that are not booked leave the balance as it is.
            pub fn running_balances(
                &self,
            ) -> impl Iterator<Item = (&$crate::Entry, Option<$crate::__private::Decimal>)> {
                $crate::__private::running(self.opening_balance(), &self.entries)
            }
        }
    };
}
