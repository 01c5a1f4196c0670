//! Exact decimals within the schema's digits, and amounts.

mod amount;

pub use amount::Amount;

use crate::field::{Fault, Unreadable};
use crate::finding::FindingKind;
use crate::node::Simple;
use crate::output::Output;
use crate::xml::is_space;
use bankrail_values::{Decimal, excerpt};
use std::fmt;

/// An exact decimal of at most `DIGITS` digits, `FRACTION` of them after the point, not below zero
/// if `UNSIGNED`.
///
/// The scale is kept: `10.0000` stays `10.0000`. Trailing zeros do not count as digits. Zeros
/// beyond 28 digits are cut, which a reader of documents reports ([`FindingKind::CutZeros`]) and
/// JSON refuses.
///
/// Tolerant reading keeps a number of up to 28 digits, 18 of them after the point, and reports it.
///
/// ```
/// use bankrail_iso20022::{PlainDecimal, Rate};
/// assert_eq!(PlainDecimal::parse("143.00")?.to_string(), "143.00");
/// assert!(Rate::parse("123456789012").is_err());
/// # Ok::<(), bankrail_iso20022::NumberError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number<const DIGITS: u32, const FRACTION: u32, const UNSIGNED: bool = false>(Decimal);

/// `DecimalNumber`: 18 digits, 17 of them after the point, either sign.
pub type PlainDecimal = Number<18, 17>;
/// `NonNegativeDecimalNumber`: 18 digits, 17 of them after the point, not below zero.
pub type NonNegativeDecimal = Number<18, 17, true>;
/// `BaseOneRate` and `PercentageRate`: 11 digits, 10 of them after the point, either sign.
pub type Rate = Number<11, 10>;
/// `Number`: a whole number of at most 18 digits, either sign.
pub type WholeNumber = Number<18, 0>;
/// `ImpliedCurrencyAndAmount`: an amount whose currency another element states.
pub type ImpliedAmount = Number<18, 5, true>;

impl<const DIGITS: u32, const FRACTION: u32, const UNSIGNED: bool>
    Number<DIGITS, FRACTION, UNSIGNED>
{
    /// Checks the digits and the sign.
    ///
    /// # Errors
    /// [`NumberError`] when the schema's type cannot hold the value.
    pub fn new(value: Decimal) -> Result<Self, NumberError> {
        if fits(value, DIGITS, FRACTION, UNSIGNED) {
            Ok(Self(value))
        } else {
            Err(Self::error(&value.to_string()))
        }
    }

    /// Reads an `xs:decimal`: white space around it, a `+`, and a point without digits on one side
    /// are allowed.
    ///
    /// # Errors
    /// [`NumberError`] for any other text and for values that the schema's type cannot hold.
    pub fn parse(text: &str) -> Result<Self, NumberError> {
        read(text, DIGITS, FRACTION, UNSIGNED)
            .map(Self)
            .ok_or_else(|| Self::error(text))
    }

    fn error(text: &str) -> NumberError {
        NumberError {
            digits: DIGITS,
            fraction: FRACTION,
            unsigned: UNSIGNED,
            found: excerpt(text),
        }
    }

    /// Returns the value, with the scale it was given.
    #[must_use]
    pub const fn value(&self) -> Decimal {
        self.0
    }
}

/// A text or value that is not a decimal within the schema's digits and sign.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a decimal of at most {digits} digits, {fraction} after the point{}, found {found}",
    if *.unsigned { ", not below zero" } else { "" }
)]
#[non_exhaustive]
pub struct NumberError {
    /// The maximum number of digits allowed.
    pub digits: u32,
    /// The maximum number of digits allowed after the point.
    pub fraction: u32,
    /// True when the value may not be below zero.
    pub unsigned: bool,
    /// The text, cut and escaped.
    pub found: String,
}

/// Reads an `xs:decimal` within the facets; `None` for other texts.
#[inline]
fn read(text: &str, digits: u32, fraction: u32, unsigned: bool) -> Option<Decimal> {
    read_plain(text.as_bytes(), digits, fraction)
        .or_else(|| read_any(text, digits, fraction, unsigned))
}

