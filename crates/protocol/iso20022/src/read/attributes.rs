//! Attributes of a start tag, read as strictly as XML demands.

use super::decode::count;
use super::error::{LimitKind, ReadErrorKind};
use crate::finding::shown;
use crate::output::Output;
use crate::xml::{is_qualified_name, is_space, is_xml_char};
use std::borrow::Cow;

/// An attribute: its name as written and its normalised value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attribute<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) value: Cow<'a, str>,
}

impl Attribute<'_> {
    /// Returns the same attribute without the tag that it was read from.
    pub(crate) fn into_owned(self) -> Attribute<'static> {
        Attribute {
            name: self.name.into_owned().into(),
            value: self.value.into_owned().into(),
        }
    }

    /// Returns the prefix that the attribute declares, empty for the default namespace.
    pub(crate) fn declared_prefix(&self) -> Option<&str> {
        match self.name.strip_prefix("xmlns") {
            Some("") => Some(""),
            Some(rest) => rest.strip_prefix(':'),
            None => None,
        }
    }
}

/// Up to this many names are compared one by one; more are sorted.
const MAX_COMPARED_NAMES: usize = 16;

/// Reads the attributes between the name and the end of a start tag, at most `most` of them.
pub(crate) fn parse<'a>(
    mut text: &'a str,
    most: usize,
    to: &mut Vec<Attribute<'a>>,
) -> Result<(), ReadErrorKind> {
    loop {
        let trimmed = text.trim_start_matches(is_space);
        if trimmed.is_empty() {
            break;
        }
        // Checks the number before the attribute is read, so that no more than `most` are held.
        if to.len() >= most {
            return Err(ReadErrorKind::Limit {
                limit: LimitKind::Attributes,
                max: count(most),
            });
        }
        if trimmed.len() == text.len() {
            return Err(malformed("expected white space before an attribute"));
        }
        let Some((name, rest)) = trimmed.split_once('=') else {
            return Err(malformed("expected an attribute with a value"));
        };
        let name = name.trim_end_matches(is_space);
        if !is_qualified_name(name) {
            return Err(malformed("expected an attribute name"));
        }
        let rest = rest.trim_start_matches(is_space);
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let value = quote.and_then(|quote| rest.get(1..)?.split_once(quote));
        let Some((value, rest)) = value else {
            return Err(malformed("expected a quoted attribute value"));
        };
        if value.contains('<') {
            return Err(malformed("expected no < in an attribute value"));
        }
        // Comparing each of many with all others would take quadratic time; these are sorted below.
        if to.len() < MAX_COMPARED_NAMES && to.iter().any(|other| other.name == name) {
            return Err(occurs_twice(name));
        }
        to.push(Attribute {
            name: name.into(),
            value: normalise(value)?,
        });
        text = rest;
    }
    if to.len() > MAX_COMPARED_NAMES {
        let names = to.iter().map(|attribute| &*attribute.name).collect();
        if let Some(name) = repeated(names) {
            return Err(occurs_twice(name));
        }
    }
    Ok(())
}

/// Returns a key that occurs twice.
pub(crate) fn repeated<K: Ord + Copy>(mut keys: Vec<K>) -> Option<K> {
    keys.sort_unstable();
    keys.windows(2).find_map(|pair| {
        if let [left, right] = pair
            && left == right
        {
            Some(*left)
        } else {
            None
        }
    })
}

pub(crate) fn occurs_twice(name: &str) -> ReadErrorKind {
    ReadErrorKind::Malformed {
        detail: format!("the attribute {} occurs twice", shown(name)),
    }
}

/// Resolves references and turns white space into spaces. Few values have either.
fn normalise(raw: &str) -> Result<Cow<'_, str>, ReadErrorKind> {
    // The test has no branch, so that the compiler tests many bytes in one step.
    if !raw
        .bytes()
        .fold(false, |any, b| any | (b < b' ') | (b == b'&'))
    {
        return Ok(raw.into());
    }
    let mut value = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, after)) = rest.split_once('&') {
        push_plain(before, &mut value);
        let Some((name, after)) = after.split_once(';') else {
            return Err(malformed("expected a ; after a reference"));
        };
        // A line end or tab by reference stays: only literal white space becomes a space (3.3.3).
        value.push(resolve(name)?);
        rest = after;
    }
    push_plain(rest, &mut value);
    Ok(value.into())
}

