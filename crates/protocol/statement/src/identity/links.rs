//! The properties that an entry shares with the earlier one that it may replace.

use super::Content;
use super::parts::EntryParts;
use bankrail_camt052::{
    AccountIdentification, CounterpartyAccount, Entry, EntryStatus, PartyOrAgent, Transaction,
};
use std::borrow::Cow;

/// Hashes of 128 bits that may relate an entry to one that the bank listed before under another
/// identity. [`EntryLinks::of`] computes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntryLinks {
    /// True if the entry is booked (`Sts`) and so has moved the account's money.
    pub booked: bool,
    /// The hash of amount, currency, direction and reversal.
    pub amount: u128,
    /// The hash of the bank's reference, direction and reversal; `None` without a reference. A
    /// payment and its reversal may share a reference, and neither replaces the other.
    pub reference: Option<u128>,
    /// The hash of the amount with the payer's data: `EndToEndId`, mandate and cheque, parties,
    /// their accounts, and remittance text (`Ustrd`). `None` if the entry has none of these.
    pub payment: Option<u128>,
    /// The parts that the bank may complete in an entry without a reference.
    pub(crate) parts: EntryParts,
}

impl EntryLinks {
    /// Creates the links of a booked entry with this hash of its amount and no other link.
    #[must_use]
    pub fn new(amount: u128) -> Self {
        Self {
            booked: true,
            amount,
            reference: None,
            payment: None,
            parts: EntryParts::default(),
        }
    }

    /// Returns the links of an entry.
    #[must_use]
    pub fn of(entry: &Entry) -> Self {
        let start = |kind: &[u8]| {
            let mut hash = Content::new(kind);
            hash.direction(entry);
            hash
        };
        let mut amount = start(b"amount");
        amount.amount(&entry.amount);
        let reference = super::references(entry).map(|references| {
            let mut hash = start(b"reference");
            references
                .into_iter()
                .for_each(|reference| hash.text(Some(reference)));
            hash.finish_short()
        });
        let said: Vec<Option<Cow<'_, str>>> = entry.transactions().flat_map(said).collect();
        let payment = said.iter().any(Option::is_some).then(|| {
            let mut hash = start(b"payment");
            hash.amount(&entry.amount);
            said.iter().for_each(|text| hash.text(text.as_deref()));
            hash.finish_short()
        });
        let booked = entry.status == EntryStatus::BOOKED;
        Self {
            booked,
            amount: amount.finish_short(),
            reference,
            payment,
            parts: EntryParts::of(entry),
        }
    }

    /// Returns true if this entry can be an earlier form of the other one. Without a reference of
    /// the bank, amount, direction and each part that both have must be the same. A booked entry
    /// with a reference can be corrected under it.
    pub(crate) fn can_become(&self, other: &Self) -> bool {
        match self.reference {
            None => self.amount == other.amount && self.parts.agree(&other.parts),
            reference => self.booked && other.booked && reference == other.reference,
        }
    }
}

/// Returns the payer's data of a transaction. The division of remittance text into `Ustrd` elements
/// does not count.
pub(super) fn said(transaction: &Transaction) -> [Option<Cow<'_, str>>; 8] {
    let references = transaction.references.as_deref();
    let parties = transaction.parties.as_deref();
    let end_to_end = references
        .and_then(|references| references.end_to_end_id.as_ref())
        .map(AsRef::as_ref);
    let texts = [
        end_to_end.filter(|id: &&str| !is_placeholder(id)),
        references
            .and_then(|references| references.mandate_id.as_ref())
            .map(AsRef::as_ref),
        references
            .and_then(|references| references.cheque_number.as_ref())
            .map(AsRef::as_ref),
        name(parties.and_then(|parties| parties.debtor.as_deref())),
        id(parties.and_then(|parties| parties.debtor_account.as_deref())),
        name(parties.and_then(|parties| parties.creditor.as_deref())),
        id(parties.and_then(|parties| parties.creditor_account.as_deref())),
    ];
    let remittance = transaction
        .remittance
        .iter()
        .flat_map(|remittance| &remittance.unstructured);
    let text: String = remittance.map(AsRef::<str>::as_ref).collect();
    let [a, b, c, d, e, f, g] = texts.map(|text| text.map(Cow::Borrowed));
    [
        a,
        b,
        c,
        d,
        e,
        f,
        g,
        (!text.is_empty()).then_some(Cow::Owned(text)),
    ]
}

/// Returns true for a text that stands in place of a reference, so that many entries share it.
pub(super) fn is_placeholder(reference: &str) -> bool {
    ["NOTPROVIDED", "NONREF"]
        .iter()
        .any(|none| reference.trim().eq_ignore_ascii_case(none))
}

fn name(party: Option<&PartyOrAgent>) -> Option<&str> {
    party?.name()
}

fn id(account: Option<&CounterpartyAccount>) -> Option<&str> {
    match &account?.id {
        AccountIdentification::Iban(iban) => Some(iban.as_str()),
        AccountIdentification::Other(other) => Some(other.id.as_str()),
        _ => None,
    }
}
