//! Why a booking makes no entry.

use super::Booking;
use bankrail_camt052::BuildError;

/// States each member once: its name, and for a text the most characters.
macro_rules! members {
    ($($(#[$doc:meta])* $Member:ident = $name:literal $(to $most:expr)?,)*) => {
        /// A member of a [`Booking`](super::Booking). Its name is that of the setter and of the
        /// column in files.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum BookingMember { $($(#[$doc])* $Member,)* }

        impl BookingMember {
            /// The texts, each with the most characters that it has.
            pub(crate) const TEXTS: &'static [(Self, usize)] = &[$($((Self::$Member, $most),)?)*];

            /// The name, such as `end_to_end_id`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$Member => $name,)* }
            }
        }
    };
}

members! {
    /// The amount.
    Amount = "amount",
    /// The currency of the amount.
    Currency = "currency",
    /// The key by which a repeated booking is known.
    Key = "key" to Booking::MAX_KEY,
    /// The bank's reference.
    Reference = "reference" to 35,
    /// The end-to-end identification.
    EndToEndId = "end_to_end_id" to 35,
    /// The other party's name.
    Counterparty = "counterparty" to 140,
    /// The remittance text.
    Narrative = "narrative" to Booking::MAX_NARRATIVE,
    /// The number of the virtual account.
    VirtualAccount = "virtual_account" to 34,
    /// The branch that issued the virtual account.
    VirtualAccountIssuer = "virtual_account_issuer" to 35,
    /// The mandate's identification.
    Mandate = "mandate" to 35,
    /// The number of the cheque.
    Cheque = "cheque" to 35,
}

bankrail_values::impl_display!(BookingMember);

/// Why a [`Booking`] makes no entry. It has no value of the booking.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BookingError {
    /// The amount is zero or negative. The kind decides whether the balance grows or falls.
    #[error("amount: expected more than zero, found zero or less")]
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
        /// The most characters (Unicode code points).
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
    /// A credit to a virtual account, or the issuer of one, without its number.
    #[error("virtual_account: expected a number, found none")]
    NoVirtualAccount,
    /// A virtual account, and a kind that is a debit.
    #[error("virtual_account: expected none for a debit, found one")]
    DebitOfVirtualAccount,
    /// The message refuses the entry for another reason.
    #[error("the entry cannot be built")]
    Entry(#[source] BuildError),
}

impl BookingError {
    /// The member that is wrong; `None` for [`BookingError::Entry`].
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
