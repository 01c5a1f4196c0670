//! Decimals as text.

use bankrail_values::{Decimal, DecimalError, parse_decimal};

#[test]
fn keeps_scale_and_refuses_other_spellings() {
    assert_eq!(parse_decimal("-0.10").unwrap().to_string(), "-0.10");
    assert_eq!(
        parse_decimal("79228162514264337593543950335").unwrap(),
        Decimal::MAX
    );
    for bad in [
        "", "-", ".5", "5.", "+5", " 5", "5 ", "1e3", "1_000", "1,0", "NaN", "--5", "٣", "1.2.3",
    ] {
        assert!(
            matches!(parse_decimal(bad), Err(DecimalError::Format { .. })),
            "{bad:?}"
        );
    }
    for bad in [
        "79228162514264337593543950336",
        "0.00000000000000000000000000001",
    ] {
        assert!(
            matches!(parse_decimal(bad), Err(DecimalError::Range { .. })),
            "{bad:?}"
        );
    }
}
