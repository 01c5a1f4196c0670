//! The fast reader's text: tags are compared exactly as the writer writes them, without events.
//!
//! - Anything unexpected is `NotPlain`: another order, attributes, a value that breaks a facet, a
//!   limit. Then the cursor reads the element again, over events, and reports the error or finding.
//! - Prefixes are unknown here. They are removed from an element first.
//! - The place of an element that breaks a rule beyond the schema is noted.

mod elements;

use super::ReadLimits;
use super::attributes::resolve;
use crate::field::Tag;
use crate::xml::{ONES, push_lines};

/// An element that is not as the writer writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs)] // the engine's own
pub struct NotPlain;

/// Returns the number of elements that a full list grows by. Short lists double, because most are
/// short; long ones grow by half, so that moving them takes less memory.
#[inline]
pub(super) fn growth(length: usize) -> usize {
    const SHORT_LENGTH: usize = 16;
    if length < SHORT_LENGTH {
        length.max(1)
    } else {
        length / 2
    }
}

/// Text in memory, read from the front.
#[derive(Debug)]
pub struct Scanner<'a> {
    rest: &'a str,
    /// The text after an element that is written as one tag, while `rest` is the end tag that
    /// stands in for its missing one.
    behind: Option<&'a str>,
    /// The length of the whole text in bytes.
    length: usize,
    /// The number of elements begun.
    elements: usize,
    /// The maximum number of bytes of a text, or of white space between tags.
    most: usize,
    /// The bytes of memory taken.
    held: usize,
    /// The bytes of memory that may be taken at first, and those for each byte read.
    free: usize,
    each: usize,
    /// The version of the schema.
    version: u8,
    /// True if a scanned element needs something that scanning does not support.
    odd: bool,
    /// The places of the elements that break a rule beyond the schema.
    doubts: Vec<usize>,
}

// The functions that take a tag are always inlined, so that the tag is a constant and comparing it
// takes two instructions.
impl<'a> Scanner<'a> {
    #[inline]
    pub(crate) fn new(rest: &'a str, limits: &ReadLimits, free: usize, version: u8) -> Self {
        // The stricter bound is used for both; a text between the two is left to the reader over
        // events.
        let most = limits.max_text_bytes.min(limits.max_token_bytes);
        let each = limits.max_memory_per_byte;
        Self {
            rest,
            behind: None,
            length: rest.len(),
            elements: 0,
            most,
            held: 0,
            free,
            each,
            version,
            odd: false,
            doubts: Vec::new(),
        }
    }

    /// Returns the version of the schema.
    #[inline(always)]
    pub fn version(&self) -> u8 {
        self.version
    }

    /// Counts memory.
    #[inline(always)]
    pub(crate) fn hold(&mut self, bytes: usize) {
        self.held += bytes;
    }

    /// Returns `NotPlain` when the memory, with this many bytes more, is too much for the part that
    /// was read when this many bytes were left.
    #[inline]
    pub(crate) fn check_held(&self, more: usize, left: usize) -> Result<(), NotPlain> {
        let read = self.length - left;
        // Saturates, because the limit may be the maximum of its type.
        if self.held + more > self.each.saturating_mul(read).saturating_add(self.free) {
            Err(NotPlain)
        } else {
            Ok(())
        }
    }

    /// Returns the bytes of memory taken.
    #[inline]
    pub(crate) fn held(&self) -> usize {
        self.held
    }

    /// Returns the places of the elements that break a rule beyond the schema, in the order in
    /// which the rules were applied.
    #[inline]
    pub(crate) fn doubts(&self) -> &[usize] {
        &self.doubts
    }

    /// Records that the element before which `left` bytes were left breaks a rule beyond the
    /// schema.
    #[cold]
    fn doubt(&mut self, left: usize) {
        self.doubts.push(self.length - left);
    }

    /// Leaves the element to the reader over events.
    #[cold]
    fn refuse(&mut self) {
        self.odd = true;
    }

    /// Begins an element.
    #[inline(always)]
    fn begin(&mut self) {
        self.elements += 1;
    }

