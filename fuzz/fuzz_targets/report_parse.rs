//! Takes bytes. Reading a report never panics in either mode, and checking finds what strict
//! reading finds.

use bankrail_camt052::{Document, Finding, Mode, ReadLimits, ReadOptions};

fuzz_target!(|bytes: &[u8]| {
    let options = ReadOptions::default().limits(ReadLimits::default().max_findings(usize::MAX));
    let tolerant = Document::parse_with(bytes, &options);
    let options = options.mode(Mode::Strict);
    match (Document::parse_with(bytes, &options), tolerant) {
        (Ok(strict), Ok(tolerant)) => {
            assert_eq!(
                strict, tolerant,
                "the modes differ in what they refuse only"
            );
            // Checking the model finds what reading found: nothing of the schema, the same of
            // counts and sums.
            let kinds = |findings: Vec<Finding>| {
                findings
                    .into_iter()
                    .map(|finding| (finding.kind, finding.path))
            };
            assert!(kinds(strict.document.check()).eq(kinds(strict.findings)));
            assert_eq!(strict.document.check_schema(), None);
        }
        (Ok(_), Err(error)) => {
            panic!("strict reading accepted what tolerant reading refused: {error:?}")
        }
        (Err(_), Ok(tolerant)) => {
            assert!(!tolerant.findings.is_empty(), "refused without a finding")
        }
        (Err(_), Err(error)) => assert!(error.position().line > 0 && error.position().column > 0),
    }
});
