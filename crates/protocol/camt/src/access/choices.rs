//! The alternatives of choices one by one, and as one text.

use crate::*;
use std::fmt;

/// The text of a choice when the document held none of its alternatives.
const UNKNOWN: &str = "unknown";

impl AccountIdentification {
    /// Returns the IBAN; `None` for another identification.
    #[must_use]
    pub fn iban(&self) -> Option<&Iban> {
        match self {
            Self::Iban(iban) => Some(iban),
            _ => None,
        }
    }

    /// Returns the identification that is no IBAN, with its scheme and issuer.
    #[must_use]
    pub fn other(&self) -> Option<&OtherAccountId> {
        match self {
            Self::Other(other) => Some(other),
            _ => None,
        }
    }

    /// Returns the identification of either kind; `None` when the document held neither.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Iban(iban) => Some(iban.as_str()),
            Self::Other(other) => Some(other.id.as_str()),
            Self::Unknown => None,
        }
    }
}

impl fmt::Display for AccountIdentification {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str().unwrap_or(UNKNOWN))
    }
}

impl IssuedId {
    pub(crate) fn as_str(&self) -> &str {
        self.id.as_str()
    }
}

impl DateOrDateTime {
    /// Returns the date and time; `None` for a date alone.
    #[must_use]
    pub fn date_time(&self) -> Option<&IsoDateTime> {
        match self {
            Self::DateTime(at) => Some(at),
            _ => None,
        }
    }

    /// Returns the date, with or without a time; `None` when the document held neither.
    #[must_use]
    pub fn date(&self) -> Option<IsoDate> {
        match self {
            Self::Date(date) => Some(*date),
            Self::DateTime(at) => Some(at.date()),
            Self::Unknown => None,
        }
    }
}

impl fmt::Display for DateOrDateTime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Date(date) => date.fmt(out),
            Self::DateTime(at) => at.fmt(out),
            Self::Unknown => out.write_str(UNKNOWN),
        }
    }
}

impl AvailabilityDate {
    /// Returns the date; `None` for a number of days.
    #[must_use]
    pub fn actual(&self) -> Option<IsoDate> {
        match self {
            Self::Actual(date) => Some(*date),
            _ => None,
        }
    }

    /// Returns the number of days from now; `None` for a date.
    #[must_use]
    pub fn days(&self) -> Option<&SignedDays> {
        match self {
            Self::Days(days) => Some(days),
            _ => None,
        }
    }
}

impl fmt::Display for AvailabilityDate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Actual(date) => date.fmt(out),
            Self::Days(days) => write!(out, "{days} days"),
            Self::Unknown => out.write_str(UNKNOWN),
        }
    }
}

impl RateType {
    /// Returns the percentage; `None` for a rate in words.
    #[must_use]
    pub fn percentage(&self) -> Option<Rate> {
        match self {
            Self::Percentage(rate) => Some(*rate),
            _ => None,
        }
    }

    /// Returns the rate in words; `None` for a percentage.
    #[must_use]
    pub fn other(&self) -> Option<&str> {
        match self {
            Self::Other(text) => Some(text.as_str()),
            _ => None,
        }
    }
}

impl fmt::Display for RateType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percentage(rate) => write!(out, "{rate} %"),
            Self::Other(text) => out.write_str(text.as_str()),
            Self::Unknown => out.write_str(UNKNOWN),
        }
    }
}

/// Writes first and last with a slash between them, as ISO 8601 writes an interval.
impl fmt::Display for DateOrDateTimePeriod {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Date(period) => write!(out, "{}/{}", period.from, period.to),
            Self::DateTime(period) => write!(out, "{}/{}", period.from, period.to),
            Self::Unknown => out.write_str(UNKNOWN),
        }
    }
}

impl fmt::Display for InstrumentQuantity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unit(units) => write!(out, "{units} units"),
            Self::FaceAmount(amount) => write!(out, "face amount {amount}"),
            Self::AmortisedValue(amount) => write!(out, "amortised value {amount}"),
            Self::Unknown => out.write_str(UNKNOWN),
        }
    }
}

impl fmt::Display for PriceType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Yielded(true) => out.write_str("yield"),
            Self::Yielded(false) => out.write_str("no yield"),
            Self::Kind(kind) => kind.fmt(out),
            Self::Unknown => out.write_str(UNKNOWN),
        }
    }
}

impl fmt::Display for PriceValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate(rate) => write!(out, "{rate} %"),
            Self::Amount(amount) => write!(out, "{amount}"),
            Self::Unknown => out.write_str(UNKNOWN),
        }
    }
}
