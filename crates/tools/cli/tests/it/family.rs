//! The messages beside camt.052.001.06: the same entries in a camt.053 and a camt.054, and several
//! documents in one file.

use crate::documents::three;
use crate::{Folder, run};

/// Returns the report as another message in version 08.
fn as_message(number: &str, root: &str, group: &str) -> String {
    let mut xml = three().replace("camt.052.001.06", &format!("camt.{number}.001.08"));
    for (from, to) in [
        ("BkToCstmrAcctRpt>", format!("{root}>")),
        ("Rpt>", format!("{group}>")),
        ("<Sts>", "<Sts><Cd>".to_owned()),
        ("</Sts>", "</Cd></Sts>".to_owned()),
        ("<Dbtr>", "<Dbtr><Pty>".to_owned()),
        ("</Dbtr>", "</Pty></Dbtr>".to_owned()),
        ("<Cdtr>", "<Cdtr><Pty>".to_owned()),
        ("</Cdtr>", "</Pty></Cdtr>".to_owned()),
    ] {
        xml = xml.replace(from, &to);
    }
    if number == "054" {
        let (before, rest) = xml.split_once("<Bal>").unwrap();
        let (_, after) = rest.rsplit_once("</Bal>").unwrap();
        xml = format!("{before}{after}");
    }
    xml
}

#[test]
fn statements_and_notifications_of_version_08_are_read_as_reports_are() {
    let folder = Folder::new();
    let report = folder.file("r.xml", three());
    let csv = |file: &str| run(["statement", "csv", file]).fine();
    for (number, root, group) in [
        ("052", "BkToCstmrAcctRpt", "Rpt"),
        ("053", "BkToCstmrStmt", "Stmt"),
        ("054", "BkToCstmrDbtCdtNtfctn", "Ntfctn"),
    ] {
        let file = folder.file(&format!("{number}.xml"), as_message(number, root, group));
        assert_eq!(
            run(["statement", "check", "--strict", &file]).fine(),
            format!("{file}: 1 report, 3 entries, no findings\n")
        );
        assert_eq!(csv(&file), csv(&report).replace(&report, &file), "{number}");
        let shown = run(["statement", "show", &file]).fine();
        for expected in ["JANE CITIZEN", "+25.00 AUD", "-12.50", "BOOK"] {
            assert!(shown.contains(expected), "{expected}\n{shown}");
        }
        let page = run(["statement", "html", &file]).fine();
        assert!(page.contains("JANE CITIZEN"), "{page}");
        let refused = run(["statement", "merge", &file, &report]);
        assert_eq!(refused.status, 1, "{}", refused.err);
        let expected = format!("expected a camt.052.001.06, found a camt.{number}.001.08");
        assert!(refused.err.contains(&expected), "{}", refused.err);
    }
}

/// An application header and its document in an envelope, and a document after it.
#[test]
fn the_documents_of_one_file_are_read_one_after_another() {
    let folder = Folder::new();
    let statement = as_message("053", "BkToCstmrStmt", "Stmt");
    let root = statement.find("<Document").unwrap();
    let header = "<AppHdr><MsgDefIdr>camt.053.001.02</MsgDefIdr></AppHdr>";
    let one = format!("<Body>{header}{}</Body>", statement[root..].trim());
    let file = folder.file("two.xml", format!("{one}\n{}", three()));
    let checked = run(["statement", "check", &file]);
    assert_eq!(checked.status, 1);
    let column = one.find("<Document").unwrap() + 1;
    assert_eq!(
        checked.out,
        format!(
            "{file}:1:{column}: /Document: expected camt.053.001.02, which the application header names, found \
             camt.053.001.08\n{file}: 2 documents, 2 reports, 6 entries, 1 finding\n"
        )
    );
    let shown = run(["statement", "show", &file]).fine();
    assert_eq!(shown.matches("BOOK").count(), 6, "{shown}");
    assert_eq!(
        shown.matches("document   2, a camt.052.001.06\n").count(),
        1
    );
    let csv = run(["statement", "csv", &file]).fine();
    assert_eq!(csv.lines().count(), 7, "{csv}");
    let page = run(["statement", "html", &file]).fine();
    assert!(page.matches("JANE CITIZEN").count() >= 2);
    let twice = folder.file("twice.xml", three() + &three());
    let refused = run(["statement", "merge", &twice]);
    assert_eq!(refused.status, 1);
    let expected = "expected one document, found several";
    assert!(refused.err.contains(expected), "{}", refused.err);
}
