//! Numbers within the schema's digits.

use bankrail_iso20022::{ImpliedAmount, NonNegativeDecimal, PlainDecimal, Rate, WholeNumber};
use bankrail_values::Decimal;

#[test]
fn amounts_as_the_schema_reads_them() {
    for (text, value) in [
        ("100", "100"),
        ("0.10", "0.10"),
        (".5", "0.5"),
        ("5.", "5"),
        ("+5", "5"),
        ("-0", "0"),
        (" 10.00 ", "10.00"),
        ("\n1\t", "1"),
        ("000000000000149.87", "149.87"),
        ("10.000000", "10.000000"),
        ("123456789012345678", "123456789012345678"),
        ("1234567890123.45678", "1234567890123.45678"),
        ("0.00001", "0.00001"),
    ] {
        assert_eq!(ImpliedAmount::parse(text).unwrap().to_string(), value, "{text}");
    }
    for text in [
        "",
        "-5",
        "1e3",
        "10.000001",
        "1234567890123456789",
        "1,000.00",
        "NaN",
        "INF",
        "٥",
        "5 5",
        "+",
        ".",
        "1.2.3",
        "0x10",
        "--1",
        "\u{a0}1",
    ] {
        assert!(ImpliedAmount::parse(text).is_err(), "{text}");
    }
    let long = format!("1.{}", "0".repeat(60));
    assert_eq!(ImpliedAmount::parse(&long).unwrap().value(), Decimal::ONE);
    assert_eq!(WholeNumber::parse("-7").unwrap().to_string(), "-7");
    assert!(WholeNumber::parse("7.1").is_err() && WholeNumber::parse("7.0").is_ok());
    assert_eq!(PlainDecimal::parse("-0.50").unwrap().to_string(), "-0.50");
    assert!(NonNegativeDecimal::new(Decimal::NEGATIVE_ONE).is_err());
    assert!(Rate::new(Decimal::new(123_456_789_012, 0)).is_err());
}
