//! A part that cannot be read is lost alone, never its entry or document.

use crate::findings::document;
use crate::invented::{full, numbered, strict};
use crate::shared::shared;
use crate::tree::Slowly;
use bankrail_camt052::{
    Document, Entry, EntryReader, FindingKind, Mode, Parsed, ReadErrorKind, ReadOptions,
    StreamItem, WriteOptions,
};
use bankrail_iso20022::__private::parse_counting;
use std::ops::Range;

const NIL: &str = " xmlns:n='http://www.w3.org/2001/XMLSchema-instance' n:nil=";

/// An entry with each kind of part that senders spell in their own way.
const ENTRY: &str = "<Ntry><Amt Ccy=\"AUD\">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>\
    <RvslInd>false</RvslInd><Sts>BOOK</Sts><BookgDt><Dt>2021-07-29</Dt></BookgDt>\
    <BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>DMCT</SubFmlyCd></Fmly></Domn></BkTxCd>\
    <AmtDtls><TxAmt><Amt Ccy=\"USD\">4.00</Amt><CcyXchg><SrcCcy>USD</SrcCcy><XchgRate>1.25</XchgRate></CcyXchg></TxAmt></AmtDtls>\
    <Chrgs><TtlChrgsAndTaxAmt Ccy=\"AUD\">0.35</TtlChrgsAndTaxAmt><Rcrd><Amt Ccy=\"AUD\">0.35</Amt></Rcrd></Chrgs>\
    <NtryDtls><TxDtls><Refs><EndToEndId>e</EndToEndId><Prtry><Tp>own</Tp><Ref>7</Ref></Prtry></Refs>\
    <Amt Ccy=\"AUD\">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>\
    <RltdPties><Dbtr><Nm>Jane</Nm></Dbtr><DbtrAcct><Id><Othr><Id>1</Id></Othr></Id><Nm>own</Nm></DbtrAcct></RltdPties>\
    <RltdAgts><DbtrAgt><FinInstnId><Nm>a</Nm></FinInstnId></DbtrAgt></RltdAgts>\
    <RmtInf><Strd><CdtrRefInf><Tp><CdOrPrtry><Cd>SCOR</Cd></CdOrPrtry><Issr>i</Issr></Tp><Ref>r</Ref></CdtrRefInf></Strd></RmtInf>\
    </TxDtls></NtryDtls></Ntry>";

const OUTSIDE: &str = "<RptPgntn><PgNb>1</PgNb><LastPgInd>true</LastPgInd></RptPgntn>\
    <ElctrncSeqNb>7</ElctrncSeqNb>\
    <Bal><Tp><CdOrPrtry><Cd>INFO</Cd></CdOrPrtry></Tp><Amt Ccy=\"AUD\">1.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2021-07-29</Dt></Dt></Bal>\
    <TxsSummry><TtlNtries><NbOfNtries>2</NbOfNtries><Sum>10.00</Sum></TtlNtries></TxsSummry>";

/// Returns the amount, currency, sign and status of an entry.
fn needed(entry: &Entry) -> (String, String, String, String) {
    let amount = &entry.amount;
    (
        amount.value().to_string(),
        amount
            .currency()
            .map_or("", |code| code.as_str())
            .to_owned(),
        entry.direction.as_str().to_owned(),
        entry.status.to_string(),
    )
}

