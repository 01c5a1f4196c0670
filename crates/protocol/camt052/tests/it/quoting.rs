//! Errors and findings quote little of a document, and nothing that could forge a line of a log.

use crate::findings::document;
use bankrail_camt052::{Document, Finding, FindingKind, ReadError, ReadErrorKind, ReadOptions};
use std::collections::HashSet;
use std::error::Error;
use std::fmt::Write as _;
use std::mem::discriminant;

const ENTRY: &str =
    r#"<Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>"#;

/// The maximum length of an error text, which quotes at most two names of 40 characters each.
const MOST: usize = 400;

fn assert_short(text: &str) {
    assert!(
        text.chars().count() <= MOST,
        "{} characters: {}",
        text.chars().count(),
        text.chars().take(MOST).collect::<String>()
    );
    assert!(!text.chars().any(char::is_control), "{text:?}");
}

fn assert_finding(finding: &Finding) {
    assert_short(&finding.to_string());
    assert_short(&format!("{:?}", finding.kind));
}

fn assert_error(error: &ReadError) {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        write!(text, ": {inner}").unwrap();
        cause = inner.source();
    }
    assert_short(&text);
    assert_short(&format!("{:?}", error.kind()));
    error.findings().iter().for_each(assert_finding);
}

#[test]
fn errors_quote_little_of_a_document() {
    let good = document("", ENTRY);
    // Names may be long, values may hold line feeds, too.
    let name = "n".repeat(100_000);
    let value = format!("v&#10;forged line{}", "v".repeat(100_000));
    let mut kinds = HashSet::new();
    for xml in [
        good.replacen("xmlns=\"urn", &format!("xmlns=\"{value}&#10;urn"), 1),
        good.replacen(
            "camt.052.001.06",
            &format!("camt.052&#10;.001.06{}", "\u{1F44D}".repeat(60)),
            1,
        ),
        good.replace("Document", &name),
        good.replacen("<Ntry>", &format!("<Ntry>&{name};"), 1),
        good.replacen("<Ntry>", &format!("<Ntry><{name}>"), 1),
        good.replacen("<Ntry>", &format!("<Ntry></{name}>"), 1),
        good.replacen("<Ntry>", &format!("<Ntry><x></x\n{name}>"), 1),
        good.replacen("<Ntry>", &format!("<Ntry><{name}:x/>"), 1),
        good.replacen("<Ntry>", &format!("<Ntry {name}:x=''>"), 1),
        good.replacen("<Ntry>", &format!("<Ntry {name}='' {name}=''>"), 1),
        good.replacen(
            "<Ntry>",
            &format!("<Ntry xmlns:a='u' xmlns:b='u' a:{name}='' b:{name}=''>"),
            1,
        ),
        good.replacen("<Ntry>", &format!("<Ntry><?{name}{name} ?><?xml?>"), 1),
        good.replacen("5.00", &value, 1),
        format!("<?xml version='1.0' {name}=''?>{good}"),
        format!(
            "<?xml version='1.0' encoding='{}&#10;forged'?>{good}",
            "e".repeat(200)
        ),
        format!("<{name}/></{name}>"),
        format!("</{name}>"),
        format!("<{name}"),
    ] {
        // Reads bytes, because a text may declare any encoding.
        let error = Document::parse(xml.as_bytes())
            .map(|parsed| panic!("{:.500}", format!("{parsed:?}")))
            .unwrap_err();
        kinds.insert(discriminant(error.kind()));
        assert_error(&error);
    }
    assert_eq!(
        kinds.len(),
        6,
        "namespace, root, entity, malformed, unreadable, encoding"
    );
}

#[test]
fn findings_quote_little_of_a_document() {
    let name = "n".repeat(100_000);
    let value = format!("v&#10;forged line{}", "v".repeat(100_000));
    let total = format!(
        "<TtlNtriesPerBkTxCd><NbOfNtries>7</NbOfNtries><BkTxCd><Domn><Cd>{value}</Cd><Fmly><Cd>{value}</Cd>\
                         <SubFmlyCd>{value}</SubFmlyCd></Fmly></Domn>\
                         <Prtry><Cd>{value}</Cd><Issr>{value}</Issr></Prtry></BkTxCd>\
                         </TtlNtriesPerBkTxCd>"
    );
    let odd = ENTRY
        .replace(
            "<Ntry>",
            &format!("<Ntry {name}='' xmlns:x='u' x:{name}=''>{value}<{name}/><x:{name}/>"),
        )
        .replace("AUD", &value)
        .replace("BOOK", &value)
        .replace("CRDT", &value);
    let xml = document(&format!("<TxsSummry>{total}</TxsSummry>"), &odd);
    let xml = xml.replace("<Ccy>AUD", &format!("<Ccy>{value}x"));
    let parsed = Document::parse(&xml).unwrap();
    let names = |findings: &[Finding]| {
        findings
            .iter()
            .map(|finding| discriminant(&finding.kind))
            .collect::<HashSet<_>>()
    };
    parsed.findings.iter().for_each(assert_finding);
    assert!(names(&parsed.findings).len() >= 7, "{:?}", parsed.findings);
    let checked = parsed.document.check();
    checked.iter().for_each(assert_finding);
    assert_eq!(names(&checked), names(&parsed.findings));
    let strict = ReadOptions::default().deny_findings(true);
    let error = Document::parse_with(&xml, &strict).unwrap_err();
    assert!(matches!(error.kind(), ReadErrorKind::Refused(_)));
    assert_error(&error);
}

/// Short names and codes are quoted unchanged.
#[test]
fn what_is_short_is_quoted_as_it_is() {
    let found = Document::parse(document("", "<Foo/>")).unwrap().findings;
    assert_eq!(
        found[0].kind,
        FindingKind::UnknownElement {
            name: "Foo".to_owned()
        }
    );
    let other = document("", "").replace("camt.052.001.06", "camt.053.001.02");
    let error = Document::parse(other).unwrap_err();
    let ReadErrorKind::WrongNamespace { found, .. } = error.kind() else {
        panic!("{error:?}")
    };
    assert_eq!(found, "urn:iso:std:iso:20022:tech:xsd:camt.053.001.02");
}
