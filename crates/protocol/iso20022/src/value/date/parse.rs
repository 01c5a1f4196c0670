//! Reading dates and times as XML Schema spells them.

use super::{Fraction, IsoDate, IsoDateTime, IsoYearMonth, Offset};
use crate::xml::{ONES, is_space};

#[inline]
pub(super) fn trim(text: &str) -> &str {
    // Nearly every text begins and ends above the space, and then there is nothing to trim.
    if let (Some(b'!'..), Some(b'!'..)) = (text.as_bytes().first(), text.as_bytes().last()) {
        return text;
    }
    text.trim_matches(is_space)
}

pub(super) fn two(tens: u8, ones: u8) -> Option<u8> {
    (tens.is_ascii_digit() && ones.is_ascii_digit()).then(|| (tens - b'0') * 10 + (ones - b'0'))
}

/// The greatest year either way: nine digits.
pub(super) const MOST_YEAR: u32 = 999_999_999;

/// Converts a year of XML Schema 1.0, which has no year 0, to the proleptic calendar, in which the
/// year before 1 is 0.
pub(super) fn proleptic(year: i32) -> i32 {
    if year < 0 { year + 1 } else { year }
}

/// Converts a year of the proleptic calendar back, as the reverse of `proleptic`.
pub(super) fn without_zero(year: i32) -> i32 {
    if year <= 0 { year - 1 } else { year }
}

pub(super) fn days_in(year: i32, month: u8) -> u8 {
    let year = proleptic(year);
    match month {
        2 if year.rem_euclid(4) == 0
            && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0) =>
        {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Reads `-?YYYY+-MM`; returns the rest of the text, too.
#[inline]
fn read_month(text: &[u8]) -> Option<(i32, u8, &[u8])> {
    if let [y1, y2, y3, y4, b'-', m1, m2, ref rest @ ..] = *text
        && let (Some(century), Some(year)) = (two(y1, y2), two(y3, y4))
    {
        let year = i32::from(century) * 100 + i32::from(year);
        let month = two(m1, m2).filter(|month| (1..=12).contains(month))?;
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
            let month = two(m1, m2).filter(|month| (1..=12).contains(month))?;
            (year != 0).then_some((if negative { -year } else { year }, month, rest))
        }
        _ => None,
    }
}

fn read_day(text: &[u8]) -> Option<(IsoDate, &[u8])> {
    let (year, month, rest) = read_month(text)?;
    match *rest {
        [b'-', d1, d2, ref rest @ ..] => Some((IsoDate::new(year, month, two(d1, d2)?)?, rest)),
        _ => None,
    }
}

pub(super) fn read_date(text: &str) -> Option<IsoDate> {
    let (date, rest) = read_day(text.as_bytes())?;
    Some(date.with_offset(Offset::read(rest)?))
}

/// Reads `YYYY-MM-DD`, the spelling of nearly all dates.
#[inline]
fn read_plain_date(text: &[u8]) -> Option<IsoDate> {
    let (month, &[d1, d2]) = text.split_first_chunk::<8>()? else {
        return None;
    };
    // Digits become their numbers, hyphens zero. What is added brings all that is greater to the
    // highest bit.
    let month = u64::from_le_bytes(*month) ^ u64::from_le_bytes(*b"0000-00-");
    let greater = month.wrapping_add(u64::from_le_bytes(*b"vvvv\x7fvv\x7f")) | month;
    if greater & (ONES << 7) != 0 {
        return None;
    }
    let [y1, y2, y3, y4, _, m1, m2, _] = month.to_le_bytes();
    let year = i32::from(y1 * 10 + y2) * 100 + i32::from(y3 * 10 + y4);
    IsoDate::new(year, m1 * 10 + m2, two(d1, d2)?)
}

/// Reads also `YYYYMMDD`, the basic format of ISO 8601, which XML Schema does not have.
pub(super) fn read_any_date(text: &str) -> Option<IsoDate> {
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

pub(super) fn read_year_month(text: &str) -> Option<IsoYearMonth> {
    let (year, month, rest) = read_month(text.as_bytes())?;
    Some(IsoYearMonth {
        year,
        month,
        offset: Offset::read(rest)?,
    })
}

pub(super) fn read_date_time(text: &str) -> Option<IsoDateTime> {
    let text = text.as_bytes();
    let plain = text
        .split_at_checked("2021-07-29".len())
        .and_then(|(day, rest)| Some((read_plain_date(day)?, rest)));
    let (date, rest) = plain.or_else(|| read_day(text))?;
    let &[b'T', h1, h2, b':', m1, m2, b':', s1, s2, ref rest @ ..] = rest else {
        return None;
    };
    let (hour, minute, second) = (two(h1, h2)?, two(m1, m2)?, two(s1, s2)?);
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
pub(super) fn read_without_seconds(text: &str) -> Option<IsoDateTime> {
    let (minute, offset) = text.split_at_checked("YYYY-MM-DDThh:mm".len())?;
    read_date_time(&format!("{minute}:00{offset}"))
}

/// Reads the day of a date and time.
#[cold]
pub(super) fn read_day_of_time(text: &str) -> Option<IsoDate> {
    let at = read_date_time(text).or_else(|| read_without_seconds(text))?;
    Some(at.date)
}

fn read_fraction(digits: &[u8]) -> Option<Fraction> {
    match u8::try_from(digits.len()) {
        // A point needs a digit after it.
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
