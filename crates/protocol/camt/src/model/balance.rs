//! Balances and availability.

use crate::*;

record! {
    /// A balance of the account.
    Balance = "CashBalance7" {
        /// The kind of balance: opening or closing, booked or available.
        kind: 1..1 BalanceType = "Tp",
        /// The credit line, and whether the balance includes it.
        credit_line: 0..1 Box<CreditLine> = "CdtLine",
        /// The amount, without a sign; see `direction`.
        amount: 1..1 Amount = "Amt",
        /// Credit for a balance of the owner, also of zero; debit for an overdrawn one.
        direction: 1..1 Direction = "CdtDbtInd",
        /// The date of the balance.
        date: 1..1 ~DateOrDateTime = "Dt",
        /// When each part of the balance becomes available.
        availability: 0..* Availability = "Avlbty",
    }

    /// The kind of a balance and its sub-type.
    BalanceType = "BalanceType12" {
        /// The kind, as a code of the list or a proprietary one.
        code: 1..1 BalanceTypeCode = "CdOrPrtry",
        /// The sub-type.
        sub_kind: 0..1 BalanceSubType = "SubTp",
    }

    /// A credit line, and whether the balance includes it.
    CreditLine = "CreditLine2" {
        /// True when the balance includes it.
        included: 1..1 bool = "Incl" as "TrueFalseIndicator",
        /// The amount by which the account may be overdrawn.
        amount: 0..1 Amount = "Amt",
    }

    /// When an amount becomes available.
    Availability = "CashAvailability1" {
        /// When the amount becomes available.
        date: 1..1 AvailabilityDate = "Dt",
        /// The amount, without a sign.
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

code_or_proprietary! {
    /// The kind of a balance, of the list or proprietary.
    BalanceTypeCode = "BalanceType5Choice" { BalanceCode, Text<35> }

    /// The sub-type of a balance.
    BalanceSubType = "BalanceSubType1Choice" { Text<4> as "ExternalBalanceSubType1Code", Text<35> }
}

codes! {
    /// The kind of a balance.
    BalanceCode = "BalanceType12Code" {
        Expected = "XPCD", OpeningAvailable = "OPAV", InterimAvailable = "ITAV", ClosingAvailable = "CLAV",
        ForwardAvailable = "FWAV", ClosingBooked = "CLBD", InterimBooked = "ITBD", OpeningBooked = "OPBD",
        PreviouslyClosedBooked = "PRCD", Information = "INFO",
    }
}
