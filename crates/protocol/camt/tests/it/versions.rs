//! The documents that are read, and the differences between versions.

use crate::documents::document;
use crate::family::{MESSAGES, Schema, all, check, read, strict, write};
use bankrail_camt::{
    AnyDocument, AnyReader, FindingKind, ReadErrorKind, ReadOptions, Version, report,
};

const OLD: Schema = Schema {
    message: 52,
    version: 2,
};
const NEW: Schema = Schema {
    message: 52,
    version: 8,
};

#[test]
fn the_version_is_part_of_what_is_read() {
    for schema in all() {
        let xml = document(schema);
        let parsed = read(&xml).unwrap().document;
        let (message, version) = match &parsed {
            AnyDocument::Report(document) => (52, document.version),
            AnyDocument::Statement(document) => (53, document.version),
            AnyDocument::Notification(document) => (54, document.version),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            (message, version.number()),
            (schema.message, schema.version)
        );
        let mut reader = AnyReader::new(xml.as_bytes(), ReadOptions::default());
        assert_eq!(reader.message(), None);
        reader.next_item().unwrap();
        assert_eq!(reader.message(), Some(schema.name()));
        assert_eq!(reader.version(), version);
    }
}

#[test]
fn versions_beyond_the_options_are_refused() {
    let only = |oldest, newest| {
        ReadOptions::default().versions(Version::new(oldest)..=Version::new(newest))
    };
    for (schema, options, is_read) in [
        (OLD, only(2, 2), true),
        (OLD, only(3, 8), false),
        (NEW, only(6, 6), false),
        (NEW, only(2, 8), true),
        (
            NEW,
            only(6, 6).versions_or(Version::new(8)..=Version::new(8)),
            false,
        ),
        (
            NEW,
            ReadOptions::default().versions_or(Version::new(8)..=Version::new(8)),
            true,
        ),
    ] {
        let read = report::Document::parse_with(document(schema), &options);
        assert_eq!(read.is_ok(), is_read, "{}", schema.name());
        if let Err(error) = read {
            let found = |kind: &ReadErrorKind| match kind {
                ReadErrorKind::WrongNamespace { found, .. } => found.clone(),
                other => panic!("{other}"),
            };
            assert_eq!(found(error.kind()), schema.namespace());
        }
    }
    let error = report::Document::parse_with(document(NEW), &only(6, 6)).unwrap_err();
    assert!(
        error.to_string().starts_with(
            "expected the namespace urn:iso:std:iso:20022:tech:xsd:camt.052.001.06, found urn:"
        ),
        "{error}"
    );
}

#[test]
fn what_is_none_of_the_family_is_refused() {
    let good = document(NEW);
    for (from, to) in [
        ("camt.052.001.08", "camt.052.001.01"),
        ("camt.052.001.08", "camt.052.001.8"),
        ("camt.052.001.08", "camt.052.001.008"),
        ("camt.052.001.08", "camt.052.001.+8"),
        ("camt.052.001.08", "camt.055.001.08"),
        ("camt.052.001.08", "pain.001.001.09"),
        ("urn:iso", "iso"),
    ] {
        let error = read(&good.replace(from, to)).unwrap_err();
        assert!(
            matches!(error.kind(), ReadErrorKind::WrongNamespace { .. }),
            "{to}: {error}"
        );
    }
    // A statement under the namespace of a report.
    let statement = Schema {
        message: 53,
        version: 8,
    };
    let error = read(&document(statement).replace(".053.", ".052.")).unwrap_err();
    assert!(
        matches!(error.kind(), ReadErrorKind::WrongRoot { .. }),
        "{error}"
    );
}

