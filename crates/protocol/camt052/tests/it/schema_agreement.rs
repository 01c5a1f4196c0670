//! Strict reading agrees with two foreign validators, xmllint and Python's xmlschema, about what is
//! written here and about documents changed in one place.

use crate::invented::{full, numbered, strict};
use crate::mutate::mutate;
use crate::shared::shared;
use crate::types::types;
use bankrail_camt052::Document;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Documents that are changed and judged.
const CHANGED: u64 = 2_000;
/// Documents that are judged as they were written.
const WRITTEN: u64 = 200;

type Verdicts = BTreeMap<PathBuf, bool>;

#[test]
#[ignore = "needs xmllint, and python3 with xmlschema"]
fn strict_reading_agrees_with_foreign_validators() {
    let (Some(types), Some(folder)) = (types(), shared("schema")) else {
        return;
    };
    let schema = folder.join("camt.052.001.06.xsd");
    let folder = std::env::temp_dir().join(format!("camt052-agreement-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut documents = BTreeMap::new();
    let mut add = |name: String, xml: String| {
        let path = folder.join(name);
        std::fs::write(&path, &xml).unwrap();
        documents.insert(path, xml);
    };
    for seed in 0..CHANGED {
        add(
            format!("changed-{seed}.xml"),
            mutate(&numbered(seed).to_xml().unwrap(), seed, &types),
        );
    }
    for seed in 0..WRITTEN {
        add(
            format!("written-{seed}.xml"),
            numbered(CHANGED + seed).to_xml().unwrap(),
        );
    }
    for seed in 0..8 {
        add(
            format!("written-full-{seed}.xml"),
            full(seed).to_xml().unwrap(),
        );
    }
    let paths: Vec<PathBuf> = documents.keys().cloned().collect();
    let (xmllint, xmlschema) = (xmllint(&schema, &paths), xmlschema(&schema, &paths));
    let (mut valid, mut wrong) = (0, Vec::new());
    for (path, xml) in &documents {
        let ours = Document::parse_with(xml, &strict())
            .map(drop)
            .map_err(|error| format!("{error:?}"));
        valid += usize::from(ours.is_ok());
        let name = path.file_name().unwrap().to_string_lossy();
        if name.starts_with("written") {
            assert_eq!(ours, Ok(()), "{name}");
        }
        for (validator, theirs) in [("xmllint", xmllint[path]), ("xmlschema", xmlschema[path])] {
            let excepted = states_a_type(xml) || (!theirs && holds_a_message(xml));
            if ours.is_ok() != theirs && !known(validator, theirs, xml) && !excepted {
                wrong.push(format!(
                    "{}: {validator} {theirs}, {ours:?}",
                    path.display()
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        documents.len(),
        wrong.join("\n")
    );
    assert!((500..1_500).contains(&valid), "{valid} valid documents");
    std::fs::remove_dir_all(&folder).unwrap();
}

fn xmllint(schema: &Path, files: &[PathBuf]) -> Verdicts {
    let mut verdicts = Verdicts::new();
    for files in files.chunks(250) {
        let run = Command::new("xmllint")
            .arg("--noout")
            .arg("--schema")
            .arg(schema)
            .args(files)
            .output()
            .unwrap();
        for line in String::from_utf8_lossy(&run.stderr).lines() {
            if let Some(file) = line.strip_suffix(" validates") {
                // After an undeclared prefix, of which it has told before, it validates all the
                // same.
                verdicts.entry(file.into()).or_insert(true);
            } else if let Some(file) = line.strip_suffix(" fails to validate") {
                verdicts.insert(file.into(), false);
            } else if let Some((file, _)) = line.split_once(".xml:").filter(|(_, rest)| {
                rest.contains("parser error") || rest.contains("namespace error")
            }) {
                verdicts.insert(format!("{file}.xml").into(), false);
            }
        }
    }
    verdicts
}

fn xmlschema(schema: &Path, files: &[PathBuf]) -> Verdicts {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/xmlschema_verdicts.py");
    let run = Command::new("python3")
        .arg(script)
        .arg(schema)
        .args(files)
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let lines = String::from_utf8(run.stdout).unwrap();
    lines
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(word, file)| (file.into(), word == "valid"))
        .collect()
}

/// True if an element states its type. Strict reading does not resolve `xsi:type`: it refuses the
/// attribute on an element of the message, and does not judge it in supplementary data.
fn states_a_type(xml: &str) -> bool {
    xml.contains("xsi:type=")
}

/// True if there is a whole message in supplementary data. Strict reading keeps it as it is; the
/// validators judge it, because the schema declares its root.
fn holds_a_message(xml: &str) -> bool {
    xml.split_once("SplmtryData").is_some_and(|(_, rest)| {
        rest.split('<').any(|tag| {
            let name = tag.split([' ', '>', '/', '\n', '\r', '\t']).next();
            name.is_some_and(|name| name == "Document" || name.ends_with(":Document"))
        })
    })
}

/// The validators' own errors. libxml2 refuses a date padded with white space. xmlschema counts the
/// zeros at the end of a zero as digits, and does not see text beside the element of an envelope.
fn known(validator: &str, verdict: bool, xml: &str) -> bool {
    match (validator, verdict) {
        ("xmllint", false) => has_padded_date(xml),
        ("xmlschema", false) => xml.split(['<', '>']).any(|text| {
            let digits = text.trim().trim_start_matches(['+', '-']);
            digits.len() > 6
                && digits.contains('.')
                && digits.chars().all(|c| matches!(c, '0' | '.'))
        }),
        ("xmlschema", true) => xml.contains("Envlp>text<"),
        _ => false,
    }
}

fn has_padded_date(xml: &str) -> bool {
    xml.split(['<', '>']).any(|text| {
        let inner = text.trim_matches([' ', '\n', '\t', '\r']);
        inner.len() < text.len() && inner.len() >= 7 && inner.as_bytes()[4..].contains(&b'-')
    })
}
