//! Balances and availability.

use crate::*;

/// A balance of the account.
///
/// `CashBalance7` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "CashBalance7")]
#[non_exhaustive]
pub struct Balance {
    /// The kind of balance: opening or closing, booked or available. `Tp`.
    #[element("Tp")]
    pub kind: BalanceType,
    /// The credit lines, which the balance may include. `CdtLine`.
    #[element("CdtLine", max = 1, until = 6)]
    #[element("CdtLine", since = 7)]
    pub credit_lines: Vec<CreditLine>,
    /// The amount, without a sign; see `direction`. `Amt`.
    #[element("Amt")]
    pub amount: Amount,
    /// The direction: credit for a balance of zero or more, debit for an overdrawn account.
    /// `CdtDbtInd`.
    #[element("CdtDbtInd")]
    pub direction: Direction,
    /// The date of the balance. `Dt`, mandatory in the schema; optional in tolerant reading.
    #[element("Dt", soft)]
    pub date: Option<DateOrDateTime>,
    /// The times at which parts of the balance become available. `Avlbty`.
    #[element("Avlbty")]
    pub availability: Vec<Availability>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The kind of a balance and its sub-type.
///
/// `BalanceType12` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "BalanceType12")]
#[non_exhaustive]
pub struct BalanceType {
    /// The kind, as a code of the list or a proprietary one. `CdOrPrtry`.
    #[element("CdOrPrtry")]
    pub code: BalanceTypeCode,
    /// The sub-type. `SubTp`.
    #[element("SubTp")]
    pub sub_kind: Option<BalanceSubType>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A credit line, which the balance may include.
///
/// `CreditLine2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "CreditLine2")]
#[non_exhaustive]
pub struct CreditLine {
    /// True when the balance includes the credit line. `Incl`.
    #[element("Incl")]
    pub included: bool,
    /// The kind of the credit line. `Tp`, since version 07.
    #[element("Tp", since = 7)]
    pub kind: Option<CreditLineType>,
    /// The limit up to which the account may be overdrawn. `Amt`.
    #[element("Amt")]
    pub amount: Option<Amount>,
    /// The time at which the credit line has this amount. `Dt`, since version 07.
    #[element("Dt", since = 7)]
    pub date: Option<DateOrDateTime>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The time at which an amount becomes available.
///
/// `CashAvailability1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "CashAvailability1")]
#[non_exhaustive]
pub struct Availability {
    /// The time at which the amount becomes available. `Dt`.
    #[element("Dt")]
    pub date: AvailabilityDate,
    /// The amount, without a sign. `Amt`.
    #[element("Amt")]
    pub amount: Amount,
    /// The direction: credit if the amount is added, debit if it is taken away. `CdtDbtInd`.
    #[element("CdtDbtInd")]
    pub direction: Direction,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A date, or a number of days from now.
///
/// `CashAvailabilityDate1Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "CashAvailabilityDate1Choice")]
#[non_exhaustive]
pub enum AvailabilityDate {
    /// The element `NbOfDays`.
    #[element("NbOfDays")]
    Days(SignedDays),
    /// The element `ActlDt`.
    #[element("ActlDt")]
    Actual(IsoDate),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// The kind of a balance, by a code of the list or a proprietary one.
///
/// `BalanceType5Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "BalanceType5Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum BalanceTypeCode {
    /// A code of the list. `Cd`.
    #[element("Cd")]
    Code(BalanceCode),
    /// A code or name that the list does not have. `Prtry`.
    #[element("Prtry")]
    Proprietary(Text<35>),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// The sub-type of a balance.
///
/// `BalanceSubType1Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "BalanceSubType1Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum BalanceSubType {
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

/// The kind of a balance.
///
/// `BalanceType12Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "BalanceType12Code", open_since = 7)]
#[non_exhaustive]
pub enum BalanceCode {
    /// The code `XPCD`.
    #[code("XPCD")]
    Expected,
    /// The code `OPAV`.
    #[code("OPAV")]
    OpeningAvailable,
    /// The code `ITAV`.
    #[code("ITAV")]
    InterimAvailable,
    /// The code `CLAV`.
    #[code("CLAV")]
    ClosingAvailable,
    /// The code `FWAV`.
    #[code("FWAV")]
    ForwardAvailable,
    /// The code `CLBD`.
    #[code("CLBD")]
    ClosingBooked,
    /// The code `ITBD`.
    #[code("ITBD")]
    InterimBooked,
    /// The code `OPBD`.
    #[code("OPBD")]
    OpeningBooked,
    /// The code `PRCD`.
    #[code("PRCD")]
    PreviouslyClosedBooked,
    /// The code `INFO`.
    #[code("INFO")]
    Information,
    /// A code that the schema does not have, kept as read.
    #[code(other)]
    Other(UnknownCode),
}

/// The kind of a credit line.
///
/// `CreditLineType1Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "CreditLineType1Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum CreditLineType {
    /// A code of the external list. `Cd`.
    #[element("Cd")]
    Code(Text<4>),
    /// A code that the sender and the receiver agreed on. `Prtry`.
    #[element("Prtry")]
    Proprietary(Text<35>),
    /// An unknown alternative; the extras of the parent hold its content.
    #[element(unknown)]
    Unknown,
}
