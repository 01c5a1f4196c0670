//! Plain decimal text, read exactly.

use crate::text::excerpt;
use rust_decimal::Decimal;

/// Reads a plain decimal: an optional `-`, digits, and optionally a point and more digits.
///
/// - Value and scale are exact: nothing is rounded.
/// - An exponent, `+`, white space, grouping, and a point without digits on both sides are refused.
///
/// ```
/// use bankrail_values::parse_decimal;
/// assert_eq!(parse_decimal("10.0000")?.scale(), 4);
/// assert!(parse_decimal("1e3").is_err());
/// # Ok::<(), bankrail_values::DecimalError>(())
/// ```
///
/// # Errors
/// [`DecimalError::Format`] for any other text, [`DecimalError::Range`] for a number that needs
/// more than 96 bits or 28 fraction digits.
pub fn parse_decimal(text: &str) -> Result<Decimal, DecimalError> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole.strip_prefix('-').unwrap_or(whole)) || !fraction.is_none_or(digits) {
        return Err(DecimalError::Format {
            found: excerpt(text),
        });
    }
    Decimal::from_str_exact(text).map_err(|_| DecimalError::Range {
        found: excerpt(text),
    })
}

/// The reason why a text is not a decimal that can be represented exactly.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecimalError {
    /// Not `-?[0-9]+(\.[0-9]+)?`.
    #[error("expected a plain decimal, found {found}")]
    Format {
        /// The text, cut and escaped.
        found: String,
    },
    /// A decimal that cannot be represented without rounding.
    #[error("expected a decimal of at most 28 digits, found {found}")]
    Range {
        /// The text, cut and escaped.
        found: String,
    },
}
