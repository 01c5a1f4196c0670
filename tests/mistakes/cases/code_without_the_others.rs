//! A list of codes has no variant for a code that it does not have.
//! says: expected a variant for other codes: `#[code(other)] Other(UnknownCode)`
use bankrail_iso20022::Code;

#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "CreditDebitCode")]
pub enum Direction {
    #[code("CRDT")]
    Credit,
}

fn main() {}
