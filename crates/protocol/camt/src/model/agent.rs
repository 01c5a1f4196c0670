//! Agents: financial institutions and branches.

use crate::*;

record! {
    /// The financial institutions behind a transaction.
    TransactionAgents = "TransactionAgents3" {
        /// The debtor's bank.
        debtor_agent: 0..1 Box<Agent> = "DbtrAgt",
        /// The creditor's bank.
        creditor_agent: 0..1 Box<Agent> = "CdtrAgt",
        /// Next to the debtor's bank, between it and the creditor's.
        intermediary_1: 0..1 Box<Agent> = "IntrmyAgt1",
        /// Between the first and the bank of the creditor.
        intermediary_2: 0..1 Box<Agent> = "IntrmyAgt2",
        /// Between the second and the bank of the creditor.
        intermediary_3: 0..1 Box<Agent> = "IntrmyAgt3",
        /// Who receives the security.
        receiving_agent: 0..1 Box<Agent> = "RcvgAgt",
        /// Who delivers the security.
        delivering_agent: 0..1 Box<Agent> = "DlvrgAgt",
        /// Who issued the security or acts for the issuer.
        issuing_agent: 0..1 Box<Agent> = "IssgAgt",
        /// Where the security is settled.
        settlement_place: 0..1 Box<Agent> = "SttlmPlc",
        /// Agents in other roles.
        proprietary: 0..* ProprietaryAgent = "Prtry",
    }

    /// An agent in a role that the schema does not have.
    ProprietaryAgent = "ProprietaryAgent3" {
        /// What the role is called.
        kind: 1..1 Text<35> = "Tp",
        /// The agent in that role.
        agent: 1..1 Agent = "Agt",
    }

    /// A financial institution and its branch.
    Agent = "BranchAndFinancialInstitutionIdentification5" {
        /// The bank.
        institution: 1..1 FinancialInstitution = "FinInstnId",
        /// The branch of the bank.
        branch: 0..1 Box<Branch> = "BrnchId",
    }

    /// A branch of a financial institution.
    Branch = "BranchData2" {
        /// The number that the bank gives the branch.
        id: 0..1 Text<35> = "Id",
        /// The name, up to 140 characters.
        name: 0..1 Text<140> = "Nm",
        /// The postal address.
        address: 0..1 Box<PostalAddress> = "PstlAdr",
    }

    /// The identification of a financial institution.
    FinancialInstitution = "FinancialInstitutionIdentification8" {
        /// The BIC, 8 or 11 characters.
        bic: 0..1 Bic = "BICFI" as "BICFIIdentifier",
        /// Its number in a national clearing system, such as a BSB or sort code.
        clearing_member: 0..1 ClearingMember = "ClrSysMmbId",
        /// The name, up to 140 characters.
        name: 0..1 Text<140> = "Nm",
        /// The postal address.
        address: 0..1 Box<PostalAddress> = "PstlAdr",
        /// A number of another scheme.
        other: 0..1 OtherFinancialId = "Othr",
    }

    /// Another identification of a financial institution.
    OtherFinancialId = "GenericFinancialIdentification1" {
        /// The identification, up to 35 characters.
        id: 1..1 Text<35> = "Id",
        /// The scheme of the identification.
        scheme: 0..1 FinancialScheme = "SchmeNm",
        /// Who issued it.
        issuer: 0..1 Text<35> = "Issr",
    }

    /// A member of a clearing system.
    ClearingMember = "ClearingSystemMemberIdentification2" {
        /// The system, in a code of up to 5 characters or in words.
        system: 0..1 ClearingSystem = "ClrSysId",
        /// The number in it, up to 35 characters.
        member_id: 1..1 Text<35> = "MmbId",
    }
}

code_or_proprietary! {
    /// The scheme of another identification of a financial institution.
    FinancialScheme = "FinancialIdentificationSchemeName1Choice" {
        Text<4> as "ExternalFinancialInstitutionIdentification1Code", Text<35>
    }

    /// A clearing system.
    ClearingSystem = "ClearingSystemIdentification2Choice" {
        Text<5> as "ExternalClearingSystemIdentification1Code", Text<35>
    }
}
