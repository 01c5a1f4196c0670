//! Business and company numbers by their checksums.

use bankrail_webhook::alias::{is_abn, is_acn};

#[test]
fn known_numbers_are_told_from_nearly_right_ones() {
    for good in ["51824753556", "11223491505", "53004085616"] {
        assert!(is_abn(good), "{good}");
    }
    for bad in [
        "11223493504",
        "10000000000",
        "",
        "5182475355",
        "518247535560",
        "5182475355x",
        "００４０",
    ] {
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
    // Whatever the nine, exactly one prefix of two digits from 11 to 99 is right.
    for tail in (0..1_000_000_000_u64).step_by(9_999_991) {
        let right = (0..100)
            .filter(|prefix| is_abn(&format!("{prefix:02}{tail:09}")))
            .collect::<Vec<u32>>();
        assert_eq!(right.len(), 1, "{tail:09}: {right:?}");
        assert!((11..=99).contains(&right[0]), "{tail:09}: {right:?}");
    }
}
