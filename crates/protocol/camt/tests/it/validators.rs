//! Foreign programs: the validators xmllint and Python's xmlschema, and pyiso20022, which reads and
//! writes again.

use std::collections::BTreeMap;
use std::ffi::OsStr;
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
                // An undeclared prefix has been reported before this line; the validator continues
                // after it.
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
    let mut verdicts = Verdicts::new();
    for files in files.chunks(1_000) {
        let arguments = [schema.as_os_str()].into_iter();
        let lines = python(
            "xmlschema_verdicts.py",
            arguments.chain(files.iter().map(|file| file.as_os_str())),
        );
        let judged = lines.lines().filter_map(|line| line.split_once(' '));
        verdicts.extend(judged.map(|(word, file)| (file.into(), word == "valid")));
    }
    verdicts
}

/// Returns each named document as pyiso20022 writes it after reading it.
pub(crate) fn rewritten(documents: &[(String, String)]) -> Vec<String> {
    let folder = std::env::temp_dir().join(format!("pyiso20022-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let paths: Vec<_> = documents
        .iter()
        .map(|(name, _)| folder.join(format!("{name}.xml")))
        .collect();
    for (path, (_, xml)) in paths.iter().zip(documents) {
        std::fs::write(path, xml).unwrap();
    }
    python("pyiso20022_rewrite.py", &paths);
    let again = paths
        .iter()
        .map(|path| std::fs::read_to_string(path.with_extension("xml.again")).unwrap())
        .collect();
    std::fs::remove_dir_all(&folder).unwrap();
    again
}

/// Runs a script beside the tests of `bankrail-camt` and returns what it prints.
fn python<A: AsRef<OsStr>>(script: &str, arguments: impl IntoIterator<Item = A>) -> String {
    let run = Command::new("python3")
        .arg(format!(
            "{}/../camt/tests/{script}",
            env!("CARGO_MANIFEST_DIR")
        ))
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    String::from_utf8(run.stdout).unwrap()
}

/// True for a document with a zero of many digits, all of which xmlschema counts.
pub(crate) fn has_long_zero(xml: &str) -> bool {
    xml.split(['<', '>']).any(|text| {
        let digits = text.trim().trim_start_matches(['+', '-']);
        digits.len() > 6 && digits.contains('.') && digits.chars().all(|c| matches!(c, '0' | '.'))
    })
}
