//! Access to the figures and texts that users of entries need: signed amounts, narratives,
//! counterparties, references and lines.

pub(crate) mod balances;
pub(crate) mod choices;
mod summary;

pub(crate) use summary::Total;
pub use summary::{RunningSummary, summary_of, summary_of_amounts};

use crate::*;
use bankrail_values::{Decimal, Money};
use std::borrow::Cow;
use std::collections::HashSet;

/// The maximum number of code points of one `Ustrd`.
const MAX_PIECE_CHARACTERS: usize = 140;

/// One line of an account's history: an entry, or one of the transactions behind it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct EntryLine<'a> {
    /// The entry.
    pub entry: &'a Entry,
    /// The transaction; `None` for an entry without details.
    pub transaction: Option<&'a Transaction>,
    /// The number of the transaction within the entry, from 1; 0 for an entry without details.
    /// Together with the entry's identifier it identifies the line.
    pub number: usize,
    /// The account that the entry is about; `None` from [`Entry::lines`], which does not know the
    /// account.
    pub account: Option<&'a Account>,
}

/// One side of a payment.
struct Side<'a> {
    party: Option<&'a PartyOrAgent>,
    ultimate: Option<&'a PartyOrAgent>,
    account: Option<&'a CounterpartyAccount>,
}

impl Direction {
    /// Returns a value with the direction's sign: debits are negative. `None` for an unknown code.
    #[must_use]
    pub fn apply(&self, value: Decimal) -> Option<Decimal> {
        match self {
            Self::Credit => Some(value),
            // Zero must stay without a sign: negated, it would be spelled -0.
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

    /// Returns one line per transaction, or one line for the entry itself if it has no
    /// transactions.
    pub fn lines(&self) -> impl Iterator<Item = EntryLine<'_>> {
        self.lines_on(None)
    }

    /// Returns the [lines](Self::lines) of an entry of an account, so that the account's own party
    /// is never taken for the counterparty.
    pub fn lines_on<'a>(
        &'a self,
        account: Option<&'a Account>,
    ) -> impl Iterator<Item = EntryLine<'a>> {
        let line = move |number, transaction| EntryLine {
            entry: self,
            transaction,
            number,
            account,
        };
        let alone = self.transactions().next().is_none();
        let own = alone.then(|| line(0, None));
        let transactions = self.transactions().enumerate();
        own.into_iter()
            .chain(transactions.map(move |(index, own)| line(index + 1, Some(own))))
    }

    /// Returns the amount as it changes the account: debits are negative. `None` for an unknown
    /// direction.
    #[must_use]
    pub fn signed_amount(&self) -> Option<Decimal> {
        self.direction.apply(self.amount.value())
    }

    /// Returns the [signed amount](Self::signed_amount) in its currency. Also returns `None`
    /// without a well-formed currency code.
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

    /// Returns the counterparty of the first transaction that names one.
    /// [`lines_on`](Self::lines_on) also excludes the parties of the account.
    #[must_use]
    pub fn counterparty(&self) -> Option<&Party> {
        self.lines().find_map(|line| line.counterparty())
    }

    /// Returns the name of the counterparty.
    #[must_use]
    pub fn counterparty_name(&self) -> Option<&str> {
        self.lines().find_map(|line| line.counterparty_name())
    }

    /// Returns all references of the entry and its transactions that are not empty, each with its
    /// wire name, or the kind of a proprietary reference, and its text.
    pub fn references(&self) -> impl Iterator<Item = (&str, &str)> {
        self.own_references()
            .chain(self.transactions().flat_map(Transaction::references))
    }

    fn own_references(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = [
            ("NtryRef", &self.reference),
            ("AcctSvcrRef", &self.servicer_reference),
        ];
        own.into_iter()
            .filter_map(|(name, text)| Some((name, text.as_ref()?.as_str())))
            .filter(has_text)
    }
}

impl Transaction {
    /// Makes a transaction with the parts that the schema demands.
    #[must_use]
    pub fn with_amount(amount: Amount, direction: Direction) -> Self {
        Self {
            amount: Some(amount),
            direction: Some(direction),
            ..Self::new()
        }
    }

    /// Returns the amount as it changes the account: debits are negative. `None` without an amount
    /// or a direction, or with an unknown direction.
    #[must_use]
    pub fn signed_amount(&self) -> Option<Decimal> {
        self.direction
            .as_ref()?
            .apply(self.amount.as_ref()?.value())
    }

    /// Returns the texts of the transaction: the [narrative](Remittance::narrative) of its
    /// remittance information, then the reason of a return (`RtrInf`: the code and each
    /// `AddtlInf`), then `AddtlTxInf`. Each text stands on its own line, and a repeated line is
    /// left out.
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
        if let Some(returned) = &self.return_information {
            let reason = returned.reason.as_ref().and_then(ReturnReason::as_str);
            lines.extend(reason.map(Cow::from));
            pieces(&returned.additional_information, lines);
        }
        lines.extend(
            self.additional_information
                .as_ref()
                .map(|text| text.as_str().into()),
        );
    }

    /// Returns all references, each with its wire name, or the kind of a proprietary reference, and
    /// its text.
    pub fn references(&self) -> impl Iterator<Item = (&str, &str)> {
        self.references
            .iter()
            .flat_map(|references| references.all())
    }
}

