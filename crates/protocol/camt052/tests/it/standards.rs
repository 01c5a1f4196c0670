//! The reader against the standards that it reads by: XML 1.0 (fifth edition), Namespaces in XML
//! 1.0, and the datatypes of XML Schema that the message uses.
//!
//! A text of a standard stands in the supplementary data of an entry, or in its narrative. Each
//! document is read by the fast reader, by the reader over events, in pieces, and entry by entry;
//! all have to agree.

mod datatype_suite;
mod productions;
mod xml_suite;

use crate::tree::Slowly;
use bankrail_camt052::{Document, EntryReader, Parsed, ReadError, ReadOptions};
use bankrail_iso20022::__private::{parse_counting, read_counting};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// Returns the parts before and after the text at `place`.
fn around(place: &str) -> (String, String) {
    let entry = format!(
        "<Ntry><Amt Ccy=\"AUD\">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/>{place}</Ntry>"
    );
    let document = crate::findings::document("", &entry);
    let (before, after) = document.split_once("TEXT").unwrap();
    (before.to_owned(), after.to_owned())
}

/// An entry's supplementary data.
const ENVELOPE: &str = "<NtryDtls><TxDtls><Amt Ccy=\"AUD\">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>\
    <SplmtryData><Envlp>TEXT</Envlp></SplmtryData></TxDtls></NtryDtls>";
/// An entry's narrative, which the fast reader reads.
const NARRATIVE: &str = "<AddtlNtryInf>TEXT</AddtlNtryInf>";

/// Returns the supplementary data that was read.
fn envelope(parsed: &Parsed) -> &str {
    parsed.document.reports[0].entries[0].details[0].transactions[0].supplementary_data[0]
        .envelope
        .as_xml()
}

/// Reads a document with every reader.
fn read(bytes: &[u8], options: ReadOptions) -> Result<Parsed, ReadError> {
    let said = |read: &Result<Parsed, ReadError>| match read {
        Ok(parsed) => format!("{:?}", parsed),
        Err(error) => format!("{error:?}"),
    };
    let read = Document::parse_with(bytes, &options);
    let expected = said(&read);
    let shown = String::from_utf8_lossy(bytes);
    for piece in [1, 61, usize::MAX] {
        for fast in [true, false] {
            let pieces = read_counting(Slowly { bytes, piece }, &options, fast).0;
            assert_eq!(said(&pieces), expected, "{piece} {fast} {shown}");
        }
        let parts: Result<Vec<_>, _> = EntryReader::new(Slowly { bytes, piece }, options).collect();
        assert_eq!(parts.is_ok(), read.is_ok(), "{parts:?} {expected} {shown}");
    }
    if let (Ok(text), Ok(_)) = (std::str::from_utf8(bytes), &read) {
        let slow = parse_counting(text, &options, false).0;
        assert_eq!(said(&slow), expected, "{shown}");
    }
    read
}

/// Returns the forms of a document that a byte order mark proves: UTF-8, and UTF-16 of both byte
/// orders.
fn marked(text: &str) -> [(&'static str, Vec<u8>); 3] {
    let marked = format!("\u{feff}{text}");
    let wide = |bytes: fn(u16) -> [u8; 2]| marked.encode_utf16().flat_map(bytes).collect();
    [
        ("UTF-16LE", wide(u16::to_le_bytes)),
        ("UTF-16BE", wide(u16::to_be_bytes)),
        ("UTF-8 with a mark", marked.clone().into_bytes()),
    ]
}

/// The cases of a suite: those that the reader passed, those that were skipped, by reason, and
/// those that it failed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Report {
    passed: BTreeMap<String, usize>,
    excluded: BTreeMap<String, usize>,
    failed: Vec<String>,
}

impl Report {
    fn pass(&mut self, kind: &str) {
        *self.passed.entry(kind.to_owned()).or_default() += 1;
    }

    fn exclude(&mut self, reason: &str) {
        *self.excluded.entry(reason.to_owned()).or_default() += 1;
    }

    /// Fails if a case failed, and if there was none.
    fn assert_passed(&self) {
        println!("{self}");
        assert!(self.failed.is_empty(), "{}", self.failed.join("\n"));
        assert!(
            !self.passed.is_empty(),
            "the suite has no case for the reader"
        );
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (title, counts) in [("passed", &self.passed), ("excluded", &self.excluded)] {
            writeln!(out, "{title}: {}", counts.values().sum::<usize>())?;
            for (kind, count) in counts {
                writeln!(out, "  {count:6}  {kind}")?;
            }
        }
        write!(out, "failed: {}", self.failed.len())
    }
}

/// Returns the folder that a variable names; `None` when the variable is not set. A folder that
/// does not hold the suite is the runner's to refuse.
fn suite(variable: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable);
    if folder.is_none() {
        println!("{variable} not set: skipped");
    }
    folder.map(PathBuf::from)
}

/// Returns a new folder with these files, for a test of a runner.
fn folder(name: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(&root).unwrap();
    for (path, bytes) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    root
}
