//! The engine on an invented message: reading, findings, refusals, streams, writing, checks,
//! limits, kept parts, namespaces, encodings, and the two readers, which agree.

use crate::day_book::{
    Day, Direction, Document, ITEM, Item, ItemReader, Payer, Place, StreamItem, document,
};
use bankrail_iso20022::__private::parse_counting;
use bankrail_iso20022::{
    Amount, Envelope, ExtraPart, Extras, FindingKind, LimitKind, Mode, ReadError, ReadErrorKind,
    ReadLimits, ReadOptions, Text, WriteError, WriteOptions,
};
use bankrail_values::{Currency, Decimal};

fn strict() -> ReadOptions {
    ReadOptions::default().mode(Mode::Strict)
}

/// Reads a document with and without the fast reader, which must give the same result, and as a
/// stream.
fn read(
    xml: &str,
    options: &ReadOptions,
) -> Result<bankrail_iso20022::Parsed<Document>, ReadError> {
    let (fast, ..) = parse_counting::<Document>(xml, options, true);
    let (slow, taken, _) = parse_counting::<Document>(xml, options, false);
    assert_eq!(taken, 0);
    assert_eq!(format!("{fast:?}"), format!("{slow:?}"), "{xml}");
    let piecemeal = std::io::BufReader::with_capacity(7, xml.as_bytes());
    assert_eq!(
        format!("{:?}", Document::read_with(piecemeal, options)),
        format!("{fast:?}"),
        "{xml}"
    );
    fast
}

/// Returns the name and path of each finding.
fn found(xml: &str) -> Vec<String> {
    let parsed = read(xml, &ReadOptions::default()).unwrap();
    parsed
        .findings
        .iter()
        .map(|finding| format!("{} {}", finding.kind.name(), finding.path))
        .collect()
}

fn item(more: &str) -> String {
    ITEM.replace("</Itm>", &format!("{more}</Itm>"))
}

fn refused(xml: &str, options: &ReadOptions) -> ReadError {
    read(xml, options).unwrap_err()
}

#[test]
fn a_document_becomes_the_model_and_the_same_document_again() {
    let xml = document(
        &[
            item("<DtTm>2021-07-29T10:00:00.50+10:00</DtTm><Pyr><Nm>A &lt; B</Nm></Pyr><Note>a</Note><Note>b</Note>"),
            item("<Pyr><Line>1</Line><Line>2</Line></Pyr>").replace("CRDT", "DBIT"),
        ]
        .concat(),
    );
    let parsed = read(&xml, &strict()).unwrap();
    assert!(parsed.findings.is_empty());
    let [first, second] = parsed.document.days[0].items.as_slice() else {
        panic!()
    };
    assert_eq!(
        (first.amount.to_string().as_str(), &first.direction),
        ("5.00 AUD", &Direction::Credit)
    );
    assert_eq!(
        first.at.as_ref().unwrap().to_string(),
        "2021-07-29T10:00:00.50+10:00"
    );
    assert_eq!(first.payer, Some(Payer::Name("A < B".into())));
    assert_eq!(first.notes, ["a", "b"]);
    assert_eq!(
        second.payer,
        Some(Payer::Lines(vec!["1".into(), "2".into()]))
    );
    assert_eq!(parsed.document.to_xml().unwrap(), xml);
    let indented = parsed
        .document
        .to_xml_with(&WriteOptions::default().indent(2))
        .unwrap();
    assert_eq!(
        read(&indented, &strict()).unwrap().document,
        parsed.document
    );
    let (mut sink, mut json) = (Vec::new(), String::new());
    parsed
        .document
        .write_to(&mut sink, &WriteOptions::default())
        .unwrap();
    parsed.document.write_json_string(&mut json).unwrap();
    assert_eq!(
        (sink, json),
        (
            xml.clone().into_bytes(),
            format!("\"{}\"", xml.replace('"', "\\\""))
        )
    );
}

