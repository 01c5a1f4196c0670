//! Accounts.

use crate::*;

/// The account that a report is about, with its owner and servicer.
///
/// `CashAccount25` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "CashAccount25", rule = rules::account)]
#[non_exhaustive]
pub struct Account {
    /// The IBAN, or another identification. `Id`.
    #[element("Id")]
    pub id: AccountIdentification,
    /// The kind of account. `Tp`.
    #[element("Tp")]
    pub kind: Option<AccountType>,
    /// The currency of the account; balances and entries are expected to be in it. `Ccy`.
    #[element("Ccy")]
    pub currency: Option<CurrencyCode>,
    /// The name of the account, given by its servicer. `Nm`.
    #[element("Nm")]
    pub name: Option<Text<70>>,
    /// An alias under which the account is known, such as a telephone number. `Prxy`, since version
    /// 08.
    #[element("Prxy", since = 8)]
    pub proxy: Option<Box<ProxyAccount>>,
    /// The owner of the account. `Ownr`.
    #[element("Ownr")]
    pub owner: Option<Box<Party>>,
    /// The bank that keeps the account. `Svcr`.
    #[element("Svcr")]
    pub servicer: Option<Box<Agent>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// An account that is identified, without its owner and servicer.
///
/// `CashAccount24` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "CashAccount24")]
#[non_exhaustive]
pub struct CounterpartyAccount {
    /// The IBAN, or another identification. `Id`.
    #[element("Id")]
    pub id: AccountIdentification,
    /// The kind of account. `Tp`.
    #[element("Tp")]
    pub kind: Option<Box<AccountType>>,
    /// The currency of the account. `Ccy`.
    #[element("Ccy")]
    pub currency: Option<CurrencyCode>,
    /// The name of the account, given by its servicer. `Nm`.
    #[element("Nm")]
    pub name: Option<Text<70>>,
    /// An alias under which the account is known, such as a telephone number. `Prxy`, since version
    /// 08.
    #[element("Prxy", since = 8)]
    pub proxy: Option<Box<ProxyAccount>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// An account identification that is not an IBAN.
///
/// `GenericAccountIdentification1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "GenericAccountIdentification1")]
#[non_exhaustive]
pub struct OtherAccountId {
    /// The identification, up to 34 characters. `Id`.
    #[element("Id")]
    pub id: Text<34>,
    /// The scheme of the identification. `SchmeNm`.
    #[element("SchmeNm")]
    pub scheme: Option<Box<AccountScheme>>,
    /// The issuer of the identification. `Issr`.
    #[element("Issr")]
    pub issuer: Option<Text<35>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The identification of an account: an IBAN or another identification.
///
/// `AccountIdentification4Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "AccountIdentification4Choice")]
#[non_exhaustive]
pub enum AccountIdentification {
    /// The element `IBAN`.
    #[element("IBAN")]
    Iban(Iban),
    /// The element `Othr`.
    #[element("Othr")]
    Other(OtherAccountId),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// The scheme of another account identification.
///
/// `AccountSchemeName1Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "AccountSchemeName1Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum AccountScheme {
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

/// The kind of an account.
///
/// `CashAccountType2Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "CashAccountType2Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum AccountType {
    /// A code of the list. `Cd`.
    #[element("Cd")]
    Code(AccountTypeCode),
    /// A code or name that the list does not have. `Prtry`.
    #[element("Prtry")]
    Proprietary(Text<35>),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// An alias of an account.
///
/// `ProxyAccountIdentification1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "ProxyAccountIdentification1")]
#[non_exhaustive]
pub struct ProxyAccount {
    /// The kind of the alias. `Tp`.
    #[element("Tp")]
    pub kind: Option<ProxyAccountType>,
    /// The alias. `Id`.
    #[element("Id")]
    pub id: Text<2048>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The kind of an alias of an account.
///
/// `ProxyAccountType1Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "ProxyAccountType1Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum ProxyAccountType {
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

/// The type of an account: a closed list in version 02, an external one since version 03.
///
/// `CashAccountType4Code` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Code)]
#[code(type = "CashAccountType4Code", open_since = 3)]
#[non_exhaustive]
pub enum AccountTypeCode {
    /// The code `CASH`: a cash payment.
    #[code("CASH")]
    CashPayment,
    /// The code `CHAR`: charges.
    #[code("CHAR")]
    Charges,
    /// The code `COMM`: commission.
    #[code("COMM")]
    Commission,
    /// The code `TAXE`: taxes.
    #[code("TAXE")]
    Tax,
    /// The code `CISH`: cash income.
    #[code("CISH")]
    CashIncome,
    /// The code `TRAS`: cash trading.
    #[code("TRAS")]
    CashTrading,
    /// The code `SACC`: settlement.
    #[code("SACC")]
    Settlement,
    /// The code `CACC`: a current account.
    #[code("CACC")]
    Current,
    /// The code `SVGS`: savings.
    #[code("SVGS")]
    Savings,
    /// The code `ONDP`: an overnight deposit.
    #[code("ONDP")]
    OvernightDeposit,
    /// The code `MGLD`: marginal lending.
    #[code("MGLD")]
    MarginalLending,
    /// The code `NREX`: a non-resident external account.
    #[code("NREX")]
    NonResidentExternal,
    /// The code `MOMA`: the money market.
    #[code("MOMA")]
    MoneyMarket,
    /// The code `LOAN`: a loan.
    #[code("LOAN")]
    Loan,
    /// The code `SLRY`: salaries.
    #[code("SLRY")]
    Salary,
    /// The code `ODFT`: an overdraft.
    #[code("ODFT")]
    Overdraft,
    /// Another code, kept as read.
    #[code(other)]
    Other(UnknownCode),
}
