//! Writing dates and times, and what they share as simple values.

use super::parse::{
    read_any_date, read_date, read_date_time, read_day_of_time, read_without_seconds,
    read_year_month, trim,
};
use super::{DateFormatError, Fraction, IsoDate, IsoDateTime, IsoYearMonth, Offset};
use crate::field::{Fault, Unreadable};
use crate::finding::FindingKind;
use crate::node::Simple;
use crate::output::Output;
use bankrail_values::excerpt;
use std::fmt;

const DATE: &str = "a date such as 2021-07-29";
const YEAR_MONTH: &str = "a year and month such as 2021-07";
const DATE_TIME: &str = "a date and time such as 2021-07-29T17:10:05+10:00";

/// States the name of each type in XML Schema, the expected form of a text, its exact and its
/// tolerant reader, and the reader of a text of which the value does not hold all, with the texts
/// that are surely not for it. Then come the fault of a value that was read tolerantly, and the
/// writer.
macro_rules! spelled {
    ($($Type:ident $xs:literal $expected:ident $read:ident $kept:ident $part:ident $whole:expr,
        |$faulty:ident| $fault:expr,
        |$value:ident, $out:ident| $write:block
    )*) => {$(
        impl $Type {
            #[doc = concat!("Reads an `", $xs, "`, white space around it allowed.")]
            ///
            /// # Errors
            /// [`DateFormatError`] for any other text.
            pub fn parse(text: &str) -> Result<Self, DateFormatError> {
                $read(trim(text)).ok_or_else(|| DateFormatError { expected: $expected, found: excerpt(text) })
            }

            fn spell(&self, $out: &mut impl fmt::Write) -> fmt::Result {
                let $value = self;
                $write
            }
        }

        impl fmt::Display for $Type {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.spell(out)
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

        $crate::__simple_nodes! { [] $Type }

        impl Simple for $Type {
            fn parse(text: &str) -> Result<Self, Unreadable> {
                let text = trim(text);
                $kept(text).or_else(|| $part(text)).ok_or(Unreadable { expected: $expected })
            }

            fn append(&self, out: &mut Output<'_>) {
                out.spelled(|text| self.spell(text));
            }

            #[inline]
            fn fault(&self, _version: u8) -> Option<Fault> {
                let $faulty = self;
                $fault
            }

            #[inline]
            fn lost(&self, text: &str) -> Option<FindingKind> {
                let text = trim(text);
                let whole: fn(&str) -> bool = $whole;
                (!whole(text) && $kept(text).is_none()).then(|| FindingKind::Pattern {
                    expected: $expected,
                    found: excerpt(text),
                })
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
                let odd = || DateFormatError { expected: $expected, found: excerpt(&text) };
                $kept(trim(&text)).ok_or_else(odd).map_err(serde::de::Error::custom)
            }
        }
    )*};
}

spelled! {
    IsoDate "xs:date" DATE read_date read_any_date read_day_of_time |text| text.len() < 16,
    |date| date.basic.then_some(Fault::Pattern { expected: DATE }),
    |date, out| {
        spell_day(date, out)?;
        spell_offset(date.offset, out)
    }
    IsoYearMonth "xs:gYearMonth" YEAR_MONTH read_year_month read_year_month read_year_month |_| true,
    |_month| None,
    |month, out| {
        spell_year(month.year, out)?;
        out.write_str("-")?;
        out.write_str(two(month.month))?;
        spell_offset(month.offset, out)
    }
    IsoDateTime "xs:dateTime" DATE_TIME read_date_time read_date_time read_without_seconds |text| text.as_bytes().get(16) == Some(&b':'),
    |_at| None,
    |at, out| {
        spell_day(&at.date, out)?;
        for (before, number) in [("T", at.hour), (":", at.minute), (":", at.second)] {
            out.write_str(before)?;
            out.write_str(two(number))?;
        }
        match &at.fraction {
            Fraction::Short { digits: 0, .. } => {}
            Fraction::Short { value, digits } => write!(out, ".{value:0width$}", width = usize::from(*digits))?,
            Fraction::Long(digits) => write!(out, ".{digits}")?,
        }
        spell_offset(at.offset(), out)
    }
}

fn spell_day(date: &IsoDate, out: &mut impl fmt::Write) -> fmt::Result {
    let hyphen = if date.basic { "" } else { "-" };
    spell_year(date.year, out)?;
    out.write_str(hyphen)?;
    out.write_str(two(date.month))?;
    out.write_str(hyphen)?;
    out.write_str(two(date.day))
}

fn spell_year(year: i32, out: &mut impl fmt::Write) -> fmt::Result {
    match u8::try_from(year / 100) {
        Ok(century @ 0..=99) if year > 0 => {
            out.write_str(two(century))?;
            out.write_str(two(u8::try_from(year % 100).unwrap_or_default()))
        }
        _ => write!(
            out,
            "{}{:04}",
            if year < 0 { "-" } else { "" },
            year.unsigned_abs()
        ),
    }
}

fn spell_offset(offset: Option<Offset>, out: &mut impl fmt::Write) -> fmt::Result {
    offset.map_or(Ok(()), |offset| write!(out, "{offset}"))
}

/// Returns a number below 100 with two digits.
fn two(number: u8) -> &'static str {
    const DIGITS: &str = "\
        0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
        5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
    let start = usize::from(number) * 2;
    DIGITS.get(start..start + 2).unwrap_or_default()
}
