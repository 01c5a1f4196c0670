//! The writer's output: a string, or a sink behind a buffer.

use crate::field::Tag;
use crate::version::Version;
use crate::xml::is_xml_char;
use bankrail_values::Decimal;
use std::fmt::{self, Write as _};
use std::io;

/// The destination of XML that is being written.
pub struct Output<'a> {
    text: &'a mut String,
    /// The destination of full buffers, if there is one.
    sink: Option<&'a mut dyn io::Write>,
    /// The length in bytes at which the buffer is written to the sink.
    full: usize,
    /// The first error of the sink.
    failed: Option<io::Error>,
    /// The first character that XML cannot carry.
    forbidden: Option<char>,
    /// The version of the schema.
    version: u8,
    /// True if nothing is escaped.
    verbatim: bool,
    /// True if text is also escaped for the inside of a JSON string.
    json: bool,
    /// The number of spaces per level; `None` for compact XML.
    indent: Option<usize>,
    depth: usize,
    /// True when an end tag was written last, so that the next end tag goes to its own line.
    after_child: bool,
    /// True when text beside elements was written last. No white space may follow it, because that
    /// would become part of it.
    after_text: bool,
}

/// Bytes in the buffer before a sink.
const BUFFER_BYTES: usize = 64 * 1024;

/// Marks the bytes that may need an escape or may begin a forbidden character.
#[allow(clippy::indexing_slicing)] // at compile time
const SPECIAL: [u8; 256] = {
    let mut table = [0; 256];
    let mut b = 0;
    while b < 32 {
        table[b] = 1;
        b += 1;
    }
    table[b'&' as usize] = 1;
    table[b'<' as usize] = 1;
    table[b'>' as usize] = 1;
    table[b'"' as usize] = 1;
    table[b'\\' as usize] = 1;
    table[0xEF] = 1; // perhaps U+FFFE or U+FFFF
    table
};

impl<'a> Output<'a> {
    /// Makes an output of compact XML into a string.
    pub fn plain(text: &'a mut String) -> Self {
        Self {
            text,
            sink: None,
            full: usize::MAX,
            failed: None,
            forbidden: None,
            version: Version::default().number(),
            verbatim: false,
            json: false,
            indent: None,
            depth: 0,
            after_child: false,
            after_text: false,
        }
    }

    /// Makes an output of values as they are read, without escapes.
    pub(crate) fn verbatim(text: &'a mut String) -> Self {
        Self {
            verbatim: true,
            ..Self::plain(text)
        }
    }

    /// Writes the output to a sink, in pieces.
    pub(crate) fn with_sink(mut self, sink: &'a mut dyn io::Write) -> Self {
        self.sink = Some(sink);
        self.full = BUFFER_BYTES;
        // With room for the element that fills the buffer, so that it seldom has to grow.
        self.text.reserve(BUFFER_BYTES + BUFFER_BYTES / 4);
        self
    }

    /// Writes elements as the given version of the schema has them.
    pub(crate) fn in_version(mut self, version: u8) -> Self {
        self.version = version;
        self
    }

    /// Returns the version of the schema.
    #[inline(always)]
    pub fn version(&self) -> u8 {
        self.version
    }

    /// Calls `write` with the output set to an older version of the schema.
    pub fn as_of(&mut self, version: u8, write: impl FnOnce(&mut Self)) {
        let own = std::mem::replace(&mut self.version, version);
        write(self);
        self.version = own;
    }

    /// Escapes text also for the inside of a JSON string.
    pub(crate) fn for_json(mut self) -> Self {
        self.json = true;
        self
    }

    /// Puts each element on its own line.
    pub(crate) fn indented(mut self, spaces: Option<usize>) -> Self {
        self.indent = spaces;
        self
    }

    /// Writes the rest of the buffer to the sink. Returns the first error of the sink and the first
    /// forbidden character.
    pub(crate) fn finish(mut self) -> (Option<io::Error>, Option<char>) {
        self.flush();
        (self.failed, self.forbidden)
    }

