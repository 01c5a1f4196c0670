//! Takes text as an account report, or an invented one and changes of its markup. The fast reader and the reader over events give the same
//! document and findings or the same error, in memory and as a stream, in both modes and within any
//! limits; and so does the reader that chooses between them. What is read is within the limits.

use crate::markup::report;
use bankrail_camt052::{Document, Mode, Parsed, ReadError, ReadErrorKind, ReadLimits, ReadOptions};
use bankrail_iso20022::__private::{parse_counting, read_counting};
use std::io::BufReader;

fn outcome(read: Result<Parsed, ReadError>) -> Result<Parsed, String> {
    read.map_err(|error| format!("{error:?}"))
}

fn is_allowed(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// The largest numbers of attributes, of elements around one, and of bytes of a text, of a document
/// that a reader with other rules reads as well.
fn extent(text: &str) -> Option<[usize; 3]> {
    let tree = roxmltree::Document::parse(text).ok()?;
    let nodes = || tree.descendants();
    let attributes = nodes().map(|node| node.attributes().len()).max()?;
    let depth = nodes().filter(roxmltree::Node::is_element).map(|node| {
        node.ancestors().filter(roxmltree::Node::is_element).count()
    });
    let texts = nodes().filter(|node| node.children().all(|child| child.is_text()));
    let bytes = texts.filter_map(|node| node.text()).map(|text| text.trim().len()).max();
    Some([attributes, depth.max()?, bytes.unwrap_or(0)])
}

fuzz_target!(|input: (u8, &[u8])| {
    let (choices, data) = input;
    let text = &*report(data);
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let (limits, which) = (ReadLimits::default(), choices >> 1 & 7);
    let options = ReadOptions::default().limits(match which {
        0 => limits.max_depth(9),
        1 => limits.max_entry_elements(20),
        2 => limits.max_text_bytes(20),
        3 => limits.max_token_bytes(100),
        4 => limits.max_attributes(1),
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
        if let (Ok(_), Some([attributes, depth, bytes])) = (&fast, extent(text)) {
            assert!(which != 0 || depth <= 9, "{text}");
            assert!(which != 2 || bytes <= 20, "{text}");
            assert!(which != 4 || attributes <= 1, "{text}");
        }
    }
});
