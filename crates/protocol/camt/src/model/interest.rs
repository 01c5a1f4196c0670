//! Interest.

use crate::*;

record! {
    /// Interest that applies to the account.
    AccountInterest = "AccountInterest3" {
        /// For the day or over night.
        kind: 0..1 InterestType = "Tp",
        /// The rates. Each may state the balances that it holds for.
        rates: 0..* InterestRate = "Rate",
        /// The period of the interest.
        period: 0..1 DateTimePeriod = "FrToDt",
        /// The reason in words.
        reason: 0..1 Text<35> = "Rsn",
        /// The tax on the interest.
        tax: 0..1 Box<TaxCharges> = "Tax",
    }

    /// Interest included in an entry or transaction.
    TransactionInterest = "TransactionInterest3" {
        /// With the tax on it.
        total: 0..1 Amount = "TtlIntrstAndTaxAmt",
        /// Each item.
        records: 0..* InterestRecord = "Rcrd",
    }

    /// One item of interest.
    InterestRecord = "InterestRecord1" {
        /// The amount, without a sign.
        amount: 1..1 Amount = "Amt",
        /// Credit if the owner earns it, debit if the owner owes it.
        direction: 1..1 Direction = "CdtDbtInd",
        /// For the day or over night.
        kind: 0..1 InterestType = "Tp",
        /// The rate, as a percentage or in words.
        rate: 0..1 InterestRate = "Rate",
        /// The period of the interest.
        period: 0..1 DateTimePeriod = "FrToDt",
        /// The reason in words.
        reason: 0..1 Text<35> = "Rsn",
        /// The tax on the interest.
        tax: 0..1 Box<TaxCharges> = "Tax",
    }

    /// A rate of interest and the amounts it is for.
    InterestRate = "Rate3" {
        /// The rate, as a percentage or in words.
        kind: 1..1 RateType = "Tp",
        /// The balances that it holds for.
        validity: 0..1 Box<AmountRange> = "VldtyRg",
    }
}

choice! {
    /// A rate as a percentage or in words.
    RateType = "RateType4Choice" {
        Percentage(Rate) = "Pctg" as "PercentageRate",
        Other(Text<35>) = "Othr",
    }
}

code_or_proprietary! {
    /// The kind of interest.
    InterestType = "InterestType1Choice" { InterestCode, Text<35> }
}

codes! {
    /// The kind of interest.
    InterestCode = "InterestType1Code" {
        IntraDay = "INDY", Overnight = "OVRN",
    }
}
