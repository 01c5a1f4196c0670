//! Takes bytes, or an invented report and changes of its markup, and the lengths of pieces. Reading
//! entry by entry gives the entries or the error of a whole parse, however the input is cut, and
//! goes on after an unreadable entry like a parse that keeps it.

use crate::markup::report;

use bankrail_camt052::{
    Document, EntryReader, Finding, LimitKind, ReadError, ReadErrorKind, ReadLimits, ReadOptions,
    StreamItem,
};
use std::io::{BufRead, Read};

/// A source that hands out pieces of the lengths given, over and over.
struct Pieces<'a> {
    bytes: &'a [u8],
    lengths: &'a [u8],
    next: usize,
}

impl Pieces<'_> {
    fn length(&self) -> usize {
        let length = self
            .lengths
            .get(self.next % self.lengths.len().max(1))
            .copied()
            .unwrap_or(u8::MAX);
        self.bytes.len().min(usize::from(length) + 1)
    }
}

impl Read for Pieces<'_> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let length = self.length().min(to.len());
        to[..length].copy_from_slice(&self.bytes[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Pieces<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        Ok(&self.bytes[..self.length()])
    }

    fn consume(&mut self, amount: usize) {
        self.bytes = &self.bytes[amount..];
        self.next += 1;
    }
}

fn options() -> ReadOptions {
    ReadOptions::default().limits(ReadLimits::default().max_findings(usize::MAX))
}

fn assemble(source: impl BufRead) -> Result<(Document, Vec<Finding>), ReadError> {
    let mut reader = EntryReader::new(source, options());
    let (mut reports, mut entries, mut findings) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(item) = reader.next_item()? {
        findings.extend(reader.take_findings());
        match item {
            StreamItem::Entry(entry) => entries.push(*entry),
            StreamItem::End(mut end) => {
                end.entries = std::mem::take(&mut entries);
                reports.push(*end);
            }
            StreamItem::MessageEnd(mut end) => {
                end.reports = std::mem::take(&mut reports);
                return Ok((*end, findings));
            }
            _ => {}
        }
    }
    panic!("the stream ended without its end");
}

/// Reads on after each entry that cannot be read. Returns the number of the other entries and what
/// was found, the errors among it; nothing where the document cannot be read.
fn read_on(source: impl BufRead) -> Option<(usize, Vec<String>)> {
    let mut reader = EntryReader::new(source, options());
    let (mut entries, mut found) = (0, Vec::new());
    loop {
        let item = reader.next_item();
        found.extend(reader.take_findings().iter().map(told));
        match item {
            Ok(Some(StreamItem::Entry(_))) => entries += 1,
            Ok(Some(StreamItem::MessageEnd(_))) => return Some((entries, found)),
            Ok(Some(_)) => {}
            Err(error) if error.unread().is_some() => {
                found.push(format!("{}: {}", error.path(), error.kind()));
            }
            Ok(None) | Err(_) => return None,
        }
    }
}

fn told(finding: &Finding) -> String {
    format!("{}: {}", finding.path, finding.kind)
}

fn goes_on_like_a_parse(lengths: &[u8], bytes: &[u8]) {
    let whole = Document::parse_with(bytes, &options().keep_unreadable(true));
    let next = 0;
    let streamed = read_on(Pieces { bytes, lengths, next });
    if let (Ok(whole), Some((entries, mut found))) = (whole, streamed) {
        let reports = whole.document.reports.iter();
        assert_eq!(reports.map(|report| report.entries.len()).sum::<usize>(), entries);
        let mut expected: Vec<String> = whole.findings.iter().map(told).collect();
        expected.sort();
        found.sort();
        assert_eq!(found, expected);
    }
}

fuzz_target!(|input: (&[u8], &[u8])| {
    let (lengths, data) = input;
    let bytes = &*report(data);
    goes_on_like_a_parse(lengths, bytes);
    let streamed = assemble(Pieces {
        bytes,
        lengths,
        next: 0,
    });
    match (Document::parse_with(bytes, &options()), &streamed) {
        (Ok(whole), Ok((document, findings))) => {
            assert_eq!(&whole.document, document);
            assert_eq!(&whole.findings, findings);
        }
        (Err(whole), Err(error)) => {
            // A stream needs the mandatory parts of a report before its first entry, a whole parse
            // anywhere.
            if !matches!(error.kind(), ReadErrorKind::Missing { .. }) {
                assert_eq!(whole.to_string(), error.to_string());
                assert_eq!(format!("{:?}", whole.kind()), format!("{:?}", error.kind()));
            }
        }
        // The start of a report is handed out once more at its end, which takes memory.
        (Ok(_), Err(error)) => {
            let memory = matches!(
                error.kind(),
                ReadErrorKind::Limit {
                    limit: LimitKind::Memory,
                    ..
                }
            );
            assert!(
                memory || matches!(error.kind(), ReadErrorKind::Missing { .. }),
                "{error:?}"
            );
        }
        (Err(error), Ok(_)) => panic!("streamed what a whole parse refuses: {error:?}"),
    }
});
