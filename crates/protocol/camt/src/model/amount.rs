//! Amounts with currency exchange, and ranges of amounts.

use crate::*;

/// The amounts of a transaction at each step, with currency exchange.
///
/// `AmountAndCurrencyExchange3` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "AmountAndCurrencyExchange3")]
#[non_exhaustive]
pub struct AmountDetails {
    /// The amount as ordered, before charges and exchange. `InstdAmt`.
    #[element("InstdAmt")]
    pub instructed: Option<Box<ExchangedAmount>>,
    /// The amount as passed between the banks. `TxAmt`.
    #[element("TxAmt")]
    pub transaction: Option<Box<ExchangedAmount>>,
    /// The amount in the currency of the account. `CntrValAmt`.
    #[element("CntrValAmt")]
    pub counter_value: Option<Box<ExchangedAmount>>,
    /// The amount as announced to the account owner beforehand. `AnncdPstngAmt`.
    #[element("AnncdPstngAmt")]
    pub announced_posting: Option<Box<ExchangedAmount>>,
    /// Amounts of other kinds. `PrtryAmt`.
    #[element("PrtryAmt")]
    pub proprietary: Vec<ProprietaryExchangedAmount>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// An amount and the exchange it came from.
///
/// `AmountAndCurrencyExchangeDetails3` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "AmountAndCurrencyExchangeDetails3")]
#[non_exhaustive]
pub struct ExchangedAmount {
    /// The amount, without a sign. `Amt`.
    #[element("Amt")]
    pub amount: Amount,
    /// The exchange of currencies that the amount came from. `CcyXchg`.
    #[element("CcyXchg")]
    pub exchange: Option<Box<CurrencyExchange>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// An amount of a proprietary kind and the exchange it came from.
///
/// `AmountAndCurrencyExchangeDetails4` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "AmountAndCurrencyExchangeDetails4")]
#[non_exhaustive]
pub struct ProprietaryExchangedAmount {
    /// The kind of amount. `Tp`.
    #[element("Tp")]
    pub kind: Text<35>,
    /// The amount, without a sign. `Amt`.
    #[element("Amt")]
    pub amount: Amount,
    /// The exchange of currencies that the amount came from. `CcyXchg`.
    #[element("CcyXchg")]
    pub exchange: Option<Box<CurrencyExchange>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// An exchange of currencies and its rate.
///
/// `CurrencyExchange5` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "CurrencyExchange5")]
#[non_exhaustive]
pub struct CurrencyExchange {
    /// The currency that was exchanged. `SrcCcy`.
    #[element("SrcCcy")]
    pub source: CurrencyCode,
    /// The currency that the source was exchanged for. `TrgtCcy`.
    #[element("TrgtCcy")]
    pub target: Option<CurrencyCode>,
    /// The currency that the rate is quoted for one unit of. `UnitCcy`.
    #[element("UnitCcy")]
    pub unit: Option<CurrencyCode>,
    /// The rate, up to 11 digits, at most 10 of them after the point. `XchgRate`.
    #[element("XchgRate")]
    pub rate: Rate,
    /// The agreement on the rate. `CtrctId`.
    #[element("CtrctId")]
    pub contract: Option<Text<35>>,
    /// The time at which the rate was quoted. `QtnDt`.
    #[element("QtnDt")]
    pub quoted_at: Option<IsoDateTime>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// One end of a range of amounts, which may belong to the range or not.
///
/// `AmountRangeBoundary1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "AmountRangeBoundary1")]
#[non_exhaustive]
pub struct AmountBoundary {
    /// The element `BdryAmt`.
    #[element("BdryAmt")]
    pub amount: ImpliedAmount,
    /// The element `Incl`.
    #[element("Incl")]
    pub included: bool,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A range of amounts of one currency and, perhaps, one direction.
///
/// `CurrencyAndAmountRange2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "CurrencyAndAmountRange2")]
#[non_exhaustive]
pub struct AmountRange {
    /// The element `Amt`.
    #[element("Amt")]
    pub amount: AmountRangeBounds,
    /// The element `CdtDbtInd`.
    #[element("CdtDbtInd")]
    pub direction: Option<Direction>,
    /// The element `Ccy`.
    #[element("Ccy")]
    pub currency: CurrencyCode,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A range of amounts by its ends.
///
/// `FromToAmountRange` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "FromToAmountRange")]
#[non_exhaustive]
pub struct FromToAmounts {
    /// The element `FrAmt`.
    #[element("FrAmt")]
    pub from: AmountBoundary,
    /// The element `ToAmt`.
    #[element("ToAmt")]
    pub to: AmountBoundary,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A range of amounts by one or both ends, one amount, or every amount but one.
///
/// `ImpliedCurrencyAmountRangeChoice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "ImpliedCurrencyAmountRangeChoice")]
#[non_exhaustive]
pub enum AmountRangeBounds {
    /// The element `FrAmt`.
    #[element("FrAmt")]
    From(AmountBoundary),
    /// The element `ToAmt`.
    #[element("ToAmt")]
    To(AmountBoundary),
    /// The element `FrToAmt`.
    #[element("FrToAmt")]
    Range(FromToAmounts),
    /// The element `EQAmt`.
    #[element("EQAmt")]
    Equal(ImpliedAmount),
    /// The element `NEQAmt`.
    #[element("NEQAmt")]
    NotEqual(ImpliedAmount),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}
