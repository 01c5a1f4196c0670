//! Remittance information.

use crate::*;

/// The purpose of a payment, in free text or structured.
///
/// `RemittanceInformation11` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "RemittanceInformation11")]
#[non_exhaustive]
pub struct Remittance {
    /// Free text in pieces of up to 140 characters, which belong together without a separator.
    /// `Ustrd`.
    #[element("Ustrd")]
    pub unstructured: Vec<Text<140>>,
    /// The documents paid, with amounts and references. `Strd`.
    #[element("Strd")]
    pub structured: Vec<StructuredRemittance>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// Where remittance advice is to be found.
///
/// `RemittanceLocation4` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "RemittanceLocation4")]
#[non_exhaustive]
pub struct RemittanceLocation {
    /// The identification of the advice. `RmtId`.
    #[element("RmtId")]
    pub id: Option<Text<35>>,
    /// The way and the place in which the advice was sent. `RmtLctnDtls`.
    #[element("RmtLctnDtls", since = 5)]
    pub details: Vec<RemittanceLocationDetails>,
    /// The way that the remittance information is sent. `RmtLctnMtd`, until version 04.
    #[element("RmtLctnMtd", until = 4)]
    pub method: Option<RemittanceLocationMethod>,
    /// The electronic address. `RmtLctnElctrncAdr`, until version 04.
    #[element("RmtLctnElctrncAdr", until = 4)]
    pub electronic_address: Option<Text<2048>>,
    /// The postal address. `RmtLctnPstlAdr`, until version 04.
    #[element("RmtLctnPstlAdr", until = 4)]
    pub address: Option<Box<NameAndAddress>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The way and the place in which remittance advice was delivered.
///
/// `RemittanceLocationDetails1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "RemittanceLocationDetails1")]
#[non_exhaustive]
pub struct RemittanceLocationDetails {
    /// The way in which the advice was sent. `Mtd`.
    #[element("Mtd")]
    pub method: RemittanceLocationMethod,
    /// An e-mail address, telephone number or URL. `ElctrncAdr`.
    #[element("ElctrncAdr")]
    pub electronic_address: Option<Text<2048>>,
    /// The postal address. `PstlAdr`.
    #[element("PstlAdr")]
    pub address: Option<Box<NameAndAddress>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The purpose of a payment, structured.
///
/// `StructuredRemittanceInformation13` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "StructuredRemittanceInformation13")]
#[non_exhaustive]
pub struct StructuredRemittance {
    /// The documents that are paid, such as invoices. `RfrdDocInf`.
    #[element("RfrdDocInf")]
    pub documents: Vec<ReferredDocument>,
    /// The amounts of these documents. `RfrdDocAmt`.
    #[element("RfrdDocAmt")]
    pub amounts: Option<Box<RemittanceAmounts>>,
    /// The reference that the creditor asked to be quoted. `CdtrRefInf`.
    #[element("CdtrRefInf")]
    pub creditor_reference: Option<Box<CreditorReference>>,
    /// The party that sent the invoice, if not the creditor. `Invcr`.
    #[element("Invcr")]
    pub invoicer: Option<Box<Party>>,
    /// The party that received the invoice, if not the debtor. `Invcee`.
    #[element("Invcee")]
    pub invoicee: Option<Box<Party>>,
    /// The tax that is paid. `TaxRmt`.
    #[element("TaxRmt", since = 5)]
    pub tax: Option<Box<RemittanceTax>>,
    /// The garnished wages that are paid over. `GrnshmtRmt`.
    #[element("GrnshmtRmt", since = 5)]
    pub garnishment: Option<Box<Garnishment>>,
    /// Free text in at most 3 pieces of up to 140 characters. `AddtlRmtInf`, at most 3.
    #[element("AddtlRmtInf", max = 3)]
    pub additional_information: Vec<Text<140>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A document that the remittance refers to.
///
/// `ReferredDocumentInformation7` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "ReferredDocumentInformation7")]
#[non_exhaustive]
pub struct ReferredDocument {
    /// The kind of document, such as an invoice or a credit note. `Tp`.
    #[element("Tp")]
    pub kind: Option<ReferredDocumentType>,
    /// The number of the document. `Nb`.
    #[element("Nb")]
    pub number: Option<Text<35>>,
    /// The date of the document. `RltdDt`.
    #[element("RltdDt")]
    pub date: Option<IsoDate>,
    /// The lines of the document that are meant. `LineDtls`.
    #[element("LineDtls", since = 6)]
    pub lines: Vec<DocumentLine>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The kind of a referred document and who issued it.
///
/// `ReferredDocumentType4` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "ReferredDocumentType4")]
#[non_exhaustive]
pub struct ReferredDocumentType {
    /// The kind of document, as a code of the list or a proprietary one. `CdOrPrtry`.
    #[element("CdOrPrtry")]
    pub code: ReferredDocumentCode,
    /// The issuer of the identification. `Issr`.
    #[element("Issr")]
    pub issuer: Option<Text<35>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The amounts of a referred document.
///
/// `RemittanceAmount2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "RemittanceAmount2")]
#[non_exhaustive]
pub struct RemittanceAmounts {
    /// The amount owed. `DuePyblAmt`.
    #[element("DuePyblAmt")]
    pub due: Option<Amount>,
    /// The discounts that are subtracted. `DscntApldAmt`.
    #[element("DscntApldAmt", since = 3)]
    pub discounts: Vec<DiscountAmount>,
    /// The discount. `DscntApldAmt`, until version 02.
    #[element("DscntApldAmt", until = 2)]
    pub discount: Option<Amount>,
    /// The amount of a credit note that is subtracted. `CdtNoteAmt`.
    #[element("CdtNoteAmt")]
    pub credit_note: Option<Amount>,
    /// The tax contained in the amount. `TaxAmt`.
    #[element("TaxAmt", since = 3)]
    pub tax: Vec<TypedTaxAmount>,
    /// The tax. `TaxAmt`, until version 02.
    #[element("TaxAmt", until = 2)]
    pub tax_amount: Option<Amount>,
    /// The amounts that are added or subtracted for other reasons. `AdjstmntAmtAndRsn`.
    #[element("AdjstmntAmtAndRsn")]
    pub adjustments: Vec<DocumentAdjustment>,
    /// The amount paid. `RmtdAmt`.
    #[element("RmtdAmt")]
    pub remitted: Option<Amount>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The creditor's own reference, and its kind.
///
/// `CreditorReferenceInformation2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "CreditorReferenceInformation2")]
#[non_exhaustive]
pub struct CreditorReference {
    /// The kind of reference. `Tp`.
    #[element("Tp")]
    pub kind: Option<CreditorReferenceType>,
    /// The reference, up to 35 characters, such as an RF reference (ISO 11649). `Ref`.
    #[element("Ref")]
    pub reference: Option<Text<35>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The kind of a creditor reference and who issued it.
///
/// `CreditorReferenceType2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "CreditorReferenceType2")]
#[non_exhaustive]
pub struct CreditorReferenceType {
    /// The kind of reference, as a code of the list or a proprietary one. `CdOrPrtry`.
    #[element("CdOrPrtry")]
    pub code: CreditorReferenceCode,
    /// The issuer of the identification. `Issr`.
    #[element("Issr")]
    pub issuer: Option<Text<35>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A discount and its kind.
///
/// `DiscountAmountAndType1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "DiscountAmountAndType1")]
#[non_exhaustive]
pub struct DiscountAmount {
    /// The kind of discount. `Tp`.
    #[element("Tp")]
    pub kind: Option<DiscountType>,
    /// The amount, without a sign. `Amt`.
    #[element("Amt")]
    pub amount: Amount,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// An adjustment of an amount, with its reason.
///
/// `DocumentAdjustment1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "DocumentAdjustment1")]
#[non_exhaustive]
pub struct DocumentAdjustment {
    /// The amount, without a sign. `Amt`.
    #[element("Amt")]
    pub amount: Amount,
    /// The direction: credit if the adjustment adds, debit if it subtracts. `CdtDbtInd`.
    #[element("CdtDbtInd")]
    pub direction: Option<Direction>,
    /// The reason, as a code of up to 4 characters. `Rsn`.
    #[element("Rsn")]
    pub reason: Option<Text<4>>,
    /// The reason in words. `AddtlInf`.
    #[element("AddtlInf")]
    pub additional_information: Option<Text<140>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// An amount of tax and its kind.
///
/// `TaxAmountAndType1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "TaxAmountAndType1")]
#[non_exhaustive]
pub struct TypedTaxAmount {
    /// The kind of tax. `Tp`.
    #[element("Tp")]
    pub kind: Option<TaxAmountType>,
    /// The amount, without a sign. `Amt`.
    #[element("Amt")]
    pub amount: Amount,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The kind of a referred document, of the list or proprietary.
///
/// `ReferredDocumentType3Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "ReferredDocumentType3Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum ReferredDocumentCode {
    /// A code of the list. `Cd`.
    #[element("Cd")]
    Code(ReferredDocumentKind),
    /// A code or name that the list does not have. `Prtry`.
    #[element("Prtry")]
    Proprietary(Text<35>),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// The kind of a creditor reference, of the list or proprietary.
///
/// `CreditorReferenceType1Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "CreditorReferenceType1Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum CreditorReferenceCode {
    /// A code of the list. `Cd`.
    #[element("Cd")]
    Code(ReferenceDocumentType),
    /// A code or name that the list does not have. `Prtry`.
    #[element("Prtry")]
    Proprietary(Text<35>),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// The kind of a discount.
///
/// `DiscountAmountType1Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "DiscountAmountType1Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum DiscountType {
    /// A code of the list. `Cd`.
    #[element("Cd")]
    Code(Text<4>),
    /// A code or name that the list does not have. `Prtry`.
    #[element("Prtry")]
    Proprietary(Text<35>),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// The kind of an amount of tax.
///
/// `TaxAmountType1Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "TaxAmountType1Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum TaxAmountType {
    /// A code of the list. `Cd`.
    #[element("Cd")]
    Code(Text<4>),
    /// A code or name that the list does not have. `Prtry`.
    #[element("Prtry")]
    Proprietary(Text<35>),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// The kind of document that a creditor reference names.
///
/// `DocumentType3Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "DocumentType3Code")]
#[non_exhaustive]
pub enum ReferenceDocumentType {
    /// The code `RADM`.
    #[code("RADM")]
    RemittanceAdvice,
    /// The code `RPIN`.
    #[code("RPIN")]
    RelatedPaymentInstruction,
    /// The code `FXDR`.
    #[code("FXDR")]
    ForeignExchangeDeal,
    /// The code `DISP`.
    #[code("DISP")]
    DispatchAdvice,
    /// The code `PUOR`.
    #[code("PUOR")]
    PurchaseOrder,
    /// The code `SCOR`.
    #[code("SCOR")]
    StructuredReference,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// The kind of a referred document.
///
/// `DocumentType6Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "DocumentType6Code")]
#[non_exhaustive]
pub enum ReferredDocumentKind {
    /// The code `MSIN`.
    #[code("MSIN")]
    MeteredServiceInvoice,
    /// The code `CNFA`.
    #[code("CNFA")]
    CreditNoteForFinancialAdjustment,
    /// The code `DNFA`.
    #[code("DNFA")]
    DebitNoteForFinancialAdjustment,
    /// The code `CINV`.
    #[code("CINV")]
    CommercialInvoice,
    /// The code `CREN`.
    #[code("CREN")]
    CreditNote,
    /// The code `DEBN`.
    #[code("DEBN")]
    DebitNote,
    /// The code `HIRI`.
    #[code("HIRI")]
    HireInvoice,
    /// The code `SBIN`.
    #[code("SBIN")]
    SelfBilledInvoice,
    /// The code `CMCN`.
    #[code("CMCN")]
    CommercialContract,
    /// The code `SOAC`.
    #[code("SOAC")]
    StatementOfAccount,
    /// The code `DISP`.
    #[code("DISP")]
    DispatchAdvice,
    /// The code `BOLD`.
    #[code("BOLD")]
    BillOfLading,
    /// The code `VCHR`.
    #[code("VCHR")]
    Voucher,
    /// The code `AROI`.
    #[code("AROI")]
    AccountReceivableOpenItem,
    /// The code `TSUT`.
    #[code("TSUT")]
    TradeServicesTransaction,
    /// The code `PUOR`.
    #[code("PUOR", since = 5)]
    PurchaseOrder,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// The way in which remittance advice is delivered.
///
/// `RemittanceLocationMethod2Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "RemittanceLocationMethod2Code")]
#[non_exhaustive]
pub enum RemittanceLocationMethod {
    /// The code `FAXI`.
    #[code("FAXI")]
    Fax,
    /// The code `EDIC`.
    #[code("EDIC")]
    ElectronicDataInterchange,
    /// The code `URID`.
    #[code("URID")]
    Uri,
    /// The code `EMAL`.
    #[code("EMAL")]
    Email,
    /// The code `POST`.
    #[code("POST")]
    Post,
    /// The code `SMSM`.
    #[code("SMSM")]
    Sms,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}
