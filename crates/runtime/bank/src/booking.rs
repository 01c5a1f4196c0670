//! Entries that are made from events on an account.

mod error;
mod kind;

pub use error::{BookingError, BookingMember};
pub use kind::{BookingKind, BookingKindError};

use bankrail_camt052::{Amount, Direction, EntryBuilder, NumberError};
use bankrail_service::LedgerEntry;
use bankrail_values::{Date, Decimal, Money};
use std::collections::BTreeMap;

/// An event on an account, such as a payment or a fee, from which a statement's entry is made.
///
/// - The amount is more than zero; the kind decides on credit or debit.
/// - Texts are any Unicode characters that XML can carry, in the bounds of the message. Texts are
///   checked when the entry is made, and the error names the member.
///
/// ```
/// use bankrail_bank::{Booking, BookingKind};
/// use bankrail_values::Date;
///
/// let today = Date::parse("2021-07-29")?;
/// let fee = Booking::new(BookingKind::Fee, "15.00 AUD".parse()?, today).narrative("Account keeping fee");
/// let paid = Booking::new(BookingKind::FastPaymentIn, "1250 AUD".parse()?, today)
///     .reference("FP0001")
///     .counterparty("Jarrah Joinery")
///     .narrative("Invoice 2041 👍");
/// assert_eq!(fee.to_entry()?.entry.signed_amount().unwrap().to_string(), "-15.00");
/// assert_eq!(paid.to_entry()?.entry.signed_amount().unwrap().to_string(), "1250.00");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Booking {
    kind: BookingKind,
    amount: Money,
    day: Date,
    value_date: Option<Date>,
    reversal: bool,
    texts: BTreeMap<BookingMember, String>,
}

impl Booking {
    /// The maximum number of characters of a narrative (Default: "Statement exchange").
    pub const MAX_NARRATIVE: usize = 280;
    /// The maximum number of characters of a key.
    pub const MAX_KEY: usize = 128;

    /// Creates a booking of an amount, more than zero, on a booking day that is also its value
    /// date. For an event of now, use [`Provider::today`](bankrail_service::Provider::today), not
    /// the day in UTC.
    #[must_use]
    pub fn new(kind: BookingKind, amount: Money, day: Date) -> Self {
        Self {
            kind,
            amount,
            day,
            value_date: None,
            reversal: false,
            texts: BTreeMap::new(),
        }
    }

    /// Sets a text of this name.
    pub(crate) fn text(mut self, member: BookingMember, text: impl Into<String>) -> Self {
        self.texts.insert(member, text.into());
        self
    }

    fn get(&self, member: BookingMember) -> Option<&str> {
        self.texts.get(&member).map(String::as_str)
    }

    /// Sets the value date (`ValDt`). Default: the booking day.
    #[must_use]
    pub fn value_date(mut self, date: Date) -> Self {
        self.value_date = Some(date);
        self
    }

    /// Makes the booking the reversal of an earlier one of this kind: `RvslInd` is true, and the
    /// direction is the opposite one.
    #[must_use]
    pub fn reversal(mut self) -> Self {
        self.reversal = true;
        self
    }

    /// Sets the key with which a ledger recognises a repeated booking: 1 to 128 characters, unique
    /// in the account. The entry does not show the key. Default: the reference.
    #[must_use]
    pub fn key(self, text: impl Into<String>) -> Self {
        self.text(BookingMember::Key, text)
    }

    /// Sets the bank's reference (`Refs/AcctSvcrRef`): 1 to 35 characters. The reference is also
    /// the key of a booking without one.
    #[must_use]
    pub fn reference(self, text: impl Into<String>) -> Self {
        self.text(BookingMember::Reference, text)
    }

    /// Sets the end-to-end identification (`Refs/EndToEndId`): 1 to 35 characters.
    #[must_use]
    pub fn end_to_end_id(self, text: impl Into<String>) -> Self {
        self.text(BookingMember::EndToEndId, text)
    }

    /// Sets the other party's name: the debtor of a credit, the creditor of a debit (`RltdPties`),
    /// 1 to 140 characters. The parties of a reversal keep the roles that they had.
    #[must_use]
    pub fn counterparty(self, text: impl Into<String>) -> Self {
        self.text(BookingMember::Counterparty, text)
    }

    /// Sets the remittance text (`RmtInf/Ustrd`): 1 to 280 characters, in pieces of 140.
    #[must_use]
    pub fn narrative(self, text: impl Into<String>) -> Self {
        self.text(BookingMember::Narrative, text)
    }

    /// Sets the number of the virtual account that a credit is for (`CdtrAcct/Id/Othr/Id`): 1 to
    /// 34 characters.
    #[must_use]
    pub fn virtual_account(self, text: impl Into<String>) -> Self {
        self.text(BookingMember::VirtualAccount, text)
    }

    /// Sets the code of the branch that issued the virtual account (`CdtrAcct/Id/Othr/Issr`): 1 to
    /// 35 characters.
    #[must_use]
    pub fn virtual_account_issuer(self, text: impl Into<String>) -> Self {
        self.text(BookingMember::VirtualAccountIssuer, text)
    }

