//! Decodes bytes, in pieces, into UTF-8 text whose characters XML allows.

use super::declaration::declared_encoding;
use super::error::{LimitKind, ReadErrorKind};
use super::foreign;
use super::{Mode, ReadLimits, ReadOptions};
use crate::finding::{Position, shown};
use encoding_rs::{
    DecoderResult, ISO_8859_2, ISO_8859_15, UTF_16BE, UTF_16LE, WINDOWS_1250, WINDOWS_1251,
    WINDOWS_1252, WINDOWS_1253, WINDOWS_1254, WINDOWS_1255, WINDOWS_1256, WINDOWS_1257,
    WINDOWS_1258,
};
use std::fmt;
use std::io::{self, BufRead, Read};

/// A source of UTF-8 text. Reading fails at the first byte that cannot be decoded and at the first
/// character that XML does not allow; `take_failure` returns the reason and the place.
pub(crate) struct Decoded<R> {
    source: R,
    encoding: Encoding,
    decoder: Option<encoding_rs::Decoder>,
    /// Bytes read to find the encoding, or the beginning of a character whose end has not been read
    /// yet.
    pending: Vec<u8>,
    /// Decoded text, of which `start..` is still to be consumed.
    text: String,
    start: usize,
    ended: bool,
    failure: Option<ReadErrorKind>,
    /// All text before the failure has been consumed. The failure is reported only then, although
    /// it may have been noticed earlier.
    met: bool,
    limits: ReadLimits,
    strict: bool,
    /// True if the source is UTF-8, even if it declares another encoding.
    is_text: bool,
    /// Bytes read from the source.
    read: u64,
    /// Bytes of text consumed since the last `begin_token`.
    token: usize,
    at: Position,
    /// Bytes of the byte order mark, once it is consumed.
    byte_order_mark: u64,
    /// The text consumed since `remember`, while it is to be remembered.
    remembered: String,
    remembers: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Unknown,
    Utf8,
    Ascii,
    Latin1,
    /// An encoding with one byte for each character, except the above.
    Single(&'static encoding_rs::Encoding),
    Utf16,
}

/// Bytes decoded at once.
const PIECE_BYTES: usize = 32 * 1024;
/// An XML declaration is looked for within this many bytes.
const MAX_DECLARATION_BYTES: usize = 1024;

impl<R: BufRead> Decoded<R> {
    pub(crate) fn new(source: R, options: &ReadOptions) -> Self {
        Self {
            source,
            encoding: Encoding::Unknown,
            decoder: None,
            pending: Vec::new(),
            text: String::new(),
            start: 0,
            ended: false,
            failure: None,
            met: false,
            limits: options.limits,
            strict: options.mode == Mode::Strict,
            is_text: options.text,
            read: 0,
            token: 0,
            at: Position {
                line: 1,
                column: 1,
                offset: 0,
            },
            byte_order_mark: 0,
            remembered: String::new(),
            remembers: false,
        }
    }

    /// Remembers the text that is consumed from now on.
    pub(crate) fn remember(&mut self) {
        self.remembered.clear();
        self.remembers = true;
    }

    /// Stops remembering the text.
    pub(crate) fn forget(&mut self) {
        self.remembers = false;
    }

    /// Returns the text consumed since `remember`; `None` if it was more than may be kept.
    pub(crate) fn remembered(&self) -> Option<&str> {
        self.remembers.then_some(self.remembered.as_str())
    }

    /// Begins to count the bytes of a token.
    pub(crate) fn begin_token(&mut self) {
        self.token = 0;
    }

    /// Returns the text that is decoded and not consumed.
    pub(crate) fn ahead(&self) -> &str {
        self.text.get(self.start..).unwrap_or_default()
    }

    /// Returns the place of the next byte to be consumed.
    pub(crate) fn position(&self) -> Position {
        self.at
    }

    /// Returns the place of the first event, after the byte order mark, which is consumed together
    /// with the event.
    pub(crate) fn first_position(&self) -> Position {
        Position {
            line: 1,
            column: 1,
            offset: self.byte_order_mark,
        }
    }

    /// Takes the reason why the source failed, and the place.
    pub(crate) fn take_failure(&mut self) -> Option<(ReadErrorKind, Position)> {
        let position = self.at;
        self.failure
            .take_if(|_| self.met)
            .map(|failure| (failure, position))
    }

