//! The identity of a camt.052 entry, and the parts of it that are hashed.

mod links;
mod parts;

pub use links::EntryLinks;
pub(crate) use parts::EntryParts;

use crate::{EntryIdentity, EntryKey};
use bankrail_camt052::{
    AccountIdentification, Amount, BankTransactionCode, CounterpartyAccount, DateOrDateTime,
    Direction, Entry, IsoDate, PartyOrAgent, Transaction,
};
use bankrail_values::Date as Day;
use sha2::{Digest, Sha256};

impl EntryIdentity {
    /// Returns the identity of an entry.
    ///
    /// - An entry has a reference if the bank gave it one: `Ntry/AcctSvcrRef`, or
    ///   `Refs/AcctSvcrRef` of each of its transactions. `NONREF` and `NOTPROVIDED` are no
    ///   references. `NtryRef` and `EndToEndId` do not count, because the first may be a number
    ///   within the message and the second is the payer's.
    /// - The reference identifies an entry together with amount, direction, status, reversal and
    ///   booking date, because a payment, its charge and its reversal may share a reference. An
    ///   entry in which one of these changes, such as a pending entry that is booked, is therefore
    ///   a new entry.
    /// - The content identifies an entry without a reference: amount, direction, status,
    ///   reversal, booking date, value date, bank transaction code, its other references, parties,
    ///   accounts and text. The scale of an amount, the offset of a date and the division of
    ///   remittance text into `Ustrd` elements do not count.
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

/// Returns the bank's reference of the entry, or else those of its transactions; `None` if a
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

/// Returns the booking day, or else the value day.
fn day_of(entry: &Entry) -> Option<Day> {
    let date = match entry.booking_date.as_ref().or(entry.value_date.as_ref())? {
        DateOrDateTime::Date(date) => *date,
        DateOrDateTime::DateTime(at) => at.date(),
        _ => return None,
    };
    Day::from_time(date.to_time()?)
}

/// A hash over several parts. Each is preceded by a presence byte and its length, so that different
/// parts never give the same input.
struct Content(Sha256);

impl Content {
    fn new(kind: &[u8]) -> Self {
        let mut content = Self(Sha256::new());
        content.bytes(b"bankrail entry 1");
        content.bytes(kind);
        content
    }

    fn finish(self) -> EntryKey {
        EntryKey::from(<[u8; 32]>::from(self.0.finalize()))
    }

    /// Returns the first half of the hash.
    fn finish_short(self) -> u128 {
        let hash: [u8; 32] = self.0.finalize().into();
        hash.iter()
            .take(16)
            .fold(0, |number, byte| number << 8 | u128::from(*byte))
    }

    fn bytes(&mut self, bytes: &[u8]) {
        // The mark and the length keep neighbours apart: `ab` and `c` hash unlike `a` and `bc`.
        self.0.update([1]);
        self.0
            .update(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
        self.0.update(bytes);
    }

    fn text(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.bytes(text.as_bytes()),
            None => self.0.update([0]),
        }
    }

    fn count(&mut self, count: usize) {
        self.bytes(&u64::try_from(count).unwrap_or(u64::MAX).to_be_bytes());
    }

    fn amount<const FRACTION: u32>(&mut self, amount: &Amount<FRACTION>) {
        // Normalized, because `5.0` and `5.00` are the same amount.
        self.bytes(amount.value().normalize().to_string().as_bytes());
        self.text(amount.currency().map(AsRef::as_ref));
    }

    fn date(&mut self, date: Option<&DateOrDateTime>) {
        let day =
            |date: IsoDate| format!("{:04}-{:02}-{:02}", date.year(), date.month(), date.day());
        match date {
            Some(DateOrDateTime::Date(date)) => self.bytes(day(*date).as_bytes()),
            Some(DateOrDateTime::DateTime(at)) => {
                let clock = format!(
                    "{:02}:{:02}:{:02}.{:09}",
                    at.hour(),
                    at.minute(),
                    at.second(),
                    at.nanosecond()
                );
                self.bytes(format!("{}T{clock}", day(at.date())).as_bytes());
            }
            _ => self.text(None),
        }
    }

    /// Adds what identifies an entry with or without a reference.
    fn common(&mut self, entry: &Entry) {
        self.amount(&entry.amount);
        self.text(Some(entry.direction.as_str()));
        self.text(entry.status.as_str());
        self.reversal(entry);
        self.date(entry.booking_date.as_ref());
    }

    /// Adds whether money comes in or goes out, and whether that reverses something.
    fn direction(&mut self, entry: &Entry) {
        self.text(Some(entry.direction.as_str()));
        self.reversal(entry);
    }

    fn reversal(&mut self, entry: &Entry) {
        self.bytes(&[u8::from(entry.reversal.unwrap_or(false))]);
    }

