//! Unreadable parts: those that reading does without, those that it keeps as markup, and the places
//! where it continues.

use crate::checking::assert_checked_as_read;
use crate::findings::document;
use crate::tree::Slowly;
use bankrail_camt052::{
    Document, EntryReader, ExtraPart, Finding, FindingKind, LimitKind, Mode, Parsed, ReadErrorKind,
    ReadLimits, ReadOptions, StreamItem, WriteError, WriteOptions,
};

const ENTRY: &str =
    r#"<Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>"#;
const REPORT: &str = "/Document/BkToCstmrAcctRpt/Rpt[1]";

fn kinds(findings: &[Finding]) -> Vec<(String, String)> {
    findings
        .iter()
        .map(|finding| (finding.kind.to_string(), finding.path.clone()))
        .collect()
}

/// Reads tolerantly, whole, in pieces and part by part; strict reading refuses the same.
fn tolerant(xml: &str) -> Parsed {
    let parsed = Document::parse(xml).unwrap_or_else(|error| panic!("{error}\n{xml}"));
    assert!(!parsed.findings.is_empty(), "{xml}");
    for piece in [1, 7, 4096] {
        let source = Slowly {
            bytes: xml.as_bytes(),
            piece,
        };
        assert_eq!(
            Document::read_with(source, &ReadOptions::default()).unwrap(),
            parsed
        );
        assert!(
            EntryReader::new(
                Slowly {
                    bytes: xml.as_bytes(),
                    piece
                },
                ReadOptions::default()
            )
            .all(|part| part.is_ok()),
            "{xml}"
        );
    }
    let strict = ReadOptions::default().mode(Mode::Strict);
    let refused = Document::parse_with(xml, &strict).unwrap_err();
    assert_eq!(kinds(refused.findings()), kinds(&parsed.findings));
    let written = parsed
        .document
        .to_xml_with(&WriteOptions::default().incomplete(true))
        .unwrap();
    assert_eq!(
        Document::parse(&written).unwrap().document,
        parsed.document,
        "{written}"
    );
    assert_checked_as_read(&parsed, xml);
    parsed
}

#[test]
fn amounts_with_more_digits_than_the_schema_has_are_read_and_reported() {
    for (amount, plain) in [
        ("10.0000000000001", "10.0000000000001"),
        ("0.000000000000000001", "0.000000000000000001"),
        (
            "1234567890123456789012345.67",
            "1234567890123456789012345.67",
        ),
        ("+10.1234567", "10.1234567"),
        (" 0010.1234567\n", "10.1234567"),
        ("+.1234567", "0.1234567"),
    ] {
        let xml = document("", &ENTRY.replace("5.00", amount));
        let parsed = tolerant(&xml);
        assert_eq!(
            parsed.document.reports[0].entries[0]
                .amount
                .value()
                .to_string(),
            plain
        );
        let kind = &parsed.findings[0].kind;
        assert!(
            matches!(kind, FindingKind::Pattern { found, .. } if *found == format!("{plain:?}")),
            "{kind}"
        );
        assert_eq!(parsed.findings[0].path, format!("{REPORT}/Ntry[1]/Amt"));
        assert!(parsed.document.to_xml().unwrap().contains(plain));
        // A check of the model quotes what reading quotes.
        assert_eq!(kinds(&parsed.document.check()), kinds(&parsed.findings));
    }
    // Beyond that, and below zero, there is no amount.
    for amount in [
        "0.0000000000000000001",
        "12345678901234567890123456789",
        "-0.000001",
        "1e3",
        "1,000.00",
        "INF",
        "",
    ] {
        let error = Document::parse(document("", &ENTRY.replace("5.00", amount))).unwrap_err();
        assert!(
            matches!(error.kind(), ReadErrorKind::Unreadable { .. }),
            "{amount}: {error}"
        );
    }
    let sum = "<TxsSummry><TtlNtries><Sum>5.000000000000000001</Sum></TtlNtries></TxsSummry>";
    assert_eq!(
        tolerant(&document(sum, ENTRY)).findings.len(),
        2,
        "the digits, and the disagreement"
    );
}

