//! Interest.

use crate::*;

/// Interest that applies to the account.
///
/// `AccountInterest3` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "AccountInterest3")]
#[non_exhaustive]
pub struct AccountInterest {
    /// The kind of interest: for the day or overnight. `Tp`.
    #[element("Tp")]
    pub kind: Option<InterestType>,
    /// The rates, each of which may state the balances that it applies to. `Rate`.
    #[element("Rate")]
    pub rates: Vec<InterestRate>,
    /// The period of the interest. `FrToDt`.
    #[element("FrToDt")]
    pub period: Option<DateTimePeriod>,
    /// The reason in words. `Rsn`.
    #[element("Rsn")]
    pub reason: Option<Text<35>>,
    /// The tax on the interest. `Tax`.
    #[element("Tax", since = 3)]
    pub tax: Option<Box<TaxCharges>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// Interest included in an entry or transaction.
///
/// `TransactionInterest3` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "TransactionInterest3")]
#[non_exhaustive]
pub struct TransactionInterest {
    /// The total of the interest with the tax on it. `TtlIntrstAndTaxAmt`.
    #[element("TtlIntrstAndTaxAmt", since = 3)]
    pub total: Option<Amount>,
    /// The items of interest one by one. `Rcrd`.
    #[element("Rcrd", since = 3)]
    pub records: Vec<InterestRecord>,
    /// The amount of the interest. `Amt`, until version 02, and mandatory there; later versions
    /// have records.
    #[element("Amt", soft, until = 2)]
    pub amount: Option<Amount>,
    /// The direction of the interest. `CdtDbtInd`, until version 02, and mandatory there.
    #[element("CdtDbtInd", soft, until = 2)]
    pub direction: Option<Direction>,
    /// The kind of the interest. `Tp`, until version 02.
    #[element("Tp", until = 2)]
    pub kind: Option<InterestType>,
    /// The rates. `Rate`, until version 02.
    #[element("Rate", until = 2)]
    pub rates: Vec<InterestRate>,
    /// The period of the interest. `FrToDt`, until version 02.
    #[element("FrToDt", until = 2)]
    pub period: Option<DateTimePeriod>,
    /// The reason for the interest. `Rsn`, until version 02.
    #[element("Rsn", until = 2)]
    pub reason: Option<Text<35>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// One item of interest.
///
/// `InterestRecord1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "InterestRecord1")]
#[non_exhaustive]
pub struct InterestRecord {
    /// The amount, without a sign. `Amt`.
    #[element("Amt")]
    pub amount: Amount,
    /// The direction: credit if the owner earns the interest, debit if the owner owes it.
    /// `CdtDbtInd`.
    #[element("CdtDbtInd")]
    pub direction: Direction,
    /// The kind of interest: for the day or overnight. `Tp`.
    #[element("Tp")]
    pub kind: Option<InterestType>,
    /// The rate, as a percentage or in words. `Rate`.
    #[element("Rate")]
    pub rate: Option<InterestRate>,
    /// The period of the interest. `FrToDt`.
    #[element("FrToDt")]
    pub period: Option<DateTimePeriod>,
    /// The reason in words. `Rsn`.
    #[element("Rsn")]
    pub reason: Option<Text<35>>,
    /// The tax on the interest. `Tax`.
    #[element("Tax")]
    pub tax: Option<Box<TaxCharges>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A rate of interest, and the balances that it applies to.
///
/// `Rate3` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "Rate3")]
#[non_exhaustive]
pub struct InterestRate {
    /// The rate, as a percentage or in words. `Tp`.
    #[element("Tp")]
    pub kind: RateType,
    /// The balances that the rate applies to. `VldtyRg`.
    #[element("VldtyRg")]
    pub validity: Option<Box<AmountRange>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A rate as a percentage or in words.
///
/// `RateType4Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "RateType4Choice")]
#[non_exhaustive]
pub enum RateType {
    /// The element `Pctg`.
    #[element("Pctg")]
    Percentage(Rate),
    /// The element `Othr`.
    #[element("Othr")]
    Other(Text<35>),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// The kind of interest.
///
/// `InterestType1Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "InterestType1Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum InterestType {
    /// A code of the list. `Cd`.
    #[element("Cd")]
    Code(InterestCode),
    /// A code or name that the list does not have. `Prtry`.
    #[element("Prtry")]
    Proprietary(Text<35>),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// The kind of interest.
///
/// `InterestType1Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "InterestType1Code")]
#[non_exhaustive]
pub enum InterestCode {
    /// The code `INDY`.
    #[code("INDY")]
    IntraDay,
    /// The code `OVRN`.
    #[code("OVRN")]
    Overnight,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}