fn push_plain(text: &str, value: &mut String) {
    // A line end becomes one space, also when it is a carriage return and a line feed.
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                chars.next_if_eq(&'\n');
                value.push(' ');
            }
            '\n' | '\t' => value.push(' '),
            c => value.push(c),
        }
    }
}

/// Returns the character that a reference stands for.
pub(crate) fn resolve(name: &str) -> Result<char, ReadErrorKind> {
    let number = match name {
        // XML predefines these five; any other needs a document type, which is refused.
        "amp" => return Ok('&'),
        "lt" => return Ok('<'),
        "gt" => return Ok('>'),
        "apos" => return Ok('\''),
        "quot" => return Ok('"'),
        _ => match name.strip_prefix('#') {
            Some(number) => number,
            None if is_qualified_name(name) => {
                return Err(ReadErrorKind::UnknownEntity { name: shown(name) });
            }
            None => return Err(malformed("expected a reference after &")),
        },
    };
    let (digits, radix) = match number.strip_prefix('x') {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(malformed("expected digits in a character reference"));
    }
    // Any number of leading zeros is allowed; a number that does not fit is not a character.
    let number = u32::from_str_radix(digits.trim_start_matches('0'), radix).unwrap_or(
        if digits.bytes().all(|b| b == b'0') {
            0
        } else {
            u32::MAX
        },
    );
    char::from_u32(number)
        // A reference must not bring in what XML forbids as a character (4.1).
        .filter(|c| is_xml_char(*c))
        .ok_or(ReadErrorKind::ForbiddenCharacter { found: number })
}

/// Writes an attribute as markup.
pub(crate) fn push_attribute(name: &[&str], value: &str, xml: &mut String) {
    Output::plain(xml).attribute_with(name, value);
}

pub(crate) fn malformed(detail: &str) -> ReadErrorKind {
    ReadErrorKind::Malformed {
        detail: detail.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(String, String)>, String> {
        let mut attributes = Vec::new();
        parse(text, 40, &mut attributes).map_err(|error| error.to_string())?;
        Ok(attributes
            .into_iter()
            .map(|attribute| (attribute.name.into(), attribute.value.into()))
            .collect())
    }

    #[test]
    fn values_are_normalised() {
        let text = " a = '1' b:c=\"&#x41;&amp;\t\r\nx&#10;'\" ";
        assert_eq!(
            read(text).unwrap(),
            [("a".into(), "1".into()), ("b:c".into(), "A&  x\n'".into())]
        );
        assert_eq!(read("").unwrap(), []);
    }

    #[test]
    fn what_xml_forbids_is_refused() {
        for bad in [
            "a='1'",
            " a",
            " a=1",
            " a='1",
            " a='<'",
            " a='1'b='2'",
            " a='1' a='2'",
            " 1='1'",
            " a='&x;'",
            " a='&#0;'",
            " a='&'",
            " a='&#xD800;'",
            " a:b:c=''",
            " ='1'",
            " a='&#;'",
            " a='&#x110000;'",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert!(read(" a='&#00000000000065;'").is_ok());
        let many = |count: usize| {
            (0..count)
                .map(|number| format!(" a{number}=''"))
                .collect::<String>()
        };
        assert_eq!(read(&many(40)).unwrap().len(), 40);
        assert!(read(&many(41)).unwrap_err().contains("40 attributes"));
        for twice in [0, 7, 15, 16, 17, 38] {
            assert!(
                read(&format!("{} a{twice}=''", many(39)))
                    .unwrap_err()
                    .contains("twice"),
                "{twice}"
            );
        }
    }
}
