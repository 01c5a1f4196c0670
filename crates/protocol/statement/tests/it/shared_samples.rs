//! The published sample documents, received in an answer: deviations are tolerated and reported.

use crate::support::received;
use bankrail_camt052::AccountIdentification;
use bankrail_statement::{EntryIdentity, EntryKey, ReceivedNextPage, StatementRequest};
use std::collections::HashSet;
use std::path::PathBuf;

#[test]
fn published_samples_are_read() {
    let Ok(folder) = std::env::var("BANKRAIL_SHARED") else {
        println!("BANKRAIL_SHARED not set: skipped");
        return;
    };
    let folder = PathBuf::from(folder).join("samples");
    let mut files = 0;
    for file in
        std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
    {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.extension().is_none_or(|extension| extension != "xml") {
            continue;
        }
        files += 1;
        let mut statement = received(
            &std::fs::read_to_string(&path).unwrap(),
            &ReceivedNextPage::None,
        );
        let read = statement.document();
        if name.starts_with("05-") {
            assert!(read.is_err(), "{name} is not well-formed");
            continue;
        }
        let read = read.unwrap_or_else(|error| panic!("{name}: {error}"));
        if name.contains("summary-disagrees") {
            assert!(
                !read.findings.is_empty(),
                "{name}: the summary's contradictions are reported"
            );
        }
        let request = StatementRequest::new(&crate::support::account());
        let mut accounts = read
            .document
            .reports
            .iter()
            .map(|report| &report.account.id);
        let other = accounts.any(
            |id| matches!(id, AccountIdentification::Other(other) if other.id.as_str() != request.account_id()),
        );
        assert_eq!(
            statement.check_document(&read.document, &request).is_err(),
            other,
            "{name}"
        );
        // No two entries of a document have the same reference of the bank.
        let entries: Vec<_> = read
            .document
            .reports
            .iter()
            .flat_map(|report| &report.entries)
            .collect();
        let named: Vec<EntryIdentity> = entries
            .iter()
            .map(|entry| EntryIdentity::of(entry))
            .filter(|identity| identity.has_reference)
            .collect();
        let keys: HashSet<EntryKey> = named.iter().map(|identity| identity.key).collect();
        assert_eq!(keys.len(), named.len(), "{name}");
        println!("{name}: {} entries, {} named", entries.len(), named.len());
    }
    assert!(files >= 10, "{files} samples");
}
