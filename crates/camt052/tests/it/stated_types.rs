//! `xsi:type`: each leaf of the schema takes the name of its own type and no other, of equal facets or not.

use crate::invented::{full, numbered};
use crate::types::{Types, child_type, name_of, types};
use bankrail_camt052::{Document, FindingKind, ReadLimits, ReadOptions};
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn each_leaf_takes_its_own_type_alone() {
    let Some(types) = types() else { return };
    let options = ReadOptions::default().limits(ReadLimits::default().findings(usize::MAX));
    let mut elements = BTreeSet::new();
    let mut all = BTreeSet::new();
    for document in (0..8).map(full).chain((0..40).map(numbered)) {
        let xml = document.to_xml().unwrap();
        let tree = roxmltree::Document::parse(&xml).unwrap();
        // Where the name of each leaf's start tag ends, and its own type.
        let mut leaves = BTreeMap::new();
        collect(tree.root_element(), "Document", &types, &mut leaves, &mut elements);
        let names: BTreeSet<&str> = leaves.values().copied().collect();
        all.extend(names.clone());
        for name in names {
            let mut stated = String::with_capacity(xml.len() * 2);
            let mut done = 0;
            for at in leaves.keys() {
                stated.push_str(&xml[done..*at]);
                stated.push_str(&format!(" xsi:type=\"{name}\""));
                done = *at;
            }
            stated.push_str(&xml[done..]);
            let xsi = "<Document xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" ";
            let stated = stated.replacen("<Document ", xsi, 1);
            let findings = Document::parse_with(&stated, &options).unwrap().findings;
            let refused =
                findings.iter().filter(|finding| matches!(finding.kind, FindingKind::UnknownAttribute { .. })).count();
            let others = leaves.values().filter(|own| **own != name).count();
            assert_eq!(refused, others, "{name}: {findings:#?}");
        }
    }
    assert!(elements.len() > 200 && all.len() > 60, "{} leaves of {} types", elements.len(), all.len());
}

#[test]
fn each_type_of_the_schema_is_known_in_supplementary_data() {
    let Some(folder) = crate::shared::shared("schema") else { return };
    let schema = std::fs::read_to_string(folder.join("camt.052.001.06.xsd")).unwrap();
    let names: Vec<&str> =
        schema.split("Type name=\"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0)).collect();
    assert_eq!(names.len(), 257);
    let xml = full(0).to_xml().unwrap();
    for (name, known) in names.into_iter().map(|name| (name, true)).chain([("Max36Text", false)]) {
        let stated = format!(
            "<SplmtryData><Envlp><a xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\" i:type=\"{name}\"/></Envlp>\
             </SplmtryData></BkToCstmrAcctRpt>"
        );
        let found = Document::parse(xml.replace("</BkToCstmrAcctRpt>", &stated)).unwrap().findings;
        let unknown = found.iter().any(|finding| matches!(finding.kind, FindingKind::EnvelopeTypeName { .. }));
        assert_eq!(unknown, !known, "{name}: {found:?}");
    }
}

fn collect<'a>(
    node: roxmltree::Node<'_, '_>,
    kind: &'a str,
    types: &'a Types,
    leaves: &mut BTreeMap<usize, &'a str>,
    elements: &mut BTreeSet<(&'a str, String)>,
) {
    for child in node.children().filter(roxmltree::Node::is_element) {
        let name = child.tag_name().name();
        let own = name_of(child_type(types, name_of(kind), name));
        if types.contains_key(own) && own != "SupplementaryDataEnvelope1" {
            collect(child, own, types, leaves, elements);
        } else if own != "SupplementaryDataEnvelope1" {
            leaves.insert(child.range().start + 1 + name.len(), own);
            elements.insert((kind, name.to_owned()));
        }
    }
}
