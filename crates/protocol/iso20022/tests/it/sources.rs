//! Sources of bytes: the encoding that is found, pieces of any length, failures, places, and bounds
//! that hold exactly.

use crate::day_book::{Document, ITEM, ItemReader, StreamItem, document};
use bankrail_iso20022::__private::parse_counting;
use bankrail_iso20022::{LimitKind, Mode, ReadError, ReadErrorKind, ReadLimits, ReadOptions};
use std::error::Error as _;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};

/// A source that hands out a few bytes at a time and fails so many times once it has handed out
/// some.
struct Source<'a> {
    bytes: &'a [u8],
    piece: usize,
    fails_after: usize,
    kind: ErrorKind,
    fails: usize,
    passed: usize,
}

impl<'a> Source<'a> {
    fn new(
        bytes: &'a [u8],
        piece: usize,
        fails_after: usize,
        kind: ErrorKind,
        fails: usize,
    ) -> Self {
        Self {
            bytes,
            piece,
            fails_after,
            kind,
            fails,
            passed: 0,
        }
    }
}

impl Read for Source<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(to)?;
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Source<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let ahead = self.fails_after.saturating_sub(self.passed);
        if ahead == 0 && self.fails > 0 {
            self.fails -= 1;
            return Err(self.kind.into());
        }
        let most = if self.fails > 0 {
            self.piece.min(ahead)
        } else {
            self.piece
        };
        Ok(&self.bytes[self.passed..self.bytes.len().min(self.passed + most)])
    }

    fn consume(&mut self, amount: usize) {
        self.passed += amount;
    }
}

fn item(more: &str) -> String {
    ITEM.replace("</Itm>", &format!("{more}</Itm>"))
}

/// Returns a document whose declaration states an encoding and has so many characters.
fn declared(encoding: &str, length: usize, content: &str) -> String {
    let body = document(content).split_once("?>").unwrap().1.to_owned();
    let declaration = format!("<?xml version=\"1.0\" encoding=\"{encoding}\"");
    format!(
        "{declaration:<width$}?>{body}",
        width = length.saturating_sub(2)
    )
}

fn latin(text: &str) -> Vec<u8> {
    text.chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap())
        .collect()
}

fn utf16(text: &str, little: bool) -> Vec<u8> {
    text.encode_utf16()
        .flat_map(|unit| {
            if little {
                unit.to_le_bytes()
            } else {
                unit.to_be_bytes()
            }
        })
        .collect()
}

/// Reads a document whole, and in pieces of several lengths: the first note of its first item, or
/// the error.
fn read(bytes: &[u8], options: ReadOptions) -> Result<String, ReadError> {
    let whole = Document::parse_with(bytes, &options);
    for piece in [1, 7, 4096] {
        let pieces = Document::read_with(BufReader::with_capacity(piece, bytes), &options);
        assert_eq!(format!("{whole:?}"), format!("{pieces:?}"), "{piece}");
    }
    whole.map(|parsed| {
        parsed.document.days[0].items[0]
            .notes
            .first()
            .map(ToString::to_string)
            .unwrap_or_default()
    })
}

fn strict() -> ReadOptions {
    ReadOptions::default().mode(Mode::Strict)
}