/// Reads the entries of a document with every reader, and checks that all agree.
fn entries(xml: &str) -> Vec<(String, String, String, String)> {
    let parsed = Document::parse(xml).unwrap_or_else(|error| panic!("{error}\n{xml}"));
    let slow = parse_counting::<Document>(xml, &ReadOptions::default(), false).0;
    assert_eq!(slow.unwrap(), parsed, "{xml}");
    let kept = ReadOptions::default().keep_unreadable(true);
    assert_eq!(Document::parse_with(xml, &kept).unwrap(), parsed, "{xml}");
    let source = Slowly {
        bytes: xml.as_bytes(),
        piece: 97,
    };
    let streamed: Vec<Entry> = EntryReader::new(source, ReadOptions::default())
        .filter_map(
            |part| match part.unwrap_or_else(|error| panic!("{error}\n{xml}")) {
                StreamItem::Entry(entry) => Some(*entry),
                _ => None,
            },
        )
        .collect();
    let whole: Vec<Entry> = parsed
        .document
        .reports
        .iter()
        .flat_map(|report| report.entries.clone())
        .collect();
    assert_eq!(streamed, whole, "{xml}");
    let written = parsed
        .document
        .to_xml_with(&WriteOptions::default().incomplete(true))
        .unwrap();
    assert_eq!(
        Document::parse(written).unwrap().document,
        parsed.document,
        "{xml}"
    );
    whole.iter().map(needed).collect()
}

/// Returns the elements that a document can do without, as places in its text.
fn optional(xml: &str) -> Vec<Range<usize>> {
    const NEEDED: [&str; 6] = [
        "",
        "/Rpt",
        "/Rpt/Acct",
        "/Rpt/Ntry",
        "/Rpt/Ntry/Amt",
        "/Rpt/Ntry/Sts",
    ];
    let tree = roxmltree::Document::parse(xml).unwrap();
    let path = |node: roxmltree::Node<'_, '_>| {
        let mut names: Vec<_> = node
            .ancestors()
            .filter(roxmltree::Node::is_element)
            .map(|n| n.tag_name().name())
            .collect();
        names.reverse();
        names
            .iter()
            .skip(2)
            .map(|name| format!("/{name}"))
            .collect::<String>()
    };
    tree.root_element()
        .descendants()
        .filter(roxmltree::Node::is_element)
        .filter(|node| {
            let path = path(*node);
            !NEEDED.contains(&path.as_str())
                && path != "/Rpt/Ntry/CdtDbtInd"
                && !path.starts_with("/Rpt/Acct/Id")
                && !path.contains("/Envlp/")
        })
        .map(|node| node.range())
        .collect()
}

/// Damages an element in one of ten ways.
fn damaged(element: &str, way: usize) -> String {
    let name: String = element[1..]
        .chars()
        .take_while(|c| !c.is_whitespace() && !matches!(c, '>' | '/'))
        .collect();
    let tag_end = element.find('>').unwrap();
    let is_empty = element[..tag_end].ends_with('/');
    let tag = element[..tag_end].trim_end_matches('/');
    let content = if is_empty {
        ""
    } else {
        &element[tag_end + 1..element.rfind("</").unwrap()]
    };
    let of = |tag: &str, content: &str| format!("{tag}>{content}</{name}>");
    let with = |attribute: &str| tag.replacen(&name, &format!("{name}{attribute}"), 1);
    match way % 10 {
        0 => String::new(),
        1 => of(tag, ""),
        2 => of(tag, "0,35"),
        3 => of(tag, &format!("-1{content}")),
        4 => of(&with(&format!("{NIL}'true'")), content),
        5 => of(&with(&format!("{NIL}'perhaps'")), ""),
        6 => of(tag, &format!("<own/>{content}")),
        7 => element.repeat(2),
        8 => of(&format!("<{name} a='1'"), content),
        _ => of(tag, "<Cd>True</Cd><Dt>29.07.2021</Dt><Amt>NaN</Amt>"),
    }
}

