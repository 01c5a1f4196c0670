//! ISO 4217 currency codes and their minor units.

use crate::ValueError;
use std::fmt;

/// An ISO 4217 currency code: three upper-case ASCII letters.
///
/// Any such code is accepted, because real documents have historic ones. [`Currency::is_listed`] is
/// true for those in use.
///
/// ```
/// use bankrail_values::Currency;
/// assert_eq!(Currency::parse("VND")?.minor_units(), Some(0));
/// assert!(Currency::parse("aud").is_err());
/// # Ok::<(), bankrail_values::ValueError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency(code::Code);

/// This module keeps the bytes private, so that only `Code::new` makes a code, which is always
/// ASCII.
mod code {
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub(super) struct Code([u8; 3]);

    impl Code {
        pub(super) const fn new(text: &[u8]) -> Option<Self> {
            match *text {
                [a, b, c]
                    if a.is_ascii_uppercase()
                        && b.is_ascii_uppercase()
                        && c.is_ascii_uppercase() =>
                {
                    Some(Self([a, b, c]))
                }
                _ => None,
            }
        }

        pub(super) fn as_str(&self) -> &str {
            std::str::from_utf8(&self.0).expect("three ASCII letters are UTF-8")
        }
    }
}

impl Currency {
    /// Australian dollar, two decimals.
    pub const AUD: Self = Self::known("AUD");

    /// Euro, two decimals.
    pub const EUR: Self = Self::known("EUR");

    /// Pound sterling, two decimals.
    pub const GBP: Self = Self::known("GBP");

    /// Hong Kong dollar, two decimals.
    pub const HKD: Self = Self::known("HKD");

    /// Indian rupee, two decimals.
    pub const INR: Self = Self::known("INR");

    /// Japanese yen, no decimals.
    pub const JPY: Self = Self::known("JPY");

    /// New Zealand dollar, two decimals.
    pub const NZD: Self = Self::known("NZD");

    /// Papua New Guinean kina, two decimals.
    pub const PGK: Self = Self::known("PGK");

    /// Solomon Islands dollar, two decimals.
    pub const SBD: Self = Self::known("SBD");

    /// Singapore dollar, two decimals.
    pub const SGD: Self = Self::known("SGD");

    /// US dollar, two decimals.
    pub const USD: Self = Self::known("USD");

    /// Vietnamese dong, no decimals.
    pub const VND: Self = Self::known("VND");

    const fn known(code: &str) -> Self {
        match code::Code::new(code.as_bytes()) {
            Some(code) => Self(code),
            None => panic!("evaluated at compile time only, for the constants above"),
        }
    }

    /// Checks a code: `[A-Z]{3}`.
    ///
    /// # Errors
    /// [`ValueError`] for any other text.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        code::Code::new(text.as_bytes())
            .map(Self)
            .ok_or_else(|| ValueError::new("a currency code of three upper-case letters", text))
    }

    /// Returns the code.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the number of decimals of the currency's minor unit; `None` for a code that ISO 4217
    /// does not list as in use, or that has no minor unit (metals, funds, tests).
    #[must_use]
    pub fn minor_units(&self) -> Option<u8> {
        MINOR_UNITS
            .iter()
            .find(|(codes, _)| {
                codes
                    .split_ascii_whitespace()
                    .any(|code| code == self.as_str())
            })
            .map(|(_, digits)| *digits)
    }

    /// Returns true for a code that ISO 4217 lists as in use, with or without a minor unit.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        self.minor_units().is_some()
            || WITHOUT_MINOR_UNIT
                .split_ascii_whitespace()
                .any(|code| code == self.as_str())
    }
}

/// The codes of ISO 4217 list one that have a minor unit, by its number of decimals.
const MINOR_UNITS: [(&str, u8); 4] = [
    (
        "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF \
         CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG \
         HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR \
         MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD \
         SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD \
         XCG YER ZAR ZMW ZWG",
        2,
    ),
    (
        "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
        0,
    ),
    ("BHD IQD JOD KWD LYD OMR TND", 3),
    ("CLF UYW", 4),
];

/// The codes of ISO 4217 list one without a minor unit.
const WITHOUT_MINOR_UNIT: &str = "XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX";

impl fmt::Debug for Currency {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

crate::impl_text_value!(Currency, ValueError);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_code_is_listed_twice() {
        let lists = MINOR_UNITS
            .iter()
            .map(|(codes, _)| *codes)
            .chain([WITHOUT_MINOR_UNIT]);
        let mut all: Vec<&str> = lists.flat_map(str::split_ascii_whitespace).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        assert!(all.iter().all(|code| Currency::parse(code).is_ok()));
    }
}
