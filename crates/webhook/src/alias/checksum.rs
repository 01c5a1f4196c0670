//! Checksums of Australian business numbers (ABN) and company numbers (ACN).

/// True for an Australian business number: 11 digits, the first two of which (11 to 99) check the other nine.
///
/// ```
/// use bankrail_webhook::alias::is_abn;
/// assert!(is_abn("51824753556") && !is_abn("51824753557"));
/// assert!(!is_abn("51 824 753 556")); // digits only
/// ```
#[must_use]
pub fn is_abn(text: &str) -> bool {
    const WEIGHTS: [u32; 11] = [10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19];
    let Some(digits) = digits::<11>(text) else { return false };
    let [first, second, ..] = digits;
    let sum: u32 = digits.iter().zip(WEIGHTS).map(|(digit, weight)| digit * weight).sum();
    // The rule subtracts 1 from the first digit, so 10 from the sum. With a prefix from 11 on it cannot underflow.
    10 * first + second >= 11 && (sum - 10).is_multiple_of(89)
}

/// True for an Australian company number: 9 digits, the last of which checks the other eight.
///
/// ```
/// use bankrail_webhook::alias::is_acn;
/// assert!(is_acn("004085616") && !is_acn("004085617"));
/// ```
#[must_use]
pub fn is_acn(text: &str) -> bool {
    let Some(digits) = digits::<9>(text) else { return false };
    let [leading @ .., check] = digits;
    let sum: u32 = leading.iter().zip((1..=8).rev()).map(|(digit, weight)| digit * weight).sum();
    check == (10 - sum % 10) % 10
}

fn digits<const N: usize>(text: &str) -> Option<[u32; N]> {
    let text: [u8; N] = text.as_bytes().try_into().ok()?;
    text.iter().all(u8::is_ascii_digit).then(|| text.map(|digit| u32::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_numbers() {
        for good in ["51824753556", "11223491505", "53004085616"] {
            assert!(is_abn(good), "{good}");
        }
        for bad in ["11223493504", "10000000000", "", "5182475355", "518247535560", "5182475355x", "００４０"] {
            assert!(!is_abn(bad), "{bad}");
        }
        for good in ["004085616", "601428737"] {
            assert!(is_acn(good), "{good}");
        }
        for bad in ["004085617", "00408561", "0040856160", "00408561 "] {
            assert!(!is_acn(bad), "{bad}");
        }
    }

    #[test]
    fn nine_digits_have_one_business_number() {
        // For any nine digits, exactly one prefix is right, and it is from 11 to 99.
        for tail in (0..1_000_000_000_u64).step_by(9_999_991) {
            let right = (0..100).filter(|prefix| is_abn(&format!("{prefix:02}{tail:09}"))).collect::<Vec<u32>>();
            assert_eq!(right.len(), 1, "{tail:09}: {right:?}");
            assert!((11..=99).contains(&right[0]), "{tail:09}: {right:?}");
        }
    }
}
