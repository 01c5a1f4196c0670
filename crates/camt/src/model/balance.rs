//! Balances and availability.

use crate::model::entry::Direction;
use crate::model::period::DateOrDateTime;
use bankrail_iso20022::{Amount, Date, SignedDays, Text, choice, codes, record};

record! {
    /// A balance of the account.
    Balance = "CashBalance7" {
        /// What is counted and as of when: opening or closing, booked or available.
        kind: 1..1 BalanceType = "Tp",
        /// How far the account may be overdrawn, and whether the balance counts it in.
        credit_line: 0..1 Box<CreditLine> = "CdtLine",
        /// Without a sign; `direction` says which it is.
        amount: 1..1 Amount = "Amt",
        /// Credit for a balance of the owner, also of zero; debit for an overdrawn one.
        direction: 1..1 Direction = "CdtDbtInd",
        /// As of when.
        date: 1..1 ~DateOrDateTime = "Dt",
        /// What of it can be drawn on, and when.
        availability: 0..* Availability = "Avlbty",
    }
}

record! {
    /// The kind of a balance and its sub-type.
    BalanceType = "BalanceType12" {
        /// Of the list, or proprietary.
        code: 1..1 BalanceTypeCode = "CdOrPrtry",
        /// A finer kind.
        sub_kind: 0..1 BalanceSubType = "SubTp",
    }
}

choice! {
    /// The kind of a balance, of the list or proprietary.
    BalanceTypeCode = "BalanceType5Choice" {
        Code(BalanceCode) = "Cd",
        Proprietary(Text<35>) = "Prtry",
    }
}

choice! {
    /// The sub-type of a balance.
    BalanceSubType = "BalanceSubType1Choice" {
        Code(Text<4>) = "Cd" as "ExternalBalanceSubType1Code",
        Proprietary(Text<35>) = "Prtry",
    }
}

record! {
    /// A credit line, and whether the balance includes it.
    CreditLine = "CreditLine2" {
        /// Whether the balance counts it in.
        included: 1..1 bool = "Incl" as "TrueFalseIndicator",
        /// How far the account may be overdrawn.
        amount: 0..1 Amount = "Amt",
    }
}

record! {
    /// When an amount becomes available.
    Availability = "CashAvailability1" {
        /// From when.
        date: 1..1 AvailabilityDate = "Dt",
        /// Without a sign.
        amount: 1..1 Amount = "Amt",
        /// Credit if it is added, debit if taken away.
        direction: 1..1 Direction = "CdtDbtInd",
    }
}

choice! {
    /// A date, or a number of days from now.
    AvailabilityDate = "CashAvailabilityDate1Choice" {
        Days(SignedDays) = "NbOfDays",
        Actual(Date) = "ActlDt",
    }
}

codes! {
    /// The kind of a balance.
    BalanceCode = "BalanceType12Code" {
        Expected = "XPCD", OpeningAvailable = "OPAV", InterimAvailable = "ITAV", ClosingAvailable = "CLAV",
        ForwardAvailable = "FWAV", ClosingBooked = "CLBD", InterimBooked = "ITBD", OpeningBooked = "OPBD",
        PreviouslyClosedBooked = "PRCD", Information = "INFO",
    }
}
