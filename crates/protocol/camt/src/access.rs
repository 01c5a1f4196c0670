//! Access to what users of entries ask for: signed amounts, narratives, counterparties, references,
//! lines.

pub(crate) mod balances;
pub(crate) mod choices;
mod summary;

pub(crate) use summary::Total;
pub use summary::{RunningSummary, summary_of, summary_of_amounts};

use crate::*;
use bankrail_values::{Decimal, Money};
use std::borrow::Cow;
use std::collections::HashSet;

/// The most code points of one `Ustrd`.
const PIECE: usize = 140;

/// One line of an account's history: an entry, or one of the transactions behind it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct EntryLine<'a> {
    /// The entry.
    pub entry: &'a Entry,
    /// The transaction; `None` for an entry without details.
    pub transaction: Option<&'a Transaction>,
}

impl Direction {
    /// Returns a value with the direction's sign: debits are negative. `None` for an unknown code.
    #[must_use]
    pub fn apply(&self, value: Decimal) -> Option<Decimal> {
        match self {
            Self::Credit => Some(value),
            // Zero has no sign; negated, it would be spelled -0.
            Self::Debit => Some(if value.is_zero() { value } else { -value }),
            Self::Other(_) => None,
        }
    }

    pub(crate) fn apply_to_money(&self, amount: &Amount) -> Option<Money> {
        let money = amount.to_money()?;
        Some(Money::new(self.apply(money.amount())?, money.currency()))
    }
}

impl Entry {
    /// Returns the transactions behind the entry, in all its details.
    pub fn transactions(&self) -> impl Iterator<Item = &Transaction> {
        self.details
            .iter()
            .flat_map(|details| details.transactions.iter())
    }

    /// Returns one line per transaction, or one for the entry itself where none are detailed.
    pub fn lines(&self) -> impl Iterator<Item = EntryLine<'_>> {
        let alone = self.transactions().next().is_none();
        let own = alone.then_some(EntryLine {
            entry: self,
            transaction: None,
        });
        own.into_iter()
            .chain(self.transactions().map(|transaction| EntryLine {
                entry: self,
                transaction: Some(transaction),
            }))
    }

    /// Returns the amount as it changes the account: debits are negative. `None` for an unknown
    /// direction.
    #[must_use]
    pub fn signed_amount(&self) -> Option<Decimal> {
        self.direction.apply(self.amount.value())
    }

    /// Returns the [signed amount](Self::signed_amount) in its currency. `None` also without a
    /// well-formed currency code.
    #[must_use]
    pub fn signed_money(&self) -> Option<Money> {
        self.direction.apply_to_money(&self.amount)
    }

    /// Returns the texts of the entry: the [narrative](Transaction::narrative) of each transaction
    /// in turn, then `AddtlNtryInf`. Each text stands on its own line, and a repeated line is left
    /// out.
    #[must_use]
    pub fn narrative(&self) -> String {
        let mut lines = Vec::new();
        self.transactions()
            .for_each(|transaction| transaction.texts(&mut lines));
        lines.extend(
            self.additional_information
                .as_ref()
                .map(|text| text.as_str().into()),
        );
        joined(lines)
    }

    /// Returns the counterparty: that of the first transaction that names one.
    #[must_use]
    pub fn counterparty(&self) -> Option<&Party> {
        self.lines().find_map(|line| line.counterparty())
    }

    /// Returns the name of the counterparty.
    #[must_use]
    pub fn counterparty_name(&self) -> Option<&str> {
        self.counterparty()?.name.as_ref().map(Text::as_str)
    }

    /// Returns all references of the entry and its transactions: the wire name, or the kind of a
    /// proprietary one, and the text.
    pub fn references(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = [
            ("NtryRef", &self.reference),
            ("AcctSvcrRef", &self.servicer_reference),
        ];
        let own = own
            .into_iter()
            .filter_map(|(name, text)| Some((name, text.as_ref()?.as_str())));
        own.chain(self.transactions().flat_map(Transaction::references))
    }
}

impl Transaction {
    /// Makes a transaction with all that the schema demands.
    #[must_use]
    pub fn with_amount(amount: Amount, direction: Direction) -> Self {
        Self {
            amount: Some(amount),
            direction: Some(direction),
            ..Self::new()
        }
    }

    /// Returns the amount as it changes the account: debits are negative. `None` without an amount,
    /// without a direction, or with an unknown one.
    #[must_use]
    pub fn signed_amount(&self) -> Option<Decimal> {
        self.direction
            .as_ref()?
            .apply(self.amount.as_ref()?.value())
    }

    /// Returns the texts of the transaction: the [narrative](Remittance::narrative) of its
    /// remittance information, then `AddtlTxInf`. Each text stands on its own line, and a repeated
    /// line is left out.
    #[must_use]
    pub fn narrative(&self) -> String {
        let mut lines = Vec::new();
        self.texts(&mut lines);
        joined(lines)
    }

    fn texts<'a>(&'a self, lines: &mut Vec<Cow<'a, str>>) {
        if let Some(remittance) = &self.remittance {
            remittance.texts(lines);
        }
        lines.extend(
            self.additional_information
                .as_ref()
                .map(|text| text.as_str().into()),
        );
    }

    /// Returns all references: the wire name, or the kind of a proprietary one, and the text.
    pub fn references(&self) -> impl Iterator<Item = (&str, &str)> {
        self.references
            .iter()
            .flat_map(|references| references.all())
    }
}

