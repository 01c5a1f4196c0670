//! The model in each version against the schema of that version, type by type.

use crate::family::{Schema, all};
use bankrail_iso20022::__private::{MANY, SchemaElement, SchemaType};
use std::collections::{BTreeMap, HashSet};

/// A type of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Type {
    /// A simple type: its base and facets.
    Leaf(String),
    Codes(Vec<String>),
    /// The elements: name, minimum and maximum, type.
    Complex(bool, Vec<(String, String, String)>),
}

struct Xsd(BTreeMap<String, Type>);

impl Xsd {
    fn parse(text: &str) -> Self {
        let tree = roxmltree::Document::parse(text).unwrap();
        let elements = tree
            .root_element()
            .children()
            .filter(|node| node.is_element());
        let mut found = BTreeMap::new();
        let mut amounts = Vec::new();
        for node in elements.filter(|node| node.attribute("name") != Some("Document")) {
            let name = node.attribute("name").unwrap().to_owned();
            let inner = |name: &'static str| {
                node.descendants()
                    .find(move |inner| inner.tag_name().name() == name)
            };
            if let Some(extension) = inner("extension") {
                amounts.push((name, extension.attribute("base").unwrap().to_owned()));
            } else if let Some(restriction) = inner("restriction") {
                found.insert(name, simple(restriction));
            } else if inner("any").is_some() {
                found.insert(name, Type::Leaf("any".to_owned()));
            } else {
                let choice = inner("choice").is_some();
                let elements = node
                    .descendants()
                    .filter(|inner| inner.has_tag_name_of("element"));
                found.insert(name, Type::Complex(choice, elements.map(element).collect()));
            }
        }
        for (name, base) in amounts {
            let Type::Leaf(of) = &found[&base] else {
                panic!("{base}")
            };
            let amount = format!("Ccy {of}");
            found.insert(name, Type::Leaf(amount));
        }
        Self(found)
    }

    fn of(&self, name: &str) -> Type {
        let builtin = name
            .strip_prefix("xs:")
            .map(|name| Type::Leaf(name.to_owned()));
        builtin.unwrap_or_else(|| self.0[name].clone())
    }
}

trait Named {
    fn has_tag_name_of(&self, name: &str) -> bool;
}

impl Named for roxmltree::Node<'_, '_> {
    fn has_tag_name_of(&self, name: &str) -> bool {
        self.tag_name().name() == name
    }
}

fn element(node: roxmltree::Node<'_, '_>) -> (String, String, String) {
    let of = |name, other| node.attribute(name).unwrap_or(other).to_owned();
    let max = of("maxOccurs", "1").replace("unbounded", "*");
    (
        of("name", ""),
        format!("{}..{max}", of("minOccurs", "1")),
        of("type", ""),
    )
}

fn simple(restriction: roxmltree::Node<'_, '_>) -> Type {
    let facets = || restriction.children().filter(|node| node.is_element());
    let value = |node: roxmltree::Node<'_, '_>| node.attribute("value").unwrap().to_owned();
    let codes: Vec<String> = facets()
        .filter(|node| node.has_tag_name_of("enumeration"))
        .map(value)
        .collect();
    if !codes.is_empty() {
        return Type::Codes(codes);
    }
    let mut facets: Vec<String> = facets()
        .map(|node| format!("{}={}", node.tag_name().name(), value(node)))
        .collect();
    facets.sort();
    let base = restriction
        .attribute("base")
        .unwrap()
        .trim_start_matches("xs:");
    Type::Leaf(format!("{base} {}", facets.join(" ")).trim().to_owned())
}

/// Returns a type of the model in a version: the first alternative in place of a later choice.
fn in_version(kind: SchemaType, version: u8) -> SchemaType {
    match kind.elements.first() {
        Some((_, first)) if kind.bare_until >= version => in_version(first(), version),
        _ => kind,
    }
}

