//! Tax.

use crate::*;

/// The tax that a transaction pays.
///
/// `TaxInformation3` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "TaxInformation3")]
#[non_exhaustive]
pub struct TaxInformation {
    /// The element `Cdtr`.
    #[element("Cdtr")]
    pub creditor: Option<TaxCreditor>,
    /// The element `Dbtr`.
    #[element("Dbtr")]
    pub debtor: Option<TaxDebtor>,
    /// The element `AdmstnZn`.
    #[element("AdmstnZn", until = 7)]
    #[element("AdmstnZone", since = 8)]
    pub zone: Option<Text<35>>,
    /// The element `RefNb`.
    #[element("RefNb")]
    pub reference_number: Option<Text<140>>,
    /// The element `Mtd`.
    #[element("Mtd")]
    pub method: Option<Text<35>>,
    /// The element `TtlTaxblBaseAmt`.
    #[element("TtlTaxblBaseAmt")]
    pub total_taxable_base: Option<Amount>,
    /// The element `TtlTaxAmt`.
    #[element("TtlTaxAmt")]
    pub total_tax: Option<Amount>,
    /// The element `Dt`.
    #[element("Dt")]
    pub date: Option<IsoDate>,
    /// The element `SeqNb`.
    #[element("SeqNb")]
    pub sequence_number: Option<WholeNumber>,
    /// The element `Rcrd`.
    #[element("Rcrd")]
    pub records: Vec<TaxRecord>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The tax that a remittance is about.
///
/// `TaxInformation4` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "TaxInformation4")]
#[non_exhaustive]
pub struct RemittanceTax {
    /// The element `Cdtr`.
    #[element("Cdtr")]
    pub creditor: Option<TaxCreditor>,
    /// The element `Dbtr`.
    #[element("Dbtr")]
    pub debtor: Option<TaxDebtor>,
    /// The element `UltmtDbtr`.
    #[element("UltmtDbtr")]
    pub ultimate_debtor: Option<TaxDebtor>,
    /// The element `AdmstnZone`.
    #[element("AdmstnZone")]
    pub zone: Option<Text<35>>,
    /// The element `RefNb`.
    #[element("RefNb")]
    pub reference_number: Option<Text<140>>,
    /// The element `Mtd`.
    #[element("Mtd")]
    pub method: Option<Text<35>>,
    /// The element `TtlTaxblBaseAmt`.
    #[element("TtlTaxblBaseAmt")]
    pub total_taxable_base: Option<Amount>,
    /// The element `TtlTaxAmt`.
    #[element("TtlTaxAmt")]
    pub total_tax: Option<Amount>,
    /// The element `Dt`.
    #[element("Dt")]
    pub date: Option<IsoDate>,
    /// The element `SeqNb`.
    #[element("SeqNb")]
    pub sequence_number: Option<WholeNumber>,
    /// The element `Rcrd`.
    #[element("Rcrd")]
    pub records: Vec<TaxRecord>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The receiver of tax.
///
/// `TaxParty1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "TaxParty1")]
#[non_exhaustive]
pub struct TaxCreditor {
    /// The element `TaxId`.
    #[element("TaxId")]
    pub tax_id: Option<Text<35>>,
    /// The element `RegnId`.
    #[element("RegnId")]
    pub registration_id: Option<Text<35>>,
    /// The element `TaxTp`.
    #[element("TaxTp")]
    pub kind: Option<Text<35>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The payer of tax.
///
/// `TaxParty2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "TaxParty2")]
#[non_exhaustive]
pub struct TaxDebtor {
    /// The element `TaxId`.
    #[element("TaxId")]
    pub tax_id: Option<Text<35>>,
    /// The element `RegnId`.
    #[element("RegnId")]
    pub registration_id: Option<Text<35>>,
    /// The element `TaxTp`.
    #[element("TaxTp")]
    pub kind: Option<Text<35>>,
    /// The element `Authstn`.
    #[element("Authstn")]
    pub authorisation: Option<TaxAuthorisation>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The representative of a tax debtor.
///
/// `TaxAuthorisation1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "TaxAuthorisation1")]
#[non_exhaustive]
pub struct TaxAuthorisation {
    /// The element `Titl`.
    #[element("Titl")]
    pub title: Option<Text<35>>,
    /// The element `Nm`.
    #[element("Nm")]
    pub name: Option<Text<140>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// One item of tax.
///
/// `TaxRecord1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "TaxRecord1")]
#[non_exhaustive]
pub struct TaxRecord {
    /// The element `Tp`.
    #[element("Tp")]
    pub kind: Option<Text<35>>,
    /// The element `Ctgy`.
    #[element("Ctgy")]
    pub category: Option<Text<35>>,
    /// The element `CtgyDtls`.
    #[element("CtgyDtls")]
    pub category_details: Option<Text<35>>,
    /// The element `DbtrSts`.
    #[element("DbtrSts")]
    pub debtor_status: Option<Text<35>>,
    /// The element `CertId`.
    #[element("CertId")]
    pub certificate_id: Option<Text<35>>,
    /// The element `FrmsCd`.
    #[element("FrmsCd")]
    pub forms_code: Option<Text<35>>,
    /// The element `Prd`.
    #[element("Prd")]
    pub period: Option<TaxPeriod>,
    /// The element `TaxAmt`.
    #[element("TaxAmt")]
    pub amount: Option<TaxAmount>,
    /// The element `AddtlInf`.
    #[element("AddtlInf")]
    pub additional_information: Option<Text<140>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A part of an item of tax.
///
/// `TaxRecordDetails1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "TaxRecordDetails1")]
#[non_exhaustive]
pub struct TaxRecordDetails {
    /// The element `Prd`.
    #[element("Prd")]
    pub period: Option<TaxPeriod>,
    /// The element `Amt`.
    #[element("Amt")]
    pub amount: Amount,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The period that tax is for.
///
/// `TaxPeriod1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "TaxPeriod1")]
#[non_exhaustive]
pub struct TaxPeriod {
    /// The element `Yr`.
    #[element("Yr")]
    pub year: Option<IsoDate>,
    /// The element `Tp`.
    #[element("Tp")]
    pub kind: Option<TaxPeriodCode>,
    /// The element `FrToDt`.
    #[element("FrToDt")]
    pub period: Option<DatePeriod>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// An amount of tax: rate, base, total, details.
///
/// `TaxAmount1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "TaxAmount1")]
#[non_exhaustive]
pub struct TaxAmount {
    /// The element `Rate`.
    #[element("Rate")]
    pub rate: Option<Rate>,
    /// The element `TaxblBaseAmt`.
    #[element("TaxblBaseAmt")]
    pub taxable_base: Option<Amount>,
    /// The element `TtlAmt`.
    #[element("TtlAmt")]
    pub total: Option<Amount>,
    /// The element `Dtls`.
    #[element("Dtls")]
    pub details: Vec<TaxRecordDetails>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The part of a year that a tax is for.
///
/// `TaxRecordPeriod1Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "TaxRecordPeriod1Code")]
#[non_exhaustive]
pub enum TaxPeriodCode {
    /// The code `MM01`.
    #[code("MM01")]
    January,
    /// The code `MM02`.
    #[code("MM02")]
    February,
    /// The code `MM03`.
    #[code("MM03")]
    March,
    /// The code `MM04`.
    #[code("MM04")]
    April,
    /// The code `MM05`.
    #[code("MM05")]
    May,
    /// The code `MM06`.
    #[code("MM06")]
    June,
    /// The code `MM07`.
    #[code("MM07")]
    July,
    /// The code `MM08`.
    #[code("MM08")]
    August,
    /// The code `MM09`.
    #[code("MM09")]
    September,
    /// The code `MM10`.
    #[code("MM10")]
    October,
    /// The code `MM11`.
    #[code("MM11")]
    November,
    /// The code `MM12`.
    #[code("MM12")]
    December,
    /// The code `QTR1`.
    #[code("QTR1")]
    FirstQuarter,
    /// The code `QTR2`.
    #[code("QTR2")]
    SecondQuarter,
    /// The code `QTR3`.
    #[code("QTR3")]
    ThirdQuarter,
    /// The code `QTR4`.
    #[code("QTR4")]
    FourthQuarter,
    /// The code `HLF1`.
    #[code("HLF1")]
    FirstHalf,
    /// The code `HLF2`.
    #[code("HLF2")]
    SecondHalf,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}
