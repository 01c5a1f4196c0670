//! Input that reading accepts and refuses at its bounds, in both readers: limits, names,
//! declarations, texts of errors.

use crate::day_book::{Document, ITEM, ItemReader, document};
use bankrail_iso20022::__private::parse_counting;
use bankrail_iso20022::{
    Extra, LimitKind, Mode, Parsed, ReadError, ReadErrorKind, ReadLimits, ReadOptions,
};

type Outcome = Result<Parsed<Document>, ReadError>;

fn item(more: &str) -> String {
    ITEM.replace("</Itm>", &format!("{more}</Itm>"))
}

/// Reads with the fast reader, without it, and in pieces, to the same result.
fn read(xml: &str, options: ReadOptions) -> Outcome {
    let read = parse_counting::<Document>(xml, &options, true).0;
    let slow = parse_counting::<Document>(xml, &options, false).0;
    assert_eq!(format!("{read:?}"), format!("{slow:?}"), "{xml}");
    let pieces = Document::read_with(
        std::io::BufReader::with_capacity(7, xml.as_bytes()),
        &options,
    );
    assert_eq!(format!("{read:?}"), format!("{pieces:?}"), "{xml}");
    read
}

fn limited(xml: &str, limits: ReadLimits) -> Outcome {
    read(xml, ReadOptions::default().limits(limits))
}

fn limit(outcome: Outcome) -> Option<LimitKind> {
    match outcome.err()?.kind() {
        ReadErrorKind::Limit { limit, .. } => Some(*limit),
        other => panic!("{other}"),
    }
}

fn refused(xml: &str) -> String {
    read(xml, ReadOptions::default())
        .map(|parsed| panic!("{parsed:?}"))
        .unwrap_err()
        .kind()
        .to_string()
}

/// An item counts its own elements, a day all but those of its items, the message all but those of
/// its days. An item counts as one of the day's elements until it ends.
#[test]
fn elements_are_bounded_exactly() {
    let notes = |count: usize| item(&"<Note>n</Note>".repeat(count));
    let unknown = |count: usize| "<Xtra/>".repeat(count);
    for (xml, needed) in [
        (document(&notes(3)), 5),
        (
            document(&item(
                "<Pyr><Line>a</Line><Line>b</Line><Line>c</Line></Pyr><Note>n</Note>",
            )),
            7,
        ),
        (document(&format!("{}{}", unknown(6), ITEM)), 8),
        (document(&format!("{}{}", ITEM, unknown(6))), 7),
        (
            document("").replace("<Day>", &format!("{}<Day>", unknown(6))),
            11,
        ),
    ] {
        let bounds: Vec<usize> = (0..20)
            .filter(|most| {
                let outcome = limit(limited(
                    &xml,
                    ReadLimits::default().max_entry_elements(*most),
                ));
                assert!(
                    outcome.is_none_or(|limit| limit == LimitKind::EntryElements),
                    "{outcome:?}"
                );
                outcome.is_none()
            })
            .collect();
        assert_eq!(bounds, (needed..20).collect::<Vec<_>>(), "{xml}");
    }
}

#[test]
fn what_is_kept_is_bounded_exactly() {
    let part = 3 * size_of::<Extra>();
    for (content, needed) in [
        (
            format!("{ITEM}<Xtra/>"),
            part + "Itm".len() + "<Xtra/>".len(),
        ),
        (format!("{ITEM}text"), part + "Itm".len() + "text".len()),
        (
            format!("{ITEM}<Xtra/><Xtra/>"),
            2 * (part + "Itm".len() + "<Xtra/>".len()),
        ),
        (
            item("").replace("<CdtDbtInd>", "<CdtDbtInd a=\"bc\">"),
            part + 3 + size_of::<bankrail_iso20022::ExtraStep>() + 9,
        ),
    ] {
        let xml = document(&content);
        let least = (0..2_000).find(|most| {
            limit(limited(&xml, ReadLimits::default().max_kept_bytes(*most))).is_none()
        });
        assert_eq!(least, Some(needed), "{content}");
    }
    // A namespace that is taken along counts once.
    let long = "u".repeat(2_000);
    let xml = document("<l:x/>").replace("<Document", &format!("<Document xmlns:l=\"{long}\""));
    for (most, fits) in [(2_000, false), (3_000, true)] {
        assert_eq!(
            limit(limited(&xml, ReadLimits::default().max_kept_bytes(most))).is_none(),
            fits
        );
    }
}

#[test]
fn text_beside_elements_is_bounded_as_any_text_is() {
    for (text, length) in [
        ("x".repeat(50), 50),
        (format!("{}y", " ".repeat(49)), 50),
        ("&amp;".repeat(50), 50),
    ] {
        let xml = document(&format!("{ITEM}<!-- -->{text}"));
        for most in [length - 1, length, length + 1] {
            let outcome = limit(limited(&xml, ReadLimits::default().max_text_bytes(most)));
            assert_eq!(
                outcome,
                (most < length).then_some(LimitKind::TextBytes),
                "{most} {text:?}"
            );
        }
    }
    // White space alone is none.
    let xml = document(&format!("{ITEM}{}{ITEM}", " \n<!-- -->".repeat(100)));
    assert_eq!(
        limit(limited(&xml, ReadLimits::default().max_text_bytes(40))),
        None
    );
}

