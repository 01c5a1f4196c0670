//! Account identifiers.

use bankrail_statement::AccountId;

#[test]
fn characters_and_length() {
    for good in ["1", "A.b", "000000000000000", &"9".repeat(34)] {
        assert_eq!(AccountId::parse(good).unwrap().as_str(), good);
    }
    for bad in ["", "1-2", "1 2", "é", "1\n", &"9".repeat(35)] {
        assert!(AccountId::parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn reserved_numbers() {
    let reserved = |text: &str| {
        AccountId::parse(text)
            .unwrap()
            .is_reserved_for_negative_testing()
    };
    for digit in 1..=9 {
        assert!(reserved(&format!("012003{}", digit.to_string().repeat(9))));
        assert!(reserved(&format!("999999{}", digit.to_string().repeat(9))));
    }
    for free in [
        "000000000000000",
        "012003000000000",
        "012003111111112",
        "01200311111111",
        "0120031111111111",
        "01200A111111111",
        "111111111",
    ] {
        assert!(!reserved(free), "{free}");
    }
}

#[test]
fn an_account_is_shown_as_it_is() {
    let account = AccountId::parse("A.1").unwrap();
    let borrowed: &str = std::borrow::Borrow::borrow(&account);
    assert_eq!(
        (borrowed, account.to_string(), format!("{account:?}")),
        ("A.1", "A.1".to_owned(), "\"A.1\"".to_owned())
    );
    assert_eq!(AccountId::MAX_LENGTH, 34);
}
