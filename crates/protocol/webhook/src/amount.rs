//! Money objects of messages.

use crate::json::wire_object;
use bankrail_values::{Currency, Decimal, Money};

wire_object! {
    /// A money object (Specification: "Common formats in webhook messages").
    ///
    /// Any plain decimal that fits 96 bits is read, and its scale is kept. Default: up to 16
    /// digits, a point and 2 digits.
    pub struct MessageAmount {
        /// ISO 4217 code. Another code of three letters is kept and reported.
        required currency: Currency = "currency",
        /// The decimal.
        required amount: Decimal = "amount",
    }
}

impl MessageAmount {
    /// The amount as money, for arithmetic.
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
