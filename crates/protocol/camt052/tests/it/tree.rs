//! A generic tree of a document, for comparisons.

use std::io::{BufRead, Read};

/// Returns the leaves of a document: path and text, attributes as `path/@name`.
pub(crate) fn leaves(xml: &str) -> Vec<(String, String)> {
    let tree = roxmltree::Document::parse(xml).unwrap_or_else(|error| panic!("{error}\n{xml}"));
    let mut leaves = Vec::new();
    walk(tree.root_element(), String::new(), &mut leaves);
    leaves
}

fn walk(node: roxmltree::Node<'_, '_>, parent: String, leaves: &mut Vec<(String, String)>) {
    let path = format!("{parent}/{}", node.tag_name().name());
    for attribute in node.attributes() {
        leaves.push((
            format!("{path}/@{}", attribute.name()),
            attribute.value().to_owned(),
        ));
    }
    let mut children = node
        .children()
        .filter(roxmltree::Node::is_element)
        .peekable();
    if children.peek().is_none() {
        let text = node
            .children()
            .filter(roxmltree::Node::is_text)
            .filter_map(|text| text.text())
            .collect();
        leaves.push((path, text));
        return;
    }
    for child in children {
        walk(child, path.clone(), leaves);
    }
}

/// The leaves of two documents are equal: in text, or as decimals, times or indicators.
pub(crate) fn assert_same_leaves(name: &str, left: &str, right: &str) {
    let (left, right) = (significant(left), significant(right));
    for (left, right) in left.iter().zip(&right) {
        assert!(
            left.0 == right.0 && same(&left.1, &right.1),
            "{name}: {left:?} {right:?}"
        );
    }
    assert_eq!(left.len(), right.len(), "{name}");
}

/// Attributes of XML Schema itself are ignored.
fn significant(xml: &str) -> Vec<(String, String)> {
    leaves(xml)
        .into_iter()
        .filter(|(path, _)| !path.ends_with("/@schemaLocation"))
        .collect()
}

fn same(left: &str, right: &str) -> bool {
    use bankrail_iso20022::PlainDecimal;
    let truth = |text: &str| text.replace("true", "1").replace("false", "0");
    left == right
        || truth(left) == truth(right)
        || matches!((PlainDecimal::parse(left), PlainDecimal::parse(right)), (Ok(left), Ok(right)) if left == right)
        || time_without_zeros(left).is_some_and(|left| Some(left) == time_without_zeros(right))
}

/// Returns a time of the day without the zeros at the end of its fraction.
fn time_without_zeros(text: &str) -> Option<String> {
    bankrail_iso20022::IsoDateTime::parse(text).ok()?;
    let seconds = text.find('T')? + "T00:00:00".len();
    let (time, rest) = text.split_at_checked(seconds)?;
    let offset = rest.find(['Z', '+', '-']).unwrap_or(rest.len());
    let (fraction, offset) = rest.split_at(offset);
    let offset = offset.replace("+00:00", "Z");
    Some(format!(
        "{time}{}{offset}",
        fraction.trim_end_matches('0').trim_end_matches('.')
    ))
}

/// Returns the texts of the leaves below a path.
pub(crate) fn texts(xml: &str, path: &str) -> Vec<String> {
    leaves(xml)
        .into_iter()
        .filter(|(found, _)| found.ends_with(path))
        .map(|(_, text)| text)
        .collect()
}

/// A source that hands out a few bytes at a time.
#[derive(Debug)]
pub(crate) struct Slowly<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) piece: usize,
}

impl Read for Slowly<'_> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let piece = self.fill_buf()?;
        let length = piece.len().min(to.len());
        to[..length].copy_from_slice(&piece[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Slowly<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        Ok(&self.bytes[..self.bytes.len().min(self.piece)])
    }

    fn consume(&mut self, amount: usize) {
        self.bytes = &self.bytes[amount..];
    }
}
