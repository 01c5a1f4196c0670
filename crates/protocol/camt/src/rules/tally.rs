//! Running totals over the entries of a report or statement.

use super::disagreement::{CountedEntries, Disagreement};
use crate::access::{Total, balances::framing};
use crate::*;
use bankrail_iso20022::__private::shown;
use bankrail_values::Decimal;
use std::collections::HashMap;

/// The totals of the report being read or checked.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) currency: Option<CurrencyCode>,
    all: Totals,
    /// The sum of the booked entries.
    booked: Booked,
    /// The totals of the bank transaction codes that the summary states, in its order.
    stated: Vec<Stated>,
    /// The index of each code in `stated`; `None` for a code that is stated twice, whose totals are
    /// not compared.
    places: HashMap<String, Option<usize>>,
}

/// The signed sum of booked entries.
#[derive(Clone, Debug, Default)]
struct Booked {
    sum: Decimal,
    currency: Option<CurrencyCode>,
    /// True after an entry that is not booked yet, or that has no sign, another currency or too
    /// many digits, so that the document does not determine the amount booked between its balances.
    unclear: bool,
}

/// The entries that belong to one total of a bank transaction code.
#[derive(Clone, Copy, Debug)]
struct Stated {
    /// Selects the entries to count: `Some(true)` those not yet booked, `Some(false)` the booked
    /// ones, `None` all.
    forecast: Option<bool>,
    totals: Totals,
}

/// Counts and sums by direction.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    credits: Total,
    debits: Total,
    /// The number of entries that are neither credit nor debit because their code is unknown.
    others: u64,
    /// True if a sum is out of range, so that sums are not compared.
    overflown: bool,
}

impl Tally {
    /// Starts the totals. The summary comes before the entries and names the codes whose entries
    /// are counted separately, so memory grows with its codes, not with those of the entries.
    pub(super) fn expect(&mut self, summary: &Summary) {
        // A summary after the first entries comes too late: they have not been counted by its
        // codes.
        if self.all.count() > 0 {
            return;
        }
        for total in &summary.by_bank_transaction_code {
            let place = Some(self.stated.len());
            let places = self.places.entry(key(&total.bank_transaction_code));
            places.and_modify(|place| *place = None).or_insert(place);
            self.stated.push(Stated {
                forecast: total.forecast,
                totals: Totals::default(),
            });
        }
    }

    pub(super) fn count(&mut self, entry: &Entry) {
        self.all.add(&entry.direction, entry.amount.value());
        self.booked.add(entry);
        // Without a stated code no key is needed, and making a key for each entry would take time.
        if self.places.is_empty() {
            return;
        }
        let booked = entry.status == EntryStatus::BOOKED;
        if let Some(code) = &entry.bank_transaction_code
            && let Some(Some(place)) = self.places.get(&key(code))
            && let Some(stated) = self.stated.get_mut(*place)
            && stated.forecast.is_none_or(|forecast| forecast != booked)
        {
            stated.totals.add(&entry.direction, entry.amount.value());
        }
    }

    /// Returns the disagreement of the balances with the booked entries between them.
    pub(super) fn balance(
        &self,
        balances: &[Balance],
        page: Option<&Pagination>,
    ) -> Option<Disagreement> {
        let (opening, closing) = framing(balances, page)?;
        let currency = self.booked.currency.as_ref();
        let same = |balance: &Balance| currency.is_some() && balance.amount.currency() == currency;
        if self.booked.unclear || !same(opening) || !same(closing) {
            return None;
        }
        let (opening, closing) = (opening.signed_amount()?, closing.signed_amount()?);
        let summed = opening.checked_add(self.booked.sum)?;
        (summed != closing).then_some(Disagreement::ClosingBalance {
            opening,
            booked: self.booked.sum,
            summed,
            closing,
        })
    }

    /// Returns the disagreements of the summary.
    pub(super) fn compare(&self, summary: &Summary) -> Vec<Disagreement> {
        let mut found = Vec::new();
        if let Some(stated) = &summary.all {
            self.all.compare(
                &CountedEntries::All,
                stated.entries.as_ref(),
                stated.sum,
                stated.signed_net(),
                &mut found,
            );
        }
        let halves = [
            (CountedEntries::Credit, &summary.credits, self.all.credits),
            (CountedEntries::Debit, &summary.debits, self.all.debits),
        ];
        for (which, stated, counted) in halves {
            let Some(CountAndSum { entries, sum, .. }) = stated else {
                continue;
            };
            // With an unknown direction an entry may be missing in either half, so neither is
            // compared.
            let summed = self.all.sum().map(|_| counted.sum);
            compare(
                &which,
                entries.as_ref(),
                *sum,
                counted.count,
                summed,
                &mut found,
            );
        }
        let totals = summary
            .by_bank_transaction_code
            .iter()
            .zip(&self.stated)
            .enumerate();
        for (place, (total, stated)) in totals {
            if self.places.get(&key(&total.bank_transaction_code)) == Some(&Some(place)) {
                let which = named(&total.bank_transaction_code);
                stated.totals.compare(
                    &which,
                    total.entries.as_ref(),
                    total.sum,
                    total.signed_net(),
                    &mut found,
                );
            }
        }
        found
    }
}

