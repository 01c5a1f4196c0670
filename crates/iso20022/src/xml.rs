//! Characters, names and white space of XML 1.0, which quick-xml does not check.

/// True for a qualified name of XML Namespaces: a name with at most one colon, inside.
pub(crate) fn is_qualified_name(name: &str) -> bool {
    match name.split_once(':') {
        Some((prefix, local)) => is_plain_name(prefix) && is_plain_name(local),
        None => is_plain_name(name),
    }
}

/// True for a name of XML 1.0 without a colon.
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
    starts_name(c) || matches!(c, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

/// White space of XML.
pub(crate) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

pub(crate) fn is_blank(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n'))
}

/// The first character that XML 1.0 cannot carry.
pub(crate) fn forbidden(text: &str) -> Option<char> {
    // The two characters that are no control characters start with this byte.
    let suspect = text.bytes().any(|b| b < b' ' || b == 0xEF);
    if suspect { text.chars().find(|c| !is_xml_char(*c)) } else { None }
}

/// A character that XML 1.0 can carry.
pub(crate) fn is_xml_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}')
}
