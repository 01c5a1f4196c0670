//! The built-in types of XML Schema, which `xsi:type` may name in supplementary data (XML Schema
//! Part 2, chapter 3).

use super::namespaces::Namespaces;
use crate::value::date::{Date, DateTime, YearMonth};
use crate::xml::{continues_name, is_plain_name, is_qualified_name, is_space};

pub(crate) const XSD: &str = "http://www.w3.org/2001/XMLSchema";

/// A simple type, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Builtin(&'static str);

/// All simple types. `anyType`, which any content satisfies, is not one of them.
const NAMES: &str = "anySimpleType string normalizedString token language NMTOKEN NMTOKENS Name NCName ID IDREF IDREFS \
    ENTITY ENTITIES boolean decimal integer nonPositiveInteger negativeInteger long int short byte nonNegativeInteger \
    unsignedLong unsignedInt unsignedShort unsignedByte positiveInteger float double duration dateTime time date \
    gYearMonth gYear gMonthDay gDay gMonth hexBinary base64Binary anyURI QName NOTATION";

impl Builtin {
    /// The simple type of a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        NAMES.split(' ').find(|other| *other == name).map(Self)
    }

    pub(crate) fn name(self) -> &'static str {
        self.0
    }

    /// True when a text is of the type.
    pub(crate) fn accepts(self, text: &str, namespaces: &Namespaces) -> bool {
        if matches!(
            self.0,
            "anySimpleType" | "string" | "normalizedString" | "token" | "anyURI"
        ) {
            return true;
        }
        let text = text.trim_matches(is_space);
        let list = |is: fn(&str) -> bool| {
            !text.is_empty() && text.split(is_space).filter(|word| !word.is_empty()).all(is)
        };
        match self.0 {
            "language" => is_language(text),
            "NMTOKEN" => is_token(text),
            "NMTOKENS" => list(is_token),
            "Name" => is_name(text),
            "NCName" | "ID" | "IDREF" => is_plain_name(text),
            "IDREFS" => list(is_plain_name),
            "boolean" => matches!(text, "true" | "false" | "1" | "0"),
            "decimal" => is_decimal(text),
            "float" | "double" => matches!(text, "INF" | "-INF" | "NaN") || is_float(text),
            "duration" => is_duration(text),
            "dateTime" => DateTime::parse(text).is_ok(),
            "time" => DateTime::parse(&format!("2000-01-01T{text}")).is_ok(),
            "date" => Date::parse(text).is_ok(),
            "gYearMonth" => YearMonth::parse(text).is_ok(),
            "gYear" => is_year(text),
            // A leap year has every day of every month.
            "gMonthDay" => text
                .strip_prefix("--")
                .is_some_and(|rest| Date::parse(&format!("2000-{rest}")).is_ok()),
            "gDay" => text
                .strip_prefix("---")
                .is_some_and(|rest| Date::parse(&format!("2000-01-{rest}")).is_ok()),
            "gMonth" => text
                .strip_prefix("--")
                .is_some_and(|rest| YearMonth::parse(&format!("2000-{rest}")).is_ok()),
            "hexBinary" => {
                text.len().is_multiple_of(2) && text.bytes().all(|b| b.is_ascii_hexdigit())
            }
            "base64Binary" => is_base64(text),
            "QName" => {
                is_qualified_name(text)
                    && text
                        .split_once(':')
                        .is_none_or(|(p, _)| namespaces.get(p).is_some())
            }
            _ => is_whole_number(self.0, text),
        }
    }
}

fn is_language(text: &str) -> bool {
    text.split('-').enumerate().all(|(place, part)| {
        let letters = |b: u8| b.is_ascii_alphabetic() || (place > 0 && b.is_ascii_digit());
        (1..=8).contains(&part.len()) && part.bytes().all(letters)
    })
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| continues_name(c) || c == ':')
}

fn is_name(text: &str) -> bool {
    is_token(text)
        && text
            .split(':')
            .next()
            .is_some_and(|start| start.is_empty() || is_plain_name(start))
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['+', '-']).unwrap_or(text)
}

