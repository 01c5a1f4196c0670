//! Identifiers and their check digits.

use bankrail_iso20022::{Bic, Iban, Isin, PhoneNumber};

#[test]
fn patterns_are_those_of_the_schema() {
    for good in ["DE89370400440532013000", "GB82WEST12345698765432", "NO00a"] {
        assert!(Iban::new(good).is_valid(), "{good}");
    }
    for bad in ["", "DE8", "DE89", "de89370400440532013000", "DE8937040044053201300012345678901234", "DE89 3704"] {
        assert!(!Iban::new(bad).is_valid(), "{bad}");
    }
    assert!(Iban::new("DE89370400440532013000").has_valid_check_digits());
    assert!(Iban::new("GB82WEST12345698765432").has_valid_check_digits());
    assert!(!Iban::new("DE88370400440532013000").has_valid_check_digits());
    for good in ["DEUTDEFF", "DEUTDEFF500", "ABCDEF2A", "ABCDEFZ0XXX"] {
        assert!(Bic::new(good).is_valid(), "{good}");
    }
    for bad in ["DEUTDEF", "DEUTDEFO", "DEUTDE1F", "DEUTDEFF5", "DEUTDEFF50", "deutdeff", "DEUTDEFF5000", ""] {
        assert!(!Bic::new(bad).is_valid(), "{bad}");
    }
    for (text, good) in
        [("+61-400123456", true), ("+1-(2)+3-4", true), ("61-4", false), ("+61-", false), ("+6123-4", false)]
    {
        assert_eq!(PhoneNumber::new(text).is_valid(), good, "{text}");
    }
    for (text, good) in [("US0378331005", true), ("US037833100A", false), ("u00378331005", false)] {
        assert_eq!(Isin::new(text).is_valid(), good, "{text}");
    }
    assert!(Isin::new("US0378331005").has_valid_check_digit());
    assert!(!Isin::new("US0378331006").has_valid_check_digit());
}
