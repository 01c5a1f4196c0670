//! The argument of a struct is misspelled.
//! says: expected `type` or `rule`, found `rules`
use bankrail_iso20022::{Element, Extras, Text};

#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "Item1", rules = check)]
pub struct Item {
    #[element("Id")]
    pub id: Text<35>,
    #[element(extras)]
    pub extras: Extras,
}

fn main() {}
