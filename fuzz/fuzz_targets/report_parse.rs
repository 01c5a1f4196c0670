//! Takes bytes, or an invented report and changes of its markup. Reading a report never panics in
//! either mode, checking finds what strict reading finds, and an unreadable entry may be kept.

use crate::invented::logged;
use crate::markup::report;
use bankrail_camt052::{Document, Finding, Mode, ReadLimits, ReadOptions};

fuzz_target!(|data: &[u8]| {
    let bytes = &*report(data);
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
        (Err(error), Ok(tolerant)) => {
            logged(&error);
            // Tolerant reading takes `xsi:nil="false"` for what it says.
            let is_nil = String::from_utf8_lossy(bytes).contains(":nil=");
            assert!(is_nil || !tolerant.findings.is_empty(), "refused without a finding");
            for finding in &tolerant.findings {
                assert!(!finding.to_string().contains(char::is_control));
                assert!(!finding.kind.to_string().is_empty() && !finding.path.is_empty());
            }
        }
        (Err(strict), Err(error)) => {
            logged(&strict);
            logged(&error);
            assert!(error.position().line > 0 && error.position().column > 0);
        }
    }
    let keeping = ReadOptions::default().keep_unreadable(true).deny_findings(true);
    if let Err(error) = Document::parse_with(bytes, &keeping) {
        logged(&error);
    }
});
