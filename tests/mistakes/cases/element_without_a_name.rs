//! A field does not name its element.
//! says: expected the name in the schema: `#[element("Nm")]`
use bankrail_iso20022::{Element, Extras, Text};

#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "Item1")]
pub struct Item {
    pub id: Text<35>,
    #[element(extras)]
    pub extras: Extras,
}

fn main() {}
