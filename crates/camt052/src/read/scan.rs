//! The fast reader: elements exactly as this crate writes them, compared tag by tag without events.
//!
//! It knows no findings and no errors. Whatever it does not expect (another order, attributes, a value with a fault or a
//! doubt, a limit) is odd, and the cursor reads the element again, with events. So both readers give the same,
//! and only the cursor has to say what is wrong. Nor does it know prefixes: an element under one is stripped of it first.

use super::attributes::resolve;
use super::events::push_lines;
use super::options::Limits;
use crate::beyond::{Tally, Watch};
use crate::finding::FindingKind;
use crate::schema::{MANY, Node, Simple, Tag};
use crate::value::identifier::CurrencyCode;

/// Not as this crate writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Odd;

/// Text in memory, read from the front.
#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    rest: &'a str,
    /// Elements begun.
    elements: usize,
    /// The most octets of a text, or of white space between tags.
    most: usize,
    /// Something was to be reported.
    odd: bool,
}

/// Nested elements of the schema.
pub(super) const DEPTH: usize = 16;
/// No tag of the schema has more octets.
pub(super) const TAG: usize = 64;

// The functions that take a tag are inlined always: only then is the tag a constant, and comparing it two instructions.
impl<'a> Scanner<'a> {
    pub(super) fn new(rest: &'a str, limits: &Limits) -> Self {
        Self { rest, elements: 0, most: limits.text_bytes.min(limits.token_bytes), odd: false }
    }

    /// What has not been read.
    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    /// How many elements have been read, if nothing odd was among them.
    pub(super) fn elements(&self) -> Result<usize, Odd> {
        if self.odd { Err(Odd) } else { Ok(self.elements) }
    }

    /// An element that must be there.
    #[inline(always)]
    pub(crate) fn one<N: Node>(&mut self, tag: &'static Tag, _: u32) -> Result<N, Odd> {
        if self.begins::<N>(tag) { self.element(tag) } else { self.empty(tag) }
    }

    /// An element that must be there, which only the cursor may miss.
    #[inline(always)]
    pub(crate) fn soft<N: Node>(&mut self, tag: &'static Tag, max: u32) -> Result<Option<N>, Odd> {
        self.one(tag, max).map(Some)
    }

    /// An element that may be there.
    #[inline(always)]
    pub(crate) fn maybe<N: Node>(&mut self, tag: &'static Tag, _: u32) -> Result<Option<N>, Odd> {
        if self.begins::<N>(tag) { self.element(tag).map(Some) } else { Ok(None) }
    }

    /// Any number of elements up to `max`.
    #[inline(always)]
    pub(crate) fn many<N: Node>(&mut self, tag: &'static Tag, max: u32) -> Result<Vec<N>, Odd> {
        if self.begins::<N>(tag) { self.several(tag, max) } else { Ok(Vec::new()) }
    }

    /// One or more elements.
    #[inline(always)]
    pub(crate) fn some<N: Node>(&mut self, tag: &'static Tag, max: u32) -> Result<Vec<N>, Odd> {
        if self.begins::<N>(tag) { self.several(tag, max) } else { Err(Odd) }
    }

    #[inline(always)]
    fn several<N: Node>(&mut self, tag: &'static Tag, max: u32) -> Result<Vec<N>, Odd> {
        // Most lists of a transaction have one element: room for no more.
        let mut items = Vec::with_capacity(1);
        loop {
            items.push(self.element(tag)?);
            if !self.begins::<N>(tag) {
                break;
            }
        }
        let fits = max == MANY || u32::try_from(items.len()).is_ok_and(|count| count <= max);
        if fits { Ok(items) } else { Err(Odd) }
    }

    #[inline(always)]
    fn begins<N: Node>(&self, tag: &'static Tag) -> bool {
        let octets = self.rest.as_bytes();
        if N::HAS_ATTRIBUTE {
            octets.starts_with(tag.start.as_bytes()) && octets.get(tag.start.len()) == Some(&b' ')
        } else {
            octets.starts_with(tag.open.as_bytes())
        }
    }

    /// An element whose start tag is next, with what follows it up to the next tag.
    #[inline(always)]
    fn element<N: Node>(&mut self, tag: &'static Tag) -> Result<N, Odd> {
        let node = self.bare_element::<N>(tag);
        if let Ok(node) = &node {
            node.settle(self);
            self.gap();
        }
        node
    }

    /// An element that is not looked at beyond the schema.
    // A node is some hundred octets. It stays in the result that it came in: taken out, it would be copied each time.
    #[inline(always)]
    pub(super) fn bare_element<N: Node>(&mut self, tag: &'static Tag) -> Result<N, Odd> {
        self.expect(if N::HAS_ATTRIBUTE { tag.start } else { tag.open })?;
        self.elements += 1;
        let node = N::scan(self);
        if node.is_ok() {
            self.expect(tag.close)?;
        }
        node
    }

    /// An element without content, written as one tag.
    #[cold]
    fn empty<N: Node>(&mut self, tag: &'static Tag) -> Result<N, Odd> {
        self.expect(tag.start)?;
        self.expect("/>")?;
        self.elements += 1;
        let rest = std::mem::take(&mut self.rest);
        let node = N::scan(self)?;
        self.rest = rest;
        node.settle(self);
        self.gap();
        Ok(node)
    }

    #[inline(always)]
    fn expect(&mut self, text: &str) -> Result<(), Odd> {
        self.rest = self.rest.strip_prefix(text).ok_or(Odd)?;
        Ok(())
    }

    /// White space and comments before the next tag.
    #[inline(always)]
    pub(crate) fn gap(&mut self) {
        if !matches!(self.rest.as_bytes(), [b'<', next, ..] if *next != b'!') {
            self.skip_gap();
        }
    }