fn elements(kind: SchemaType, version: u8) -> Vec<&'static SchemaElement> {
    let is_in = |(field, _): &&SchemaElement| (field.since..=field.until).contains(&version);
    kind.elements.iter().filter(is_in).collect()
}

/// Returns the simple types of a schema that a simple Rust type stands for.
fn leaves(kind: SchemaType, version: u8) -> Vec<String> {
    let path = kind.name.split('<').next().unwrap_or_default();
    let name = &kind.name[path.rfind(':').map_or(0, |colon| colon + 1)..];
    let numbers = |text: &str| -> Vec<u32> {
        let text = text.trim_end_matches('>').split(", ");
        text.map(|number| number.parse().unwrap()).collect()
    };
    if let Some(most) = name.strip_prefix("Text<") {
        let most = most.trim_end_matches('>');
        return vec![format!("string maxLength={most} minLength=1")];
    }
    if let Some(range) = name.strip_prefix("Digits<") {
        let range = numbers(range);
        return match range[..] {
            [1, 1] => vec!["string pattern=[0-9]".to_owned()],
            [min, max] if min == max => vec![format!("string pattern=[0-9]{{{min}}}")],
            [min, max] => vec![format!("string pattern=[0-9]{{{min},{max}}}")],
            _ => panic!("{name}"),
        };
    }
    let bic = if version < 8 {
        "string pattern=[A-Z]{6,6}[A-Z2-9][A-NP-Z0-9]([A-Z0-9]{3,3}){0,1}"
    } else {
        "string pattern=[A-Z0-9]{4,4}[A-Z]{2,2}[A-Z0-9]{2,2}([A-Z0-9]{3,3}){0,1}"
    };
    let isin = if version < 6 {
        "string pattern=[A-Z0-9]{12,12}"
    } else {
        "string pattern=[A-Z]{2,2}[A-Z0-9]{9,9}[0-9]{1,1}"
    };
    let leaf: &[&str] = match name {
        "Envelope" => &["any"],
        "Amount" => &["Ccy decimal fractionDigits=5 minInclusive=0 totalDigits=18"],
        "Amount<13>" => &["Ccy decimal fractionDigits=13 minInclusive=0 totalDigits=18"],
        "IsoDate" => &["date"],
        "IsoDateTime" => &["dateTime"],
        "IsoYearMonth" => &["gYearMonth"],
        "bool" => &["boolean"],
        "Number<18, 17>" => &["decimal fractionDigits=17 totalDigits=18"],
        "Number<18, 17, true>" => &["decimal fractionDigits=17 minInclusive=0 totalDigits=18"],
        "Number<18, 5, true>" => &["decimal fractionDigits=5 minInclusive=0 totalDigits=18"],
        "Number<18, 0>" => &["decimal fractionDigits=0 totalDigits=18"],
        "Number<11, 10>" => &["decimal fractionDigits=10 totalDigits=11"],
        "Iban" => &["string pattern=[A-Z]{2,2}[0-9]{2,2}[a-zA-Z0-9]{1,30}"],
        "Bic" => &[bic],
        "Isin" => &[isin],
        "Lei" => &["string pattern=[A-Z0-9]{18,18}[0-9]{2,2}"],
        "UuidV4" => {
            &["string pattern=[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}"]
        }
        "CurrencyCode" => &["string pattern=[A-Z]{3,3}"],
        "CountryCode" => &["string pattern=[A-Z]{2,2}"],
        "LanguageCode" => &["string pattern=[a-z]{2,2}"],
        "PhoneNumber" => &[r"string pattern=\+[0-9]{1,3}-[0-9()+\-]{1,30}"],
        "AlphaNumeric4" => &["string pattern=[a-zA-Z0-9]{4}"],
        "SignedDays" => &[
            r"string pattern=[\+]{0,1}[0-9]{1,15}",
            "string pattern=[+]{0,1}[0-9]{1,15}",
        ],
        _ => panic!("{name}"),
    };
    leaf.iter().map(|leaf| (*leaf).to_owned()).collect()
}