    /// Decodes a further piece after the text that has not been consumed; returns false if there is
    /// none.
    pub(crate) fn more(&mut self) -> bool {
        // Moves the text once for each piece, because moving it for each event would take quadratic
        // time.
        self.text.drain(..self.start);
        self.start = 0;
        let before = self.text.len();
        // A piece may end within its first character and then adds no text.
        while self.text.len() == before && !self.ended && self.failure.is_none() {
            match self.read_piece() {
                Ok(piece) => self.decode(&piece),
                Err(error) => self.failure = Some(ReadErrorKind::Io(error)),
            }
        }
        self.text.len() > before
    }

    fn read_piece(&mut self) -> io::Result<Vec<u8>> {
        if self.encoding == Encoding::Unknown {
            return self.read_head();
        }
        // A character may stand across two pieces; its beginning comes first.
        let mut piece = std::mem::take(&mut self.pending);
        let available = fill(&mut self.source)?;
        let used = available.len().min(PIECE_BYTES);
        piece.extend_from_slice(available.get(..used).unwrap_or_default());
        self.source.consume(used);
        self.count(used);
        self.ended = used == 0;
        Ok(piece)
    }

    /// Reads up to the end of the XML declaration, which states the encoding.
    fn read_head(&mut self) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        loop {
            // UTF-16 has a zero in one of the first two bytes, and a declaration has twice the
            // bytes.
            let wide = if head.get(..2).is_some_and(|two| two.contains(&0)) {
                2
            } else {
                1
            };
            let plain: Vec<u8> = head.iter().copied().filter(|b| *b != 0).collect();
            // The head is complete when there are enough bytes to see whether a declaration begins
            // right after the byte order mark.
            let decided = plain.len() >= foreign::bytes_to_tell(&plain)
                && memchr::memmem::find(&plain, b"<?xml").is_none_or(|at| at >= 4)
                || memchr::memmem::find(&plain, b"?>").is_some()
                || head.len() >= MAX_DECLARATION_BYTES * wide;
            if decided && head.len() % 2 == 0 {
                break;
            }
            let available = fill(&mut self.source)?;
            if available.is_empty() {
                self.ended = true;
                break;
            }
            head.extend(available.first());
            self.source.consume(1);
            self.count(1);
        }
        self.detect(&head);
        Ok(head)
    }

    fn count(&mut self, bytes: usize) {
        self.read = self.read.saturating_add(count(bytes));
    }

    fn detect(&mut self, head: &[u8]) {
        if let Some(found) = foreign::kind(head) {
            self.failure = Some(ReadErrorKind::NotXml { found });
            return;
        }
        if self.is_text {
            self.encoding = Encoding::Utf8;
            return;
        }
        let utf16 =
            |decoder: &'static encoding_rs::Encoding| Some((Encoding::Utf16, Some(decoder)));
        // UTF-32 is tried before UTF-16, because it may begin with the same two bytes.
        let by_mark = match head {
            [0, 0, 0xFE, 0xFF, ..]
            | [0xFF, 0xFE, 0, 0, ..]
            | [0, 0, 0, b'<', ..]
            | [b'<', 0, 0, 0, ..] => {
                self.failure = Some(ReadErrorKind::UnsupportedEncoding {
                    found: "UTF-32".to_owned(),
                });
                return;
            }
            [0xEF, 0xBB, 0xBF, ..] => Some((Encoding::Utf8, None)),
            [0xFE, 0xFF, ..] | [0, b'<', ..] => utf16(UTF_16BE),
            [0xFF, 0xFE, ..] | [b'<', 0, ..] => utf16(UTF_16LE),
            _ => None,
        };
        let plain: Vec<u8> = head.iter().copied().filter(|b| *b != 0).collect();
        let declared = declared_encoding(&plain);
        let upper = declared.as_deref().map(str::to_ascii_uppercase);
        let found = match (by_mark, upper.as_deref()) {
            // The first bytes prove the encoding; a declaration may be left from before a
            // conversion.
            (Some(mark), _) => Some(mark),
            (None, None | Some("UTF-8" | "UTF8")) => Some((Encoding::Utf8, None)),
            (None, Some("US-ASCII" | "ASCII")) => Some((Encoding::Ascii, None)),
            (None, Some("ISO-8859-1" | "ISO_8859-1" | "LATIN1")) => Some((Encoding::Latin1, None)),
            (None, Some(name)) => {
                single(name).map(|encoding| (Encoding::Single(encoding), Some(encoding)))
            }
        };
        // Without a byte order mark, XML takes a document for UTF-8 unless its declaration states
        // another encoding (4.3.3).
        let unmarked = matches!(found, Some((Encoding::Utf16, _)))
            && !matches!(head, [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..]);
        if self.strict
            && unmarked
            && !upper
                .as_ref()
                .is_some_and(|name| name.starts_with("UTF-16"))
        {
            let found = "UTF-16 that is neither marked nor declared".to_owned();
            self.failure = Some(ReadErrorKind::UnsupportedEncoding { found });
            return;
        }
        match found {
            Some((encoding, decoder)) => {
                self.encoding = encoding;
                // A byte order mark stays, because the XML reader drops exactly one.
                self.decoder = decoder.map(encoding_rs::Encoding::new_decoder_without_bom_handling);
            }
            None => {
                self.failure = Some(ReadErrorKind::UnsupportedEncoding {
                    found: shown(&declared.unwrap_or_default()),
                })
            }
        }
    }

