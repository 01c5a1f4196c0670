//! Garnishments.

use crate::*;

/// A garnishment that the payment serves.
///
/// `Garnishment1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "Garnishment1")]
#[non_exhaustive]
pub struct Garnishment {
    /// The element `Tp`.
    #[element("Tp")]
    pub kind: GarnishmentType,
    /// The element `Grnshee`.
    #[element("Grnshee")]
    pub garnishee: Option<Box<Party>>,
    /// The element `GrnshmtAdmstr`.
    #[element("GrnshmtAdmstr")]
    pub administrator: Option<Box<Party>>,
    /// The element `RefNb`.
    #[element("RefNb")]
    pub reference_number: Option<Text<140>>,
    /// The element `Dt`.
    #[element("Dt")]
    pub date: Option<IsoDate>,
    /// The element `RmtdAmt`.
    #[element("RmtdAmt")]
    pub remitted: Option<Amount>,
    /// The element `FmlyMdclInsrncInd`.
    #[element("FmlyMdclInsrncInd")]
    pub family_medical_insurance: Option<bool>,
    /// The element `MplyeeTermntnInd`.
    #[element("MplyeeTermntnInd")]
    pub employee_terminated: Option<bool>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The kind of a garnishment and its issuer.
///
/// `GarnishmentType1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "GarnishmentType1")]
#[non_exhaustive]
pub struct GarnishmentType {
    /// The element `CdOrPrtry`.
    #[element("CdOrPrtry")]
    pub code: GarnishmentCode,
    /// The element `Issr`.
    #[element("Issr")]
    pub issuer: Option<Text<35>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The kind of a garnishment, by a code of the list or a proprietary one.
///
/// `GarnishmentType1Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "GarnishmentType1Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum GarnishmentCode {
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