#[test]
fn characters_are_escaped_where_they_have_a_meaning() {
    let mut document = Document::parse(document(&item("<Note>~</Note>")))
        .unwrap()
        .document;
    for c in (' '..='\u{ff}').chain([
        '\t',
        '\n',
        '\u{2028}',
        '\u{d7ff}',
        '\u{e000}',
        '\u{fffd}',
        '\u{1f44d}',
    ]) {
        for text in [
            format!("{c}"),
            format!("a{c}"),
            format!("abcdefgh{c}"),
            format!("{c}{c}bcdefgh"),
        ] {
            document.days[0].items[0].notes[0] = Text::new(&text);
            let written = document.to_xml().unwrap();
            let escaped = text
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;");
            assert!(
                written.contains(&format!("<Note>{escaped}</Note>")),
                "{text:?} {written}"
            );
            assert_eq!(
                Document::parse(&written).unwrap().document,
                document,
                "{text:?}"
            );
            let mut json = String::new();
            document.write_json_string(&mut json).unwrap();
            let quoted = written
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\n', "\\n")
                .replace('\t', "\\t");
            assert_eq!(json, format!("\"{quoted}\""), "{text:?}");
        }
    }
}

#[test]
fn tolerant_reading_keeps_what_the_schema_refuses_and_reports_it() {
    let at = "/Document/DayBook/Day[1]/Itm[1]";
    for (content, expected) in [
        (
            item("<Note>a</Note><DtTm>2021-07-29T10:00:00</DtTm>"),
            format!("OutOfOrder {at}/DtTm"),
        ),
        (
            item("<Note>a</Note>").replace("CRDT", "MINE"),
            format!("UnknownCode {at}/CdtDbtInd"),
        ),
        (
            item("<Note>more than ten</Note>"),
            format!("Length {at}/Note[1]"),
        ),
        (
            item("<Pyr><Nb>12</Nb></Pyr>"),
            format!("Pattern {at}/Pyr/Nb"),
        ),
        (
            item("<Pyr><Nm>a</Nm><Nb>123</Nb></Pyr>"),
            format!("SecondChoice {at}/Pyr/Nb"),
        ),
        (item("<DtTm>noon</DtTm>"), format!("Unreadable {at}/DtTm")),
        (item("<Xtra/>"), format!("UnknownElement {at}/Xtra")),
        (item("text"), format!("UnexpectedText {at}")),
        (
            item("").replace("<CdtDbtInd>", "<CdtDbtInd a=\"b\">"),
            format!("UnknownAttribute {at}/CdtDbtInd"),
        ),
        (
            item("").replace(" Ccy=\"AUD\"", ""),
            format!("MissingCurrency {at}/Amt"),
        ),
        (
            item("").replace("5.00", "5.000001"),
            format!("Pattern {at}/Amt"),
        ),
        (
            item("").replace("5.00", "1000000000000000000"),
            format!("Pattern {at}/Amt"),
        ),
        (
            item("").replace("5.00", "1000000000000000001"),
            format!("Pattern {at}/Amt"),
        ),
        (item("").replace("AUD", "aud"), format!("Pattern {at}/Amt")),
        (
            item(&"<Note>a</Note>".repeat(4)),
            format!("Repeated {at}/Note[4]"),
        ),
        (item("<Plc></Plc>"), format!("Missing {at}/Plc")),
        (item("<Pyr></Pyr>"), format!("Missing {at}/Pyr")),
        (
            "<Data><a xmlns=\"\"/><b xmlns=\"\"/></Data>".to_owned(),
            "Envelope /Document/DayBook/Day[1]/Data".to_owned(),
        ),
    ] {
        let xml = document(&content);
        assert_eq!(found(&xml), [expected.as_str()], "{xml}");
        assert!(
            matches!(refused(&xml, &strict()).kind(), ReadErrorKind::Refused(_)),
            "{xml}"
        );
        let read = Document::parse(&xml).unwrap().document;
        let incomplete = WriteOptions::default().incomplete(true);
        let written = read.to_xml_with(&incomplete).unwrap();
        assert_eq!(Document::parse(written).unwrap().document, read, "{xml}");
        assert!(
            read.check()
                .iter()
                .all(|finding| finding.position.is_none()),
            "a model has no places"
        );
        if let Err(WriteError::Invalid { finding }) =
            read.to_xml_with(&WriteOptions::default().schema_valid(true))
        {
            assert_eq!(finding.position, None);
        }
        // The writer knows one order only.
        let mended = expected.starts_with("OutOfOrder");
        assert_eq!(
            read.to_xml_with(&WriteOptions::default().schema_valid(true))
                .is_ok(),
            mended,
            "{xml}"
        );
        assert_eq!(read.check_schema().is_none(), mended, "{xml}");
        // The document is written unless the model lacks what the schema demands. A choice without
        // an alternative is kept verbatim.
        let lacks = expected.starts_with("MissingCurrency") || expected.ends_with("/Plc");
        assert_eq!(
            matches!(read.to_xml(), Err(WriteError::Invalid { .. })),
            lacks,
            "{xml}"
        );
    }
    // Zeros at the end are no digits.
    for amount in ["5.0000000", "999999999999999999", "5.00000"] {
        assert!(
            read(&document(&item("").replace("5.00", amount)), &strict())
                .unwrap()
                .findings
                .is_empty(),
            "{amount}"
        );
    }
    let headless = document(ITEM).replace("<Hdr><MsgId>m</MsgId></Hdr>", "");
    assert_eq!(found(&headless), ["Missing /Document/DayBook"]);
}

