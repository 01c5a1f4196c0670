//! Strict reading agrees with two foreign validators, xmllint and Python's xmlschema, in each
//! version.

use crate::documents::document;
use crate::family::{Schema, all, strict};
use crate::forms::FORMS;
use crate::to_version::taken;
use crate::validators::{has_long_zero, verdicts};
use bankrail_camt::AnyDocument;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Returns the number of invented documents for each schema, which is also that of changed
/// documents and that of documents converted from other versions; `BANKRAIL_DOCUMENTS` sets it.
fn count() -> usize {
    let count = std::env::var("BANKRAIL_DOCUMENTS").ok();
    count.map_or(12, |count| count.parse().unwrap())
}

#[test]
#[ignore = "needs xmllint, and python3 with xmlschema"]
fn strict_reading_agrees_with_foreign_validators_in_each_version() {
    let folder = std::env::temp_dir().join(format!("camt-agreement-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut wrong = Vec::new();
    for schema in all() {
        let Some(file) = schema.file() else { return };
        wrong.extend(disagreements(schema, &file, &folder));
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

fn disagreements(schema: Schema, file: &Path, folder: &Path) -> Vec<String> {
    let mut documents = BTreeMap::new();
    let mut add = |name: String, xml: Vec<u8>| {
        let path = folder.join(format!("{}-{name}.xml", schema.name()));
        std::fs::write(&path, &xml).unwrap();
        documents.insert(path, xml);
    };
    add("own".to_owned(), document(schema).into());
    for form in FORMS {
        let (name, xml) = form.document(schema);
        add(format!("form-{name}"), xml);
    }
    for seed in 0..count() {
        let written = schema.invent(u64::try_from(seed).unwrap());
        add(
            format!("changed-{seed}"),
            changed(&written, schema, seed).into(),
        );
        add(format!("written-{seed}"), written.into());
        let from = taken(schema, u64::try_from(seed).unwrap());
        add(format!("taken-{seed}"), from.into());
    }
    let paths: Vec<PathBuf> = documents.keys().cloned().collect();
    let verdicts = verdicts(file, &paths);
    let (mut valid, mut changed_valid, mut wrong) = (0, 0, Vec::new());
    for (path, xml) in &documents {
        let ours = AnyDocument::parse_with(xml, &strict())
            .map(drop)
            .map_err(|error| format!("{error}"));
        let name = path.file_name().unwrap().to_string_lossy();
        let is_own = !name.contains("changed") && !name.contains("taken");
        assert!(ours.is_ok() || !is_own, "{name}: {ours:?}");
        valid += usize::from(ours.is_ok());
        changed_valid += usize::from(ours.is_ok() && name.contains("changed"));
        for (validator, theirs) in &verdicts {
            let theirs = theirs[path];
            // xmlschema counts the zeros at the end of a zero as digits.
            let known = *validator == "xmlschema"
                && !theirs
                && has_long_zero(&String::from_utf8_lossy(xml));
            if ours.is_ok() != theirs && !known {
                wrong.push(format!("{name}: {validator} {theirs}, {ours:?}"));
            }
        }
        std::fs::remove_file(path).unwrap();
    }
    println!(
        "{}: {} documents, {valid} valid, {} judged otherwise",
        schema.name(),
        documents.len(),
        wrong.len()
    );
    assert!(
        changed_valid < count(),
        "{}: {valid} valid documents",
        schema.name()
    );
    wrong
}

/// Returns the document changed in one place: an element dropped, doubled, renamed, emptied, given
/// an attribute, another's value or a value of another version; or the whole of it under another
/// version.
pub(crate) fn changed(xml: &str, schema: Schema, seed: usize) -> String {
    const NAMES: [&str; 18] = [
        "BIC",
        "BICFI",
        "AnyBIC",
        "BICOrBEI",
        "Pty",
        "Agt",
        "Nm",
        "Cd",
        "Prtry",
        "AdmstnZn",
        "AdmstnZone",
        "RptPgntn",
        "UETR",
        "LEI",
        "Othr",
        "TtlNetNtryAmt",
        "Rcrd",
        "Tp",
    ];
    const TEXTS: [&str; 20] = [
        "",
        "x",
        "BOOK",
        "FUTR",
        "ZZZZ",
        "ZZZZZ",
        "CRDT",
        "A1CDAU2S",
        "ABCDAU2S",
        "ABCD1U2S",
        "123456789012",
        "US0378331005",
        "PUOR",
        "MIKS",
        "CASH",
        "INFO",
        "2021-02-29",
        "10.000001",
        "-1",
        "true",
    ];
    if seed % 9 == 8 {
        let other = Schema {
            version: u8::try_from(2 + (usize::from(schema.version) - 2 + 1 + seed / 9 % 6) % 7)
                .unwrap(),
            ..schema
        };
        // The document is of the other version, under the namespace of this one.
        let seed = u64::try_from(seed).unwrap();
        return other
            .invent(seed)
            .replace(&other.namespace(), &schema.namespace());
    }
    let tree = roxmltree::Document::parse(xml).unwrap();
    let elements: Vec<_> = tree
        .descendants()
        .filter(|node| {
            node.is_element() && node.tag_name().namespace() == Some(&schema.namespace())
        })
        .skip(1)
        .collect();
    let node = elements[seed * 7 % elements.len()];
    let element = node.range();
    let other = elements[seed * 13 % elements.len()].range();
    let text = &xml[element.clone()];
    let name = text[1..].split([' ', '>', '/']).next().unwrap();
    let renamed = |to: &str| {
        let begin = text.replacen(&format!("<{name}"), &format!("<{to}"), 1);
        match begin.strip_suffix(&format!("</{name}>")) {
            Some(begin) => format!("{begin}</{to}>"),
            None => begin,
        }
    };
    let replacement = match seed % 9 {
        0 => String::new(),
        1 => text.repeat(2),
        2 => renamed(NAMES[seed / 9 % NAMES.len()]),
        3 => format!("<{name}></{name}>"),
        4 => text.replacen('>', " other=\"1\">", 1),
        5 => format!("{text}{}", &xml[other]),
        6 => format!("<{name}>{}</{name}>", TEXTS[seed / 9 % TEXTS.len()]),
        _ => {
            let leaves: Vec<_> = elements
                .iter()
                .filter(|node| node.children().all(|child| child.is_text()))
                .collect();
            let leaf = leaves[seed * 11 % leaves.len()];
            let value = TEXTS[seed * 5 % TEXTS.len()];
            let (from, range) = (&xml[leaf.range()], leaf.range());
            let begin = from.find('>').map_or(from.len(), |end| end + 1);
            let begin = from[..begin].trim_end_matches("/>");
            let begin = format!("{}>", begin.trim_end_matches('>'));
            let name = leaf.tag_name().name();
            return format!(
                "{}{begin}{value}</{name}>{}",
                &xml[..range.start],
                &xml[range.end..]
            );
        }
    };
    format!(
        "{}{replacement}{}",
        &xml[..element.start],
        &xml[element.end..]
    )
}
