//! The sources of events: a text in memory, and a source read in pieces.

use super::decode::{Decoded, count, moved};
use super::error::ReadErrorKind;
use crate::finding::Position;
use quick_xml::Reader;
use quick_xml::events::Event;
use std::io::BufRead;

/// A place between two events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    /// The number of bytes of the text before the place, as UTF-8, without a byte order mark.
    pub(crate) text: u64,
    /// Line, column and byte, for a source that counts them as it reads.
    pub(crate) known: Option<Position>,
}

/// A source of events.
pub trait Tokens {
    /// Returns the place before the next event.
    fn mark(&mut self) -> Mark;
    /// Returns the number of bytes of the text before that place.
    fn offset(&self) -> u64;
    /// Reads the next event.
    fn next(&mut self) -> Result<Event<'_>, quick_xml::Error>;
    /// Takes the error of the input and its place, if the last event failed because of the input.
    fn failure(&mut self) -> Option<(ReadErrorKind, Position)> {
        None
    }
    /// Returns a place as line, column and byte.
    fn position(&mut self, mark: Mark) -> Position;
    /// Returns the text after the last event, as far as it is in memory.
    fn ahead(&self) -> &str;
    /// Reads more text into memory; returns false if there is no more.
    fn more(&mut self) -> bool {
        false
    }
    /// Skips this many bytes of the text ahead. An element and what stands before it may be skipped
    /// in several steps.
    fn skip(&mut self, bytes: usize);
    /// Remembers the text from here on for [`Tokens::since`], until the next call.
    fn remember(&mut self) {}
    /// Stops remembering the text.
    fn forget(&mut self) {}
    /// Returns the text from a remembered place up to the end of the last event; `None` if it was
    /// more than may be kept.
    fn since(&self, mark: Mark) -> Option<&str>;
}

/// A UTF-8 text in memory whose characters XML allows.
#[derive(Debug)]
pub struct TextTokens<'a> {
    text: &'a str,
    reader: Reader<&'a [u8]>,
    byte_order_mark: usize,
    /// Line and column at every `STRIDE_BYTES`th byte but the first, as far as a place has been
    /// asked for.
    places: Vec<(u64, u64)>,
    /// The last place that was requested, because several findings may be about one element.
    last: Option<Position>,
}

/// Line and column are kept for one place in this many bytes; from there they are counted.
const STRIDE_BYTES: usize = 4 * 1024;
/// Line and column of the first byte.
const BEGINNING: (u64, u64) = (1, 1);

impl<'a> TextTokens<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let mut reader = Reader::from_str(text);
        configure(&mut reader);
        let byte_order_mark = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        Self {
            text,
            reader,
            byte_order_mark,
            places: Vec::new(),
            last: None,
        }
    }
}

impl Tokens for TextTokens<'_> {
    #[inline]
    fn mark(&mut self) -> Mark {
        Mark {
            text: self.offset(),
            known: None,
        }
    }

    #[inline]
    fn offset(&self) -> u64 {
        self.reader.buffer_position()
    }

    #[inline]
    fn next(&mut self) -> Result<Event<'_>, quick_xml::Error> {
        self.reader.read_event()
    }

    fn position(&mut self, mark: Mark) -> Position {
        let offset = mark.text + count(self.byte_order_mark);
        if let Some(last) = self.last.filter(|last| last.offset == offset) {
            return last;
        }
        let text = self
            .text
            .as_bytes()
            .get(self.byte_order_mark..)
            .unwrap_or_default();
        let end = usize::try_from(mark.text)
            .unwrap_or(usize::MAX)
            .min(text.len());
        let stride = end / STRIDE_BYTES;
        // Filled only as far as a place is asked for, because most documents have no finding.
        while self.places.len() < stride {
            let start = self.places.len() * STRIDE_BYTES;
            let before = self.places.last().copied().unwrap_or(BEGINNING);
            self.places.push(moved(
                before,
                text.get(start..start + STRIDE_BYTES).unwrap_or_default(),
            ));
        }
        let known = stride
            .checked_sub(1)
            .and_then(|last| self.places.get(last))
            .copied()
            .unwrap_or(BEGINNING);
        let (line, column) = moved(
            known,
            text.get(stride * STRIDE_BYTES..end).unwrap_or_default(),
        );
        let position = Position {
            line,
            column,
            offset,
        };
        self.last = Some(position);
        position
    }

    #[inline]
    fn ahead(&self) -> &str {
        let left = self.reader.get_ref().len();
        self.text
            .get(self.text.len().saturating_sub(left)..)
            .unwrap_or_default()
    }

    #[inline]
    fn skip(&mut self, bytes: usize) {
        self.reader.stream().consume(bytes);
    }

    fn since(&self, mark: Mark) -> Option<&str> {
        let start = usize::try_from(mark.text)
            .unwrap_or(usize::MAX)
            .saturating_add(self.byte_order_mark);
        let end = self.text.len().saturating_sub(self.reader.get_ref().len());
        Some(self.text.get(start..end).unwrap_or_default())
    }
}

