//! The XML declaration.

use super::attributes::{self, malformed};
use super::error::ReadErrorKind;
use crate::finding::shown;
use std::borrow::Cow;

/// Checks `version`, `encoding` and `standalone`, in this order; the text is the part after `xml`.
/// Returns the encoding if it is not UTF-8.
pub(crate) fn check(text: &str) -> Result<Option<Box<str>>, ReadErrorKind> {
    if text.contains('&') {
        // The grammar of the declaration has no references (2.8).
        return Err(malformed("expected no reference in the XML declaration"));
    }
    let mut found = Vec::new();
    // The number of attributes needs no bound: the token is bounded, and a fourth attribute is
    // refused below.
    attributes::parse(text, usize::MAX, &mut found)?;
    let mut rest = found
        .iter()
        .map(|attribute| (&*attribute.name, &*attribute.value))
        .peekable();
    if rest
        .next_if(|(name, value)| *name == "version" && is_version(value))
        .is_none()
    {
        return Err(malformed(
            "expected version 1.0 first in the XML declaration",
        ));
    }
    // XML fixes the order (2.8), so each is taken only if it comes next.
    let encoding = rest.next_if(|(name, value)| *name == "encoding" && is_encoding_name(value));
    rest.next_if(|(name, value)| *name == "standalone" && matches!(*value, "yes" | "no"));
    match rest.next() {
        Some((name, _)) => Err(malformed(&format!(
            "unexpected or invalid {} in the XML declaration",
            shown(name)
        ))),
        None => Ok(encoding
            .map(|(_, encoding)| encoding)
            .filter(|encoding| !is_utf8(encoding))
            .map(Box::from)),
    }
}

/// Returns the encoding that the declaration at the beginning of a document states, if there is a
/// declaration that can be read. The bytes must be of an encoding that extends ASCII, or of UTF-16
/// with its zero bytes removed.
pub(crate) fn declared_encoding(head: &[u8]) -> Option<Cow<'_, str>> {
    let end = memchr::memmem::find(head, b"?>")?;
    let declaration = std::str::from_utf8(head.get(..end)?)
        .ok()?
        .strip_prefix("<?xml")?;
    if !declaration.is_ascii() {
        return None;
    }
    let mut found = Vec::new();
    attributes::parse(declaration, usize::MAX, &mut found).ok()?;
    found
        .into_iter()
        .find(|attribute| attribute.name == "encoding")
        .map(|attribute| attribute.value)
}

/// Returns true for 1.0 and for the later versions that a processor of 1.0 reads as 1.0 (XML 1.0,
/// fifth edition, 2.8).
fn is_version(version: &str) -> bool {
    version
        .strip_prefix("1.")
        .is_some_and(|minor| !minor.is_empty() && minor.bytes().all(|b| b.is_ascii_digit()))
}

fn is_utf8(encoding: &str) -> bool {
    ["UTF-8", "UTF8"]
        .iter()
        .any(|name| name.eq_ignore_ascii_case(encoding))
}

fn is_encoding_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}