    /// Writes ASCII that needs no escape in XML nor in JSON.
    #[inline]
    pub fn raw(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Writes the start tag of a sequence or choice.
    #[inline]
    pub fn open(&mut self, tag: &Tag) {
        if self.indent.is_some() {
            self.begin_indented();
        }
        self.text.push_str(tag.open);
    }

    /// Writes the start tag of a sequence or choice, up to its attributes.
    pub fn start(&mut self, tag: &Tag) {
        if self.indent.is_some() {
            self.begin_indented();
        }
        self.text.push_str(tag.start);
    }

    /// Writes the start tag of a leaf.
    #[inline]
    pub fn open_leaf(&mut self, tag: &Tag) {
        if self.indent.is_some() {
            self.new_line();
        }
        self.text.push_str(tag.open);
    }

    /// Writes the start tag of a leaf, up to its attributes.
    #[inline]
    pub fn start_leaf(&mut self, tag: &Tag) {
        if self.indent.is_some() {
            self.new_line();
        }
        self.text.push_str(tag.start);
    }

    /// Writes the end of a start tag.
    #[inline]
    pub fn start_end(&mut self) {
        self.text.push('>');
    }

    /// Writes the end tag of a sequence or choice.
    #[inline]
    pub fn close(&mut self, tag: &Tag) {
        if self.indent.is_some() {
            self.end_indented();
        }
        self.close_leaf(tag);
        // Checks the length at the ends of sequences only, because leaves are many and short.
        if self.text.len() >= self.full {
            self.flush();
        }
    }

    /// Writes the end tag of a leaf.
    #[inline]
    pub fn close_leaf(&mut self, tag: &Tag) {
        self.text.push_str(tag.close);
        self.after_child = true;
    }

    /// Writes an attribute whose name is ASCII.
    #[inline]
    pub fn attribute(&mut self, name: &str, value: &str) {
        self.attribute_with(&[name], value);
    }

    /// Writes an attribute whose name comes in pieces.
    #[inline]
    pub(crate) fn attribute_with(&mut self, name: &[&str], value: &str) {
        self.text.push(' ');
        for part in name {
            self.text.push_str(part);
        }
        self.text.push_str(if self.json { "=\\\"" } else { "=\"" });
        self.escape(value, true);
        self.text.push_str(if self.json { "\\\"" } else { "\"" });
    }

    /// Writes character data. The functions that write an element are inlined for each element;
    /// inlining this one would make them large.
    #[inline(never)]
    pub fn text(&mut self, text: &str) {
        self.escape(text, false);
    }

    /// Writes character data beside elements.
    pub(crate) fn stray_text(&mut self, text: &str) {
        self.escape(text, false);
        self.after_text = true;
    }

    /// Writes markup verbatim.
    pub fn markup(&mut self, xml: &str) {
        if !self.json {
            self.text.push_str(xml);
            return;
        }
        for c in xml.chars() {
            match json_escape(c) {
                Some(escape) => self.text.push_str(escape),
                None => self.text.push(c),
            }
        }
    }

    /// Writes a value that is spelled in ASCII without markup characters.
    #[inline]
    pub fn spelled(&mut self, spell: impl FnOnce(&mut String) -> fmt::Result) {
        // Writing into a string cannot fail.
        let _ = spell(self.text);
    }

    /// Writes a decimal with its scale.
    pub fn decimal(&mut self, value: Decimal) {
        let (Ok(mut rest), Ok(scale)) = (
            u64::try_from(value.mantissa().unsigned_abs()),
            usize::try_from(value.scale()),
        ) else {
            return self.spelled(|text| write!(text, "{value}"));
        };
        // Has room for a sign and either twenty digits of a `u64`, or a zero, a point and 28
        // places.
        let mut text = [b'0'; 32];
        let mut start = text.len();
        // A negative zero is written without its sign, because reading drops the sign as well.
        let negative = value.is_sign_negative() && rest != 0;
        let mut put = |byte: u8| {
            start -= 1;
            if let Some(place) = text.get_mut(start) {
                *place = byte;
            }
        };
        let mut count = 0;
        loop {
            if count == scale && scale > 0 {
                put(b'.');
            }
            if count > scale && rest == 0 {
                break;
            }
            put(b'0' + u8::try_from(rest % 10).unwrap_or_default());
            rest /= 10;
            count += 1;
        }
        if negative {
            put(b'-');
        }
        // Pushes character by character, which is faster than checking that so few bytes are UTF-8.
        self.text.extend(
            text.get(start..)
                .unwrap_or_default()
                .iter()
                .map(|b| char::from(*b)),
        );
    }

    #[inline]
    fn escape(&mut self, text: &str, attribute: bool) {
        // The loop has no branch, because texts are short and few have something to escape.
        let special = text.bytes().fold(0, |any, b| {
            any | SPECIAL.get(usize::from(b)).copied().unwrap_or(1)
        });
        if special == 0 {
            self.text.push_str(text);
        } else {
            self.escape_slowly(text, attribute);
        }
    }

    #[cold]
    fn escape_slowly(&mut self, text: &str, attribute: bool) {
        if self.verbatim {
            self.text.push_str(text);
            return;
        }
        for c in text.chars() {
            let replacement = match c {
                '&' => "&amp;",
                '<' => "&lt;",
                '>' => "&gt;",
                // These are written as references, because parsers normalise line ends, and white
                // space in attributes.
                '\r' => "&#13;",
                '\n' if attribute => "&#10;",
                '\t' if attribute => "&#9;",
                '"' if attribute => "&quot;",
                c if self.json
                    && let Some(escape) = json_escape(c) =>
                {
                    escape
                }
                c => {
                    if !is_xml_char(c) {
                        self.forbidden.get_or_insert(c);
                    }
                    self.text.push(c);
                    continue;
                }
            };
            self.text.push_str(replacement);
        }
    }

    #[cold]
    fn begin_indented(&mut self) {
        self.new_line();
        self.depth += 1;
        self.after_child = false;
    }

    #[cold]
    fn end_indented(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.after_child {
            self.new_line();
        }
    }

    #[cold]
    fn new_line(&mut self) {
        if std::mem::take(&mut self.after_text) {
            return;
        }
        if let Some(spaces) = self.indent {
            self.text.push_str(if self.json { "\\n" } else { "\n" });
            self.text
                .extend(std::iter::repeat_n(' ', spaces * self.depth));
        }
    }

    #[cold]
    fn flush(&mut self) {
        let Some(sink) = &mut self.sink else { return };
        // After an error nothing more is written to the sink, but the buffer is still emptied, so
        // that it stays bounded.
        if self.failed.is_none()
            && let Err(error) = sink.write_all(self.text.as_bytes())
        {
            self.failed = Some(error);
        }
        self.text.clear();
    }
}

/// Returns the escape of a character that a JSON string cannot hold as it is.
fn json_escape(c: char) -> Option<&'static str> {
    // XML forbids the other control characters that JSON would have to escape.
    Some(match c {
        '"' => "\\\"",
        '\\' => "\\\\",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        _ => return None,
    })
}

