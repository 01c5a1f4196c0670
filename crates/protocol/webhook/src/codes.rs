//! The codes of the messages. Each list is open: an unknown code is kept, written back and
//! reported.

use crate::json::Wire;
use bankrail_values::UnknownCode;

/// The outcome of a mandate action (Specification: "MandateActionOutcome message").
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[non_exhaustive]
pub enum OutcomeStatus {
    /// `RJCT`: the action was rejected.
    #[wire("RJCT")]
    Rejected,
    /// `SUCC`: the action succeeded.
    #[wire("SUCC")]
    Succeeded,
    /// A code that this version does not know.
    Unknown(UnknownCode),
}

/// The state of a mandate (Specification: "States and transitions"; the meanings are defaults).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[non_exhaustive]
pub enum MandateStatus {
    /// `ACTV`: active, so that payments can be initiated.
    #[wire("ACTV")]
    Active,
    /// `CNCD`: cancelled, which is final.
    #[wire("CNCD")]
    Cancelled,
    /// `CRTD`: created, not yet confirmed by the payer.
    #[wire("CRTD")]
    Created,
    /// `SUSD`: suspended, without payments until it is released.
    #[wire("SUSD")]
    Suspended,
    /// A code that this version does not know.
    Unknown(UnknownCode),
}

/// The type of a mandate action (Specification: message tables; the meanings are defaults).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[non_exhaustive]
pub enum ActionType {
    /// `AMND`: amends the mandate.
    #[wire("AMND")]
    Amend,
    /// `CREA`: creates the mandate.
    #[wire("CREA")]
    Create,
    /// `PORT`: moves the mandate to another account.
    #[wire("PORT")]
    Port,
    /// `STCH`: changes the mandate's status.
    #[wire("STCH")]
    StatusChange,
    /// A code that this version does not know.
    Unknown(UnknownCode),
}

/// The state of an action (Specification: "States and transitions"; the meanings are defaults).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[non_exhaustive]
pub enum ActionStatus {
    /// `CMPL`: completed.
    #[wire("CMPL")]
    Completed,
    /// `DECL`: declined by the payer.
    #[wire("DECL")]
    Declined,
    /// `PEND`: pending, because the payer has not answered.
    #[wire("PEND")]
    Pending,
    /// `RECL`: recalled by the side that started it.
    #[wire("RECL")]
    Recalled,
    /// `TIMO`: timed out without an answer.
    #[wire("TIMO")]
    TimedOut,
    /// A code that this version does not know.
    Unknown(UnknownCode),
}

/// The event that a mandate notification reports (Specification: "MandateNotification message"; the
/// meanings are defaults).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[non_exhaustive]
pub enum Trigger {
    /// `MAMC`: a bilateral amendment was confirmed.
    #[wire("MAMC")]
    AmendmentConfirmed,
    /// `MAMD`: a bilateral amendment was declined.
    #[wire("MAMD")]
    AmendmentDeclined,
    /// `MAMN`: the mandate was amended unilaterally.
    #[wire("MAMN")]
    AmendedUnilaterally,
    /// `MAMX`: a bilateral amendment expired.
    #[wire("MAMX")]
    AmendmentExpired,
    /// `MCRC`: the creation was confirmed.
    #[wire("MCRC")]
    CreationConfirmed,
    /// `MCRD`: the creation was declined.
    #[wire("MCRD")]
    CreationDeclined,
    /// `MCRX`: the creation expired.
    #[wire("MCRX")]
    CreationExpired,
    /// `MSCH`: the mandate's status was changed.
    #[wire("MSCH")]
    StatusChanged,
    /// A code that this version does not know.
    Unknown(UnknownCode),
}

/// The state of a payment instruction (Specification: "States and transitions").
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[non_exhaustive]
pub enum TransactionStatus {
    /// `ACSC`: settlement completed, final.
    #[wire("ACSC")]
    SettlementCompleted,
    /// `ACSP`: settlement pending, so that another outcome follows.
    #[wire("ACSP")]
    SettlementPending,
    /// `PDNG`: warehoused until its execution date, so that another outcome follows.
    #[wire("PDNG")]
    Warehoused,
    /// `RJCT`: rejected, final; a reason code gives the reason.
    #[wire("RJCT")]
    Rejected,
    /// A code that this version does not know.
    Unknown(UnknownCode),
}

/// The severity of an outcome's error (Specification: `FATL` is used in the shape; the other codes
/// and the meanings are defaults).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[wire(rule = DefaultCode)]
#[non_exhaustive]
pub enum ErrorSeverity {
    /// `FATL`: fatal.
    #[wire("FATL")]
    Fatal,
    /// `LOGI`: logical.
    #[wire("LOGI")]
    Logical,
    /// `TRAN`: transient, so that a retry may succeed.
    #[wire("TRAN")]
    Transient,
    /// A code that this version does not know.
    Unknown(UnknownCode),
}

/// The effect of a status change (Default: "details").
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[wire(rule = DefaultCode)]
#[non_exhaustive]
pub enum StatusChangeCode {
    /// `CNCL`: cancels the mandate.
    #[wire("CNCL")]
    Cancel,
    /// `RELS`: releases a suspended mandate.
    #[wire("RELS")]
    Release,
    /// `SUSP`: suspends the mandate.
    #[wire("SUSP")]
    Suspend,
    /// A code that this version does not know.
    Unknown(UnknownCode),
}

