//! Money objects of messages.

use crate::json::{ExtraMembers, Wire};
use bankrail_values::{Currency, Decimal, Money};

/// A money object (Specification: "Common formats in webhook messages").
///
/// Any plain decimal that fits 96 bits is read, and its scale is kept. Default: up to 16
/// digits, a point and 2 digits.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct MessageAmount {
    /// ISO 4217 code. Another code of three letters is kept and reported.
    pub currency: Currency,
    /// The decimal.
    pub amount: Decimal,
    /// Members that this version does not know, in their order.
    #[wire(extra)]
    pub extra: ExtraMembers,
}

impl MessageAmount {
    /// Returns the amount as money, for arithmetic.
    #[must_use]
    pub fn money(&self) -> Money {
        Money::new(self.amount, self.currency)
    }
}

impl From<Money> for MessageAmount {
    fn from(money: Money) -> Self {
        Self::new(money.currency(), money.amount())
    }
}
