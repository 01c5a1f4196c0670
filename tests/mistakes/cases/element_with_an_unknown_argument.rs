//! The type of a field states that an element is optional.
//! says: expected `soft`, `min`, `max`, `since`, `until` or `as_of`, found `optional`
use bankrail_iso20022::{Element, Extras, Text};

#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "Item1")]
pub struct Item {
    #[element("Id", optional)]
    pub id: Option<Text<35>>,
    #[element(extras)]
    pub extras: Extras,
}

fn main() {}
