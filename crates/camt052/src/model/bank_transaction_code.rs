//! Bank transaction codes.

use crate::schema::record;
use crate::value::text::Text;

record! {
    /// What kind of transaction an entry is, by the standard's code, a proprietary one, or both.
    BankTransactionCode = "BankTransactionCodeStructure4" {
        domain: 0..1 BankTransactionDomain = "Domn",
        proprietary: 0..1 Box<ProprietaryBankTransactionCode> = "Prtry",
    }
}

record! {
    /// The domain of a bank transaction code, and the family within it.
    BankTransactionDomain = "BankTransactionCodeStructure5" {
        code: 1..1 Text<4> = "Cd",
        family: 1..1 BankTransactionFamily = "Fmly",
    }
}

record! {
    /// The family and sub-family of a bank transaction code.
    BankTransactionFamily = "BankTransactionCodeStructure6" {
        code: 1..1 Text<4> = "Cd",
        sub_family: 1..1 Text<4> = "SubFmlyCd",
    }
}

record! {
    /// A proprietary bank transaction code and who issued it.
    ProprietaryBankTransactionCode = "ProprietaryBankTransactionCodeStructure1" {
        code: 1..1 Text<35> = "Cd",
        issuer: 0..1 Text<35> = "Issr",
    }
}
