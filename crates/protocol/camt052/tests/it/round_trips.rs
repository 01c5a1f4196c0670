//! Every document that the schema accepts survives writing and reading, in every form.

use crate::invented::{full, invented, strict};
use crate::types::{Types, child_type, name_of, types};
use bankrail_camt052::{Document, EntryReader, Finding, ReadOptions, StreamItem, WriteOptions};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn assert_round_trips(document: &Document) {
    let xml = document.to_xml().unwrap();
    let parsed =
        Document::parse_with(&xml, &strict()).unwrap_or_else(|error| panic!("{error:?}\n{xml}"));
    assert_eq!(&parsed.document, document);
    let facts = |finding: Finding| (finding.kind, finding.path);
    let checked: Vec<_> = document.check().into_iter().map(facts).collect();
    assert!(
        checked.iter().all(|(kind, _)| !kind.is_schema()),
        "{checked:?}"
    );
    assert_eq!(
        checked,
        parsed.findings.into_iter().map(facts).collect::<Vec<_>>()
    );
    // Equal values may differ in scale or spelling; equal documents do not.
    assert_eq!(parsed.document.to_xml().unwrap(), xml);
    let options = WriteOptions::default().indent(1).schema_valid(true);
    let indented = document.to_xml_with(&options).unwrap();
    assert_eq!(
        &Document::parse_with(&indented, &strict()).unwrap().document,
        document
    );
    let utf16: Vec<u8> = xml
        .replace("UTF-8", "UTF-16")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(
        &Document::parse_with(&utf16, &strict()).unwrap().document,
        document
    );
    let mut json = String::new();
    document.write_json_string(&mut json).unwrap();
    assert_eq!(serde_json::from_str::<String>(&json).unwrap(), xml);
    let tree = roxmltree::Document::parse(&xml).unwrap();
    let entries = EntryReader::new(xml.as_bytes(), ReadOptions::default())
        .filter(|item| matches!(item.as_ref().unwrap(), StreamItem::Entry(_)))
        .count();
    assert_eq!(
        tree.descendants()
            .filter(|node| node.has_tag_name("Ntry"))
            .count(),
        entries
    );
    let json = serde_json::to_string(document).unwrap();
    assert_eq!(&serde_json::from_str::<Document>(&json).unwrap(), document);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_document_round_trips(bytes in proptest::collection::vec(any::<u8>(), 0..3000)) {
        assert_round_trips(&invented(&bytes));
    }
}

/// The parts that were written at least once: types, elements of types, codes of types.
#[derive(Default)]
struct Seen {
    types: BTreeSet<String>,
    names: BTreeSet<String>,
    elements: BTreeSet<(String, String)>,
    codes: BTreeSet<(String, String)>,
}

impl Seen {
    fn look(&mut self, node: roxmltree::Node<'_, '_>, kind: &str, types: &Types) {
        self.names.insert(node.tag_name().name().to_owned());
        let name = name_of(kind);
        if types.contains_key(name) {
            self.types.insert(name.to_owned());
        } else if kind.contains("[string  {") {
            self.codes
                .insert((name.to_owned(), node.text().unwrap_or_default().to_owned()));
        }
        if name == "SupplementaryDataEnvelope1" {
            return;
        }
        for child in node.children().filter(roxmltree::Node::is_element) {
            self.elements
                .insert((name.to_owned(), child.tag_name().name().to_owned()));
            self.look(
                child,
                child_type(types, name, child.tag_name().name()),
                types,
            );
        }
    }
}

/// Every type, every element name, every element and alternative of every type, and every code of
/// the closed lists is invented, written and read again.
#[test]
fn every_part_of_the_schema_round_trips() {
    let Some(types) = types() else { return };
    let elements: BTreeSet<(String, String)> = types
        .iter()
        .flat_map(|(kind, (_, elements))| {
            elements
                .iter()
                .map(|(name, ..)| (kind.clone(), name.clone()))
        })
        // The content of an envelope is not of the schema.
        .filter(|(_, name)| name != "##any")
        .collect();
    let codes: BTreeSet<(String, String)> = types
        .values()
        .flat_map(|(_, elements)| elements.iter().map(|(.., kind)| kind))
        .filter_map(|kind| {
            Some((
                name_of(kind),
                kind.split_once("[string  {")?.1.split_once('}')?.0,
            ))
        })
        .flat_map(|(kind, codes)| {
            codes
                .split('|')
                .map(|code| (kind.to_owned(), code.to_owned()))
        })
        .collect();
    assert_eq!((elements.len(), codes.len()), (599, 202));
    let mut seen = Seen::default();
    for seed in 0..1_000 {
        let document = full(seed);
        if seed < 4 {
            assert_round_trips(&document);
        }
        let xml = document.to_xml().unwrap();
        let parsed = Document::parse_with(&xml, &strict())
            .unwrap_or_else(|error| panic!("{error:?}\n{xml}"));
        assert_eq!(parsed.document, document);
        seen.look(
            roxmltree::Document::parse(&xml).unwrap().root_element(),
            "Document",
            &types,
        );
        if seed >= 4 && seen.elements.len() == elements.len() && seen.codes.len() == codes.len() {
            assert_eq!((seen.types.len(), seen.names.len()), (162, 341));
            println!("{seed}");
            return;
        }
    }
    panic!(
        "never invented: {:?} {:?}",
        elements.difference(&seen.elements).collect::<Vec<_>>(),
        codes.difference(&seen.codes).collect::<Vec<_>>()
    );
}
