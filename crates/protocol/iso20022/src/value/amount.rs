//! Amounts with the attribute `Ccy`.

use super::identifier::CurrencyCode;
use super::number::{NumberError, expected, fits, is_within, lost, read, read_kept};
use crate::check::Checker;
use crate::extra::Kept;
use crate::field::{Fault, Tag, Unreadable};
use crate::finding::{FindingKind, fault_kind};
use crate::node::{Node, Simple};
use crate::output::Output;
use crate::read::{Cursor, Halt, Odd, Scanner};
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
pub struct Amount<const FRACTION: u32 = 5> {
    value: Decimal,
    currency: Option<CurrencyCode>,
}

impl<const FRACTION: u32> Amount<FRACTION> {
    /// Makes an amount in a currency.
    ///
    /// # Errors
    /// [`NumberError`] when the value is below zero or has too many digits.
    pub fn new(value: Decimal, currency: Currency) -> Result<Self, NumberError> {
        if !fits(value, 18, FRACTION, true) {
            return Err(NumberError::new::<18, FRACTION, true>(&value.to_string()));
        }
        Ok(Self {
            // Only a negative zero still has a sign here.
            value: value.abs(),
            currency: Some(currency.into()),
        })
    }

    fn read(text: &str, currency: Option<CurrencyCode>) -> Result<Self, Unreadable> {
        let unreadable = Unreadable {
            expected: expected(18, FRACTION, true),
        };
        read_kept(text, 18, FRACTION, true)
            .map(|value| Self { value, currency })
            .ok_or(unreadable)
    }

    fn fault(&self) -> Option<Fault> {
        let within = is_within(self.value, 18, FRACTION, true);
        (!within).then(|| Fault::Pattern {
            expected: expected(18, FRACTION, true),
        })
    }

    fn broken_facet(&self) -> Option<FindingKind> {
        let fault = self.fault()?;
        let mut found = String::new();
        Output::verbatim(&mut found).decimal(self.value);
        Some(fault_kind(fault, &found))
    }

    fn faults(&self, text: &str, version: u8) -> Vec<FindingKind> {
        let lost = lost(self.value, text);
        if lost.is_none() && self.is_sound_leaf(version) {
            return Vec::new();
        }
        [self.broken_facet(), lost, self.currency_fault()]
            .into_iter()
            .flatten()
            .collect()
    }

    fn currency_fault(&self) -> Option<FindingKind> {
        let currency = self.currency.as_ref()?;
        currency
            .fault(0)
            .map(|fault| fault_kind(fault, currency.as_str()))
    }

    /// Returns the value, with the scale it was given.
    #[must_use]
    pub const fn value(&self) -> Decimal {
        self.value
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
            self.value,
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

#[cfg(feature = "serde")]
mod json {
    use super::{Amount, CurrencyCode};
    use crate::value::number::read_whole;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Parts<'a> {
        value: std::borrow::Cow<'a, str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        currency: Option<CurrencyCode>,
    }

    impl<const FRACTION: u32> Serialize for Amount<FRACTION> {
        fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
            Parts {
                value: self.value.to_string().into(),
                currency: self.currency.clone(),
            }
            .serialize(out)
        }
    }

    impl<'de, const FRACTION: u32> Deserialize<'de> for Amount<FRACTION> {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            let parts = Parts::deserialize(from)?;
            match read_whole(&parts.value, 18, FRACTION, true) {
                Some(value) => Ok(Self {
                    value,
                    currency: parts.currency,
                }),
                None => Err(serde::de::Error::custom(crate::NumberError::new::<
                    18,
                    FRACTION,
                    true,
                >(&parts.value))),
            }
        }
    }
}

impl<const FRACTION: u32> Node for Amount<FRACTION> {
    const HAS_ATTRIBUTE: bool = true;

    fn read(from: &mut Cursor<'_>) -> Result<Self, Halt> {
        from.amount(
            |text, currency| Self::read(text, currency.map(CurrencyCode::from)),
            Self::faults,
        )
    }

    #[inline]
    fn scan(from: &mut Scanner<'_>) -> Result<Self, Odd> {
        let currency = CurrencyCode::accept(from.currency()?, from.version()).ok_or(Odd)?;
        let text = from.plain_text()?;
        let value = read(text, 18, FRACTION, true)
            // Zeros that are cut have to be reported, which the reader over events does.
            .filter(|value| lost(*value, text).is_none())
            .ok_or(Odd)?;
        Ok(Self {
            value,
            currency: Some(currency),
        })
    }

    #[inline]
    fn write(&self, tag: &'static Tag, out: &mut Output<'_>, kept: Kept<'_>) {
        out.start_leaf(tag);
        if let Some(currency) = &self.currency {
            out.attribute("Ccy", currency.as_str());
        }
        kept.attributes(out);
        out.start_end();
        out.decimal(self.value);
        kept.children(None, out);
        out.close_leaf(tag);
    }

    fn is_plain(&self, _version: u8) -> bool {
        self.currency.is_some()
    }

    #[inline]
    fn is_sound_leaf(&self, _version: u8) -> bool {
        self.fault().is_none() && self.currency.as_ref().is_some_and(CurrencyCode::is_valid)
    }

    fn check(&self, to: &mut Checker) {
        if let Some(kind) = self.broken_facet() {
            to.report(kind);
        }
        if self.currency.is_none() {
            to.report(FindingKind::MissingCurrency);
        }
        if let Some(kind) = self.currency_fault() {
            to.report(kind);
        }
    }
}