    /// Returns the text that has not been read.
    #[inline]
    pub(crate) fn rest(&self) -> &'a str {
        self.rest
    }

    /// Returns the number of elements read, if all of them were as the writer writes them.
    #[inline]
    pub(crate) fn elements(&self) -> Result<usize, NotPlain> {
        if self.odd {
            Err(NotPlain)
        } else {
            Ok(self.elements)
        }
    }

    #[inline(always)]
    pub(crate) fn expect(&mut self, text: &str) -> Result<(), NotPlain> {
        self.rest = self.rest.strip_prefix(text).ok_or(NotPlain)?;
        Ok(())
    }

    /// Skips the start tag of an element, or its name if it has an attribute. Returns false if
    /// something else is next.
    #[inline(always)]
    pub(crate) fn enter(&mut self, tag: &'static Tag, has_attribute: bool) -> bool {
        let Some(after) = self.rest.strip_prefix(tag.start) else {
            return false;
        };
        // `<Amt` also begins `<AmtDtls>`; the byte after the name decides.
        let content = if has_attribute {
            after.starts_with(' ').then_some(after)
        } else {
            after.strip_prefix('>')
        };
        match content {
            Some(content) => {
                self.rest = content;
                true
            }
            None => self.enter_empty(after, tag),
        }
    }

    /// Skips an element that is written as one tag, as if it had an end tag.
    #[cold]
    fn enter_empty(&mut self, after: &'a str, tag: &'static Tag) -> bool {
        self.behind = after.strip_prefix("/>");
        if self.behind.is_some() {
            self.rest = tag.close;
        }
        self.behind.is_some()
    }

    /// Skips white space and comments before the next tag.
    #[inline(always)]
    pub fn gap(&mut self) {
        // A compact document has no gaps, so two bytes decide for nearly every tag.
        if !matches!(self.rest.as_bytes(), [b'<', next, ..] if *next != b'!') {
            self.skip_gap();
        }
    }

    #[inline(never)]
    fn skip_gap(&mut self) {
        // The end tag that stood in for that of an element of one tag has been read.
        if self.rest.is_empty()
            && let Some(behind) = self.behind.take()
        {
            self.rest = behind;
        }
        loop {
            let blank = blank_length(self.rest.as_bytes());
            // The gap stays, so that no tag matches and the reader over events reports the limit.
            if blank > self.most {
                return;
            }
            let (_, rest) = self.rest.split_at_checked(blank).unwrap_or_default();
            self.rest = rest;
            if !rest.starts_with("<!") {
                return;
            }
            match comment(rest).filter(|(comment, _)| comment.len() <= self.most) {
                Some((_, after)) => self.rest = after,
                None => return,
            }
        }
    }

    /// Reads the attribute `Ccy`, the only one of the schemas, whose value has three bytes, and the
    /// end of the start tag.
    #[inline]
    pub(crate) fn currency(&mut self) -> Result<&'a str, NotPlain> {
        self.expect(" Ccy=\"")?;
        let (code, rest) = self.rest.split_at_checked(3).ok_or(NotPlain)?;
        self.rest = rest;
        self.expect("\">")?;
        Ok(code)
    }

    /// Reads text without references and carriage returns up to the end tag.
    #[inline]
    pub(crate) fn plain_text(&mut self) -> Result<&'a str, NotPlain> {
        let end = plain_length(self.rest.as_bytes());
        // A `>` may end `]]>`, which text may not have; the slower way checks that.
        if self.rest.as_bytes().get(end) != Some(&b'<') || end > self.most {
            return Err(NotPlain);
        }
        let (text, rest) = self.rest.split_at_checked(end).ok_or(NotPlain)?;
        self.rest = rest;
        Ok(text)
    }

    /// Reads character data up to the end tag, whose beginning has been read, with references, line
    /// ends to be normalised, CDATA or comments.
    #[cold]
    fn text_after(&mut self, plain: &str) -> Result<String, NotPlain> {
        let mut text = String::from(plain);
        // The bound is that of the whole text, so what has been read of it counts.
        let mut left = self.most.checked_sub(plain.len()).ok_or(NotPlain)?;
        loop {
            let end = memchr::memchr(b'<', self.rest.as_bytes()).ok_or(NotPlain)?;
            let (raw, rest) = self.rest.split_at_checked(end).ok_or(NotPlain)?;
            decode(raw, &mut text)?;
            let (literal, after) = if let Some(markup) = rest.strip_prefix("<![CDATA[") {
                markup.split_once("]]>").ok_or(NotPlain)?
            } else if let Some((_, after)) = comment(rest) {
                ("", after)
            } else if end <= left {
                self.rest = rest;
                return Ok(text);
            } else {
                return Err(NotPlain);
            };
            // Markup counts as well, so that a text of many empty sections is bounded.
            left = left
                .checked_sub(self.rest.len() - after.len())
                .ok_or(NotPlain)?;
            push_lines(literal, &mut text);
            self.rest = after;
        }
    }
}

