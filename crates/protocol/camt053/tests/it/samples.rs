//! The samples of camt.052, under the names of camt.053.

use crate::documents::{shared, strict};
use bankrail_camt053::{Document, FindingKind};

/// The same report as a statement.
fn as_statement(xml: &str) -> String {
    let mut statement = xml.replace("camt.052.001.06", "camt.053.001.06");
    for (report, statement_name) in [
        ("BkToCstmrAcctRpt>", "BkToCstmrStmt>"),
        ("Rpt>", "Stmt>"),
        ("RptPgntn>", "StmtPgntn>"),
        ("AddtlRptInf>", "AddtlStmtInf>"),
    ] {
        for mark in ["<", "</"] {
            statement = statement.replace(
                &format!("{mark}{report}"),
                &format!("{mark}{statement_name}"),
            );
        }
    }
    statement
}

#[test]
fn samples_are_read_as_statements() {
    let Some(folder) = shared("samples") else {
        return;
    };
    let (mut read, mut entries) = (0, 0);
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let Ok(xml) = std::fs::read_to_string(&path) else {
            continue;
        };
        let Ok(parsed) = Document::parse(as_statement(&xml)) else {
            continue;
        };
        let mut statements = parsed.document.statements.iter();
        if statements.any(|statement| statement.balances.is_empty()) {
            let missing = FindingKind::Missing { name: "Bal".into() };
            assert!(parsed.findings.iter().any(|found| found.kind == missing));
            continue;
        }
        let again = Document::parse_with(parsed.document.to_xml().unwrap(), &strict()).unwrap();
        assert_eq!(again.document, parsed.document, "{}", path.display());
        entries += parsed
            .document
            .statements
            .iter()
            .map(|statement| statement.entries.len())
            .sum::<usize>();
        read += 1;
    }
    assert!(
        read >= 8 && entries >= 40,
        "{read} samples with {entries} entries"
    );
}