#[test]
fn every_entry_comes_whichever_optional_part_is_damaged() {
    let mut documents: Vec<String> = (0..20)
        .map(numbered)
        .chain((0..3).map(full))
        .map(|made| made.to_xml().unwrap())
        .collect();
    documents.push(document(OUTSIDE, &ENTRY.repeat(2)));
    let mut tried = 0;
    for (seed, xml) in documents.iter().enumerate() {
        let expected = entries(xml);
        let places = optional(xml);
        let step = places.len().div_ceil(60).max(1);
        for (number, place) in places.iter().enumerate().skip(seed % step).step_by(step) {
            let ways = if seed + 1 == documents.len() {
                0..10
            } else {
                number..number + 1
            };
            for way in ways {
                let mut xml = xml.clone();
                let part = damaged(&xml[place.clone()], way + seed);
                xml.replace_range(place.clone(), &part);
                assert_eq!(entries(&xml), expected, "{part}");
                tried += 1;
            }
        }
    }
    assert!(tried > 1_000, "{tried}");
}

#[test]
fn the_nearest_optional_part_around_a_bad_one_is_kept_as_markup() {
    for (good, bad, kept) in [
        (
            "<RvslInd>false<",
            "<RvslInd>True<",
            "<RvslInd>True</RvslInd>",
        ),
        (
            ">0.35</Amt>",
            ">0,35</Amt>",
            "<Rcrd><Amt Ccy=\"AUD\">0,35</Amt></Rcrd>",
        ),
        (
            ">0.35</Ttl",
            ">-0.35</Ttl",
            "<TtlChrgsAndTaxAmt Ccy=\"AUD\">-0.35</TtlChrgsAndTaxAmt>",
        ),
        (
            "<CdOrPrtry><Cd>SCOR</Cd></CdOrPrtry>",
            "",
            "<Tp><Issr>i</Issr></Tp>",
        ),
        (
            "<SubFmlyCd>DMCT</SubFmlyCd>",
            "",
            "<Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd></Fmly></Domn>",
        ),
        (
            "<SrcCcy>USD</SrcCcy>",
            "",
            "<CcyXchg><XchgRate>1.25</XchgRate></CcyXchg>",
        ),
        ("<Tp>own</Tp>", "", "<Prtry><Ref>7</Ref></Prtry>"),
        (
            "<Id><Othr><Id>1</Id></Othr></Id><Nm>own",
            "<Nm>own",
            "<DbtrAcct><Nm>own</Nm></DbtrAcct>",
        ),
        (
            "<FinInstnId><Nm>a</Nm></FinInstnId>",
            "",
            "<DbtrAgt></DbtrAgt>",
        ),
        (
            "<ElctrncSeqNb>7<",
            "<ElctrncSeqNb>A7<",
            "<ElctrncSeqNb>A7</ElctrncSeqNb>",
        ),
        (
            "<LastPgInd>true<",
            "<LastPgInd>N<",
            "<RptPgntn><PgNb>1</PgNb><LastPgInd>N</LastPgInd></RptPgntn>",
        ),
        ("<Sum>10.00<", "<Sum>10,00<", "<Sum>10,00</Sum>"),
        (
            "<MsgId>m</MsgId>",
            "",
            "<GrpHdr><CreDtTm>2021-07-29T17:10:05Z</CreDtTm></GrpHdr>",
        ),
        (">1.00</Amt>", "></Amt>", "<Amt Ccy=\"AUD\"></Amt>"),
    ] {
        let entry = ENTRY.replacen(good, bad, 1);
        let xml = document(OUTSIDE, &format!("{entry}{entry}"));
        let xml = if entry == ENTRY {
            xml.replacen(good, bad, 1)
        } else {
            xml
        };
        assert_ne!(xml, document(OUTSIDE, &ENTRY.repeat(2)), "{good}");
        assert_eq!(entries(&xml).len(), 2, "{xml}");
        let Parsed {
            document, findings, ..
        } = Document::parse(&xml).unwrap();
        let told = |kind: &FindingKind| {
            matches!(
                kind,
                FindingKind::Missing { .. } | FindingKind::Unreadable { .. }
            )
        };
        assert!(
            findings.iter().any(|finding| told(&finding.kind)),
            "{findings:?}"
        );
        let written = document
            .to_xml_with(&WriteOptions::default().incomplete(true))
            .unwrap();
        assert!(written.contains(kept), "{written}");
        assert!(Document::parse_with(&xml, &strict()).is_err(), "{xml}");
    }
}

