//! Decimals as text.

use bankrail_values::{Decimal, parse_decimal};

#[test]
fn keeps_scale_and_refuses_other_spellings() {
    assert_eq!(parse_decimal("-0.10").unwrap().to_string(), "-0.10");
    assert_eq!(
        parse_decimal("79228162514264337593543950335").unwrap(),
        Decimal::MAX
    );
    let expected = |text| parse_decimal(text).map_err(|error| error.expected);
    for bad in [
        "", "-", ".5", "5.", "+5", " 5", "5 ", "1e3", "1_000", "1,0", "NaN", "--5", "٣", "1.2.3",
    ] {
        assert_eq!(expected(bad), Err("a plain decimal"), "{bad:?}");
    }
    for bad in [
        "79228162514264337593543950336",
        "0.00000000000000000000000000001",
    ] {
        assert_eq!(
            expected(bad),
            Err("a decimal of at most 28 digits"),
            "{bad:?}"
        );
    }
}
