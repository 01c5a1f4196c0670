//! Balances and availability.

use crate::model::entry::Direction;
use crate::model::period::DateOrDateTime;
use crate::schema::{choice, codes, record};
use crate::value::amount::Amount;
use crate::value::date::Date;
use crate::value::text::{SignedDays, Text};

record! {
    /// A balance of the account.
    Balance = "CashBalance7" {
        kind: 1..1 BalanceType = "Tp",
        credit_line: 0..1 Box<CreditLine> = "CdtLine",
        amount: 1..1 Amount = "Amt",
        direction: 1..1 Direction = "CdtDbtInd",
        date: 1..1 ~DateOrDateTime = "Dt",
        availability: 0..* Availability = "Avlbty",
    }
}

record! {
    /// The kind of a balance and its sub-type.
    BalanceType = "BalanceType12" {
        code: 1..1 BalanceTypeCode = "CdOrPrtry",
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
        Code(Text<4>) = "Cd",
        Proprietary(Text<35>) = "Prtry",
    }
}

record! {
    /// A credit line, and whether the balance includes it.
    CreditLine = "CreditLine2" {
        included: 1..1 bool = "Incl",
        amount: 0..1 Amount = "Amt",
    }
}

record! {
    /// When an amount becomes available.
    Availability = "CashAvailability1" {
        date: 1..1 AvailabilityDate = "Dt",
        amount: 1..1 Amount = "Amt",
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
