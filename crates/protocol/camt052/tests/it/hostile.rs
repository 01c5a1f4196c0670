//! Documents made to be expensive: work and memory grow with their length, and no faster.
//!
//! The limits that would refuse a document at once are lifted, because the work behind them must be
//! linear, too. With these numbers, quadratic work would not end.

use crate::findings::document;
use bankrail_camt052::{
    Document, EntryReader, LimitKind, Mode, Parsed, ReadError, ReadErrorKind, ReadLimits,
    ReadOptions,
};
use std::fmt::Write as _;

fn unlimited() -> ReadOptions {
    ReadOptions::default().limits(
        ReadLimits::default()
            .max_attributes(usize::MAX)
            .max_memory_per_byte(usize::MAX),
    )
}

/// Returns `count` texts, each made of its number.
fn numbered(count: usize, mut each: impl FnMut(usize, &mut String)) -> String {
    let mut text = String::new();
    (0..count).for_each(|number| each(number, &mut text));
    text
}

fn declarations(count: usize) -> String {
    numbered(count, |number, text| {
        write!(text, " xmlns:p{number}=\"u{number}\"").unwrap()
    })
}

fn attributes(count: usize) -> String {
    numbered(count, |number, text| write!(text, " a{number}=''").unwrap())
}

/// Reads a document whole and as a stream; the findings do not matter here.
fn read(xml: &str, options: ReadOptions) -> Result<Parsed, ReadError> {
    let whole = Document::parse_with(xml, &options);
    let streamed: Result<Vec<_>, _> = EntryReader::new(xml.as_bytes(), options).collect();
    assert_eq!(whole.is_ok(), streamed.is_ok(), "{whole:?} {streamed:?}");
    whole
}

fn limit(xml: &str, options: ReadOptions) -> LimitKind {
    match read(xml, options).unwrap_err().kind() {
        ReadErrorKind::Limit { limit, .. } => *limit,
        other => panic!("{other:?}"),
    }
}

#[test]
fn kept_markup_takes_the_declarations_that_it_uses_out_of_many() {
    let xml = document("", &"<x/><p7:x/>".repeat(20_000));
    let xml = xml.replace("<Document", &format!("<Document{}", declarations(20_000)));
    let parsed = read(&xml, unlimited()).unwrap();
    let kept = parsed.document.reports[0].extras.parts();
    assert_eq!(kept.len(), 40_000);
    assert!(matches!(&kept[0].part, bankrail_camt052::ExtraPart::Xml(xml) if **xml == *"<x/>"));
    assert!(
        matches!(&kept[1].part, bankrail_camt052::ExtraPart::Xml(xml) if **xml == *"<p7:x xmlns:p7=\"u7\"/>")
    );
}

#[test]
fn kept_markup_has_the_namespaces_it_had() {
    let xml = document(
        "",
        "<x xmlns:b='own' a:y='' b:y=''><c:z d='e:q /f:q'>g:q : ::</c:z><y xmlns:h='inner' h:z=''/><h:z/></x>",
    );
    let around = "<Document".to_owned()
        + &numbered(40, |number, text| {
            write!(text, " xmlns:p{number}='u'").unwrap()
        });
    let around = numbered(9, |number, text| {
        let prefix = char::from(b"abcdefghi"[number]);
        write!(text, " xmlns:{prefix}='outer-{prefix}'").unwrap();
    }) + &around.replace("<Document", "");
    let parsed = read(
        &xml.replace("<Document", &format!("<Document{around}")),
        ReadOptions::default(),
    )
    .unwrap();
    let [extra] = parsed.document.reports[0].extras.parts() else {
        panic!("{parsed:?}")
    };
    let bankrail_camt052::ExtraPart::Xml(kept) = &extra.part else {
        panic!("{extra:?}")
    };
    let declared = "xmlns:a=\"outer-a\" xmlns:c=\"outer-c\" xmlns:e=\"outer-e\" xmlns:f=\"outer-f\" \
                    xmlns:g=\"outer-g\" xmlns:h=\"outer-h\"";
    assert!(
        kept.starts_with(&format!("<x {declared} xmlns:b='own' a:y='' b:y=''><c:z")),
        "{kept}"
    );
    let again = Document::parse(parsed.document.to_xml().unwrap()).unwrap();
    assert_eq!(again.document, parsed.document);
}