#[test]
fn an_entry_without_a_kind_of_transaction_comes() {
    let entry =
        "<Ntry><Amt Ccy=\"AUD\">5.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts></Ntry>";
    let parsed = Document::parse(document("", entry)).unwrap();
    let entry = &parsed.document.reports[0].entries[0];
    assert_eq!(entry.signed_amount().unwrap().to_string(), "-5.00");
    assert_eq!(entry.bank_transaction_code, None);
    assert_eq!(parsed.findings.len(), 1);
    assert_eq!(
        parsed.findings[0].kind,
        FindingKind::Missing {
            name: "BkTxCd".to_owned()
        }
    );
}

#[test]
fn nil_is_absence_and_its_negation_says_nothing() {
    let nil = |value: &str| {
        document(
            "",
            &ENTRY.replacen("<RvslInd>false</", &format!("<RvslInd{NIL}'{value}'></"), 1),
        )
    };
    for value in ["true", " 1 "] {
        let parsed = Document::parse(nil(value)).unwrap();
        assert_eq!(parsed.document.reports[0].entries[0].reversal, None);
        let found: Vec<String> = parsed.findings.iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains("/RvslInd: expected content, found xsi:nil"),
            "{found:?}"
        );
    }
    for value in ["false", "0"] {
        let xml = document("", &ENTRY.replace("<Sts>", &format!("<Sts{NIL}'{value}'>")));
        let plain = Document::parse(document("", ENTRY)).unwrap();
        assert_eq!(Document::parse(&xml).unwrap(), plain, "{value}");
        // The schema lets no element be nil, not even in the negative.
        assert!(Document::parse_with(&xml, &strict()).is_err());
    }
}

#[test]
fn a_report_without_identification_is_read_and_one_without_account_is_not() {
    let xml = document("", ENTRY);
    for id in ["", "<Id/>", "<Id><own/></Id>"] {
        let xml = xml.replace("<Id>r</Id>", id);
        assert_eq!(entries(&xml).len(), 1, "{id}");
        assert_ne!(Document::parse(&xml).unwrap().findings, [], "{id}");
        assert!(Document::parse_with(&xml, &strict()).is_err(), "{id}");
    }
    let account = xml.find("<Acct>").unwrap()..xml.find("</Acct>").unwrap() + 7;
    let id = xml.find("<Acct><Id>").unwrap() + 6..xml.find("</Id><Ccy>").unwrap() + 5;
    for missing in [account, id] {
        let mut xml = xml.clone();
        xml.replace_range(missing, "");
        let kept = ReadOptions::default().keep_unreadable(true);
        let error = Document::parse_with(&xml, &kept).unwrap_err();
        assert!(
            matches!(error.kind(), ReadErrorKind::Missing { .. }),
            "{error}"
        );
    }
}

/// Damage that could misstate money costs the entry, and that entry alone.
#[test]
fn a_bad_amount_costs_its_own_entry() {
    for bad in [
        ENTRY.replacen(">5.00<", ">-5.00<", 1),
        ENTRY.replacen(">5.00<", ">NaN<", 1),
        ENTRY.replacen(">5.00<", "><", 1),
        ENTRY.replacen("<Amt ", &format!("<Amt{NIL}'true' "), 1),
        ENTRY.replacen("<Sts>BOOK</Sts>", "", 1),
        ENTRY.replacen("<CdtDbtInd>CRDT</CdtDbtInd>", "", 1),
    ] {
        let xml = document("", &format!("{ENTRY}{bad}{ENTRY}"));
        assert!(Document::parse(&xml).is_err(), "{bad}");
        let options = ReadOptions::default().keep_unreadable(true);
        let parsed = Document::parse_with(&xml, &options).unwrap();
        assert_eq!(parsed.document.reports[0].entries.len(), 2);
        assert!(
            parsed
                .findings
                .iter()
                .any(|finding| finding.path.contains("/Ntry[2]")),
            "{:?}",
            parsed.findings
        );
        let (mut read, mut unread) = (0, 0);
        for part in EntryReader::new(xml.as_bytes(), ReadOptions::default()) {
            match part {
                Ok(StreamItem::Entry(_)) => read += 1,
                Ok(_) => {}
                Err(error) => {
                    assert_eq!(error.unread(), Some(bad.as_str()));
                    unread += 1;
                }
            }
        }
        assert_eq!((read, unread), (2, 1), "{bad}");
    }
}

