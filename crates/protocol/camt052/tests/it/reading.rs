//! Input that reading accepts and refuses for reasons other than the schema: XML, encodings,
//! limits.

use crate::findings::document;
use bankrail_camt052::{
    Document, FindingKind, LimitKind, ReadError, ReadErrorKind, ReadLimits, ReadOptions, Source,
};

fn error(bytes: impl Source) -> ReadError {
    Document::parse(bytes)
        .map(|parsed| panic!("{parsed:?}"))
        .unwrap_err()
}

fn with_source(source: &str) -> String {
    document(&format!("<RptgSrc><Prtry>{source}</Prtry></RptgSrc>"), "")
}

/// Returns the reporting source of a document, which the schema expects elsewhere; only its text
/// matters here.
fn source(bytes: impl Source) -> String {
    let parsed = Document::parse(bytes).unwrap_or_else(|error| panic!("{error:?}"));
    match &parsed.document.reports[0].source {
        Some(bankrail_camt052::ReportingSource::Proprietary(text)) => text.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn text_is_joined_and_resolved() {
    for (written, read) in [
        ("a<!-- b -->c<?d e?>f", "acf"),
        (
            "<![CDATA[<&>]]>&lt;&amp;&gt;&quot;&apos;&#65;&#x1F44D;👍",
            "<&><&>\"'A👍👍",
        ),
        ("a\r\nb\rc", "a\nb\nc"),
        (" a&#13;b ", " a\rb "),
        ("a]]&gt;", "a]]>"),
    ] {
        assert_eq!(source(with_source(written)), read, "{written}");
    }
}

#[test]
fn what_is_not_xml_is_refused() {
    for (bad, what) in [
        ("a]]>b", "]]>"),
        ("&nbsp;", "nbsp"),
        ("&#0;", "U+0000"),
        ("&#xFFFE;", "U+FFFE"),
        ("&#xD800;", "U+D800"),
        ("&", "malformed"),
        ("&#;", "digits"),
        ("<!-- a--b -->", "malformed"),
        ("\u{b}", "U+000B"),
        ("\u{ffff}", "U+FFFF"),
        ("<?xml version='1.0'?>", "beginning"),
        ("<?XML a?>", "instruction"),
        ("<?p:q r?>", "instruction"),
        ("<1/>", "name"),
        ("<a><1/></a>", "name"),
        ("<x:y/>", "not declared"),
        ("<a b='1' b='2'/>", "twice"),
        ("<a xmlns:p='u' xmlns:q='u' p:b='1' q:b='2'/>", "twice"),
        ("<a xmlns:p=''/>", "undeclared"),
        ("<a xmlns:xml='u'/>", "xml"),
        ("<!DOCTYPE a>", "document type"),
    ] {
        let error = error(with_source(bad));
        let text = error.kind().to_string();
        assert!(text.contains(what), "{bad}: {text}");
        assert!(
            error.position().line >= 1 && error.position().offset > 100,
            "{bad}: {error}"
        );
    }
    let good = with_source("a");
    for (bad, what) in [
        (format!("{good}<a/>"), "one document element"),
        (format!("{good}x"), "white space"),
        (format!(" <?xml version='1.0'?>{good}"), "beginning"),
        (format!("<!DOCTYPE a []>{good}"), "document type"),
        (format!("<?xml version='2.0'?>{good}"), "version 1.0"),
        (format!("<?xml version='1.'?>{good}"), "version 1.0"),
        (format!("<?xml encoding='UTF-8'?>{good}"), "version 1.0"),
        (
            format!("<?xml version='1.0' standalone='maybe'?>{good}"),
            "standalone",
        ),
        (good.replace("</Document>", ""), "end"),
        (good.replace("xmlns=", "xml="), "namespace"),
        (
            good.replace("camt.052.001.06", "camt.052.001.01"),
            "camt.052.001.01",
        ),
        (good.replace("Document", "Dokument"), "Dokument"),
        (String::new(), "found nothing"),
    ] {
        let error = error(&bad);
        assert!(
            error.kind().to_string().contains(what),
            "{bad}: {}",
            error.kind()
        );
    }
}

#[test]
fn errors_say_where() {
    let xml = document("", "  <Ntry><Amt Ccy=\"AUD\">1e3</Amt></Ntry>");
    let error = error(&xml);
    assert_eq!(
        error.path(),
        "/Document/BkToCstmrAcctRpt/Rpt[1]/Ntry[1]/Amt"
    );
    assert_eq!((error.position().line, error.position().column), (5, 9));
    assert_eq!(
        error.position().offset,
        u64::try_from(xml.find("<Amt").unwrap()).unwrap()
    );
    assert!(matches!(error.kind(), ReadErrorKind::Unreadable { found, .. } if found == "\"1e3\""));
}

/// A `main` that returns an error prints the error's `Debug`.
#[test]
fn errors_print_where_and_why_in_one_line() {
    let read = error(document("", "<Ntry/>"));
    let lines = document("", "").replacen("<CreDtTm>2021-07-29T17:10:05Z</CreDtTm>", "", 1);
    let written = Document::parse(lines)
        .unwrap()
        .document
        .to_xml()
        .unwrap_err();
    for (text, why, place) in [
        (
            format!("{read:?}"),
            "expected Amt, found none",
            "/Document/BkToCstmrAcctRpt/Rpt[1]/Ntry[1]",
        ),
        (
            read.to_string(),
            "expected Amt, found none",
            "(line 5, column 1, byte ",
        ),
        (
            format!("{written:?}"),
            "expected CreDtTm, found none",
            "/Document/BkToCstmrAcctRpt/GrpHdr",
        ),
        (
            written.to_string(),
            "expected CreDtTm, found none",
            "/Document/BkToCstmrAcctRpt/GrpHdr",
        ),
    ] {
        assert!(text.contains(why) && text.contains(place), "{text}");
        assert!(
            !text.contains(['{', '\n']) && !text.ends_with('.'),
            "{text}"
        );
    }
}

#[test]
fn encodings_are_those_declared_or_marked() {
    let text = |declared: &str| {
        format!(
            "<?xml version='1.0' encoding='{declared}'?>{}",
            with_source("é€👍")
        )
    };
    let utf16 = |text: &str, little: bool, mark: bool| -> Vec<u8> {
        let units = mark
            .then_some(0xFEFF)
            .into_iter()
            .chain(text.encode_utf16());
        units
            .flat_map(|unit| {
                if little {
                    unit.to_le_bytes()
                } else {
                    unit.to_be_bytes()
                }
            })
            .collect()
    };
    for (little, mark) in [(true, true), (false, true), (true, false), (false, false)] {
        assert_eq!(source(utf16(&text("UTF-16"), little, mark)), "é€👍");
    }
    assert_eq!(source(format!("\u{feff}{}", text("utf-8"))), "é€👍");
    let bytes = |text: &str, euro: u8| -> Vec<u8> {
        text.chars()
            .map(|c| {
                if c == '€' {
                    euro
                } else {
                    u8::try_from(u32::from(c)).unwrap_or(b'?')
                }
            })
            .collect()
    };
    assert_eq!(source(bytes(&text("ISO-8859-15"), 0xA4)), "é€?");
    assert_eq!(source(bytes(&text("iso-8859-1"), 0xA4)), "é¤?");
    for (declared, byte, character) in [
        ("ISO-8859-2", 0xB3, 'ł'),
        ("windows-1250", 0x9C, 'ś'),
        ("windows-1251", 0xC6, 'Ж'),
        ("WINDOWS-1252", 0x80, '€'),
        ("windows-1253", 0xD9, 'Ω'),
        ("windows-1254", 0xFE, 'ş'),
        ("windows-1255", 0xE0, 'א'),
        ("windows-1256", 0xC8, 'ب'),
        ("windows-1257", 0xE0, 'ą'),
        ("windows-1258", 0xD0, 'Đ'),
    ] {
        let xml = format!(
            "<?xml version='1.0' encoding='{declared}'?>{}",
            with_source("~")
        );
        let single: Vec<u8> = xml
            .bytes()
            .map(|b| if b == b'~' { byte } else { b })
            .collect();
        assert_eq!(source(&single), character.to_string(), "{declared}");
        let broken = String::from_utf8_lossy(&single).replace("</Document>", "</Dokument>");
        let broken: Vec<u8> = broken
            .chars()
            .map(|c| u8::try_from(u32::from(c)).unwrap_or(byte))
            .collect();
        assert_eq!(
            error(&broken).position().offset,
            u64::try_from(broken.len() - "</Dokument>".len()).unwrap(),
            "{declared}"
        );
    }
    // XML 1.1 is processed as 1.0.
    assert_eq!(source(text("UTF-8").replace("='1.0'", "='1.1'")), "é€👍");
    for mark in [Some(0xFEFF_u32), None] {
        let declared = text("UTF-32");
        let units = mark.into_iter().chain(declared.chars().map(u32::from));
        let wide: Vec<u8> = units.flat_map(u32::to_le_bytes).collect();
        assert!(
            error(&wide).kind().to_string().ends_with("found UTF-32"),
            "{}",
            error(&wide)
        );
        let big: Vec<u8> = wide
            .chunks(4)
            .flat_map(|unit| unit.iter().rev().copied())
            .collect();
        assert!(
            error(&big).kind().to_string().ends_with("found UTF-32"),
            "{}",
            error(&big)
        );
    }
    // Strictly, UTF-16 is marked or declared.
    let strict = ReadOptions::default().mode(bankrail_camt052::Mode::Strict);
    for (bytes, good) in [
        (utf16(&text("UTF-16"), true, true), true),
        (utf16(&text("UTF-16"), true, false), true),
        (utf16(&document("", ""), true, true), true),
        (utf16(&document("", ""), true, false), false),
        (utf16(&document("", ""), false, false), false),
    ] {
        let refused = Document::parse_with(&bytes, &strict).err();
        let refused = refused
            .is_some_and(|error| matches!(error.kind(), ReadErrorKind::UnsupportedEncoding { .. }));
        assert_eq!(refused, !good);
        assert!(Document::parse(&bytes).is_ok());
    }
    let offset = |bytes: &[u8]| error(bytes).position().offset;
    let broken = text("ISO-8859-1").replace("</Document>", "</Dokument>");
    let bytes = bytes(&broken, 0xA4);
    assert_eq!(
        offset(&bytes),
        u64::try_from(bytes.len() - "</Dokument>".len()).unwrap()
    );
    let wide = utf16(
        &text("UTF-16").replace("</Document>", "</Dokument>"),
        true,
        true,
    );
    assert_eq!(
        offset(&wide),
        u64::try_from(wide.len() - 2 * "</Dokument>".len()).unwrap()
    );

    for (bytes, what) in [
        (text("EBCDIC-CP-US").into_bytes(), "EBCDIC-CP-US"),
        (text("UTF-16").into_bytes(), "UTF-16"),
        (text("US-ASCII").into_bytes(), "US-ASCII"),
        (b"<\xFF/>".to_vec(), "UTF-8"),
        (b"\xE2\x82".to_vec(), "UTF-8"),
    ] {
        assert!(
            error(&bytes).kind().to_string().contains(what),
            "{what}: {}",
            error(&bytes).kind()
        );
    }
}

#[test]
fn limits_are_kept() {
    let entry = r#"<Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>"#;
    let xml = document(
        "",
        &format!("{}<Foo>{}</Foo>", entry.repeat(3), "x".repeat(200)),
    );
    let limited = |set: fn(ReadLimits) -> ReadLimits| {
        Document::parse_with(
            &xml,
            &ReadOptions::default().limits(set(ReadLimits::default())),
        )
    };
    assert!(limited(|limits| limits).is_ok());
    for (set, what) in [
        (
            (|limits| limits.max_document_bytes(500)) as fn(ReadLimits) -> ReadLimits,
            "500 bytes in a document",
        ),
        (|limits| limits.max_depth(4), "4 nested elements"),
        (
            |limits| limits.max_entry_elements(4),
            "4 elements in an entry",
        ),
        (
            |limits| limits.max_token_bytes(100),
            "100 bytes in a tag or run of text",
        ),
        (|limits| limits.max_text_bytes(3), "3 bytes in a text"),
    ] {
        let error = limited(set).unwrap_err();
        assert!(
            error.kind().to_string().contains(what),
            "{what}: {}",
            error.kind()
        );
    }
    let deep = format!("{}{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    assert!(matches!(
        error(with_source(&deep)).kind(),
        ReadErrorKind::Limit { .. }
    ));
    let options = ReadOptions::default().limits(ReadLimits::default().max_findings(2));
    let many = document("", &entry.replace("BOOK", "FUTR").repeat(10));
    assert_eq!(
        Document::parse_with(&many, &options)
            .unwrap()
            .findings
            .len(),
        2
    );
}

/// The error names the same bound in each way of reading.
#[test]
fn a_long_text_exceeds_the_same_limit_whole_and_in_pieces() {
    let limits = ReadLimits::default()
        .max_text_bytes(1_000)
        .max_token_bytes(3_000);
    for (length, expected) in [
        (2_000, LimitKind::TextBytes),
        (4_000, LimitKind::TokenBytes),
    ] {
        for text in [
            "x".repeat(length),
            format!("<![CDATA[{}]]>", "x".repeat(length)),
        ] {
            let options = ReadOptions::default().limits(limits);
            let xml = with_source(&text);
            let whole = Document::parse_with(&xml, &options).unwrap_err();
            let streamed = Document::read_with(xml.as_bytes(), &options).unwrap_err();
            for error in [&whole, &streamed] {
                assert!(
                    matches!(error.kind(), ReadErrorKind::Limit { limit, .. } if *limit == expected),
                    "{error}"
                );
            }
            assert_eq!(whole.to_string(), streamed.to_string());
        }
    }
}

#[test]
fn supplementary_data_stays_verbatim() {
    let inner = "<s:a xmlns:s=\"urn:s\" s:b=\"&quot;\"><![CDATA[<]]><!-- c --><c>&amp;\n</c></s:a>";
    let data = format!(
        "<SplmtryData><PlcAndNm>p</PlcAndNm><Envlp>{inner}</Envlp></SplmtryData></BkToCstmrAcctRpt>"
    );
    let xml = document("", "").replace("</BkToCstmrAcctRpt>", &data);
    let parsed = Document::parse(&xml).unwrap();
    assert_eq!(parsed.findings, []);
    assert_eq!(
        parsed.document.supplementary_data[0].envelope.as_xml(),
        inner
    );
    let outer = xml
        .replace("xmlns=", "xmlns:s=\"urn:s\" xmlns:unused=\"urn:u\" xmlns=")
        .replace(" xmlns:s=\"urn:s\" s:b", " s:b");
    let moved = Document::parse(&outer).unwrap().document;
    assert_eq!(moved.supplementary_data[0].envelope.as_xml(), inner);
    let prefixed = "<c:Document xmlns:c=\"urn:iso:std:iso:20022:tech:xsd:camt.052.001.06\">";
    let prefixed = xml
        .replace("</", "\u{1}")
        .replace('<', "<c:")
        .replace('\u{1}', "</c:")
        .replace(
            "<c:Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.052.001.06\">",
            prefixed,
        )
        .replace("c:s:a", "s:a")
        .replace("<c:!", "<!")
        .replace("<c:]]", "<]]")
        .replace("<c:c>", "<c>")
        .replace("</c:c>", "</c>");
    let parsed = Document::parse(&prefixed).unwrap_or_else(|error| panic!("{error:?} {prefixed}"));
    assert!(
        parsed.document.supplementary_data[0]
            .envelope
            .as_xml()
            .starts_with("<s:a xmlns=\"\" xmlns:s=")
    );
    let again = Document::parse(parsed.document.to_xml().unwrap()).unwrap();
    assert_eq!(again.document, parsed.document);
}

#[test]
fn a_document_cut_by_its_limit_says_so_wherever_it_is_cut() {
    let xml = document("", "").replace("<Id>r<", "<Id>\u{e9}\u{1f44d}<");
    let wide: Vec<u8> = format!("\u{feff}{xml}")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    for bytes in [xml.as_bytes(), &wide] {
        for most in 0..bytes.len() {
            let options = ReadOptions::default()
                .limits(ReadLimits::default().max_document_bytes(most as u64));
            let error = Document::parse_with(bytes, &options).unwrap_err();
            let limit = LimitKind::DocumentBytes;
            assert!(
                matches!(error.kind(), ReadErrorKind::Limit { limit: l, .. } if *l == limit),
                "{most} {error:?}"
            );
        }
    }
}

#[test]
fn nil_is_refused_where_an_element_is_needed_and_kept_where_it_is_unknown() {
    const NIL: &str = "xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:nil='true'";
    let entry = r#"<Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>"#;
    let data = format!("<SplmtryData><Envlp><own {NIL}/></Envlp></SplmtryData></BkToCstmrAcctRpt>");
    let good = document("", entry).replace("</BkToCstmrAcctRpt>", &data);
    let parsed = Document::parse(&good).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(parsed.findings, []);
    for known in [
        "<Document",
        "<BkToCstmrAcctRpt",
        "<Rpt",
        "<Ntry",
        "<Sts",
        "<Amt",
    ] {
        let error = error(good.replacen(
            known,
            &format!(
                "{known} {}",
                NIL.replace("xmlns:i", "xmlns:j").replace(" i:", " j:")
            ),
            1,
        ));
        assert!(
            matches!(error.kind(), ReadErrorKind::Unreadable { found, .. } if found == "xsi:nil"),
            "{known}: {error:?}"
        );
    }
    let unknown = good.replace("<Ntry>", &format!("<Ntry><Own {NIL}/>"));
    let parsed = Document::parse(&unknown).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(parsed.findings.len(), 1, "{:?}", parsed.findings);
    assert_eq!(
        Document::parse(parsed.document.to_xml().unwrap())
            .unwrap()
            .document,
        parsed.document
    );
}

#[test]
fn blank_text_between_other_text_is_kept() {
    let parsed = Document::parse(document("", "x&amp; &amp;y")).unwrap();
    let kept = &parsed.document.reports[0].extras.parts()[0].part;
    assert!(
        matches!(kept, bankrail_camt052::ExtraPart::Text(text) if text.trim() == "x& &y"),
        "{kept:?}"
    );
    assert_eq!(
        Document::parse(parsed.document.to_xml().unwrap())
            .unwrap()
            .document,
        parsed.document
    );
}

/// An unknown element inside one occurrence does not affect another.
#[test]
fn a_choice_without_alternative_is_reported_whatever_stands_in_the_one_before() {
    let entry = |quantities: &str| {
        let details = format!("<BkTxCd/><NtryDtls><TxDtls><Refs/>{quantities}</TxDtls></NtryDtls>");
        let entry = r#"<Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>"#;
        let transaction = "<Refs/><Amt Ccy=\"AUD\">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>";
        document(
            "",
            &entry.replace("<BkTxCd/>", &details.replace("<Refs/>", transaction)),
        )
    };
    let kept = "<RltdQties><x/></RltdQties>";
    assert_eq!(Document::parse(entry(kept)).unwrap().findings.len(), 2);
    let none = "<RltdQties>none</RltdQties>";
    for quantities in [
        none.to_owned(),
        format!("{kept}{none}"),
        format!("{none}{kept}"),
    ] {
        let findings = Document::parse(entry(&quantities)).unwrap().findings;
        let told = findings.iter().any(|finding| {
            matches!(&finding.kind, FindingKind::Missing { name } if name.starts_with("Qty|"))
        });
        assert!(told, "{quantities}: {findings:?}");
    }
}
