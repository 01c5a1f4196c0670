//! Totals and the running balance of entries that are read one after the other.

use crate::text::counted;
use bankrail::camt052::{Balance, CurrencyCode, Direction, Entry, EntryStatus, Report};
use bankrail::values::Decimal;

/// The maximum number of currencies with totals. A document usually has one; this bounds the memory
/// of a hostile document.
const MAX_CURRENCIES: usize = 32;

/// The counts and sums of the entries of a report, for each currency.
#[derive(Default)]
pub(crate) struct Tally {
    currencies: Vec<Totals>,
    /// The number of entries of an unknown direction, or of a currency beyond the maximum.
    uncounted: u64,
}

/// A count of entries, and their sum; `None` when it has too many digits.
type Sum = (u64, Option<Decimal>);

/// The counts and sums in one currency.
struct Totals {
    currency: Option<CurrencyCode>,
    credits: Sum,
    debits: Sum,
}

impl Tally {
    pub(crate) fn add(&mut self, entry: &Entry) {
        let (currency, amount) = (entry.amount.currency(), entry.signed_amount());
        let known = self
            .currencies
            .iter()
            .any(|totals| totals.currency.as_ref() == currency);
        if !known && amount.is_some() && self.currencies.len() < MAX_CURRENCIES {
            let none = (0, Some(Decimal::ZERO));
            self.currencies.push(Totals {
                currency: currency.cloned(),
                credits: none,
                debits: none,
            });
        }
        let totals = self
            .currencies
            .iter_mut()
            .find(|totals| totals.currency.as_ref() == currency);
        let (Some(totals), Some(amount)) = (totals, amount) else {
            self.uncounted += 1;
            return;
        };
        let sum = if entry.direction == Direction::Debit {
            &mut totals.debits
        } else {
            &mut totals.credits
        };
        *sum = (sum.0 + 1, sum.1.and_then(|sum| sum.checked_add(amount)));
    }

    /// Returns a line for each currency, and one for the entries that are in no sum.
    pub(crate) fn lines(&self) -> Vec<String> {
        let text = |sum: Option<Decimal>| {
            sum.map_or_else(|| "too large".to_owned(), |sum| sum.to_string())
        };
        let line = |Totals {
                        currency,
                        credits,
                        debits,
                    }: &Totals| {
            let net = credits
                .1
                .zip(debits.1)
                .and_then(|(credits, debits)| credits.checked_add(debits));
            format!(
                "{}: {}; {}: {}; net {} {}",
                counted(credits.0, "credit", "credits"),
                text(credits.1),
                counted(debits.0, "debit", "debits"),
                text(debits.1),
                text(net),
                currency.as_ref().map_or("", |currency| currency.as_str()),
            )
        };
        let uncounted = (self.uncounted > 0).then(|| counted(self.uncounted, "entry", "entries"));
        let uncounted =
            uncounted.map(|entries| format!("{entries} neither credit nor debit, not in the sums"));
        self.currencies.iter().map(line).chain(uncounted).collect()
    }
}

/// The balance after each entry: the opening balance and the booked entries so far. Without an
/// opening balance, it is the sum of the booked entries.
pub(crate) struct Running {
    sum: Option<Decimal>,
    currency: Option<CurrencyCode>,
    /// True if the balance begins with an opening balance.
    from_opening: bool,
}

impl Running {
    /// Returns the running balance before the first entry of a report.
    pub(crate) fn new(report: &Report) -> Self {
        let opening = report.opening_balance();
        let currency = match opening {
            Some(balance) => balance.amount.currency(),
            None => report.account.currency.as_ref(),
        };
        Self {
            sum: opening.map_or(Some(Decimal::ZERO), Balance::signed_amount),
            currency: currency.cloned(),
            from_opening: opening.is_some(),
        }
    }

    /// Returns the title of the column.
    pub(crate) fn title(&self) -> &'static str {
        if self.from_opening {
            "Balance"
        } else {
            "Sum so far"
        }
    }

    /// Returns the balance after an entry; `None` from the first entry on that is in another
    /// currency or has an unknown direction.
    pub(crate) fn after(&mut self, entry: &Entry) -> Option<Decimal> {
        if entry.status == EntryStatus::BOOKED {
            let same = self.currency.is_none() || self.currency.as_ref() == entry.amount.currency();
            let amount = entry.signed_amount().filter(|_| same);
            self.sum = self
                .sum
                .zip(amount)
                .and_then(|(sum, amount)| sum.checked_add(amount));
        }
        self.sum
    }
}