/// Reads an `xs:decimal` within the facets or, if these allow digits after the point, of at most 28
/// digits and 18 after the point, which tolerant reading keeps.
#[inline]
fn read_kept(text: &str, digits: u32, fraction: u32, unsigned: bool) -> Option<Decimal> {
    read(text, digits, fraction, unsigned).or_else(|| {
        if fraction == 0 {
            None
        } else {
            read_any(text, 28, fraction.max(18), unsigned)
        }
    })
}

/// Returns the finding about zeros at the end of a text that its value does not have.
#[inline]
fn lost(value: Decimal, text: &str) -> Option<FindingKind> {
    // Where zeros are cut, the value has 28 digits, and the text more characters.
    if text.len() <= 28 {
        None
    } else {
        cut_zeros(value, text)
    }
}

#[cold]
fn cut_zeros(value: Decimal, text: &str) -> Option<FindingKind> {
    let (_, part) = text.trim_matches(is_space).split_once('.')?;
    let kept = usize::try_from(value.scale()).unwrap_or(usize::MAX);
    (part.len() > kept).then(|| FindingKind::CutZeros {
        zeros: part.len() - kept,
    })
}

/// Returns true when a value is within the facets; with a fast path for nearly all of them. No
/// value of an unsigned type is below zero.
#[inline]
fn is_within(value: Decimal, digits: u32, fraction: u32, unsigned: bool) -> bool {
    let plain = value.scale() <= fraction && value.mantissa().unsigned_abs() < 10_u128.pow(digits);
    plain || fits(value, digits, fraction, unsigned)
}

/// Reads at most 18 digits, perhaps with a point between them, which always fit; `None` for other
/// texts.
#[inline]
fn read_plain(text: &[u8], digits: u32, fraction: u32) -> Option<Decimal> {
    if text.len() > usize::try_from(digits.min(18)).ok()? || !text.first()?.is_ascii_digit() {
        return None;
    }
    // 18 digits always fit, so that the loop needs no check for overflow.
    let mut mantissa: i64 = 0;
    let mut scale = None;
    for (index, b) in text.iter().enumerate() {
        match b {
            b'0'..=b'9' => mantissa = mantissa * 10 + i64::from(b - b'0'),
            b'.' if scale.is_none() => scale = Some(text.len() - index - 1),
            _ => return None,
        }
    }
    let scale = match scale {
        Some(0) => return None,
        scale => u32::try_from(scale.unwrap_or_default()).ok()?,
    };
    (scale <= fraction).then(|| Decimal::new(mantissa, scale))
}

fn read_any(text: &str, digits: u32, fraction: u32, unsigned: bool) -> Option<Decimal> {
    let text = text.trim_matches(is_space);
    let (negative, text) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let mut mantissa: u128 = 0;
    let mut scale: u32 = 0;
    let mut zeros: u32 = 0; // trailing zeros after the point, not yet in the mantissa
    let mut point = false;
    let mut any = false;
    for b in text.bytes() {
        match b {
            b'0' if point => {
                any = true;
                zeros = zeros.saturating_add(1);
            }
            b'0'..=b'9' => {
                any = true;
                for _ in 0..zeros {
                    // A digit follows these zeros, so that they are not trailing and count.
                    mantissa = mantissa.checked_mul(10)?;
                    scale += 1;
                    if scale > fraction {
                        return None;
                    }
                }
                zeros = 0;
                mantissa = mantissa
                    .checked_mul(10)?
                    .checked_add(u128::from(b - b'0'))?;
                scale += u32::from(point);
                // Checked at each digit, so that a text of any length is refused early.
                if scale > fraction || mantissa >= 10_u128.pow(digits) {
                    return None;
                }
            }
            b'.' if !point => point = true,
            _ => return None,
        }
    }
    if !any || (negative && unsigned && mantissa != 0) {
        return None;
    }
    // The zeros at the end are kept as far as 28 digits reach.
    while zeros > 0 && scale < 28 && mantissa < 10_u128.pow(27) {
        mantissa *= 10;
        scale += 1;
        zeros -= 1;
    }
    let mut value =
        Decimal::try_from_i128_with_scale(i128::try_from(mantissa).ok()?, scale).ok()?;
    // XML Schema has no negative zero: `-0` and `0` are one value.
    value.set_sign_negative(negative && mantissa != 0);
    Some(value)
}

