//! A single element has a bound of a list.
//! says: expected a `Vec<…>`, because only a list has `min` and `max`
use bankrail_iso20022::{Element, Extras, Text};

#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "Item1")]
pub struct Item {
    #[element("Line", max = 7)]
    pub line: Option<Text<70>>,
    #[element(extras)]
    pub extras: Extras,
}

fn main() {}
