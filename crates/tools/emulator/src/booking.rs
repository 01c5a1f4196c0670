//! Entries to book.

use bankrail_camt052::{BuildError, Entry, EntryBuilder};
use bankrail_statement::EntryChannel;
use bankrail_values::{Date, Money};

/// An entry to book on an account of a [`FakeBank`](crate::FakeBank).
///
/// - Default: an entry of the fast-payment channel, booked on the bank's current day, listed last
///   on its day, with a unique reference of the bank.
/// - Two equal bookings [without a reference](FakeBooking::without_reference) are two payments that
///   cannot be distinguished.
///
/// ```
/// use bankrail_emulator::FakeBooking;
/// let paid = FakeBooking::new("25.00 AUD").narrative("invoice 2041 👍").party("Jarrah Joinery");
/// let fee = FakeBooking::new("-1.50 AUD").ordinary().without_reference();
/// # let _ = (paid, fee);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FakeBooking {
    amount: Money,
    reference: Reference,
    channel: EntryChannel,
    party: Option<String>,
    narrative: String,
    virtual_account: Option<(String, String)>,
    pub(crate) day: Option<Date>,
    pub(crate) first: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Reference {
    Own,
    Given(String),
    None,
}

impl FakeBooking {
    /// Returns an entry of an amount and a currency, such as `25.00 AUD`: a credit, or a debit if
    /// the amount is negative.
    ///
    /// # Panics
    /// If the text is no amount of money.
    #[must_use]
    #[track_caller]
    pub fn new(amount: &str) -> Self {
        let amount = amount
            .parse()
            .unwrap_or_else(|error| panic!("a booking of {amount:?}: {error}"));
        Self {
            amount,
            reference: Reference::Own,
            channel: EntryChannel::FastPayment,
            party: None,
            narrative: String::new(),
            virtual_account: None,
            day: None,
            first: false,
        }
    }

    /// Sets the remittance text (`RmtInf/Ustrd`): any Unicode characters.
    #[must_use]
    pub fn narrative(mut self, text: impl Into<String>) -> Self {
        self.narrative = text.into();
        self
    }

    /// Sets the other party's name: the debtor of a credit, the creditor of a debit.
    #[must_use]
    pub fn party(mut self, name: impl Into<String>) -> Self {
        self.party = Some(name.into());
        self
    }

    /// Sets the bank's reference (`Refs/AcctSvcrRef`), which several entries may share. By default
    /// each entry has its own.
    #[must_use]
    pub fn reference(mut self, reference: impl Into<String>) -> Self {
        self.reference = Reference::Given(reference.into());
        self
    }

    /// Removes the reference, because ordinary entries have none (Default: "Statement exchange").
    #[must_use]
    pub fn without_reference(mut self) -> Self {
        self.reference = Reference::None;
        self
    }

    /// Makes the entry one of a channel other than the fast-payment channel. Such an entry keeps
    /// its party and its text when the customer requests no narrative.
    #[must_use]
    pub fn ordinary(mut self) -> Self {
        self.channel = EntryChannel::Ordinary;
        self
    }

    /// Sets the virtual account that a credit is for, and the branch that issued it.
    #[must_use]
    pub fn virtual_account(mut self, number: impl Into<String>, issuer: impl Into<String>) -> Self {
        self.virtual_account = Some((number.into(), issuer.into()));
        self
    }

    /// Sets the booking day. Default: the bank's current day.
    #[must_use]
    pub fn day(mut self, day: Date) -> Self {
        self.day = Some(day);
        self
    }

    /// Lists the entry before all other entries of its day, as if the bank had booked it earlier
    /// and listed it late. Default: the entry is listed last.
    #[must_use]
    pub fn listed_first(mut self) -> Self {
        self.first = true;
        self
    }

    pub(crate) fn amount(&self) -> Money {
        self.amount
    }

    pub(crate) fn channel(&self) -> EntryChannel {
        self.channel
    }

    /// Returns the entry, with `own` as the reference of a booking without one.
    pub(crate) fn entry(&self, day: Date, own: &str) -> Result<Entry, BuildError> {
        let is_credit = !self.amount.amount().is_sign_negative();
        let family = if is_credit { "RCDT" } else { "ICDT" };
        let mut entry = EntryBuilder::new(self.amount, day)
            .bank_transaction_code("PMNT", family, "DMCT")
            .narrative(&self.narrative);
        match &self.reference {
            Reference::Own => entry = entry.servicer_reference(own),
            Reference::Given(reference) => entry = entry.servicer_reference(reference),
            Reference::None => {}
        }
        if let Some(name) = &self.party {
            entry = if is_credit {
                entry.debtor(name)
            } else {
                entry.creditor(name)
            };
        }
        if let Some((number, issuer)) = &self.virtual_account {
            entry = entry.creditor_account(number, Some(issuer));
        }
        entry.build()
    }
}

/// A handle of a booked entry, which corrects or removes the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FakeEntryId(pub(crate) u64);
