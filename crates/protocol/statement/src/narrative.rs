//! The parts of an entry that `includeNarrative` shows and hides (Specification: "Request
//! statement").
//!
//! - True: an entry of the fast-payment channel has related parties (`RltdPties`) and unstructured
//!   remittance text (`Ustrd`). A credit to a virtual account also has its number and the issuing
//!   branch (`CdtrAcct/Id/Othr`, `Id` and `Issr`).
//! - False: an entry of the fast-payment channel has neither, and no credit of an account with
//!   virtual accounts, or reversal of one, names its creditor account. All else stays: entries of
//!   other channels keep their parties and text, and an ordinary account's credits their creditor
//!   account (Default).

use bankrail_camt052::{
    AccountIdentification, CounterpartyAccount, Direction, Entry, OtherAccountId, Text,
    Transaction, TransactionParties,
};

/// The channel of an entry's payment. The message does not have the channel; the ledger has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EntryChannel {
    /// The fast-payment channel.
    FastPayment,
    /// Any other channel.
    Ordinary,
}

/// Kinds of accounts: without or with virtual accounts. The message does not have the kind; the
/// ledger has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AccountKind {
    /// An account without virtual accounts.
    #[default]
    Ordinary,
    /// An account with virtual accounts: the creditor account of a credit is one of them.
    WithVirtualAccounts,
}

/// Removes the parts of an entry that `includeNarrative: false` hides; does nothing if
/// `includeNarrative` is true. The account decides on virtual accounts and the channel on parties
/// and text, regardless of the entry's content.
#[doc(hidden)]
pub fn apply_narrative(
    entry: &mut Entry,
    channel: EntryChannel,
    account: AccountKind,
    include_narrative: bool,
) {
    if include_narrative {
        return;
    }
    if account == AccountKind::WithVirtualAccounts {
        hide_creditor_accounts(entry);
    }
    if channel == EntryChannel::FastPayment {
        strip_narrative(entry);
    }
}

/// Removes the creditor account from all credits of an entry, and from all transactions of a
/// reversal or return: a credit that is reversed is a debit, and names the same account.
fn hide_creditor_accounts(entry: &mut Entry) {
    let every = entry.reversal == Some(true);
    for transaction in chosen(entry, move |transaction, direction| {
        every || transaction.return_information.is_some() || *direction == Direction::Credit
    }) {
        let Some(parties) = &mut transaction.parties else {
            continue;
        };
        if parties.creditor_account.take().is_some() && **parties == TransactionParties::default() {
            transaction.parties = None;
        }
    }
}

/// Returns the credits among an entry's transactions. A transaction that states no direction has
/// that of the entry.
fn credits(entry: &mut Entry) -> impl Iterator<Item = &mut Transaction> {
    chosen(entry, |_, direction| *direction == Direction::Credit)
}

fn chosen(
    entry: &mut Entry,
    wanted: impl Fn(&Transaction, &Direction) -> bool,
) -> impl Iterator<Item = &mut Transaction> {
    let whole = &entry.direction;
    let transactions = entry
        .details
        .iter_mut()
        .flat_map(|details| &mut details.transactions);
    transactions.filter(move |transaction| {
        wanted(transaction, transaction.direction.as_ref().unwrap_or(whole))
    })
}

/// Removes related parties and unstructured remittance text from all transactions of an entry.
/// Structured remittance stays.
#[doc(hidden)]
pub fn strip_narrative(entry: &mut Entry) {
    for transaction in entry
        .details
        .iter_mut()
        .flat_map(|details| &mut details.transactions)
    {
        transaction.parties = None;
        // A second RltdPties or RmtInf is among the elements beyond the schema.
        transaction.extras.clear();
        if let Some(remittance) = &mut transaction.remittance {
            remittance.unstructured.clear();
            // Elements beyond the schema may have the same text.
            remittance.extras.clear();
            if remittance.structured.is_empty() {
                transaction.remittance = None;
            }
        }
    }
}

/// A virtual account: a number within a customer's account, and the branch that issued it.
///
/// The number has 1 to 34 characters and the branch code 1 to 35, the bounds of the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualAccount {
    number: Text<34>,
    issuer: Text<35>,
}

impl VirtualAccount {
    /// Creates a virtual account; `None` if a text is empty or too long.
    #[must_use]
    pub fn new(number: &str, issuer: &str) -> Option<Self> {
        let (number, issuer) = (Text::new(number), Text::new(issuer));
        (number.is_valid() && issuer.is_valid()).then_some(Self { number, issuer })
    }

    /// Returns the number of the virtual account.
    #[must_use]
    pub fn number(&self) -> &str {
        self.number.as_str()
    }

    /// Returns the code of the issuing branch.
    #[must_use]
    pub fn issuer(&self) -> &str {
        self.issuer.as_str()
    }

    /// Sets this account as the creditor's (`CdtrAcct/Id/Othr`) in all credits of an entry. For an
    /// account [with virtual accounts](AccountKind::WithVirtualAccounts), the service removes the
    /// creditor account, for every channel, if `includeNarrative` is false.
    pub fn show_in(&self, entry: &mut Entry) {
        for transaction in credits(entry) {
            let mut id = OtherAccountId::new(self.number.clone());
            id.issuer = Some(self.issuer.clone());
            let account = CounterpartyAccount::new(AccountIdentification::Other(id));
            transaction.parties.get_or_insert_default().creditor_account = Some(Box::new(account));
        }
    }

    /// Returns the virtual account of an entry's first credit; `None` if that names no account of
    /// its payee with an issuing branch. The payee of a returned or reversed payment was its payer.
    #[must_use]
    pub fn of(entry: &Entry) -> Option<Self> {
        let credit = entry
            .lines()
            .find(|line| *line.direction() == Direction::Credit)?;
        match &credit.own_account()?.id {
            AccountIdentification::Other(id) => {
                Self::new(id.id.as_str(), id.issuer.as_ref()?.as_str())
            }
            _ => None,
        }
    }
}