    /// Adds the rest of the content, for an entry without a reference.
    fn rest(&mut self, entry: &Entry) {
        self.date(entry.value_date.as_ref());
        self.bank_transaction_code(entry.bank_transaction_code.as_ref());
        self.text(entry.additional_information.as_ref().map(AsRef::as_ref));
        self.count(entry.details.len());
        for details in &entry.details {
            let batch = details.batch.as_deref();
            self.text(
                batch
                    .and_then(|batch| batch.message_id.as_ref())
                    .map(AsRef::as_ref),
            );
            self.text(
                batch
                    .and_then(|batch| batch.payment_information_id.as_ref())
                    .map(AsRef::as_ref),
            );
            self.count(details.transactions.len());
            details
                .transactions
                .iter()
                .for_each(|transaction| self.transaction(transaction));
        }
    }

    fn transaction(&mut self, transaction: &Transaction) {
        match &transaction.amount {
            Some(amount) => self.amount(amount),
            None => self.text(None),
        }
        self.text(transaction.direction.as_ref().map(Direction::as_str));
        let references = transaction.references.as_deref();
        // In the order of the schema: another order would be another hash of the same content.
        let ids: [Option<&str>; 13] = references.map_or([None; 13], |ids| {
            [
                text_of(&ids.message_id),
                text_of(&ids.servicer_reference),
                text_of(&ids.payment_information_id),
                text_of(&ids.instruction_id),
                text_of(&ids.end_to_end_id),
                text_of(&ids.transaction_id),
                text_of(&ids.mandate_id),
                text_of(&ids.cheque_number),
                text_of(&ids.clearing_reference),
                text_of(&ids.owner_transaction_id),
                text_of(&ids.servicer_transaction_id),
                text_of(&ids.market_infrastructure_id),
                text_of(&ids.processing_id),
            ]
        });
        for id in ids {
            self.text(id);
        }
        let proprietary = references.map_or(&[][..], |references| &references.proprietary);
        self.count(proprietary.len());
        for reference in proprietary {
            self.text(Some(reference.kind.as_str()));
            self.text(Some(reference.reference.as_str()));
        }
        self.bank_transaction_code(transaction.bank_transaction_code.as_deref());
        let parties = transaction.parties.as_deref();
        self.party(parties.and_then(|parties| parties.debtor.as_deref()));
        self.account(parties.and_then(|parties| parties.debtor_account.as_deref()));
        self.party(parties.and_then(|parties| parties.ultimate_debtor.as_deref()));
        self.party(parties.and_then(|parties| parties.creditor.as_deref()));
        self.account(parties.and_then(|parties| parties.creditor_account.as_deref()));
        self.party(parties.and_then(|parties| parties.ultimate_creditor.as_deref()));
        let remittance = transaction.remittance.as_ref();
        let text: String = remittance
            .into_iter()
            .flat_map(|r| &r.unstructured)
            .map(AsRef::<str>::as_ref)
            .collect();
        self.bytes(text.as_bytes());
        let structured = remittance.map_or(&[][..], |remittance| &remittance.structured);
        self.count(structured.len());
        for part in structured {
            let creditor = part.creditor_reference.as_deref();
            self.text(
                creditor
                    .and_then(|creditor| creditor.reference.as_ref())
                    .map(AsRef::as_ref),
            );
            let numbers = part
                .documents
                .iter()
                .filter_map(|document| document.number.as_ref());
            numbers.for_each(|number| self.text(Some(number.as_str())));
            part.additional_information
                .iter()
                .for_each(|text| self.text(Some(text.as_str())));
        }
        self.text(
            transaction
                .additional_information
                .as_ref()
                .map(AsRef::as_ref),
        );
    }

    fn bank_transaction_code(&mut self, code: Option<&BankTransactionCode>) {
        let domain = code.and_then(|code| code.domain.as_ref());
        self.text(domain.map(|domain| domain.code.as_str()));
        self.text(domain.map(|domain| domain.family.code.as_str()));
        self.text(domain.map(|domain| domain.family.sub_family.as_str()));
        let proprietary = code.and_then(|code| code.proprietary.as_deref());
        self.text(proprietary.map(|proprietary| proprietary.code.as_str()));
        self.text(
            proprietary
                .and_then(|proprietary| proprietary.issuer.as_ref())
                .map(AsRef::as_ref),
        );
    }

    fn party(&mut self, party: Option<&PartyOrAgent>) {
        self.text(party.and_then(PartyOrAgent::name));
    }

    fn account(&mut self, account: Option<&CounterpartyAccount>) {
        let (id, issuer) = match account.map(|account| &account.id) {
            Some(AccountIdentification::Iban(iban)) => (Some(iban.as_str()), None),
            Some(AccountIdentification::Other(other)) => {
                (Some(other.id.as_str()), other.issuer.as_ref())
            }
            _ => (None, None),
        };
        self.text(id);
        self.text(issuer.map(AsRef::as_ref));
    }
}

/// Returns the text of an optional value.
fn text_of<T: AsRef<str>>(value: &Option<T>) -> Option<&str> {
    value.as_ref().map(AsRef::as_ref)
}
