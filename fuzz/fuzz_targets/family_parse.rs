//! Takes a choice of message and version, and text as a document of it, whatever it names itself;
//! or the choices for an invented one. Strict and tolerant reading agree where both accept, what
//! was read is written back the same, in any other version nothing but what is reported is invalid,
//! and it is read alike where its message is not known.

use bankrail_camt::{
    AnyDocument, AnyReader, Finding, FindingKind, Mode, ReadLimits, ReadOptions, Version, WriteError, WriteOptions,
    notification, report, statement,
};
use bankrail_iso20022::__private::{
    self as engine, Invent, Message, Unstructured as Choices, invented,
};

/// The form of a message's name.
const NAME: &str = "camt.05x.001.xx";

/// For each message: its element, the element of a group, and those of a group's page and remarks.
const ELEMENTS: [[&str; 4]; 3] = [
    ["BkToCstmrAcctRpt", "Rpt", "RptPgntn", "AddtlRptInf"],
    ["BkToCstmrStmt", "Stmt", "StmtPgntn", "AddtlStmtInf"],
    ["BkToCstmrDbtCdtNtfctn", "Ntfctn", "NtfctnPgntn", "AddtlNtfctnInf"],
];

/// Makes the text one of a message and a version, whatever it is of.
fn relabelled(text: &str, message: usize, version: u8) -> String {
    let mut to = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("camt.05") {
        let (before, name) = rest.split_at(at);
        to.push_str(before);
        match name.get(..NAME.len()) {
            Some(known) if known.get(8..13) == NAME.get(8..13) => {
                to.push_str(&format!("camt.05{}.001.{version:02}", message + 2));
                rest = name.get(NAME.len()..).unwrap_or_default();
            }
            _ => {
                to.push_str("camt.05");
                rest = name.get("camt.05".len()..).unwrap_or_default();
            }
        }
    }
    to.push_str(rest);
    let own = ELEMENTS[message];
    for (from, own) in ELEMENTS.iter().flat_map(|from| from.iter().zip(own)) {
        if *from != own {
            for (start, end) in [("<", ">"), ("</", ">")] {
                to = to.replace(
                    &format!("{start}{from}{end}"),
                    &format!("{start}{own}{end}"),
                );
            }
        }
    }
    to
}

fn facts(findings: Vec<Finding>) -> Vec<(FindingKind, String)> {
    let facts = |finding: Finding| (finding.kind, finding.path);
    findings.into_iter().map(facts).collect()
}

fn options() -> ReadOptions {
    ReadOptions::default().limits(ReadLimits::default().max_findings(usize::MAX))
}

fn strict() -> ReadOptions {
    options().mode(Mode::Strict)
}

fn judge_text<M: Message>(text: &str) -> Option<M> {
    let read = |options| engine::parse::<M>(text.as_bytes(), &options);
    match (read(strict()), read(options())) {
        (Ok(strict), Ok(tolerant)) => {
            assert!(
                strict == tolerant,
                "the modes differ in what they refuse only"
            );
            let checked = facts(engine::check(&strict.document));
            assert_eq!(checked, facts(strict.findings));
            Some(strict.document)
        }
        (Err(_), Ok(tolerant)) => {
            let findings = &tolerant.findings;
            assert!(findings.iter().any(|finding| finding.kind.is_schema()));
            Some(tolerant.document)
        }
        (Ok(_), Err(error)) => panic!("only tolerant reading refused: {error:?}"),
        (Err(_), Err(_)) => None,
    }
}

/// A document of any message is read like one whose message is known, and becomes a report of the
/// same content: that of its own markup under a report's names.
fn judge_any(text: &str, message: usize) {
    let Ok(read) = AnyDocument::parse_with(text.as_bytes(), &options()) else {
        return;
    };
    let report = read.document.into_report_document();
    let mut reader = AnyReader::new(text.as_bytes(), options());
    let (mut entries, mut header) = (Vec::new(), None);
    let read_whole = loop {
        match reader.next_item() {
            Ok(Some(report::StreamItem::Entry(entry))) => entries.push(*entry),
            Ok(Some(report::StreamItem::Start(_))) => header = reader.header().cloned(),
            Ok(Some(_)) => {}
            Ok(None) => break true,
            Err(_) => break false,
        }
    };
    if read_whole {
        let own = report.reports.iter().flat_map(|report| &report.entries);
        assert!(own.eq(&entries), "{text}");
        assert!(header.is_none() || header == report.group_header, "{text}");
        assert_eq!(reader.documents(), 1);
        let name = reader.message().expect("a document was read");
        assert!(name.starts_with(&format!("camt.05{}.001.", message + 2)), "{name}");
    }
    let is_own = |finding: &Finding| !finding.kind.is_schema();
    if !read.findings.iter().all(is_own) || text.matches("camt.05").count() != 1 {
        return;
    }
    let version = text.split_once(".001.").and_then(|(_, rest)| rest.get(..2)?.parse().ok());
    let named = relabelled(text, 0, version.expect("a version"));
    let named = engine::parse::<report::Document>(named.as_bytes(), &options());
    assert!(named.expect("a report").document == report, "{text}");
}

fn judge_document<M: Message>(document: &M, message: usize, version: u8) {
    let options = WriteOptions::default().incomplete(true);
    let xml = engine::to_xml(document, &options).expect("what was read can be written");
    let again = ReadOptions::default().keep_unreadable(true);
    let again = engine::parse::<M>(xml.as_bytes(), &again).expect("what was written is readable");
    assert!(again.document == *document, "written and read again: {xml}");

    judge_any(&xml, message);

    let there = match engine::to_version(document, Version::new(version)) {
        Ok(there) => there,
        // A part is missing that the model cannot do without.
        Err(WriteError::Unfaithful { why: Some(_) }) => return,
        Err(error) => panic!("{error:?}"),
    };
    use FindingKind::{UnexpectedText, UnknownAttribute, UnknownElement};
    let mut stays = facts(there.findings);
    stays.retain(|(kind, _)| {
        let is_lost = matches!(
            kind,
            UnknownElement { .. } | UnknownAttribute { .. } | UnexpectedText { .. }
        );
        kind.is_schema() && !is_lost
    });
    let mut left = facts(engine::check(&there.document));
    left.retain(|(kind, _)| kind.is_schema());
    assert_eq!(left, stays, "what is reported and not left out stays");
    let written = engine::to_xml(&there.document, &options).expect("it can be written");
    let read = engine::parse::<M>(written.as_bytes(), &strict());
    assert_eq!(
        read.is_ok(),
        stays.is_empty(),
        "{:?}: {written}",
        read.err()
    );
}

fn judge<M: Message + Invent>(text: &str, message: usize, from: u8, to: u8) {
    let document = judge_text::<M>(text).or_else(|| {
        let mut choices = Choices::new(text.as_bytes());
        invented::<M>(&mut choices, Version::new(from)).ok()
    });
    if let Some(document) = document {
        judge_document(&document, message, to);
    }
}

fuzz_target!(|input: (u8, u8, &str)| {
    let (message, versions, text) = input;
    let (from, to) = (2 + versions % 8, 2 + versions / 8 % 7);
    let message = usize::from(message % 3);
    let text = relabelled(text, message, from);
    match message {
        0 => judge::<report::Document>(&text, message, from, to),
        1 => judge::<statement::Document>(&text, message, from, to),
        _ => judge::<notification::Document>(&text, message, from, to),
    }
});
