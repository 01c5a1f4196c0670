//! Prepares text for terminals: escapes control characters, measures columns, and cuts between
//! visible characters.

use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Makes a text safe for one line of a terminal.
///
/// - A line end becomes ` / `.
/// - Other control characters are escaped, also those of the range U+0080 to U+009F, which some
///   terminals obey.
/// - So are the characters that change the direction of text, because they let a text look like
///   another.
/// - Joiners, variation selectors and tags stay: emoji sequences are made of them.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    escaped(text, is_unsafe, |c| match c {
        '\n' => " / ".to_owned(),
        '\r' => String::new(),
        '\t' => ' '.to_string(),
        c => c.escape_unicode().to_string(),
    })
}

/// Does the same as [`shown`] but keeps line ends and tabs, for documents with several lines.
pub(crate) fn shown_lines(text: &str) -> Cow<'_, str> {
    escaped(text, is_unsafe_in_lines, |c| {
        shown(&c.to_string()).into_owned()
    })
}

/// Returns a JSON text in which the characters that [`shown`] escapes are JSON escapes, so that its
/// value stays the same: in a line of JSON, these characters occur only in strings.
pub(crate) fn shown_json(text: &str) -> Cow<'_, str> {
    escaped(text, is_unsafe_in_lines, |c| {
        format!("\\u{:04x}", u32::from(c))
    })
}

fn escaped(text: &str, is_escaped: fn(char) -> bool, escape: fn(char) -> String) -> Cow<'_, str> {
    if !text.chars().any(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_escaped(c) {
            out.push_str(&escape(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

fn is_unsafe_in_lines(c: char) -> bool {
    is_unsafe(c) && c != '\n' && c != '\t'
}

/// Control characters, and those that change the direction of text or separate lines.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// Returns the number of columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.len();
    }
    text.graphemes(true)
        .map(|character| character.width())
        .sum()
}

/// Returns a text of at most this many columns. A cut part is replaced by `…`.
pub(crate) fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let mut kept = String::new();
    let mut used = 0;
    for character in text.graphemes(true) {
        used += character.width();
        if used >= columns {
            break;
        }
        kept.push_str(character);
    }
    kept.push('…');
    Cow::Owned(kept)
}

/// Appends a text and spaces up to this many columns.
pub(crate) fn pad_right(text: &str, columns: usize, out: &mut String) {
    out.push_str(text);
    out.extend(std::iter::repeat_n(
        ' ',
        columns.saturating_sub(width(text)),
    ));
}

/// Appends spaces and a text so that it ends at this many columns.
pub(crate) fn pad_left(text: &str, columns: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(
        ' ',
        columns.saturating_sub(width(text)),
    ));
    out.push_str(text);
}

/// Returns a count with its noun, such as `1 entry` or `2 entries`.
pub(crate) fn counted(count: impl TryInto<u64>, one: &str, several: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{count} {}", if count == 1 { one } else { several })
}

/// Returns a text with commas between the thousands of each number in it: `+1,245,500.00 AUD`.
pub(crate) fn grouped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(start);
        let (digits, after) = number.split_at(
            number
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(number.len()),
        );
        out.push_str(before);
        for (place, digit) in digits.char_indices() {
            if place > 0 && (digits.len() - place).is_multiple_of(3) && !before.ends_with('.') {
                out.push(',');
            }
            out.push(digit);
        }
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_emoji_sequences_are_not() {
        for (text, expected) in [
            ("plain", "plain"),
            ("a\u{1b}[31mb", "a\\u{1b}[31mb"),
            ("a\u{9b}31mb", "a\\u{9b}31mb"),
            ("one\r\ntwo", "one / two"),
            ("a\tb", "a b"),
            ("x\u{202e}y", "x\\u{202e}y"),
            ("👩\u{200d}👩\u{200d}👧", "👩\u{200d}👩\u{200d}👧"),
            ("e\u{301}", "e\u{301}"),
            (
                "🏴\u{e0067}\u{e0062}\u{e007f}",
                "🏴\u{e0067}\u{e0062}\u{e007f}",
            ),
        ] {
            assert_eq!(shown(text), expected);
        }
        assert_eq!(shown_lines("a\nb\u{7}\t\r\n"), "a\nb\\u{7}\t\n");
        let json = "{\n \"a\": \"\u{9b}2J\u{202e}\u{feff}👍\" }";
        let escaped = "{\n \"a\": \"\\u009b2J\\u202e\\ufeff👍\" }";
        assert_eq!(shown_json(json), escaped);
    }

    #[test]
    fn widths_are_those_of_a_terminal() {
        for (text, columns) in [
            ("abc", 3),
            ("", 0),
            ("漢字", 4),
            ("e\u{301}", 1),
            ("👩\u{200d}👩\u{200d}👧", 2),
            ("👍🏽", 2),
            ("🇦🇺", 2),
        ] {
            assert_eq!(width(text), columns, "{text}");
        }
    }

    #[test]
    fn thousands_are_separated() {
        for (text, expected) in [
            ("+1245500.00 AUD", "+1,245,500.00 AUD"),
            ("-100", "-100"),
            ("±1000.123456", "±1,000.123456"),
            (
                "2 credits: 25.75; net -1234567.5",
                "2 credits: 25.75; net -1,234,567.5",
            ),
            ("", ""),
        ] {
            assert_eq!(grouped(text), expected);
        }
    }

    #[test]
    fn cutting_breaks_no_character() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("漢字漢字", 4), "漢…");
        assert_eq!(
            cut("👩\u{200d}👩\u{200d}👧👍", 3),
            "👩\u{200d}👩\u{200d}👧…"
        );
        assert_eq!(cut("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
        for columns in 1..9 {
            assert!(width(&cut("a漢e\u{301}👩\u{200d}👩字", columns)) <= columns);
        }
    }
}