    fn decode(&mut self, piece: &[u8]) {
        let before = self.text.len();
        let over = self.read.saturating_sub(self.limits.max_document_bytes);
        let over = usize::try_from(over).unwrap_or(usize::MAX);
        // The bytes before the limit are still decoded, so that an error in them is reported
        // instead.
        let piece = if over > 0 {
            self.failure.get_or_insert(ReadErrorKind::Limit {
                limit: LimitKind::DocumentBytes,
                max: self.limits.max_document_bytes,
            });
            piece
                .get(..piece.len().saturating_sub(over))
                .unwrap_or_default()
        } else {
            piece
        };
        match self.encoding {
            Encoding::Unknown => return,
            Encoding::Utf8 => self.decode_utf8(piece),
            Encoding::Ascii => {
                let end = encoding_rs::Encoding::ascii_valid_up_to(piece);
                self.decode_utf8(piece.get(..end).unwrap_or_default());
                if end < piece.len() {
                    self.failure = Some(ReadErrorKind::InvalidText {
                        encoding: "US-ASCII",
                    });
                }
            }
            Encoding::Latin1 => {
                // encoding_rs takes this name for windows-1252, which differs from 0x80 to 0x9F.
                self.text.push_str(&encoding_rs::mem::decode_latin1(piece));
            }
            Encoding::Single(_) | Encoding::Utf16 => self.decode_other(piece),
        }
        if let Some((end, found)) =
            forbidden(self.text.as_bytes().get(before..).unwrap_or_default())
        {
            // The character stands before any byte that could not be decoded, so it is the failure.
            self.text.truncate(before + end);
            self.failure = Some(ReadErrorKind::ForbiddenCharacter { found });
        }
    }

    fn decode_utf8(&mut self, piece: &[u8]) {
        // The variant that returns the place of an error, up to which the text is still read.
        match simdutf8::compat::from_utf8(piece) {
            Ok(text) => self.text.push_str(text),
            Err(error) => {
                let (good, rest) = piece
                    .split_at_checked(error.valid_up_to())
                    .unwrap_or_default();
                self.text
                    .push_str(std::str::from_utf8(good).unwrap_or_default());
                // The piece ends within a character, whose rest comes with the next piece.
                if error.error_len().is_none() && !self.ended {
                    self.pending = rest.to_vec();
                } else {
                    self.failure = Some(ReadErrorKind::InvalidText { encoding: "UTF-8" });
                }
            }
        }
    }

    fn decode_other(&mut self, piece: &[u8]) {
        let last = self.ended;
        let Some(decoder) = &mut self.decoder else {
            return;
        };
        // The decoder does not grow the string. A maximum is missing only where it overflows, far
        // beyond the length of a piece.
        let capacity = decoder
            .max_utf8_buffer_length_without_replacement(piece.len())
            .unwrap_or(piece.len() * 4);
        self.text.reserve(capacity);
        let (result, _) = decoder.decode_to_string_without_replacement(piece, &mut self.text, last);
        if result != DecoderResult::InputEmpty {
            let encoding = if let Encoding::Single(encoding) = self.encoding {
                encoding.name()
            } else {
                "UTF-16"
            };
            self.failure = Some(ReadErrorKind::InvalidText { encoding });
        }
    }

    /// Returns the number of bytes that a piece of text has in the source.
    fn source_bytes(&self, text: &[u8]) -> usize {
        match self.encoding {
            Encoding::Unknown | Encoding::Utf8 | Encoding::Ascii => text.len(),
            Encoding::Latin1 | Encoding::Single(_) => characters(text),
            // Two bytes for each character, four beyond the basic plane.
            Encoding::Utf16 => 2 * (characters(text) + text.iter().filter(|b| **b >= 0xF0).count()),
        }
    }
}