impl References {
    /// Returns all references that are not empty, each with its wire name, or the kind of a
    /// proprietary reference, and its text.
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
        let uetr = self.uetr.iter().map(|uetr| ("UETR", uetr.as_str()));
        let proprietary = self.proprietary.iter();
        named
            .chain(uetr)
            .chain(proprietary.map(|other| (other.kind.as_str(), other.reference.as_str())))
            .filter(has_text)
    }
}

/// Returns true for a reference that is not empty.
fn has_text((_, text): &(&str, &str)) -> bool {
    !text.trim().is_empty()
}

impl Remittance {
    /// Makes remittance information from a narrative, cut into pieces of 140 code points. An empty
    /// text makes no piece.
    #[must_use]
    pub fn from_narrative(text: &str) -> Self {
        let mut remittance = Self::default();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest
                .char_indices()
                .nth(MAX_PIECE_CHARACTERS)
                .map_or(rest.len(), |(end, _)| end);
            let (piece, after) = rest.split_at(end);
            remittance.unstructured.push(piece.into());
            rest = after;
        }
        remittance
    }

    /// Returns the texts of the remittance information: each `Ustrd`, then for each `Strd` the
    /// creditor's reference (`CdtrRefInf/Ref`), the numbers of the documents (`RfrdDocInf/Nb`) and
    /// each `AddtlRmtInf`. Each text stands on its own line, and a repeated line is left out. A
    /// text of exactly 140 code points is taken as cut, and joined with the next one.
    #[must_use]
    pub fn narrative(&self) -> String {
        let mut lines = Vec::new();
        self.texts(&mut lines);
        joined(lines)
    }

    fn texts<'a>(&'a self, lines: &mut Vec<Cow<'a, str>>) {
        pieces(&self.unstructured, lines);
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
            pieces(&part.additional_information, lines);
        }
    }
}

