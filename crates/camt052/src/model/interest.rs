//! Interest.

use crate::model::amount::AmountRange;
use crate::model::charges::TaxCharges;
use crate::model::entry::Direction;
use crate::model::period::DateTimePeriod;
use crate::schema::{choice, codes, record};
use crate::value::amount::Amount;
use crate::value::number::Rate;
use crate::value::text::Text;

record! {
    /// Interest that applies to the account.
    AccountInterest = "AccountInterest3" {
        kind: 0..1 InterestType = "Tp",
        rates: 0..* InterestRate = "Rate",
        period: 0..1 DateTimePeriod = "FrToDt",
        reason: 0..1 Text<35> = "Rsn",
        tax: 0..1 Box<TaxCharges> = "Tax",
    }
}

record! {
    /// Interest included in an entry or transaction.
    TransactionInterest = "TransactionInterest3" {
        total: 0..1 Amount = "TtlIntrstAndTaxAmt",
        records: 0..* InterestRecord = "Rcrd",
    }
}

record! {
    /// One item of interest.
    InterestRecord = "InterestRecord1" {
        amount: 1..1 Amount = "Amt",
        direction: 1..1 Direction = "CdtDbtInd",
        kind: 0..1 InterestType = "Tp",
        rate: 0..1 InterestRate = "Rate",
        period: 0..1 DateTimePeriod = "FrToDt",
        reason: 0..1 Text<35> = "Rsn",
        tax: 0..1 Box<TaxCharges> = "Tax",
    }
}

record! {
    /// A rate of interest and the amounts it is for.
    InterestRate = "Rate3" {
        kind: 1..1 RateType = "Tp",
        validity: 0..1 Box<AmountRange> = "VldtyRg",
    }
}

choice! {
    /// The kind of interest.
    InterestType = "InterestType1Choice" {
        Code(InterestCode) = "Cd",
        Proprietary(Text<35>) = "Prtry",
    }
}

choice! {
    /// A rate as a percentage or in words.
    RateType = "RateType4Choice" {
        Percentage(Rate) = "Pctg",
        Other(Text<35>) = "Othr",
    }
}

codes! {
    /// The kind of interest.
    InterestCode = "InterestType1Code" {
        IntraDay = "INDY", Overnight = "OVRN",
    }
}
