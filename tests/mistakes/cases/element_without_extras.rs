//! A struct has no place for the parts of a document beyond the schema.
//! says: expected a field for the parts beyond the schema
use bankrail_iso20022::{Element, Text};

#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "Item1")]
pub struct Item {
    #[element("Id")]
    pub id: Text<35>,
}

fn main() {}