/// A source read in pieces.
#[derive(Debug)]
pub struct StreamTokens<R> {
    reader: Reader<Decoded<R>>,
    buffer: Vec<u8>,
    /// The place where the remembered text begins.
    remembered: u64,
}

impl<R: BufRead> StreamTokens<R> {
    pub(crate) fn new(source: Decoded<R>) -> Self {
        let mut reader = Reader::from_reader(source);
        configure(&mut reader);
        Self {
            reader,
            buffer: Vec::new(),
            remembered: 0,
        }
    }
}

impl<R: BufRead> Tokens for StreamTokens<R> {
    fn mark(&mut self) -> Mark {
        let text = self.offset();
        let source = self.reader.get_mut();
        source.begin_token();
        Mark {
            text,
            known: Some(source.position()),
        }
    }

    fn offset(&self) -> u64 {
        self.reader.buffer_position()
    }

    fn next(&mut self) -> Result<Event<'_>, quick_xml::Error> {
        // The buffer is cleared and not replaced, so that each event reuses the room of the one
        // before.
        self.buffer.clear();
        self.reader.read_event_into(&mut self.buffer)
    }

    fn failure(&mut self) -> Option<(ReadErrorKind, Position)> {
        self.reader.get_mut().take_failure()
    }

    fn position(&mut self, mark: Mark) -> Position {
        // The byte order mark is consumed with the first event, so the mark before it is too early.
        let known = mark.known.filter(|_| mark.text > 0);
        known.unwrap_or_else(|| self.reader.get_ref().first_position())
    }

    fn ahead(&self) -> &str {
        self.reader.get_ref().ahead()
    }

    fn more(&mut self) -> bool {
        self.reader.get_mut().more()
    }

    fn skip(&mut self, bytes: usize) {
        self.reader.stream().consume(bytes);
    }

    fn remember(&mut self) {
        self.remembered = self.reader.buffer_position();
        self.reader.get_mut().remember();
    }

    fn forget(&mut self) {
        self.reader.get_mut().forget();
    }

    fn since(&self, mark: Mark) -> Option<&str> {
        let start =
            usize::try_from(mark.text.saturating_sub(self.remembered)).unwrap_or(usize::MAX);
        Some(
            self.reader
                .get_ref()
                .remembered()?
                .get(start..)
                .unwrap_or_default(),
        )
    }
}

fn configure<R>(reader: &mut Reader<R>) {
    // Sets the rules of XML that the readers rely on, even where they are defaults. Events must be
    // as written, because kept markup is copied from them.
    let config = reader.config_mut();
    config.check_comments = true;
    config.check_end_names = true;
    config.allow_dangling_amp = false;
    config.allow_unmatched_ends = false;
    config.expand_empty_elements = false;
    config.trim_text(false);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn places_are_told_in_any_order(
            pieces in proptest::collection::vec(("[a\u{e9}\n]{0,3}", 1_usize..40_000), 1..12),
            asked in proptest::collection::vec(any::<proptest::sample::Index>(), 1..20),
            marked in any::<bool>(),
        ) {
            let body: String = pieces.iter().map(|(piece, times)| piece.repeat(*times)).collect();
            let text = if marked { format!("\u{feff}{body}") } else { body.clone() };
            let mut tokens = TextTokens::new(&text);
            let ends: Vec<usize> = body.char_indices().map(|(at, _)| at).chain([body.len()]).collect();
            for index in asked {
                let end = *index.get(&ends);
                let before = &body[..end];
                let found = tokens.position(Mark { text: count(end), known: None });
                prop_assert_eq!(found.line, count(before.matches('\n').count()) + 1);
                prop_assert_eq!(found.column, count(before.rsplit('\n').next().unwrap().chars().count()) + 1);
                prop_assert_eq!(found.offset, count(end + text.len() - body.len()));
            }
        }
    }

    /// Text that is read fast is not remembered, however long a document is.
    #[test]
    fn a_source_remembers_from_where_it_is_told_until_it_is_told_to_forget() {
        let text = "<a><b/>text</a>";
        let source = Decoded::new(text.as_bytes(), &crate::read::ReadOptions::default());
        let mut tokens = StreamTokens::new(source);
        assert!(tokens.next().is_ok());
        let mark = tokens.mark();
        tokens.remember();
        assert!(tokens.next().is_ok());
        assert_eq!(tokens.since(mark), Some("<b/>"));
        assert!(tokens.next().is_ok());
        assert_eq!(tokens.since(mark), Some("<b/>text"));
        tokens.forget();
        assert!(tokens.next().is_ok());
        assert_eq!(tokens.since(mark), None);
    }
}
