//! Access to what users of entries ask for: signed amounts, narratives, counterparties, references, lines.

mod summary;

pub(crate) use summary::Total;
pub use summary::summary_of;

use crate::{CounterpartyAccount, Direction, Entry, Party, References, Remittance, Transaction, TransactionParties};
use bankrail_iso20022::{Amount, Text};
use bankrail_values::Decimal;

/// The most code points of one `Ustrd`.
const PIECE: usize = 140;

/// One line of an account's history: an entry, or one of the transactions behind it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Line<'a> {
    /// The entry.
    pub entry: &'a Entry,
    /// The transaction; `None` for an entry without details.
    pub transaction: Option<&'a Transaction>,
}

impl Direction {
    /// A value with the direction's sign: debits are negative. `None` for an unknown code.
    #[must_use]
    pub fn apply(&self, value: Decimal) -> Option<Decimal> {
        match self {
            Self::Credit => Some(value),
            // Zero has no sign; negated, it would be spelled -0.
            Self::Debit => Some(if value.is_zero() { value } else { -value }),
            Self::Other(_) => None,
        }
    }
}

impl Entry {
    /// The transactions behind the entry, in all its details.
    pub fn transactions(&self) -> impl Iterator<Item = &Transaction> {
        self.details.iter().flat_map(|details| details.transactions.iter())
    }

    /// One line per transaction, or one for the entry itself where none are detailed.
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let alone = self.transactions().next().is_none();
        let own = alone.then_some(Line { entry: self, transaction: None });
        own.into_iter()
            .chain(self.transactions().map(|transaction| Line { entry: self, transaction: Some(transaction) }))
    }

    /// The amount as it changes the account: debits are negative. `None` for an unknown direction.
    #[must_use]
    pub fn signed_amount(&self) -> Option<Decimal> {
        self.direction.apply(self.amount.value())
    }

    /// The unstructured remittance text of all transactions. Pieces of one transaction are joined without a separator,
    /// transactions with a line feed.
    #[must_use]
    pub fn narrative(&self) -> String {
        let texts: Vec<String> =
            self.transactions().map(Transaction::narrative).filter(|text| !text.is_empty()).collect();
        texts.join("\n")
    }

    /// The counterparty: that of the first transaction that names one.
    #[must_use]
    pub fn counterparty(&self) -> Option<&Party> {
        self.lines().find_map(|line| line.counterparty())
    }

    /// The name of the counterparty.
    #[must_use]
    pub fn counterparty_name(&self) -> Option<&str> {
        self.counterparty()?.name.as_ref().map(Text::as_str)
    }

    /// All references of the entry and its transactions: the wire name, or the kind of a proprietary one, and the text.
    pub fn references(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = [("NtryRef", &self.reference), ("AcctSvcrRef", &self.servicer_reference)];
        let own = own.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?.as_str())));
        own.chain(self.transactions().flat_map(Transaction::references))
    }
}

impl Transaction {
    /// The amount as it changes the account: debits are negative. `None` for an unknown direction.
    #[must_use]
    pub fn signed_amount(&self) -> Option<Decimal> {
        self.direction.apply(self.amount.value())
    }

    /// The unstructured remittance text, its pieces joined without a separator.
    #[must_use]
    pub fn narrative(&self) -> String {
        self.remittance.as_ref().map(Remittance::narrative).unwrap_or_default()
    }

    /// All references: the wire name, or the kind of a proprietary one, and the text.
    pub fn references(&self) -> impl Iterator<Item = (&str, &str)> {
        self.references.iter().flat_map(|references| references.all())
    }
}

impl References {
    /// All references: the wire name, or the kind of a proprietary one, and the text.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        let named = [
            ("MsgId", &self.message_id),
            ("AcctSvcrRef", &self.servicer_reference),
            ("PmtInfId", &self.payment_information_id),
            ("InstrId", &self.instruction_id),
            ("EndToEndId", &self.end_to_end_id),
            ("TxId", &self.transaction_id),
            ("MndtId", &self.mandate_id),
            ("ChqNb", &self.cheque_number),
            ("ClrSysRef", &self.clearing_reference),
            ("AcctOwnrTxId", &self.owner_transaction_id),
            ("AcctSvcrTxId", &self.servicer_transaction_id),
            ("MktInfrstrctrTxId", &self.market_infrastructure_id),
            ("PrcgId", &self.processing_id),
        ];
        let named = named.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?.as_str())));
        named.chain(self.proprietary.iter().map(|other| (other.kind.as_str(), other.reference.as_str())))
    }
}

impl Remittance {
    /// A narrative, cut into pieces of 140 code points. An empty text gives no piece.
    #[must_use]
    pub fn from_narrative(text: &str) -> Self {
        let mut remittance = Self::default();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.char_indices().nth(PIECE).map_or(rest.len(), |(end, _)| end);
            let (piece, after) = rest.split_at(end);
            remittance.unstructured.push(piece.into());
            rest = after;
        }
        remittance
    }

    /// The unstructured pieces joined without a separator.
    #[must_use]
    pub fn narrative(&self) -> String {
        self.unstructured.iter().map(Text::as_str).collect()
    }
}

impl<'a> Line<'a> {
    /// The amount of the line.
    #[must_use]
    pub fn amount(&self) -> &'a Amount {
        self.transaction.map_or(&self.entry.amount, |transaction| &transaction.amount)
    }

    /// The amount as it changes the account: debits are negative. `None` for an unknown direction.
    #[must_use]
    pub fn signed_amount(&self) -> Option<Decimal> {
        match self.transaction {
            Some(transaction) => transaction.signed_amount(),
            None => self.entry.signed_amount(),
        }
    }

    /// The unstructured remittance text.
    #[must_use]
    pub fn narrative(&self) -> String {
        self.transaction.map(Transaction::narrative).unwrap_or_default()
    }

    /// The counterparty: the debtor of a credit, the creditor of a debit. For a reversal it is the other way round,
    /// because its parties keep the roles that they had in the reversed payment.
    #[must_use]
    pub fn counterparty(&self) -> Option<&'a Party> {
        let parties = self.parties()?;
        if self.is_incoming()? { parties.debtor.as_deref() } else { parties.creditor.as_deref() }
    }

    /// The account of the counterparty.
    #[must_use]
    pub fn counterparty_account(&self) -> Option<&'a CounterpartyAccount> {
        let parties = self.parties()?;
        if self.is_incoming()? { parties.debtor_account.as_deref() } else { parties.creditor_account.as_deref() }
    }

    fn parties(&self) -> Option<&'a TransactionParties> {
        self.transaction?.parties.as_deref()
    }

    fn is_incoming(&self) -> Option<bool> {
        let direction = self.transaction.map_or(&self.entry.direction, |transaction| &transaction.direction);
        let reversal = self.entry.reversal == Some(true);
        match direction {
            Direction::Credit => Some(!reversal),
            Direction::Debit => Some(reversal),
            Direction::Other(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_debit_of_nothing_has_no_sign() {
        let signed = |value, scale| Direction::Debit.apply(Decimal::new(value, scale)).map(|signed| signed.to_string());
        assert_eq!(signed(0, 2).as_deref(), Some("0.00"));
        assert_eq!(signed(5, 2).as_deref(), Some("-0.05"));
    }
}
