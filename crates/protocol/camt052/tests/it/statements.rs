//! The types of the model against the schema, element by element, as their readers have them.

use crate::types::types;
use bankrail_camt052::Document;
use bankrail_iso20022::__private::{MANY, Node, SchemaElement, SchemaType};
use std::collections::BTreeMap;

/// Returns the complex types and lists of codes of the model, by their names in the schema.
fn stated() -> BTreeMap<&'static str, SchemaType> {
    let mut found = BTreeMap::new();
    let mut open = vec![Document::schema_type()];
    while let Some(kind) = open.pop() {
        if is_simple(kind) {
            continue;
        }
        if found.insert(kind.name, kind).is_none() {
            open.extend(elements_of(kind).map(|(_, of)| bare(of())));
        }
    }
    found
}

/// Returns the elements of a type in version 06.
pub(crate) fn elements_of(kind: SchemaType) -> impl Iterator<Item = &'static SchemaElement> {
    let elements = kind.elements.iter();
    elements.filter(|(field, _)| (field.since..=field.until).contains(&6))
}

/// Returns a type as version 06 has it: some later choice is the content of its first alternative
/// there.
pub(crate) fn bare(kind: SchemaType) -> SchemaType {
    match kind.elements.first() {
        Some((_, first)) if kind.bare_until >= 6 => first(),
        _ if kind.open_since <= 6 => <bankrail_camt052::Text<4> as Node>::schema_type(),
        _ => kind,
    }
}

fn is_simple(kind: SchemaType) -> bool {
    kind.elements.is_empty() && kind.codes.is_empty()
}

/// Returns the name of a type of the schema, or that of a simple Rust type without its path.
pub(crate) fn short_name(kind: SchemaType) -> &'static str {
    let path = kind.name.split('<').next().unwrap_or_default();
    &kind.name[path.rfind(':').map_or(0, |colon| colon + 1)..]
}

/// Returns true when a type of the model is the one that the listing of the schema has: the same
/// complex type, the same codes, or a simple type with the same facets.
pub(crate) fn is_of(kind: SchemaType, listed: &str) -> bool {
    if !kind.codes.is_empty() {
        let is_of = |code: &&&str| {
            let dated = kind.dated_codes.iter().find(|(dated, ..)| dated == *code);
            dated.is_none_or(|(_, since, until)| (*since..=*until).contains(&6))
        };
        let codes: Vec<&str> = kind.codes.iter().filter(is_of).copied().collect();
        return listed == format!("{} [string  {{{}}}]", kind.name, codes.join("|"));
    }
    if !is_simple(kind) {
        return listed == kind.name;
    }
    match short_name(kind) {
        "Envelope" => listed == "SupplementaryDataEnvelope1",
        name => simple(name)
            .iter()
            .any(|facets| listed.ends_with(facets.as_str())),
    }
}

/// Returns the schema's type and facets of a simple Rust type.
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
        "IsoDate" => vec!["[date ]".into()],
        "IsoDateTime" => vec!["[dateTime ]".into()],
        "IsoYearMonth" => vec!["[gYearMonth ]".into()],
        "bool" => vec!["[boolean ]".into()],
        "Number<18, 17>" => vec!["[decimal fractionDigits=17 totalDigits=18]".into()],
        "Number<18, 17, true>" => {
            vec!["[decimal fractionDigits=17 totalDigits=18 minInclusive=0]".into()]
        }
        "Number<18, 5, true>" => {
            vec!["[decimal fractionDigits=5 totalDigits=18 minInclusive=0]".into()]
        }
        "Number<18, 0>" => vec!["[decimal fractionDigits=0 totalDigits=18]".into()],
        "Number<11, 10>" => vec!["[decimal fractionDigits=10 totalDigits=11]".into()],
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

#[test]
fn every_type_is_one_of_the_schema_and_the_other_way_round() {
    let Some(mut schema) = types() else { return };
    let stated = stated();
    let codes = stated.values().filter(|kind| !kind.codes.is_empty());
    assert_eq!(codes.count(), 28);
    for kind in stated.values().filter(|kind| kind.codes.is_empty()) {
        let (choice, elements) = schema
            .remove(kind.name)
            .unwrap_or_else(|| panic!("{}", kind.name));
        assert_eq!(kind.is_choice, choice, "{}", kind.name);
        let own: Vec<_> = elements_of(*kind).collect();
        assert_eq!(own.len(), elements.len(), "{}", kind.name);
        for ((field, of), (name, count, listed)) in own.into_iter().zip(&elements) {
            let place = format!("{} {name}", kind.name);
            let max = match field.max {
                MANY => "*".to_owned(),
                max => max.to_string(),
            };
            let occurs = format!("{}..{max}", field.min);
            assert_eq!((field.wire, &occurs), (name.as_str(), count), "{place}");
            let of = bare(of());
            assert!(is_of(of, listed), "{place}: {} for {listed}", of.name);
        }
    }
    // Not structs of the model: the outermost element, the envelope, the amounts.
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
