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
