//! The alternatives of choices one by one, and as one text.

use crate::{
    AccountId, AccountScheme, AccountType, AvailabilityDate, BalanceSubType, BalanceTypeCode, ChargeType,
    ClearingSystem, CreditorReferenceCode, DateOrDateTime, DateOrDateTimePeriod, DiscountType, DocumentLineCode,
    FinancialScheme, GarnishmentCode, InputChannel, InstrumentQuantity, InterestType, IssuedId, OrganisationScheme,
    PersonScheme, PriceType, PriceValue, Purpose, RateType, ReferredDocumentCode, ReportingSource, ReturnReason,
    SecurityIdSource, TaxAmountType,
};
use bankrail_iso20022::{Date, DateTime, Iban, Rate, SignedDays, Text};
use std::fmt;

/// What a choice prints when the document held none of its alternatives.
const UNKNOWN: &str = "unknown";

macro_rules! code_or_proprietary {
    ($($Type:ident)*) => {$(
        impl $Type {
            /// The code of the list; `None` for a proprietary one.
            #[must_use]
            pub fn code(&self) -> Option<&str> {
                match self {
                    Self::Code(code) => Some(code.as_str()),
                    _ => None,
                }
            }

            /// The proprietary text; `None` for a code of the list.
            #[must_use]
            pub fn proprietary(&self) -> Option<&str> {
                match self {
                    Self::Proprietary(text) => Some(text.as_str()),
                    _ => None,
                }
            }

            /// The code or the proprietary text; `None` when the document held neither.
            #[must_use]
            pub fn as_str(&self) -> Option<&str> {
                self.code().or_else(|| self.proprietary())
            }
        }

        impl fmt::Display for $Type {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(self.as_str().unwrap_or(UNKNOWN))
            }
        }
    )*};
}

impl IssuedId {
    fn as_str(&self) -> &str {
        self.id.as_str()
    }
}

code_or_proprietary! {
    AccountScheme AccountType BalanceSubType BalanceTypeCode ChargeType ClearingSystem CreditorReferenceCode
    DiscountType DocumentLineCode FinancialScheme GarnishmentCode InputChannel InterestType OrganisationScheme
    PersonScheme Purpose ReferredDocumentCode ReportingSource ReturnReason SecurityIdSource TaxAmountType
}

impl AccountId {
    /// The IBAN, if it is one.
    #[must_use]
    pub fn iban(&self) -> Option<&Iban> {
        match self {
            Self::Iban(iban) => Some(iban),
            _ => None,
        }
    }

    /// The identification that is no IBAN, without its scheme and issuer.
    #[must_use]
    pub fn other(&self) -> Option<&Text<34>> {
        match self {
            Self::Other(other) => Some(&other.id),
            _ => None,
        }
    }

    /// The identification, whichever it is; `None` when the document held neither.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        self.iban().map(Iban::as_str).or_else(|| self.other().map(Text::as_str))
    }
}

impl fmt::Display for AccountId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str().unwrap_or(UNKNOWN))
    }
}

impl DateOrDateTime {
    /// The date, with or without a time; `None` when the document held neither.
    #[must_use]
    pub fn date(&self) -> Option<Date> {
        match self {
            Self::Date(date) => Some(*date),
            Self::DateTime(at) => Some(at.date()),
            Self::Unknown => None,
        }
    }

    /// The date and time, if there is a time.
    #[must_use]
    pub fn date_time(&self) -> Option<&DateTime> {
        match self {
            Self::DateTime(at) => Some(at),
            _ => None,
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
    /// The date, if it is one.
    #[must_use]
    pub fn actual(&self) -> Option<Date> {
        match self {
            Self::Actual(date) => Some(*date),
            _ => None,
        }
    }

    /// The number of days from now, if it is one.
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
    /// The percentage, if it is one.
    #[must_use]
    pub fn percentage(&self) -> Option<Rate> {
        match self {
            Self::Percentage(rate) => Some(*rate),
            _ => None,
        }
    }

    /// The rate in words, if it is.
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

/// First and last with a slash between them, as ISO 8601 writes an interval.
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
            Self::Kind(kind) => out.write_str(kind.as_str()),
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
