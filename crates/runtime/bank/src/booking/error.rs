//! Errors of making an entry from a booking.

use super::Booking;
use bankrail_camt052::BuildError;

/// A member of a [`Booking`]. Its name is that of the setter and of the column in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum BookingMember {
    /// The amount.
    Amount,
    /// The currency of the amount.
    Currency,
    /// The key that identifies a repeated booking.
    Key,
    /// The bank's reference.
    Reference,
    /// The end-to-end identification.
    EndToEndId,
    /// The other party's name.
    Counterparty,
    /// The remittance text.
    Narrative,
    /// The number of the virtual account.
    VirtualAccount,
    /// The branch that issued the virtual account.
    VirtualAccountIssuer,
    /// The mandate's identification.
    Mandate,
    /// The number of the cheque.
    Cheque,
}

impl BookingMember {
    /// The members that are texts, each with its maximum number of characters.
    pub(super) const TEXTS: [(Self, usize); 9] = [
        (Self::Key, Booking::MAX_KEY),
        (Self::Reference, 35),
        (Self::EndToEndId, 35),
        (Self::Counterparty, 140),
        (Self::Narrative, Booking::MAX_NARRATIVE),
        (Self::VirtualAccount, 34),
        (Self::VirtualAccountIssuer, 35),
        (Self::Mandate, 35),
        (Self::Cheque, 35),
    ];

    /// Returns the name, such as `end_to_end_id`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

bankrail_values::impl_display!(BookingMember);

/// The error of a [`Booking`] from which no entry can be made. The error shows no value of the
/// booking.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BookingError {
    /// The amount is zero or negative. The kind decides on the direction.
    #[error("amount: expected more than zero, because the kind decides the direction")]
    NotPositive,
    /// The amount has more decimals than its currency.
    #[error("amount: expected at most {allowed} decimals, found more")]
    Decimals {
        /// The currency's number of decimals.
        allowed: u8,
    },
    /// The amount has more digits than the message can carry.
    #[error("amount: expected at most 18 digits, found more")]
    Digits,
    /// ISO 4217 does not list the currency.
    #[error("currency: expected one that ISO 4217 lists, found another")]
    UnlistedCurrency,
    /// A text is empty or too long.
    #[error("{member}: expected 1 to {most} characters, found {found}")]
    Length {
        /// The text's member.
        member: BookingMember,
        /// The maximum number of characters (Unicode code points).
        most: usize,
        /// The characters found.
        found: usize,
    },
    /// A text has a character that XML cannot carry, such as U+0000.
    #[error("{member}: expected characters that XML 1.0 can carry, found U+{:04X}", u32::from(*.found))]
    Character {
        /// The text's member.
        member: BookingMember,
        /// The character.
        found: char,
    },
    /// The number of the virtual account is missing, although the booking is a credit to one or
    /// names the issuer of one.
    #[error("virtual_account: expected a number, found none")]
    NoVirtualAccount,
    /// The booking has a virtual account, and its kind is a debit.
    #[error("virtual_account: expected none for a debit, found one")]
    DebitOfVirtualAccount,
    /// The message refuses the entry for another reason.
    #[error("the entry cannot be built")]
    Entry(#[source] BuildError),
}

impl BookingError {
    /// Returns the member that is wrong; `None` for [`BookingError::Entry`].
    #[must_use]
    pub fn member(&self) -> Option<BookingMember> {
        Some(match self {
            Self::NotPositive | Self::Decimals { .. } | Self::Digits => BookingMember::Amount,
            Self::UnlistedCurrency => BookingMember::Currency,
            Self::Length { member, .. } | Self::Character { member, .. } => *member,
            Self::NoVirtualAccount | Self::DebitOfVirtualAccount => BookingMember::VirtualAccount,
            Self::Entry(_) => return None,
        })
    }
}