struct Comparison<'a> {
    xsd: &'a Xsd,
    seen: HashSet<(String, &'static str, u8)>,
    wrong: Vec<String>,
}

impl Comparison<'_> {
    fn compare(&mut self, path: &str, listed: &str, kind: SchemaType, version: u8) {
        let kind = in_version(kind, version);
        if !self.seen.insert((listed.to_owned(), kind.name, version)) {
            return;
        }
        let of = self.xsd.of(listed);
        let own = if kind.open_since <= version && !kind.codes.is_empty() {
            Type::Leaf("string maxLength=4 minLength=1".to_owned())
        } else if !kind.codes.is_empty() {
            let is_in = |code: &&&str| {
                let dated = kind.dated_codes.iter().find(|(dated, ..)| dated == *code);
                dated.is_none_or(|(_, since, until)| (*since..=*until).contains(&version))
            };
            Type::Codes(
                kind.codes
                    .iter()
                    .filter(is_in)
                    .map(|code| (*code).to_owned())
                    .collect(),
            )
        } else if kind.elements.is_empty() {
            let own = leaves(kind, version);
            if !matches!(&of, Type::Leaf(leaf) if own.contains(leaf)) {
                self.wrong.push(format!("{path}: {own:?} for {of:?}"));
            }
            return;
        } else {
            self.elements(path, &of, kind, version);
            return;
        };
        let same = match (&own, &of) {
            (Type::Codes(own), Type::Codes(of)) => {
                own.iter().collect::<HashSet<_>>() == of.iter().collect::<HashSet<_>>()
            }
            (own, of) => own == of,
        };
        if !same {
            self.wrong.push(format!("{path}: {own:?} for {of:?}"));
        }
    }

    fn elements(&mut self, path: &str, of: &Type, kind: SchemaType, version: u8) {
        let Type::Complex(choice, listed) = of else {
            self.wrong.push(format!("{path}: {} for {of:?}", kind.name));
            return;
        };
        let own = elements(kind, version);
        let shown: Vec<(String, String)> = own
            .iter()
            .map(|(field, _)| {
                let max = match field.max {
                    MANY => "*".to_owned(),
                    max => max.to_string(),
                };
                (field.wire.to_owned(), format!("{}..{max}", field.min))
            })
            .collect();
        let expected: Vec<(String, String)> = listed
            .iter()
            .map(|(name, occurs, _)| (name.clone(), occurs.clone()))
            .collect();
        if shown != expected || *choice != kind.is_choice {
            self.wrong.push(format!(
                "{path}: {} is {shown:?} for {expected:?}",
                kind.name
            ));
            return;
        }
        for ((field, of), (name, _, listed)) in own.into_iter().zip(listed) {
            let version = if field.as_of == 0 {
                version
            } else {
                field.as_of
            };
            self.compare(&format!("{path}/{name}"), listed, of(), version);
        }
    }
}

fn root_type(text: &str) -> String {
    let tree = roxmltree::Document::parse(text).unwrap();
    let document = tree.descendants().find(|node| {
        node.tag_name().name() == "complexType" && node.attribute("name") == Some("Document")
    });
    let element = document
        .unwrap()
        .descendants()
        .find(|node| node.has_tag_name_of("element"));
    element.unwrap().attribute("type").unwrap().to_owned()
}

#[test]
fn every_type_in_each_version_is_that_of_the_schema() {
    let mut wrong = Vec::new();
    for schema in all() {
        let Some(file) = schema.file() else { return };
        let text = std::fs::read_to_string(file).unwrap();
        let Schema { version, .. } = schema;
        let xsd = Xsd::parse(&text);
        let mut comparison = Comparison {
            xsd: &xsd,
            seen: HashSet::new(),
            wrong: Vec::new(),
        };
        comparison.compare("", &root_type(&text), schema.root(), version);
        assert!(comparison.seen.len() > 100, "{}", schema.name());
        let named = |fault| format!("{}: {fault}", schema.name());
        wrong.extend(comparison.wrong.into_iter().map(named));
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
