//! A list has room for one element only.
//! says: expected a `max` of at least 2
use bankrail_iso20022::{Element, Extras, Text};

#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "Item1")]
pub struct Item {
    #[element("Line", max = 1)]
    pub lines: Vec<Text<70>>,
    #[element(extras)]
    pub extras: Extras,
}

fn main() {}