/// The kind of an investigation (Specification: "QueryNotification message").
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[non_exhaustive]
pub enum InvestigationType {
    /// `INV14`: a query, the only kind.
    #[default]
    #[wire("INV14")]
    Query,
    /// A code that this version does not know.
    Unknown(UnknownCode),
}

/// The subject of a query (Specification: "QueryNotification message").
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[non_exhaustive]
pub enum CaseType {
    /// `Mandate Query Case`: the mandate itself.
    #[wire("Mandate Query Case")]
    Mandate,
    /// `Mandate Query Payments`: payments under the mandate.
    #[wire("Mandate Query Payments")]
    Payments,
    /// A code that this version does not know.
    Unknown(UnknownCode),
}

/// The type of a party (Default).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[wire(rule = DefaultCode)]
#[non_exhaustive]
pub enum PartyType {
    /// `ORGN`: an organisation.
    #[wire("ORGN")]
    Organisation,
    /// `PERS`: a person.
    #[wire("PERS")]
    Person,
    /// A code that this version does not know.
    Unknown(UnknownCode),
}

/// The kind of identification of an account (Default).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[wire(rule = DefaultCode)]
#[non_exhaustive]
pub enum AccountIdentificationType {
    /// `ALIA`: by an alias.
    #[wire("ALIA")]
    Alias,
    /// `BBAN`: by branch code (BSB) and account number.
    #[wire("BBAN")]
    Bban,
    /// A code that this version does not know.
    Unknown(UnknownCode),
}

/// The type of a payment alias (Specification: "Payment alias (PayID) formats").
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[wire(rule = DefaultCode)]
#[non_exhaustive]
pub enum AliasType {
    /// `AUBN`: a business number.
    #[wire("AUBN")]
    BusinessNumber,
    /// `EMAL`: an email address.
    #[wire("EMAL")]
    Email,
    /// `ORGN`: an organisation identifier.
    #[wire("ORGN")]
    Organisation,
    /// `TELI`: a telephone number.
    #[wire("TELI")]
    Telephone,
    /// A code that this version does not know.
    Unknown(UnknownCode),
}

/// The way in which a mandate was established (Default).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[wire(rule = DefaultCode)]
#[non_exhaustive]
pub enum EstablishmentScheme {
    /// `AUPM`: bilateral.
    #[wire("AUPM")]
    Bilateral,
    /// `MGCR`: migrated by the creditor.
    #[wire("MGCR")]
    MigratedByCreditor,
    /// A code that this version does not know.
    Unknown(UnknownCode),
}

/// The purpose of a mandate (Default).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[wire(rule = DefaultCode)]
#[non_exhaustive]
pub enum MandatePurpose {
    /// `DEPD`: dependant support.
    #[wire("DEPD")]
    DependantSupport,
    /// `GAMP`: gambling.
    #[wire("GAMP")]
    Gambling,
    /// `GOVT`: government.
    #[wire("GOVT")]
    Government,
    /// `LOAN`: loan.
    #[wire("LOAN")]
    Loan,
    /// `MORT`: mortgage.
    #[wire("MORT")]
    Mortgage,
    /// `OTHR`: other.
    #[wire("OTHR")]
    Other,
    /// `PENS`: pension.
    #[wire("PENS")]
    Pension,
    /// `PERS`: personal.
    #[wire("PERS")]
    Personal,
    /// `RETL`: retail.
    #[wire("RETL")]
    Retail,
    /// `SALA`: salary.
    #[wire("SALA")]
    Salary,
    /// `TAXS`: tax.
    #[wire("TAXS")]
    Tax,
    /// `UTIL`: utility.
    #[wire("UTIL")]
    Utility,
    /// A code that this version does not know.
    Unknown(UnknownCode),
}

/// The interval at which payments fall due (Default).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[wire(rule = DefaultCode)]
#[non_exhaustive]
pub enum PaymentFrequency {
    /// `ADHO`: ad hoc.
    #[wire("ADHO")]
    AdHoc,
    /// `INDA`: several times a day.
    #[wire("INDA")]
    IntraDay,
    /// `DAIL`: daily.
    #[wire("DAIL")]
    Daily,
    /// `WEEK`: weekly.
    #[wire("WEEK")]
    Weekly,
    /// `FRTN`: every two weeks.
    #[wire("FRTN")]
    Fortnightly,
    /// `MNTH`: monthly.
    #[wire("MNTH")]
    Monthly,
    /// `QURT`: every three months.
    #[wire("QURT")]
    Quarterly,
    /// `MIAN`: every six months.
    #[wire("MIAN")]
    HalfYearly,
    /// `YEAR`: yearly.
    #[wire("YEAR")]
    Yearly,
    /// A code that this version does not know.
    Unknown(UnknownCode),
}

/// The rule that sets the amount of each payment (Default).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[wire(rule = DefaultCode)]
#[non_exhaustive]
pub enum AmountType {
    /// `FIXE`: fixed.
    #[wire("FIXE")]
    Fixed,
    /// `VARI`: variable.
    #[wire("VARI")]
    Variable,
    /// `USGB`: by usage.
    #[wire("USGB")]
    Usage,
    /// `BALN`: the balance.
    #[wire("BALN")]
    Balance,
    /// A code that this version does not know.
    Unknown(UnknownCode),
}
