//! Bank transaction codes.

use crate::*;

/// The kind of transaction of an entry: the standard's code, a proprietary code, or both.
///
/// `BankTransactionCodeStructure4` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "BankTransactionCodeStructure4")]
#[non_exhaustive]
pub struct BankTransactionCode {
    /// The standard code: domain, family and sub-family. `Domn`.
    #[element("Domn")]
    pub domain: Option<BankTransactionDomain>,
    /// The bank's own code. `Prtry`.
    #[element("Prtry")]
    pub proprietary: Option<Box<ProprietaryBankTransactionCode>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The domain of a bank transaction code, and the family within it.
///
/// `BankTransactionCodeStructure5` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "BankTransactionCodeStructure5")]
#[non_exhaustive]
pub struct BankTransactionDomain {
    /// The domain, such as `PMNT` for payments. `Cd`.
    #[element("Cd")]
    pub code: Text<4>,
    /// The family and sub-family within the domain. `Fmly`.
    #[element("Fmly")]
    pub family: BankTransactionFamily,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The family and sub-family of a bank transaction code.
///
/// `BankTransactionCodeStructure6` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "BankTransactionCodeStructure6")]
#[non_exhaustive]
pub struct BankTransactionFamily {
    /// The family, such as `RCDT` for credit transfers received. `Cd`.
    #[element("Cd")]
    pub code: Text<4>,
    /// The sub-family, such as `ESCT` for a SEPA credit transfer. `SubFmlyCd`.
    #[element("SubFmlyCd")]
    pub sub_family: Text<4>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A proprietary bank transaction code and its issuer.
///
/// `ProprietaryBankTransactionCodeStructure1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "ProprietaryBankTransactionCodeStructure1")]
#[non_exhaustive]
pub struct ProprietaryBankTransactionCode {
    /// The code, up to 35 characters. `Cd`.
    #[element("Cd")]
    pub code: Text<35>,
    /// The issuer of the code. `Issr`.
    #[element("Issr")]
    pub issuer: Option<Text<35>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}
