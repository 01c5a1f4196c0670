//! Amounts of money.

use bankrail_values::{Currency, Decimal, Money, MoneyError};

fn money(text: &str) -> Money {
    text.parse().unwrap()
}

#[test]
fn sums_are_exact_and_of_one_currency() {
    assert_eq!(
        money("0.1 AUD")
            .checked_add(&money("0.20 AUD"))
            .unwrap()
            .to_string(),
        "0.30 AUD"
    );
    assert_eq!(
        money("1 AUD").checked_sub(&money("1 USD")),
        Err(MoneyError::CurrencyMismatch {
            left: Currency::AUD,
            right: Currency::USD
        })
    );
    let most = Money::new(Decimal::MAX, Currency::AUD);
    assert_eq!(most.checked_add(&money("1 AUD")), Err(MoneyError::Overflow));
}

#[test]
fn minor_units_lose_nothing() {
    assert_eq!(
        money("5 AUD").rescale_to_minor_units().unwrap().to_string(),
        "5.00 AUD"
    );
    assert_eq!(
        money("10.0000 AUD")
            .rescale_to_minor_units()
            .unwrap()
            .to_string(),
        "10.00 AUD"
    );
    assert_eq!(
        money("5.0 VND")
            .rescale_to_minor_units()
            .unwrap()
            .to_string(),
        "5 VND"
    );
    assert!(money("5.1 VND").rescale_to_minor_units().is_err());
    assert!(money("5 XXX").rescale_to_minor_units().is_err());
    assert_eq!(
        Money::new(Decimal::MAX, Currency::AUD).rescale_to_minor_units(),
        Err(MoneyError::Overflow)
    );
}

#[test]
fn an_amount_has_two_parts_and_a_difference_its_sign() {
    let amount = money("12.50 AUD");
    assert_eq!(
        (amount.amount().to_string(), amount.currency()),
        ("12.50".to_owned(), Currency::AUD)
    );
    assert_eq!(
        amount.checked_sub(&money("20.00 AUD")).unwrap().to_string(),
        "-7.50 AUD"
    );
    for bad in ["12.50", "12.50AUD", "x AUD", "1 aud", " 1 AUD", "1  AUD"] {
        assert!(bad.parse::<Money>().is_err(), "{bad:?}");
    }
}

#[test]
fn amounts_stand_in_columns() {
    let padded = [
        format!("[{:>12}]", money("-5.00 AUD")),
        format!("[{:12}]", money("5 VND")),
    ];
    assert_eq!(padded, ["[   -5.00 AUD]", "[5 VND       ]"]);
}