fn is_decimal(text: &str) -> bool {
    match unsigned(text).split_once('.') {
        Some((whole, part)) => {
            (digits(whole) || digits(part))
                && format!("0{whole}{part}")
                    .bytes()
                    .all(|b| b.is_ascii_digit())
        }
        None => digits(unsigned(text)),
    }
}

fn is_float(text: &str) -> bool {
    match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => is_decimal(mantissa) && digits(unsigned(exponent)),
        None => is_decimal(text),
    }
}

fn is_whole_number(name: &str, text: &str) -> bool {
    let (least, most): (i128, i128) = match name {
        "integer" => (i128::MIN, i128::MAX),
        "nonPositiveInteger" => (i128::MIN, 0),
        "negativeInteger" => (i128::MIN, -1),
        "nonNegativeInteger" => (0, i128::MAX),
        "positiveInteger" => (1, i128::MAX),
        "long" => (i64::MIN.into(), i64::MAX.into()),
        "int" => (i32::MIN.into(), i32::MAX.into()),
        "short" => (i16::MIN.into(), i16::MAX.into()),
        "byte" => (i8::MIN.into(), i8::MAX.into()),
        "unsignedLong" => (0, u64::MAX.into()),
        "unsignedInt" => (0, u32::MAX.into()),
        "unsignedShort" => (0, u16::MAX.into()),
        "unsignedByte" => (0, u8::MAX.into()),
        // ENTITY, ENTITIES and NOTATION name what only a document type declaration or a schema
        // declares.
        _ => return false,
    };
    // A number that does not fit is beyond all bounds but the greatest and the least.
    let size = unsigned(text).parse().unwrap_or(i128::MAX);
    digits(unsigned(text))
        && (least..=most).contains(&if text.starts_with('-') { -size } else { size })
}

/// `-?P(nY)?(nM)?(nD)?(T(nH)?(nM)?(n(.n)?S)?)?` with at least one part, also after a `T`.
fn is_duration(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('-').unwrap_or(text).strip_prefix('P') else {
        return false;
    };
    let (days, clock) = match rest.split_once('T') {
        Some((days, clock)) => (days, Some(clock)),
        None => (rest, None),
    };
    let parts = |mut text: &str, units: &[char]| -> bool {
        for unit in units {
            if let Some((number, after)) = text.split_once(*unit) {
                let whole = match number.split_once('.') {
                    Some((whole, part)) if *unit == 'S' => digits(whole) && digits(part),
                    _ => digits(number),
                };
                if !whole {
                    return false;
                }
                text = after;
            }
        }
        text.is_empty()
    };
    let clock_fits = clock.is_none_or(|clock| !clock.is_empty() && parts(clock, &['H', 'M', 'S']));
    parts(days, &['Y', 'M', 'D']) && clock_fits && !(days.is_empty() && clock.is_none())
}

fn is_year(text: &str) -> bool {
    let (sign, rest) = if text.starts_with('-') {
        text.split_at(1)
    } else {
        ("", text)
    };
    let (year, offset) = rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count());
    YearMonth::parse(&format!("{sign}{year}-01{offset}")).is_ok()
}