#[test]
fn text_is_text_whatever_encoding_it_declares() {
    for encoding in [
        "ISO-8859-1",
        "utf-16",
        "UTF-16",
        "windows-1252",
        "EBCDIC",
        "utf-32",
    ] {
        let named = ENTRY.replace("Jane", "Jörg Weiß");
        let xml = format!(
            "<?xml version=\"1.0\" encoding=\"{encoding}\"?>{}",
            document("", &named)
        );
        let reads = [
            Document::parse(&xml),
            Document::parse(xml.as_str()),
            Document::parse(xml.clone()),
            Document::parse_with(xml.as_bytes(), &ReadOptions::default().text(true)),
            Document::read_with(xml.as_bytes(), &ReadOptions::default().text(true)),
        ];
        for read in reads {
            let parsed = read.unwrap_or_else(|error| panic!("{encoding}: {error}"));
            let found: Vec<String> = parsed
                .findings
                .iter()
                .map(|finding| finding.kind.to_string())
                .collect();
            assert_eq!(
                found,
                [format!(
                    "expected UTF-8 as the encoding of a text, found {encoding}"
                )]
            );
            let entry = &parsed.document.reports[0].entries[0];
            assert_eq!(entry.counterparty_name(), Some("Jörg Weiß"), "{encoding}");
        }
        let mut stream = EntryReader::new(xml.as_bytes(), ReadOptions::default().text(true));
        assert!(stream.by_ref().all(|part| part.is_ok()));
        assert_eq!(stream.take_findings().len(), 1);
        // The declaration does not concern the schema, so only `deny_findings` refuses it.
        assert!(Document::parse_with(&xml, &strict()).is_ok());
        let deny = ReadOptions::default().deny_findings(true);
        assert!(Document::parse_with(&xml, &deny).is_err());
    }
    // Bytes are decoded by their declaration.
    let xml = format!(
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>{}",
        document("", &ENTRY.replace("Jane", "J\u{f6}rg"))
    );
    let latin: Vec<u8> = xml
        .chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap())
        .collect();
    let parsed = Document::parse(latin).unwrap();
    assert_eq!(
        parsed.document.reports[0].entries[0].counterparty_name(),
        Some("Jörg")
    );
    assert_eq!(parsed.findings, []);
    // A byte order mark of UTF-8 proves that the declaration is wrong.
    for bytes in [format!("\u{feff}{xml}").into_bytes(), {
        let latin_mark = xml.replace("ISO-8859-1", "utf-16");
        format!("\u{feff}{latin_mark}").into_bytes()
    }] {
        let parsed = Document::parse(&bytes).unwrap();
        let names: Vec<&str> = parsed.findings.iter().map(|own| own.kind.name()).collect();
        assert_eq!(names, ["DeclaredEncoding"]);
        let source = Slowly {
            bytes: &bytes,
            piece: 7,
        };
        let slow = Document::read_with(source, &ReadOptions::default()).unwrap();
        assert_eq!(slow, parsed);
        assert!(Document::parse_with(&bytes, &strict()).is_ok());
    }
    // The byte order mark of UTF-16 agrees with the declaration.
    let wide: Vec<u8> = format!("\u{feff}{}", xml.replace("ISO-8859-1", "UTF-16"))
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(Document::parse(wide).unwrap().findings, []);
    for encoding in ["UTF-8", "utf8"] {
        let xml = xml.replace("ISO-8859-1", encoding);
        assert_eq!(Document::parse(&xml).unwrap().findings, []);
    }
}