#[test]
fn a_declaration_is_looked_for_in_the_first_1024_characters() {
    let note = item("<Note>n\u{e9}</Note>");
    for length in [
        60, 61, 511, 512, 513, 514, 1022, 1023, 1024, 1025, 1026, 1027, 1028, 1029, 2048, 3000,
    ] {
        let read_latin = read(&latin(&declared("ISO-8859-1", length, &note)), strict());
        match read_latin {
            Ok(found) => assert!(length <= 1024 && found == "n\u{e9}", "{length} {found}"),
            Err(error) => {
                assert!(length > 1024, "{length} {error}");
                assert!(
                    matches!(
                        error.kind(),
                        ReadErrorKind::InvalidText { encoding: "UTF-8" }
                    ),
                    "{error}"
                );
            }
        }
        // Strictly, UTF-16 without a mark has to be declared.
        for little in [true, false] {
            match read(&utf16(&declared("UTF-16", length, &note), little), strict()) {
                Ok(found) => assert!(length <= 1024 && found == "n\u{e9}", "{length} {found}"),
                Err(error) => {
                    assert!(length > 1024, "{length} {error}");
                    assert!(
                        matches!(error.kind(), ReadErrorKind::UnsupportedEncoding { .. }),
                        "{error}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_mark_counts_more_than_a_declaration() {
    let note = item("<Note>n\u{e9}</Note>");
    for encoding in ["ISO-8859-1", "UTF-16", "US-ASCII", "windows-1252", "UTF-8"] {
        let marked = format!("\u{feff}{}", declared(encoding, 60, &note));
        assert_eq!(
            read(marked.as_bytes(), strict()).unwrap(),
            "n\u{e9}",
            "{encoding}"
        );
        for little in [true, false] {
            assert_eq!(
                read(&utf16(&marked, little), strict()).unwrap(),
                "n\u{e9}",
                "{encoding}"
            );
        }
    }
}

#[test]
fn an_encoding_of_single_bytes_has_several_names() {
    for (names, byte, expected) in [
        ("ISO-8859-1 ISO_8859-1 latin1", 0xA4, '\u{a4}'),
        ("ISO-8859-2 ISO_8859-2 latin2", 0xB3, '\u{142}'),
        ("ISO-8859-15 ISO_8859-15 Latin-9", 0xA4, '\u{20ac}'),
        ("windows-1250 cp1250", 0x9C, '\u{15b}'),
        ("windows-1251 cp1251", 0xC6, '\u{416}'),
        ("windows-1252 cp1252", 0x80, '\u{20ac}'),
        ("windows-1253 cp1253", 0xD9, '\u{3a9}'),
        ("windows-1254 cp1254", 0xFE, '\u{15f}'),
        ("windows-1255 cp1255", 0xE0, '\u{5d0}'),
        ("windows-1256 cp1256", 0xC8, '\u{628}'),
        ("windows-1257 cp1257", 0xE0, '\u{105}'),
        ("windows-1258 cp1258", 0xD0, '\u{110}'),
    ] {
        for name in names.split(' ') {
            let mut bytes = declared(name, 60, &item("<Note>n~</Note>")).into_bytes();
            *bytes.iter_mut().find(|b| **b == b'~').unwrap() = byte;
            assert_eq!(
                read(&bytes, strict()).unwrap(),
                format!("n{expected}"),
                "{name}"
            );
            let other = String::from_utf8_lossy(&bytes).replace(name, &format!("{name}0"));
            assert!(matches!(
                read(other.as_bytes(), strict()).unwrap_err().kind(),
                ReadErrorKind::UnsupportedEncoding { .. }
            ));
        }
    }
}

#[test]
fn ascii_has_bytes_below_128_only() {
    for name in ["US-ASCII", "ascii"] {
        let plain = declared(name, 60, &item("<Note>n\u{7f}</Note>"));
        assert_eq!(read(plain.as_bytes(), strict()).unwrap(), "n\u{7f}");
        for odd in ['\u{80}', '\u{e9}'] {
            let bytes = latin(&plain.replace('\u{7f}', &odd.to_string()));
            let error = read(&bytes, strict()).unwrap_err();
            assert!(
                matches!(
                    error.kind(),
                    ReadErrorKind::InvalidText {
                        encoding: "US-ASCII"
                    }
                ),
                "{error}"
            );
            assert_eq!(
                error.position().offset,
                u64::try_from(plain.find('\u{7f}').unwrap()).unwrap()
            );
        }
    }
}

#[test]
fn a_source_that_is_interrupted_is_asked_again_and_one_that_fails_is_not() {
    let xml = document(&item("<Note>n\u{e9}</Note>").repeat(3));
    let bytes = xml.as_bytes();
    let expected = Document::parse(&xml).unwrap().document;
    for at in (0..bytes.len()).step_by(5).chain([1, 2]) {
        for piece in [1, 100_000] {
            let interrupted = Source::new(bytes, piece, at, ErrorKind::Interrupted, 3);
            assert_eq!(
                Document::read_with(interrupted, &strict())
                    .unwrap()
                    .document,
                expected,
                "{at}"
            );
            for kind in [ErrorKind::BrokenPipe, ErrorKind::TimedOut] {
                let error = Document::read_with(Source::new(bytes, piece, at, kind, 1), &strict())
                    .unwrap_err();
                assert!(
                    matches!(error.kind(), ReadErrorKind::Io(cause) if cause.kind() == kind),
                    "{at} {error}"
                );
                let cause = error.source().unwrap().downcast_ref::<io::Error>().unwrap();
                assert_eq!(cause.kind(), kind);
            }
        }
    }
}

/// Nothing waits for more of a source than it needs.
#[test]
fn what_came_before_a_failure_has_been_handed_out() {
    for xml in [
        document(&ITEM.repeat(3)),
        document(&ITEM.repeat(3))
            .split_once("?>")
            .unwrap()
            .1
            .to_owned(),
    ] {
        let mark = format!("\u{feff}{xml}");
        for bytes in [
            xml.as_bytes(),
            mark.as_bytes(),
            &utf16(&mark, true),
            &utf16(&mark, false),
        ] {
            for piece in [1, 64] {
                let source =
                    Source::new(bytes, piece, bytes.len(), ErrorKind::BrokenPipe, usize::MAX);
                let mut reader = ItemReader::new(source, ReadOptions::default());
                assert!(matches!(reader.next(), Some(Ok(StreamItem::Start(_)))));
                for _ in 0..3 {
                    assert!(matches!(reader.next(), Some(Ok(StreamItem::Entry(_)))));
                }
                assert!(matches!(reader.next(), Some(Ok(StreamItem::End(_)))));
                let error = reader.next().unwrap().unwrap_err();
                assert!(matches!(error.kind(), ReadErrorKind::Io(_)), "{error}");
            }
        }
    }
}

#[test]
fn places_do_not_count_a_byte_order_mark_as_a_character() {
    let plain = document(&ITEM.replace("5.00", "five"));
    for (xml, at) in [
        (plain.clone(), "<Amt"),
        (plain.replace("?>", "?>\n"), "<Amt"),
        (
            plain.replace("?>", "?>\u{20}<!-- \u{e9}\u{1f44d} -->"),
            "<Amt",
        ),
        ("<Other/>".to_owned(), "<Other"),
        ("\n<Other/>".to_owned(), "<Other"),
    ] {
        let place = xml.find(at).unwrap();
        let before = &xml[..place];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
        let marked = format!("\u{feff}{xml}");
        let wide = |text: &str| text.encode_utf16().count() * 2;
        for (bytes, offset) in [
            (xml.clone().into_bytes(), place),
            (marked.clone().into_bytes(), place + 3),
            (utf16(&marked, true), wide(before) + 2),
            (utf16(&marked, false), wide(before) + 2),
        ] {
            let position = read(&bytes, ReadOptions::default()).unwrap_err().position();
            let found = [position.line, position.column, position.offset];
            assert_eq!(
                found,
                [line, column, offset].map(|number| u64::try_from(number).unwrap()),
                "{xml}"
            );
        }
    }
}

/// A tag, comment, instruction or run of text of exactly as many bytes as are allowed is read; one
/// more is refused, at its beginning.
#[test]
fn the_bytes_of_each_kind_of_markup_are_bounded_exactly() {
    const LENGTH: usize = 90;
    let padded = |before: &str, after: &str| {
        format!(
            "{before}{}{after}",
            "x".repeat(LENGTH - before.len() - after.len())
        )
    };
    let blanks = |before: &str, after: &str| padded(before, after).replace('x', " ");
    let day = "/Document/DayBook/Day[1]";
    for (token, around, path) in [
        (
            blanks("<Note", ">"),
            item("\u{1}n</Note>"),
            format!("{day}/Itm[1]"),
        ),
        (
            padded("<Note a=\"", "\">"),
            item("\u{1}n</Note>"),
            format!("{day}/Itm[1]"),
        ),
        (
            blanks("<Note", "/>"),
            item("\u{1}"),
            format!("{day}/Itm[1]"),
        ),
        (
            blanks("</Note", ">"),
            item("<Note>n\u{1}"),
            format!("{day}/Itm[1]/Note[1]"),
        ),
        (
            padded("<!--", "-->"),
            item("<Note>n\u{1}</Note>"),
            format!("{day}/Itm[1]/Note[1]"),
        ),
        (
            padded("<?p ", "?>"),
            item("<Note>n</Note>\u{1}"),
            format!("{day}/Itm[1]"),
        ),
        (padded("<", "/>"), item("\u{1}"), format!("{day}/Itm[1]")),
        (
            padded("<![CDATA[", "]]>"),
            item("<Xtra>\u{1}</Xtra>"),
            format!("{day}/Itm[1]"),
        ),
        (
            padded("", ""),
            item("<Xtra>\u{1}</Xtra>"),
            format!("{day}/Itm[1]"),
        ),
        (
            blanks("", ""),
            item("\u{1}<Note>n</Note>"),
            format!("{day}/Itm[1]"),
        ),
        (padded("", ""), format!("{ITEM}\u{1}"), day.to_owned()),
        (padded("<", "/>"), format!("{ITEM}\u{1}"), day.to_owned()),
    ] {
        assert_eq!(token.len(), LENGTH);
        let xml = document(&around.replace('\u{1}', &token));
        let place = u64::try_from(xml.find(&token).unwrap()).unwrap();
        for most in LENGTH - 3..LENGTH + 3 {
            let options =
                ReadOptions::default().limits(ReadLimits::default().max_token_bytes(most));
            let mut outcomes = vec![
                parse_counting::<Document>(&xml, &options, true).0,
                parse_counting::<Document>(&xml, &options, false).0,
            ];
            for piece in [1, 64, 4096] {
                outcomes.push(Document::read_with(
                    BufReader::with_capacity(piece, xml.as_bytes()),
                    &options,
                ));
            }
            for outcome in outcomes {
                let Err(error) = outcome else {
                    assert!(most >= LENGTH, "{most} {token:?}");
                    continue;
                };
                assert!(most < LENGTH, "{most} {token:?}: {error}");
                let kind = error.kind();
                assert!(
                    matches!(
                        kind,
                        ReadErrorKind::Limit {
                            limit: LimitKind::TokenBytes,
                            ..
                        }
                    ),
                    "{error}"
                );
                assert_eq!(
                    (error.path(), error.position().offset),
                    (path.as_str(), place),
                    "{most} {token:?}"
                );
            }
        }
    }
}

/// An item that cannot be read is handed out as it stands, if it has no more bytes than may be
/// kept.
#[test]
fn an_unread_item_has_as_many_bytes_as_may_be_kept() {
    let odd = ITEM.replace("5.00", "five");
    let xml = document(&format!("{ITEM}\n<!-- c -->\n{odd}{ITEM}"));
    for most in [odd.len() - 1, odd.len(), odd.len() + 1] {
        let options = ReadOptions::default().limits(ReadLimits::default().max_kept_bytes(most));
        for piece in [1, 7, 4096] {
            let mut parts =
                ItemReader::new(BufReader::with_capacity(piece, xml.as_bytes()), options).skip(2);
            let error = parts.next().unwrap().unwrap_err();
            if most < odd.len() {
                let kind = error.kind();
                assert!(
                    matches!(
                        kind,
                        ReadErrorKind::Limit {
                            limit: LimitKind::KeptBytes,
                            ..
                        }
                    ),
                    "{error}"
                );
                continue;
            }
            assert_eq!(error.unread(), Some(odd.as_str()));
            assert!(matches!(parts.next(), Some(Ok(StreamItem::Entry(_)))));
        }
    }
}

#[test]
fn a_long_prefix_changes_nothing() {
    for length in [1, 40, 63, 64, 65, 200] {
        let prefix = "p".repeat(length);
        let plain = document(&item("<Note>n</Note>"));
        let (declaration, body) = plain.split_once("?>").unwrap();
        let body = body
            .replace("</", "\u{1}")
            .replace('<', &format!("<{prefix}:"));
        let body = body
            .replace('\u{1}', &format!("</{prefix}:"))
            .replace(" xmlns=", &format!(" xmlns:{prefix}="));
        assert_eq!(
            read(format!("{declaration}?>{body}").as_bytes(), strict()).unwrap(),
            "n",
            "{length}"
        );
    }
}