    /// Sets the mandate of a direct debit (`Refs/MndtId`): 1 to 35 characters.
    #[must_use]
    pub fn mandate(self, text: impl Into<String>) -> Self {
        self.text(BookingMember::Mandate, text)
    }

    /// Sets the number of a cheque (`Refs/ChqNb`): 1 to 35 characters.
    #[must_use]
    pub fn cheque(self, text: impl Into<String>) -> Self {
        self.text(BookingMember::Cheque, text)
    }

    /// Returns the key: [`Booking::key`], or else [`Booking::reference`].
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&str> {
        self.get(BookingMember::Key)
            .or(self.get(BookingMember::Reference))
    }

    /// Makes the entry, with the channel of the kind.
    ///
    /// # Errors
    /// [`BookingError`], which names the member that is wrong.
    pub fn to_entry(&self) -> Result<LedgerEntry, BookingError> {
        let amount = self.checked_amount()?;
        self.check_texts()?;
        self.check_virtual_account()?;
        let is_credit = self.kind.direction() == Direction::Credit;
        let signed = if is_credit == self.reversal {
            -amount.amount()
        } else {
            amount.amount()
        };
        let [domain, family, sub_family] = self.kind.bank_transaction_code();
        let mut entry = EntryBuilder::new(Money::new(signed, amount.currency()), self.day)
            .value_date(self.value_date.unwrap_or(self.day))
            .bank_transaction_code(domain, family, sub_family)
            .narrative(self.get(BookingMember::Narrative).unwrap_or_default());
        if let Some(reference) = self.get(BookingMember::Reference) {
            entry = entry.servicer_reference(reference);
        }
        if let Some(id) = self.get(BookingMember::EndToEndId) {
            entry = entry.end_to_end_id(id);
        }
        if let Some(name) = self.get(BookingMember::Counterparty) {
            entry = if is_credit {
                entry.debtor(name)
            } else {
                entry.creditor(name)
            };
        }
        if let Some(number) = self.get(BookingMember::VirtualAccount) {
            entry = entry.creditor_account(number, self.get(BookingMember::VirtualAccountIssuer));
        }
        let mut entry = entry.build().map_err(BookingError::Entry)?;
        entry.reversal = self.reversal.then_some(true);
        let references =
            [BookingMember::Mandate, BookingMember::Cheque].map(|member| self.get(member));
        if references != [None, None]
            && let Some(transaction) = entry
                .details
                .iter_mut()
                .flat_map(|details| &mut details.transactions)
                .next()
        {
            let [mandate, cheque] = references.map(|text| text.map(Into::into));
            let references = transaction.references.get_or_insert_default();
            (references.mandate_id, references.cheque_number) = (mandate, cheque);
        }
        Ok(LedgerEntry::new(entry, self.kind.channel()))
    }

    /// Returns the amount with its currency's number of decimals.
    fn checked_amount(&self) -> Result<Money, BookingError> {
        let currency = self.amount.currency();
        if !currency.is_listed() {
            return Err(BookingError::UnlistedCurrency);
        }
        if self.amount.amount() <= Decimal::ZERO {
            return Err(BookingError::NotPositive);
        }
        let amount = match (currency.minor_units(), self.amount.rescale_to_minor_units()) {
            // Without minor units no number of decimals is too many.
            (None, _) => self.amount,
            (Some(_), Ok(amount)) => amount,
            (Some(allowed), Err(bankrail_values::MoneyError::NotMinorUnits { .. })) => {
                return Err(BookingError::Decimals { allowed });
            }
            (Some(_), Err(_)) => return Err(BookingError::Digits),
        };
        let fits: Result<Amount, NumberError> = Amount::new(amount.amount(), currency);
        fits.map(|_| amount).map_err(|_| BookingError::Digits)
    }

    fn check_texts(&self) -> Result<(), BookingError> {
        for (member, max) in BookingMember::TEXTS {
            if let Some(text) = self.get(member) {
                check_text(member, text, max)?;
            }
        }
        Ok(())
    }

    fn check_virtual_account(&self) -> Result<(), BookingError> {
        let named = self.get(BookingMember::VirtualAccount).is_some();
        if named && self.kind.direction() == Direction::Debit {
            return Err(BookingError::DebitOfVirtualAccount);
        }
        let issued = self.get(BookingMember::VirtualAccountIssuer).is_some();
        let wanted = issued || self.kind == BookingKind::VirtualAccountCredit;
        if wanted && !named {
            Err(BookingError::NoVirtualAccount)
        } else {
            Ok(())
        }
    }
}

/// Checks that the message can carry a text of 1 to `most` characters.
pub(crate) fn check_text(
    member: BookingMember,
    text: &str,
    most: usize,
) -> Result<(), BookingError> {
    let found = text.chars().count();
    if !(1..=most).contains(&found) {
        return Err(BookingError::Length {
            member,
            most,
            found,
        });
    }
    // XML 1.0, section 2.2, production `Char`.
    let is_xml = |c: &char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    match text.chars().find(|c| !is_xml(c)) {
        Some(found) => Err(BookingError::Character { member, found }),
        None => Ok(()),
    }
}
