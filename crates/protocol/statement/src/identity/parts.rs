//! The parts of an entry that a bank may add later.

use super::links::{is_placeholder, said};
use bankrail_camt052::{
    AccountIdentification, BankTransactionCode, DateOrDateTime, Entry, PartyOrAgent,
};

/// Hashes of the parts that a bank may add to an entry later, each of 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EntryParts([Option<u32>; Self::COUNT]);

impl EntryParts {
    const COUNT: usize = 30;
    /// The number of bytes of all hashes.
    pub(crate) const BYTES: usize = 4 * Self::COUNT;

    /// Returns the parts of an entry: all parts of its identity by content, in an order that stored
    /// positions rely on.
    pub(super) fn of(entry: &Entry) -> Self {
        let mut parts = Parts::default();
        parts.add(0, entry.status.as_str());
        parts.day(1, entry.booking_date.as_ref());
        parts.day(2, entry.value_date.as_ref());
        parts.code(3, (&entry.bank_transaction_code).into());
        parts.add(5, entry.additional_information.as_ref().map(AsRef::as_ref));
        for batch in entry
            .details
            .iter()
            .filter_map(|details| details.batch.as_deref())
        {
            parts.add(6, batch.message_id.as_ref().map(AsRef::as_ref));
            parts.add(7, batch.payment_information_id.as_ref().map(AsRef::as_ref));
        }
        // The only transaction of an entry has the entry's amount, and adds no part.
        let several = entry.transactions().count() > 1;
        for transaction in entry.transactions() {
            if let Some(amount) = transaction
                .amount
                .as_ref()
                .filter(|amount| several || amount.value() != entry.amount.value())
            {
                parts.add(8, Some(&amount.value().normalize().to_string()));
                parts.add(8, amount.currency().map(AsRef::as_ref));
                parts.add(8, transaction.direction.as_ref().map(|own| own.as_str()));
            }
            for (slot, text) in (9..17).zip(said(transaction)) {
                parts.add(slot, text.as_deref());
            }
            if let Some(ids) = transaction.references.as_deref() {
                parts.add(17, ids.message_id.as_ref().map(AsRef::as_ref));
                parts.add(18, ids.payment_information_id.as_ref().map(AsRef::as_ref));
                parts.add(19, ids.instruction_id.as_ref().map(AsRef::as_ref));
                parts.add(20, ids.transaction_id.as_ref().map(AsRef::as_ref));
                parts.add(29, ids.servicer_reference.as_ref().map(AsRef::as_ref));
                parts.add(21, ids.clearing_reference.as_ref().map(AsRef::as_ref));
                for other in [
                    ids.owner_transaction_id.as_ref().map(AsRef::as_ref),
                    ids.servicer_transaction_id.as_ref().map(AsRef::as_ref),
                    ids.market_infrastructure_id.as_ref().map(AsRef::as_ref),
                    ids.processing_id.as_ref().map(AsRef::as_ref),
                ] {
                    parts.add(22, other);
                }
                for own in &ids.proprietary {
                    parts.add(22, Some(own.kind.as_str()));
                    parts.add(22, Some(own.reference.as_str()));
                }
            }
            parts.code(26, transaction.bank_transaction_code.as_deref());
            if let Some(parties) = transaction.parties.as_deref() {
                for account in [&parties.debtor_account, &parties.creditor_account] {
                    let issuer = match account.as_deref().map(|account| &account.id) {
                        Some(AccountIdentification::Other(other)) => other.issuer.as_ref(),
                        _ => None,
                    };
                    parts.add(28, issuer.map(AsRef::as_ref));
                }
                for party in [&parties.ultimate_debtor, &parties.ultimate_creditor] {
                    let name = party.as_deref().and_then(PartyOrAgent::name);
                    parts.add(23, name);
                }
            }
            for part in transaction
                .remittance
                .iter()
                .flat_map(|remittance| &remittance.structured)
            {
                let creditor = part.creditor_reference.as_deref();
                let reference = creditor.and_then(|creditor| creditor.reference.as_ref());
                parts.add(24, reference.map(AsRef::as_ref));
                for document in &part.documents {
                    parts.add(24, document.number.as_ref().map(AsRef::as_ref));
                }
                for text in &part.additional_information {
                    parts.add(24, Some(text.as_str()));
                }
            }
            let information = transaction.additional_information.as_ref();
            parts.add(25, information.map(AsRef::as_ref));
        }
        Self(parts.0.map(|hash| {
            let folded = |hash: u64| u32::try_from((hash ^ hash >> 32) & 0xffff_ffff).ok();
            // No hash is 0, which stands for an absent part in stored positions.
            hash.and_then(folded).map(|hash| hash.max(1))
        }))
    }

    /// Returns true if all parts that both have are equal. Unknown parts agree with none, because
    /// each entry has a status.
    pub(crate) fn agree(&self, other: &Self) -> bool {
        self.0[0].is_some()
            && self.0[0] == other.0[0]
            && self
                .0
                .iter()
                .zip(other.0)
                .all(|(own, other)| own.is_none() || other.is_none() || *own == other)
    }

    pub(crate) fn to_bytes(self) -> impl Iterator<Item = u8> {
        self.0
            .into_iter()
            .flat_map(|hash| hash.unwrap_or(0).to_be_bytes())
    }

    /// Reads the bytes that [`EntryParts::to_bytes`] wrote. If there are fewer than
    /// [`EntryParts::BYTES`], the rest is absent.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let mut hashes = bytes.as_chunks::<4>().0.iter();
        Self(std::array::from_fn(|_| {
            let hash = hashes.next().map(|hash| u32::from_be_bytes(*hash));
            hash.filter(|hash| *hash != 0)
        }))
    }
}

/// FNV-1a hashes over the texts of each part; `None` without a text.
#[derive(Default)]
struct Parts([Option<u64>; EntryParts::COUNT]);

impl Parts {
    fn add(&mut self, slot: usize, text: Option<&str>) {
        let text = text.filter(|text| !text.trim().is_empty() && !is_placeholder(text));
        if let (Some(hash), Some(text)) = (self.0.get_mut(slot), text) {
            // The last byte, which no text has, separates neighbours.
            let bytes = text.bytes().chain([0xff]);
            *hash = Some(
                bytes.fold(hash.unwrap_or(0xcbf2_9ce4_8422_2325), |hash, byte| {
                    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
                }),
            );
        }
    }

    /// Adds the day only, because a bank may add the time of day too.
    fn day(&mut self, slot: usize, date: Option<&DateOrDateTime>) {
        let day = date
            .and_then(DateOrDateTime::date)
            .map(|day| format!("{}-{}-{}", day.year(), day.month(), day.day()));
        self.add(slot, day.as_deref());
    }

    fn code(&mut self, slot: usize, code: Option<&BankTransactionCode>) {
        if let Some(domain) = code.and_then(|code| code.domain.as_ref()) {
            self.add(slot, Some(domain.code.as_str()));
            self.add(slot, Some(domain.family.code.as_str()));
            self.add(slot, Some(domain.family.sub_family.as_str()));
        }
        let proprietary = code.and_then(|code| code.proprietary.as_deref());
        self.add(slot + 1, proprietary.map(|own| own.code.as_str()));
    }
}
