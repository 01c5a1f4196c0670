//! Checking a document reports the same as strict reading of the written document, and every
//! document that was read can be written.

use crate::both_readers::mutated;
use crate::findings::document;
use crate::invented::{bytes, numbered, strict};
use crate::mutate::mutate;
use crate::types::types;
use bankrail_camt052::{
    Document, Finding, FindingKind, Parsed, ReadErrorKind, WriteError, WriteOptions,
};

const ENTRY: &str =
    r#"<Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>"#;

/// The number of documents that are changed, unless the environment sets it.
const CHANGED: u64 = 400;

fn kinds(findings: &[Finding]) -> Vec<(FindingKind, String)> {
    findings
        .iter()
        .map(|finding| (finding.kind.clone(), finding.path.clone()))
        .collect()
}

/// Writes a document that was read, which is always possible, and compares its check with strict
/// reading of the written text. Returns false if the document is not written by default, because
/// something is missing.
pub(crate) fn assert_checked_as_read(parsed: &Parsed, name: &str) -> bool {
    let written = parsed
        .document
        .to_xml_with(&WriteOptions::default().incomplete(true));
    let written = written.unwrap_or_else(|error| panic!("{error}\n{name}"));
    let (read, refused) = match Document::parse_with(&written, &strict()) {
        Ok(again) => (again.findings, false),
        Err(error) => {
            assert!(
                matches!(error.kind(), ReadErrorKind::Refused(_)),
                "{name}: {error}\n{written}"
            );
            (error.findings().to_vec(), true)
        }
    };
    let checked = parsed.document.check();
    assert_eq!(kinds(&checked), kinds(&read), "{name}\n{written}");
    assert_eq!(
        checked.iter().any(|finding| finding.kind.is_schema()),
        refused,
        "{name}"
    );
    assert_eq!(
        parsed.document.check_schema(),
        checked.into_iter().find(|finding| finding.kind.is_schema()),
        "{name}"
    );
    match parsed.document.to_xml() {
        Ok(xml) => {
            assert_eq!(xml, written);
            true
        }
        Err(WriteError::Invalid { .. }) => false,
        Err(error) => panic!("{name}: {error}"),
    }
}

#[test]
fn checking_says_what_strict_reading_of_the_written_document_says() {
    let Some(types) = types() else { return };
    let count = std::env::var("BANKRAIL_DOCUMENTS").map_or(CHANGED, |count| count.parse().unwrap());
    let (mut compared, mut found) = (0, 0);
    for seed in 0..count {
        let mut xml = numbered(seed).to_xml().unwrap();
        // One to three changes of elements and values, and perhaps one of bytes.
        for change in 0..=seed % 3 {
            if roxmltree::Document::parse(&xml).is_ok() {
                xml = mutate(&xml, seed * 4 + change, &types);
            }
        }
        if seed % 4 == 3 {
            let place = bytes(seed, 8)
                .into_iter()
                .fold(0_usize, |place, byte| place * 251 + usize::from(byte));
            xml = mutated(&xml, place, usize::try_from(seed).unwrap());
        }
        let Ok(parsed) = Document::parse(&xml) else {
            continue;
        };
        if assert_checked_as_read(&parsed, &format!("{seed}\n{xml}")) {
            compared += 1;
            found += u64::from(!parsed.document.check().is_empty());
        }
    }
    assert!(
        compared > count / 3 && found > count / 8,
        "{compared} compared, {found} with findings"
    );
}