/// No document can hold the identification, so that the model alone is judged.
#[test]
fn an_envelope_is_judged_without_a_document() {
    let mut document = Document::parse(document("")).unwrap().document;
    document.days[0].id = Text::new("\0");
    for (markup, expected) in [
        ("<a/>", false),
        ("<a/><b/>", true),
        ("", true),
        ("<a>", true),
    ] {
        document.days[0].data = Some(Envelope::from_unchecked_xml(markup));
        let found: Vec<_> = document
            .check()
            .into_iter()
            .map(|finding| finding.kind.name())
            .collect();
        assert_eq!(
            found,
            if expected {
                vec!["Character", "Envelope"]
            } else {
                vec!["Character"]
            },
            "{markup}"
        );
    }
}

#[test]
fn a_choice_of_something_else_is_kept() {
    let xml = document(&item("<Pyr><Own>a</Own></Pyr>"));
    let at = "/Document/DayBook/Day[1]/Itm[1]/Pyr";
    assert_eq!(
        found(&xml),
        [format!("UnknownElement {at}/Own"), format!("Missing {at}")]
    );
    let document = Document::parse(&xml).unwrap().document;
    assert_eq!(document.days[0].items[0].payer, Some(Payer::Unknown));
    assert_eq!(
        document
            .to_xml_with(&WriteOptions::default().incomplete(true))
            .unwrap(),
        xml
    );
}