impl<'a> EntryLine<'a> {
    /// Returns the amount of the line: that of the transaction, or that of the entry if there is no
    /// transaction or the only one states no amount. `None` for one of several transactions that
    /// states no amount. See [`account_money`](Self::account_money) for payments in another
    /// currency.
    #[must_use]
    pub fn amount(&self) -> Option<&'a Amount> {
        self.own_amount().or(self.whole())
    }

    fn own_amount(&self) -> Option<&'a Amount> {
        self.transaction?.amount.as_ref()
    }

    /// Returns the amount of the entry, unless it has several transactions.
    fn whole(&self) -> Option<&'a Amount> {
        let alone = self.entry.transactions().nth(1).is_none();
        alone.then_some(&self.entry.amount)
    }

    /// Returns the direction of the line: that of the transaction, or that of the entry if there is
    /// no transaction or it states no direction.
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

    /// Returns the [signed amount](Self::signed_amount) in its currency. Also returns `None`
    /// without a well-formed currency code.
    #[must_use]
    pub fn signed_money(&self) -> Option<Money> {
        self.direction().apply_to_money(self.amount()?)
    }

    /// Returns the signed amount in the entry's currency, which is that of the account.
    ///
    /// The amount is the first of these that is in that currency: the transaction's amount, its
    /// counter value (`AmtDtls/CntrValAmt`), the amount between the banks (`TxAmt`), the entry's
    /// amount if this is the only transaction, and the amount as ordered (`InstdAmt`). `None` if
    /// the document has none of them.
    #[must_use]
    pub fn account_money(&self) -> Option<Money> {
        let details = self
            .transaction
            .and_then(|transaction| transaction.amount_details.as_deref());
        let detail = |of: fn(&AmountDetails) -> &Option<Box<ExchangedAmount>>| {
            Some(&of(details?).as_deref()?.amount)
        };
        let own = [
            self.own_amount(),
            detail(|details| &details.counter_value),
            detail(|details| &details.transaction),
        ];
        let ordered = detail(|details| &details.instructed);
        let found = own.into_iter().chain([self.whole(), ordered]).flatten();
        let mut found = found.filter(|amount| amount.currency() == self.entry.amount.currency());
        self.direction().apply_to_money(found.next()?)
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

    /// Returns all references of the line: those of the entry and of the transaction, each with its
    /// wire name, or the kind of a proprietary reference.
    pub fn references(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let own = self.transaction.into_iter();
        self.entry
            .own_references()
            .chain(own.flat_map(Transaction::references))
    }

    /// Returns the debtor's reference (`EndToEndId`), as written: which is `NOTPROVIDED` if the
    /// debtor gave none.
    #[must_use]
    pub fn end_to_end_id(&self) -> Option<&'a str> {
        let references = self.transaction?.references.as_deref()?;
        let id = references.end_to_end_id.as_ref().map(Text::as_str);
        id.filter(|id| !id.trim().is_empty())
    }

    /// Returns the counterparty: the debtor of a credit, the creditor of a debit. For a reversal or
    /// a return (`RtrInf`) the two are exchanged, because the parties keep the roles that they had
    /// in the payment. If only the ultimate party has a name, the ultimate party is the
    /// counterparty.
    ///
    /// If the [account](Self::account) is known, its own party is never the counterparty: the side
    /// of the payment with the account is the account's own, and the other side is the
    /// counterparty's. In a reversal or a return, the servicer may have exchanged the roles
    /// already. A side with another account, such as a virtual one, is then the account's own if
    /// its party has the name of the account's owner, unless both sides have that name.
    #[must_use]
    pub fn counterparty(&self) -> Option<&'a Party> {
        self.other_party()?.party()
    }

    /// Returns the name of the [counterparty](Self::counterparty), which may also be an agent.
    #[must_use]
    pub fn counterparty_name(&self) -> Option<&'a str> {
        self.other_party()?.name()
    }

    fn other_party(&self) -> Option<&'a PartyOrAgent> {
        let (side, _) = self.sides()?;
        let named = |party: &&PartyOrAgent| party.name().is_some();
        let first = side.party.filter(named).or(side.ultimate);
        first.or(side.party)
    }

    /// Returns the party on whose behalf the [counterparty](Self::counterparty) paid, or for whom
    /// it was paid (`UltmtDbtr`, `UltmtCdtr`).
    #[must_use]
    pub fn ultimate_counterparty(&self) -> Option<&'a Party> {
        self.sides()?.0.ultimate?.party()
    }

    /// Returns the account of the counterparty.
    #[must_use]
    pub fn counterparty_account(&self) -> Option<&'a CounterpartyAccount> {
        self.sides()?.0.account
    }

    /// Returns the account on the side of the entry's account, such as a virtual account that
    /// belongs to it.
    #[must_use]
    pub fn own_account(&self) -> Option<&'a CounterpartyAccount> {
        self.sides()?.1.account
    }

    /// Returns the side of the counterparty and that of the account. Also returns `None` if both
    /// sides are the account's own.
    fn sides(&self) -> Option<(Side<'a>, Side<'a>)> {
        let (other, own) = self.roles()?;
        let is_own = |side: &Side<'_>| {
            let id = side.account.and_then(|own| own.id.as_str());
            let is_id = |id| {
                self.account
                    .is_some_and(|account| account.id.as_str() == Some(id))
            };
            id.map_or_else(|| self.is_of_owner(side), is_id)
        };
        match (is_own(&other), is_own(&own)) {
            // The servicer may already have exchanged the roles of a returned payment.
            (false, false)
                if self.is_back() && self.is_of_owner(&other) && !self.is_of_owner(&own) =>
            {
                Some((own, other))
            }
            (false, _) => Some((other, own)),
            (true, false) => Some((own, other)),
            (true, true) => None,
        }
    }

    /// Returns true for a reversal or a return.
    fn is_back(&self) -> bool {
        let returned = |own: &Transaction| own.return_information.is_some();
        self.entry.reversal == Some(true) || self.transaction.is_some_and(returned)
    }

    /// Returns true if the party of a side has the name of the account's owner.
    fn is_of_owner(&self, side: &Side<'_>) -> bool {
        let name = side.party.and_then(PartyOrAgent::name);
        let owner = self.account.and_then(|account| account.owner.as_deref());
        name.is_some() && name == owner.and_then(|owner| Some(owner.name.as_ref()?.as_str()))
    }

    /// Returns the side of the counterparty and that of the account, by their roles alone.
    fn roles(&self) -> Option<(Side<'a>, Side<'a>)> {
        let transaction = self.transaction?;
        let parties = transaction.parties.as_deref()?;
        let debtor = Side {
            party: parties.debtor.as_deref(),
            ultimate: parties.ultimate_debtor.as_deref(),
            account: parties.debtor_account.as_deref(),
        };
        let creditor = Side {
            party: parties.creditor.as_deref(),
            ultimate: parties.ultimate_creditor.as_deref(),
            account: parties.creditor_account.as_deref(),
        };
        match self.direction() {
            Direction::Other(_) => None,
            direction if (*direction == Direction::Credit) != self.is_back() => {
                Some((debtor, creditor))
            }
            _ => Some((creditor, debtor)),
        }
    }
}

/// Adds a line for each text. A text of the greatest length was cut there, and the next one
/// continues it.
fn pieces<'a, const MAX: usize>(texts: &'a [Text<MAX>], lines: &mut Vec<Cow<'a, str>>) {
    let mut cut = false;
    for text in texts.iter().map(Text::as_str) {
        match lines.last_mut().filter(|_| cut) {
            Some(line) => line.to_mut().push_str(text),
            None => lines.push(text.into()),
        }
        cut = text.chars().count() == MAX;
    }
}

/// Joins texts with line ends, leaving out repeated and empty ones.
fn joined(mut texts: Vec<Cow<'_, str>>) -> String {
    let mut seen = HashSet::new();
    texts.retain(|text| !text.is_empty() && seen.insert(text.clone()));
    texts.join("\n")
}
