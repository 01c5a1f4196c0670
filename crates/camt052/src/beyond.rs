//! What is looked at beyond the schema: counts and sums, currencies, check digits.

mod countries;
mod tally;

pub(crate) use tally::Tally;

use crate::check::Checker;
use crate::finding::{FindingKind, shown};
use crate::read::{Cursor, Tokens};
use crate::{Account, Bic, CurrencyCode, Entry, EntryDetails, Iban, Report, Summary};
use bankrail_values::Decimal;

/// Who looks: a reader at what it has just read, or a checker at a model.
pub(crate) trait Watch {
    /// What has been counted in the report so far; `None` for a reader that does not count.
    fn tally(&mut self) -> Option<&mut Tally>;
    /// Reports something about the current element.
    fn report(&mut self, kind: FindingKind);
}

impl<T: Tokens> Watch for Cursor<T> {
    fn tally(&mut self) -> Option<&mut Tally> {
        Some(&mut self.tally)
    }

    fn report(&mut self, kind: FindingKind) {
        Self::report(self, kind);
    }
}

impl Watch for Checker {
    fn tally(&mut self) -> Option<&mut Tally> {
        Some(&mut self.tally)
    }

    fn report(&mut self, kind: FindingKind) {
        Self::report(self, kind);
    }
}

/// The account of a report: its currency is that of the entries.
pub(crate) fn account(account: &Account, by: &mut impl Watch) {
    if let Some(tally) = by.tally() {
        tally.currency.clone_from(&account.currency);
    }
}

/// The summary of a report: it names what is counted.
pub(crate) fn summary(summary: &Summary, by: &mut impl Watch) {
    if let Some(tally) = by.tally() {
        tally.expect(summary);
    }
}

/// An entry: it counts, and its currency is that of the account.
pub(crate) fn entry(entry: &Entry, by: &mut impl Watch) {
    let Some(tally) = by.tally() else { return };
    tally.count(entry);
    if let (Some(account), Some(found)) = (&tally.currency, entry.amount.currency())
        && account != found
    {
        let (account, found) = (shown(account.as_str()), shown(found.as_str()));
        by.report(FindingKind::EntryCurrency { account, found });
    }
}

/// The batch of an entry: its count and total are those of its details, if it has any.
pub(crate) fn entry_details(details: &EntryDetails, by: &mut impl Watch) {
    let Some(batch) = &details.batch else { return };
    if details.transactions.is_empty() {
        return;
    }
    let counted = number(details.transactions.len());
    if let Some(stated) = batch.transactions.as_ref().and_then(|count| count.to_number())
        && stated != counted
    {
        by.report(FindingKind::BatchCount { stated, counted });
    }
    let Some(total) = &batch.total else { return };
    let same_currency = |currency: Option<&CurrencyCode>| currency == total.currency();
    if !details.transactions.iter().all(|transaction| same_currency(transaction.amount.currency())) {
        return;
    }
    let summed = details
        .transactions
        .iter()
        .try_fold(Decimal::ZERO, |sum, transaction| sum.checked_add(transaction.signed_amount()?));
    if let Some(summed) = summed.map(|sum| sum.abs())
        && summed != total.value()
    {
        by.report(FindingKind::BatchTotal { stated: total.value(), summed });
    }
}

/// A report: its summary is that of its entries.
pub(crate) fn report(report: &Report, by: &mut impl Watch) {
    let Some(tally) = by.tally().map(std::mem::take) else { return };
    let Some(summary) = &report.summary else { return };
    for kind in tally.compare(summary) {
        by.report(kind);
    }
}

/// An IBAN that the schema accepts: its check digits.
pub(crate) fn iban(iban: &Iban) -> Option<FindingKind> {
    let wrong = iban.is_valid() && !iban.has_valid_check_digits();
    wrong.then(|| FindingKind::IbanCheckDigits { found: iban.to_string() })
}

/// A BIC that the schema accepts: its country.
pub(crate) fn bic(bic: &Bic) -> Option<FindingKind> {
    let country = bic.as_str().get(4..6).unwrap_or_default();
    let wrong = bic.is_valid() && !countries::is_assigned(country);
    wrong.then(|| FindingKind::BicCountry { found: bic.to_string() })
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
