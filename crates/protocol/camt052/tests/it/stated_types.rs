//! Each element is of the type that the schema says.

use crate::invented::full;
use crate::stated_schema::{assert_digests, path_of};
use crate::statements::{bare, elements_of, is_of, short_name};
use crate::types::{child_type, types};
use bankrail_camt052::{Document, Finding, FindingKind, ReadLimits, ReadOptions};
use bankrail_iso20022::__private::{Node, SchemaType};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

/// This many invented documents have every element.
const SEEDS: u64 = 120;

/// The elements of each type, where the schema is available.
#[test]
fn each_element_is_of_the_type_that_the_schema_says() {
    let Some(types) = types() else { return };
    let mut found = BTreeSet::new();
    for path in ELEMENTS.keys() {
        let (parent, element) = path.rsplit_once('/').unwrap();
        let (of, kind) = (type_at(parent).name, type_at(path));
        let stated = child_type(&types, of, element);
        assert!(is_of(kind, stated), "{path}: {} for {stated}", kind.name);
        found.insert((of, element));
    }
    let all = types.iter().flat_map(|(kind, (_, of))| {
        of.iter()
            .map(move |(name, ..)| (kind.as_str(), name.as_str()))
    });
    let beyond = [
        ("Document", "BkToCstmrAcctRpt"),
        ("SupplementaryDataEnvelope1", "##any"),
    ];
    let missed: Vec<_> = all
        .filter(|element| !found.contains(element) && !beyond.contains(element))
        .collect();
    assert!(missed.is_empty(), "{missed:?}");
}

/// Digests check the same where the schema is not available.
#[test]
fn each_element_is_of_one_type() {
    let lines = ELEMENTS
        .keys()
        .map(|path| format!("{path} {}", short_name(type_at(path))));
    assert_digests(lines, include_str!("stated_types.txt"));
}

/// `xsi:type` is not resolved, so that strict reading refuses the name of any type.
#[test]
fn no_element_takes_the_name_of_a_type() {
    let options = ReadOptions::default().limits(ReadLimits::default().max_findings(usize::MAX));
    let xml = full(0).to_xml().unwrap();
    let tree = roxmltree::Document::parse(&xml).unwrap();
    let is_outside =
        |node: &roxmltree::Node<'_, '_>| node.is_element() && !path_of(*node).contains("/Envlp/");
    let (mut stated, mut done, mut count) = (String::new(), 0, 0);
    for node in tree.root_element().descendants().skip(2).filter(is_outside) {
        let end = node.range().start + 1 + node.tag_name().name().len();
        let name = short_name(type_at(&path_of(node)));
        stated.push_str(&format!(
            "{} xsi:type=\"{}\"",
            &xml[done..end],
            name.replace('<', "")
        ));
        (done, count) = (end, count + 1);
    }
    stated.push_str(&xml[done..]);
    let xsi = "<Document xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" ";
    let found = Document::parse_with(stated.replacen("<Document ", xsi, 1), &options)
        .unwrap()
        .findings;
    let is_refused =
        |finding: &&Finding| matches!(finding.kind, FindingKind::UnknownAttribute { .. });
    assert_eq!(found.iter().filter(is_refused).count(), count, "{found:#?}");
}

pub(crate) type Elements = BTreeMap<String, (Arc<str>, Range<usize>)>;

/// A path to each element of each type, with an invented document that has it and where it stands
/// there.
pub(crate) static ELEMENTS: LazyLock<Elements> = LazyLock::new(|| {
    let mut found = BTreeMap::new();
    let (mut paths, mut known) = (BTreeSet::new(), BTreeSet::new());
    for xml in (0..SEEDS).map(|seed| full(seed).to_xml().unwrap()) {
        let xml: Arc<str> = xml.into();
        let tree = roxmltree::Document::parse(&xml).unwrap();
        for node in tree
            .root_element()
            .descendants()
            .skip(2)
            .filter(roxmltree::Node::is_element)
        {
            let path = path_of(node);
            if !path.contains("/Envlp/") && paths.insert(path.clone()) {
                let (parent, name) = path.rsplit_once('/').unwrap();
                if known.insert((type_at(parent).name, name.to_owned())) {
                    found.insert(path, (xml.clone(), node.range()));
                }
            }
        }
    }
    found
});

/// Returns the type of the element at a path.
fn type_at(path: &str) -> SchemaType {
    let below = path.split('/').skip(3);
    below.fold(Document::schema_type(), |kind, name| {
        let (_, of) = elements_of(kind)
            .find(|(field, _)| field.wire == name)
            .unwrap_or_else(|| panic!("{path} is of no type"));
        bare(of())
    })
}
