//! Takes bytes as a report, an invented one with changes, or as the choices for an invented one. A document that can be written,
//! compact, indented or in a JSON string, is read again as the same document.

use crate::markup::report;
use bankrail_camt052::{
    Document, Finding, Mode, ReadLimits, ReadOptions, WriteError, WriteOptions,
};

fn assert_same_back(document: &Document) {
    let xml = match document.to_xml() {
        Ok(xml) => xml,
        // Parts that tolerant reading may miss; everything else that was read can be written.
        Err(WriteError::Invalid { .. }) => return,
        Err(error) => panic!("{error:?}"),
    };
    let again = Document::parse(&xml).expect("what was written is readable");
    assert_eq!(&again.document, document);
    let options = WriteOptions::default().indent(2);
    let indented = document
        .to_xml_with(&options)
        .expect("what can be written compactly can be indented");
    assert_eq!(
        &Document::parse(&indented)
            .expect("what was indented is readable")
            .document,
        document
    );
    let mut json = String::new();
    document
        .write_json_string(&mut json)
        .expect("what can be written can be written into JSON");
    assert_eq!(
        serde_json::from_str::<String>(&json).expect("a JSON string"),
        xml
    );
}

/// An invented document is what the schema accepts, and checking it finds what reading it finds.
fn assert_valid(document: &Document) {
    let strict = ReadOptions::default()
        .mode(Mode::Strict)
        .limits(ReadLimits::default().max_findings(usize::MAX));
    let xml = document.to_xml().expect("an invented document is complete");
    let parsed = Document::parse_with(&xml, &strict).expect("an invented document is schema-valid");
    let facts = |findings: Vec<Finding>| {
        findings
            .into_iter()
            .map(|finding| (finding.kind, finding.path))
    };
    assert!(facts(document.check()).eq(facts(parsed.findings)));
}

fuzz_target!(|data: &[u8]| {
    let bytes = &*report(data);
    if let Ok(parsed) = Document::parse(bytes) {
        assert_same_back(&parsed.document);
    } else if let Ok(document) = Document::arbitrary(&mut Unstructured::new(data)) {
        assert_valid(&document);
        assert_same_back(&document);
    }
});
