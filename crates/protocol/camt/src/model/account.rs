//! Accounts.

use crate::*;

/// The account that a report is about, with owner and servicer.
///
/// `CashAccount25` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "CashAccount25", rule = rules::account)]
#[non_exhaustive]
pub struct Account {
    /// The IBAN, or another identification. `Id`.
    #[element("Id")]
    pub id: AccountId,
    /// The kind of account. `Tp`.
    #[element("Tp")]
    pub kind: Option<AccountType>,
    /// The currency of the account; balances and entries are expected in it. `Ccy`.
    #[element("Ccy")]
    pub currency: Option<CurrencyCode>,
    /// The name of the account, given by its servicer. `Nm`.
    #[element("Nm")]
    pub name: Option<Text<70>>,
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

/// An account by its identification.
///
/// `CashAccount24` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "CashAccount24")]
#[non_exhaustive]
pub struct CounterpartyAccount {
    /// The IBAN, or another identification. `Id`.
    #[element("Id")]
    pub id: AccountId,
    /// The kind of account. `Tp`.
    #[element("Tp")]
    pub kind: Option<Box<AccountType>>,
    /// The currency of the account. `Ccy`.
    #[element("Ccy")]
    pub currency: Option<CurrencyCode>,
    /// The name of the account, given by its servicer. `Nm`.
    #[element("Nm")]
    pub name: Option<Text<70>>,
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

/// The identification of an account: an IBAN or another.
///
/// `AccountIdentification4Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "AccountIdentification4Choice")]
#[non_exhaustive]
pub enum AccountId {
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
    Code(Text<4>),
    /// A code or name that the list does not have. `Prtry`.
    #[element("Prtry")]
    Proprietary(Text<35>),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}
