//! Where events come from: a text in memory, or a source read in pieces.

use super::decode::Decoded;
use super::error::ReadErrorKind;
use crate::finding::Position;
use quick_xml::Reader;
use quick_xml::events::Event;
use std::io::BufRead;

/// A place between two events.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mark {
    /// Octets of the text before it, as UTF-8, without a byte order mark.
    pub(crate) text: u64,
    /// The place itself, where it is known at once.
    pub(crate) known: Option<Position>,
}

/// A source of events.
pub(crate) trait Tokens {
    /// The place before the next event.
    fn mark(&mut self) -> Mark;
    /// The next event.
    fn next(&mut self) -> Result<Event<'_>, quick_xml::Error>;
    /// What is wrong with the input itself, if that is why the last event failed, and where.
    fn failure(&mut self) -> Option<(ReadErrorKind, Position)>;
    /// A place as line, column and octet.
    fn position(&self, mark: Mark) -> Position;
    /// The text after the last event, as far as it is in memory.
    fn ahead(&self) -> &str;
    /// Passes over the first octets of it, which are whole elements or the content of one.
    fn skip(&mut self, octets: usize);
}

/// A UTF-8 text in memory whose characters XML allows.
#[derive(Debug)]
pub(crate) struct TextTokens<'a> {
    text: &'a str,
    reader: Reader<&'a [u8]>,
    byte_order_mark: usize,
}

impl<'a> TextTokens<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let mut reader = Reader::from_str(text);
        configure(&mut reader);
        let byte_order_mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { text, reader, byte_order_mark }
    }
}

impl Tokens for TextTokens<'_> {
    #[inline]
    fn mark(&mut self) -> Mark {
        Mark { text: self.reader.buffer_position(), known: None }
    }

    #[inline]
    fn next(&mut self) -> Result<Event<'_>, quick_xml::Error> {
        self.reader.read_event()
    }

    fn failure(&mut self) -> Option<(ReadErrorKind, Position)> {
        None
    }

    fn position(&self, mark: Mark) -> Position {
        let text = self.text.get(self.byte_order_mark..).unwrap_or_default();
        let before = usize::try_from(mark.text).ok().and_then(|end| text.get(..end)).unwrap_or(text);
        let line = before.rfind('\n').map_or(before, |end| before.get(end + 1..).unwrap_or_default());
        Position {
            line: count(memchr::memchr_iter(b'\n', before.as_bytes()).count()) + 1,
            column: count(line.chars().count()) + 1,
            offset: mark.text + count(self.byte_order_mark),
        }
    }

    #[inline]
    fn ahead(&self) -> &str {
        let left = self.reader.get_ref().len();
        self.text.get(self.text.len().saturating_sub(left)..).unwrap_or_default()
    }

    #[inline]
    fn skip(&mut self, octets: usize) {
        self.reader.stream().consume(octets);
    }
}

/// A source read in pieces.
#[derive(Debug)]
pub(crate) struct StreamTokens<R> {
    reader: Reader<Decoded<R>>,
    buffer: Vec<u8>,
}

impl<R: BufRead> StreamTokens<R> {
    pub(crate) fn new(source: Decoded<R>) -> Self {
        let mut reader = Reader::from_reader(source);
        configure(&mut reader);
        Self { reader, buffer: Vec::new() }
    }
}

impl<R: BufRead> Tokens for StreamTokens<R> {
    fn mark(&mut self) -> Mark {
        let text = self.reader.buffer_position();
        let source = self.reader.get_mut();
        source.begin_token();
        Mark { text, known: Some(source.position()) }
    }

    fn next(&mut self) -> Result<Event<'_>, quick_xml::Error> {
        self.buffer.clear();
        self.reader.read_event_into(&mut self.buffer)
    }

    fn failure(&mut self) -> Option<(ReadErrorKind, Position)> {
        self.reader.get_mut().take_failure()
    }

    fn position(&self, mark: Mark) -> Position {
        mark.known.unwrap_or_default()
    }

    fn ahead(&self) -> &str {
        self.reader.get_ref().ahead()
    }

    fn skip(&mut self, octets: usize) {
        self.reader.stream().consume(octets);
    }
}

fn configure<R>(reader: &mut Reader<R>) {
    let config = reader.config_mut();
    config.check_comments = true;
    config.check_end_names = true;
    config.allow_dangling_amp = false;
    config.allow_unmatched_ends = false;
    config.expand_empty_elements = false;
    config.trim_text(false);
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
