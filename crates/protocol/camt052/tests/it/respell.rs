//! The same document spelled otherwise: prefixes, CDATA, references, comments, instructions, white
//! space, numbers.

use crate::invented::bytes;
use crate::types::{Types, child_type, name_of};
use bankrail_camt052::NAMESPACE;
use roxmltree::{Node, NodeType};

/// Returns another spelling for each seed. The content of envelopes stays as it is.
pub(crate) fn respell(xml: &str, seed: u64, types: &Types) -> String {
    let tree = roxmltree::Document::parse(xml).unwrap();
    let prefix = ["", "c:", "a.b-c:"][usize::try_from(seed % 3).unwrap()];
    let mut dice = bytes(seed ^ 0xD1CE, 997)
        .into_iter()
        .map(usize::from)
        .cycle();
    let mut respeller = Respeller {
        prefix,
        types,
        xml: String::new(),
        roll: &mut |sides| dice.next().unwrap() % sides,
    };
    respeller.between();
    respeller.element(tree.root_element(), "Document");
    respeller.between();
    respeller.xml
}

struct Respeller<'a> {
    prefix: &'static str,
    types: &'a Types,
    xml: String,
    roll: &'a mut dyn FnMut(usize) -> usize,
}

impl Respeller<'_> {
    fn element(&mut self, node: Node<'_, '_>, kind: &str) {
        let name = node.tag_name().name();
        self.xml.push_str(&format!("<{}{name}", self.prefix));
        if node
            .parent()
            .is_some_and(|parent| parent.node_type() == NodeType::Root)
        {
            let bound = self
                .prefix
                .strip_suffix(':')
                .map_or(String::new(), |prefix| format!(":{prefix}"));
            self.xml.push_str(&format!(
                "\n xmlns{bound}='{NAMESPACE}' xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"\t\
                 xsi:schemaLocation=\"{NAMESPACE} camt.052.001.06.xsd\""
            ));
        }
        for attribute in node.attributes() {
            self.xml
                .push_str(&format!(" {} = '{}'", attribute.name(), attribute.value()));
        }
        if node.children().next().is_none() && (self.roll)(2) == 0 {
            self.xml.push_str([" />", "/>"][(self.roll)(2)]);
            return;
        }
        self.xml.push('>');
        if name == "Envlp" {
            let range = |node: Node<'_, '_>| node.range();
            let (first, last) = (node.first_child().map(range), node.last_child().map(range));
            if let (Some(first), Some(last)) = (first, last) {
                self.xml
                    .push_str(&node.document().input_text()[first.start..last.end]);
            }
        } else if self
            .types
            .get(name_of(kind))
            .is_some_and(|(_, elements)| !elements.is_empty())
        {
            self.between();
            for child in node.children().filter(Node::is_element) {
                self.element(
                    child,
                    child_type(self.types, name_of(kind), child.tag_name().name()),
                );
                self.between();
            }
        } else {
            let text: String = node.children().filter_map(|text| text.text()).collect();
            let text = self.value(&text, kind);
            self.text(&text);
        }
        self.xml.push_str(&format!(
            "</{}{name}{}>",
            self.prefix,
            ["", " ", "\n"][(self.roll)(3)]
        ));
    }

    /// Returns the same value of a type.
    fn value(&mut self, text: &str, kind: &str) -> String {
        let number = kind.contains("[decimal") || kind.contains("Amount");
        match ((self.roll)(8), text.strip_prefix('-')) {
            (0, None) if number => format!("+{text}"),
            (1, None) if number => format!("00{text}"),
            (1, Some(rest)) if number => format!("-00{rest}"),
            (2, _) if number && !text.contains('.') => format!("{text}."),
            (3, _) if number && text.starts_with("0.") => text.replacen('0', "", 1),
            (4, _) if number || kind.contains("[date") || kind.contains("[gYear") => {
                format!("\n\t{text} ")
            }
            (0..4, _) if kind.contains("[boolean") => [("true", " 1 "), ("false", "0")]
                .iter()
                .fold(text.to_owned(), |text, (from, to)| text.replace(from, to)),
            _ => text.to_owned(),
        }
    }

    /// The same characters.
    fn text(&mut self, text: &str) {
        let mut section = false;
        for c in text.chars() {
            let roll = (self.roll)(24);
            if section && (roll == 0 || c == '\r') {
                self.xml.push_str("]]>");
                section = false;
            }
            match (section, roll, c) {
                (true, _, ']') | (false, 1, _) | (_, _, '\r') => {
                    if std::mem::take(&mut section) {
                        self.xml.push_str("]]>");
                    }
                    self.xml.push_str(&format!("&#{};", u32::from(c)));
                }
                (true, ..) => self.xml.push(c),
                (false, 2, _) => self.xml.push_str(&format!("&#x{:04x};", u32::from(c))),
                (false, 3, _) if c != ']' => {
                    self.xml.push_str("<![CDATA[");
                    self.xml.push(c);
                    section = true;
                }
                (false, 4, _) => self.xml.push_str(&format!("<!-- - ->-->{}", escaped(c))),
                (false, 5, _) => self.xml.push_str(&format!("{}<?a ]]> ?>", escaped(c))),
                (false, 6, _) => self.xml.push_str(&format!("<![CDATA[]]>{}", escaped(c))),
                _ => self.xml.push_str(&escaped(c)),
            }
        }
        if section {
            self.xml.push_str("]]>");
        }
    }

    /// Markup without meaning between elements.
    fn between(&mut self) {
        self.xml.push_str(
            [
                "",
                "",
                "",
                "\n",
                "\r\n\t ",
                "<!---->",
                " <?a?> ",
                "<!-- <a> & -->\n",
            ][(self.roll)(8)],
        );
    }
}

fn escaped(c: char) -> String {
    match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        '\'' => "&apos;".to_owned(),
        c => c.to_string(),
    }
}
