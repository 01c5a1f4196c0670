//! Lines of referred documents.

use crate::*;

/// A line of a referred document.
///
/// `DocumentLineInformation1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "DocumentLineInformation1")]
#[non_exhaustive]
pub struct DocumentLine {
    /// The element `Id`.
    #[element("Id", min = 1)]
    pub ids: Vec<DocumentLineId>,
    /// The element `Desc`.
    #[element("Desc")]
    pub description: Option<Text<2048>>,
    /// The element `Amt`.
    #[element("Amt")]
    pub amount: Option<Box<LineAmounts>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The identification of a line of a document.
///
/// `DocumentLineIdentification1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "DocumentLineIdentification1")]
#[non_exhaustive]
pub struct DocumentLineId {
    /// The element `Tp`.
    #[element("Tp")]
    pub kind: Option<DocumentLineType>,
    /// The element `Nb`.
    #[element("Nb")]
    pub number: Option<Text<35>>,
    /// The element `RltdDt`.
    #[element("RltdDt")]
    pub date: Option<IsoDate>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The kind of a line and its issuer.
///
/// `DocumentLineType1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "DocumentLineType1")]
#[non_exhaustive]
pub struct DocumentLineType {
    /// The element `CdOrPrtry`.
    #[element("CdOrPrtry")]
    pub code: DocumentLineCode,
    /// The element `Issr`.
    #[element("Issr")]
    pub issuer: Option<Text<35>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The amounts of a line.
///
/// `RemittanceAmount3` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "RemittanceAmount3")]
#[non_exhaustive]
pub struct LineAmounts {
    /// The element `DuePyblAmt`.
    #[element("DuePyblAmt")]
    pub due: Option<Amount>,
    /// The element `DscntApldAmt`.
    #[element("DscntApldAmt")]
    pub discounts: Vec<DiscountAmount>,
    /// The element `CdtNoteAmt`.
    #[element("CdtNoteAmt")]
    pub credit_note: Option<Amount>,
    /// The element `TaxAmt`.
    #[element("TaxAmt")]
    pub tax: Vec<TypedTaxAmount>,
    /// The element `AdjstmntAmtAndRsn`.
    #[element("AdjstmntAmtAndRsn")]
    pub adjustments: Vec<DocumentAdjustment>,
    /// The element `RmtdAmt`.
    #[element("RmtdAmt")]
    pub remitted: Option<Amount>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The kind of a line, by a code of the list or a proprietary one.
///
/// `DocumentLineType1Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "DocumentLineType1Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum DocumentLineCode {
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