/// Zeros at the end count as no digits, so the schema accepts any number of them; 28 digits are
/// kept.
#[test]
fn zeros_that_are_not_kept_are_reported() {
    let zeros = |count: usize| "0".repeat(count);
    for (amount, kept, cut) in [
        (format!("1.{}", zeros(27)), 27, None),
        (format!("1.{}", zeros(28)), 27, Some(1)),
        (format!(" +1.{} ", zeros(40)), 27, Some(13)),
        (format!("0.{}", zeros(28)), 28, None),
        (format!("0.{}", zeros(29)), 28, Some(1)),
        (format!("{}1.5", zeros(40)), 1, None),
        (format!("12345678.12345{}", zeros(15)), 20, None),
        (format!("12345678.12345{}", zeros(16)), 20, Some(1)),
    ] {
        let entry = ENTRY.replace("5.00", &amount);
        let sum =
            |sum: &str| format!("<TxsSummry><TtlNtries><Sum>{sum}</Sum></TtlNtries></TxsSummry>");
        for (xml, path) in [
            (document("", &entry), "Ntry[1]/Amt"),
            (
                document(&sum(&amount), &ENTRY.replace("5.00", amount.trim())),
                "TxsSummry/TtlNtries/Sum",
            ),
        ] {
            let parsed =
                Document::parse_with(&xml, &ReadOptions::default().mode(Mode::Strict)).unwrap();
            let found = parsed
                .findings
                .iter()
                .find(|finding| finding.path == format!("{REPORT}/{path}"));
            let expected = cut.map(|zeros| FindingKind::CutZeros { zeros });
            assert_eq!(
                found.map(|finding| &finding.kind),
                expected.as_ref(),
                "{xml}"
            );
            assert_eq!(
                parsed.document.reports[0].entries[0].amount.value().scale(),
                kept,
                "{xml}"
            );
            let deny = ReadOptions::default().deny_findings(true);
            assert_eq!(
                Document::parse_with(&xml, &deny).is_err(),
                cut.is_some(),
                "{xml}"
            );
            let json = serde_json::to_string(&parsed.document).unwrap();
            let value = parsed.document.reports[0].entries[0]
                .amount
                .value()
                .to_string();
            let long = json.replace(&value, amount.trim().trim_start_matches('+'));
            assert_eq!(
                serde_json::from_str::<Document>(&long).is_err(),
                cut.is_some(),
                "{long}"
            );
        }
    }
}

#[test]
fn dates_without_hyphens_are_read_and_reported() {
    let xml = document(
        "",
        &ENTRY.replace("<BkTxCd/>", "<BookgDt><Dt>20231222</Dt></BookgDt><BkTxCd/>"),
    );
    let parsed = tolerant(&xml);
    let date = parsed.document.reports[0].entries[0]
        .booking_date
        .as_ref()
        .and_then(|date| date.date())
        .unwrap();
    assert_eq!((date.year(), date.month(), date.day()), (2023, 12, 22));
    assert_eq!(
        parsed.findings[0].path,
        format!("{REPORT}/Ntry[1]/BookgDt/Dt")
    );
    assert!(
        parsed.findings[0]
            .kind
            .to_string()
            .contains("a date such as 2021-07-29, found \"20231222\"")
    );
    assert!(
        parsed
            .document
            .to_xml()
            .unwrap()
            .contains("<Dt>20231222</Dt>")
    );
    let json = serde_json::to_string(&parsed.document).unwrap();
    assert_eq!(
        serde_json::from_str::<Document>(&json).unwrap(),
        parsed.document
    );
}

