//! The statements of the model against the schema, line by line.

use crate::types::{Element, types};
use std::collections::BTreeMap;

/// A statement: its Rust name, the schema's type, whether it is a choice, its elements with their
/// Rust types.
struct Statement {
    name: String,
    schema: String,
    choice: bool,
    elements: Vec<Element>,
}

/// The text of the files that state the types that messages share, and the statement of this
/// message, expanded.
fn sources() -> Vec<String> {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap();
    let read = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap();
    let shared = std::fs::read_dir(crates.join("camt/src/model"))
        .unwrap()
        .map(|file| read(file.unwrap().path()));
    let own = expanded(
        &read(crates.join("camt/src/account_message.rs")),
        &read(crates.join("camt052/src/message.rs")),
    );
    shared.chain([own]).collect()
}

/// The statements that `account_message!` makes of this message's.
fn expanded(account_message: &str, own: &str) -> String {
    let own: Vec<&str> = own
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("//"))
        .collect();
    let own = own.join("\n");
    let (own, _) = own.split_once("stream:").unwrap();
    let literals: Vec<&str> = own.split('"').skip(1).step_by(2).collect();
    let [
        document,
        _root,
        wire,
        schema,
        _word,
        pagination,
        _balances,
        words,
    ] = literals[..]
    else {
        panic!("{own}")
    };
    let balances = own
        .lines()
        .find(|line| line.starts_with("balances: 0..*"))
        .unwrap();
    let (_, made) = account_message.split_once("=> {\n").unwrap();
    let (made, _) = made.split_once("/// Compares the summary").unwrap();
    let lines: Vec<&str> = made
        .lines()
        .map(|line| line.strip_prefix("        ").unwrap_or(line))
        .collect();
    let made = lines.join("\n").replace("$($($balances)+)?", balances);
    let quoted = [
        ("$document", document),
        ("$wire", wire),
        ("$schema", schema),
        ("$pagination", pagination),
        ("$words", words),
    ];
    let made = quoted.iter().fold(made, |made, (name, text)| {
        made.replace(name, &format!("\"{text}\""))
    });
    let names = [
        ("$Document", "Document"),
        ("$groups", "reports"),
        ("$Group", "Report"),
        ("$crate::", ""),
        ("bankrail_camt::", ""),
    ];
    names
        .iter()
        .fold(made, |made, (name, text)| made.replace(name, text))
}

fn statements() -> Vec<Statement> {
    let mut found: Vec<Statement> = Vec::new();
    for text in sources() {
        // Whether the macro that is open states choices, and whether one of its types is open.
        let (mut choice, mut open) = (None, false);
        for whole in text.lines() {
            let line = whole.trim();
            match line {
                "record! {" | "message! {" => choice = Some(false),
                "choice! {" => choice = Some(true),
                "codes! {" => choice = None,
                _ if whole.starts_with('}') => choice = None,
                end if end.starts_with('}') => open = false,
                _ => {}
            }
            let Some(choice) = choice else { continue };
            let Some((left, right)) = line.split_once(" = \"") else {
                continue;
            };
            if let Some(schema) = right.strip_suffix("\" {") {
                let (name, schema) = (left.to_owned(), schema.to_owned());
                found.push(Statement {
                    name,
                    schema,
                    choice,
                    elements: Vec::new(),
                });
                open = true;
                continue;
            }
            if !open {
                continue;
            }
            let wire = right
                .split('"')
                .next()
                .unwrap_or_else(|| panic!("{line}"))
                .to_owned();
            let (count, kind) = if choice {
                let kind = left.split_once('(').unwrap().1.strip_suffix(')').unwrap();
                match kind.strip_prefix("Vec<") {
                    Some(kind) => ("1..*", kind.strip_suffix('>').unwrap()),
                    None => ("1..1", kind),
                }
            } else {
                let (_, rest) = left.split_once(": ").unwrap();
                rest.split_once(' ').unwrap()
            };
            let kind = kind.trim_start_matches('~');
            let kind = kind
                .strip_prefix("Box<")
                .map_or(kind, |kind| kind.strip_suffix('>').unwrap());
            found
                .last_mut()
                .unwrap()
                .elements
                .push((wire, count.to_owned(), kind.to_owned()));
        }
        found.extend(codes_or_proprietary(&text));
    }
    found
}

