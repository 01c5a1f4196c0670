//! Exact amounts of money.

use crate::decimal::parse_decimal;
use crate::{Currency, ValueError};
use rust_decimal::Decimal;
use std::fmt;

/// An exact amount in one currency.
///
/// - An amount keeps its scale: `10.0000 AUD` stays `10.0000 AUD`.
/// - Two amounts are equal if their values are, regardless of their scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Money {
    amount: Decimal,
    currency: Currency,
}

impl Money {
    /// Returns an amount in a currency.
    #[must_use]
    pub const fn new(amount: Decimal, currency: Currency) -> Self {
        Self { amount, currency }
    }

    /// Returns the amount, which may be negative.
    #[must_use]
    pub const fn amount(&self) -> Decimal {
        self.amount
    }

    /// Returns the currency.
    #[must_use]
    pub const fn currency(&self) -> Currency {
        self.currency
    }

    /// Returns the sum, with the larger scale of the two amounts.
    ///
    /// # Errors
    /// [`MoneyError::CurrencyMismatch`] if the currencies differ, [`MoneyError::Overflow`] if the
    /// sum does not fit.
    pub fn checked_add(&self, other: &Self) -> Result<Self, MoneyError> {
        if self.currency != other.currency {
            return Err(MoneyError::CurrencyMismatch {
                left: self.currency,
                right: other.currency,
            });
        }
        let amount = self
            .amount
            .checked_add(other.amount)
            .ok_or(MoneyError::Overflow)?;
        Ok(Self {
            amount,
            currency: self.currency,
        })
    }

    /// Returns the difference, with the larger scale of the two amounts.
    ///
    /// # Errors
    /// [`MoneyError::CurrencyMismatch`] if the currencies differ, [`MoneyError::Overflow`] if the
    /// difference does not fit.
    pub fn checked_sub(&self, other: &Self) -> Result<Self, MoneyError> {
        self.checked_add(&Self {
            amount: -other.amount,
            currency: other.currency,
        })
    }

    /// Returns the same value with the currency's number of decimals: `5 AUD` becomes `5.00 AUD`,
    /// and `5.10 VND` is an error.
    ///
    /// # Errors
    /// [`MoneyError::NotMinorUnits`] if a digit would be lost or the currency has no known minor
    /// unit; [`MoneyError::Overflow`] if the added zeros do not fit.
    pub fn rescale_to_minor_units(&self) -> Result<Self, MoneyError> {
        let lost = MoneyError::NotMinorUnits {
            currency: self.currency,
        };
        let digits = u32::from(self.currency.minor_units().ok_or(lost.clone())?);
        let mut amount = self.amount;
        amount.rescale(digits);
        match (amount == self.amount, amount.scale() == digits) {
            (true, true) => Ok(Self {
                amount,
                currency: self.currency,
            }),
            (true, false) => Err(MoneyError::Overflow),
            _ => Err(lost),
        }
    }
}

/// The reason why an amount of money cannot be read or computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MoneyError {
    /// The currencies differ.
    #[error("expected one currency, found {left} and {right}")]
    CurrencyMismatch {
        /// The currency of the first amount.
        left: Currency,
        /// The currency of the second amount.
        right: Currency,
    },
    /// The result needs more than 96 bits.
    #[error("expected an amount of at most 96 bits")]
    Overflow,
    /// The amount is not a whole number of the currency's minor units.
    #[error("expected an amount in the minor units of {currency}")]
    NotMinorUnits {
        /// The currency.
        currency: Currency,
    },
    /// The text is not `AMOUNT CURRENCY`.
    #[error("expected an amount, a space and a currency code")]
    Format,
    /// The amount is not a decimal.
    #[error("the amount is unreadable")]
    Amount(#[source] ValueError),
    /// The currency is not a currency code.
    #[error("the currency is unreadable")]
    Currency(#[source] ValueError),
}

impl fmt::Display for Money {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match out.width() {
            None => write!(out, "{} {}", self.amount, self.currency),
            Some(_) => out.pad(&format!("{} {}", self.amount, self.currency)),
        }
    }
}

impl std::str::FromStr for Money {
    type Err = MoneyError;

    /// Reads `12.50 AUD`.
    fn from_str(text: &str) -> Result<Self, MoneyError> {
        let (amount, currency) = text.split_once(' ').ok_or(MoneyError::Format)?;
        Ok(Self {
            amount: parse_decimal(amount).map_err(MoneyError::Amount)?,
            currency: Currency::parse(currency).map_err(MoneyError::Currency)?,
        })
    }
}