#[test]
fn a_tag_with_many_attributes() {
    let xml = document(
        "",
        &format!("<x{} b='' xmlns:q='u' q:b=''/>", attributes(30_000)),
    );
    assert_eq!(read(&xml, unlimited()).unwrap().findings.len(), 1);
    let twice = xml.replace("b=''", "a77=''");
    assert!(
        read(&twice, unlimited())
            .unwrap_err()
            .kind()
            .to_string()
            .contains("a77")
    );
    let many = numbered(30_000, |number, text| {
        write!(text, " p{number}:a=''").unwrap()
    });
    let prefixed = xml
        .replace("<x", &format!("<x{many}"))
        .replace("<Document", &format!("<Document{}", declarations(30_000)));
    assert!(read(&prefixed, unlimited()).is_ok());
    let same = format!("<x xmlns:q='u0'{many} q:a=''/>");
    let same =
        document("", &same).replace("<Document", &format!("<Document{}", declarations(30_000)));
    assert!(
        read(&same, unlimited())
            .unwrap_err()
            .kind()
            .to_string()
            .contains("twice")
    );
}

#[test]
fn attributes_are_limited_and_a_long_tag_is_refused_before_it_is_read() {
    assert!(
        read(
            &document("", &format!("<x{}/>", attributes(256))),
            ReadOptions::default()
        )
        .is_ok()
    );
    assert_eq!(
        limit(
            &document("", &format!("<x{}/>", attributes(257))),
            ReadOptions::default()
        ),
        LimitKind::Attributes
    );
    assert_eq!(
        limit(
            &document("", &format!("<x{}/>", declarations(257))),
            ReadOptions::default()
        ),
        LimitKind::Attributes
    );
    let options = ReadOptions::default().limits(
        ReadLimits::default()
            .max_attributes(usize::MAX)
            .max_token_bytes(1_000_000),
    );
    let twice = document("", &format!("<x a='' a=''{}/>", " ".repeat(1_000_000)));
    assert_eq!(limit(&twice, options), LimitKind::TokenBytes);
}

const ENTRY: &str =
    r#"<Ntry><Amt Ccy="AUD">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd/></Ntry>"#;

#[test]
fn text_between_elements_is_bounded_as_any_text_is() {
    let text = "aaaaaaaa&amp;".repeat(120_000);
    assert_eq!(
        limit(&document("", &text), ReadOptions::default()),
        LimitKind::TextBytes
    );
    let blank = " &amp;<!-- -->"
        .repeat(120_000)
        .replace("&amp;", &" ".repeat(10));
    assert!(read(&document("", &blank), ReadOptions::default()).is_ok());
}

#[test]
fn what_is_kept_beyond_the_schema_is_bounded() {
    let options = ReadOptions::default().limits(
        ReadLimits::default()
            .max_attributes(usize::MAX)
            .max_memory_per_byte(usize::MAX)
            .max_kept_bytes(20_000),
    );
    let xml = |odd: &str| document("", odd);
    let comment = format!("<!-- {} -->", "c".repeat(90));
    for (odd, what) in [
        (format!("<x>{}</x>", comment.repeat(500)), "one element"),
        ("<x/>".repeat(500), "elements"),
        (
            format!("{ENTRY}<x/>").repeat(500),
            "elements between entries",
        ),
        (format!("{ENTRY}text").repeat(500), "text between entries"),
        (
            ENTRY.replace("<Ntry>", &format!("<Ntry{}>", attributes(500))),
            "attributes",
        ),
        (
            format!("<x xmlns=''/>{}", "<p0:x/>".repeat(5)).replace("p0", "long"),
            "declarations",
        ),
    ] {
        let long = format!("<Document xmlns:long='{}'", "u".repeat(5_000));
        assert_eq!(
            limit(&xml(&odd).replace("<Document", &long), options),
            LimitKind::KeptBytes,
            "{what}"
        );
    }
    let data = format!(
        "<SplmtryData><Envlp><x>{}</x></Envlp></SplmtryData></BkToCstmrAcctRpt>",
        comment.repeat(500)
    );
    assert_eq!(
        limit(&xml("").replace("</BkToCstmrAcctRpt>", &data), options),
        LimitKind::KeptBytes
    );
    // Each entry may have as much.
    let entry = ENTRY.replace("<Sts>", &format!("{}<Sts>", "<x/>".repeat(20)));
    let parsed = read(&xml(&entry.repeat(100)), options).unwrap();
    assert_eq!(parsed.document.reports[0].entries.len(), 100);
}

