//! Identifiers and their check digits.

use bankrail_iso20022::{
    AlphaNumeric4, Bic, CountryCode, CurrencyCode, Digits, Iban, Isin, LanguageCode, PhoneNumber,
    SignedDays, Text,
};

#[test]
fn patterns_are_those_of_the_schema() {
    for good in ["DE89370400440532013000", "GB82WEST12345698765432", "NO00a"] {
        assert!(Iban::new(good).is_valid(), "{good}");
    }
    for bad in [
        "",
        "DE8",
        "DE89",
        "de89370400440532013000",
        "DE8937040044053201300012345678901234",
        "DE89 3704",
    ] {
        assert!(!Iban::new(bad).is_valid(), "{bad}");
    }
    assert!(Iban::new("DE89370400440532013000").has_valid_check_digits());
    assert!(Iban::new("GB82WEST12345698765432").has_valid_check_digits());
    assert!(!Iban::new("DE88370400440532013000").has_valid_check_digits());
    for good in ["DEUTDEFF", "DEUTDEFF500", "ABCDEF2A", "ABCDEFZ0XXX"] {
        assert!(Bic::new(good).is_valid(), "{good}");
    }
    for bad in [
        "DEUTDEF",
        "DEUTDEFO",
        "DEUTDE1F",
        "DEUTDEFF5",
        "DEUTDEFF50",
        "deutdeff",
        "DEUTDEFF5000",
        "",
    ] {
        assert!(!Bic::new(bad).is_valid(), "{bad}");
    }
    for (text, good) in [
        ("+61-400123456", true),
        ("+1-(2)+3-4", true),
        ("61-4", false),
        ("+61-", false),
        ("+6123-4", false),
    ] {
        assert_eq!(PhoneNumber::new(text).is_valid(), good, "{text}");
    }
    for (text, good) in [
        ("US0378331005", true),
        ("US037833100A", false),
        ("u00378331005", false),
    ] {
        assert_eq!(Isin::new(text).is_valid(), good, "{text}");
    }
}

/// Tests texts of any length around the right one, and with any one character in any place.
#[test]
fn patterns_are_those_of_the_schema_to_the_letter() {
    type Judge = fn(&str) -> bool;
    let types: [(&str, Judge, &[&str]); 8] = [
        (
            "[A-Z]{2,2}[0-9]{2,2}[a-zA-Z0-9]{1,30}",
            |text| Iban::new(text).is_valid(),
            &["DE89370400440532013000"],
        ),
        (
            "[A-Z]{6,6}[A-Z2-9][A-NP-Z0-9]([A-Z0-9]{3,3}){0,1}",
            |text| Bic::new(text).is_valid(),
            &["DEUTDEFF500"],
        ),
        (
            "[A-Z]{3,3}",
            |text| CurrencyCode::new(text).is_valid(),
            &["AUD"],
        ),
        (
            "[A-Z]{2,2}",
            |text| CountryCode::new(text).is_valid(),
            &["AU"],
        ),
        (
            "[a-z]{2,2}",
            |text| LanguageCode::new(text).is_valid(),
            &["en"],
        ),
        (
            "[A-Z]{2,2}[A-Z0-9]{9,9}[0-9]{1,1}",
            |text| Isin::new(text).is_valid(),
            &["US0378331005"],
        ),
        (
            r"\+[0-9]{1,3}-[0-9()+\-]{1,30}",
            |text| PhoneNumber::new(text).is_valid(),
            &["+61-(4)+00-123456", "+613-4"],
        ),
        (
            "[a-zA-Z0-9]{4}",
            |text| AlphaNumeric4::new(text).is_valid(),
            &["aZ09"],
        ),
    ];
    let others: Vec<String> = (0..=0x7f_u8)
        .map(|b| char::from(b).to_string())
        .chain(["\u{e9}".to_owned(), "\u{661}".to_owned()])
        .collect();
    for (pattern, is_valid, texts) in types {
        let expected = regex::Regex::new(&format!("^(?:{pattern})$")).unwrap();
        let mut valid = [0, 0];
        for text in texts {
            let long = text
                .chars()
                .chain(std::iter::repeat(text.chars().last().unwrap()));
            for length in 0..=text.len() + 40 {
                let text: String = long.clone().take(length).collect();
                let places = [0, length / 2, length].into_iter().chain(0..length.min(14));
                let changed = places.flat_map(|at| {
                    let (before, after) = text.split_at(at);
                    let after = after.get(1..).unwrap_or_default();
                    others
                        .iter()
                        .map(move |other| format!("{before}{other}{after}"))
                });
                for text in changed.chain([text.clone()]) {
                    assert_eq!(
                        is_valid(&text),
                        expected.is_match(&text),
                        "{text:?} {pattern}"
                    );
                    valid[usize::from(is_valid(&text))] += 1;
                }
            }
        }
        assert!(valid.iter().all(|count| *count > 10), "{valid:?} {pattern}");
    }
}