#[test]
fn what_stands_beside_the_schema_is_checked_at_its_place() {
    let dates = "<BookgDt><Dt>2021-07-29</Dt><DtTm>2021-07-29T10:00:00</DtTm></BookgDt><BkTxCd/>";
    let lines = format!(
        "<Strd>{}</Strd>",
        "<AddtlRmtInf>&lt;a&gt;</AddtlRmtInf>".repeat(5)
    );
    let details = format!(
        "<BkTxCd/><NtryDtls><TxDtls><Amt Ccy=\"AUD\">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><RmtInf>{lines}</RmtInf>\
         </TxDtls></NtryDtls>"
    );
    let entry = "/Document/BkToCstmrAcctRpt/Rpt[1]/Ntry[1]";
    let remittance = format!("{entry}/NtryDtls[1]/TxDtls[1]/RmtInf/Strd[1]");
    for (odd, expected) in [
        (
            ENTRY.replace("<Sts>", "<Sts>INFO</Sts><Sts>"),
            vec![("expected Sts at most 1 times", format!("{entry}/Sts"))],
        ),
        (
            ENTRY.replace("<BkTxCd/>", dates),
            vec![(
                "expected one alternative, found DtTm",
                format!("{entry}/BookgDt/DtTm"),
            )],
        ),
        (
            ENTRY.replace("<Sts>", "<Own/><Sts>"),
            vec![("the schema has no element Own here", format!("{entry}/Own"))],
        ),
        (
            ENTRY.replace("<Sts>", "<Sts own='1'>"),
            vec![("the schema has no attribute own", format!("{entry}/Sts"))],
        ),
        (
            ENTRY.replace("<Sts>BOOK", "<Sts>a &lt; \"b\""),
            vec![("INFO, found \"a < \\\"b\\\"\"", format!("{entry}/Sts"))],
        ),
        (
            ENTRY.replace("<BkTxCd/>", &details),
            vec![
                (
                    "expected AddtlRmtInf at most 3 times",
                    format!("{remittance}/AddtlRmtInf[4]"),
                ),
                (
                    "expected AddtlRmtInf at most 3 times",
                    format!("{remittance}/AddtlRmtInf[5]"),
                ),
            ],
        ),
    ] {
        let parsed = Document::parse(document("", &odd)).unwrap();
        assert!(assert_checked_as_read(&parsed, &odd));
        let checked = parsed.document.check();
        assert_eq!(kinds(&checked), kinds(&parsed.findings), "{odd}");
        assert_eq!(checked.len(), expected.len(), "{checked:?}");
        for (finding, (kind, path)) in checked.iter().zip(&expected) {
            assert!(
                finding.kind.to_string().contains(kind) && finding.path == *path,
                "{finding}"
            );
        }
    }
}

#[test]
fn text_in_pieces_keeps_its_blanks() {
    for odd in [
        " >",
        "\n&gt;",
        " <!--c-->b",
        "<?p?>\t<!--c--> <![CDATA[b]]> ",
        "\r\n&#13;x",
        " <!--c--> <x/> y",
    ] {
        let parsed = Document::parse(document("", &format!("{ENTRY}{odd}{ENTRY}"))).unwrap();
        assert!(assert_checked_as_read(&parsed, odd));
        let texts: Vec<&str> = parsed.document.reports[0]
            .extras
            .parts()
            .iter()
            .filter_map(|extra| match &extra.part {
                bankrail_camt052::ExtraPart::Text(text) => Some(&**text),
                _ => None,
            })
            .collect();
        let plain = odd
            .replace("&gt;", ">")
            .replace("<!--c-->", "")
            .replace("<?p?>", "")
            .replace("\r\n", "\n");
        let plain = plain
            .replace("<![CDATA[b]]>", "b")
            .replace("&#13;", "\r")
            .replace("  <x/>", "");
        assert_eq!(texts.concat().trim_end(), plain.trim_end(), "{odd:?}");
    }
}

/// `xsi:type` is kept as it stands, whichever type it names, and refused when it is read again.
#[test]
fn a_type_stated_in_the_document_can_be_written() {
    let xsi = "http://www.w3.org/2001/XMLSchema-instance";
    for (declared, stated) in [
        ("", "EntryStatus2Code"),
        (" xmlns='urn:x'", "EntryStatus2Code"),
        ("", "q:EntryStatus2Code"),
        (" xmlns:q='urn:x'", "q:EntryStatus2Code"),
        ("", "Max35Text"),
        ("", ":EntryStatus2Code"),
        ("", "a:EntryStatus2Code"),
        (
            " xmlns='urn:iso:std:iso:20022:tech:xsd:camt.052.001.06'",
            "EntryStatus2Code",
        ),
    ] {
        let xml = document("", ENTRY)
            .replace("</", "\u{1}")
            .replace('<', "<a:")
            .replace('\u{1}', "</a:");
        let xml = xml.replace(" xmlns=", &format!(" xmlns:i='{xsi}'{declared} xmlns:a="));
        let xml = xml.replace("<a:Sts>", &format!("<a:Sts i:type=\"{stated}\">"));
        let parsed = Document::parse(&xml).unwrap_or_else(|error| panic!("{error}\n{xml}"));
        assert_eq!(parsed.findings.len(), 1, "{stated}");
        assert!(assert_checked_as_read(&parsed, stated));
    }
}