bankrail_values::impl_debug!(Output<'_>, self; json: self.json, indent: self.indent);

#[cfg(test)]
mod tests {
    use super::*;

    fn written(json: bool, write: impl FnOnce(&mut Output<'_>)) -> String {
        let mut text = String::new();
        let mut out = Output::plain(&mut text);
        out.json = json;
        write(&mut out);
        text
    }

    #[test]
    fn decimals_keep_their_scale() {
        for text in [
            "0",
            "0.00",
            "143.00",
            "-0.5",
            "10.0000",
            "0.00001",
            "18446744073709551615",
            "18446744073709551616.5",
        ] {
            let value = Decimal::from_str_exact(text).unwrap();
            assert_eq!(written(false, |out| out.decimal(value)), text);
        }
        assert_eq!(
            written(false, |out| out
                .decimal(Decimal::from_parts(0, 0, 0, true, 1))),
            "0.0"
        );
    }

    #[test]
    fn text_is_escaped_for_xml_and_for_json() {
        let text = "a<b>&\"\\\r\n\t👍";
        assert_eq!(
            written(false, |out| out.text(text)),
            "a&lt;b&gt;&amp;\"\\&#13;\n\t👍"
        );
        assert_eq!(
            written(true, |out| out.text(text)),
            "a&lt;b&gt;&amp;\\\"\\\\&#13;\\n\\t👍"
        );
        assert_eq!(
            written(true, |out| out.attribute("a", "\"\n")),
            " a=\\\"&quot;&#10;\\\""
        );
        assert_eq!(
            written(false, |out| out.attribute("a", "\"\r\n\t'")),
            " a=\"&quot;&#13;&#10;&#9;'\""
        );
        assert_eq!(
            written(true, |out| out.markup("<a b=\"\\\r\n\t\"/>")),
            "<a b=\\\"\\\\\\r\\n\\t\\\"/>"
        );
    }

    /// The buffer has room for a full piece and the rest of the element that fills it.
    #[test]
    fn the_buffer_before_a_sink_has_room_for_one_piece() {
        let (mut text, mut sink) = (String::new(), Vec::new());
        Output::plain(&mut text).with_sink(&mut sink).finish();
        assert!(
            BUFFER_BYTES < text.capacity() && text.capacity() < 2 * BUFFER_BYTES,
            "{}",
            text.capacity()
        );
    }

    #[test]
    fn forbidden_characters_are_seen() {
        let mut text = String::new();
        let mut out = Output::plain(&mut text);
        out.text("ok\u{fffd}\u{10ffff}");
        assert_eq!(out.forbidden, None);
        out.text("\u{fffe}\u{1}");
        assert_eq!(out.finish().1, Some('\u{fffe}'));
        for c in (0..u8::try_from(' ').unwrap()).map(char::from) {
            let mut text = String::new();
            let mut out = Output::plain(&mut text);
            out.text(&format!("a{c}"));
            assert_eq!(
                out.forbidden,
                Some(c).filter(|c| !c.is_ascii_whitespace() || *c == '\u{c}'),
                "{c:?}"
            );
        }
    }
}
