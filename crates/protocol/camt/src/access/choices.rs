//! Accessors for the alternatives of choices, and each choice as one text.

use crate::*;
use std::fmt;

/// The text of a choice when the document held none of its alternatives.
const UNKNOWN: &str = "unknown";

impl AccountIdentification {
    /// Returns the IBAN; `None` if the account is identified in another way.
    #[must_use]
    pub fn iban(&self) -> Option<&Iban> {
        match self {
            Self::Iban(iban) => Some(iban),
            _ => None,
        }
    }

    /// Returns an identification that is no IBAN, with its scheme and issuer.
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