/// Check digits are wrong as soon as one character is another.
#[test]
fn check_digits_see_each_character() {
    for (good, digits) in [
        ("DE89370400440532013000", 4),
        ("GB82WEST12345698765432", 8),
        ("NO9386011117947", 4),
        ("AT611904300234573201", 4),
        ("FR7630006000011234567890189", 4),
    ] {
        assert!(Iban::new(good).has_valid_check_digits(), "{good}");
        for at in (2..4).chain(digits..good.len()) {
            let other = char::from(b'0' + (good.as_bytes()[at] - b'0' + 1) % 10);
            let mut changed = good.to_owned();
            changed.replace_range(at..=at, &other.to_string());
            assert!(!Iban::new(&changed).has_valid_check_digits(), "{changed}");
        }
    }
    for bad in ["", "DE8", "DE89", "de89370400440532013000"] {
        assert!(!Iban::new(bad).has_valid_check_digits(), "{bad}");
    }
}

#[test]
fn codes_and_digits_as_values() {
    assert_eq!(
        CurrencyCode::new("AUD").to_currency(),
        Some(bankrail_values::Currency::AUD)
    );
    assert_eq!(CurrencyCode::new("aud").to_currency(), None);
    assert_eq!(
        CurrencyCode::from(bankrail_values::Currency::AUD).as_str(),
        "AUD"
    );
    for (text, number) in [
        ("007", Some(7)),
        ("123456", Some(123_456)),
        ("12", None),
        ("1234567", None),
        ("12a", None),
    ] {
        assert_eq!(Digits::<3, 6>::new(text).to_number(), number, "{text}");
    }
    assert_eq!(
        Digits::<1, 30>::new("18446744073709551615").to_number(),
        Some(u64::MAX)
    );
    assert_eq!(
        Digits::<1, 30>::new("18446744073709551616").to_number(),
        None
    );
    assert_eq!(Digits::<3, 6>::from(7).as_str(), "007");
    assert_eq!(Digits::<1, 5>::from(7).as_str(), "7");
    for (text, valid) in [
        ("+1", true),
        ("1", true),
        ("123456789012345", true),
        ("1234567890123456", false),
        ("+", false),
    ] {
        assert_eq!(SignedDays::new(text).is_valid(), valid, "{text}");
    }
    for (text, valid) in [
        ("", false),
        ("👍", true),
        ("a", true),
        ("👍a", false),
        ("ab", false),
    ] {
        assert_eq!(Text::<1>::new(text).is_valid(), valid, "{text}");
    }
    let text = Text::<4>::from("a\"b".to_owned());
    assert_eq!(
        (format!("{text}"), format!("{text:?}"), text.as_ref()),
        ("a\"b".into(), "\"a\\\"b\"".into(), "a\"b")
    );
    assert!(text == *"a\"b" && text == "a\"b" && text != "b" && text != *"b");
    assert!(CountryCode::new("AU").is_valid() && !CountryCode::new("au").is_valid());
    assert!(Bic::new("DEUTDEFF").is_valid());
}