#[test]
fn what_no_model_can_hold_is_an_error_with_its_place() {
    for (xml, at, path, expected) in [
        (
            document(&ITEM.replace("5.00", "five")),
            "<Amt",
            "/Document/DayBook/Day[1]/Itm[1]/Amt",
            "found \"five\"",
        ),
        (
            document("<Itm><Amt Ccy=\"AUD\">1</Amt>x</Itm>"),
            "<Itm",
            "/Document/DayBook/Day[1]/Itm[1]",
            "CdtDbtInd",
        ),
        (
            document("").replace(":daybook", ":other"),
            "<Document",
            "",
            "urn:example:other",
        ),
        (
            document("<a>&x;</a>"),
            "&x;",
            "/Document/DayBook/Day[1]",
            "found x",
        ),
        (
            document("</Itm>"),
            "</Itm>",
            "/Document/DayBook/Day[1]",
            "Itm",
        ),
        ("<!DOCTYPE a><a/>".to_owned(), "<!DOCTYPE", "", "refused"),
    ] {
        let error = refused(&xml, &ReadOptions::default());
        assert_eq!(error.path(), path, "{error}");
        assert_eq!(
            usize::try_from(error.position().offset).unwrap(),
            xml.find(at).unwrap(),
            "{error}"
        );
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn parts_beyond_the_schema_keep_their_place() {
    let odd = item("<x:y xmlns:x=\"urn:x\" z=\"1\"><w/>t</x:y>")
        .replace("<CdtDbtInd>", "<CdtDbtInd a=\"b\">");
    let xml = document(&odd);
    let parsed = read(&xml, &ReadOptions::default()).unwrap();
    let item = &parsed.document.days[0].items[0];
    let parts: Vec<_> = item
        .extras
        .parts()
        .iter()
        .map(|extra| (&extra.after, &extra.part))
        .collect();
    assert!(
        matches!(&parts[0], (None, ExtraPart::Attribute { name, .. }) if **name == *"a"),
        "{parts:?}"
    );
    let (Some(after), ExtraPart::Xml(kept)) = &parts[1] else {
        panic!("{parts:?}")
    };
    assert_eq!((&*after.name, after.index), ("CdtDbtInd", 0));
    assert!(
        kept.starts_with("<x:y ") && kept.contains("<w/>t</x:y>"),
        "{kept}"
    );
    let again = read(&parsed.document.to_xml().unwrap(), &ReadOptions::default()).unwrap();
    assert_eq!(again.document, parsed.document);
    let mut copied = item.clone();
    assert_eq!(
        item.extras.parts().iter().cloned().collect::<Extras>(),
        item.extras
    );
    copied.extras.clear();
    assert!(copied.extras.is_empty() && !item.extras.is_empty());
    // Beside the element of the message.
    let beside = document(ITEM)
        .replace("</Document>", "<Xtra/></Document>")
        .replace("<Document", "<Document a=\"b\"");
    assert_eq!(
        found(&beside),
        [
            "UnknownAttribute /Document",
            "UnknownElement /Document/Xtra"
        ]
    );
    let parsed = read(&beside, &ReadOptions::default()).unwrap();
    let again = read(&parsed.document.to_xml().unwrap(), &ReadOptions::default()).unwrap();
    assert_eq!((again.document, again.findings.len()), (parsed.document, 2));
}

/// A part after an element that was removed has no place; it is reported by its name.
#[test]
fn parts_without_a_place_are_named() {
    for (part, expected) in [
        ("<Xtra/>", "the schema has no element Xtra here"),
        ("<Xtra>1</Xtra>", "the schema has no element Xtra here"),
        (
            "<x:y xmlns:x=\"urn:x\"/>",
            "the schema has no element x:y here",
        ),
        ("text", "expected elements only, found the text \"text\""),
    ] {
        let mut read = Document::parse(document(&item(&format!("<Note>a</Note>{part}"))))
            .unwrap()
            .document;
        read.days[0].items[0].notes.clear();
        let checked: Vec<String> = read.check().iter().map(ToString::to_string).collect();
        assert_eq!(
            checked,
            [format!("/Document/DayBook/Day[1]/Itm[1]: {expected}")],
            "{part}"
        );
        assert!(
            matches!(read.to_xml(), Err(WriteError::Unfaithful { .. })),
            "{part}"
        );
    }
}

#[test]
fn a_stream_hands_out_the_parts_and_goes_on_after_one_that_cannot_be_read() {
    let xml = document(&[ITEM, &ITEM.replace("5.00", "five"), ITEM].concat());
    let mut seen = Vec::new();
    let mut reader = ItemReader::new(xml.as_bytes(), ReadOptions::default());
    while let Some(part) = reader.next() {
        seen.push(match part {
            Ok(StreamItem::Start(day)) => format!("start {}", day.id),
            Ok(StreamItem::Entry(item)) => item.amount.to_string(),
            Ok(StreamItem::End(day)) => format!("end {}", day.items.len()),
            Ok(StreamItem::MessageEnd(message)) => {
                format!("end of the message {}", message.days.len())
            }
            Ok(part) => panic!("{part:?}"),
            Err(error) => error.unread().unwrap().to_owned(),
        });
        assert_eq!(
            reader.header().is_some(),
            !seen.last().unwrap().ends_with("message 0")
        );
    }
    let odd = ITEM.replace("5.00", "five");
    assert_eq!(
        seen,
        [
            "start d",
            "5.00 AUD",
            odd.as_str(),
            "5.00 AUD",
            "end 0",
            "end of the message 0"
        ]
    );
    // The stream demands at least one day, like reading the whole document.
    let none = document("").replace("<Day><Id>d</Id></Day>", "");
    let piecemeal: Result<Vec<_>, _> =
        ItemReader::new(none.as_bytes(), ReadOptions::default()).collect();
    assert_eq!(
        piecemeal.unwrap_err().to_string(),
        refused(&none, &ReadOptions::default()).to_string()
    );
    let new = ItemReader::new(none.as_bytes(), ReadOptions::default());
    assert_eq!(
        format!("{new:?}"),
        "UnitReader { state: Begin, groups: 0, units: 0, .. }"
    );
    let strictly: Result<Vec<_>, _> = ItemReader::new(xml.as_bytes(), strict()).collect();
    assert!(matches!(
        strictly.unwrap_err().kind(),
        ReadErrorKind::Unreadable { .. }
    ));
    // A whole document without the item, which is kept as markup.
    let whole = Document::parse_with(&xml, &ReadOptions::default().keep_unreadable(true)).unwrap();
    assert_eq!(
        (whole.document.days[0].items.len(), whole.findings.len()),
        (2, 1)
    );
}

#[test]
fn a_model_is_checked_as_its_document_would_be() {
    let amount = Amount::new(Decimal::new(500, 2), Currency::AUD).unwrap();
    let mut item = Item::new(amount, Direction::from("MINE"));
    item.notes = vec!["more than ten".into(), "\u{1}".into()];
    let mut day = Day::new("d".into());
    day.items.push(item);
    let mut document = Document::new(vec![day]);
    let named = |document: &Document| -> Vec<&str> {
        document
            .check()
            .iter()
            .map(|finding| finding.kind.name())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        named(&document),
        ["Missing", "UnknownCode", "Length", "Character"]
    );
    assert!(
        matches!(document.to_xml(), Err(WriteError::Invalid { .. })),
        "the header is missing"
    );
    let incomplete = WriteOptions::default().incomplete(true);
    assert!(matches!(
        document.to_xml_with(&incomplete),
        Err(WriteError::Character { found: '\u{1}' })
    ));
    let item = &mut document.days[0].items[0];
    (item.notes, item.direction, item.payer) =
        (Vec::new(), Direction::Credit, Some(Payer::Unknown));
    let missing = |name: &str| FindingKind::Missing { name: name.into() };
    let kinds = |document: &Document| -> Vec<_> {
        document
            .check()
            .into_iter()
            .map(|finding| finding.kind)
            .collect()
    };
    assert_eq!(kinds(&document), [missing("Hdr"), missing("Nm|Nb|Line")]);
    document.days[0].items[0].payer = None;
    document.days[0].items[0].place = Some(Box::new(Place::new()));
    assert_eq!(kinds(&document), [missing("Nm"), missing("Hdr")]);
    document.days.clear();
    assert_eq!(kinds(&document), [missing("Hdr"), missing("Day")]);
    assert!(
        matches!(document.to_xml(), Err(WriteError::Invalid { finding }) if finding.kind == missing("Hdr"))
    );
}

/// Notes the size of each piece that is written.
#[derive(Default)]
struct Pieces(Vec<u8>, Vec<usize>);

impl std::io::Write for Pieces {
    fn write(&mut self, piece: &[u8]) -> std::io::Result<usize> {
        self.0.extend(piece);
        self.1.push(piece.len());
        Ok(piece.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_document_is_written_in_pieces_of_64_kb() {
    let options = WriteOptions::default().indent(2);
    let written = |document: &Document| {
        let mut pieces = Pieces::default();
        document.write_to(&mut pieces, &options).unwrap();
        assert_eq!(
            String::from_utf8(pieces.0).unwrap(),
            document.to_xml_with(&options).unwrap()
        );
        pieces.1
    };
    let mut read = Document::parse(document(&ITEM.repeat(2_000)))
        .unwrap()
        .document;
    let pieces = written(&read);
    let (_, whole) = pieces.split_last().unwrap();
    assert!(
        whole.len() >= 2 && whole.iter().all(|size| (65_536..66_000).contains(size)),
        "{pieces:?}"
    );
    // Whatever tag ends a piece, the next one begins on its own line.
    read.days[0].items.clear();
    read.days[0].id = "".into();
    let length = 65_536 - read.to_xml_with(&options).unwrap().len();
    let mut counts = std::collections::BTreeSet::new();
    for more in 0..60 {
        read.days[0].id = "x".repeat(length + more).into();
        counts.insert(written(&read).len());
    }
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn limits_refuse_in_both_readers() {
    let limits = ReadLimits::default();
    let xml = document(&item("<Note>abcdefghij</Note><Xtra>0123456789</Xtra>"));
    for (limits, expected) in [
        (limits.max_document_bytes(100), LimitKind::DocumentBytes),
        (limits.max_depth(4), LimitKind::Depth),
        (limits.max_entry_elements(3), LimitKind::EntryElements),
        (limits.max_text_bytes(9), LimitKind::TextBytes),
        (limits.max_token_bytes(30), LimitKind::TokenBytes),
        (limits.max_kept_bytes(20), LimitKind::KeptBytes),
        (limits.max_attributes(0), LimitKind::Attributes),
    ] {
        let options = ReadOptions::default().limits(limits);
        let error = if expected == LimitKind::DocumentBytes {
            Document::parse_with(&xml, &options).unwrap_err()
        } else {
            parse_counting::<Document>(&xml, &options, true)
                .0
                .unwrap_err()
        };
        assert!(
            matches!(error.kind(), ReadErrorKind::Limit { limit, .. } if *limit == expected),
            "{error}"
        );
        let slow = parse_counting::<Document>(&xml, &options, false).0;
        assert!(
            slow.is_err() || expected == LimitKind::DocumentBytes,
            "{expected:?}"
        );
    }
    let parsed = Document::parse_with(
        document(&item(&"<Xtra/>".repeat(5))),
        &ReadOptions::default().limits(limits.max_findings(2)),
    );
    let parsed = parsed.unwrap();
    assert_eq!(
        (
            parsed.findings.len(),
            parsed.further_findings.of("UnknownElement")
        ),
        (2, 3)
    );
}

/// This includes a token after which elements are read ahead.
#[test]
fn each_token_is_bounded() {
    let options = ReadOptions::default().limits(ReadLimits::default().max_token_bytes(100));
    for (long, fits) in [(80, true), (100, false)] {
        for token in [
            document(ITEM).replace("<Itm>", &format!("<Itm a=\"{}\">", "x".repeat(long))),
            document(&item(&format!(
                "<Xtra></Xtra{}><Note>a</Note>",
                " ".repeat(long)
            ))),
            document(&item(&format!("<!--{}--><Note>a</Note>", "x".repeat(long)))),
        ] {
            match read(&token, &options) {
                Ok(_) => assert!(fits, "{token}"),
                Err(error) => {
                    let expected = matches!(
                        error.kind(),
                        ReadErrorKind::Limit {
                            limit: LimitKind::TokenBytes,
                            ..
                        }
                    );
                    assert!(expected && !fits, "{token}: {error}");
                }
            }
        }
    }
}

/// The parts handed out with the start of a group are handed out again at its end.
#[test]
fn a_stream_takes_the_memory_of_a_group_twice() {
    let many = "<Xtra>a</Xtra>".repeat(600);
    let xml = document(&format!("{many}{ITEM}"));
    let options =
        ReadOptions::default().limits(ReadLimits::default().max_memory_per_byte(0).max_findings(1));
    assert!(read(&xml, &options).is_ok());
    let streamed: Result<Vec<_>, ReadError> = ItemReader::new(xml.as_bytes(), options).collect();
    let error = streamed.unwrap_err();
    assert!(
        matches!(
            error.kind(),
            ReadErrorKind::Limit {
                limit: LimitKind::Memory,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn what_stands_in_the_documentation_is_the_default() {
    let (options, limits) = (ReadOptions::default(), ReadLimits::default());
    assert!(options.deny_findings(true).denies_findings() && !options.denies_findings());
    let documented = limits
        .max_document_bytes(4 * 1024 * 1024 * 1024)
        .max_depth(64)
        .max_entry_elements(1_000_000)
        .max_text_bytes(1024 * 1024)
        .max_token_bytes(4 * 1024 * 1024)
        .max_kept_bytes(64 * 1024 * 1024)
        .max_memory_per_byte(16)
        .max_attributes(256)
        .max_findings(100);
    assert_eq!(limits, documented);
}

#[test]
fn limits_hold_exactly() {
    let xml = document(&item("<Pyr><Nm>a</Nm></Pyr><Note>abcdefghij</Note>"));
    let limits = ReadLimits::default();
    let set: [(usize, &dyn Fn(usize) -> ReadLimits); 3] = [
        (6, &|most| limits.max_depth(most)),
        (10, &|most| limits.max_text_bytes(most)),
        (1, &|most| limits.max_attributes(most)),
    ];
    for (needed, set) in set {
        for most in 0..20 {
            let options = ReadOptions::default().limits(set(most));
            for fast in [true, false] {
                let fits = parse_counting::<Document>(&xml, &options, fast).0.is_ok();
                assert_eq!(fits, most >= needed, "{most} of {needed}, {fast}");
            }
        }
    }
    for (most, fits) in [(xml.len() - 1, false), (xml.len(), true)] {
        let options = ReadOptions::default().limits(limits.max_document_bytes(most as u64));
        assert_eq!(Document::parse_with(&xml, &options).is_ok(), fits);
        assert_eq!(Document::read_with(xml.as_bytes(), &options).is_ok(), fits);
    }
    let three = document(&item(&"<Xtra/>".repeat(3)).replace("CRDT", "MINE"));
    for (most, kept, further) in [(0, 0, 4), (1, 2, 2), (2, 3, 1), (3, 4, 0)] {
        let options = ReadOptions::default().limits(limits.max_findings(most));
        let parsed = Document::parse_with(&three, &options).unwrap();
        let more = &parsed.further_findings;
        assert_eq!(
            (parsed.findings.len(), more.total(), more.is_empty()),
            (kept, further, further == 0),
            "{most}"
        );
        assert_eq!(more.of("UnknownElement"), 3_u64.saturating_sub(most as u64));
        assert_eq!(more.of("UnknownCode"), u64::from(most == 0));
        assert_eq!(more.of("Missing"), 0);
        assert_eq!(more.iter().map(|(_, count)| count).sum::<u64>(), further);
    }
}

#[test]
fn a_prefix_is_as_good_as_none() {
    let plain = document(&item("<Pyr><Nm>a</Nm></Pyr>"));
    let prefixed = plain
        .replace("</", "\u{1}")
        .replace("<?", "\u{2}")
        .replace('<', "<p:")
        .replace('\u{1}', "</p:");
    let prefixed = prefixed
        .replace('\u{2}', "<?")
        .replace(" xmlns=", " xmlns:p=");
    let expected = read(&plain, &strict()).unwrap().document;
    assert_eq!(read(&prefixed, &strict()).unwrap().document, expected);
    let (_, taken, declined) = parse_counting::<Document>(&prefixed, &strict(), true);
    assert_eq!(
        (taken, declined),
        (3, 0),
        "the header, the identification and the item are read fast"
    );
}

#[test]
fn encodings_are_detected() {
    let xml = document(&item("<Note>né</Note>"));
    let expected = Document::parse(&xml).unwrap().document;
    let utf16: Vec<u8> = format!("\u{feff}{}", xml.replace("UTF-8", "UTF-16"))
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let latin: Vec<u8> = xml
        .replace("UTF-8", "ISO-8859-1")
        .chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap())
        .collect();
    for bytes in [utf16, latin, format!("\u{feff}{xml}").into_bytes()] {
        assert_eq!(Document::parse(bytes).unwrap().document, expected);
    }
    let mut broken = xml.into_bytes();
    let place = broken.iter().position(|b| *b == 0xC3).unwrap();
    broken.remove(place);
    assert!(matches!(
        Document::parse(&broken).unwrap_err().kind(),
        ReadErrorKind::InvalidText { .. }
    ));
    let other = document("").replace("UTF-8", "KOI8-R");
    assert!(matches!(
        Document::parse(other.as_bytes()).unwrap_err().kind(),
        ReadErrorKind::UnsupportedEncoding { .. }
    ));
}

#[test]
fn the_fast_reader_takes_what_the_writer_writes() {
    let (read, taken, declined) =
        parse_counting::<Document>(&document(&ITEM.repeat(20)), &strict(), true);
    assert!(read.is_ok());
    assert_eq!(
        (taken, declined),
        (22, 0),
        "the header, the identification and the items"
    );
    let full =
        item("<Pyr><Line>1</Line><Line>2</Line></Pyr><Note>a</Note><Note>b</Note><Note>c</Note>");
    let (read, taken, declined) =
        parse_counting::<Document>(&document(&full.repeat(20)), &strict(), true);
    assert!(read.is_ok());
    assert_eq!((taken, declined), (22, 0), "with lists");
}

/// A broken rule of an element is reported once, even if an element below it is wrong; the memory
/// of a rule is shared with the elements around.
#[test]
fn rules_are_asked_once_for_each_element() {
    let at = "/Document/DayBook/Day[1]";
    let country = format!("BicCountry {at}/Itm[1]/Bic");
    let odd = format!("Odd {at}/Itm[1]");
    let (note, bank, place) = (
        "<Note>odd</Note>",
        "<Bic>ABCDZZFF</Bic>",
        "<Plc><Nm>a</Nm></Plc>",
    );
    for (content, expected) in [
        (item(note), vec![odd.clone()]),
        (item(bank), vec![country.clone()]),
        (item(&[note, bank].concat()), vec![country, odd]),
        (item(place).repeat(2), vec![]),
        (item(place).repeat(3), vec![format!("Places {at}")]),
    ] {
        let xml = document(&content);
        assert_eq!(found(&xml), expected, "{xml}");
        let model = Document::parse(&xml).unwrap().document;
        let checked = model.check();
        assert_eq!(
            checked
                .iter()
                .map(|one| format!("{} {}", one.kind.name(), one.path))
                .collect::<Vec<_>>(),
            expected
        );
        assert_eq!(
            (model.check_schema(), read(&xml, &strict()).is_ok()),
            (None, true),
            "{xml}"
        );
    }
}

/// A list takes more memory while it grows, in both readers alike.
#[test]
fn both_readers_count_the_memory_of_lists() {
    let mut outcomes = std::collections::BTreeSet::new();
    for each in [0, 1] {
        let options =
            ReadOptions::default().limits(ReadLimits::default().max_memory_per_byte(each));
        let mut count = 1_000;
        while count < 14_000 {
            let xml = document(&item(&format!(
                "<Pyr>{}</Pyr>",
                "<Line>a</Line>".repeat(count)
            )));
            let (fast, ..) = parse_counting::<Document>(&xml, &options, true);
            let (slow, ..) = parse_counting::<Document>(&xml, &options, false);
            assert_eq!(
                fast.is_ok(),
                slow.is_ok(),
                "{count} lines, {each} bytes each"
            );
            outcomes.insert(fast.is_ok());
            count += count / 6;
        }
    }
    assert_eq!(
        outcomes.len(),
        2,
        "some documents are refused, some are not"
    );
}

#[test]
fn both_readers_agree_about_a_document_changed_at_any_place() {
    let xml = document(&[ITEM, &item("<Pyr><Nm>a</Nm></Pyr><Note>b</Note>")].concat());
    for place in xml.find("<Document").unwrap()..xml.len() {
        for odd in ["<", "&amp;", " ", "<!-- c -->", "x", "<x/>"] {
            let mut changed = xml.clone();
            changed.insert_str(place, odd);
            // The helper compares the readers, whatever the outcome.
            let _ = read(&changed, &ReadOptions::default());
        }
    }
}