/// Returns the number of bytes of white space at the beginning. Looks at eight bytes in one step.
/// XML allows no other bytes up to the space.
#[inline]
fn blank_length(bytes: &[u8]) -> usize {
    let (words, _) = bytes.as_chunks::<8>();
    let mut at = 0;
    for word in words {
        let word = u64::from_le_bytes(*word);
        // Marks the bytes above the space: no sum is carried into the next byte.
        let above = (word & (ONES * 0x7F)) + ONES * (0x7F - 0x20);
        let marks = (above | word) & (ONES << 7);
        if marks != 0 {
            return at + first(marks);
        }
        at += 8;
    }
    let tail = bytes.get(at..).unwrap_or_default();
    at + tail.iter().position(|b| *b > b' ').unwrap_or(tail.len())
}

/// Marks the bytes that are zero: the lowest mark is reliable, those above it may be wrong.
#[inline]
pub(super) fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & (ONES << 7)
}

/// Returns the place of the first byte whose highest bit is set.
#[inline]
pub(super) fn first(marks: u64) -> usize {
    // Words are read as little-endian, so the lowest mark is the first byte on any machine.
    usize::try_from(marks.trailing_zeros() / 8).unwrap_or_default()
}

/// Returns the comment that a text begins with, and the text after it; `None` where it may not be
/// well-formed.
fn comment(text: &str) -> Option<(&str, &str)> {
    // `<!-->` and `<!--->` are no comments; the reader over events refuses them.
    let content = text
        .strip_prefix("<!--")
        .filter(|content| !content.starts_with(['>', '-']))?;
    // XML forbids `--` within a comment (2.5), so the first one has to end it.
    let end = text.len() - content.len() + memchr::memmem::find(content.as_bytes(), b"--")?;
    let (comment, after) = text.split_at_checked(end + "-->".len())?;
    comment.ends_with('>').then_some((comment, after))
}

/// Appends character data with its references resolved and its line ends normalised.
fn decode(mut raw: &str, text: &mut String) -> Result<(), NotPlain> {
    if raw.contains("]]>") {
        return Err(NotPlain);
    }
    while let Some((before, after)) = raw.split_once('&') {
        push_lines(before, text);
        let (name, after) = after.split_once(';').ok_or(NotPlain)?;
        text.push(resolve(name).map_err(|_| NotPlain)?);
        raw = after;
    }
    push_lines(raw, text);
    Ok(())
}

