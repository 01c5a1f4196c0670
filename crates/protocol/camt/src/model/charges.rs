//! Charges.

use crate::*;

/// The charges on an entry or transaction: their total and each item.
///
/// `Charges4` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "Charges4")]
#[non_exhaustive]
pub struct Charges {
    /// The total of the charges with the tax on them. `TtlChrgsAndTaxAmt`.
    #[element("TtlChrgsAndTaxAmt")]
    pub total: Option<Amount>,
    /// The amount of the charge. `Amt`, until version 02, and mandatory there; later versions have
    /// records.
    #[element("Amt", soft, until = 2)]
    pub amount: Option<Amount>,
    /// The direction of the charge. `CdtDbtInd`, until version 02.
    #[element("CdtDbtInd", until = 2)]
    pub direction: Option<Direction>,
    /// The kind of the charge. `Tp`, until version 02.
    #[element("Tp", until = 2)]
    pub kind: Option<ChargeType>,
    /// The rate of the charge, in percent. `Rate`, until version 02.
    #[element("Rate", until = 2)]
    pub rate: Option<Rate>,
    /// The bearer of the charge. `Br`, until version 02.
    #[element("Br", until = 2)]
    pub bearer: Option<ChargeBearer>,
    /// The agent that takes the charge. `Pty`, until version 02.
    #[element("Pty", until = 2)]
    pub agent: Option<Box<Agent>>,
    /// The tax on the charge. `Tax`, until version 02.
    #[element("Tax", until = 2)]
    pub tax: Option<Box<TaxCharges>>,
    /// The charges one by one. `Rcrd`.
    #[element("Rcrd", since = 3)]
    pub records: Vec<ChargeRecord>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// One charge.
///
/// `ChargesRecord2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "ChargesRecord2")]
#[non_exhaustive]
pub struct ChargeRecord {
    /// The amount, without a sign. `Amt`.
    #[element("Amt")]
    pub amount: Amount,
    /// The direction: debit if the owner owes the charge, credit if it is refunded. `CdtDbtInd`.
    #[element("CdtDbtInd")]
    pub direction: Option<Direction>,
    /// True when the amount of the entry or transaction includes the charge. `ChrgInclInd`.
    #[element("ChrgInclInd", since = 4)]
    pub included: Option<bool>,
    /// The kind of charge. `Tp`.
    #[element("Tp")]
    pub kind: Option<ChargeType>,
    /// The rate, in per cent. `Rate`.
    #[element("Rate")]
    pub rate: Option<Rate>,
    /// The party that pays the charge. `Br`.
    #[element("Br")]
    pub bearer: Option<ChargeBearer>,
    /// The bank that takes the charge. `Agt`.
    #[element("Agt")]
    pub agent: Option<Box<Agent>>,
    /// The tax on the charge. `Tax`.
    #[element("Tax")]
    pub tax: Option<Box<TaxCharges>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// An identification and its issuer.
///
/// `GenericIdentification3` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "GenericIdentification3")]
#[non_exhaustive]
pub struct IssuedId {
    /// The identification, up to 35 characters. `Id`.
    #[element("Id")]
    pub id: Text<35>,
    /// The issuer of the identification. `Issr`.
    #[element("Issr")]
    pub issuer: Option<Text<35>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// Tax on charges or interest.
///
/// `TaxCharges2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "TaxCharges2")]
#[non_exhaustive]
pub struct TaxCharges {
    /// The identification of the tax. `Id`.
    #[element("Id")]
    pub id: Option<Text<35>>,
    /// The rate, in per cent. `Rate`.
    #[element("Rate")]
    pub rate: Option<Rate>,
    /// The amount, without a sign. `Amt`.
    #[element("Amt")]
    pub amount: Option<Amount>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The kind of a charge.
///
/// `ChargeType3Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "ChargeType3Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum ChargeType {
    /// A code of the list. `Cd`.
    #[element("Cd")]
    Code(ChargeTypeCode),
    /// A code or name that the list does not have. `Prtry`.
    #[element("Prtry")]
    Proprietary(IssuedId),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// The party that bears charges.
///
/// `ChargeBearerType1Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "ChargeBearerType1Code")]
#[non_exhaustive]
pub enum ChargeBearer {
    /// The code `DEBT`.
    #[code("DEBT")]
    Debtor,
    /// The code `CRED`.
    #[code("CRED")]
    Creditor,
    /// The code `SHAR`.
    #[code("SHAR")]
    Shared,
    /// The code `SLEV`.
    #[code("SLEV")]
    ServiceLevel,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// The kind of a charge: a closed list in version 02, an external one since version 03.
///
/// `ChargeType1Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "ChargeType1Code", open_since = 3)]
#[non_exhaustive]
pub enum ChargeTypeCode {
    /// The code `BRKF`: brokerage.
    #[code("BRKF")]
    Brokerage,
    /// The code `COMM`: commission.
    #[code("COMM")]
    Commission,
    /// Another code, kept as read.
    #[code(other)]
    Other(UnknownCode),
}
