//! Invented documents are written, read, streamed and checked with the same result.

use crate::documents::{changed, numbered, strict};
use bankrail_camt053::{
    Document, EntryReader, Finding, FindingKind, ReadError, ReadErrorKind, ReadOptions, StreamItem,
    WriteOptions,
};
use bankrail_iso20022::__private::parse_counting;

/// Puts the parts of a stream together again.
fn streamed(xml: &str) -> Result<Document, ReadError> {
    let (mut statements, mut entries) = (Vec::new(), Vec::new());
    for item in EntryReader::new(xml.as_bytes(), ReadOptions::default()) {
        match item? {
            StreamItem::Start(start) => assert!(start.entries.is_empty()),
            StreamItem::Entry(entry) => entries.push(*entry),
            StreamItem::End(mut end) => {
                end.entries = std::mem::take(&mut entries);
                statements.push(*end);
            }
            StreamItem::MessageEnd(mut end) => {
                end.statements = std::mem::take(&mut statements);
                return Ok(*end);
            }
            other => panic!("{other:?}"),
        }
    }
    panic!("the stream ended without its end");
}

#[test]
fn invented_documents_are_read_as_they_were_written() {
    for seed in 0..60 {
        let document = numbered(seed);
        let options = WriteOptions::default()
            .indent((seed % 2 == 0).then_some(2))
            .schema_valid(true);
        let xml = document.to_xml_with(&options).unwrap();
        let read = Document::parse_with(&xml, &strict())
            .unwrap_or_else(|error| panic!("{error:?}\n{xml}"));
        assert_eq!(read.document, document);
        assert_eq!(streamed(&xml).unwrap(), document);
        let json = serde_json::to_string(&document).unwrap();
        assert_eq!(serde_json::from_str::<Document>(&json).unwrap(), document);
    }
}

#[test]
fn both_readers_give_the_same() {
    for seed in 0..120 {
        let xml = changed(
            &numbered(seed / 3).to_xml().unwrap(),
            usize::try_from(seed).unwrap(),
        );
        let facts = |fast: bool| {
            let (read, ..) = parse_counting::<Document>(&xml, &strict(), fast);
            read.map(|read| (read.document, read.findings))
                .map_err(|error| format!("{error:?}"))
        };
        assert_eq!(facts(true), facts(false), "{xml}");
    }
}

#[test]
fn a_statement_has_at_least_one_balance() {
    let document = numbered(3);
    let xml = document.to_xml().unwrap();
    let (before, rest) = xml.split_once("<Bal>").unwrap();
    let (_, after) = rest.rsplit_once("</Bal>").unwrap();
    let xml = format!("{before}{after}");
    let missing = FindingKind::Missing { name: "Bal".into() };
    let mut without = document;
    without.statements[0].balances.clear();
    // Tolerant reading reads on, because nothing else depends on the balances.
    let parsed = Document::parse(&xml).unwrap();
    assert_eq!(parsed.document, without);
    let found = |finding: &&Finding| finding.kind == missing;
    let finding = parsed.findings.iter().find(found).unwrap();
    assert_eq!(finding.path, "/Document/BkToCstmrStmt/Stmt[1]");
    assert_eq!(streamed(&xml).unwrap(), without);
    let error = Document::parse_with(&xml, &strict()).unwrap_err();
    assert!(
        matches!(error.kind(), ReadErrorKind::Refused(kind) if *kind == missing),
        "{error:?}"
    );
    assert!(without.check().iter().any(|finding| found(&finding)));
    assert!(without.to_xml().is_err());
    let incomplete = WriteOptions::default().incomplete(true);
    let written = without.to_xml_with(&incomplete).unwrap();
    assert_eq!(Document::parse(written).unwrap().document, without);
}

#[test]
fn another_message_is_refused() {
    let xml = numbered(1)
        .to_xml()
        .unwrap()
        .replace("camt.053.001.06", "camt.052.001.06");
    let error = Document::parse(xml).unwrap_err();
    assert!(
        matches!(error.kind(), ReadErrorKind::WrongNamespace { .. }),
        "{error:?}"
    );
}
