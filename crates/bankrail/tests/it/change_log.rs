//! The change log has this version, and each version lists its breaking changes (Specification:
//! "Limits and versioning").

use std::fs;

/// A heading `## [1.2.3] - date` or `## [Unreleased]` with the text below it.
struct Section<'a> {
    version: &'a str,
    text: &'a str,
}

fn sections(log: &str) -> Vec<Section<'_>> {
    let sections = log.split("\n## [").skip(1);
    sections
        .map(|section| section.split_once(']').unwrap())
        .map(|(version, text)| Section { version, text })
        .collect()
}

/// Returns the faults of a change log whose newest code has this version.
fn faults(log: &str, version: &str) -> Vec<String> {
    let sections = sections(log);
    let mut faults = Vec::new();
    match sections.first() {
        Some(newest) if ["Unreleased", version].contains(&newest.version) => {}
        newest => faults.push(format!(
            "expected {version}, found {:?}",
            newest.map(|newest| newest.version)
        )),
    }
    for section in &sections {
        if !section.text.contains("\n- ") {
            faults.push(format!("{}: expected changes", section.version));
        }
    }
    let released = sections
        .iter()
        .filter(|section| section.version != "Unreleased");
    for (new, old) in released.clone().zip(released.skip(1)) {
        if new.text.contains("- Breaking:") && is_compatible(old.version, new.version) {
            faults.push(format!(
                "{}: breaks what {} has, so expected another major version",
                new.version, old.version
            ));
        }
    }
    faults
}

/// Returns true if cargo accepts `new` in place of `old`: the numbers agree up to the first that is
/// not zero.
fn is_compatible(old: &str, new: &str) -> bool {
    let leading = |version: &str| -> Vec<u64> {
        let numbers: Vec<u64> = version
            .split(['.', '-'])
            .map_while(|part| part.parse().ok())
            .collect();
        let end = numbers
            .iter()
            .position(|number| *number > 0)
            .unwrap_or(numbers.len());
        numbers.into_iter().take(end + 1).collect()
    };
    leading(old) == leading(new)
}

#[test]
fn this_version_is_in_it() {
    let log =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../CHANGELOG.md")).unwrap();
    assert_eq!(faults(&log, env!("CARGO_PKG_VERSION")), [""; 0]);
    assert_eq!(
        faults(&log.replace("[Unreleased]", "[0.0.0]"), "0.9.9").len(),
        1,
        "another version"
    );
}

#[test]
fn what_breaks_has_another_major_version() {
    let log = |new: &str| format!("# Log\n\n## [{new}]\n\n- Breaking: x\n\n## [0.2.1]\n\n- y\n");
    for (new, faulty) in [("0.2.2", 1), ("0.3.0", 0), ("1.0.0", 0)] {
        assert_eq!(faults(&log(new), new).len(), faulty, "{new}");
    }
    assert_eq!(
        faults(&log("1.0.0").replace("- y", ""), "1.0.0"),
        ["0.2.1: expected changes"]
    );
    assert!(is_compatible("1.2.3", "1.9.0") && !is_compatible("0.0.1", "0.0.2"));
}
