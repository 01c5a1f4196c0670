//! Dates and periods.

use crate::*;

/// A period between dates.
///
/// `DatePeriodDetails` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "DatePeriodDetails")]
#[non_exhaustive]
pub struct DatePeriod {
    /// The first day. `FrDt`.
    #[element("FrDt")]
    pub from: IsoDate,
    /// The last day. `ToDt`.
    #[element("ToDt")]
    pub to: IsoDate,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A period between dates and times.
///
/// `DateTimePeriodDetails` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Element)]
#[element(type = "DateTimePeriodDetails")]
#[non_exhaustive]
pub struct DateTimePeriod {
    /// The beginning. `FrDtTm`.
    #[element("FrDtTm")]
    pub from: IsoDateTime,
    /// The end. `ToDtTm`.
    #[element("ToDtTm")]
    pub to: IsoDateTime,
    /// The parts of the document here that are beyond the schema.
    #[element(extras)]
    pub extras: Extras,
}

/// A date, or a date and time.
///
/// `DateAndDateTimeChoice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "DateAndDateTimeChoice")]
#[non_exhaustive]
pub enum DateOrDateTime {
    /// The element `Dt`.
    #[element("Dt")]
    Date(IsoDate),
    /// The element `DtTm`.
    #[element("DtTm")]
    // The date and time is boxed, because an entry has two, and most entries have dates alone.
    // Without the box an entry is larger, and reading takes more instructions, also of entries with
    // times: they cost 11 % more where both have one, and 2 % more with dates alone.
    DateTime(Box<IsoDateTime>),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}

/// A period between dates, or between dates and times.
///
/// `DateOrDateTimePeriodChoice` of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Choice)]
#[element(type = "DateOrDateTimePeriodChoice")]
#[non_exhaustive]
pub enum DateOrDateTimePeriod {
    /// The element `Dt`.
    #[element("Dt")]
    Date(DatePeriod),
    /// The element `DtTm`.
    #[element("DtTm")]
    DateTime(DateTimePeriod),
    /// A document without any of the alternatives; the extras of the parent hold what it has
    /// instead.
    #[element(unknown)]
    Unknown,
}