/// An excessive length is reported before faults within the text.
#[test]
fn markup_that_is_malformed_and_too_long_exceeds_its_bound() {
    let xml = document(&format!("{ITEM}<!-- a--{} -->", "b".repeat(78)));
    for (most, expected) in [
        (90, "malformed"),
        (91, "malformed"),
        (60, "60 bytes in a tag or run of text"),
    ] {
        let options = ReadOptions::default().limits(ReadLimits::default().max_token_bytes(most));
        for fast in [true, false] {
            let text = parse_counting::<Document>(&xml, &options, fast)
                .0
                .unwrap_err()
                .to_string();
            assert!(text.contains(expected), "{most} {text}");
        }
    }
}

#[test]
fn declarations_of_namespaces_are_those_that_xml_allows() {
    const XML: &str = "http://www.w3.org/XML/1998/namespace";
    const XMLNS: &str = "http://www.w3.org/2000/xmlns/";
    for good in [
        format!("xmlns:xml='{XML}'"),
        "xmlns=''".to_owned(),
        "xmlns:p='u' xml:lang='en'".to_owned(),
        "xmlns:p='u' p:a='1'".to_owned(),
        "xmlns:p='u' p:a='' a=''".to_owned(),
    ] {
        let parsed = read(&document(&format!("<x {good}/>")), ReadOptions::default()).unwrap();
        assert_eq!(parsed.findings.len(), 1, "{good}");
    }
    for (bad, why) in [
        (
            "xmlns:xml='u'".to_owned(),
            "the prefix xml and its namespace",
        ),
        (
            format!("xmlns:p='{XML}'"),
            "the prefix xml and its namespace",
        ),
        (format!("xmlns='{XML}'"), "the prefix xml and its namespace"),
        (
            "xmlns:xmlns='u'".to_owned(),
            "the prefix xmlns cannot be declared",
        ),
        (
            format!("xmlns:p='{XMLNS}'"),
            "the prefix xmlns cannot be declared",
        ),
        (
            format!("xmlns='{XMLNS}'"),
            "the prefix xmlns cannot be declared",
        ),
        ("xmlns:p=''".to_owned(), "cannot be undeclared"),
        ("xmlns:1='u'".to_owned(), "expected an attribute name"),
        ("xmlns:='u'".to_owned(), "expected an attribute name"),
        ("xmlns:a:b='u'".to_owned(), "expected an attribute name"),
    ] {
        let text = refused(&document(&format!("<x {bad}/>")));
        assert!(text.contains(why), "{bad}: {text}");
    }
}

#[test]
fn the_xml_declaration_is_checked_in_any_encoding() {
    let body = document(ITEM).split_once("?>").unwrap().1.to_owned();
    for (rest, good) in [
        ("", true),
        (" encoding='UTF-8'", true),
        (" encoding='a.b_c-9'", true),
        (" encoding='UTF-8' standalone='yes'", true),
        (" standalone='no'", true),
        (" standalone='maybe'", false),
        (" x='yes'", false),
        (" encoding='UTF-8' x='yes'", false),
        (" standalone='yes' encoding='UTF-8'", false),
        (" encoding='8UTF'", false),
        (" encoding='-'", false),
        (" encoding='UTF 8'", false),
        (" encoding='UTF\u{e9}'", false),
        (" encoding=''", false),
    ] {
        // A mark states the encoding, so the declared name does not matter.
        let xml = format!("\u{feff}<?xml version='1.0'{rest}?>{body}");
        let whole = Document::parse(&xml);
        let pieces = Document::read_with(xml.as_bytes(), &ReadOptions::default());
        assert_eq!(
            (whole.is_ok(), pieces.is_ok()),
            (good, good),
            "{rest}: {whole:?}"
        );
        if let Err(error) = whole {
            assert!(
                matches!(error.kind(), ReadErrorKind::Malformed { .. }),
                "{error}"
            );
        }
    }
}

#[test]
fn references_name_characters_and_the_five_entities() {
    for (reference, expected) in [
        ("&x;", "found x"),
        ("&p:x;", "found p:x"),
        ("&1;", "expected a reference after &"),
        ("&a b;", "expected a reference after &"),
        ("&;", "malformed"),
        ("&#x0;", "U+0000"),
    ] {
        for content in [
            item(&format!("<Note>{reference}</Note>")),
            format!("<x a='{reference}'/>"),
        ] {
            let text = refused(&document(&content));
            assert!(text.contains(expected), "{content}: {text}");
        }
    }
}

#[test]
fn white_space_in_attributes_becomes_spaces() {
    for (written, read) in [
        ("\t", " "),
        ("a\tb\tc", "a b c"),
        ("\n\r\n\r", "   "),
        ("a b", "a b"),
        ("&#9;", "\t"),
    ] {
        let parsed = self::read(
            &document(&item("").replace("<Amt", &format!("<Amt a=\"{written}\""))),
            ReadOptions::default(),
        );
        let parsed = parsed.unwrap();
        let parts = parsed.document.days[0].items[0].extras.parts();
        let bankrail_iso20022::ExtraPart::Attribute { value, .. } = &parts[0].part else {
            panic!("{parts:?}")
        };
        assert_eq!(&**value, read, "{written:?}");
    }
}