impl<R: BufRead> Read for Decoded<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(to)?;
        self.consume(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Decoded<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start >= self.text.len() {
            // The bound is checked where the text runs out, which is once for each piece; `Events`
            // bounds tokens within a piece.
            if self.token > self.limits.max_token_bytes {
                self.failure = Some(token_limit(&self.limits));
            }
            if self.failure.is_none() {
                self.more();
            }
            if self.text.len() <= self.start && self.failure.is_some() {
                self.met = true;
                return Err(io::Error::other("the input failed"));
            }
        }
        Ok(self.text.as_bytes().get(self.start..).unwrap_or_default())
    }

    fn consume(&mut self, amount: usize) {
        let end = self.start.saturating_add(amount).min(self.text.len());
        let text = self
            .text
            .as_bytes()
            .get(self.start..end)
            .unwrap_or_default();
        if self.remembers {
            let piece = self.text.get(self.start..end).unwrap_or_default();
            if piece.len()
                > self
                    .limits
                    .max_kept_bytes
                    .saturating_sub(self.remembered.len())
            {
                // The text exceeds what may be kept, so it is forgotten.
                self.remembers = false;
                self.remembered = String::new();
            } else {
                self.remembered.push_str(piece);
            }
        }
        let bytes = self.source_bytes(text);
        let first = self.at.offset == 0;
        (self.at.line, self.at.column) = moved((self.at.line, self.at.column), text);
        // A byte order mark is no character of the document and takes no column.
        if first && text.starts_with(&[0xEF, 0xBB, 0xBF]) && self.at.line == 1 {
            self.at.column -= 1;
            self.byte_order_mark = count(self.source_bytes(&[0xEF, 0xBB, 0xBF]));
            if self.remembers {
                self.remembered.drain(..'\u{feff}'.len_utf8());
            }
        }
        self.at.offset += count(bytes);
        self.token = self.token.saturating_add(text.len());
        self.start = end;
    }
}

/// Returns the single-byte encoding with a name, which is in upper case.
fn single(name: &str) -> Option<&'static encoding_rs::Encoding> {
    Some(match name {
        "ISO-8859-2" | "ISO_8859-2" | "LATIN2" => ISO_8859_2,
        "ISO-8859-15" | "ISO_8859-15" | "LATIN-9" => ISO_8859_15,
        "WINDOWS-1250" | "CP1250" => WINDOWS_1250,
        "WINDOWS-1251" | "CP1251" => WINDOWS_1251,
        "WINDOWS-1252" | "CP1252" => WINDOWS_1252,
        "WINDOWS-1253" | "CP1253" => WINDOWS_1253,
        "WINDOWS-1254" | "CP1254" => WINDOWS_1254,
        "WINDOWS-1255" | "CP1255" => WINDOWS_1255,
        "WINDOWS-1256" | "CP1256" => WINDOWS_1256,
        "WINDOWS-1257" | "CP1257" => WINDOWS_1257,
        "WINDOWS-1258" | "CP1258" => WINDOWS_1258,
        _ => return None,
    })
}

/// Returns the place and the code point of the first character that XML does not allow. The text is
/// UTF-8.
pub(crate) fn forbidden(text: &[u8]) -> Option<(usize, u32)> {
    const CHUNK_BYTES: usize = 1024;
    let mut base = 0;
    let mut has_lines = false;
    for chunk in text.chunks(CHUNK_BYTES) {
        // Without branches, so that the compiler tests many bytes in one step. Line ends are
        // allowed control characters, and are distinguished only in a text that has any.
        let (lowest, nearest) = if has_lines {
            (0, 0)
        } else {
            chunk
                .iter()
                .fold((u8::MAX, u8::MAX), |(lowest, nearest), b| {
                    (lowest.min(*b), nearest.min(*b ^ 0xEF))
                })
        };
        let mut suspect = lowest < 0x20 || nearest == 0;
        if suspect {
            has_lines = true;
            suspect = chunk.iter().fold(false, |any, b| {
                any | ((*b < 0x20) & (*b != b'\n') & (*b != b'\r') & (*b != b'\t')) | (*b == 0xEF)
            });
        }
        if suspect && let Some(found) = forbidden_from(text, base, base + chunk.len()) {
            return Some(found);
        }
        base += chunk.len();
    }
    None
}

