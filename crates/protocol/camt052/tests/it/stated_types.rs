//! `xsi:type`: each element of the schema takes the name of its own type and no other, of equal
//! facets or not.

use crate::invented::full;
use crate::stated_schema::{assert_digests, path_of};
use crate::types::{child_type, name_of, types};
use bankrail_camt052::{Document, Finding, FindingKind, ReadLimits, ReadOptions};
use bankrail_iso20022::__private::Node;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

/// So many invented documents have every element.
const SEEDS: u64 = 120;

/// The types of camt.052.001.06 (ISO 20022) by their names.
const NAMES: &str = include_str!("type_names.txt");

#[test]
fn the_names_are_those_of_the_schema() {
    let Some(folder) = crate::shared::shared("schema") else {
        return;
    };
    let schema = std::fs::read_to_string(folder.join("camt.052.001.06.xsd")).unwrap();
    let names = schema
        .split("Type name=\"")
        .skip(1)
        .map(|rest| rest.split_once('"').unwrap().0);
    assert_eq!(
        names.collect::<BTreeSet<_>>(),
        NAMES.split_whitespace().collect::<BTreeSet<_>>()
    );
}

/// The elements of each type, where the schema is at hand.
#[test]
fn each_element_is_of_the_type_that_the_schema_says() {
    let Some(types) = types() else { return };
    let mut found = BTreeSet::new();
    for path in ELEMENTS.keys() {
        let (parent, element) = path.rsplit_once('/').unwrap();
        let kind = name_of(child_type(&types, type_at(parent), element));
        assert_eq!(type_at(path), kind, "{path}");
        found.insert((type_at(parent), element));
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

/// Digests hold the same where it is not at hand.
#[test]
fn each_element_is_of_one_type() {
    let lines = ELEMENTS
        .keys()
        .map(|path| format!("{path} {}", type_at(path)));
    assert_digests(lines, include_str!("stated_types.txt"));
}

/// Reading takes the name of the type of each element, and no other.
#[test]
fn elements_take_the_name_of_their_type() {
    let options = ReadOptions::default().limits(ReadLimits::default().findings(usize::MAX));
    for xml in (0..8).map(|seed| full(seed).to_xml().unwrap()) {
        let tree = roxmltree::Document::parse(&xml).unwrap();
        let is_outside = |node: &roxmltree::Node<'_, '_>| {
            node.is_element() && !path_of(*node).contains("/Envlp/")
        };
        let inner = || tree.root_element().descendants().skip(2).filter(is_outside);
        for (other, refused) in [(None, 0), (Some("Max36Text"), inner().count())] {
            let mut stated = String::new();
            let mut done = 0;
            for node in inner() {
                let end = node.range().start + 1 + node.tag_name().name().len();
                let name = other.unwrap_or_else(|| type_at(&path_of(node)));
                stated.push_str(&format!("{} xsi:type=\"{name}\"", &xml[done..end]));
                done = end;
            }
            stated.push_str(&xml[done..]);
            let xsi = "<Document xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" ";
            let found = Document::parse_with(stated.replacen("<Document ", xsi, 1), &options)
                .unwrap()
                .findings;
            let is_refused =
                |finding: &&Finding| matches!(finding.kind, FindingKind::UnknownAttribute { .. });
            assert_eq!(
                found.iter().filter(is_refused).count(),
                refused,
                "{found:#?}"
            );
        }
    }
}

#[test]
fn each_type_of_the_schema_is_known_in_supplementary_data() {
    let xml = full(0).to_xml().unwrap();
    for (name, known) in NAMES
        .split_whitespace()
        .map(|name| (name, true))
        .chain([("Max36Text", false)])
    {
        let stated = format!(
            "<SplmtryData><Envlp><a xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\" i:type=\"{name}\"/></Envlp>\
             </SplmtryData></BkToCstmrAcctRpt>"
        );
        let found = Document::parse(xml.replace("</BkToCstmrAcctRpt>", &stated))
            .unwrap()
            .findings;
        let unknown = found
            .iter()
            .any(|finding| matches!(finding.kind, FindingKind::EnvelopeTypeName { .. }));
        assert_eq!(unknown, !known, "{name}: {found:?}");
    }
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
                if known.insert((type_at(parent), name.to_owned())) {
                    found.insert(path, (xml.clone(), node.range()));
                }
            }
        }
    }
    found
});

/// The type of the element at a path.
fn type_at(path: &str) -> &'static str {
    let below: Vec<&str> = path.split('/').skip(3).collect();
    let mut of = NAMES
        .split_whitespace()
        .filter(|name| <Document as Node>::is_type(&below, name));
    let (first, next) = (of.next(), of.next());
    assert!(
        next.is_none(),
        "{path} is of two types, {first:?} and {next:?}"
    );
    first.unwrap_or_else(|| panic!("{path} is of no type"))
}
