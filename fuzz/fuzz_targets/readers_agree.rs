//! Takes text as an account report. The fast reader and the reader over events give the same
//! document and findings or the same error, in memory and as a stream, in both modes and within any
//! limits; and so does the reader that chooses between them.

use bankrail_camt052::{Document, Mode, Parsed, ReadError, ReadErrorKind, ReadLimits, ReadOptions};
use bankrail_iso20022::__private::{parse_counting, read_counting};
use std::io::BufReader;

fn outcome(read: Result<Parsed, ReadError>) -> Result<Parsed, String> {
    read.map_err(|error| format!("{error:?}"))
}

fn is_allowed(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

fuzz_target!(|input: (u8, &str)| {
    let (choices, text) = input;
    let limits = ReadLimits::default();
    let options = ReadOptions::default().limits(match choices >> 1 & 7 {
        0 => limits.max_depth(9),
        1 => limits.max_entry_elements(20),
        2 => limits.max_text_bytes(20),
        3 => limits.max_token_bytes(100),
        _ => limits.max_findings(usize::MAX),
    });
    let options = if choices & 1 == 1 {
        options.mode(Mode::Strict)
    } else {
        options
    };
    let streamed = |piece, fast| {
        outcome(
            read_counting(
                BufReader::with_capacity(piece, text.as_bytes()),
                &options,
                fast,
            )
            .0,
        )
    };
    for piece in [1 << 20, 61] {
        assert_eq!(streamed(piece, true), streamed(piece, false));
    }
    if text.chars().all(is_allowed) {
        let fast = outcome(parse_counting(text, &options, true).0);
        assert_eq!(fast, outcome(parse_counting(text, &options, false).0));
        // The bytes are decoded as they declare, and other kinds of files are recognised.
        let whole = Document::parse_with(text, &options);
        let is_other = |error: &ReadError| matches!(error.kind(), ReadErrorKind::NotXml { .. });
        if !text.starts_with('\u{feff}')
            && !text.contains("encoding")
            && !whole.as_ref().is_err_and(is_other)
        {
            assert_eq!(fast, outcome(whole));
        }
    }
});
