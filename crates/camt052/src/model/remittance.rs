//! Remittance information.

use crate::model::document_line::DocumentLine;
use crate::model::entry::Direction;
use crate::model::garnishment::Garnishment;
use crate::model::party::{NameAndAddress, Party};
use crate::model::tax::RemittanceTax;
use crate::schema::{choice, codes, record};
use crate::value::amount::Amount;
use crate::value::date::Date;
use crate::value::text::Text;

record! {
    /// What a payment is for, in free text or structured.
    Remittance = "RemittanceInformation11" {
        unstructured: 0..* Text<140> = "Ustrd",
        structured: 0..* StructuredRemittance = "Strd",
    }
}

record! {
    /// Where remittance advice is to be found.
    RemittanceLocation = "RemittanceLocation4" {
        id: 0..1 Text<35> = "RmtId",
        details: 0..* RemittanceLocationDetails = "RmtLctnDtls",
    }
}

record! {
    /// How and where remittance advice was delivered.
    RemittanceLocationDetails = "RemittanceLocationDetails1" {
        method: 1..1 RemittanceLocationMethod = "Mtd",
        electronic_address: 0..1 Text<2048> = "ElctrncAdr",
        address: 0..1 Box<NameAndAddress> = "PstlAdr",
    }
}

record! {
    /// What a payment is for, structured.
    StructuredRemittance = "StructuredRemittanceInformation13" {
        documents: 0..* ReferredDocument = "RfrdDocInf",
        amounts: 0..1 Box<RemittanceAmounts> = "RfrdDocAmt",
        creditor_reference: 0..1 Box<CreditorReference> = "CdtrRefInf",
        invoicer: 0..1 Box<Party> = "Invcr",
        invoicee: 0..1 Box<Party> = "Invcee",
        tax: 0..1 Box<RemittanceTax> = "TaxRmt",
        garnishment: 0..1 Box<Garnishment> = "GrnshmtRmt",
        additional_information: 0..3 Text<140> = "AddtlRmtInf",
    }
}

record! {
    /// A document that the remittance refers to.
    ReferredDocument = "ReferredDocumentInformation7" {
        kind: 0..1 ReferredDocumentType = "Tp",
        number: 0..1 Text<35> = "Nb",
        date: 0..1 Date = "RltdDt",
        lines: 0..* DocumentLine = "LineDtls",
    }
}

record! {
    /// The kind of a referred document and who issued it.
    ReferredDocumentType = "ReferredDocumentType4" {
        code: 1..1 ReferredDocumentCode = "CdOrPrtry",
        issuer: 0..1 Text<35> = "Issr",
    }
}

choice! {
    /// The kind of a referred document, of the list or proprietary.
    ReferredDocumentCode = "ReferredDocumentType3Choice" {
        Code(ReferredDocumentKind) = "Cd",
        Proprietary(Text<35>) = "Prtry",
    }
}

record! {
    /// The amounts of a referred document.
    RemittanceAmounts = "RemittanceAmount2" {
        due: 0..1 Amount = "DuePyblAmt",
        discounts: 0..* DiscountAmount = "DscntApldAmt",
        credit_note: 0..1 Amount = "CdtNoteAmt",
        tax: 0..* TypedTaxAmount = "TaxAmt",
        adjustments: 0..* DocumentAdjustment = "AdjstmntAmtAndRsn",
        remitted: 0..1 Amount = "RmtdAmt",
    }
}

record! {
    /// The creditor's own reference, and its kind.
    CreditorReference = "CreditorReferenceInformation2" {
        kind: 0..1 CreditorReferenceType = "Tp",
        reference: 0..1 Text<35> = "Ref",
    }
}

record! {
    /// The kind of a creditor reference and who issued it.
    CreditorReferenceType = "CreditorReferenceType2" {
        code: 1..1 CreditorReferenceCode = "CdOrPrtry",
        issuer: 0..1 Text<35> = "Issr",
    }
}

choice! {
    /// The kind of a creditor reference, of the list or proprietary.
    CreditorReferenceCode = "CreditorReferenceType1Choice" {
        Code(ReferenceDocumentType) = "Cd",
        Proprietary(Text<35>) = "Prtry",
    }
}

record! {
    /// A discount and its kind.
    DiscountAmount = "DiscountAmountAndType1" {
        kind: 0..1 DiscountType = "Tp",
        amount: 1..1 Amount = "Amt",
    }
}

choice! {
    /// The kind of a discount.
    DiscountType = "DiscountAmountType1Choice" {
        Code(Text<4>) = "Cd",
        Proprietary(Text<35>) = "Prtry",
    }
}

record! {
    /// An adjustment of an amount, with its reason.
    DocumentAdjustment = "DocumentAdjustment1" {
        amount: 1..1 Amount = "Amt",
        direction: 0..1 Direction = "CdtDbtInd",
        reason: 0..1 Text<4> = "Rsn",
        additional_information: 0..1 Text<140> = "AddtlInf",
    }
}

record! {
    /// An amount of tax and its kind.
    TypedTaxAmount = "TaxAmountAndType1" {
        kind: 0..1 TaxAmountType = "Tp",
        amount: 1..1 Amount = "Amt",
    }
}

choice! {
    /// The kind of an amount of tax.
    TaxAmountType = "TaxAmountType1Choice" {
        Code(Text<4>) = "Cd",
        Proprietary(Text<35>) = "Prtry",
    }
}

codes! {
    /// The kind of document that a creditor reference names.
    ReferenceDocumentType = "DocumentType3Code" {
        RemittanceAdvice = "RADM", RelatedPaymentInstruction = "RPIN", ForeignExchangeDeal = "FXDR",
        DispatchAdvice = "DISP", PurchaseOrder = "PUOR", StructuredReference = "SCOR",
    }

    /// The kind of a referred document.
    ReferredDocumentKind = "DocumentType6Code" {
        MeteredServiceInvoice = "MSIN", CreditNoteForFinancialAdjustment = "CNFA",
        DebitNoteForFinancialAdjustment = "DNFA", CommercialInvoice = "CINV", CreditNote = "CREN", DebitNote = "DEBN",
        HireInvoice = "HIRI", SelfBilledInvoice = "SBIN", CommercialContract = "CMCN", StatementOfAccount = "SOAC",
        DispatchAdvice = "DISP", BillOfLading = "BOLD", Voucher = "VCHR", AccountReceivableOpenItem = "AROI",
        TradeServicesTransaction = "TSUT", PurchaseOrder = "PUOR",
    }

    /// How remittance advice is delivered.
    RemittanceLocationMethod = "RemittanceLocationMethod2Code" {
        Fax = "FAXI", ElectronicDataInterchange = "EDIC", Uri = "URID", Email = "EMAL", Post = "POST", Sms = "SMSM",
    }
}
