//! Accounts.

use crate::*;

record! {
    /// The account that a report is about, with owner and servicer.
    Account = "CashAccount25" {
        /// The IBAN, or another identification.
        id: 1..1 AccountId = "Id",
        /// The kind of account.
        kind: 0..1 AccountType = "Tp",
        /// The currency of the account; balances and entries are expected in it.
        currency: 0..1 CurrencyCode = "Ccy",
        /// The name of the account, given by its servicer.
        name: 0..1 Text<70> = "Nm",
        /// The owner of the account.
        owner: 0..1 Box<Party> = "Ownr",
        /// The bank that keeps the account.
        servicer: 0..1 Box<Agent> = "Svcr",
    } => crate::rules::account

    /// An account by its identification.
    CounterpartyAccount = "CashAccount24" {
        /// The IBAN, or another identification.
        id: 1..1 AccountId = "Id",
        /// The kind of account.
        kind: 0..1 Box<AccountType> = "Tp",
        /// The currency of the account.
        currency: 0..1 CurrencyCode = "Ccy",
        /// The name of the account, given by its servicer.
        name: 0..1 Text<70> = "Nm",
    }

    /// An account identification that is not an IBAN.
    OtherAccountId = "GenericAccountIdentification1" {
        /// The identification, up to 34 characters.
        id: 1..1 Text<34> = "Id",
        /// The scheme of the identification.
        scheme: 0..1 Box<AccountScheme> = "SchmeNm",
        /// Who issued it.
        issuer: 0..1 Text<35> = "Issr",
    }
}

choice! {
    /// The identification of an account: an IBAN or another.
    AccountId = "AccountIdentification4Choice" {
        Iban(Iban) = "IBAN",
        Other(OtherAccountId) = "Othr",
    }
}

code_or_proprietary! {
    /// The scheme of another account identification.
    AccountScheme = "AccountSchemeName1Choice" { Text<4> as "ExternalAccountIdentification1Code", Text<35> }

    /// The kind of an account.
    AccountType = "CashAccountType2Choice" { Text<4> as "ExternalCashAccountType1Code", Text<35> }
}
