//! What the model states of each element, as its reader tells it: whether it may be missing, how often it may occur,
//! the lengths, codes and forms of its text. The tests with the listing of the schema camt.052.001.06 (ISO 20022), and
//! with foreign validators, show that the model agrees with it; digests hold each line of the model where the schema is
//! not at hand. A failure prints the lines that belong into `stated_schema.txt`: take them over only when those other
//! tests pass.

use crate::invented::full;
use bankrail_camt052::{Document, Finding, ReadOptions};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

#[test]
fn each_element_is_as_the_schema_states() {
    let mut stated = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for xml in (0..8).map(|seed| full(seed).to_xml().unwrap()) {
        let tree = roxmltree::Document::parse(&xml).unwrap();
        for node in tree.root_element().descendants().skip(1).filter(roxmltree::Node::is_element) {
            let path = path_of(node);
            if path.contains("/SplmtryData/") || !seen.insert(path.clone()) {
                continue;
            }
            let element = &xml[node.range()];
            let mut tell = |range: Range<usize>, instead: &str, what: &str| {
                let told = told(&format!("{}{instead}{}", &xml[..range.start], &xml[range.end..]));
                stated.insert(format!("{path} {what}: {}", told.unwrap_or_default()));
            };
            tell(node.range(), "", "none");
            tell(node.range(), &element.repeat(12), "twelve");
            if let Some(text) = node.first_child().filter(roxmltree::Node::is_text) {
                tell(text.range(), "", "empty");
                tell(text.range(), &"~".repeat(600), "long");
            }
        }
    }
    let mut digests: BTreeMap<&str, Sha256> = BTreeMap::new();
    for line in &stated {
        let path = line.split(' ').next().unwrap();
        let part = path.match_indices('/').nth(5).map_or(path, |(end, _)| &path[..end]);
        digests.entry(part).or_default().update(format!("{line}\n"));
    }
    let found: Vec<String> = digests
        .into_iter()
        .map(|(part, digest)| {
            let digest: String = digest.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect();
            format!("{part} {digest}")
        })
        .collect();
    let expected: Vec<&str> = include_str!("stated_schema.txt").lines().collect();
    let other: Vec<&String> = found.iter().filter(|line| !expected.contains(&line.as_str())).collect();
    assert!(other.is_empty() && found.len() == expected.len(), "{} of {}: {other:#?}", other.len(), found.len());
}

fn path_of(node: roxmltree::Node<'_, '_>) -> String {
    let names = node.ancestors().filter(roxmltree::Node::is_element).map(|node| node.tag_name().name());
    let names: Vec<_> = names.collect();
    names.into_iter().rev().fold(String::new(), |path, name| format!("{path}/{name}"))
}

/// The first finding of the schema, or why there is none.
fn told(xml: &str) -> Option<String> {
    let parsed = Document::parse_with(xml, &ReadOptions::default().keep_unreadable(true));
    let told = |finding: &Finding| finding.kind.to_string();
    parsed.map_or_else(
        |error| Some(error.to_string()),
        |parsed| parsed.findings.iter().find(|finding| finding.kind.is_schema()).map(told),
    )
}