/// Three bytes may stand for a namespace of any length in each entry.
#[test]
fn namespaces_that_kept_parts_take_along_are_bounded_in_all_of_a_document() {
    let declared = |bytes: usize| format!("<Document xmlns:long='{}'", "u".repeat(bytes));
    for odd in [
        ENTRY.replace("<Sts>", "<long:x/><Sts>"),
        ENTRY.replace("<Sts>", "<Sts long:x=''>"),
    ] {
        let entries =
            |bytes: usize| document("", &odd.repeat(200)).replace("<Document", &declared(bytes));
        assert_eq!(
            limit(&entries(5_000), ReadOptions::default()),
            LimitKind::Memory,
            "{odd}"
        );
        assert!(read(&entries(50), ReadOptions::default()).is_ok(), "{odd}");
    }
}

fn supplemented(data: &str) -> String {
    let data = format!("<SplmtryData><Envlp>{data}</Envlp></SplmtryData></BkToCstmrAcctRpt>");
    document("", "").replace("</BkToCstmrAcctRpt>", &data)
}

/// Supplementary data is kept in one pass, however many documents are in it and however deep.
#[test]
fn many_documents_within_supplementary_data() {
    let inner = document("", "").replace("<MsgId>m", "<MsgId>p:");
    let around = |inner: &str| {
        format!(
            "<a xmlns='urn:a' xmlns:p='{}'>{inner}</a>",
            "u".repeat(2_000_000)
        )
    };
    let deep = (0..12).fold(document("", "<x/>"), |xml, _| supplemented(&xml));
    for held in [around(&inner.repeat(2_000)), deep] {
        let parsed = read(&supplemented(&held), unlimited()).unwrap();
        assert_eq!(parsed.findings, []);
    }
}

/// A total is found in constant time, whatever the number of others of the same code.
#[test]
fn many_totals_of_one_code_and_many_entries() {
    let total = "<TxsSummry><TtlNtriesPerBkTxCd><NbOfNtries>7</NbOfNtries><BkTxCd/></TtlNtriesPerBkTxCd></TxsSummry>";
    let mut parsed = Document::parse(document(total, ENTRY)).unwrap();
    assert_eq!(parsed.findings.len(), 1);
    let report = &mut parsed.document.reports[0];
    report.entries = vec![report.entries[0].clone(); 100_000];
    let totals = &mut report.summary.as_mut().unwrap().by_bank_transaction_code;
    *totals = vec![totals[0].clone(); 100_000];
    assert_eq!(parsed.document.check(), []);
}

#[test]
fn elements_outside_of_entries_are_counted_together() {
    let options = ReadOptions::default().limits(ReadLimits::default().max_entry_elements(60));
    assert!(read(&document("", &ENTRY.repeat(100)), options).is_ok());
    let balance = "<Bal><Tp><CdOrPrtry><Cd>ITBD</Cd></CdOrPrtry></Tp><Amt Ccy=\"AUD\">1.00</Amt>\
                   <CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2021-07-29</Dt></Dt></Bal>";
    assert_eq!(
        limit(
            &document("", &format!("{ENTRY}{balance}").repeat(10)),
            options
        ),
        LimitKind::EntryElements
    );
    assert_eq!(
        limit(&document("", &format!("{ENTRY}<x/>").repeat(60)), options),
        LimitKind::EntryElements
    );
    // Each report may have as many, and the message beside them.
    let report = document("", &format!("{ENTRY}{balance}").repeat(3));
    let (start, end) = (
        report.find("<Rpt>").unwrap(),
        report.find("</Rpt>").unwrap() + "</Rpt>".len(),
    );
    let reports = report[start..end].repeat(20);
    let many = format!("{}{reports}{}", &report[..start], &report[end..]);
    assert_eq!(read(&many, options).unwrap().document.reports.len(), 20);
    let odd = many.replace("<Rpt>", "<x/><y/><z/><Rpt>");
    assert_eq!(limit(&odd, options), LimitKind::EntryElements);
}

