//! Currencies and their minor units.

use bankrail_values::Currency;

#[test]
fn codes_and_minor_units() {
    for (code, digits) in [("AUD", 2), ("JPY", 0), ("VND", 0), ("KWD", 3), ("CLF", 4), ("PGK", 2), ("SBD", 2)] {
        assert_eq!(Currency::parse(code).unwrap().minor_units(), Some(digits), "{code}");
    }
    for code in ["XXX", "XAU", "DEM"] {
        assert_eq!(Currency::parse(code).unwrap().minor_units(), None, "{code}");
    }
    for bad in ["", "AU", "AUDX", "aud", "AU ", "A1D", "ÄUD"] {
        assert!(Currency::parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn listed_and_not() {
    for code in ["AUD", "USD", "SBD", "HKD", "SGD", "INR", "PGK", "VND", "XAF", "XXX", "XAU", "XTS"] {
        assert!(Currency::parse(code).unwrap().is_listed(), "{code}");
    }
    for code in ["QQQ", "ZZZ", "DEM", "AAA"] {
        assert!(!Currency::parse(code).unwrap().is_listed(), "{code}");
    }
}

#[test]
fn a_currency_is_shown_as_its_code() {
    assert_eq!(
        (Currency::AUD.as_str(), format!("{:?} {}", Currency::AUD, Currency::VND)),
        ("AUD", "AUD VND".to_owned())
    );
}

/// The currencies that the specification names for its test accounts.
#[test]
fn each_constant_is_its_code() {
    for (currency, code, digits) in [
        (Currency::AUD, "AUD", 2),
        (Currency::EUR, "EUR", 2),
        (Currency::GBP, "GBP", 2),
        (Currency::HKD, "HKD", 2),
        (Currency::INR, "INR", 2),
        (Currency::JPY, "JPY", 0),
        (Currency::NZD, "NZD", 2),
        (Currency::PGK, "PGK", 2),
        (Currency::SBD, "SBD", 2),
        (Currency::SGD, "SGD", 2),
        (Currency::USD, "USD", 2),
        (Currency::VND, "VND", 0),
    ] {
        assert_eq!((currency, currency.minor_units()), (Currency::parse(code).unwrap(), Some(digits)));
    }
}
