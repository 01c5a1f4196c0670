//! The rules of entries and summaries beyond the schema.

mod disagreement;
mod tally;

pub use disagreement::{CountedEntries, Disagreement};
use tally::Tally;

use crate::{
    Account, Balance, Charges, CurrencyCode, Entry, EntryDetails, Extras, Pagination, Summary,
    Transaction,
};
use bankrail_iso20022::__private::{Watch, shown};
use bankrail_values::Decimal;

/// Remembers the currency of the account, in which the entries are expected.
pub(crate) fn account(account: &Account, by: &mut dyn Watch) {
    if let Some(memory) = by.memory() {
        let tally = memory.get::<Tally>();
        tally.currency.clone_from(&account.currency);
    }
}

/// Remembers which totals the summary states.
pub(crate) fn summary(summary: &Summary, by: &mut dyn Watch) {
    if let Some(memory) = by.memory() {
        memory.get::<Tally>().expect(summary);
    }
}

/// Counts an entry, and compares its currency with the account's and its amount with its details.
pub(crate) fn entry(entry: &Entry, by: &mut dyn Watch) {
    let Some(memory) = by.memory() else { return };
    let tally = memory.get::<Tally>();
    tally.count(entry);
    if let (Some(account), Some(found)) = (&tally.currency, entry.amount.currency())
        && account != found
    {
        let (account, found) = (shown(account.as_str()), shown(found.as_str()));
        by.report(Disagreement::EntryCurrency { account, found }.into());
    }
    for disagreement in details(entry) {
        by.report(disagreement.into());
    }
}

/// Compares an entry with its transactions.
fn details(entry: &Entry) -> Vec<Disagreement> {
    // Most entries have one transaction with the entry's amount, so that no sum is needed.
    let mut transactions = entry.transactions();
    if let (Some(only), None) = (transactions.next(), transactions.next())
        && only.amount.as_ref() == Some(&entry.amount)
        && only
            .direction
            .as_ref()
            .is_none_or(|own| *own == entry.direction)
    {
        return Vec::new();
    }
    let Some(currency) = entry.amount.currency() else {
        return Vec::new();
    };
    let other = |(own, number): (&Transaction, usize)| {
        let found = own.amount.as_ref()?.currency()?;
        (found != currency).then(|| Disagreement::TransactionCurrency {
            number,
            entry: shown(currency.as_str()),
            found: shown(found.as_str()),
        })
    };
    let others: Vec<_> = entry.transactions().zip(1..).filter_map(other).collect();
    if others.is_empty() {
        details_sum(entry, currency).into_iter().collect()
    } else {
        others
    }
}

/// Compares the amount of an entry with the sum of its transactions, all of which are in its
/// currency.
fn details_sum(entry: &Entry, currency: &CurrencyCode) -> Option<Disagreement> {
    let incomplete = |details: &EntryDetails| {
        let stated = details.batch.as_ref().map(|batch| &batch.transactions);
        let stated = stated.and_then(|count| count.as_ref()?.to_number());
        details.transactions.is_empty()
            || stated.is_some_and(|stated| stated != number(details.transactions.len()))
    };
    if entry.details.is_empty() || entry.details.iter().any(incomplete) {
        return None;
    }
    let whole = entry.signed_amount()?;
    let mut summed = Decimal::ZERO;
    let mut charged = charged_of(&entry.charges, currency)?;
    for line in entry.lines() {
        let transaction = line.transaction?;
        let amount = transaction.amount.as_ref()?;
        // Interest and tax may be part of the difference, and are of any sign.
        if amount.currency().is_none()
            || !transaction.interest.is_empty()
            || transaction.tax.is_some()
        {
            return None;
        }
        summed = summed.checked_add(line.signed_amount()?)?;
        let own = charged_of(&transaction.charges, currency)?;
        charged = charged.checked_add(own)?;
    }
    let difference = whole.checked_sub(summed)?;
    // Details of a reversal may have the direction of the reversed entry.
    let mirrored = entry.reversal == Some(true) && whole == -summed;
    let explained = !entry.interest.is_empty() || difference.abs() <= charged || mirrored;
    (!explained).then_some(Disagreement::DetailsSum {
        entry: whole,
        summed,
        difference,
    })
}

/// Returns the maximum amount of the charges; `None` if they are in another currency.
fn charged_of(charges: &[Charges], currency: &CurrencyCode) -> Option<Decimal> {
    let mut all = charges.iter().flat_map(|charges| {
        let records = charges.records.iter().map(|record| &record.amount);
        records.chain(&charges.amount).chain(&charges.total)
    });
    all.try_fold(Decimal::ZERO, |sum, amount| {
        let same = amount.currency() == Some(currency);
        sum.checked_add(amount.value()).filter(|_| same)
    })
}

/// Compares the count and total of a batch with its transactions, if these are detailed.
pub(crate) fn entry_details(details: &EntryDetails, by: &mut dyn Watch) {
    let Some(batch) = &details.batch else { return };
    if details.transactions.is_empty() {
        return;
    }
    let counted = number(details.transactions.len());
    if let Some(stated) = batch
        .transactions
        .as_ref()
        .and_then(|count| count.to_number())
        && stated != counted
    {
        by.report(Disagreement::BatchCount { stated, counted }.into());
    }
    let first = details.transactions.first();
    let currency = first.and_then(|first| first.amount.as_ref()?.currency());
    // Amounts in several currencies have no sum.
    let summed = details
        .transactions
        .iter()
        .try_fold(Decimal::ZERO, |sum, transaction| {
            let same = transaction.amount.as_ref()?.currency() == currency;
            sum.checked_add(transaction.signed_amount().filter(|_| same)?)
        });
    let Some(summed) = summed else { return };
    if let Some(stated) = &batch.direction
        && stated.apply(summed).is_some_and(|sum| sum < Decimal::ZERO)
    {
        let stated = stated.clone();
        by.report(Disagreement::BatchDirection { stated, summed }.into());
    }
    // The stated total is an amount without a sign.
    let total = batch.total.as_ref();
    if let Some(total) = total.filter(|total| total.currency() == currency)
        && summed.abs() != total.value()
    {
        let (stated, summed) = (total.value(), summed.abs());
        by.report(Disagreement::BatchTotal { stated, summed }.into());
    }
}

/// Compares the summary and the balances of a report or statement with its entries, all of which
/// have been counted. If an entry could not be read, nothing is compared. If there are other parts
/// beyond the schema, the balances are not compared, because these parts may be balances.
pub(crate) fn compare_sums(
    summary: Option<&Summary>,
    balances: &[Balance],
    page: Option<&Pagination>,
    extras: &Extras,
    by: &mut dyn Watch,
) {
    let Some(memory) = by.memory() else { return };
    // Takes the totals in any case, so that the next report or statement starts from zero.
    let tally = std::mem::take(memory.get::<Tally>());
    if memory.take_left_out() || extras.has_element("Ntry") {
        return;
    }
    let found = summary.map(|summary| tally.compare(summary));
    let complete = extras.is_empty();
    let gap = complete.then(|| tally.balance(balances, page)).flatten();
    for disagreement in found.into_iter().flatten().chain(gap) {
        by.report(disagreement.into());
    }
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