/// The place of each finding is counted from the previous one, not from the beginning.
#[test]
fn many_findings_far_into_a_long_line() {
    let comment = format!("<!--{}-->", "c".repeat(1_000_000));
    let odd = format!("{}{ENTRY}<x/>{}", comment.repeat(4), "<é/>".repeat(30_000));
    let xml = document("", "").replace("\n</Rpt>", &format!("{odd}</Rpt>"));
    let options = ReadOptions::default().limits(ReadLimits::default().max_findings(100_000));
    let parsed = Document::parse_with(&xml, &options).unwrap();
    assert_eq!(parsed.findings.len(), 30_001);
    let at = xml.rfind("<é/>").unwrap();
    let column = xml[xml[..at].rfind('\n').unwrap() + 1..at].chars().count() + 1;
    let last = parsed.findings.last().unwrap().position.unwrap();
    assert_eq!((last.offset, last.column), (at as u64, column as u64));
}

#[test]
fn parts_kept_beside_many_elements_are_written_in_their_places() {
    let lines = numbered(30_000, |number, text| {
        write!(text, "<Ustrd>a</Ustrd><x{number}/>").unwrap()
    });
    let details = format!(
        "<BkTxCd/><NtryDtls><TxDtls><Amt Ccy=\"AUD\">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>\
         <RmtInf>{lines}</RmtInf></TxDtls></NtryDtls>"
    );
    let xml = document("", &ENTRY.replace("<BkTxCd/>", &details));
    let parsed = Document::parse_with(&xml, &unlimited()).unwrap();
    assert!(parsed.document.to_xml().unwrap().contains(&lines));
}

#[test]
fn findings_without_room_are_counted() {
    let counted = |findings: usize, streamed: bool, xml: &str| {
        let options = ReadOptions::default().limits(ReadLimits::default().max_findings(findings));
        if !streamed {
            let parsed = Document::parse_with(xml, &options).unwrap();
            return (parsed.findings.len(), parsed.further_findings.total());
        }
        let mut reader = EntryReader::new(xml.as_bytes(), options);
        while reader.next_item().unwrap().is_some() {}
        (
            reader.take_findings().len(),
            reader.further_findings().total(),
        )
    };
    let xml = document(
        "<TxsSummry><TtlNtries><NbOfNtries>9</NbOfNtries></TtlNtries></TxsSummry>",
        &format!("{ENTRY}<x/>").repeat(7),
    );
    for streamed in [false, true] {
        assert_eq!(counted(1_000, streamed, &xml), (8, 0));
        // One kind does not take the room of another.
        assert_eq!(counted(3, streamed, &xml), (4, 4));
        assert_eq!(counted(0, streamed, &xml), (0, 8));
    }
    let options = ReadOptions::default().limits(ReadLimits::default().max_findings(3));
    let further = Document::parse_with(&xml, &options)
        .unwrap()
        .further_findings;
    assert_eq!(
        (
            further.of("UnknownElement"),
            further.of("EntryCount"),
            further.is_empty()
        ),
        (4, 0, false)
    );
    assert_eq!(further.iter().collect::<Vec<_>>(), [("UnknownElement", 4)]);
    let options = ReadOptions::default().limits(ReadLimits::default().max_findings(2));
    let error = Document::parse_with(format!("{xml}<"), &options).unwrap_err();
    assert_eq!(
        (error.findings().len(), error.further_findings().total()),
        (3, 5)
    );
    // A finding refuses a document also without room for findings.
    let options = ReadOptions::default().limits(ReadLimits::default().max_findings(0));
    let deny = options.deny_findings(true);
    let error = Document::parse_with(xml.replace("<x/>", ""), &deny).unwrap_err();
    assert!(
        matches!(error.kind(), ReadErrorKind::Refused(_)),
        "{error:?}"
    );
    let strict = options.mode(Mode::Strict);
    assert!(Document::parse_with(&xml, &strict).is_err());
    assert!(Document::parse_with(xml.replace("<x/>", ""), &strict).is_ok());
}