#[test]
fn what_is_no_report_is_named() {
    let other = document("", ENTRY).replace("052.001.06", "053.001.06");
    let message = document("", ENTRY).replace("BkToCstmrAcctRpt", "BkToCstmrStmt");
    let payment = document("", ENTRY).replace("camt.052.001.06", "pain.001.001.03");
    let cases: [(&[u8], &str); 20] = [
        (b"", "found nothing"),
        (b" \r\n", "found nothing"),
        (b"\xef\xbb\xbf", "found nothing"),
        (b"<?xml version='1.0'?>\n", "found nothing"),
        (b"PK\x03\x04\x14\x00\x08\x08\x08\x00", "found a ZIP archive"),
        (
            b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
            "found a gzip archive",
        ),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "found a PDF document"),
        (b"<html><body>Login</body></html>", "found an HTML page"),
        (b"\n<!DOCTYPE html>\n<html lang='en'>", "found an HTML page"),
        (
            b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'/>",
            "of an HTML page",
        ),
        (
            b"\r\n:20:STARTUMS\r\n:25:10020030/1234567\r\n",
            "found an MT940",
        ),
        (
            b"{1:F01AAAABB99AXXX0000000000}{2:I940",
            "a SWIFT message such as MT940",
        ),
        (
            b"Date;Amount;Text\r\n2021-07-29;5,00;rent\r\n",
            "separated values (CSV)",
        ),
        (b"\"Date\",\"Amount\"\n", "separated values (CSV)"),
        (b"{\"statement\":[]}", "found JSON"),
        (b"[]", "found JSON"),
        (b"PD94bWwgdmVyc2lvbj0iMS4wIj8+", "found Base64"),
        (
            other.as_bytes(),
            "of a camt.053, which the crate bankrail-camt053 reads",
        ),
        (message.as_bytes(), "found BkToCstmrStmt, of a camt.053"),
        (
            payment.as_bytes(),
            "found urn:iso:std:iso:20022:tech:xsd:pain.001.001.03",
        ),
    ];
    for (bytes, words) in cases {
        let source = || Slowly { bytes, piece: 3 };
        let mut errors = vec![
            Document::parse(bytes).unwrap_err(),
            Document::read_with(source(), &ReadOptions::default()).unwrap_err(),
            EntryReader::new(source(), ReadOptions::default())
                .find_map(Result::err)
                .unwrap(),
        ];
        if let Ok(text) = str::from_utf8(bytes) {
            errors.push(Document::parse(text).unwrap_err());
        }
        for error in errors {
            assert!(error.to_string().contains(words), "{words}: {error}");
        }
    }
    // Any other text is malformed XML.
    let error = Document::parse("hello").unwrap_err();
    assert!(
        matches!(error.kind(), ReadErrorKind::Malformed { .. }),
        "{error}"
    );
}