/// Each version refuses what only another one has, and tolerant reading keeps it.
#[test]
fn what_another_version_has_is_unknown() {
    for (schema, from, to, name) in [
        (
            NEW,
            "<BICFI>ABCDAU2SXXX</BICFI>",
            "<BIC>ABCDAU2SXXX</BIC>",
            "BIC",
        ),
        (
            OLD,
            "<BIC>ABCDAU2SXXX</BIC>",
            "<BICFI>ABCDAU2SXXX</BICFI>",
            "BICFI",
        ),
        (
            OLD,
            "<Refs>",
            "<Refs><UETR>8a562c67-ca16-48ba-b074-65581be6f001</UETR>",
            "UETR",
        ),
        (
            OLD,
            "<Id>1</Id>",
            "<Id>1</Id><RptPgntn><PgNb>1</PgNb><LastPgInd>true</LastPgInd></RptPgntn>",
            "RptPgntn",
        ),
    ] {
        let xml = document(schema).replacen(from, to, 1);
        assert!(AnyDocument::parse_with(&xml, &strict()).is_err(), "{name}");
        let parsed = read(&xml).unwrap();
        let unknown = FindingKind::UnknownElement { name: name.into() };
        assert!(
            parsed
                .findings
                .iter()
                .any(|finding| finding.kind == unknown),
            "{name}"
        );
        assert!(write(&parsed.document).contains(to), "{name}");
    }
}

/// A part that the version does not have would be lost, so that the document is not written.
#[test]
fn a_part_of_another_version_is_not_written() {
    let AnyDocument::Report(mut document) = read(&document(NEW)).unwrap().document else {
        panic!("a report")
    };
    document.version = Version::new(7);
    let any = AnyDocument::Report(document.clone());
    let unknown = FindingKind::UnknownElement {
        name: "UETR".into(),
    };
    assert!(check(&any).iter().any(|finding| finding.kind == unknown));
    let error = document.to_xml().unwrap_err().to_string();
    assert!(
        error.contains("the schema has no element UETR here"),
        "{error}"
    );
    for entry in &mut document.reports[0].entries {
        for transaction in &mut entry
            .details
            .iter_mut()
            .flat_map(|details| &mut details.transactions)
        {
            transaction.references.as_mut().unwrap().uetr = None;
        }
    }
    let xml = document.to_xml().unwrap();
    let again = AnyDocument::parse_with(&xml, &strict()).unwrap().document;
    assert_eq!(again, AnyDocument::Report(document));
}

#[test]
fn a_small_document_says_the_same_in_another_version() {
    for message in MESSAGES {
        for (from, to, lost) in [(8, 7, &["UETR"][..]), (7, 6, &[]), (6, 5, &[]), (4, 8, &[])] {
            let schema = |version| Schema { message, version };
            let xml = document(schema(from));
            let document = AnyDocument::parse(&xml).unwrap().document;
            let version = Version::new(to);
            let (findings, other) = match document {
                AnyDocument::Report(document) => {
                    let other = document.to_version(version).unwrap();
                    (
                        other.findings,
                        AnyDocument::Report(Box::new(other.document)),
                    )
                }
                AnyDocument::Statement(document) => {
                    let other = document.to_version(version).unwrap();
                    (
                        other.findings,
                        AnyDocument::Statement(Box::new(other.document)),
                    )
                }
                AnyDocument::Notification(document) => {
                    let other = document.to_version(version).unwrap();
                    (
                        other.findings,
                        AnyDocument::Notification(Box::new(other.document)),
                    )
                }
                other => panic!("{other:?}"),
            };
            let unknown = |name: &&str| FindingKind::UnknownElement {
                name: (*name).into(),
            };
            let expected: Vec<_> = lost.iter().map(unknown).collect();
            let kinds: Vec<_> = findings.into_iter().map(|finding| finding.kind).collect();
            assert_eq!(kinds, expected, "{from} to {to}");
            let written = write(&other);
            let fresh = crate::documents::document(schema(to));
            let fresh = match from {
                4 => fresh.replace("<UETR>8a562c67-ca16-48ba-b074-65581be6f001</UETR>", ""),
                _ => fresh,
            };
            assert!(written.ends_with(&fresh), "{written}");
        }
    }
}
