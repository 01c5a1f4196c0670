//! Access to elements as they were sent, without a reader that would correct them.

use bankrail_values::{Decimal, parse_decimal};
use roxmltree::Node;

/// The report of a message.
pub(super) const REPORT: &str = "BkToCstmrAcctRpt/Rpt";

/// Reads the first element at a path below the root. Returns `None` if the text is not XML, or has
/// no such element.
pub(super) fn read<T>(xml: &str, path: &str, element: impl FnOnce(Node<'_, '_>) -> T) -> Option<T> {
    let document = roxmltree::Document::parse(xml).ok()?;
    child(document.root_element(), path).map(element)
}

/// Returns the first element at a path of names below a node.
pub(super) fn child<'a, 'input>(node: Node<'a, 'input>, path: &str) -> Option<Node<'a, 'input>> {
    let is = |node: &Node<'_, '_>, name| node.is_element() && node.tag_name().name() == name;
    path.split('/').try_fold(node, |node, name| {
        node.children().find(|child| is(child, name))
    })
}

/// Returns the elements with a name directly below a node.
pub(super) fn children<'a, 'input>(
    node: Node<'a, 'input>,
    name: &str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    node.children()
        .filter(move |child| child.is_element() && child.tag_name().name() == name)
}

/// Returns the text of the first element at a path.
pub(super) fn text<'a>(node: Node<'a, '_>, path: &str) -> Option<&'a str> {
    child(node, path)?.text().map(str::trim)
}

/// Reads an amount without a sign.
pub(super) fn amount(text: Option<&str>) -> Option<Decimal> {
    parse_decimal(text?)
        .ok()
        .filter(|amount| !amount.is_sign_negative())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_their_path_and_checked_as_they_are() {
        let document = roxmltree::Document::parse("<a><b><c> 1 </c><c>2</c></b><b/></a>").unwrap();
        let root = document.root_element();
        assert_eq!((text(root, "b/c"), text(root, "b/d")), (Some("1"), None));
        assert_eq!(children(root, "b").count(), 2);
        for (text, expected) in [
            ("1.50", true),
            ("-1", false),
            ("+1", false),
            ("1e3", false),
            ("", false),
        ] {
            assert_eq!(amount(Some(text)).is_some(), expected, "{text}");
        }
    }
}
