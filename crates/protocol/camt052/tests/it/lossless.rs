//! Reading a schema-valid document and writing it again loses nothing: the same elements in the
//! same order with the same attributes and texts; numbers with their scale, times with their
//! precision and offset, envelopes verbatim.

use crate::invented::{full, numbered, strict};
use crate::mutate::mutate;
use crate::respell::respell;
use crate::shared::shared;
use crate::types::{Types, child_type, name_of, types};
use bankrail_camt052::{Document, WriteError};
use roxmltree::Node;

const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// Documents that are read and written again.
const DOCUMENTS: u64 = 300;

fn assert_lossless(name: &str, xml: &str, types: &Types) {
    let parsed = Document::parse_with(xml, &strict())
        .unwrap_or_else(|error| panic!("{name}: {error:?}\n{xml}"));
    let written = parsed.document.to_xml().unwrap();
    let (before, after) = (
        roxmltree::Document::parse(xml).unwrap(),
        roxmltree::Document::parse(&written).unwrap(),
    );
    let wrong = difference(
        before.root_element(),
        after.root_element(),
        "Document",
        types,
    );
    assert_eq!(wrong, None, "{name}\n{xml}\n{written}");
}

/// Returns the first difference between two elements of a type.
fn difference(
    left: Node<'_, '_>,
    right: Node<'_, '_>,
    kind: &str,
    types: &Types,
) -> Option<String> {
    let differs = |what: &str| {
        Some(format!(
            "{what} of {:?} {:?}",
            left.tag_name(),
            right.tag_name()
        ))
    };
    let attributes = |node: Node<'_, '_>| {
        let mut attributes: Vec<(String, String, String)> = node
            .attributes()
            .filter(|attribute| attribute.namespace() != Some(XSI))
            .map(|a| {
                (
                    a.namespace().unwrap_or_default().to_owned(),
                    a.name().to_owned(),
                    a.value().to_owned(),
                )
            })
            .collect();
        attributes.sort();
        attributes
    };
    if left.tag_name() != right.tag_name() {
        return differs("the names");
    }
    if attributes(left) != attributes(right) {
        return differs("the attributes");
    }
    if name_of(kind) == "SupplementaryDataEnvelope1" {
        return (!verbatim(left, right))
            .then(|| differs("what is kept verbatim"))
            .flatten();
    }
    if types
        .get(name_of(kind))
        .is_some_and(|(_, elements)| !elements.is_empty())
    {
        let children = |node: Node<'_, '_>| node.children().filter(Node::is_element).count();
        if children(left) != children(right) {
            return differs("the children");
        }
        let pairs = left
            .children()
            .filter(Node::is_element)
            .zip(right.children().filter(Node::is_element));
        return pairs.into_iter().find_map(|(l, r)| {
            difference(
                l,
                r,
                child_type(types, name_of(kind), l.tag_name().name()),
                types,
            )
        });
    }
    let (before, after) = (canonical(&text(left), kind), canonical(&text(right), kind));
    if before == after {
        None
    } else {
        differs(&format!("the texts {before:?} {after:?}"))
    }
}

fn text(node: Node<'_, '_>) -> String {
    node.children()
        .filter(Node::is_text)
        .filter_map(|text| text.text())
        .collect()
}

/// One spelling for each value of a type, scale and precision included.
fn canonical(text: &str, kind: &str) -> String {
    let trimmed = text.trim_matches([' ', '\t', '\r', '\n']);
    if kind.contains("[decimal") || kind.contains("Amount") {
        let (sign, digits) = match trimmed.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", trimmed.trim_start_matches('+')),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let whole = whole.trim_start_matches('0');
        let sign = if whole.is_empty() && fraction.trim_matches('0').is_empty() {
            ""
        } else {
            sign
        };
        format!("{sign}{whole}.{fraction}")
    } else if kind.contains("[boolean") {
        trimmed.replace("true", "1").replace("false", "0")
    } else if kind.contains("[date") || kind.contains("[gYear") {
        trimmed.to_owned()
    } else {
        text.to_owned()
    }
}

/// The same nodes with the same names, attributes, texts, comments and instructions.
fn verbatim(left: Node<'_, '_>, right: Node<'_, '_>) -> bool {
    let facts = |node: Node<'_, '_>| -> Vec<String> {
        let fact = |node: Node<'_, '_>| {
            let attributes: Vec<_> = node
                .attributes()
                .map(|a| (a.namespace(), a.name(), a.value()))
                .collect();
            let name = (
                node.tag_name().namespace().unwrap_or_default(),
                node.tag_name().name(),
            );
            format!(
                "{:?} {name:?} {:?} {:?} {attributes:?}",
                node.node_type(),
                node.pi(),
                node.text()
            )
        };
        node.descendants().skip(1).map(fact).collect()
    };
    facts(left) == facts(right)
}

#[test]
fn samples_lose_nothing() {
    let (Some(types), Some(folder)) = (types(), shared("samples")) else {
        return;
    };
    let mut count = 0;
    for folder in [folder.clone(), folder.join("edge")] {
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let Some(xml) = std::fs::read(&path)
                .ok()
                .and_then(|bytes| String::from_utf8(bytes).ok())
            else {
                continue;
            };
            if Document::parse_with(&xml, &strict()).is_ok() {
                assert_lossless(
                    &path.display().to_string(),
                    xml.trim_start_matches('\u{feff}'),
                    &types,
                );
                count += 1;
            }
        }
    }
    assert!(count >= 27, "{count} samples");
}

#[test]
fn invented_documents_lose_nothing_however_they_are_spelled() {
    let Some(types) = types() else { return };
    let documents = (0..DOCUMENTS).map(numbered).chain((0..4).map(full));
    for (seed, document) in (0..).zip(documents) {
        let xml = document.to_xml().unwrap();
        assert_lossless("as written", &xml, &types);
        let respelled = respell(&xml, seed, &types);
        assert_lossless("respelled", &respelled, &types);
        // Markup kept out of a prefixed document takes back the default namespace that it will
        // stand in.
        if seed % 3 == 0 || !xml.contains("<Envlp>") {
            assert_eq!(
                Document::parse(&respelled).unwrap().document,
                document,
                "{seed}\n{respelled}"
            );
        }
    }
}

/// Changed documents that the schema still accepts lose nothing; of the others, nothing that was
/// read.
#[test]
fn changed_documents_lose_nothing() {
    let Some(types) = types() else { return };
    let (mut valid, mut kept, mut incomplete) = (0, 0, 0);
    for seed in 0..3 * DOCUMENTS {
        let xml = mutate(&numbered(seed).to_xml().unwrap(), seed, &types);
        if Document::parse_with(&xml, &strict()).is_ok() {
            assert_lossless("changed", &xml, &types);
            valid += 1;
        } else if let Ok(parsed) = Document::parse(&xml) {
            match parsed.document.to_xml() {
                Ok(written) => {
                    let again = Document::parse(&written)
                        .unwrap_or_else(|error| panic!("{error:?}\n{xml}\n{written}"));
                    assert_eq!(again.document, parsed.document, "{xml}\n{written}");
                    kept += 1;
                }
                Err(WriteError::Invalid { .. }) => incomplete += 1,
                Err(error) => panic!("{error:?}\n{xml}"),
            }
        }
    }
    assert!(
        valid > 150 && kept > 150 && incomplete > 10,
        "{valid} valid, {kept} kept, {incomplete} incomplete"
    );
}