/// Returns true when a value has no more digits than allowed, trailing zeros not counted.
fn fits(value: Decimal, digits: u32, fraction: u32, unsigned: bool) -> bool {
    let least = value.normalize();
    least.scale() <= fraction
        && least.mantissa().unsigned_abs() < 10_u128.pow(digits)
        && !(unsigned && least.is_sign_negative() && !least.is_zero())
}

crate::__simple_nodes! {
    [const DIGITS: u32, const FRACTION: u32, const UNSIGNED: bool] Number<DIGITS, FRACTION, UNSIGNED>
}

impl<const DIGITS: u32, const FRACTION: u32, const UNSIGNED: bool> Simple
    for Number<DIGITS, FRACTION, UNSIGNED>
{
    fn parse(text: &str) -> Result<Self, Unreadable> {
        let expected = expected(DIGITS, FRACTION, UNSIGNED);
        read_kept(text, DIGITS, FRACTION, UNSIGNED)
            .map(Self)
            .ok_or(Unreadable { expected })
    }

    #[inline]
    fn accept(text: &str, _version: u8) -> Option<Self> {
        read(text, DIGITS, FRACTION, UNSIGNED)
            // Cut zeros must be reported, which the reader over events does.
            .filter(|value| lost(*value, text).is_none())
            .map(Self)
    }

    fn append(&self, out: &mut Output<'_>) {
        out.decimal(self.0);
    }

    #[inline]
    fn lost(&self, text: &str) -> Option<FindingKind> {
        lost(self.0, text)
    }

    #[inline]
    fn fault(&self, _version: u8) -> Option<Fault> {
        let within = is_within(self.0, DIGITS, FRACTION, UNSIGNED);
        (!within).then(|| Fault::Pattern {
            expected: expected(DIGITS, FRACTION, UNSIGNED),
        })
    }
}

/// Returns the expected form of a number with these facets.
fn expected(digits: u32, fraction: u32, unsigned: bool) -> &'static str {
    match (digits, fraction, unsigned) {
        (18, 17, true) => "a decimal of at most 18 digits, not below zero",
        (18, 17, false) => "a decimal of at most 18 digits",
        (18, 0, _) => "a whole number of at most 18 digits",
        (11, 10, _) => "a decimal of at most 11 digits, 10 after the point",
        (18, 5, _) => "an amount of at most 18 digits, 5 after the point, not below zero",
        (18, 13, _) => "an amount of at most 18 digits, 13 after the point, not below zero",
        _ => "a decimal within the schema's digits",
    }
}

impl<const DIGITS: u32, const FRACTION: u32, const UNSIGNED: bool> fmt::Display
    for Number<DIGITS, FRACTION, UNSIGNED>
{
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}

impl<const DIGITS: u32, const FRACTION: u32, const UNSIGNED: bool> fmt::Debug
    for Number<DIGITS, FRACTION, UNSIGNED>
{
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}

impl<const DIGITS: u32, const FRACTION: u32, const UNSIGNED: bool> TryFrom<Decimal>
    for Number<DIGITS, FRACTION, UNSIGNED>
{
    type Error = NumberError;
    fn try_from(value: Decimal) -> Result<Self, NumberError> {
        Self::new(value)
    }
}

#[cfg(feature = "serde")]
impl<const DIGITS: u32, const FRACTION: u32, const UNSIGNED: bool> serde::Serialize
    for Number<DIGITS, FRACTION, UNSIGNED>
{
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(&self.0)
    }
}

#[cfg(feature = "serde")]
impl<'de, const DIGITS: u32, const FRACTION: u32, const UNSIGNED: bool> serde::Deserialize<'de>
    for Number<DIGITS, FRACTION, UNSIGNED>
{
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
        read_kept(&text, DIGITS, FRACTION, UNSIGNED)
            .filter(|value| lost(*value, &text).is_none())
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom(Self::error(&text)))
    }
}