impl References {
    /// Returns all references: the wire name, or the kind of a proprietary one, and the text.
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
        let named = named
            .into_iter()
            .filter_map(|(name, text)| Some((name, text.as_ref()?.as_str())));
        named.chain(
            self.proprietary
                .iter()
                .map(|other| (other.kind.as_str(), other.reference.as_str())),
        )
    }
}

impl Remittance {
    /// Makes remittance information from a narrative, cut into pieces of 140 code points. An empty
    /// text gives no piece.
    #[must_use]
    pub fn from_narrative(text: &str) -> Self {
        let mut remittance = Self::default();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest
                .char_indices()
                .nth(PIECE)
                .map_or(rest.len(), |(end, _)| end);
            let (piece, after) = rest.split_at(end);
            remittance.unstructured.push(piece.into());
            rest = after;
        }
        remittance
    }

    /// Returns the texts of the remittance information: the pieces of `Ustrd` joined without a
    /// separator, then of each `Strd` the creditor's reference (`CdtrRefInf/Ref`), the numbers of
    /// the documents (`RfrdDocInf/Nb`) and each `AddtlRmtInf`. Each text stands on its own line,
    /// and a repeated line is left out.
    #[must_use]
    pub fn narrative(&self) -> String {
        let mut lines = Vec::new();
        self.texts(&mut lines);
        joined(lines)
    }

    fn texts<'a>(&'a self, lines: &mut Vec<Cow<'a, str>>) {
        lines.push(self.unstructured.iter().map(Text::as_str).collect());
        for part in &self.structured {
            let reference = part
                .creditor_reference
                .as_ref()
                .and_then(|reference| reference.reference.as_ref());
            lines.extend(reference.map(|reference| reference.as_str().into()));
            let numbers = part
                .documents
                .iter()
                .filter_map(|document| document.number.as_ref());
            lines.extend(numbers.map(|number| number.as_str().into()));
            lines.extend(
                part.additional_information
                    .iter()
                    .map(|text| text.as_str().into()),
            );
        }
    }
}

impl<'a> EntryLine<'a> {
    /// Returns the amount of the line: that of the transaction; that of the entry where there is
    /// none, or where the only transaction of the entry states none. `None` for one of several that
    /// states none.
    #[must_use]
    pub fn amount(&self) -> Option<&'a Amount> {
        match self.transaction {
            None => Some(&self.entry.amount),
            Some(transaction) => {
                let alone = self.entry.transactions().nth(1).is_none();
                transaction
                    .amount
                    .as_ref()
                    .or(alone.then_some(&self.entry.amount))
            }
        }
    }

    /// Returns the direction of the line: that of the transaction; that of the entry where there is
    /// none, or where the transaction states none.
    #[must_use]
    pub fn direction(&self) -> &'a Direction {
        let own = self
            .transaction
            .and_then(|transaction| transaction.direction.as_ref());
        own.unwrap_or(&self.entry.direction)
    }

    /// Returns the amount as it changes the account: debits are negative. `None` without an amount,
    /// or for an unknown direction.
    #[must_use]
    pub fn signed_amount(&self) -> Option<Decimal> {
        self.direction().apply(self.amount()?.value())
    }

    /// Returns the [signed amount](Self::signed_amount) in its currency. `None` also without a
    /// well-formed currency code.
    #[must_use]
    pub fn signed_money(&self) -> Option<Money> {
        self.direction().apply_to_money(self.amount()?)
    }

    /// Returns the texts of the line: the [narrative](Transaction::narrative) of the transaction,
    /// or `AddtlNtryInf` of the whole entry where there is no transaction or it has no text.
    #[must_use]
    pub fn narrative(&self) -> String {
        let own = self
            .transaction
            .map(Transaction::narrative)
            .filter(|text| !text.is_empty());
        let whole = || {
            self.entry
                .additional_information
                .as_ref()
                .map(|text| text.as_str().to_owned())
        };
        own.or_else(whole).unwrap_or_default()
    }

    /// Returns the counterparty: the debtor of a credit, the creditor of a debit. For a reversal it
    /// is the other way round, because its parties keep the roles that they had in the reversed
    /// payment.
    #[must_use]
    pub fn counterparty(&self) -> Option<&'a Party> {
        let parties = self.parties()?;
        if self.is_incoming()? {
            parties.debtor.as_deref()
        } else {
            parties.creditor.as_deref()
        }
    }

    /// Returns the account of the counterparty.
    #[must_use]
    pub fn counterparty_account(&self) -> Option<&'a CounterpartyAccount> {
        let parties = self.parties()?;
        if self.is_incoming()? {
            parties.debtor_account.as_deref()
        } else {
            parties.creditor_account.as_deref()
        }
    }

    fn parties(&self) -> Option<&'a TransactionParties> {
        self.transaction?.parties.as_deref()
    }

    fn is_incoming(&self) -> Option<bool> {
        let reversal = self.entry.reversal == Some(true);
        match self.direction() {
            Direction::Credit => Some(!reversal),
            Direction::Debit => Some(reversal),
            Direction::Other(_) => None,
        }
    }
}

/// Texts one below the other, each once, without those that are empty.
fn joined(mut texts: Vec<Cow<'_, str>>) -> String {
    let mut seen = HashSet::new();
    texts.retain(|text| !text.is_empty() && seen.insert(text.clone()));
    texts.join("\n")
}
