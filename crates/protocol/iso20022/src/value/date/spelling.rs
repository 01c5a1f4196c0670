//! Reading and writing dates and times as XML Schema spells them.

use super::{Fraction, IsoDate, IsoDateTime, IsoYearMonth, Offset, below_100};
use crate::field::{Fault, Unreadable};
use crate::finding::FindingKind;
use crate::node::Simple;
use crate::output::Output;
use crate::xml::{ONES, is_space};
use bankrail_values::{ValueError, excerpt};
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
            /// [`ValueError`] for any other text.
            pub fn parse(text: &str) -> Result<Self, ValueError> {
                $read(trim(text)).ok_or_else(|| ValueError::new($expected, text))
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
            type Err = ValueError;
            fn from_str(text: &str) -> Result<Self, ValueError> {
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
                let odd = || ValueError::new($expected, &text);
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

#[inline]
fn trim(text: &str) -> &str {
    // Nearly every text begins and ends above the space, and then there is nothing to trim.
    if let (Some(b'!'..), Some(b'!'..)) = (text.as_bytes().first(), text.as_bytes().last()) {
        return text;
    }
    text.trim_matches(is_space)
}

/// Reads `-?YYYY+-MM`; returns the rest of the text, too.
#[inline]
fn read_month(text: &[u8]) -> Option<(i32, u8, &[u8])> {
    if let [y1, y2, y3, y4, b'-', m1, m2, ref rest @ ..] = *text
        && let (Some(century), Some(year)) = (below_100(y1, y2), below_100(y3, y4))
    {
        let year = i32::from(century) * 100 + i32::from(year);
        let month = below_100(m1, m2).filter(|month| (1..=12).contains(month))?;
        return (year != 0).then_some((year, month, rest));
    }
    read_any_month(text)
}

fn read_any_month(text: &[u8]) -> Option<(i32, u8, &[u8])> {
    let (negative, rest) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let length = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let (digits, rest) = rest.split_at_checked(length)?;
    // Nine digits fit an `i32`. XML Schema has leading zeros only up to four digits.
    if !(4..=9).contains(&length) || (length > 4 && digits.first() == Some(&b'0')) {
        return None;
    }
    let year = digits
        .iter()
        .fold(0_i32, |sum, b| sum * 10 + i32::from(b - b'0'));
    match *rest {
        [b'-', m1, m2, ref rest @ ..] => {
            let month = below_100(m1, m2).filter(|month| (1..=12).contains(month))?;
            (year != 0).then_some((if negative { -year } else { year }, month, rest))
        }
        _ => None,
    }
}

fn read_day(text: &[u8]) -> Option<(IsoDate, &[u8])> {
    let (year, month, rest) = read_month(text)?;
    match *rest {
        [b'-', d1, d2, ref rest @ ..] => {
            Some((IsoDate::new(year, month, below_100(d1, d2)?)?, rest))
        }
        _ => None,
    }
}

fn read_date(text: &str) -> Option<IsoDate> {
    let (date, rest) = read_day(text.as_bytes())?;
    Some(date.with_offset(Offset::read(rest)?))
}

/// Reads `YYYY-MM-DD`, the spelling of nearly all dates.
#[inline]
fn read_plain_date(text: &[u8]) -> Option<IsoDate> {
    let (month, &[d1, d2]) = text.split_first_chunk::<8>()? else {
        return None;
    };
    // The exclusive or turns digits into their numbers and hyphens into zero. The addition below
    // sets the highest bit of every byte that is greater.
    let month = u64::from_le_bytes(*month) ^ u64::from_le_bytes(*b"0000-00-");
    let greater = month.wrapping_add(u64::from_le_bytes(*b"vvvv\x7fvv\x7f")) | month;
    if greater & (ONES << 7) != 0 {
        return None;
    }
    let [y1, y2, y3, y4, _, m1, m2, _] = month.to_le_bytes();
    let year = i32::from(y1 * 10 + y2) * 100 + i32::from(y3 * 10 + y4);
    IsoDate::new(year, m1 * 10 + m2, below_100(d1, d2)?)
}

/// Reads a date, also in the form `YYYYMMDD`, the basic format of ISO 8601, which XML Schema does
/// not have.
fn read_any_date(text: &str) -> Option<IsoDate> {
    read_plain_date(text.as_bytes())
        .or_else(|| read_date(text))
        .or_else(|| {
            let [y1, y2, y3, y4, m1, m2, d1, d2] = *text.as_bytes() else {
                return None;
            };
            let (date, _) = read_day(&[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2])?;
            Some(IsoDate {
                basic: true,
                ..date
            })
        })
}

fn read_year_month(text: &str) -> Option<IsoYearMonth> {
    let (year, month, rest) = read_month(text.as_bytes())?;
    Some(IsoYearMonth {
        year,
        month,
        offset: Offset::read(rest)?,
    })
}

fn read_date_time(text: &str) -> Option<IsoDateTime> {
    let text = text.as_bytes();
    let plain = text
        .split_at_checked("2021-07-29".len())
        .and_then(|(day, rest)| Some((read_plain_date(day)?, rest)));
    let (date, rest) = plain.or_else(|| read_day(text))?;
    let &[b'T', h1, h2, b':', m1, m2, b':', s1, s2, ref rest @ ..] = rest else {
        return None;
    };
    let (hour, minute, second) = (below_100(h1, h2)?, below_100(m1, m2)?, below_100(s1, s2)?);
    let (fraction, rest) = match rest {
        [b'.', rest @ ..] => {
            let length = rest.iter().take_while(|b| b.is_ascii_digit()).count();
            let (digits, rest) = rest.split_at_checked(length)?;
            (read_fraction(digits)?, rest)
        }
        _ => (
            Fraction::Short {
                value: 0,
                digits: 0,
            },
            rest,
        ),
    };
    let zero = match &fraction {
        Fraction::Short { value, .. } => *value == 0,
        Fraction::Long(text) => text.bytes().all(|b| b == b'0'),
    };
    let end_of_day = hour == 24 && minute == 0 && second == 0 && zero;
    if !(hour <= 23 || end_of_day) || minute > 59 || second > 59 {
        return None;
    }
    Some(IsoDateTime {
        date: date.with_offset(Offset::read(rest)?),
        hour,
        minute,
        second,
        fraction,
    })
}

/// Reads `YYYY-MM-DDThh:mm`, perhaps with an offset, as of second 0.
#[cold]
fn read_without_seconds(text: &str) -> Option<IsoDateTime> {
    let (minute, offset) = text.split_at_checked("YYYY-MM-DDThh:mm".len())?;
    read_date_time(&format!("{minute}:00{offset}"))
}

/// Reads the day of a date and time.
#[cold]
fn read_day_of_time(text: &str) -> Option<IsoDate> {
    let at = read_date_time(text).or_else(|| read_without_seconds(text))?;
    Some(at.date)
}

fn read_fraction(digits: &[u8]) -> Option<Fraction> {
    match u8::try_from(digits.len()) {
        // A point must be followed by a digit.
        Ok(0) => None,
        Ok(length @ ..=9) => {
            let value = digits
                .iter()
                .fold(0_u32, |sum, b| sum * 10 + u32::from(b - b'0'));
            Some(Fraction::Short {
                value,
                digits: length,
            })
        }
        _ => Some(Fraction::Long(std::str::from_utf8(digits).ok()?.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_date_is_read_as_any_other() {
        let mut read = 0;
        for date in ["2021-07-29", "1999-12-31", "2024-02-29", "0001-01-01"] {
            for place in 0..date.len() {
                for byte in (0..=0x7F_u8).chain([0x80, 0x8A, 0xB0, 0xFF]) {
                    let mut text = date.as_bytes().to_vec();
                    text[place] = byte;
                    let any = read_day(&text)
                        .filter(|(_, rest)| rest.is_empty())
                        .map(|(date, _)| date);
                    let plain = read_plain_date(&text);
                    assert_eq!(plain, any, "{}", text.escape_ascii());
                    read += u32::from(plain.is_some());
                }
            }
        }
        assert!(read > 200, "{read}");
        for odd in ["", "2021-07-2", "2021-07-29Z", "12021-07-29", "-2021-07-2"] {
            assert_eq!(read_plain_date(odd.as_bytes()), None, "{odd}");
        }
    }
}
