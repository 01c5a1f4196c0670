//! Plain decimal text, read exactly.

use crate::ValueError;
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
/// # Ok::<(), bankrail_values::ValueError>(())
/// ```
///
/// # Errors
/// [`ValueError`] for any other text, and for a number that needs more than 96 bits or 28 fraction
/// digits.
pub fn parse_decimal(text: &str) -> Result<Decimal, ValueError> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole.strip_prefix('-').unwrap_or(whole)) || !fraction.is_none_or(digits) {
        return Err(ValueError::new("a plain decimal", text));
    }
    Decimal::from_str_exact(text)
        .map_err(|_| ValueError::new("a decimal of at most 28 digits", text))
}
