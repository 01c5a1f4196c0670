//! Two fields have the name of one element.
//! says: `Id` is the name of `id` already
use bankrail_iso20022::{Element, Extras, Text};

#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "Item1")]
pub struct Item {
    #[element("Id")]
    pub id: Text<35>,
    #[element("Id")]
    pub name: Option<Text<35>>,
    #[element(extras)]
    pub extras: Extras,
}

fn main() {}
