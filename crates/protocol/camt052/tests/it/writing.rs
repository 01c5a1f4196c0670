//! Guarantees of writing besides the round trip.

use crate::findings::document;
use bankrail_camt052::{
    AccountIdentification, Document, Envelope, FindingKind, WriteError, WriteOptions,
};

#[test]
fn indented_and_compact_are_the_same_document() {
    let entry = r#"<Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>"#;
    let read = Document::parse(document("", entry)).unwrap().document;
    let options = WriteOptions::default().indent(2);
    let indented = read.to_xml_with(&options).unwrap();
    assert!(
        indented.contains("\n      <Ntry>\n        <Amt Ccy=\"AUD\">5.00</Amt>\n"),
        "{indented}"
    );
    assert_eq!(Document::parse(&indented).unwrap().document, read);
    let mut sink = Vec::new();
    read.write_to(&mut sink, &options).unwrap();
    assert_eq!(sink, indented.as_bytes());
}

#[test]
fn missing_parts_and_forbidden_characters_are_errors() {
    let mut read = Document::parse(document("", "")).unwrap().document;
    read.reports[0].additional_information = Some("\u{0}".into());
    assert!(matches!(
        read.to_xml(),
        Err(WriteError::Character { found: '\0' })
    ));
    let mut json = String::from("kept");
    assert!(read.write_json_string(&mut json).is_err());
    assert_eq!(json, "kept");
    read.reports[0].created_at = None;
    let error = read.to_xml().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("/Document/BkToCstmrAcctRpt/Rpt[1]: expected CreDtTm"),
        "{error}"
    );
    read.reports.clear();
    assert!(read.to_xml().is_err());
}

#[test]
fn schema_valid_writing_refuses_what_strict_reading_refuses() {
    let mut read = Document::parse(document("", "")).unwrap().document;
    let options = WriteOptions::default().schema_valid(true);
    assert!(read.to_xml_with(&options).is_ok());
    read.reports[0].additional_information = Some("".into());
    assert!(read.to_xml().is_ok());
    assert!(matches!(
        read.to_xml_with(&options),
        Err(WriteError::Invalid { .. })
    ));
}

#[test]
fn what_would_not_be_read_back_is_refused() {
    let data = "<SplmtryData><Envlp><a xmlns=\"urn:a\"/></Envlp></SplmtryData></BkToCstmrAcctRpt>";
    let entry = r#"<Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>"#;
    let xml = document("", &format!("{entry}<Foo/>")).replace("</BkToCstmrAcctRpt>", data);
    let read = Document::parse(xml).unwrap().document;
    assert!(read.to_xml().is_ok());
    let refused = |change: fn(&mut Document)| {
        let mut changed = read.clone();
        change(&mut changed);
        let mut json = String::new();
        assert!(changed.write_json_string(&mut json).is_err() && json.is_empty());
        let mut sink = Vec::new();
        assert!(
            changed
                .write_to(&mut sink, &WriteOptions::default())
                .is_err()
                && sink.is_empty()
        );
        match changed.to_xml() {
            Err(WriteError::Unfaithful { why }) => why.is_some(),
            other => panic!("{other:?}"),
        }
    };
    assert!(refused(|document| document.supplementary_data[0]
        .envelope =
        Envelope::from_unchecked_xml("<p:a/>")));
    assert!(refused(|document| {
        document.supplementary_data[0].envelope =
            Envelope::from_unchecked_xml("</Envlp></SplmtryData><Rpt/>");
    }));
    // A choice without any alternative.
    assert!(refused(
        |document| document.reports[0].account.id = AccountIdentification::Unknown
    ));
    // A part that stood after an entry that was removed.
    assert!(!refused(|document| document.reports[0].entries.clear()));
    let mut empty = read.clone();
    empty.supplementary_data[0].envelope = Envelope::from_unchecked_xml("");
    assert!(empty.to_xml().is_ok(), "tolerant, as reading is");
    // What XML cannot carry is not taken for white space.
    for xml in [
        "<a xmlns=\"urn:a\">\u{1}</a>",
        "<Document>\u{1}<BkToCstmrAcctRpt/></Document>",
    ] {
        empty.supplementary_data[0].envelope = Envelope::from_unchecked_xml(xml);
        assert!(matches!(empty.to_xml(), Err(WriteError::Unfaithful { .. })));
        let found = empty.check();
        assert!(
            found
                .iter()
                .any(|finding| finding.kind == FindingKind::Character { found: '\u{1}' }),
            "{found:?}"
        );
        assert_eq!(
            empty.check_schema(),
            found.into_iter().find(|finding| finding.kind.is_schema())
        );
    }
}
