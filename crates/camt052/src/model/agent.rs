//! Agents: financial institutions and branches.

use crate::model::party::PostalAddress;
use crate::schema::{choice, record};
use crate::value::identifier::Bic;
use crate::value::text::Text;

record! {
    /// The financial institutions behind a transaction.
    TransactionAgents = "TransactionAgents3" {
        debtor_agent: 0..1 Box<Agent> = "DbtrAgt",
        creditor_agent: 0..1 Box<Agent> = "CdtrAgt",
        intermediary_1: 0..1 Box<Agent> = "IntrmyAgt1",
        intermediary_2: 0..1 Box<Agent> = "IntrmyAgt2",
        intermediary_3: 0..1 Box<Agent> = "IntrmyAgt3",
        receiving_agent: 0..1 Box<Agent> = "RcvgAgt",
        delivering_agent: 0..1 Box<Agent> = "DlvrgAgt",
        issuing_agent: 0..1 Box<Agent> = "IssgAgt",
        settlement_place: 0..1 Box<Agent> = "SttlmPlc",
        proprietary: 0..* ProprietaryAgent = "Prtry",
    }
}

record! {
    /// An agent in a role that the schema does not have.
    ProprietaryAgent = "ProprietaryAgent3" {
        kind: 1..1 Text<35> = "Tp",
        agent: 1..1 Agent = "Agt",
    }
}

record! {
    /// A financial institution and its branch.
    Agent = "BranchAndFinancialInstitutionIdentification5" {
        institution: 1..1 FinancialInstitution = "FinInstnId",
        branch: 0..1 Box<Branch> = "BrnchId",
    }
}

record! {
    /// A branch of a financial institution.
    Branch = "BranchData2" {
        id: 0..1 Text<35> = "Id",
        name: 0..1 Text<140> = "Nm",
        address: 0..1 Box<PostalAddress> = "PstlAdr",
    }
}

record! {
    /// The identification of a financial institution.
    FinancialInstitution = "FinancialInstitutionIdentification8" {
        bic: 0..1 Bic = "BICFI",
        clearing_member: 0..1 ClearingMember = "ClrSysMmbId",
        name: 0..1 Text<140> = "Nm",
        address: 0..1 Box<PostalAddress> = "PstlAdr",
        other: 0..1 OtherFinancialId = "Othr",
    }
}

choice! {
    /// The scheme of another identification of a financial institution.
    FinancialScheme = "FinancialIdentificationSchemeName1Choice" {
        Code(Text<4>) = "Cd",
        Proprietary(Text<35>) = "Prtry",
    }
}

record! {
    /// Another identification of a financial institution.
    OtherFinancialId = "GenericFinancialIdentification1" {
        id: 1..1 Text<35> = "Id",
        scheme: 0..1 FinancialScheme = "SchmeNm",
        issuer: 0..1 Text<35> = "Issr",
    }
}

record! {
    /// A member of a clearing system.
    ClearingMember = "ClearingSystemMemberIdentification2" {
        system: 0..1 ClearingSystem = "ClrSysId",
        member_id: 1..1 Text<35> = "MmbId",
    }
}

choice! {
    /// A clearing system.
    ClearingSystem = "ClearingSystemIdentification2Choice" {
        Code(Text<5>) = "Cd",
        Proprietary(Text<35>) = "Prtry",
    }
}
