//! An amount is written as a number with a fraction.
//! says: expected `Decimal`, found floating-point number
use bankrail::values::{Currency, Money};

fn amount(currency: Currency) -> Money {
    Money::new(12.5, currency)
}

fn main() {}
