//! Securities: instruments, prices, quantities, accounts.

use crate::*;

/// The original face amount and the amortised value.
///
/// `OriginalAndCurrentQuantities1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "OriginalAndCurrentQuantities1")]
#[non_exhaustive]
pub struct OriginalAndCurrentQuantities {
    /// The element `FaceAmt`.
    #[element("FaceAmt")]
    pub face_amount: ImpliedAmount,
    /// The element `AmtsdVal`.
    #[element("AmtsdVal")]
    pub amortised_value: ImpliedAmount,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A safekeeping account.
///
/// `SecuritiesAccount19` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "SecuritiesAccount19")]
#[non_exhaustive]
pub struct SafekeepingAccount {
    /// The element `Id`.
    #[element("Id")]
    pub id: Text<35>,
    /// The element `Tp`.
    #[element("Tp")]
    pub kind: Option<GenericCode>,
    /// The element `Nm`.
    #[element("Nm")]
    pub name: Option<Text<70>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The kind of a safekeeping account.
///
/// `GenericIdentification30` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "GenericIdentification30")]
#[non_exhaustive]
pub struct GenericCode {
    /// The element `Id`.
    #[element("Id")]
    pub id: AlphaNumeric4,
    /// The element `Issr`.
    #[element("Issr")]
    pub issuer: Text<35>,
    /// The element `SchmeNm`.
    #[element("SchmeNm")]
    pub scheme: Option<Text<35>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The security behind a transaction.
///
/// `SecurityIdentification19` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "SecurityIdentification19")]
#[non_exhaustive]
pub struct Instrument {
    /// The element `ISIN`.
    #[element("ISIN")]
    pub isin: Option<Isin>,
    /// The element `OthrId`.
    #[element("OthrId")]
    pub other_ids: Vec<OtherSecurityId>,
    /// The element `Desc`.
    #[element("Desc")]
    pub description: Option<Text<140>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// An identification of a security that is not an ISIN.
///
/// `OtherIdentification1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "OtherIdentification1")]
#[non_exhaustive]
pub struct OtherSecurityId {
    /// The element `Id`.
    #[element("Id")]
    pub id: Text<35>,
    /// The element `Sfx`.
    #[element("Sfx")]
    pub suffix: Option<Text<16>>,
    /// The element `Tp`.
    #[element("Tp")]
    pub kind: SecurityIdSource,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A price and its kind.
///
/// `Price2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "Price2")]
#[non_exhaustive]
pub struct Price {
    /// The element `Tp`.
    #[element("Tp")]
    pub kind: PriceType,
    /// The element `Val`.
    #[element("Val")]
    pub value: PriceValue,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A price of a kind that the schema does not have.
///
/// `ProprietaryPrice2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "ProprietaryPrice2")]
#[non_exhaustive]
pub struct ProprietaryPrice {
    /// The element `Tp`.
    #[element("Tp")]
    pub kind: Text<35>,
    /// The element `Pric`.
    #[element("Pric")]
    pub price: Amount,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A quantity of a kind that the schema does not have.
///
/// `ProprietaryQuantity1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "ProprietaryQuantity1")]
#[non_exhaustive]
pub struct ProprietaryQuantity {
    /// The element `Tp`.
    #[element("Tp")]
    pub kind: Text<35>,
    /// The element `Qty`.
    #[element("Qty")]
    pub quantity: Text<35>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A quantity of a security, in units or as an amount.
///
/// `FinancialInstrumentQuantityChoice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "FinancialInstrumentQuantityChoice")]
#[non_exhaustive]
pub enum InstrumentQuantity {
    /// The element `Unit`.
    #[element("Unit")]
    Unit(PlainDecimal),
    /// The element `FaceAmt`.
    #[element("FaceAmt")]
    FaceAmount(ImpliedAmount),
    /// The element `AmtsdVal`.
    #[element("AmtsdVal")]
    AmortisedValue(ImpliedAmount),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// The price of a transaction, or several proprietary ones.
///
/// `TransactionPrice3Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "TransactionPrice3Choice")]
#[non_exhaustive]
pub enum TransactionPrice {
    /// The element `DealPric`.
    #[element("DealPric", since = 3)]
    Deal(Price),
    /// The price of the deal as an amount. `DealPric`, until version 02.
    #[element("DealPric", until = 2)]
    DealAmount(Amount),
    /// The element `Prtry`.
    #[element("Prtry")]
    Proprietary(Vec<ProprietaryPrice>),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// The kind of a price.
///
/// `YieldedOrValueType1Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "YieldedOrValueType1Choice")]
#[non_exhaustive]
pub enum PriceType {
    /// The element `Yldd`.
    #[element("Yldd")]
    Yielded(bool),
    /// The element `ValTp`.
    #[element("ValTp")]
    Kind(PriceValueType),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// A price as a rate or an amount.
///
/// `PriceRateOrAmountChoice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "PriceRateOrAmountChoice")]
#[non_exhaustive]
pub enum PriceValue {
    /// The element `Rate`.
    #[element("Rate")]
    Rate(Rate),
    /// The element `Amt`.
    #[element("Amt")]
    Amount(Amount<13>),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// A quantity behind a transaction.
///
/// `TransactionQuantities2Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "TransactionQuantities2Choice")]
#[non_exhaustive]
pub enum TransactionQuantity {
    /// The element `Qty`.
    #[element("Qty")]
    Quantity(InstrumentQuantity),
    /// The element `OrgnlAndCurFaceAmt`.
    #[element("OrgnlAndCurFaceAmt", since = 3)]
    OriginalAndCurrent(OriginalAndCurrentQuantities),
    /// The element `Prtry`.
    #[element("Prtry")]
    Proprietary(ProprietaryQuantity),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// The source of another identification of a security.
///
/// `IdentificationSource3Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "IdentificationSource3Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum SecurityIdSource {
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

/// The relation of a price to par: at, above or below.
///
/// `PriceValueType1Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "PriceValueType1Code")]
#[non_exhaustive]
pub enum PriceValueType {
    /// The code `DISC`.
    #[code("DISC")]
    Discount,
    /// The code `PREM`.
    #[code("PREM")]
    Premium,
    /// The code `PARV`.
    #[code("PARV")]
    Par,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// A security, as version 02 identifies it.
///
/// `SecurityIdentification4Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "SecurityIdentification4Choice")]
#[non_exhaustive]
pub enum SecurityId {
    /// The international number. `ISIN`.
    #[element("ISIN")]
    Isin(Isin),
    /// Another identification. `Prtry`.
    #[element("Prtry")]
    Proprietary(ProprietarySecurityId),
    /// An unknown alternative; the extras of the parent hold its content.
    #[element(unknown)]
    Unknown,
}

/// Another identification of a security.
///
/// `AlternateSecurityIdentification2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "AlternateSecurityIdentification2")]
#[non_exhaustive]
pub struct ProprietarySecurityId {
    /// The kind of the identification. `Tp`.
    #[element("Tp")]
    pub kind: Text<35>,
    /// The identification. `Id`.
    #[element("Id")]
    pub id: Text<35>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}