#[test]
fn what_is_no_date_is_kept_as_markup_where_it_may_miss() {
    let at = "2023-12-22T17:11:735";
    for (xml, path, kept) in [
        (
            document("", ENTRY).replacen("2021-07-29T17:10:05Z", at, 1),
            "/Document/BkToCstmrAcctRpt/GrpHdr/CreDtTm".to_owned(),
            format!("<CreDtTm>{at}</CreDtTm>"),
        ),
        (
            document(
                "",
                &ENTRY.replace(
                    "<BkTxCd/>",
                    "<ValDt><Dt x='1'>22.12.2023</Dt></ValDt><BkTxCd/>",
                ),
            ),
            format!("{REPORT}/Ntry[1]/ValDt/Dt"),
            "<ValDt><Dt x='1'>22.12.2023</Dt></ValDt>".to_owned(),
        ),
        (
            document(
                "<FrToDt><FrDtTm>today</FrDtTm><ToDtTm>2021-07-29T17:10:05Z</ToDtTm></FrToDt>",
                ENTRY,
            ),
            format!("{REPORT}/FrToDt/FrDtTm"),
            "<FrToDt><FrDtTm>today</FrDtTm><ToDtTm>2021-07-29T17:10:05Z</ToDtTm></FrToDt>"
                .to_owned(),
        ),
    ] {
        let parsed = tolerant(&xml);
        let unreadable =
            |finding: &&Finding| matches!(finding.kind, FindingKind::Unreadable { .. });
        let finding = parsed
            .findings
            .iter()
            .find(|finding| finding.path == path && unreadable(finding));
        let finding = finding.unwrap_or_else(|| panic!("{:?}", parsed.findings));
        let offset = usize::try_from(finding.position.unwrap().offset).unwrap();
        assert!(xml[offset..].starts_with(&format!("<{}", path.rsplit('/').next().unwrap())));
        let written = parsed
            .document
            .to_xml_with(&WriteOptions::default().incomplete(true))
            .unwrap();
        assert!(written.contains(&kept), "{written}");
        let missing = matches!(parsed.document.to_xml(), Err(WriteError::Invalid { .. }));
        assert_eq!(
            missing,
            path.ends_with("GrpHdr/CreDtTm"),
            "the schema demands it"
        );
    }
}

#[test]
fn elements_that_hold_nothing_are_kept_as_markup() {
    let domain = ENTRY.replace("<BkTxCd/>", "<BkTxCd><Domn/></BkTxCd>");
    let nested = ENTRY.replace(
        "<BkTxCd/>",
        "<BkTxCd><Domn> <Fmly><!-- none --></Fmly> </Domn></BkTxCd>",
    );
    for (xml, path) in [
        (document("<Bal/>", ENTRY), format!("{REPORT}/Bal[1]")),
        (
            document("<Bal><Tp/></Bal>", ENTRY),
            format!("{REPORT}/Bal[1]/Tp"),
        ),
        (
            document("", &domain),
            format!("{REPORT}/Ntry[1]/BkTxCd/Domn"),
        ),
        (
            document("", &nested),
            format!("{REPORT}/Ntry[1]/BkTxCd/Domn/Fmly"),
        ),
    ] {
        let parsed = tolerant(&xml);
        assert_eq!(parsed.findings.len(), 1, "{:?}", parsed.findings);
        assert!(
            matches!(parsed.findings[0].kind, FindingKind::Missing { .. }),
            "{:?}",
            parsed.findings
        );
        assert_eq!(parsed.findings[0].path, path);
        assert_eq!(parsed.document.reports[0].entries.len(), 1);
    }
    // A balance with content is also kept as markup.
    let parsed = tolerant(&document("<Bal><Amt Ccy=\"AUD\">5.00</Amt></Bal>", ENTRY));
    assert_eq!(parsed.document.reports[0].balances, []);
}

#[test]
fn transactions_may_have_no_amount() {
    let details = |transactions: &str| {
        ENTRY.replace(
            "</Ntry>",
            &format!("<NtryDtls>{transactions}</NtryDtls></Ntry>"),
        )
    };
    let one = "<TxDtls><Refs><EndToEndId>e</EndToEndId></Refs></TxDtls>";
    let parsed = tolerant(&document("", &details(one)));
    assert_eq!(parsed.findings.len(), 2, "the amount and the direction");
    let entry = &parsed.document.reports[0].entries[0];
    let line = entry.lines().next().unwrap();
    assert_eq!(
        line.amount(),
        Some(&entry.amount),
        "the only transaction is the entry"
    );
    assert_eq!(line.signed_amount(), entry.signed_amount());
    let parsed = tolerant(&document("", &details(&one.repeat(2))));
    let entry = &parsed.document.reports[0].entries[0];
    assert!(
        entry
            .lines()
            .all(|line| line.amount().is_none() && line.signed_amount().is_none())
    );
    assert!(
        entry
            .lines()
            .all(|line| *line.direction() == entry.direction)
    );
}