#[test]
fn a_day_with_a_time_and_a_time_without_seconds_keep_their_day() {
    for (good, bad, day) in [
        (
            "<Dt>2021-07-29</Dt>",
            "<Dt>2021-07-30T00:00:00</Dt>",
            "2021-07-30",
        ),
        (
            "<Dt>2021-07-29</Dt>",
            "<Dt> 2021-07-30T10:11:12.5+10:00 </Dt>",
            "2021-07-30",
        ),
        (
            "<Dt>2021-07-29</Dt>",
            "<Dt>2021-07-30T10:11</Dt>",
            "2021-07-30",
        ),
        (
            "<Dt>2021-07-29</Dt>",
            "<DtTm>2021-07-30T10:11</DtTm>",
            "2021-07-30",
        ),
        (
            "<Dt>2021-07-29</Dt>",
            "<DtTm>2021-07-30T10:11Z</DtTm>",
            "2021-07-30",
        ),
        (
            "<Dt>2021-07-29</Dt>",
            "<DtTm>2021-07-30T10:11+10:00</DtTm>",
            "2021-07-30",
        ),
    ] {
        let xml = document("", &ENTRY.replace(good, bad));
        assert_eq!(entries(&xml).len(), 1);
        let parsed = Document::parse(&xml).unwrap();
        let date = parsed.document.reports[0].entries[0]
            .booking_date
            .as_ref()
            .unwrap();
        let found = serde_json::to_string(date).unwrap();
        assert!(found.contains(day), "{found}");
        assert_eq!(parsed.findings.len(), 1, "{:?}", parsed.findings);
        assert!(matches!(
            parsed.findings[0].kind,
            FindingKind::Pattern { .. }
        ));
        assert!(Document::parse_with(&xml, &ReadOptions::default().mode(Mode::Strict)).is_err());
    }
    for bad in [
        "<DtTm>2021-07-30T10:61</DtTm>",
        "<DtTm>12021-07-30T10:11</DtTm>",
        "<Dt>2021-02-30T10:11</Dt>",
    ] {
        let parsed =
            Document::parse(document("", &ENTRY.replace("<Dt>2021-07-29</Dt>", bad))).unwrap();
        assert_eq!(
            parsed.document.reports[0].entries[0].booking_date, None,
            "{bad}"
        );
    }
}

#[test]
fn line_ends_in_cdata_are_normalised_as_elsewhere() {
    let text = |inner: &str| {
        let entry = ENTRY.replace(
            "</Ntry>",
            &format!("<AddtlNtryInf>{inner}</AddtlNtryInf></Ntry>"),
        );
        let parsed = Document::parse(document("", &entry)).unwrap();
        assert_eq!(parsed.findings, []);
        parsed.document.reports[0].entries[0]
            .additional_information
            .clone()
            .unwrap()
    };
    for inner in [
        "a\r\nb\rc\nd",
        "<![CDATA[a\r\nb\rc\nd]]>",
        "a<![CDATA[\r\nb\r]]>c\r\nd",
    ] {
        assert_eq!(text(inner).as_str(), "a\nb\nc\nd", "{inner:?}");
    }
}

#[test]
fn reports_after_public_trouble_are_read() {
    let Some(folder) = shared("samples/reports") else {
        return;
    };
    let mut read = 0;
    for name in [
        "charges-comma",
        "tp-without-cdorprtry",
        "no-bktxcd",
        "refs-prtry-without-tp",
        "agent-without-fininstnid",
        "rvsl-True",
        "summary-sum-comma",
        "seqnb-text",
        "bal-dt-text",
        "xsi-nil-optional",
        "xsi-nil-false",
    ] {
        let xml = std::fs::read_to_string(folder.join(format!("{name}.xml"))).unwrap();
        assert!(!entries(&xml).is_empty(), "{name}");
        let findings = Document::parse(&xml).unwrap().findings;
        let told = |kind: &FindingKind| {
            matches!(
                kind,
                FindingKind::Missing { .. } | FindingKind::Unreadable { .. }
            )
        };
        assert_eq!(
            findings.iter().any(|finding| told(&finding.kind)),
            name != "xsi-nil-false",
            "{name}: {findings:?}"
        );
        read += 1;
    }
    for (name, words) in [
        ("zip", "a ZIP archive"),
        ("html", "an HTML page"),
        ("mt940", "MT940"),
        ("empty", "nothing"),
        ("root-wrong-message", "camt.053"),
    ] {
        let bytes = std::fs::read(folder.join(format!("{name}.xml"))).unwrap();
        let error = Document::parse(bytes.as_slice()).unwrap_err();
        assert!(error.to_string().contains(words), "{name}: {error}");
        read += 1;
    }
    assert_eq!(read, 16);
}
