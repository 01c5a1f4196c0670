//! Characters, names and white space of XML 1.0, which quick-xml does not check, and its line ends.

/// Returns true for a qualified name of XML Namespaces: a name with at most one colon, neither
/// first nor last.
pub(crate) fn is_qualified_name(name: &str) -> bool {
    match name.split_once(':') {
        Some((prefix, local)) => is_plain_name(prefix) && is_plain_name(local),
        None => is_plain_name(name),
    }
}

/// Returns true for a name of XML 1.0 without a colon.
pub(crate) fn is_plain_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(starts_name) && chars.all(continues_name)
}

pub(crate) fn starts_name(c: char) -> bool {
    matches!(c,
        'A'..='Z' | '_' | 'a'..='z' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}'
        | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}'
        | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}'
        | '\u{10000}'..='\u{effff}')
}

pub(crate) fn continues_name(c: char) -> bool {
    starts_name(c)
        || matches!(c, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

/// Returns true for white space of XML.
pub(crate) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

pub(crate) fn is_blank(text: &str) -> bool {
    text.bytes()
        .all(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n'))
}

/// Returns the first character that XML 1.0 cannot carry.
#[inline]
pub(crate) fn forbidden(text: &str) -> Option<char> {
    if has_suspect(text.as_bytes()) {
        text.chars().find(|c| !is_xml_char(*c))
    } else {
        None
    }
}

/// Returns true when a byte may belong to a character that XML 1.0 cannot carry; looks at eight
/// bytes in one step.
#[inline]
fn has_suspect(bytes: &[u8]) -> bool {
    let Some(last) = bytes.last_chunk() else {
        return bytes.iter().any(|b| *b < b' ' || *b == SUSPECT);
    };
    let (words, _) = bytes.as_chunks();
    // The last word overlaps the one before it.
    words
        .iter()
        .fold(suspects(*last), |marks, word| marks | suspects(*word))
        != 0
}

/// A word with 1 in each byte.
pub(crate) const ONES: u64 = u64::from_ne_bytes([1; 8]);

/// The first byte of the two forbidden characters that are not control characters.
const SUSPECT: u8 = 0xEF;

/// Marks the bytes below the space and those that are [`SUSPECT`]: the lowest mark is reliable,
/// those above it may be wrong.
#[inline]
fn suspects(word: [u8; 8]) -> u64 {
    let word = u64::from_le_bytes(word);
    let difference = word ^ (ONES * u64::from(SUSPECT));
    let below = word.wrapping_sub(ONES * u64::from(b' ')) & !word;
    let equal = difference.wrapping_sub(ONES) & !difference;
    (below | equal) & (ONES << 7)
}

/// Returns true for a character that XML 1.0 can carry.
pub(crate) fn is_xml_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}')
}

/// Appends text with its line ends normalised.
#[inline]
pub(crate) fn push_lines(data: &str, text: &mut String) {
    // Nearly all texts have no carriage return and are copied in one step.
    if memchr::memchr(b'\r', data.as_bytes()).is_none() {
        text.push_str(data);
        return;
    }
    let mut rest = data;
    while let Some((line, after)) = rest.split_once('\r') {
        text.push_str(line);
        text.push('\n');
        rest = after.strip_prefix('\n').unwrap_or(after);
    }
    text.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NameStartChar and NameChar of XML 1.0, fifth edition, section 2.3, without the colon.
    #[test]
    fn names_have_the_characters_of_the_standard() {
        let start = "A-Z _ a-z C0-D6 D8-F6 F8-2FF 370-37D 37F-1FFF 200C-200D 2070-218F 2C00-2FEF 3001-D7FF F900-FDCF \
                     FDF0-FFFD 10000-EFFFF";
        let further = "- . 0-9 B7 300-36F 203F-2040";
        let end = |text: &str| match text.chars().next() {
            Some(c) if text.len() == 1 => u32::from(c),
            _ => u32::from_str_radix(text, 16).unwrap(),
        };
        let ranges = |text: &str| -> Vec<(u32, u32)> {
            let range = |range: &str| match range.split_once('-') {
                Some((first, last)) if !first.is_empty() => (end(first), end(last)),
                _ => (end(range), end(range)),
            };
            text.split(' ').map(range).collect()
        };
        let (start, further) = (ranges(start), ranges(further));
        let is_in = |of: &[(u32, u32)], c: char| {
            of.iter()
                .any(|(first, last)| (*first..=*last).contains(&c.into()))
        };
        for c in '\0'..=char::MAX {
            assert_eq!(starts_name(c), is_in(&start, c), "{c:?}");
            assert_eq!(
                continues_name(c),
                is_in(&start, c) || is_in(&further, c),
                "{c:?}"
            );
        }
    }

    #[test]
    fn a_forbidden_character_is_found_at_any_place() {
        for length in 0..40 {
            for place in 0..=length {
                for (c, is_found) in [
                    ('\0', true),
                    ('\u{1f}', true),
                    ('\u{fffe}', true),
                    ('\u{ffff}', true),
                    ('\t', false),
                    ('\r', false),
                    (' ', false),
                    ('\u{7f}', false),
                    ('\u{80}', false),
                    ('\u{fffd}', false),
                    ('👍', false),
                ] {
                    let text = format!(
                        "{}{c}{}",
                        "é!".repeat(place / 3),
                        "x".repeat(length - place)
                    );
                    assert_eq!(forbidden(&text), is_found.then_some(c), "{text:?}");
                    let text = format!("{}{c}", "x".repeat(length));
                    assert_eq!(forbidden(&text), is_found.then_some(c), "{text:?}");
                    // The text has no neighbour of another kind.
                    let text = String::from(c).repeat(length);
                    assert_eq!(
                        forbidden(&text),
                        (is_found && length > 0).then_some(c),
                        "{text:?}"
                    );
                }
            }
        }
    }
}
