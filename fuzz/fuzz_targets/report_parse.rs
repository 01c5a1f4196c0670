//! Octets in: reading never panics, in either mode, and what strict reading accepts the checker accepts too.

#![no_main]

use bankrail_camt052::{Document, Mode, ReadOptions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let tolerant = Document::parse(octets);
    let mut options = ReadOptions::default();
    options.mode = Mode::Strict;
    match (Document::parse_with(octets, &options), tolerant) {
        (Ok(strict), Ok(tolerant)) => {
            assert_eq!(strict, tolerant, "the modes differ in what they refuse only");
            assert_eq!(strict.document.check(), [], "strict reading accepted what the schema refuses");
        }
        (Ok(_), Err(error)) => panic!("strict reading accepted what tolerant reading refused: {error:?}"),
        (Err(_), Ok(tolerant)) => assert!(!tolerant.findings.is_empty(), "refused without a finding"),
        (Err(_), Err(error)) => assert!(error.line() > 0 && error.column() > 0),
    }
});
