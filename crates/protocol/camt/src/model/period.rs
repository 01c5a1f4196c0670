//! Dates and periods.

use crate::*;

record! {
    /// A period between dates.
    DatePeriod = "DatePeriodDetails" {
        /// The first day.
        from: 1..1 Date = "FrDt",
        /// The last day.
        to: 1..1 Date = "ToDt",
    }

    /// A period between dates and times.
    DateTimePeriod = "DateTimePeriodDetails" {
        /// The beginning.
        from: 1..1 DateTime = "FrDtTm",
        /// The end.
        to: 1..1 DateTime = "ToDtTm",
    }
}

choice! {
    /// A date, or a date and time.
    DateOrDateTime = "DateAndDateTimeChoice" {
        Date(Date) = "Dt",
        DateTime(DateTime) = "DtTm",
    }

    /// A period between dates, or between dates and times.
    DateOrDateTimePeriod = "DateOrDateTimePeriodChoice" {
        Date(DatePeriod) = "Dt",
        DateTime(DateTimePeriod) = "DtTm",
    }
}
