//! Bank transaction codes.

use crate::schema::record;
use crate::value::text::Text;

record! {
    /// Bank transaction code.
    BankTransactionCode = "BankTransactionCodeStructure4" {
        domain: 0..1 BankTransactionDomain = "Domn",
        proprietary: 0..1 Box<ProprietaryBankTransactionCode> = "Prtry",
    }
}

record! {
    /// Bank transaction domain.
    BankTransactionDomain = "BankTransactionCodeStructure5" {
        code: 1..1 Text<4> = "Cd",
        family: 1..1 BankTransactionFamily = "Fmly",
    }
}

record! {
    /// Bank transaction family.
    BankTransactionFamily = "BankTransactionCodeStructure6" {
        code: 1..1 Text<4> = "Cd",
        sub_family: 1..1 Text<4> = "SubFmlyCd",
    }
}

record! {
    /// Proprietary bank transaction code.
    ProprietaryBankTransactionCode = "ProprietaryBankTransactionCodeStructure1" {
        code: 1..1 Text<35> = "Cd",
        issuer: 0..1 Text<35> = "Issr",
    }
}
