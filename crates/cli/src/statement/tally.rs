//! Totals and the running balance of entries that are read one after the other.

use bankrail::camt052::{Balance, Entry, EntryStatus, Report};
use bankrail::values::Decimal;

/// The currencies that totals are kept of. A document has one; this bounds the memory of one that means ill.
const MOST_CURRENCIES: usize = 32;

/// Counts and sums of the entries of a report, for each currency.
#[derive(Default)]
pub(crate) struct Tally {
    currencies: Vec<(String, Totals)>,
    /// Entries of unknown direction, or of one currency too many.
    pub(crate) uncounted: u64,
}

/// Counts and sums in one currency. A sum is `None` when it has too many digits.
pub(crate) struct Totals {
    pub(crate) credits: (u64, Option<Decimal>),
    pub(crate) debits: (u64, Option<Decimal>),
}

impl Totals {
    /// Credits less debits.
    pub(crate) fn net(&self) -> Option<Decimal> {
        self.credits.1?.checked_add(self.debits.1?)
    }
}

impl Tally {
    pub(crate) fn add(&mut self, entry: &Entry) {
        let Some(amount) = entry.signed_amount() else {
            self.uncounted += 1;
            return;
        };
        let currency = entry.amount.currency().map(|currency| currency.as_str()).unwrap_or_default();
        let at = match self.currencies.iter().position(|(known, _)| known == currency) {
            Some(at) => at,
            None if self.currencies.len() < MOST_CURRENCIES => {
                let nothing = (0, Some(Decimal::ZERO));
                self.currencies.push((currency.to_owned(), Totals { credits: nothing, debits: nothing }));
                self.currencies.len() - 1
            }
            None => {
                self.uncounted += 1;
                return;
            }
        };
        let Some((_, totals)) = self.currencies.get_mut(at) else { return };
        let debit = entry.direction == bankrail::camt052::Direction::Debit;
        let part = if debit { &mut totals.debits } else { &mut totals.credits };
        *part = (part.0 + 1, part.1.and_then(|sum| sum.checked_add(amount)));
    }

    /// Each currency with its totals.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Totals)> {
        self.currencies.iter().map(|(currency, totals)| (currency.as_str(), totals))
    }
}

/// The balance after each entry: the opening balance and the booked entries so far. Without an opening balance, the sum
/// of the booked entries.
pub(crate) struct Running {
    sum: Option<Decimal>,
    currency: Option<String>,
    /// True when it begins with an opening balance.
    pub(crate) from_opening: bool,
}

impl Running {
    /// Begins with what stands before the entries of a report.
    pub(crate) fn new(report: &Report) -> Self {
        let opening = report.opening_balance();
        let currency = match opening {
            Some(balance) => balance.amount.currency(),
            None => report.account.currency.as_ref(),
        };
        Self {
            sum: opening.map_or(Some(Decimal::ZERO), Balance::signed_amount),
            currency: currency.map(|currency| currency.as_str().to_owned()),
            from_opening: opening.is_some(),
        }
    }

    /// What the column is called.
    pub(crate) fn title(&self) -> &'static str {
        if self.from_opening { "Balance" } else { "Sum so far" }
    }

    /// The balance after an entry; `None` from an entry on that is in another currency or of unknown direction.
    pub(crate) fn after(&mut self, entry: &Entry) -> Option<Decimal> {
        if entry.status == EntryStatus::Booked {
            let found = entry.amount.currency().map(|currency| currency.as_str());
            let same = self.currency.as_deref().is_none_or(|currency| found == Some(currency));
            let amount = entry.signed_amount().filter(|_| same);
            self.sum = self.sum.zip(amount).and_then(|(sum, amount)| sum.checked_add(amount));
        }
        self.sum
    }
}