#[test]
fn where_a_schema_is_may_be_said_in_any_element() {
    let xsi = "xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\"";
    for element in [
        "<Document ",
        "<DayBook>",
        "<Hdr>",
        "<Day>",
        "<Itm>",
        "<Amt ",
        "<CdtDbtInd>",
    ] {
        for (attribute, own) in [
            ("i:schemaLocation", true),
            ("i:noNamespaceSchemaLocation", true),
            ("schemaLocation", false),
            ("i:other", false),
            ("xml:schemaLocation", false),
        ] {
            let (name, after) = element.split_at(element.len() - 1);
            let xml = document(ITEM).replacen(
                element,
                &format!("{name} {xsi} {attribute}=\"a b\"{after}"),
                1,
            );
            let found = read(&xml, ReadOptions::default()).unwrap().findings;
            assert_eq!(found.is_empty(), own, "{element} {attribute} {found:?}");
        }
    }
}

#[test]
fn another_namespace_is_shown_with_its_last_60_characters() {
    for (namespace, shown) in [
        ("urn:example:day".to_owned(), "urn:example:day".to_owned()),
        ("\u{e9}".repeat(60), "\u{e9}".repeat(60)),
        (
            format!("a{}", "\u{e9}".repeat(60)),
            format!("\u{2026}{}", "\u{e9}".repeat(60)),
        ),
        (
            format!("ab{}c", "\u{e9}".repeat(60)),
            format!("\u{2026}{}c", "\u{e9}".repeat(59)),
        ),
    ] {
        let text = refused(&document("").replace("urn:example:daybook", &namespace));
        assert!(
            text.contains("urn:example:daybook") && text.ends_with(&format!("found {shown}")),
            "{text}"
        );
    }
}

/// Reading cannot continue without a group, nor without a unit unless the options allow it.
#[test]
fn a_day_without_its_parts_refuses_the_document() {
    let two = |second: &str| document(ITEM).replace("</DayBook>", &format!("{second}</DayBook>"));
    for keep in [true, false] {
        let options = ReadOptions::default().keep_unreadable(keep);
        for second in ["<Day/>", "<Day></Day>", "<Day>\n<!-- --></Day>"] {
            let error = read(&two(second), options).unwrap_err();
            assert!(
                matches!(error.kind(), ReadErrorKind::Missing { name } if name == "Id"),
                "{error}"
            );
            assert_eq!(error.path(), "/Document/DayBook/Day[2]");
        }
    }
}

/// Tolerant reading reads all of an item before it reports the item's error, because reading could
/// continue after it.
#[test]
fn an_item_that_is_wrong_twice_is_refused_for_its_markup_where_reading_might_go_on() {
    let xml = document(
        &ITEM
            .replace("5.00", "five")
            .replace("</CdtDbtInd>", "</Other>"),
    );
    for (mode, malformed) in [(Mode::Tolerant, true), (Mode::Strict, false)] {
        let error = read(&xml, ReadOptions::default().mode(mode)).unwrap_err();
        assert_eq!(
            matches!(error.kind(), ReadErrorKind::Malformed { .. }),
            malformed,
            "{error}"
        );
        assert_eq!(
            matches!(error.kind(), ReadErrorKind::Unreadable { .. }),
            !malformed,
            "{error}"
        );
    }
}

/// The memory of findings, parts and lists is bounded by what was read, beyond 256 KiB.
#[test]
fn memory_is_bounded_by_what_has_been_read() {
    let counted = |content: &str, count: usize, per_byte: usize| {
        let xml = document(&content.repeat(count));
        let limits = ReadLimits::default().max_memory_per_byte(per_byte);
        let whole = limit(Document::parse_with(
            &xml,
            &ReadOptions::default().limits(limits),
        ));
        assert_eq!(limit(limited(&xml, limits)), whole, "{count} {content}");
        assert!(
            whole.is_none_or(|limit| limit == LimitKind::Memory),
            "{whole:?}"
        );
        whole.is_none()
    };
    let part = 3 * size_of::<Extra>();
    let free = 256 * 1024;
    // Findings are no longer kept after the first hundred.
    let most = (free / part) + 1;
    assert!(!counted("<Xtra/>", most, 0));
    assert!(counted("<Xtra/>", most - 300, 0));
    assert!(counted("<Xtra/>", most, part));
    let item = size_of::<crate::day_book::Item>();
    assert!(!counted(ITEM, free / item + 1, 0));
    assert!(counted(ITEM, free / item / 3, 0));
    assert!(counted(ITEM, free / item + 1, item));
    // Items that are handed out one by one take no memory.
    let xml = document(&ITEM.repeat(free / item * 2));
    let limits = ReadLimits::default().max_memory_per_byte(0);
    let mut reader = ItemReader::new(xml.as_bytes(), ReadOptions::default().limits(limits));
    assert!(reader.all(|part| part.is_ok()));
}