fn is_base64(text: &str) -> bool {
    let packed: String = text.chars().filter(|c| !is_space(*c)).collect();
    let data = packed
        .strip_suffix("==")
        .or_else(|| packed.strip_suffix('='))
        .unwrap_or(&packed);
    // The bits of the last character that no byte has are zero.
    let last = match packed.len() - data.len() {
        0 => true,
        1 => data.ends_with(|c| "AEIMQUYcgkosw048".contains(c)),
        _ => data.ends_with(['A', 'Q', 'g', 'w']),
    };
    packed.len().is_multiple_of(4)
        && last
        && data
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_each_type() {
        let namespaces = Namespaces::new("urn:a");
        for (names, good, bad) in [
            (
                "string normalizedString token anySimpleType anyURI",
                "|a b| ",
                "~",
            ),
            (
                "language",
                "en|en-AU|x-klingon-1|abcdefgh|a-abcdefg8",
                "|e1|en-|abcdefghi|1a",
            ),
            ("NMTOKEN", "a|-1:x| a ", "|a b|a/b"),
            ("NMTOKENS", "a b| -1  x", "| |a /"),
            ("Name", "a:b:c|_x|:a", "|1a|-a|a b"),
            ("NCName ID IDREF", "a|_1", "|a:b|1a|a b"),
            ("IDREFS", "a b", "|a:b a"),
            ("ENTITY ENTITIES NOTATION", "~", "a|"),
            ("boolean", "true|0| 1 ", "|TRUE|yes"),
            ("decimal", "1|-1.50|+.5|5.", "|.|1e3|1,0|- 1|+-1|1.-5"),
            (
                "integer",
                "0|-00012|+7|123456789012345678901234567890123456789012",
                "|1.0|.|-",
            ),
            ("nonPositiveInteger", "0|-0|+0|-5", "1"),
            ("negativeInteger", "-1", "0|-0|1"),
            ("nonNegativeInteger", "0|-0|5", "-1"),
            ("positiveInteger", "1", "0|-1"),
            (
                "long",
                "9223372036854775807|-9223372036854775808",
                "9223372036854775808|99999999999999999999999999999999999999999",
            ),
            (
                "int",
                "2147483647|-2147483648|007",
                "2147483648|-2147483649|abc|1.5|",
            ),
            ("short", "32767|-32768", "32768"),
            ("byte", "127|-128", "128|-129"),
            (
                "unsignedLong",
                "18446744073709551615|-0",
                "18446744073709551616|-1",
            ),
            ("unsignedInt", "4294967295", "4294967296"),
            ("unsignedShort", "65535", "65536"),
            ("unsignedByte", "255", "256|-1"),
            (
                "float double",
                "1e3|-1.5E-7|INF|-INF|NaN|.5",
                "|+INF|1e|e3|nan|1e1.5",
            ),
            (
                "duration",
                "P1Y|-P1Y2M3DT4H5M6.7S|PT0S|P1M|PT1M",
                "|P|PT|P1YT|1Y|P-1Y|P1.5Y|P1D1Y|PT1.S",
            ),
            (
                "dateTime",
                "2021-07-29T10:00:00.5Z",
                "2021-07-29|2021-02-30T10:00:00",
            ),
            (
                "time",
                "10:00:00|24:00:00|10:00:00.123+10:00",
                "10:00|25:00:00|",
            ),
            ("date", "2021-07-29|2021-07-29Z", "20210729|2021-7-29|"),
            ("gYearMonth", "2021-07", "2021|2021-13"),
            ("gYear", "2021|-0044|12021Z|2021+10:00", "21|0000|2021-|"),
            ("gMonthDay", "--02-29|--12-31Z", "--02-30|02-29|--2-29"),
            ("gDay", "---31|---01Z", "---32|--31|31"),
            ("gMonth", "--07|--12Z", "--13|07|--7"),
            ("hexBinary", "|0aFF", "0|0g"),
            (
                "base64Binary",
                "|QQ==|QUI=|QUJD|QU JD",
                "Q|QQ=|QR==|Q===|QUJ-",
            ),
            ("QName", "a|xml:lang", "a:b|:a|"),
        ] {
            for name in names.split(' ') {
                let kind = Builtin::named(name).unwrap();
                assert_eq!(kind.name(), name);
                let cases = |texts: &'static str| texts.split('|').filter(|text| *text != "~");
                cases(good)
                    .for_each(|text| assert!(kind.accepts(text, &namespaces), "{name} {text:?}"));
                cases(bad)
                    .for_each(|text| assert!(!kind.accepts(text, &namespaces), "{name} {text:?}"));
            }
        }
        assert_eq!(
            (Builtin::named("anyType"), Builtin::named("Int")),
            (None, None)
        );
    }
}