/// Returns the number of bytes before the first `<`, `>`, `&` or carriage return. Looks at eight
/// bytes in one step.
#[inline]
fn plain_length(bytes: &[u8]) -> usize {
    let (words, _) = bytes.as_chunks::<8>();
    let mut at = 0;
    for word in words {
        let word = u64::from_le_bytes(*word);
        // `<` and `>` differ in one bit.
        let marks = zeros((word | (ONES * 2)) ^ (ONES * u64::from(b'>')))
            | zeros(word ^ (ONES * u64::from(b'&')))
            | zeros(word ^ (ONES * u64::from(b'\r')));
        if marks != 0 {
            return at + first(marks);
        }
        at += 8;
    }
    let tail = bytes.get(at..).unwrap_or_default();
    at + tail
        .iter()
        .position(|b| matches!(b, b'<' | b'>' | b'&' | b'\r'))
        .unwrap_or(tail.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_ends_where_something_else_begins() {
        for length in 0..40 {
            for end in ['!', '<', '\u{7f}', '\u{80}', '\u{a0}', 'é', '👍'] {
                for blank in [" ", "\t", "\n", "\r\n", "\n\t \r"] {
                    let gap: String = blank.chars().cycle().take(length).collect();
                    assert_eq!(blank_length(format!("{gap}{end}  x  ").as_bytes()), length);
                    assert_eq!(blank_length(gap.as_bytes()), length);
                }
            }
        }
    }

    #[test]
    fn plain_text_ends_where_something_else_begins() {
        for length in 0..40 {
            for (end, stops) in [
                ('<', true),
                ('>', true),
                ('&', true),
                ('\r', true),
                ('=', false),
                (';', false),
            ] {
                let text = format!("{}{end}{}", "é".repeat(length / 2), "x<".repeat(20));
                let expected = text.find(['<', '>', '&', '\r']).unwrap();
                assert_eq!(plain_length(text.as_bytes()), expected, "{text}");
                assert_eq!(stops, expected == length / 2 * 2);
            }
            assert_eq!(plain_length("=".repeat(length).as_bytes()), length);
        }
    }

    #[test]
    fn plain_text_goes_on_with_every_byte_but_four() {
        for byte in (0..=u8::MAX).filter(|byte| !b"<>&\r".contains(byte)) {
            assert_eq!(plain_length(&[byte; 9]), 9, "{byte:#x}");
        }
    }

    #[test]
    fn short_lists_double_and_long_ones_grow_by_half() {
        for (length, by) in [(0, 1), (1, 1), (2, 2), (15, 15), (16, 8), (17, 8), (40, 20)] {
            assert_eq!(growth(length), by, "{length}");
        }
    }

    #[test]
    fn memory_is_bounded_by_what_has_been_read_and_what_is_free() {
        let mut scanner = Scanner::new(
            "0123456789",
            &ReadLimits::default().max_memory_per_byte(3),
            5,
            0,
        );
        scanner.hold(8);
        scanner.hold(12);
        assert_eq!(scanner.held(), 20);
        for (more, left, fits) in [
            (15, 0, true),
            (16, 0, false),
            (3, 4, true),
            (4, 4, false),
            (0, 5, true),
            (0, 6, false),
        ] {
            assert_eq!(
                scanner.check_held(more, left).is_ok(),
                fits,
                "{more} {left}"
            );
        }
        assert_eq!(scanner.elements(), Ok(0));
        scanner.refuse();
        assert_eq!(scanner.elements(), Err(NotPlain));
        scanner.doubt(10);
        scanner.doubt(7);
        assert_eq!(scanner.doubts(), [0, 3]);
    }

    #[test]
    fn gaps_are_passed_over_up_to_their_bound() {
        let limits = ReadLimits::default().max_text_bytes(8);
        for (gap, passed) in [
            ("", true),
            ("        ", true),
            ("         ", false),
            ("<!--c-->", true),
            ("<!--cc-->", false),
            (" <!--c--> \n<!--d-->\t", true),
            ("<!---->", false),
            ("<!--c-->         ", false),
            (" <!-- --->", false),
        ] {
            let text = format!("{gap}<a>");
            let mut scanner = Scanner::new(&text, &limits, 0, 0);
            scanner.gap();
            assert_eq!(scanner.rest() == "<a>", passed, "{gap:?}");
        }
    }

    #[test]
    fn text_and_the_markup_in_it_have_the_bytes_of_their_bound() {
        let limits = ReadLimits::default().max_text_bytes(20);
        for (text, expected) in [
            ("a&amp;b", Some("a&b")),
            ("a\r\nb\r", Some("a\nb\n")),
            ("a<!-- -->b", Some("ab")),
            ("<![CDATA[&<]]>b", Some("&<b")),
            ("12345678901234567&#9;", None),
            ("123456789012345&#9;", Some("123456789012345\t")),
            ("1<!-- -->23456789012", Some("123456789012")),
            ("1<!-- -->234567890123", None),
            ("a]]>&lt;", None),
            ("&x;", None),
        ] {
            let text = format!("{text}</a>");
            let mut scanner = Scanner::new(&text, &limits, 0, 0);
            assert_eq!(scanner.text_after("").ok().as_deref(), expected, "{text}");
        }
        for (plain, fits) in [("1234567", true), ("12345678", false)] {
            let mut scanner = Scanner::new("<!-- -->90123</a>", &limits, 0, 0);
            assert_eq!(scanner.text_after(plain).is_ok(), fits, "{plain}");
        }
        for (length, fits) in [(20, true), (21, false)] {
            let text = format!("{}</a>", "x".repeat(length));
            assert_eq!(
                Scanner::new(&text, &limits, 0, 0).plain_text().is_ok(),
                fits
            );
        }
    }
}
