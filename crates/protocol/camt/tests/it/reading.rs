//! Invented documents of each version are read, streamed, checked and written with the same result.

use crate::agreement::changed;
use crate::family::{Schema, all, check, strict, write};
use bankrail_camt::{
    AnyDocument, AnyReader, EntryStatus, EntryStatusCode, ReadOptions, UnknownCode, notification,
    report, report::StreamItem, statement,
};
use bankrail_iso20022::__private::{Message, parse_counting};

#[test]
fn invented_documents_are_read_as_they_were_written() {
    for schema in all() {
        for seed in 0..8 {
            let xml = schema.invent(seed);
            let parsed = AnyDocument::parse_with(&xml, &strict())
                .unwrap_or_else(|error| panic!("{}: {error}\n{xml}", schema.name()));
            let found = check(&parsed.document);
            assert!(
                found.iter().all(|finding| !finding.kind.is_schema()),
                "{found:?}"
            );
            assert_eq!(write(&parsed.document), xml);
        }
    }
}

/// The entries that a stream hands out are those of the whole document.
#[test]
fn a_stream_has_the_entries_of_the_document() {
    for schema in all() {
        for seed in 0..4 {
            let xml = schema.invent(seed);
            let items = AnyReader::new(xml.as_bytes(), ReadOptions::default());
            let streamed: Vec<_> = items
                .filter_map(|item| match item.unwrap() {
                    StreamItem::Entry(entry) => Some(*entry),
                    _ => None,
                })
                .collect();
            let document = AnyDocument::parse(&xml).unwrap().document;
            let reports = document.into_report_document().reports.into_iter();
            let whole: Vec<_> = reports.flat_map(|report| report.entries).collect();
            assert_eq!(streamed, whole, "{}", schema.name());
        }
    }
}

#[test]
fn both_readers_give_the_same_in_each_version() {
    for schema in all() {
        for seed in 0..24 {
            let xml = changed(
                &schema.invent(seed / 3),
                schema,
                usize::try_from(seed).unwrap(),
            );
            match schema.message {
                52 => same::<report::Document>(&xml, schema),
                53 => same::<statement::Document>(&xml, schema),
                _ => same::<notification::Document>(&xml, schema),
            }
        }
    }
}

fn same<M: Message>(xml: &str, schema: Schema) {
    for options in [strict(), ReadOptions::default()] {
        let facts = |fast: bool| {
            let (read, ..) = parse_counting::<M>(xml, &options, fast);
            read.map(|read| (read.document, read.findings))
                .map_err(|error| format!("{error:?}"))
        };
        assert_eq!(facts(true), facts(false), "{}: {xml}", schema.name());
    }
}

#[test]
fn json_has_the_version_where_it_is_not_06() {
    for schema in all().filter(|schema| schema.message == 53) {
        let document = statement::Document::parse(schema.invent(1))
            .unwrap()
            .document;
        let json = serde_json::to_string(&document).unwrap();
        assert_eq!(
            json.starts_with("{\"version\":"),
            schema.version != 6,
            "{json}"
        );
        let again: statement::Document = serde_json::from_str(&json).unwrap();
        assert_eq!(again, document);
    }
}

/// A proprietary status is none of the codes, even with the text of one.
#[test]
fn json_keeps_a_proprietary_status_apart() {
    for (status, json) in [
        (EntryStatus::BOOKED, r#"{"code":"BOOK"}"#),
        (
            EntryStatus::Proprietary(Box::new("BOOK".into())),
            r#"{"proprietary":"BOOK"}"#,
        ),
        (
            EntryStatus::Code(EntryStatusCode::Other(UnknownCode::unlisted("HELD"))),
            r#"{"code":"HELD"}"#,
        ),
    ] {
        assert_eq!(serde_json::to_string(&status).unwrap(), json);
        assert_eq!(serde_json::from_str::<EntryStatus>(json).unwrap(), status);
    }
}
