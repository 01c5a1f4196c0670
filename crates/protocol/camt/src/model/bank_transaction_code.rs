//! Bank transaction codes.

use crate::*;

record! {
    /// What kind of transaction an entry is, by the standard's code, a proprietary one, or both.
    BankTransactionCode = "BankTransactionCodeStructure4" {
        /// The standard code: domain, family and sub-family.
        domain: 0..1 BankTransactionDomain = "Domn",
        /// The bank's own code.
        proprietary: 0..1 Box<ProprietaryBankTransactionCode> = "Prtry",
    }

    /// The domain of a bank transaction code, and the family within it.
    BankTransactionDomain = "BankTransactionCodeStructure5" {
        /// The domain, such as `PMNT` for payments.
        code: 1..1 Text<4> = "Cd" as "ExternalBankTransactionDomain1Code",
        /// The family and sub-family within the domain.
        family: 1..1 BankTransactionFamily = "Fmly",
    }

    /// The family and sub-family of a bank transaction code.
    BankTransactionFamily = "BankTransactionCodeStructure6" {
        /// The family, such as `RCDT` for credit transfers received.
        code: 1..1 Text<4> = "Cd" as "ExternalBankTransactionFamily1Code",
        /// The sub-family, such as `ESCT` for a SEPA credit transfer.
        sub_family: 1..1 Text<4> = "SubFmlyCd" as "ExternalBankTransactionSubFamily1Code",
    }

    /// A proprietary bank transaction code and who issued it.
    ProprietaryBankTransactionCode = "ProprietaryBankTransactionCodeStructure1" {
        /// The code, up to 35 characters.
        code: 1..1 Text<35> = "Cd",
        /// Who issued the code.
        issuer: 0..1 Text<35> = "Issr",
    }
}
