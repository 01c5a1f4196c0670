//! Currencies and their minor units.

use bankrail_values::Currency;

#[test]
fn codes_and_minor_units() {
    for (code, digits) in [
        ("AUD", 2),
        ("JPY", 0),
        ("VND", 0),
        ("KWD", 3),
        ("CLF", 4),
        ("PGK", 2),
        ("SBD", 2),
    ] {
        assert_eq!(
            Currency::parse(code).unwrap().minor_units(),
            Some(digits),
            "{code}"
        );
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
    for code in [
        "AUD", "USD", "SBD", "HKD", "SGD", "INR", "PGK", "VND", "XAF", "XXX", "XAU", "XTS",
    ] {
        assert!(Currency::parse(code).unwrap().is_listed(), "{code}");
    }
    for code in ["QQQ", "ZZZ", "DEM", "AAA"] {
        assert!(!Currency::parse(code).unwrap().is_listed(), "{code}");
    }
}

#[test]
fn a_currency_is_shown_as_its_code() {
    assert_eq!(
        (
            Currency::AUD.as_str(),
            format!("{:?} {}", Currency::AUD, Currency::VND)
        ),
        ("AUD", "AUD VND".to_owned())
    );
}

/// The constants are the currencies of the specification's test accounts.
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
        assert_eq!(
            (currency, currency.minor_units()),
            (Currency::parse(code).unwrap(), Some(digits))
        );
    }
}

/// ISO 4217 list one, typed in by hand: with the number of decimals, and the codes without a minor
/// unit.
#[test]
fn each_code_of_three_letters_is_listed_as_iso_4217_lists_it() {
    let zero = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF";
    let two = "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE \
        CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL \
        HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR \
        MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK \
        SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD \
        XCD XCG YER ZAR ZMW ZWG";
    let lists = [
        (zero, Some(0)),
        (two, Some(2)),
        ("BHD IQD JOD KWD LYD OMR TND", Some(3)),
        ("CLF UYW", Some(4)),
    ];
    let without = "XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX";
    let lists: Vec<_> = lists.into_iter().chain([(without, None)]).collect();
    let letters = || b'A'..=b'Z';
    for code in
        letters().flat_map(|a| letters().flat_map(move |b| letters().map(move |c| [a, b, c])))
    {
        let code = std::str::from_utf8(&code).unwrap();
        let expected = lists
            .iter()
            .find(|(codes, _)| codes.split(' ').any(|listed| listed == code));
        let currency = Currency::parse(code).unwrap();
        let found = (currency.is_listed(), currency.minor_units());
        assert_eq!(
            found,
            (expected.is_some(), expected.and_then(|(_, digits)| *digits)),
            "{code}"
        );
    }
}
