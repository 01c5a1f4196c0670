//! Writing dates and times, and what they share as simple values.

use super::parse::{DATE, DATE_TIME, YEAR_MONTH};
use super::{Date, DateFormatError, DateTime, Fraction, YearMonth};
use crate::schema::{Fault, Simple, Unreadable, simple_nodes};
use crate::write::Output;
use std::fmt;

macro_rules! spelled {
    ($($Type:ident $expected:ident |$value:ident, $out:ident| $write:block)*) => {$(
        impl fmt::Display for $Type {
            fn fmt(&self, $out: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $value = self;
                $write
            }
        }

        impl fmt::Debug for $Type {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, out)
            }
        }

        impl std::str::FromStr for $Type {
            type Err = DateFormatError;
            fn from_str(text: &str) -> Result<Self, DateFormatError> {
                Self::parse(text)
            }
        }

        simple_nodes! { [] $Type }

        impl Simple for $Type {
            fn parse(text: &str) -> Result<Self, Unreadable> {
                $Type::parse(text).map_err(|_| Unreadable { expected: $expected })
            }

            fn append(&self, out: &mut Output<'_>) {
                out.display(self);
            }

            fn fault(&self) -> Option<Fault> {
                None
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $Type {
            fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.collect_str(self)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $Type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    )*};
}

spelled! {
    Date DATE |date, out| {
        write_year(date.year, out)?;
        write!(out, "-{:02}-{:02}", date.month, date.day)?;
        date.offset.map_or(Ok(()), |offset| fmt::Display::fmt(&offset, out))
    }
    YearMonth YEAR_MONTH |month, out| {
        write_year(month.year, out)?;
        write!(out, "-{:02}", month.month)?;
        month.offset.map_or(Ok(()), |offset| fmt::Display::fmt(&offset, out))
    }
    DateTime DATE_TIME |at, out| {
        write!(out, "{}T{:02}:{:02}:{:02}", at.date.with_offset(None), at.hour, at.minute, at.second)?;
        match &at.fraction {
            Fraction::Short { digits: 0, .. } => {}
            Fraction::Short { value, digits } => write!(out, ".{value:0width$}", width = usize::from(*digits))?,
            Fraction::Long(digits) => write!(out, ".{digits}")?,
        }
        at.offset().map_or(Ok(()), |offset| fmt::Display::fmt(&offset, out))
    }
}

fn write_year(year: i32, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(out, "{}{:04}", if year < 0 { "-" } else { "" }, year.unsigned_abs())
}
