//! Accounts.

use crate::model::agent::Agent;
use crate::model::party::Party;
use crate::schema::{choice, record};
use crate::value::identifier::{CurrencyCode, Iban};
use crate::value::text::Text;

record! {
    /// The account that a report is about, with owner and servicer.
    Account = "CashAccount25" {
        id: 1..1 AccountId = "Id",
        kind: 0..1 AccountType = "Tp",
        currency: 0..1 CurrencyCode = "Ccy",
        name: 0..1 Text<70> = "Nm",
        owner: 0..1 Box<Party> = "Ownr",
        servicer: 0..1 Box<Agent> = "Svcr",
    } then crate::beyond::account
}

record! {
    /// An account by its identification.
    CounterpartyAccount = "CashAccount24" {
        id: 1..1 AccountId = "Id",
        kind: 0..1 Box<AccountType> = "Tp",
        currency: 0..1 CurrencyCode = "Ccy",
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
        Code(Text<4>) = "Cd",
        Proprietary(Text<35>) = "Prtry",
    }
}

choice! {
    /// The kind of an account.
    AccountType = "CashAccountType2Choice" {
        Code(Text<4>) = "Cd",
        Proprietary(Text<35>) = "Prtry",
    }
}

record! {
    /// An account identification that is no IBAN.
    OtherAccountId = "GenericAccountIdentification1" {
        id: 1..1 Text<34> = "Id",
        scheme: 0..1 Box<AccountScheme> = "SchmeNm",
        issuer: 0..1 Text<35> = "Issr",
    }
}
