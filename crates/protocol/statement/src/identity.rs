//! The identity of a camt.052 entry.

mod content;
mod links;
mod parts;

pub use links::EntryLinks;
pub(crate) use parts::EntryParts;

use crate::EntryIdentity;
use bankrail_camt052::{DateOrDateTime, Entry, Transaction};
use bankrail_values::Date as Day;
use content::Content;

impl EntryIdentity {
    /// Returns the identity of an entry.
    ///
    /// - An entry has a reference if the bank gave it one: `Ntry/AcctSvcrRef`, or
    ///   `Refs/AcctSvcrRef` of each of its transactions. `NONREF` and `NOTPROVIDED` are none.
    ///   `NtryRef` and `EndToEndId` do not count, because the first may be a number within the
    ///   message and the second is the payer's.
    /// - An entry with a reference is identified by it together with amount, direction, status,
    ///   reversal and booking date, because a payment, its charge and its reversal may share a
    ///   reference. An entry in which one of these changes, such as a pending entry that is booked,
    ///   is therefore a new entry.
    /// - An entry without a reference is identified by its content: amount, direction, status,
    ///   reversal, booking date, value date, bank transaction code, the references that it does
    ///   have, parties, accounts and text. The scale of an amount, the offset of a date and the
    ///   division of remittance text into `Ustrd` elements do not count.
    ///
    /// The content includes the narrative, so each poll must have the same `includeNarrative`.
    #[must_use]
    pub fn of(entry: &Entry) -> Self {
        let day = day_of(entry);
        match references(entry) {
            Some(references) => {
                let mut hash = Content::new(b"reference");
                hash.common(entry);
                references
                    .into_iter()
                    .for_each(|reference| hash.text(Some(reference)));
                Self::by_reference(hash.finish(), day)
            }
            None => {
                let mut hash = Content::new(b"content");
                hash.common(entry);
                hash.rest(entry);
                Self::by_content(hash.finish(), day)
            }
        }
    }
}

/// Returns the bank's reference of the entry, else those of its transactions; `None` if a
/// transaction has none.
fn references<'a>(entry: &'a Entry) -> Option<Vec<&'a str>> {
    // Many entries share a placeholder, and would count as one.
    let given = |text: &str| !text.trim().is_empty() && !links::is_placeholder(text);
    if let Some(reference) = entry
        .servicer_reference
        .as_ref()
        .map(|text| text.as_str())
        .filter(|text| given(text))
    {
        return Some(vec![reference]);
    }
    let of_transaction = |transaction: &'a Transaction| {
        let reference = transaction
            .references
            .as_deref()?
            .servicer_reference
            .as_ref()?;
        Some(reference.as_str()).filter(|text| given(text))
    };
    let transactions = entry
        .details
        .iter()
        .flat_map(|details| &details.transactions);
    let references: Vec<_> = transactions.map(of_transaction).collect::<Option<_>>()?;
    (!references.is_empty()).then_some(references)
}

/// Returns the booking day, else the value day.
fn day_of(entry: &Entry) -> Option<Day> {
    let date = match entry.booking_date.as_ref().or(entry.value_date.as_ref())? {
        DateOrDateTime::Date(date) => *date,
        DateOrDateTime::DateTime(at) => at.date(),
        _ => return None,
    };
    Day::from_time(date.to_time()?)
}
