//! What has been read and can be written is read again as the same document, compact, indented and out of a JSON string.

#![no_main]

use bankrail_camt052::{Document, WriteError, WriteOptions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let Ok(parsed) = Document::parse(octets) else { return };
    let xml = match parsed.document.to_xml() {
        Ok(xml) => xml,
        // Parts that tolerant reading may miss; everything else that was read can be written.
        Err(WriteError::Invalid { .. }) => return,
        Err(error) => panic!("{error:?}"),
    };
    let again = Document::parse(&xml).expect("what was written is readable");
    assert_eq!(again.document, parsed.document);
    let mut options = WriteOptions::default();
    options.indent = Some(2);
    let indented = parsed.document.to_xml_with(options).expect("what can be written compactly can be indented");
    assert_eq!(Document::parse(&indented).expect("what was indented is readable").document, parsed.document);
    let mut json = String::new();
    parsed.document.write_json_string(&mut json).expect("what can be written can be written into JSON");
    assert_eq!(serde_json::from_str::<String>(&json).expect("a JSON string"), xml);
});
