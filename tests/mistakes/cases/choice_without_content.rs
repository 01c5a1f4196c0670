//! An alternative of a choice does not have the content of its element.
//! says: expected the content of the element: `Iban(…)`
use bankrail_iso20022::Choice;

#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "AccountIdentification4Choice")]
pub enum AccountIdentification {
    #[element("IBAN")]
    Iban,
    #[element(unknown)]
    Unknown,
}

fn main() {}
