//! An element that tolerant reading may miss has no place for its absence.
//! says: expected `Option<…>`, or `Vec<…>` with `min`, because a `soft` element may be missing
use bankrail_iso20022::{Element, Extras, Text};

#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "Item1")]
pub struct Item {
    #[element("Id", soft)]
    pub id: Text<35>,
    #[element(extras)]
    pub extras: Extras,
}

fn main() {}
