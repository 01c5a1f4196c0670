//! Amounts with the attribute `Ccy`.

use super::{Number, NumberError};
use crate::check::Checker;
use crate::extra::KeptParts;
use crate::field::Tag;
use crate::finding::FindingKind;
use crate::node::{Node, Simple, check_simple, is_sound, simple_faults};
use crate::output::Output;
use crate::read::{Cursor, Halt, NotPlain, Scanner};
use crate::value::CurrencyCode;
use bankrail_values::{Currency, Decimal, Money};
use std::fmt;

/// An amount that is not below zero, of at most 18 digits and `FRACTION` of them after the point,
/// with its currency.
///
/// The scale is kept. The currency is mandatory in the schema; an amount read without it has none
/// and is reported. So is an amount of up to 28 digits, 18 of them after the point, that has more
/// than the schema allows.
///
/// ```
/// use bankrail_iso20022::Amount;
/// use bankrail_values::{Currency, Decimal};
/// let amount: Amount = Amount::new(Decimal::new(1250, 2), Currency::AUD)?;
/// assert_eq!(amount.to_string(), "12.50 AUD");
/// assert!(Amount::<5>::new(Decimal::NEGATIVE_ONE, Currency::AUD).is_err());
/// # Ok::<(), bankrail_iso20022::NumberError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Amount<const FRACTION: u32 = 5> {
    value: Number<18, FRACTION, true>,
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    currency: Option<CurrencyCode>,
}

impl<const FRACTION: u32> Amount<FRACTION> {
    /// Makes an amount in a currency.
    ///
    /// # Errors
    /// [`NumberError`] when the value is below zero or has too many digits.
    pub fn new(value: Decimal, currency: Currency) -> Result<Self, NumberError> {
        let Number(value) = Number::<18, FRACTION, true>::new(value)?;
        Ok(Self {
            // Only a negative zero still has a sign here.
            value: Number(value.abs()),
            currency: Some(currency.into()),
        })
    }

    fn faults(&self, text: &str, version: u8) -> Vec<FindingKind> {
        let mut faults = simple_faults(&self.value, text, version);
        if let Some(currency) = &self.currency {
            faults.extend(simple_faults(currency, currency.as_str(), version));
        }
        faults
    }

    /// Returns the value, with the scale it was given.
    #[must_use]
    pub const fn value(&self) -> Decimal {
        self.value.0
    }

    /// Returns the currency code; `None` when the document did not state it.
    #[must_use]
    pub const fn currency(&self) -> Option<&CurrencyCode> {
        self.currency.as_ref()
    }

    /// Returns the amount as money; `None` without a well-formed currency code.
    #[must_use]
    pub fn to_money(&self) -> Option<Money> {
        Some(Money::new(
            self.value(),
            self.currency.as_ref()?.to_currency()?,
        ))
    }
}

impl<const FRACTION: u32> TryFrom<Money> for Amount<FRACTION> {
    type Error = NumberError;
    fn try_from(money: Money) -> Result<Self, NumberError> {
        Self::new(money.amount(), money.currency())
    }
}

impl<const FRACTION: u32> fmt::Display for Amount<FRACTION> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.currency {
            Some(currency) => write!(out, "{} {currency}", self.value),
            None => fmt::Display::fmt(&self.value, out),
        }
    }
}

impl<const FRACTION: u32> fmt::Debug for Amount<FRACTION> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl<const FRACTION: u32> Node for Amount<FRACTION> {
    const HAS_ATTRIBUTE: bool = true;

    fn read(from: &mut Cursor<'_>) -> Result<Self, Halt> {
        from.amount(
            |text, currency| {
                Ok(Self {
                    value: Simple::parse(text)?,
                    currency: currency.map(CurrencyCode::from),
                })
            },
            Self::faults,
        )
    }

    #[inline]
    fn scan(from: &mut Scanner<'_>) -> Result<Self, NotPlain> {
        let currency = CurrencyCode::accept(from.currency()?, from.version()).ok_or(NotPlain)?;
        let value = Number::accept(from.plain_text()?, from.version()).ok_or(NotPlain)?;
        Ok(Self {
            value,
            currency: Some(currency),
        })
    }

    #[inline]
    fn write(&self, tag: &'static Tag, out: &mut Output<'_>, kept: KeptParts<'_>) {
        out.start_leaf(tag);
        if let Some(currency) = &self.currency {
            out.attribute("Ccy", currency.as_str());
        }
        kept.attributes(out);
        out.start_end();
        self.value.append(out);
        kept.children(None, out);
        out.close_leaf(tag);
    }

    fn is_plain(&self, _version: u8) -> bool {
        self.currency.is_some()
    }

    #[inline]
    fn is_sound_leaf(&self, version: u8) -> bool {
        is_sound(&self.value, version) && self.currency.as_ref().is_some_and(CurrencyCode::is_valid)
    }

    fn check(&self, to: &mut Checker) {
        check_simple(&self.value, to);
        match &self.currency {
            Some(currency) => check_simple(currency, to),
            None => to.report(FindingKind::MissingCurrency),
        }
    }
}
