//! Garnishments.

use crate::*;

record! {
    /// A garnishment that the payment serves.
    Garnishment = "Garnishment1" {
        kind: 1..1 GarnishmentType = "Tp",
        garnishee: 0..1 Box<Party> = "Grnshee",
        administrator: 0..1 Box<Party> = "GrnshmtAdmstr",
        reference_number: 0..1 Text<140> = "RefNb",
        date: 0..1 Date = "Dt",
        remitted: 0..1 Amount = "RmtdAmt",
        family_medical_insurance: 0..1 bool = "FmlyMdclInsrncInd" as "TrueFalseIndicator",
        employee_terminated: 0..1 bool = "MplyeeTermntnInd" as "TrueFalseIndicator",
    }

    /// The kind of a garnishment and who issued it.
    GarnishmentType = "GarnishmentType1" {
        code: 1..1 GarnishmentCode = "CdOrPrtry",
        issuer: 0..1 Text<35> = "Issr",
    }
}

code_or_proprietary! {
    /// The kind of a garnishment, of the list or proprietary.
    GarnishmentCode = "GarnishmentType1Choice" { Text<4> as "ExternalGarnishmentType1Code", Text<35> }
}