/// The choices that `code_or_proprietary!` states:
/// `Name = "Schema" { Code as "List", Proprietary }`.
fn codes_or_proprietary(text: &str) -> Vec<Statement> {
    let blocks = text
        .split("code_or_proprietary! {")
        .skip(1)
        .map(|block| block.split("\n}").next().unwrap());
    let lines =
        blocks.flat_map(|block| block.lines().filter(|line| !line.trim().starts_with("//")));
    let stated = lines.collect::<Vec<_>>().join(" ");
    let types = stated
        .split_terminator('}')
        .map(str::trim)
        .filter(|stated| !stated.is_empty());
    let made = types.map(|stated| {
        let (head, body) = stated.split_once('{').unwrap();
        let (name, schema) = head.trim().split_once(" = ").unwrap();
        let kinds = body
            .split(", ")
            .map(|kind| kind.trim().split(" as ").next().unwrap().to_owned());
        let elements = ["Cd", "Prtry"].into_iter().zip(kinds);
        let elements = elements
            .map(|(wire, kind)| (wire.to_owned(), "1..1".to_owned(), kind))
            .collect();
        Statement {
            name: name.to_owned(),
            schema: schema.trim_matches('"').to_owned(),
            choice: true,
            elements,
        }
    });
    made.collect()
}

/// The schema's type and facets of a simple Rust type.
fn simple(kind: &str) -> Vec<String> {
    let facets = |names: &[&str], facets: &str| {
        names
            .iter()
            .map(|name| format!("{name} {facets}").trim().to_owned())
            .collect()
    };
    let numbers = |text: &str| {
        text.split(", ")
            .map(|n| n.parse().unwrap())
            .collect::<Vec<u32>>()
    };
    if let Some(max) = kind.strip_prefix("Text<") {
        return vec![format!(
            "[string minLength=1 maxLength={}]",
            max.trim_end_matches('>')
        )];
    }
    if let Some(range) = kind.strip_prefix("Digits<") {
        let [min, max] = numbers(range.trim_end_matches('>'))[..] else {
            panic!("{kind}")
        };
        return match (min, max) {
            (1, 1) => vec!["[string pattern=[0-9]]".into()],
            (min, max) if min == max => vec![format!("[string pattern=[0-9]{{{min}}}]")],
            (min, max) => vec![format!("[string pattern=[0-9]{{{min},{max}}}]")],
        };
    }
    match kind {
        "Amount" => facets(
            &[
                "ActiveCurrencyAndAmount",
                "ActiveOrHistoricCurrencyAndAmount",
            ],
            "",
        ),
        "Amount<13>" => facets(&["ActiveOrHistoricCurrencyAnd13DecimalAmount"], ""),
        "Date" => vec!["[date ]".into()],
        "DateTime" => vec!["[dateTime ]".into()],
        "YearMonth" => vec!["[gYearMonth ]".into()],
        "bool" => vec!["[boolean ]".into()],
        "PlainDecimal" => vec!["[decimal fractionDigits=17 totalDigits=18]".into()],
        "NonNegativeDecimal" => {
            vec!["[decimal fractionDigits=17 totalDigits=18 minInclusive=0]".into()]
        }
        "ImpliedAmount" => vec!["[decimal fractionDigits=5 totalDigits=18 minInclusive=0]".into()],
        "WholeNumber" => vec!["[decimal fractionDigits=0 totalDigits=18]".into()],
        "Rate" => vec!["[decimal fractionDigits=10 totalDigits=11]".into()],
        "Iban" => vec!["[string pattern=[A-Z]{2,2}[0-9]{2,2}[a-zA-Z0-9]{1,30}]".into()],
        "Bic" => vec!["[string pattern=[A-Z]{6,6}[A-Z2-9][A-NP-Z0-9]([A-Z0-9]{3,3}){0,1}]".into()],
        "CurrencyCode" => vec!["[string pattern=[A-Z]{3,3}]".into()],
        "CountryCode" => vec!["[string pattern=[A-Z]{2,2}]".into()],
        "LanguageCode" => vec!["[string pattern=[a-z]{2,2}]".into()],
        "Isin" => vec!["[string pattern=[A-Z]{2,2}[A-Z0-9]{9,9}[0-9]{1,1}]".into()],
        "PhoneNumber" => vec![r"[string pattern=\+[0-9]{1,3}-[0-9()+\-]{1,30}]".into()],
        "AlphaNumeric4" => vec!["[string pattern=[a-zA-Z0-9]{4}]".into()],
        "SignedDays" => vec![r"[string pattern=[\+]{0,1}[0-9]{1,15}]".into()],
        _ => Vec::new(),
    }
}

