//! Takes an invented report and changes of its markup. Strict reading accepts what libxml2 accepts
//! by the schema, in another process, and nothing else. Does nothing where `BANKRAIL_SHARED`, whose
//! schema it needs, is not set.

use crate::markup::{Change, changed};
use arbitrary::Arbitrary;
use bankrail_camt052::{Document, Mode, ReadErrorKind, ReadOptions, WriteOptions};
use std::io::{Read, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{LazyLock, Mutex};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    changes: Vec<(u16, Change<'a>)>,
    document: Document,
}

type Judge = Mutex<(ChildStdin, ChildStdout)>;

static LIBXML2: LazyLock<Option<Judge>> = LazyLock::new(|| {
    let schema = std::path::Path::new(&std::env::var_os("BANKRAIL_SHARED")?)
        .join("schema/camt.052.001.06.xsd");
    let judge = Command::new("python3")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/libxml2.py"))
        .arg(schema)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is there");
    Some(Mutex::new((
        judge.stdin.expect("a pipe"),
        judge.stdout.expect("a pipe"),
    )))
});

fn is_valid(judge: &Judge, xml: &str) -> bool {
    let mut judge = judge.lock().expect("one thread");
    let length = u32::try_from(xml.len()).expect("a short document");
    judge
        .0
        .write_all(&length.to_le_bytes())
        .expect("libxml2 reads");
    judge.0.write_all(xml.as_bytes()).expect("libxml2 reads");
    let mut verdict = [0];
    judge.1.read_exact(&mut verdict).expect("libxml2 answers");
    verdict == *b"v"
}

/// Returns true for what the two are known to judge differently: types that an element states,
/// which strict reading does not resolve; a message in supplementary data, which it does not judge.
fn is_known(xml: &str) -> bool {
    let holds_a_message = xml
        .split_once("SplmtryData")
        .is_some_and(|(_, rest)| rest.contains("Document xmlns"));
    xml.contains(":type=") || xml.contains("<!") || holds_a_message
}

/// Returns true if libxml2 refuses the document for white space around a date, against the schema.
fn has_padded_date(xml: &str) -> bool {
    xml.split(['<', '>']).any(|text| {
        let inner = text.trim_matches([' ', '\n', '\t', '\r']);
        inner.len() < text.len()
            && inner.len() >= 4
            && inner
                .trim_start_matches('-')
                .starts_with(|c: char| c.is_ascii_digit())
    })
}

fuzz_target!(|input: Input<'_>| {
    let Some(judge) = &*LIBXML2 else {
        return;
    };
    let Ok(mut xml) = input
        .document
        .to_xml_with(&WriteOptions::default().schema_valid(true))
    else {
        return;
    };
    for (place, change) in input.changes.iter().take(4) {
        xml = changed(&xml, *place, change).unwrap_or(xml);
    }
    if is_known(&xml) {
        return;
    }
    let ours = Document::parse_with(&xml, &ReadOptions::default().mode(Mode::Strict));
    if ours
        .as_ref()
        .is_err_and(|error| matches!(error.kind(), ReadErrorKind::Limit { .. }))
    {
        return;
    }
    let theirs = is_valid(judge, &xml);
    assert!(
        ours.is_ok() == theirs || !theirs && has_padded_date(&xml),
        "libxml2: {theirs}, strict reading: {:?}\n{xml}",
        ours.err()
    );
});