    #[inline(never)]
    fn skip_gap(&mut self) {
        loop {
            let rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
            if self.rest.len() - rest.len() > self.most {
                return;
            }
            self.rest = rest;
            match comment(rest).filter(|(comment, _)| comment.len() <= self.most) {
                Some((_, after)) => self.rest = after,
                None => return,
            }
        }
    }

    /// The currency of an amount, the only attribute of the schema, and the end of the start tag.
    pub(crate) fn currency(&mut self) -> Result<CurrencyCode, Odd> {
        self.expect(" Ccy=\"")?;
        let (code, rest) = self.rest.split_at_checked(3).ok_or(Odd)?;
        self.rest = rest;
        self.expect("\">")?;
        let code = CurrencyCode::new(code);
        if code.is_valid() { Ok(code) } else { Err(Odd) }
    }

    /// A value of a simple type.
    pub(crate) fn leaf<S: Simple>(&mut self) -> Result<S, Odd> {
        match self.plain_text() {
            Ok(text) if !self.rest.as_bytes().starts_with(b"<!") => accept(text),
            Ok(text) => self.leaf_after(text),
            Err(Odd) => self.leaf_after(""),
        }
    }

    /// Text without references and carriage returns up to the end tag.
    #[inline]
    pub(crate) fn plain_text(&mut self) -> Result<&'a str, Odd> {
        let end = plain_length(self.rest.as_bytes());
        if self.rest.as_bytes().get(end) != Some(&b'<') || end > self.most {
            return Err(Odd);
        }
        let (text, rest) = self.rest.split_at_checked(end).ok_or(Odd)?;
        self.rest = rest;
        Ok(text)
    }

    /// A value whose text holds references, line ends to be normalised, CDATA or comments.
    #[cold]
    fn leaf_after<S: Simple>(&mut self, plain: &str) -> Result<S, Odd> {
        let mut text = String::from(plain);
        let mut left = self.most;
        loop {
            let end = memchr::memchr(b'<', self.rest.as_bytes()).ok_or(Odd)?;
            let (raw, rest) = self.rest.split_at_checked(end).ok_or(Odd)?;
            decode(raw, &mut text)?;
            let (literal, after) = if let Some(markup) = rest.strip_prefix("<![CDATA[") {
                markup.split_once("]]>").ok_or(Odd)?
            } else if let Some((_, after)) = comment(rest) {
                ("", after)
            } else if end <= left {
                self.rest = rest;
                return accept(&text);
            } else {
                return Err(Odd);
            };
            left = left.checked_sub(self.rest.len() - after.len()).ok_or(Odd)?;
            push_lines(literal, &mut text);
            self.rest = after;
        }
    }
}

/// The comment that a text begins with, and what follows it; `None` where it may not be well-formed.
fn comment(text: &str) -> Option<(&str, &str)> {
    let content = text.strip_prefix("<!--").filter(|content| !content.starts_with(['>', '-']))?;
    let end = text.len() - content.len() + memchr::memmem::find(content.as_bytes(), b"--")?;
    let (comment, after) = text.split_at_checked(end + "-->".len())?;
    comment.ends_with('>').then_some((comment, after))
}

/// Appends character data with its references resolved and its line ends normalised.
fn decode(mut raw: &str, text: &mut String) -> Result<(), Odd> {
    if raw.contains("]]>") {
        return Err(Odd);
    }
    while let Some((before, after)) = raw.split_once('&') {
        push_lines(before, text);
        let (name, after) = after.split_once(';').ok_or(Odd)?;
        text.push(resolve(name).map_err(|_| Odd)?);
        raw = after;
    }
    push_lines(raw, text);
    Ok(())
}

impl Watch for Scanner<'_> {
    fn report(&mut self, _: FindingKind) {
        self.odd = true;
    }

    fn tally(&mut self) -> Option<&mut Tally> {
        self.odd = true;
        None
    }
}

#[inline(always)]
fn accept<S: Simple>(text: &str) -> Result<S, Odd> {
    let value = S::parse(text).map_err(|_| Odd)?;
    if value.fault().is_some() || value.doubt().is_some() { Err(Odd) } else { Ok(value) }
}

/// How many octets precede the first `<`, `>`, `&` or carriage return, eight looked at in one step.
#[inline]
fn plain_length(octets: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    // Marks the octets that are zero: the lowest mark is right, those above it may be false.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
    let (words, _) = octets.as_chunks::<8>();
    let mut at = 0;
    for word in words {
        let word = u64::from_le_bytes(*word);
        // `<` and `>` differ in one bit.
        let marks = zeros((word | (ONES * 2)) ^ (ONES * u64::from(b'>')))
            | zeros(word ^ (ONES * u64::from(b'&')))
            | zeros(word ^ (ONES * u64::from(b'\r')));
        if marks != 0 {
            return at + usize::try_from(marks.trailing_zeros() / 8).unwrap_or_default();
        }
        at += 8;
    }
    let tail = octets.get(at..).unwrap_or_default();
    at + tail.iter().position(|b| matches!(b, b'<' | b'>' | b'&' | b'\r')).unwrap_or(tail.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_ends_where_something_else_begins() {
        for length in 0..40 {
            for (end, stops) in [('<', true), ('>', true), ('&', true), ('\r', true), ('=', false), (';', false)] {
                let text = format!("{}{end}{}", "é".repeat(length / 2), "x<".repeat(20));
                let expected = text.find(['<', '>', '&', '\r']).unwrap();
                assert_eq!(plain_length(text.as_bytes()), expected, "{text}");
                assert_eq!(stops, expected == length / 2 * 2);
            }
            assert_eq!(plain_length("=".repeat(length).as_bytes()), length);
        }
    }
}
