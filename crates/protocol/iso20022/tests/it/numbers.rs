//! Numbers within the schema's digits.

use bankrail_iso20022::__private::{Output, Simple};
use bankrail_iso20022::{
    Amount, ImpliedAmount, NonNegativeDecimal, Number, PlainDecimal, Rate, WholeNumber,
};
use bankrail_values::{Currency, Decimal, Money};

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
        assert_eq!(
            ImpliedAmount::parse(text).unwrap().to_string(),
            value,
            "{text}"
        );
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

/// 28 digits are kept, with the zeros at the end.
#[test]
fn zeros_at_the_end_are_kept_up_to_28_digits() {
    for (text, kept) in [
        (format!("1.{}", "0".repeat(27)), 27),
        (format!("1.{}", "0".repeat(28)), 27),
        (format!("0.{}", "0".repeat(28)), 28),
        (format!("0.{}", "0".repeat(29)), 28),
        (format!("1234567890123.45678{}", "0".repeat(10)), 15),
        (format!("1234567890123.45678{}", "0".repeat(11)), 15),
        (format!("{}1.50", "0".repeat(50)), 2),
        ("1.0500".to_owned(), 4),
        ("1.000001".replace("000001", "00001"), 5),
    ] {
        let number = ImpliedAmount::parse(&text).unwrap();
        assert_eq!(number.value().scale(), kept, "{text}");
        assert!(
            text.trim_start_matches('0')
                .starts_with(number.to_string().trim_start_matches('0')),
            "{text}"
        );
        assert_eq!(format!("{number:?}"), number.to_string());
    }
}

#[test]
fn a_decimal_is_written_with_its_sign_and_its_places() {
    let mantissas = [
        0,
        1,
        9,
        10,
        99,
        100,
        123_456_789,
        i128::from(u64::MAX),
        i128::from(u64::MAX) + 1,
        10_i128.pow(27),
    ];
    for mantissa in mantissas
        .into_iter()
        .flat_map(|mantissa| [mantissa, -mantissa])
    {
        for scale in 0..=28 {
            let value = Decimal::try_from_i128_with_scale(mantissa, scale).unwrap();
            let mut written = String::new();
            Output::plain(&mut written).decimal(value);
            let digits = format!(
                "{:0>width$}",
                mantissa.unsigned_abs(),
                width = scale as usize + 1
            );
            let (whole, places) = digits.split_at(digits.len() - scale as usize);
            let (sign, point) = (
                if mantissa < 0 { "-" } else { "" },
                if scale > 0 { "." } else { "" },
            );
            assert_eq!(written, format!("{sign}{whole}{point}{places}"));
        }
    }
    let mut written = String::new();
    let mut zero = Decimal::ZERO;
    zero.set_sign_negative(true);
    Output::plain(&mut written).decimal(zero);
    assert_eq!(written, "0");
}

#[test]
fn facets_of_a_value_do_not_count_zeros_at_its_end() {
    let decimal = |text: &str| Decimal::from_str_exact(text).unwrap();
    for (text, fits) in [
        ("99.99", true),
        ("100", true),
        ("9999", true),
        ("9999.00", true),
        ("10000", false),
        ("10000.00", false),
        ("100.01", false),
        ("9.999", false),
        ("9.990", true),
        ("9.9900000000", true),
        ("99.9900", true),
        ("0.001", false),
        ("-0.01", false),
        ("-0.00", true),
        ("0", true),
    ] {
        assert_eq!(
            Number::<4, 2, true>::new(decimal(text)).is_ok(),
            fits,
            "{text}"
        );
        assert_eq!(
            Number::<4, 2, true>::try_from(decimal(text)).is_ok(),
            fits,
            "{text}"
        );
        assert_eq!(Number::<4, 2, true>::parse(text).is_ok(), fits, "{text}");
        assert_eq!(
            Amount::<5>::new(decimal(text), Currency::AUD).is_ok(),
            text != "-0.01",
            "{text}"
        );
    }
    assert!(
        Number::<4, 2>::new(decimal("-99.99")).is_ok() && Number::<4, 2>::parse("-10000").is_err()
    );
    let error = ImpliedAmount::parse("-5").unwrap_err();
    assert_eq!(
        (
            error.digits,
            error.fraction,
            error.unsigned,
            error.found.as_str()
        ),
        (18, 5, true, "\"-5\"")
    );
    assert_eq!(
        error.to_string(),
        "expected a decimal of at most 18 digits, 5 after the point, not below zero, found \"-5\""
    );
    let error = Rate::parse("x").unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected a decimal of at most 11 digits, 10 after the point, found \"x\""
    );
}

#[test]
fn an_amount_is_money_where_it_has_a_currency() {
    let amount: Amount = Amount::new(Decimal::new(1250, 2), Currency::AUD).unwrap();
    assert_eq!(
        (amount.to_string().as_str(), format!("{amount:?}").as_str()),
        ("12.50 AUD", "12.50 AUD")
    );
    assert_eq!(amount.currency().map(|code| code.as_str()), Some("AUD"));
    let money = Money::new(Decimal::new(1250, 2), Currency::AUD);
    assert_eq!(amount.to_money(), Some(money));
    assert_eq!(Amount::<5>::try_from(money).unwrap(), amount);
    assert!(Amount::<5>::try_from(Money::new(Decimal::NEGATIVE_ONE, Currency::AUD)).is_err());
    assert_eq!(
        Amount::<5>::new(Decimal::new(0, 2), Currency::AUD)
            .unwrap()
            .value()
            .to_string(),
        "0.00"
    );
    assert!(Amount::<5>::new(Decimal::new(1, 6), Currency::AUD).is_err());
    assert!(Amount::<13>::new(Decimal::new(1, 13), Currency::AUD).is_ok());
    assert!(Amount::<13>::new(Decimal::new(1, 14), Currency::AUD).is_err());
}

/// The expectation for an unreadable text, in the words of the type.
#[test]
fn each_type_says_what_it_expects() {
    fn expected<S: Simple>() -> &'static str {
        S::parse("x").err().unwrap().expected
    }
    for (said, meant) in [
        (expected::<PlainDecimal>(), "a decimal of at most 18 digits"),
        (
            expected::<NonNegativeDecimal>(),
            "a decimal of at most 18 digits, not below zero",
        ),
        (
            expected::<WholeNumber>(),
            "a whole number of at most 18 digits",
        ),
        (
            expected::<Rate>(),
            "a decimal of at most 11 digits, 10 after the point",
        ),
        (
            expected::<ImpliedAmount>(),
            "an amount of at most 18 digits, 5 after the point, not below zero",
        ),
        (
            expected::<Number<18, 13, true>>(),
            "an amount of at most 18 digits, 13 after the point, not below zero",
        ),
        (
            expected::<Number<4, 2>>(),
            "a decimal within the schema's digits",
        ),
        (expected::<bool>(), "true, false, 1 or 0"),
    ] {
        assert_eq!(said, meant);
    }
}
