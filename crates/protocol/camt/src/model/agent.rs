//! Agents: financial institutions and branches.

use crate::*;

/// The financial institutions behind a transaction.
///
/// `TransactionAgents3` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "TransactionAgents3")]
#[non_exhaustive]
pub struct TransactionAgents {
    /// The agent that instructs the next one. `InstgAgt`, since version 07.
    #[element("InstgAgt", since = 7)]
    pub instructing_agent: Option<Box<Agent>>,
    /// The agent that is instructed. `InstdAgt`, since version 07.
    #[element("InstdAgt", since = 7)]
    pub instructed_agent: Option<Box<Agent>>,
    /// The debtor's bank. `DbtrAgt`.
    #[element("DbtrAgt")]
    pub debtor_agent: Option<Box<Agent>>,
    /// The creditor's bank. `CdtrAgt`.
    #[element("CdtrAgt")]
    pub creditor_agent: Option<Box<Agent>>,
    /// The first agent between the debtor's and the creditor's bank. `IntrmyAgt1`.
    #[element("IntrmyAgt1")]
    pub intermediary_1: Option<Box<Agent>>,
    /// The agent between the first one and the creditor's bank. `IntrmyAgt2`.
    #[element("IntrmyAgt2")]
    pub intermediary_2: Option<Box<Agent>>,
    /// The agent between the second one and the creditor's bank. `IntrmyAgt3`.
    #[element("IntrmyAgt3")]
    pub intermediary_3: Option<Box<Agent>>,
    /// The agent that receives the security. `RcvgAgt`.
    #[element("RcvgAgt")]
    pub receiving_agent: Option<Box<Agent>>,
    /// The agent that delivers the security. `DlvrgAgt`.
    #[element("DlvrgAgt")]
    pub delivering_agent: Option<Box<Agent>>,
    /// The issuer of the security, or an agent of the issuer. `IssgAgt`.
    #[element("IssgAgt")]
    pub issuing_agent: Option<Box<Agent>>,
    /// The place where the security is settled. `SttlmPlc`.
    #[element("SttlmPlc")]
    pub settlement_place: Option<Box<Agent>>,
    /// Agents in other roles. `Prtry`.
    #[element("Prtry")]
    pub proprietary: Vec<ProprietaryAgent>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// An agent in a role that the schema does not have.
///
/// `ProprietaryAgent3` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "ProprietaryAgent3")]
#[non_exhaustive]
pub struct ProprietaryAgent {
    /// The name of the role. `Tp`.
    #[element("Tp")]
    pub kind: Text<35>,
    /// The agent in that role. `Agt`.
    #[element("Agt")]
    pub agent: Agent,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A financial institution and its branch.
///
/// `BranchAndFinancialInstitutionIdentification5` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "BranchAndFinancialInstitutionIdentification5")]
#[non_exhaustive]
pub struct Agent {
    /// The bank. `FinInstnId`.
    #[element("FinInstnId")]
    pub institution: FinancialInstitution,
    /// The branch of the bank. `BrnchId`.
    #[element("BrnchId")]
    pub branch: Option<Box<Branch>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A branch of a financial institution.
///
/// `BranchData2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "BranchData2")]
#[non_exhaustive]
pub struct Branch {
    /// The bank's number of the branch. `Id`.
    #[element("Id")]
    pub id: Option<Text<35>>,
    /// The legal entity identifier. `LEI`, since version 08.
    #[element("LEI", since = 8)]
    pub lei: Option<Lei>,
    /// The name, up to 140 characters. `Nm`.
    #[element("Nm")]
    pub name: Option<Text<140>>,
    /// The postal address. `PstlAdr`.
    #[element("PstlAdr")]
    pub address: Option<Box<PostalAddress>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The identification of a financial institution.
///
/// `FinancialInstitutionIdentification8` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "FinancialInstitutionIdentification8")]
#[non_exhaustive]
pub struct FinancialInstitution {
    /// The BIC, 8 or 11 characters. `BICFI`.
    #[element("BIC", until = 2)]
    #[element("BICFI", since = 3)]
    pub bic: Option<Bic>,
    /// The number in a national clearing system, such as a BSB or sort code. `ClrSysMmbId`.
    #[element("ClrSysMmbId")]
    pub clearing_member: Option<ClearingMember>,
    /// The legal entity identifier. `LEI`, since version 08.
    #[element("LEI", since = 8)]
    pub lei: Option<Lei>,
    /// The name, up to 140 characters. `Nm`.
    #[element("Nm")]
    pub name: Option<Text<140>>,
    /// The postal address. `PstlAdr`.
    #[element("PstlAdr")]
    pub address: Option<Box<PostalAddress>>,
    /// A number of another scheme. `Othr`.
    #[element("Othr")]
    pub other: Option<OtherFinancialId>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// Another identification of a financial institution.
///
/// `GenericFinancialIdentification1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "GenericFinancialIdentification1")]
#[non_exhaustive]
pub struct OtherFinancialId {
    /// The identification, up to 35 characters. `Id`.
    #[element("Id")]
    pub id: Text<35>,
    /// The scheme of the identification. `SchmeNm`.
    #[element("SchmeNm")]
    pub scheme: Option<FinancialScheme>,
    /// The issuer of the identification. `Issr`.
    #[element("Issr")]
    pub issuer: Option<Text<35>>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A member of a clearing system.
///
/// `ClearingSystemMemberIdentification2` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "ClearingSystemMemberIdentification2")]
#[non_exhaustive]
pub struct ClearingMember {
    /// The system, in a code of up to 5 characters or in words. `ClrSysId`.
    #[element("ClrSysId")]
    pub system: Option<ClearingSystem>,
    /// The member's number in the system, up to 35 characters. `MmbId`.
    #[element("MmbId")]
    pub member_id: Text<35>,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// The scheme of another identification of a financial institution.
///
/// `FinancialIdentificationSchemeName1Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "FinancialIdentificationSchemeName1Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum FinancialScheme {
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

/// A clearing system.
///
/// `ClearingSystemIdentification2Choice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "ClearingSystemIdentification2Choice", code_or_proprietary)]
#[non_exhaustive]
pub enum ClearingSystem {
    /// A code of the list. `Cd`.
    #[element("Cd")]
    Code(Text<5>),
    /// A code or name that the list does not have. `Prtry`.
    #[element("Prtry")]
    Proprietary(Text<35>),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}
