//! What is looked at beyond the schema: counts and sums, currencies, check digits.

mod countries;

use crate::access::Total;
use crate::finding::{FindingKind, Part};
use crate::read::{Cursor, Tokens};
use crate::{Account, Bic, CountAndSum, CurrencyCode, Direction, Entry, EntryDetails, Iban, NetAmount, Report};
use bankrail_values::Decimal;

/// What has been counted in the report being read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    currency: Option<CurrencyCode>,
    credits: Total,
    debits: Total,
    /// Entries that are neither credit nor debit, which only an unknown code is.
    others: u64,
    /// A sum has left the range of decimals: sums are no longer compared.
    overflown: bool,
}

/// The account of a report: its currency is that of the entries.
pub(crate) fn account<T: Tokens>(account: &Account, from: &mut Cursor<T>) {
    from.tally.currency.clone_from(&account.currency);
}

/// An entry: it counts, and its currency is that of the account.
pub(crate) fn entry<T: Tokens>(entry: &Entry, from: &mut Cursor<T>) {
    from.restart_elements();
    let tally = &mut from.tally;
    let counted = match entry.direction {
        Direction::Credit => tally.credits.add(entry.amount.value()),
        Direction::Debit => tally.debits.add(entry.amount.value()),
        Direction::Other(_) => {
            tally.others += 1;
            Some(())
        }
    };
    tally.overflown |= counted.is_none();
    if let (Some(account), Some(found)) = (&tally.currency, entry.amount.currency())
        && account != found
    {
        let (account, found) = (account.to_string(), found.to_string());
        from.report(FindingKind::EntryCurrency { account, found });
    }
}

/// The batch of an entry: its count and total are those of its details, if it has any.
pub(crate) fn entry_details<T: Tokens>(details: &EntryDetails, from: &mut Cursor<T>) {
    let Some(batch) = &details.batch else { return };
    if details.transactions.is_empty() {
        return;
    }
    let counted = number(details.transactions.len());
    if let Some(stated) = batch.transactions.as_ref().and_then(|count| count.to_number())
        && stated != counted
    {
        from.report(FindingKind::BatchCount { stated, counted });
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
        from.report(FindingKind::BatchTotal { stated: total.value(), summed });
    }
}

/// A report: its summary is that of its entries.
pub(crate) fn report<T: Tokens>(report: &Report, from: &mut Cursor<T>) {
    let tally = std::mem::take(&mut from.tally);
    let Some(summary) = &report.summary else { return };
    let (credits, debits) = (tally.credits, tally.debits);
    let sums = if tally.overflown || tally.others > 0 { None } else { credits.sum.checked_add(debits.sum) };
    let mut found = Vec::new();
    if let Some(all) = &summary.all {
        let part = CountAndSum { entries: all.entries.clone(), sum: all.sum, ..CountAndSum::default() };
        compare(Part::All, &part, credits.count + debits.count + tally.others, sums, &mut found);
        if let (Some(stated), Some(_)) = (&all.net, sums) {
            compare_net(stated, credits.sum - debits.sum, &mut found);
        }
    }
    if let Some(part) = &summary.credits {
        compare(Part::Credit, part, credits.count, sums.map(|_| credits.sum), &mut found);
    }
    if let Some(part) = &summary.debits {
        compare(Part::Debit, part, debits.count, sums.map(|_| debits.sum), &mut found);
    }
    for kind in found {
        from.report(kind);
    }
}

fn compare(part: Part, stated: &CountAndSum, counted: u64, summed: Option<Decimal>, found: &mut Vec<FindingKind>) {
    if let Some(stated) = stated.entries.as_ref().and_then(|count| count.to_number())
        && stated != counted
    {
        found.push(FindingKind::EntryCount { part, stated, counted });
    }
    if let (Some(stated), Some(summed)) = (stated.sum, summed)
        && stated.value() != summed
    {
        found.push(FindingKind::EntrySum { part, stated: stated.value(), summed });
    }
}

fn compare_net(stated: &NetAmount, summed: Decimal, found: &mut Vec<FindingKind>) {
    if let Some(stated) = stated.direction.apply(stated.amount.value())
        && stated != summed
    {
        found.push(FindingKind::NetAmount { stated, summed });
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
