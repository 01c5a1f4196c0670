//! The rules of entries and summaries beyond the schema.

mod disagreement;
mod tally;

pub use disagreement::{CountedEntries, Disagreement};
use tally::Tally;

use crate::{Account, Entry, EntryDetails, Summary};
use bankrail_iso20022::__private::{Watch, shown};
use bankrail_iso20022::Amount;
use bankrail_values::Decimal;

/// Remembers the currency of the account, in which the entries are expected.
pub(crate) fn account(account: &Account, by: &mut impl Watch) {
    if let Some(memory) = by.memory() {
        let tally = memory.get::<Tally>();
        tally.currency.clone_from(&account.currency);
    }
}

/// Remembers which totals the summary states.
pub(crate) fn summary(summary: &Summary, by: &mut impl Watch) {
    if let Some(memory) = by.memory() {
        memory.get::<Tally>().expect(summary);
    }
}

/// Counts an entry, and compares its currency with that of the account.
pub(crate) fn entry(entry: &Entry, by: &mut impl Watch) {
    let Some(memory) = by.memory() else { return };
    let tally = memory.get::<Tally>();
    tally.count(entry);
    if let (Some(account), Some(found)) = (&tally.currency, entry.amount.currency())
        && account != found
    {
        let (account, found) = (shown(account.as_str()), shown(found.as_str()));
        by.report(Disagreement::EntryCurrency { account, found }.into());
    }
}

/// Compares the count and total of a batch with its transactions, if these are detailed.
pub(crate) fn entry_details(details: &EntryDetails, by: &mut impl Watch) {
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
    let Some(total) = &batch.total else { return };
    let same_currency = |amount: &Amount| amount.currency() == total.currency();
    // Amounts in several currencies have no sum.
    if !details
        .transactions
        .iter()
        .all(|transaction| transaction.amount.as_ref().is_some_and(same_currency))
    {
        return;
    }
    let summed = details
        .transactions
        .iter()
        .try_fold(Decimal::ZERO, |sum, transaction| {
            sum.checked_add(transaction.signed_amount()?)
        });
    // The stated total is an amount without a sign.
    if let Some(summed) = summed.map(|sum| sum.abs())
        && summed != total.value()
    {
        by.report(
            Disagreement::BatchTotal {
                stated: total.value(),
                summed,
            }
            .into(),
        );
    }
}

/// Compares the summary of a report or statement with its entries, all of which have been counted.
pub fn compare_summary(summary: Option<&Summary>, by: &mut impl Watch) {
    let Some(memory) = by.memory() else { return };
    // Taken also without a summary, so that the next report or statement starts from zero.
    let tally = std::mem::take(memory.get::<Tally>());
    let Some(summary) = summary else { return };
    for disagreement in tally.compare(summary) {
        by.report(disagreement.into());
    }
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