/// Entries that cannot be read, each with why and where, in the entry.
fn bad_entries() -> Vec<(String, &'static str, &'static str)> {
    vec![
        (ENTRY.replace("5.00", "five"), "found \"five\"", "/Amt"),
        (ENTRY.replace("<Sts>BOOK</Sts>", "<x/>"), "expected Sts", ""),
        ("<Ntry a='1'/>".to_owned(), "expected Amt", ""),
        (
            ENTRY.replace("5.00", "-1").replace(
                "</Ntry>",
                "<NtryDtls><TxDtls><Amt>-1</Amt><p:y xmlns:p='u'>&lt;</p:y></TxDtls></NtryDtls></Ntry>",
            ),
            "found \"-1\"",
            "/Amt",
        ),
    ]
}

#[test]
fn an_entry_that_cannot_be_read_is_kept_on_request() {
    for (bad, why, path) in bad_entries() {
        let xml = document("", &format!("{ENTRY}{bad}{ENTRY}"));
        for xml in [
            xml.clone(),
            xml.replace("<Document", "<!-- é --><Document xmlns:q='urn:q'"),
        ] {
            let error = Document::parse(&xml).unwrap_err();
            let path = format!("{REPORT}/Ntry[2]{path}");
            assert!(
                error.kind().to_string().contains(why) && error.path() == path,
                "{error}"
            );
            assert_eq!(error.unread(), None);
            let options = ReadOptions::default().keep_unreadable(true);
            let parsed = Document::parse_with(&xml, &options)
                .unwrap_or_else(|error| panic!("{error}\n{xml}"));
            for piece in [1, 5, 4096] {
                let source = Slowly {
                    bytes: xml.as_bytes(),
                    piece,
                };
                assert_eq!(Document::read_with(source, &options).unwrap(), parsed);
            }
            let report = &parsed.document.reports[0];
            assert_eq!(report.entries.len(), 2);
            let finding = parsed.findings.iter().rfind(|finding| finding.path == path);
            let finding = finding.unwrap_or_else(|| panic!("{:?}", parsed.findings));
            assert_eq!(
                (finding.kind.to_string(), finding.position),
                (error.kind().to_string(), Some(error.position()))
            );
            let ExtraPart::Xml(kept) = &report.extras.parts().last().unwrap().part else {
                panic!()
            };
            assert_eq!(**kept, bad);
            // The entry is written back in its place only on request.
            let Err(WriteError::Invalid { finding: refused }) = parsed.document.to_xml() else {
                panic!("{xml}")
            };
            assert_eq!(
                (&refused.kind, &refused.path),
                (&finding.kind, &finding.path)
            );
            let written = parsed
                .document
                .to_xml_with(&WriteOptions::default().incomplete(true))
                .unwrap();
            assert!(
                written.contains(&format!("</Ntry>{bad}<Ntry>")),
                "{written}"
            );
            assert_eq!(
                Document::parse_with(&written, &options).unwrap().document,
                parsed.document
            );
            // Strictly, it is one of the findings that refuse.
            let strict = Document::parse_with(&xml, &options.mode(Mode::Strict)).unwrap_err();
            assert!(strict.findings().iter().any(|finding| finding.path == path));
        }
    }
}

