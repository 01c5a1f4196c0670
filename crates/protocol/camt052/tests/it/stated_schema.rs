//! The facts that the model states about each element, as its reader reports them: the minimum and
//! maximum number of occurrences, and the lengths, codes and forms of its text. The tests with the
//! listing of the schema camt.052.001.06 (ISO 20022), and with foreign validators, show that the
//! model agrees with it; digests hold each line of the model where the schema is not available. A
//! failure prints the lines that belong into `stated_schema.txt`: take them over only when those
//! other tests pass.

use crate::stated_types::ELEMENTS;
use bankrail_camt052::{Document, Finding, ReadOptions};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ops::Range;

#[test]
fn each_element_is_as_the_schema_states() {
    let mut stated = Vec::new();
    for (path, (xml, range)) in &*ELEMENTS {
        let element = &xml[range.clone()];
        let mut tell = |range: &Range<usize>, instead: &str, what: &str| {
            let told = told(&format!(
                "{}{instead}{}",
                &xml[..range.start],
                &xml[range.end..]
            ));
            stated.push(format!("{path} {what}: {}", told.unwrap_or_default()));
        };
        tell(range, "", "none");
        tell(range, &element.repeat(12), "twelve");
        let content = range.start + element.find('>').unwrap() + 1
            ..range.start + element.rfind("</").unwrap_or(0);
        if xml
            .get(content.clone())
            .is_some_and(|content| !content.contains('<'))
        {
            tell(&content, "", "empty");
            tell(&content, &"~".repeat(600), "long");
        }
    }
    assert_digests(stated, include_str!("stated_schema.txt"));
}

/// Fails unless the lines, each with a path at its beginning, are as their digests say. One stands
/// for a part of the document, with its path.
pub(crate) fn assert_digests(lines: impl IntoIterator<Item = String>, digests: &str) {
    let mut parts: BTreeMap<String, Sha256> = BTreeMap::new();
    for line in lines {
        let path = line.split(' ').next().unwrap();
        let part = path
            .match_indices('/')
            .nth(5)
            .map_or(path, |(end, _)| &path[..end]);
        parts
            .entry(part.to_owned())
            .or_default()
            .update(format!("{line}\n"));
    }
    let found: Vec<String> = parts
        .into_iter()
        .map(|(part, digest)| {
            let digest: String = digest
                .finalize()
                .iter()
                .take(4)
                .map(|byte| format!("{byte:02x}"))
                .collect();
            format!("{part} {digest}")
        })
        .collect();
    let expected: Vec<&str> = digests.lines().collect();
    let other: Vec<&String> = found
        .iter()
        .filter(|line| !expected.contains(&line.as_str()))
        .collect();
    assert!(
        other.is_empty() && found.len() == expected.len(),
        "{} of {}: {other:#?}",
        other.len(),
        found.len()
    );
}

/// Returns the path of an element from the root.
pub(crate) fn path_of(node: roxmltree::Node<'_, '_>) -> String {
    let names = node
        .ancestors()
        .filter(roxmltree::Node::is_element)
        .map(|node| node.tag_name().name());
    let names: Vec<_> = names.collect();
    names
        .into_iter()
        .rev()
        .fold(String::new(), |path, name| format!("{path}/{name}"))
}

/// Returns the first finding of the schema, or the reason why there is none.
fn told(xml: &str) -> Option<String> {
    let parsed = Document::parse_with(xml, &ReadOptions::default().keep_unreadable(true));
    let told = |finding: &Finding| finding.kind.to_string();
    parsed.map_or_else(
        |error| Some(error.to_string()),
        |parsed| {
            parsed
                .findings
                .iter()
                .find(|finding| finding.kind.is_schema())
                .map(told)
        },
    )
}
