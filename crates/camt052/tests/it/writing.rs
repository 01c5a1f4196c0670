//! What writing guarantees beside the round trip.

use crate::findings::document;
use bankrail_camt052::{Document, WriteError, WriteOptions};

#[test]
fn indented_and_compact_are_the_same_document() {
    let entry = r#"<Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>"#;
    let read = Document::parse(document("", entry)).unwrap().document;
    let mut options = WriteOptions::default();
    options.indent = Some(2);
    let indented = read.to_xml_with(options).unwrap();
    assert!(indented.contains("\n      <Ntry>\n        <Amt Ccy=\"AUD\">5.00</Amt>\n"), "{indented}");
    assert_eq!(Document::parse(&indented).unwrap().document, read);
    let mut sink = Vec::new();
    read.write_to(&mut sink, options).unwrap();
    assert_eq!(sink, indented.as_bytes());
}

#[test]
fn missing_parts_and_forbidden_characters_are_errors() {
    let mut read = Document::parse(document("", "")).unwrap().document;
    read.reports[0].additional_information = Some("\u{0}".into());
    assert!(matches!(read.to_xml(), Err(WriteError::Character { found: '\0' })));
    let mut json = String::from("kept");
    assert!(read.write_json_string(&mut json).is_err());
    assert_eq!(json, "kept");
    read.reports[0].created_at = None;
    let error = read.to_xml().unwrap_err();
    assert!(error.to_string().ends_with("/Document/BkToCstmrAcctRpt/Rpt[1]"), "{error}");
    read.reports.clear();
    assert!(read.to_xml().is_err());
}

#[test]
fn schema_valid_writing_refuses_what_strict_reading_refuses() {
    let mut read = Document::parse(document("", "")).unwrap().document;
    let mut options = WriteOptions::default();
    options.schema_valid = true;
    assert!(read.to_xml_with(options).is_ok());
    read.reports[0].additional_information = Some("".into());
    assert!(read.to_xml().is_ok());
    assert!(matches!(read.to_xml_with(options), Err(WriteError::Invalid { .. })));
}
