//! Dates and periods.

use crate::schema::{choice, record};
use crate::value::date::{Date, DateTime};

choice! {
    /// Date or date time.
    DateOrDateTime = "DateAndDateTimeChoice" {
        Date(Date) = "Dt",
        DateTime(DateTime) = "DtTm",
    }
}

choice! {
    /// Date or date time period.
    DateOrDateTimePeriod = "DateOrDateTimePeriodChoice" {
        Date(DatePeriod) = "Dt",
        DateTime(DateTimePeriod) = "DtTm",
    }
}

record! {
    /// Date period.
    DatePeriod = "DatePeriodDetails" {
        from: 1..1 Date = "FrDt",
        to: 1..1 Date = "ToDt",
    }
}

record! {
    /// Date time period.
    DateTimePeriod = "DateTimePeriodDetails" {
        from: 1..1 DateTime = "FrDtTm",
        to: 1..1 DateTime = "ToDtTm",
    }
}