impl Booked {
    fn add(&mut self, entry: &Entry) {
        match entry.status {
            // For information only.
            EntryStatus::INFORMATION => return,
            _ if self.unclear => return,
            EntryStatus::BOOKED => {}
            _ => self.unclear = true,
        }
        let currency = entry.amount.currency();
        if self.currency.is_none() {
            self.currency = currency.cloned();
        }
        let added = entry
            .signed_amount()
            .and_then(|own| self.sum.checked_add(own));
        self.unclear |= added.is_none() || self.currency.as_ref() != currency;
        self.sum = added.unwrap_or_default();
    }
}

impl Totals {
    fn add(&mut self, direction: &Direction, value: Decimal) {
        let added = match direction {
            Direction::Credit => self.credits.add(value),
            Direction::Debit => self.debits.add(value),
            Direction::Other(_) => {
                self.others += 1;
                Some(())
            }
        };
        // The mark is never reset: after one overflow the sum stays wrong.
        self.overflown |= added.is_none();
    }

    fn count(&self) -> u64 {
        self.credits.count + self.debits.count + self.others
    }

    /// Returns the sum of all entries; `None` if it is unknown.
    fn sum(&self) -> Option<Decimal> {
        let known = !self.overflown && self.others == 0;
        known
            .then(|| self.credits.sum.checked_add(self.debits.sum))
            .flatten()
    }

    fn compare(
        &self,
        which: &CountedEntries,
        entries: Option<&Digits<1, 15>>,
        sum: Option<PlainDecimal>,
        net: Option<Decimal>,
        found: &mut Vec<Disagreement>,
    ) {
        compare(which, entries, sum, self.count(), self.sum(), found);
        let summed = self
            .sum()
            .and_then(|_| self.credits.sum.checked_sub(self.debits.sum));
        if let (Some(stated), Some(summed)) = (net, summed)
            && stated != summed
        {
            found.push(Disagreement::NetAmount {
                entries: which.clone(),
                stated,
                summed,
            });
        }
    }
}

fn compare(
    which: &CountedEntries,
    entries: Option<&Digits<1, 15>>,
    sum: Option<PlainDecimal>,
    counted: u64,
    summed: Option<Decimal>,
    found: &mut Vec<Disagreement>,
) {
    if let Some(stated) = entries.and_then(Digits::to_number)
        && stated != counted
    {
        found.push(Disagreement::EntryCount {
            entries: which.clone(),
            stated,
            counted,
        });
    }
    if let (Some(stated), Some(summed)) = (sum, summed)
        && stated.value() != summed
    {
        found.push(Disagreement::EntrySum {
            entries: which.clone(),
            stated: stated.value(),
            summed,
        });
    }
}

/// Returns a key for a bank transaction code. Each part is preceded by a character that XML does
/// not allow, so that keys are unambiguous.
fn key(code: &BankTransactionCode) -> String {
    let mut key = String::new();
    if let Some(domain) = &code.domain {
        let family = &domain.family;
        key.extend([
            "\u{1}",
            domain.code.as_str(),
            "\u{2}",
            family.code.as_str(),
            "\u{3}",
            family.sub_family.as_str(),
        ]);
    }
    if let Some(proprietary) = &code.proprietary {
        key.extend(["\u{4}", proprietary.code.as_str()]);
        key.extend(
            proprietary
                .issuer
                .iter()
                .flat_map(|issuer| ["\u{5}", issuer.as_str()]),
        );
    }
    key
}

/// Returns the entries of a bank transaction code, in the form that findings have.
fn named(code: &BankTransactionCode) -> CountedEntries {
    let domain = code.domain.as_ref().map(|domain| {
        let family = &domain.family;
        let codes = [
            domain.code.as_str(),
            family.code.as_str(),
            family.sub_family.as_str(),
        ];
        codes.map(shown).join("/").into()
    });
    let own = code.proprietary.as_ref();
    CountedEntries::BankTransactionCode {
        domain,
        proprietary: own.map(|own| shown(own.code.as_str()).into()),
        issuer: own.and_then(|own| Some(shown(own.issuer.as_ref()?.as_str()).into())),
    }
}
