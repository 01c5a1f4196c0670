//! Two foreign validators: xmllint and Python's xmlschema.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

type Verdicts = BTreeMap<PathBuf, bool>;

/// Judges files by a schema; true for a valid one.
pub(crate) fn verdicts(schema: &Path, files: &[PathBuf]) -> [(&'static str, Verdicts); 2] {
    [
        ("xmllint", xmllint(schema, files)),
        ("xmlschema", xmlschema(schema, files)),
    ]
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
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../camt/tests/xmlschema_verdicts.py"
    );
    let mut verdicts = Verdicts::new();
    for files in files.chunks(1_000) {
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
        let judged = lines.lines().filter_map(|line| line.split_once(' '));
        verdicts.extend(judged.map(|(word, file)| (file.into(), word == "valid")));
    }
    verdicts
}

/// True for a document with a zero of many digits, all of which xmlschema counts.
pub(crate) fn has_long_zero(xml: &str) -> bool {
    xml.split(['<', '>']).any(|text| {
        let digits = text.trim().trim_start_matches(['+', '-']);
        digits.len() > 6 && digits.contains('.') && digits.chars().all(|c| matches!(c, '0' | '.'))
    })
}
