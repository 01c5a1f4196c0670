//! The rule is that of another type.
//! says: expected `&str`, found `&Item`
use bankrail_iso20022::{Element, Extras, Text};

#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "Item1", rule = check)]
pub struct Item {
    #[element("Id")]
    pub id: Text<35>,
    #[element(extras)]
    pub extras: Extras,
}

fn check(_: &str, _: &mut impl bankrail_iso20022::__private::Watch) {}

fn main() {}
