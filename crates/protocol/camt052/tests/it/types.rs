//! The types of the schema, as its listing has them.

use crate::shared::shared;
use std::collections::BTreeMap;

/// An element of a type: wire name, cardinality, type and facets.
pub(crate) type Element = (String, String, String);

/// The types of the schema: name to whether it is a choice, and its elements.
pub(crate) type Types = BTreeMap<String, (bool, Vec<Element>)>;

/// Returns the complex types of the schema; `None` when they are not here.
pub(crate) fn types() -> Option<Types> {
    let types = parse(&std::fs::read_to_string(shared("schema")?.join("types.txt")).unwrap());
    assert_eq!(types.len(), 162);
    Some(types)
}

fn parse(text: &str) -> Types {
    let mut types = Types::new();
    let mut current = String::new();
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("## ") {
            let name = head.split(' ').next().unwrap();
            current.clear();
            if head == name || head.ends_with("(choice)") {
                current = name.to_owned();
                types.insert(current.clone(), (head.ends_with("(choice)"), Vec::new()));
            }
        } else if let (Some((_, elements)), Some(element)) =
            (types.get_mut(&current), line.strip_prefix("   "))
        {
            let mut words = element.splitn(4, ' ');
            let (name, count, kind) = (
                words.next().unwrap(),
                words.next().unwrap(),
                words.next().unwrap(),
            );
            let facets = words
                .next()
                .unwrap_or("")
                .split("|choice")
                .next()
                .unwrap()
                .trim()
                .to_owned();
            elements.push((
                name.to_owned(),
                count.to_owned(),
                format!("{kind} {facets}").trim().to_owned(),
            ));
        }
    }
    types
}

/// Returns the type and facets of a child of an element of a complex type; empty where the schema
/// has none.
pub(crate) fn child_type<'a>(types: &'a Types, parent: &str, child: &str) -> &'a str {
    let elements = types.get(parent).map_or(&[][..], |(_, elements)| elements);
    elements
        .iter()
        .find(|(name, ..)| name == child)
        .map_or("", |(.., kind)| kind)
}

/// Returns the name of a type without its facets.
pub(crate) fn name_of(kind: &str) -> &str {
    kind.split(' ').next().unwrap_or_default()
}