/// The code lists: Rust name to the schema's name and its codes, as the schema lists them.
fn code_lists() -> BTreeMap<String, String> {
    let mut lists = BTreeMap::new();
    for text in sources() {
        let Some((_, codes)) = text.split_once("codes! {") else {
            continue;
        };
        for list in codes.split("    }") {
            let Some((head, body)) = list.split_once("\" {") else {
                continue;
            };
            let (name, schema) = head
                .rsplit_once('\n')
                .unwrap()
                .1
                .trim()
                .split_once(" = \"")
                .unwrap();
            let codes: Vec<&str> = body.split('"').skip(1).step_by(2).collect();
            lists.insert(
                name.to_owned(),
                format!("{schema} [string  {{{}}}]", codes.join("|")),
            );
        }
    }
    lists
}

#[test]
fn every_statement_is_a_type_of_the_schema_and_the_other_way_round() {
    let Some(mut schema) = types() else { return };
    let (statements, codes) = (statements(), code_lists());
    assert_eq!(codes.len(), 28);
    let names: BTreeMap<&str, &str> = statements
        .iter()
        .map(|made| (made.name.as_str(), made.schema.as_str()))
        .collect();
    assert_eq!(names.len(), statements.len(), "each Rust name once");
    for statement in &statements {
        let (choice, elements) = schema
            .remove(&statement.schema)
            .unwrap_or_else(|| panic!("{}", statement.schema));
        assert_eq!(statement.choice, choice, "{}", statement.schema);
        assert_eq!(
            statement.elements.len(),
            elements.len(),
            "{}",
            statement.schema
        );
        for (stated, expected) in statement.elements.iter().zip(&elements) {
            let place = format!("{} {}", statement.schema, expected.0);
            assert_eq!(
                (&stated.0, &stated.1),
                (&expected.0, &expected.1),
                "{place}"
            );
            let kind = stated.2.as_str();
            let fits = match (names.get(kind), codes.get(kind), kind) {
                (Some(name), ..) => expected.2 == *name,
                (_, Some(list), _) => expected.2 == *list,
                (.., "Envelope") => expected.2 == "SupplementaryDataEnvelope1",
                _ => simple(kind)
                    .iter()
                    .any(|facets| expected.2.ends_with(facets.as_str())),
            };
            assert!(fits, "{place}: {kind} for {}", expected.2);
        }
    }
    // What is not stated in the macros: the outermost element, the envelope, the amounts.
    let left: Vec<&str> = schema.keys().map(String::as_str).collect();
    assert_eq!(
        left,
        [
            "ActiveCurrencyAndAmount",
            "ActiveOrHistoricCurrencyAnd13DecimalAmount",
            "ActiveOrHistoricCurrencyAndAmount",
            "Document",
            "SupplementaryDataEnvelope1"
        ]
    );
}