#[test]
fn sums_are_not_said_to_be_wrong_beside_an_entry_that_cannot_be_read() {
    let balance = |code: &str, amount: &str| {
        format!(
            "<Bal><Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp><Amt Ccy=\"AUD\">{amount}</Amt>\
             <CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2021-07-29</Dt></Dt></Bal>"
        )
    };
    let sums = balance("OPBD", "0.00")
        + &balance("CLBD", "10.00")
        + "<TxsSummry><TtlNtries><NbOfNtries>2</NbOfNtries><Sum>10.00</Sum></TtlNtries></TxsSummry>";
    let options = ReadOptions::default().keep_unreadable(true);
    let names = |findings: Vec<Finding>| -> Vec<&str> {
        findings.iter().map(|finding| finding.kind.name()).collect()
    };
    let wrong = vec!["EntrySum", "ClosingBalance"];
    let reports = |amount: &str| document(&sums, &(ENTRY.replace("5.00", amount) + ENTRY));
    let own = |xml: &str| xml[xml.find("<Rpt>").unwrap()..xml.find("</BkTo").unwrap()].to_owned();
    for (amount, expected) in [("5.00", vec![]), ("five", vec![]), ("6.00", wrong.clone())] {
        let xml = reports(amount);
        let mut parsed = Document::parse_with(&xml, &options).unwrap();
        let kept = parsed.findings.len();
        parsed
            .findings
            .retain(|own| own.kind.name() != "Unreadable");
        assert_eq!(kept - parsed.findings.len(), usize::from(amount == "five"));
        let mut checked = parsed.document.check();
        checked.retain(|own| own.kind.name() != "Unreadable");
        assert_eq!(names(checked), expected);
        assert_eq!(names(parsed.findings), expected);
        // All findings are made again for the next report.
        let both = xml.replace("</BkTo", &(own(&reports("6.00")) + "</BkTo"));
        let mut reader = EntryReader::new(both.as_bytes(), ReadOptions::default());
        let errors = reader.by_ref().filter(Result::is_err).count();
        assert_eq!(errors, usize::from(amount == "five"));
        let expected = [expected, wrong.clone()].concat();
        assert_eq!(names(reader.take_findings()), expected);
    }
}

/// A fault of the markup after something that cannot be read is the fault of a whole parse and of a
/// stream, and both give its own place.
#[test]
fn markup_that_is_not_well_formed_is_told_before_what_cannot_be_read() {
    let bad = ENTRY.replace("5.00", "five");
    for (entries, at, path) in [
        (bad.replace("</Sts>", "</St>"), "</St>", "Ntry[2]"),
        (bad.replace("BOOK", "BOOK&"), "&</Sts>", "Ntry[2]"),
        (
            bad.replace("<BkTxCd/>", "<BkTxCd a=1/>"),
            "<BkTxCd a",
            "Ntry[2]",
        ),
        (bad.replace("</Ntry>", "</Ntr>"), "</Ntr>", "Ntry[2]"),
        (
            format!("{}{ENTRY}", bad.replace("</Ntry>", "")),
            "</Rpt>",
            "Ntry[2]",
        ),
        (
            ENTRY
                .replace("<Sts>BOOK</Sts>", "<x/>")
                .replace("CRDT</", "CRDT</x"),
            "</x",
            "Ntry[2]/CdtDbtInd",
        ),
        (
            ENTRY.replace("<BkTxCd/>", "<ValDt><Dt>x</Dt></Val><BkTxCd/>"),
            "</Val>",
            "Ntry[2]/ValDt",
        ),
        // Faults after the entry are not read.
        (
            format!("{bad}<Ntry></Nt>"),
            "<Amt Ccy=\"AUD\">five",
            "Ntry[2]/Amt",
        ),
    ] {
        let xml = document("", &format!("{ENTRY}{entries}"));
        let offset = xml.find(at).unwrap() as u64;
        let first = |error: Option<bankrail_camt052::ReadError>| {
            let error = error.unwrap_or_else(|| panic!("{xml}"));
            (
                error.kind().to_string(),
                error.path().to_owned(),
                error.position(),
            )
        };
        let whole = first(Document::parse(&xml).err());
        assert_eq!(
            (whole.1.as_str(), whole.2.offset),
            (format!("{REPORT}/{path}").as_str(), offset),
            "{xml}"
        );
        assert_eq!(whole.0.contains("malformed"), !at.contains("five"), "{xml}");
        for piece in [1, 4096] {
            let source = || Slowly {
                bytes: xml.as_bytes(),
                piece,
            };
            assert_eq!(
                whole,
                first(Document::read_with(source(), &ReadOptions::default()).err())
            );
            let mut items = EntryReader::new(source(), ReadOptions::default());
            assert_eq!(whole, first(items.find_map(Result::err)), "{xml}");
        }
        let kept =
            Document::parse_with(&xml, &ReadOptions::default().keep_unreadable(true)).unwrap_err();
        assert!(kept.kind().to_string().contains("malformed"), "{kept}");
        assert_eq!(
            kept.position().offset == offset,
            whole.0.contains("malformed"),
            "{kept}"
        );
    }
}

