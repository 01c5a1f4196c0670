//! Takes an invented report and changes of its markup. Strict reading accepts what libxml2 accepts
//! by the schema, in another process, and nothing else. Does nothing where `BANKRAIL_SHARED`, whose
//! schema it needs, is not set.

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

#[derive(Arbitrary, Debug)]
enum Change<'a> {
    /// The content becomes this value.
    Value(u8),
    /// The content becomes this text.
    Text(&'a str),
    /// This markup is put before the content.
    Markup(&'a str),
    Attribute(u8),
    Drop,
    Double,
    /// The element trades places with the one after it.
    Swap,
    /// The element gets the name of another one.
    Rename(u16),
}

const VALUES: &[&str] = &[
    "",
    " ",
    "0",
    "-0",
    "+1",
    "1.",
    ".5",
    "00001.50",
    "1e3",
    "INF",
    "NaN",
    "-1.5",
    "0.00000",
    "0.000000",
    "123456789012345678",
    "1234567890123456789",
    "12345678901234.12345",
    "999999999999999999.9",
    "1,5",
    "\u{661}",
    "true",
    "1",
    "TRUE",
    " false ",
    "AUD",
    "AU",
    "aud",
    "AUDX",
    "A1B2",
    "DEUTDEFF",
    "DEUTDEFF500",
    "DEUTDEFF50",
    "DE89370400440532013000",
    "US0378331005",
    "+61-2(99)",
    "+61-299999999",
    "2021-02-28",
    "2021-02-29",
    "2020-02-29",
    "2021-07-29Z",
    "2021-07-29+14:00",
    "2021-07-29+14:01",
    "2021-7-29",
    "-0001-01-01",
    "0000-01-01",
    "10000-01-01",
    "2021-07-29T24:00:00",
    "2021-07-29T24:00:01",
    "2021-07-29T23:59:60",
    "2021-07-29T01:02:03.",
    "2021-07-29T01:02:03.5Z",
    "2021-07-29T01:02:03-00:00",
    "2021",
    "2021-07",
    "2021Z",
    "12:00:00",
    "BOOK",
    "CRDT",
    "PMNT",
    "Y",
    "AQ==",
    "A Q = =",
    "AQ=",
    "0a0B",
    "abc",
    "x\u{301}\u{10ffff}",
    "a\tb\nc",
    "12345678901234567890123456789012345",
    "123456789012345678901234567890123456",
];

const ATTRIBUTES: &[&str] = &[
    " a=\"b\"",
    " Ccy=\"AUD\"",
    " Ccy=\"aud\"",
    " xml:lang=\"en\"",
    " xmlns:x=\"urn:x\" x:a=\"b\"",
    " xmlns=\"urn:x\"",
    " xmlns=\"\"",
    " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:nil=\"false\"",
    " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"a b\"",
];

/// Changes the element at a place in the order of the document.
fn changed(xml: &str, place: u16, change: &Change<'_>) -> Option<String> {
    let tree = roxmltree::Document::parse(xml).ok()?;
    let elements: Vec<_> = tree
        .descendants()
        .filter(roxmltree::Node::is_element)
        .collect();
    let at = |place: u16| elements.get(usize::from(place) % elements.len());
    let element = at(place)?;
    let (range, text) = (element.range(), &xml[element.range()]);
    let name = &text[1..text.find([' ', '>', '/', '\n', '\t', '\r'])?];
    let inner = text
        .find('>')
        .filter(|end| !text[..*end].ends_with('/'))
        .map(|end| end + 1);
    let content = |new: &str, rest: bool| {
        let start = inner?;
        let end = text.rfind("</")?;
        let kept = if rest { &text[start..end] } else { "" };
        Some(format!("{}{new}{kept}{}", &text[..start], &text[end..]))
    };
    let (range, text) = match change {
        Change::Value(number) => (
            range,
            content(VALUES[usize::from(*number) % VALUES.len()], false)?,
        ),
        Change::Text(new) => (
            range,
            content(
                &new.replace('&', "&amp;")
                    .replace('<', "&lt;")
                    .replace('>', "&gt;"),
                false,
            )?,
        ),
        Change::Markup(new) => (range, content(new, true)?),
        Change::Attribute(number) => {
            let attribute = ATTRIBUTES[usize::from(*number) % ATTRIBUTES.len()];
            (
                range,
                format!("<{name}{attribute}{}", &text[1 + name.len()..]),
            )
        }
        Change::Drop => (range, String::new()),
        Change::Double => (range, text.repeat(2)),
        Change::Swap => {
            let next = element.next_sibling_element()?.range();
            (range.start..next.end, format!("{}{text}", &xml[next]))
        }
        Change::Rename(other) => {
            let other = at(*other)?.tag_name().name();
            let end = text.rfind("</").map_or(String::new(), |end| {
                format!("</{other}{}", &text[end + 2 + name.len()..])
            });
            let middle = &text[1 + name.len()..text.rfind("</").unwrap_or(text.len())];
            (range, format!("<{other}{middle}{end}"))
        }
    };
    Some(format!(
        "{}{text}{}",
        &xml[..range.start],
        &xml[range.end..]
    ))
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
