//! Charges.

use crate::model::agent::Agent;
use crate::model::entry::Direction;
use bankrail_iso20022::{Amount, Rate, Text, choice, codes, record};

record! {
    /// Charges: their total and each of them.
    Charges = "Charges4" {
        /// With the tax on them.
        total: 0..1 Amount = "TtlChrgsAndTaxAmt",
        /// Each item.
        records: 0..* ChargeRecord = "Rcrd",
    }
}

record! {
    /// One charge.
    ChargeRecord = "ChargesRecord2" {
        /// Without a sign.
        amount: 1..1 Amount = "Amt",
        /// Debit if the owner owes it, credit if it is given back.
        direction: 0..1 Direction = "CdtDbtInd",
        /// Whether the amount of the entry or transaction already has it in.
        included: 0..1 bool = "ChrgInclInd" as "ChargeIncludedIndicator",
        /// What it is for.
        kind: 0..1 ChargeType = "Tp",
        /// In per cent.
        rate: 0..1 Rate = "Rate" as "PercentageRate",
        /// Who of the parties pays it.
        bearer: 0..1 ChargeBearer = "Br",
        /// Which bank takes it.
        agent: 0..1 Box<Agent> = "Agt",
        /// On it.
        tax: 0..1 Box<TaxCharges> = "Tax",
    }
}

choice! {
    /// The kind of a charge.
    ChargeType = "ChargeType3Choice" {
        Code(Text<4>) = "Cd" as "ExternalChargeType1Code",
        Proprietary(IssuedId) = "Prtry",
    }
}

record! {
    /// An identification and who issued it.
    IssuedId = "GenericIdentification3" {
        /// Up to 35 characters.
        id: 1..1 Text<35> = "Id",
        /// Who gave it out.
        issuer: 0..1 Text<35> = "Issr",
    }
}

record! {
    /// Tax on charges or interest.
    TaxCharges = "TaxCharges2" {
        /// Of the tax.
        id: 0..1 Text<35> = "Id",
        /// In per cent.
        rate: 0..1 Rate = "Rate" as "PercentageRate",
        /// Without a sign.
        amount: 0..1 Amount = "Amt",
    }
}

codes! {
    /// Who bears charges.
    ChargeBearer = "ChargeBearerType1Code" {
        Debtor = "DEBT", Creditor = "CRED", Shared = "SHAR", ServiceLevel = "SLEV",
    }
}
