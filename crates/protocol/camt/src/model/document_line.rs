//! Lines of referred documents.

use crate::*;

record! {
    /// A line of a referred document.
    DocumentLine = "DocumentLineInformation1" {
        ids: 1..* DocumentLineId = "Id",
        description: 0..1 Text<2048> = "Desc",
        amount: 0..1 Box<LineAmounts> = "Amt",
    }

    /// The identification of a line of a document.
    DocumentLineId = "DocumentLineIdentification1" {
        kind: 0..1 DocumentLineType = "Tp",
        number: 0..1 Text<35> = "Nb",
        date: 0..1 Date = "RltdDt",
    }

    /// The kind of a line and who issued it.
    DocumentLineType = "DocumentLineType1" {
        code: 1..1 DocumentLineCode = "CdOrPrtry",
        issuer: 0..1 Text<35> = "Issr",
    }

    /// The amounts of a line.
    LineAmounts = "RemittanceAmount3" {
        due: 0..1 Amount = "DuePyblAmt",
        discounts: 0..* DiscountAmount = "DscntApldAmt",
        credit_note: 0..1 Amount = "CdtNoteAmt",
        tax: 0..* TypedTaxAmount = "TaxAmt",
        adjustments: 0..* DocumentAdjustment = "AdjstmntAmtAndRsn",
        remitted: 0..1 Amount = "RmtdAmt",
    }
}

code_or_proprietary! {
    /// The kind of a line, of the list or proprietary.
    DocumentLineCode = "DocumentLineType1Choice" { Text<4> as "ExternalDocumentLineType1Code", Text<35> }
}
