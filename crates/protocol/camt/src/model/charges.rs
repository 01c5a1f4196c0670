//! Charges.

use crate::*;

record! {
    /// Charges: their total and each of them.
    Charges = "Charges4" {
        /// With the tax on them.
        total: 0..1 Amount = "TtlChrgsAndTaxAmt",
        /// Each item.
        records: 0..* ChargeRecord = "Rcrd",
    }

    /// One charge.
    ChargeRecord = "ChargesRecord2" {
        /// The amount, without a sign.
        amount: 1..1 Amount = "Amt",
        /// Debit if the owner owes it, credit if it is given back.
        direction: 0..1 Direction = "CdtDbtInd",
        /// True when the amount of the entry or transaction includes it.
        included: 0..1 bool = "ChrgInclInd" as "ChargeIncludedIndicator",
        /// The kind of charge.
        kind: 0..1 ChargeType = "Tp",
        /// The rate, in per cent.
        rate: 0..1 Rate = "Rate" as "PercentageRate",
        /// The party that pays it.
        bearer: 0..1 ChargeBearer = "Br",
        /// The bank that takes it.
        agent: 0..1 Box<Agent> = "Agt",
        /// The tax on the charge.
        tax: 0..1 Box<TaxCharges> = "Tax",
    }

    /// An identification and who issued it.
    IssuedId = "GenericIdentification3" {
        /// The identification, up to 35 characters.
        id: 1..1 Text<35> = "Id",
        /// Who issued it.
        issuer: 0..1 Text<35> = "Issr",
    }

    /// Tax on charges or interest.
    TaxCharges = "TaxCharges2" {
        /// The identification of the tax.
        id: 0..1 Text<35> = "Id",
        /// The rate, in per cent.
        rate: 0..1 Rate = "Rate" as "PercentageRate",
        /// The amount, without a sign.
        amount: 0..1 Amount = "Amt",
    }
}

code_or_proprietary! {
    /// The kind of a charge.
    ChargeType = "ChargeType3Choice" { Text<4> as "ExternalChargeType1Code", IssuedId }
}

codes! {
    /// Who bears charges.
    ChargeBearer = "ChargeBearerType1Code" {
        Debtor = "DEBT", Creditor = "CRED", Shared = "SHAR", ServiceLevel = "SLEV",
    }
}
