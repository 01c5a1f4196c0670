//! Remittance information.

use crate::*;

record! {
    /// What a payment is for, in free text or structured.
    Remittance = "RemittanceInformation11" {
        /// Free text in pieces of up to 140 characters, which belong together without a separator.
        unstructured: 0..* Text<140> = "Ustrd",
        /// Documents paid, amounts and references.
        structured: 0..* StructuredRemittance = "Strd",
    }

    /// Where remittance advice is to be found.
    RemittanceLocation = "RemittanceLocation4" {
        /// The identification of the advice.
        id: 0..1 Text<35> = "RmtId",
        /// How it was sent, and where.
        details: 0..* RemittanceLocationDetails = "RmtLctnDtls",
    }

    /// How and where remittance advice was delivered.
    RemittanceLocationDetails = "RemittanceLocationDetails1" {
        /// How the advice was sent.
        method: 1..1 RemittanceLocationMethod = "Mtd",
        /// A mail address, number or URL.
        electronic_address: 0..1 Text<2048> = "ElctrncAdr",
        /// The postal address.
        address: 0..1 Box<NameAndAddress> = "PstlAdr",
    }

    /// What a payment is for, structured.
    StructuredRemittance = "StructuredRemittanceInformation13" {
        /// The documents that are paid, such as invoices.
        documents: 0..* ReferredDocument = "RfrdDocInf",
        /// The amounts of these documents.
        amounts: 0..1 Box<RemittanceAmounts> = "RfrdDocAmt",
        /// The reference that the creditor asked to be quoted.
        creditor_reference: 0..1 Box<CreditorReference> = "CdtrRefInf",
        /// The party that sent the invoice, if not the creditor.
        invoicer: 0..1 Box<Party> = "Invcr",
        /// The party that received the invoice, if not the debtor.
        invoicee: 0..1 Box<Party> = "Invcee",
        /// Tax that is paid.
        tax: 0..1 Box<RemittanceTax> = "TaxRmt",
        /// Wages that are paid over.
        garnishment: 0..1 Box<Garnishment> = "GrnshmtRmt",
        /// Free text in at most 3 pieces of up to 140 characters.
        additional_information: 0..3 Text<140> = "AddtlRmtInf",
    }

    /// A document that the remittance refers to.
    ReferredDocument = "ReferredDocumentInformation7" {
        /// The kind: invoice, credit note and so on.
        kind: 0..1 ReferredDocumentType = "Tp",
        /// The number of the document.
        number: 0..1 Text<35> = "Nb",
        /// The date of the document.
        date: 0..1 Date = "RltdDt",
        /// The lines of the document that are meant.
        lines: 0..* DocumentLine = "LineDtls",
    }

    /// The kind of a referred document and who issued it.
    ReferredDocumentType = "ReferredDocumentType4" {
        /// The kind, as a code of the list or a proprietary one.
        code: 1..1 ReferredDocumentCode = "CdOrPrtry",
        /// Who issued it.
        issuer: 0..1 Text<35> = "Issr",
    }

    /// The amounts of a referred document.
    RemittanceAmounts = "RemittanceAmount2" {
        /// The amount owed.
        due: 0..1 Amount = "DuePyblAmt",
        /// Discounts taken off.
        discounts: 0..* DiscountAmount = "DscntApldAmt",
        /// The amount of a credit note that is set off.
        credit_note: 0..1 Amount = "CdtNoteAmt",
        /// Tax contained in the amount.
        tax: 0..* TypedTaxAmount = "TaxAmt",
        /// Amounts added or taken off for other reasons.
        adjustments: 0..* DocumentAdjustment = "AdjstmntAmtAndRsn",
        /// The amount paid.
        remitted: 0..1 Amount = "RmtdAmt",
    }

    /// The creditor's own reference, and its kind.
    CreditorReference = "CreditorReferenceInformation2" {
        /// The kind of reference.
        kind: 0..1 CreditorReferenceType = "Tp",
        /// The reference, up to 35 characters, such as an RF reference (ISO 11649).
        reference: 0..1 Text<35> = "Ref",
    }

    /// The kind of a creditor reference and who issued it.
    CreditorReferenceType = "CreditorReferenceType2" {
        /// The kind, as a code of the list or a proprietary one.
        code: 1..1 CreditorReferenceCode = "CdOrPrtry",
        /// Who issued it.
        issuer: 0..1 Text<35> = "Issr",
    }

    /// A discount and its kind.
    DiscountAmount = "DiscountAmountAndType1" {
        /// Why.
        kind: 0..1 DiscountType = "Tp",
        /// The amount, without a sign.
        amount: 1..1 Amount = "Amt",
    }

    /// An adjustment of an amount, with its reason.
    DocumentAdjustment = "DocumentAdjustment1" {
        /// The amount, without a sign.
        amount: 1..1 Amount = "Amt",
        /// Credit if it adds, debit if it takes off.
        direction: 0..1 Direction = "CdtDbtInd",
        /// The reason, as a code of up to 4 characters.
        reason: 0..1 Text<4> = "Rsn" as "Max4Text",
        /// The reason in words.
        additional_information: 0..1 Text<140> = "AddtlInf",
    }

    /// An amount of tax and its kind.
    TypedTaxAmount = "TaxAmountAndType1" {
        /// The kind of tax.
        kind: 0..1 TaxAmountType = "Tp",
        /// The amount, without a sign.
        amount: 1..1 Amount = "Amt",
    }
}

code_or_proprietary! {
    /// The kind of a referred document, of the list or proprietary.
    ReferredDocumentCode = "ReferredDocumentType3Choice" { ReferredDocumentKind, Text<35> }

    /// The kind of a creditor reference, of the list or proprietary.
    CreditorReferenceCode = "CreditorReferenceType1Choice" { ReferenceDocumentType, Text<35> }

    /// The kind of a discount.
    DiscountType = "DiscountAmountType1Choice" { Text<4> as "ExternalDiscountAmountType1Code", Text<35> }

    /// The kind of an amount of tax.
    TaxAmountType = "TaxAmountType1Choice" { Text<4> as "ExternalTaxAmountType1Code", Text<35> }
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
