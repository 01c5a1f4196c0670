//! Accounts.

use crate::model::agent::Agent;
use crate::model::party::Party;
use bankrail_iso20022::{CurrencyCode, Iban, Text, choice, record};

record! {
    /// The account that a report is about, with owner and servicer.
    Account = "CashAccount25" {
        /// IBAN or other number.
        id: 1..1 AccountId = "Id",
        /// What the account is for.
        kind: 0..1 AccountType = "Tp",
        /// Of the account; its balances and entries are expected in it.
        currency: 0..1 CurrencyCode = "Ccy",
        /// What the servicer calls the account.
        name: 0..1 Text<70> = "Nm",
        /// Who it belongs to.
        owner: 0..1 Box<Party> = "Ownr",
        /// Who keeps it.
        servicer: 0..1 Box<Agent> = "Svcr",
    } then crate::rules::account
}

record! {
    /// An account by its identification.
    CounterpartyAccount = "CashAccount24" {
        /// IBAN or other number.
        id: 1..1 AccountId = "Id",
        /// What the account is for.
        kind: 0..1 Box<AccountType> = "Tp",
        /// Of the account.
        currency: 0..1 CurrencyCode = "Ccy",
        /// What its servicer calls the account.
        name: 0..1 Text<70> = "Nm",
    }
}

choice! {
    /// The identification of an account: an IBAN or another.
    AccountId = "AccountIdentification4Choice" {
        Iban(Iban) = "IBAN",
        Other(OtherAccountId) = "Othr",
    }
}

choice! {
    /// The scheme of another account identification.
    AccountScheme = "AccountSchemeName1Choice" {
        Code(Text<4>) = "Cd" as "ExternalAccountIdentification1Code",
        Proprietary(Text<35>) = "Prtry",
    }
}

choice! {
    /// The kind of an account.
    AccountType = "CashAccountType2Choice" {
        Code(Text<4>) = "Cd" as "ExternalCashAccountType1Code",
        Proprietary(Text<35>) = "Prtry",
    }
}

record! {
    /// An account identification that is no IBAN.
    OtherAccountId = "GenericAccountIdentification1" {
        /// The number, up to 34 characters.
        id: 1..1 Text<34> = "Id",
        /// What kind of number it is.
        scheme: 0..1 Box<AccountScheme> = "SchmeNm",
        /// Who gave it out.
        issuer: 0..1 Text<35> = "Issr",
    }
}