#[test]
fn a_kept_entry_takes_the_namespaces_along_that_it_needs() {
    let xml = document("", &format!("<Ntry><q:x/></Ntry>{ENTRY}"))
        .replace("</", "\u{1}")
        .replace('<', "<c:");
    let xml = xml
        .replace('\u{1}', "</c:")
        .replace("<c:q:x", "<q:x")
        .replace("xmlns=", "xmlns:q='urn:q' xmlns:c=");
    let options = ReadOptions::default().keep_unreadable(true);
    let parsed = Document::parse_with(&xml, &options).unwrap();
    let written = parsed
        .document
        .to_xml_with(&WriteOptions::default().incomplete(true))
        .unwrap();
    assert!(written.contains("<c:Ntry xmlns=\"\" xmlns:c="), "{written}");
    assert_eq!(
        Document::parse_with(&written, &options).unwrap().document,
        parsed.document
    );
}

#[test]
fn a_stream_goes_on_after_an_entry_that_cannot_be_read() {
    let (mut xml, mut expected) = (String::new(), Vec::new());
    for (bad, why, path) in bad_entries() {
        xml += &format!("{ENTRY}{bad}\n<!-- é -->");
        expected.push((bad, why, path));
    }
    let xml = document("", &format!("{xml}{ENTRY}"));
    for piece in [1, 5, 4096] {
        let mut reader = EntryReader::new(
            Slowly {
                bytes: xml.as_bytes(),
                piece,
            },
            ReadOptions::default(),
        );
        let (mut read, mut unread, mut ends) = (0, 0, 0);
        loop {
            match reader.next_item() {
                Ok(Some(StreamItem::Entry(_))) => read += 1,
                Ok(Some(_)) => ends += 1,
                Ok(None) => break,
                Err(error) => {
                    let (bad, why, path) = &expected[unread];
                    assert_eq!(error.unread(), Some(bad.as_str()));
                    assert!(error.kind().to_string().contains(why), "{error}");
                    assert_eq!(error.path(), format!("{REPORT}/Ntry[{}]{path}", read + 1));
                    let place = usize::try_from(error.position().offset).unwrap();
                    assert!(
                        xml[place..].starts_with('<') && xml[..place].ends_with('>')
                            || path.is_empty()
                    );
                    unread += 1;
                }
            }
        }
        assert_eq!(
            (read, unread, ends),
            (expected.len() + 1, expected.len(), 3)
        );
    }
    // Not in strict mode, and not when the markup is broken.
    for (xml, options) in [
        (xml.clone(), ReadOptions::default().mode(Mode::Strict)),
        (xml.replacen("<x/>", "<x>", 1), ReadOptions::default()),
    ] {
        let items: Vec<_> = EntryReader::new(xml.as_bytes(), options).collect();
        assert!(
            items
                .last()
                .unwrap()
                .as_ref()
                .is_err_and(|error| error.unread().is_none())
        );
    }
}

#[test]
fn no_more_of_an_entry_is_remembered_than_may_be_kept() {
    let limits = ReadLimits::default().max_kept_bytes(1_000);
    let options = ReadOptions::default().limits(limits);
    for (comments, fits) in [(10, true), (10_000, false)] {
        let filler = "<!--x-->".repeat(comments);
        let whole = ENTRY.replace("<Sts>", &format!("{filler}<Sts>"));
        let unread = whole
            .replace("<Sts>BOOK</Sts>", "<Sts>BOOK</Sts><Sts>BOOK</Sts>")
            .replace("5.00", "five");
        let xml = document("", &format!("{whole}{unread}{ENTRY}"));
        for piece in [64, 4096] {
            let mut reader = EntryReader::new(
                Slowly {
                    bytes: xml.as_bytes(),
                    piece,
                },
                options,
            );
            assert!(matches!(reader.next_item(), Ok(Some(_))), "{comments}");
            let items: Vec<_> = reader.collect();
            let error = items.iter().find_map(|item| item.as_ref().err()).unwrap();
            if fits {
                assert!(
                    error.unread().is_some_and(|text| text.contains(&filler)) && items.len() > 1
                );
            } else {
                let limit = matches!(
                    error.kind(),
                    ReadErrorKind::Limit {
                        limit: LimitKind::KeptBytes,
                        ..
                    }
                );
                assert!(
                    limit && error.unread().is_none() && items.len() <= 2,
                    "{error}"
                );
            }
        }
    }
}
