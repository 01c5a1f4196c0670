//! Strict reading agrees with two foreign validators, xmllint and Python's xmlschema, about what is
//! written here and about documents changed in one place.

use crate::documents::{changed, numbered, shared, strict};
use bankrail_camt053::Document;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const DOCUMENTS: usize = 600;

type Verdicts = BTreeMap<PathBuf, bool>;

#[test]
#[ignore = "needs xmllint, and python3 with xmlschema"]
fn strict_reading_agrees_with_foreign_validators() {
    let Some(schema) = shared("schema/family") else {
        return;
    };
    let schema = schema.join("camt.053.001.06.xsd");
    let folder = std::env::temp_dir().join(format!("camt053-agreement-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut documents = BTreeMap::new();
    for seed in 0..DOCUMENTS {
        let written = numbered(u64::try_from(seed).unwrap()).to_xml().unwrap();
        let xml = if seed % 6 == 0 {
            written
        } else {
            changed(&written, seed)
        };
        let path = folder.join(format!("{seed}.xml"));
        std::fs::write(&path, &xml).unwrap();
        documents.insert(path, (xml, seed % 6 == 0));
    }
    let paths: Vec<PathBuf> = documents.keys().cloned().collect();
    let (xmllint, xmlschema) = (xmllint(&schema, &paths), xmlschema(&schema, &paths));
    let (mut valid, mut wrong) = (0, Vec::new());
    for (path, (xml, written)) in &documents {
        let ours = Document::parse_with(xml, &strict())
            .map(drop)
            .map_err(|error| format!("{error:?}"));
        assert!(ours.is_ok() || !written, "{}: {ours:?}", path.display());
        valid += usize::from(ours.is_ok());
        for (validator, theirs) in [("xmllint", xmllint[path]), ("xmlschema", xmlschema[path])] {
            // xmlschema counts the zeros at the end of a zero as digits.
            let known = validator == "xmlschema" && !theirs && has_long_zero(xml);
            if ours.is_ok() != theirs && !known {
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
    assert!(
        (DOCUMENTS / 6..DOCUMENTS / 2).contains(&valid),
        "{valid} valid documents"
    );
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
                verdicts.insert(file.into(), true);
            } else if let Some(file) = line.strip_suffix(" fails to validate") {
                verdicts.insert(file.into(), false);
            } else if let Some((file, _)) = line
                .split_once(".xml:")
                .filter(|(_, rest)| rest.contains("parser error"))
            {
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

fn has_long_zero(xml: &str) -> bool {
    xml.split(['<', '>']).any(|text| {
        let digits = text.trim_start_matches(['+', '-']);
        digits.len() > 6 && digits.contains('.') && digits.chars().all(|c| matches!(c, '0' | '.'))
    })
}
