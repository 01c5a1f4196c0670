//! Every field of every log line in the sources is in the list of `docs/logging.md`, even if no
//! test logs the line.

use std::collections::BTreeSet;
use std::path::Path;

/// Returns the names of the fields in the arguments of a log macro, which precede the message.
fn fields(arguments: &str) -> Vec<String> {
    let (mut depth, mut start, mut parts) = (0_i32, 0, Vec::new());
    for (at, character) in arguments.char_indices() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '"' if depth == 0 => break,
            ',' if depth == 0 => {
                parts.push(&arguments[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    let name = |part: &str| {
        let part = part.trim().trim_start_matches(['%', '?']);
        part.split(|character: char| !character.is_ascii_alphanumeric() && character != '_')
            .next()
            .map(str::to_owned)
    };
    parts
        .into_iter()
        .filter_map(name)
        .filter(|name| !name.is_empty())
        .collect()
}

/// Returns the arguments of each log macro of a source.
fn calls(source: &str) -> Vec<&str> {
    let mut calls = Vec::new();
    // `$level` is in the macro of a table of log lines.
    for level in ["error", "warn", "info", "debug", "trace", "$level"] {
        for (at, opened) in source.match_indices(&format!("tracing::{level}!(")) {
            let rest = &source[at + opened.len()..];
            let mut depth = 1_i32;
            let end = rest.char_indices().find(|(_, character)| {
                depth += match character {
                    '(' => 1,
                    ')' => -1,
                    _ => 0,
                };
                depth == 0
            });
            calls.push(&rest[..end.expect("a macro ends").0]);
        }
    }
    calls
}

fn sources(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(std::fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn every_field_in_the_sources_is_documented_and_no_line_of_the_page_is_left_over() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let page = std::fs::read_to_string(root.join("docs/logging.md")).unwrap();
    let documented: BTreeSet<_> = page
        .lines()
        .filter_map(|line| line.strip_prefix("- `")?.split_once('`'))
        .map(|(name, _)| name)
        .collect();
    let mut all = Vec::new();
    for name in [
        "protocol/rate-limit",
        "runtime/bank",
        "runtime/client",
        "runtime/http",
        "runtime/service",
        "runtime/stores",
    ] {
        sources(&root.join("crates").join(name).join("src"), &mut all);
    }
    let used: Vec<_> = all
        .iter()
        .flat_map(|source| calls(source))
        .map(fields)
        .collect();
    assert!(used.len() > 60, "{}", used.len());
    let used: BTreeSet<_> = used.iter().flatten().map(String::as_str).collect();
    assert_eq!(
        used.difference(&documented).collect::<Vec<_>>(),
        Vec::<&&str>::new(),
        "not in the page"
    );
    assert_eq!(
        documented.difference(&used).collect::<Vec<_>>(),
        Vec::<&&str>::new(),
        "in no log line"
    );
}

#[test]
fn fields_are_read_out_of_a_macro() {
    let source = r#"tracing::info!(%kind, a_b, error = %error.kind(), of = f(1, "x"), "the {text}, (all)"); tracing::warn!("x")"#;
    let found: Vec<_> = calls(source).into_iter().map(fields).collect();
    assert_eq!(
        found,
        [
            vec![],
            vec![
                "kind".to_owned(),
                "a_b".to_owned(),
                "error".to_owned(),
                "of".to_owned()
            ]
        ]
    );
}
