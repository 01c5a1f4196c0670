//! Charges.

use crate::model::agent::Agent;
use crate::model::entry::Direction;
use crate::schema::{choice, codes, record};
use crate::value::amount::Amount;
use crate::value::number::Rate;
use crate::value::text::Text;

record! {
    /// Charges: their total and each of them.
    Charges = "Charges4" {
        total: 0..1 Amount = "TtlChrgsAndTaxAmt",
        records: 0..* ChargeRecord = "Rcrd",
    }
}

record! {
    /// One charge.
    ChargeRecord = "ChargesRecord2" {
        amount: 1..1 Amount = "Amt",
        direction: 0..1 Direction = "CdtDbtInd",
        included: 0..1 bool = "ChrgInclInd",
        kind: 0..1 ChargeType = "Tp",
        rate: 0..1 Rate = "Rate",
        bearer: 0..1 ChargeBearer = "Br",
        agent: 0..1 Box<Agent> = "Agt",
        tax: 0..1 Box<TaxCharges> = "Tax",
    }
}

choice! {
    /// The kind of a charge.
    ChargeType = "ChargeType3Choice" {
        Code(Text<4>) = "Cd",
        Proprietary(IssuedId) = "Prtry",
    }
}

record! {
    /// An identification and who issued it.
    IssuedId = "GenericIdentification3" {
        id: 1..1 Text<35> = "Id",
        issuer: 0..1 Text<35> = "Issr",
    }
}

record! {
    /// Tax on charges or interest.
    TaxCharges = "TaxCharges2" {
        id: 0..1 Text<35> = "Id",
        rate: 0..1 Rate = "Rate",
        amount: 0..1 Amount = "Amt",
    }
}

codes! {
    /// Who bears charges.
    ChargeBearer = "ChargeBearerType1Code" {
        Debtor = "DEBT", Creditor = "CRED", Shared = "SHAR", ServiceLevel = "SLEV",
    }
}
