//! Checksums of Australian business numbers (ABN) and company numbers (ACN).

/// Returns true for an Australian business number: 11 digits, the first two of which (11 to 99)
/// check the other nine.
///
/// ```
/// use bankrail_webhook::alias::is_abn;
/// assert!(is_abn("51824753556") && !is_abn("51824753557"));
/// assert!(!is_abn("51 824 753 556")); // digits only
/// ```
#[must_use]
pub fn is_abn(text: &str) -> bool {
    const WEIGHTS: [u32; 11] = [10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19];
    let Some(digits) = digits::<11>(text) else {
        return false;
    };
    let [first, second, ..] = digits;
    let sum: u32 = digits
        .iter()
        .zip(WEIGHTS)
        .map(|(digit, weight)| digit * weight)
        .sum();
    // The rule subtracts 1 from the first digit, which is 10 from the sum. With a prefix of at
    // least 11 the subtraction cannot underflow.
    10 * first + second >= 11 && (sum - 10).is_multiple_of(89)
}

/// Returns true for an Australian company number: 9 digits, the last of which checks the other
/// eight.
///
/// ```
/// use bankrail_webhook::alias::is_acn;
/// assert!(is_acn("004085616") && !is_acn("004085617"));
/// ```
#[must_use]
pub fn is_acn(text: &str) -> bool {
    let Some(digits) = digits::<9>(text) else {
        return false;
    };
    let [leading @ .., check] = digits;
    let sum: u32 = leading
        .iter()
        .zip((1..=8).rev())
        .map(|(digit, weight)| digit * weight)
        .sum();
    check == (10 - sum % 10) % 10
}

fn digits<const N: usize>(text: &str) -> Option<[u32; N]> {
    let text: [u8; N] = text.as_bytes().try_into().ok()?;
    text.iter()
        .all(u8::is_ascii_digit)
        .then(|| text.map(|digit| u32::from(digit - b'0')))
}