fn forbidden_from(text: &[u8], from: usize, to: usize) -> Option<(usize, u32)> {
    for (index, b) in text.get(from..to)?.iter().enumerate() {
        match *b {
            b'\t' | b'\n' | b'\r' => {}
            0..0x20 => return Some((from + index, u32::from(*b))),
            0xEF => {
                // Looks at the whole text, because a character may stand across two chunks.
                if let Some([0xBF, last @ (0xBE | 0xBF)]) =
                    text.get(from + index + 1..from + index + 3)
                {
                    return Some((from + index, 0xFF40 + u32::from(*last)));
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns the text of a document that is UTF-8 and holds only characters that XML allows; `None`
/// for the decoder's cases.
pub(crate) fn plain_text<'a>(bytes: &'a [u8], options: &ReadOptions) -> Option<&'a str> {
    // The decoder finds the place at which the limit is met.
    if count(bytes.len()) > options.limits.max_document_bytes {
        return None;
    }
    let head = bytes
        .get(..bytes.len().min(MAX_DECLARATION_BYTES))
        .unwrap_or_default();
    let marked = head.starts_with("\u{feff}".as_bytes());
    let decoded = marked || options.text;
    if !decoded && declared_encoding(head).is_some_and(|name| !name.eq_ignore_ascii_case("UTF-8")) {
        return None;
    }
    if foreign::kind(head).is_some() {
        return None;
    }
    // The fastest variant has no place of an error; the decoder finds that.
    let text = simdutf8::basic::from_utf8(bytes).ok()?;
    if forbidden(bytes).is_some() {
        None
    } else {
        Some(text)
    }
}

pub(super) fn token_limit(limits: &ReadLimits) -> ReadErrorKind {
    ReadErrorKind::Limit {
        limit: LimitKind::TokenBytes,
        max: count(limits.max_token_bytes),
    }
}

/// Fills the buffer of a source, starting again when a signal interrupts.
fn fill<R: BufRead>(source: &mut R) -> io::Result<&[u8]> {
    loop {
        match source.fill_buf() {
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    // Called again, because a buffer borrowed within the loop cannot be returned from it.
    source.fill_buf()
}

/// Returns the number of characters that start in a piece of UTF-8.
fn characters(text: &[u8]) -> usize {
    // Counts in 8 bits, so that the compiler adds many in one step; a chunk has at most 255 bytes,
    // so that the count fits.
    let count = |chunk: &[u8]| {
        chunk
            .iter()
            .fold(0_u8, |sum, b| sum.wrapping_add(u8::from(b & 0xC0 != 0x80)))
    };
    text.chunks(255)
        .map(|chunk| usize::from(count(chunk)))
        .sum()
}

/// Returns line and column after more bytes of UTF-8. Inlined, because it is called for every piece
/// of every event.
#[inline(always)]
pub(super) fn moved((line, column): (u64, u64), over: &[u8]) -> (u64, u64) {
    match memchr::memrchr(b'\n', over) {
        Some(last) => {
            let lines = memchr::memchr_iter(b'\n', over).count();
            (
                line + count(lines),
                1 + count(characters(over.get(last + 1..).unwrap_or_default())),
            )
        }
        None => (line, column + count(characters(over))),
    }
}

pub(super) fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

impl<R> fmt::Debug for Decoded<R> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Decoded")
            .field("encoding", &self.encoding)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_forbidden_character_is_found_at_any_place() {
        let forbidden_ones = [
            "\0", "\u{1}", "\u{b}", "\u{10}", "\u{1f}", "\u{fffe}", "\u{ffff}",
        ];
        let allowed = [
            "\t",
            "\n",
            "\r",
            " ",
            "\u{7f}",
            "\u{80}",
            "\u{f000}",
            "\u{fffd}",
            "\u{ff7e}",
            "\u{1f44d}",
        ];
        for length in [
            0, 1, 3, 1_020, 1_022, 1_023, 1_024, 1_025, 2_047, 2_048, 5_000,
        ] {
            for before in ["x", " x", "x\n", "\u{fffd}x\t"] {
                let mut text: String = before.chars().cycle().take(length).collect();
                text.truncate(text.floor_char_boundary(length));
                for good in allowed {
                    assert_eq!(
                        forbidden(format!("{text}{good}{text}").as_bytes()),
                        None,
                        "{length} {good:?}"
                    );
                }
                for bad in forbidden_ones {
                    let found = Some((text.len(), u32::from(bad.chars().next().unwrap())));
                    for after in ["", "x", "\u{1}", "\u{ffff}\u{2}", "\n"] {
                        let text = format!("{text}{bad}{after}");
                        assert_eq!(
                            forbidden(text.as_bytes()),
                            found,
                            "{length} {bad:?} {after:?}"
                        );
                    }
                }
            }
        }
    }
}
