//! The cases of XML Schema's test suite for its datatypes (NIST's), in the folder that
//! `BANKRAIL_XSTS` names.
//!
//! The text of each document stands in an element of the message whose type is built on the same
//! datatype, and is read strictly. A valid text has to be accepted and written with the same value.
//! An invalid one has to be refused, unless only a facet of the case's own schema refuses it.

use super::{NARRATIVE, Report, around, folder, read, suite};
use crate::tree::texts;
use bankrail_camt052::{Mode, ReadOptions};
use roxmltree::{Document, Node};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A datatype that the schema of the message is built on, and an element of such a type.
struct Datatype {
    name: &'static str,
    element: &'static str,
    place: &'static str,
    /// White space at both ends is no part of the value.
    collapses: bool,
}

const DATATYPES: [Datatype; 6] = [
    Datatype {
        name: "boolean",
        element: "ComssnWvrInd",
        place: "<ComssnWvrInd>TEXT</ComssnWvrInd>",
        collapses: true,
    },
    Datatype {
        name: "date",
        element: "IntrBkSttlmDt",
        place: "<RltdDts><IntrBkSttlmDt>TEXT</IntrBkSttlmDt></RltdDts>",
        collapses: true,
    },
    Datatype {
        name: "dateTime",
        element: "AccptncDtTm",
        place: "<RltdDts><AccptncDtTm>TEXT</AccptncDtTm></RltdDts>",
        collapses: true,
    },
    Datatype {
        name: "decimal",
        element: "Unit",
        place: "<RltdQties><Qty><Unit>TEXT</Unit></Qty></RltdQties>",
        collapses: true,
    },
    Datatype {
        name: "gYearMonth",
        element: "XpryDt",
        place: "<CardTx><Card><PlainCardData><PAN>12345678</PAN><XpryDt>TEXT</XpryDt></PlainCardData></Card></CardTx>",
        collapses: true,
    },
    Datatype {
        name: "string",
        element: "AddtlNtryInf",
        place: NARRATIVE,
        collapses: false,
    },
];

/// The maximum number of digits of `DecimalNumber`, all of them and after the point.
const DIGITS: (usize, usize) = (18, 17);
/// The maximum number of characters of `Max500Text`.
const CHARACTERS: usize = 500;

const XSTS: &str = "http://www.w3.org/XML/2004/xml-schema-test-suite/";
const XLINK: &str = "http://www.w3.org/1999/xlink";
const XSD: &str = "http://www.w3.org/2001/XMLSchema";

#[test]
fn the_datatype_suite_is_read_as_it_says() {
    if let Some(folder) = suite("BANKRAIL_XSTS") {
        run(&folder)
            .unwrap_or_else(|error| panic!("{error}"))
            .assert_passed();
    }
}

/// Judges a suite. An error means that the folder holds none, or a broken one.
fn run(root: &Path) -> Result<Report, String> {
    let mut sets = Vec::new();
    find_sets(root, &mut sets)?;
    if sets.is_empty() {
        return Err(format!("{} has no testSet", root.display()));
    }
    sets.sort();
    let (mut report, mut schemas) = (Report::default(), BTreeMap::new());
    for set in &sets {
        let text = text_of(set)?;
        let tree = parse(&text, set)?;
        let is_of_nist = tree
            .root_element()
            .attribute("contributor")
            .is_some_and(|name| name.to_uppercase().contains("NIST"));
        for group in children(tree.root_element(), "testGroup") {
            for test in children(group, "schemaTest") {
                report.exclude(match validity(test)? {
                    Some(_) => "a test of a schema, not of a document",
                    None => "of XML Schema 1.1, or without a verdict",
                });
            }
            for test in children(group, "instanceTest") {
                if !is_of_nist {
                    report.exclude("not of NIST");
                    continue;
                }
                let Some(is_valid) = validity(test)? else {
                    report.exclude("of XML Schema 1.1, or without a verdict");
                    continue;
                };
                let schema = children(group, "schemaTest")
                    .flat_map(|test| children(test, "schemaDocument"))
                    .next()
                    .ok_or_else(|| format!("a testGroup of {} has no schema", set.display()))?;
                let schema = linked(schema, set)?;
                if !schemas.contains_key(&schema) {
                    schemas.insert(schema.clone(), Schema::read(&schema)?);
                }
                let document = children(test, "instanceDocument").next().ok_or_else(|| {
                    format!("an instanceTest of {} has no document", set.display())
                })?;
                let document = linked(document, set)?;
                let text = text_of(&document)?;
                match judge(&schemas[&schema], is_valid, &value(&text, &document)?) {
                    Ok(Ok(kind)) => report.pass(&kind),
                    Ok(Err(reason)) => report.exclude(&reason),
                    Err(wrong) => report.failed.push(format!(
                        "{}: {wrong}",
                        test.attribute("name").unwrap_or_default()
                    )),
                }
            }
        }
    }
    Ok(report)
}

fn find_sets(folder: &Path, to: &mut Vec<PathBuf>) -> Result<(), String> {
    let failed = |error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            find_sets(&path, to)?;
        } else if path.extension().is_some_and(|of| of == "testSet") {
            to.push(path);
        }
    }
    Ok(())
}

fn text_of(file: &Path) -> Result<String, String> {
    let bytes = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    String::from_utf8(bytes).map_err(|_| format!("{} is not UTF-8", file.display()))
}

fn parse<'t>(text: &'t str, file: &Path) -> Result<Document<'t>, String> {
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..Default::default()
    };
    Document::parse_with_options(text, options)
        .map_err(|error| format!("{}: {error}", file.display()))
}

fn children<'a, 'i: 'a>(
    node: Node<'a, 'i>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children()
        .filter(move |child| child.has_tag_name((XSTS, name)))
}

/// Returns true for a valid document, false for an invalid one, and `None` where the suite leaves
/// it open, or knows it for XML Schema 1.1 only.
fn validity(test: Node<'_, '_>) -> Result<Option<bool>, String> {
    let mut expected = children(test, "expected").peekable();
    if expected.peek().is_none() {
        return Err(format!("{:?} states no validity", test.attribute("name")));
    }
    let of_1_0 = |node: &Node<'_, '_>| {
        node.attribute("version")
            .is_none_or(|versions| versions.split_whitespace().any(|one| one == "1.0"))
    };
    if !of_1_0(&test) {
        return Ok(None);
    }
    match expected
        .find(of_1_0)
        .and_then(|node| node.attribute("validity"))
    {
        Some("valid") => Ok(Some(true)),
        Some("invalid") => Ok(Some(false)),
        _ => Ok(None),
    }
}

/// Returns the file that an element of a test set names.
fn linked(node: Node<'_, '_>, set: &Path) -> Result<PathBuf, String> {
    let href = node
        .attribute((XLINK, "href"))
        .ok_or_else(|| format!("a document of {} has no href", set.display()))?;
    let file = set.with_file_name("").join(href);
    if file.is_file() {
        Ok(file)
    } else {
        Err(format!("{} is missing", file.display()))
    }
}

/// Returns the text of a document that is one element.
fn value(text: &str, file: &Path) -> Result<String, String> {
    let tree = parse(text, file)?;
    let text = tree.root_element().descendants().filter(Node::is_text);
    Ok(text.filter_map(|node| node.text()).collect())
}

/// The type of a schema's only element.
struct Schema {
    /// The datatype that it restricts; `None` for a list or a union.
    base: Option<String>,
    has_facets: bool,
}

impl Schema {
    fn read(file: &Path) -> Result<Self, String> {
        let text = text_of(file)?;
        let tree = parse(&text, file)?;
        let of = |name: &'static str| {
            tree.descendants()
                .filter(move |node| node.has_tag_name((XSD, name)))
        };
        if of("list").next().is_some() || of("union").next().is_some() {
            return Ok(Self {
                base: None,
                has_facets: false,
            });
        }
        // Without a restriction, the element's own type.
        let restriction = of("restriction").next();
        let name = match restriction {
            Some(restriction) => restriction.attribute("base"),
            None => of("element").find_map(|element| element.attribute("type")),
        };
        let name = name.ok_or_else(|| format!("{} names no type", file.display()))?;
        let local = name.rsplit(':').next().unwrap_or_default();
        Ok(Self {
            base: Some(local.to_owned()),
            has_facets: restriction.is_some_and(|restriction| {
                restriction
                    .children()
                    .any(|facet| facet.is_element() && !facet.has_tag_name((XSD, "annotation")))
            }),
        })
    }
}

/// Returns the kind of case that the reader passed, the reason why it was not asked, or what is
/// wrong.
fn judge(schema: &Schema, is_valid: bool, text: &str) -> Result<Result<String, String>, String> {
    let Some(base) = &schema.base else {
        return Ok(Err(
            "a list or a union, which the message does not have".to_owned()
        ));
    };
    let Some(datatype) = DATATYPES.iter().find(|one| one.name == base) else {
        return Ok(Err(format!(
            "the datatype {base}, which the message does not have"
        )));
    };
    let plain = plain(datatype, text);
    if is_beyond(datatype, &plain) {
        return Ok(Err(format!("{base} beyond the facets of the message")));
    }
    let escaped = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('\r', "&#13;");
    let place = if ["AddtlNtryInf", "ComssnWvrInd", "XpryDt"].contains(&datatype.element) {
        datatype.place.to_owned()
    } else {
        format!(
            "<NtryDtls><TxDtls><Amt Ccy=\"AUD\">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>{}</TxDtls></NtryDtls>",
            datatype.place
        )
    };
    let (before, after) = around(&place);
    let document = format!("{before}{escaped}{after}");
    let read = read(
        document.as_bytes(),
        ReadOptions::default().mode(Mode::Strict),
    );
    match (read, is_valid) {
        (Ok(parsed), true) => {
            let written = parsed
                .document
                .to_xml()
                .map_err(|error| error.to_string())?;
            let found = texts(&written, &format!("/{}", datatype.element));
            match &found[..] {
                [found] if self::plain(datatype, found) == plain => {
                    Ok(Ok(format!("{base}, valid")))
                }
                _ => Err(format!("expected the value {plain:?}, wrote {found:?}")),
            }
        }
        (Err(_), false) => Ok(Ok(format!("{base}, invalid"))),
        (Ok(_), false) if schema.has_facets => {
            Ok(Err(format!("{base}, invalid by a facet of its own schema")))
        }
        (Ok(_), false) => Err(format!("accepted {text:?}")),
        (Err(error), true) => Err(format!("refused {text:?}: {error}")),
    }
}

/// Returns one spelling for each value.
fn plain(datatype: &Datatype, text: &str) -> String {
    if !datatype.collapses {
        return text.to_owned();
    }
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    match datatype.name {
        "boolean" => text.replace('1', "true").replace('0', "false"),
        "decimal" => {
            let (sign, digits) = match text.strip_prefix('-') {
                Some(digits) => ("-", digits),
                None => ("", text.strip_prefix('+').unwrap_or(text)),
            };
            let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
            let (whole, fraction) = (
                whole.trim_start_matches('0'),
                fraction.trim_end_matches('0'),
            );
            let sign = if whole.is_empty() && fraction.is_empty() {
                ""
            } else {
                sign
            };
            format!("{sign}{whole}.{fraction}")
        }
        "dateTime" => {
            let zone = text
                .find('T')
                .and_then(|time| Some(time + text[time..].find(['Z', '+', '-'])?));
            let (time, zone) = text.split_at(zone.unwrap_or(text.len()));
            match time.split_once('.') {
                Some((seconds, fraction)) if !fraction.trim_end_matches('0').is_empty() => {
                    format!("{seconds}.{}{zone}", fraction.trim_end_matches('0'))
                }
                Some((seconds, _)) => format!("{seconds}{zone}"),
                None => text.to_owned(),
            }
        }
        _ => text.to_owned(),
    }
}

/// Returns true for a value that the datatype has and the type of the message has not.
fn is_beyond(datatype: &Datatype, plain: &str) -> bool {
    match datatype.name {
        "decimal" => {
            let digits = plain.trim_start_matches('-');
            let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
            whole.len() + fraction.len() > DIGITS.0 || fraction.len() > DIGITS.1
        }
        "string" => !(1..=CHARACTERS).contains(&plain.chars().count()),
        _ => false,
    }
}

/// Cases: datatype, facets, text, and the verdict.
type Row = (&'static str, &'static str, &'static str, bool);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("boolean", "", "true", true),
    ("boolean", "", " 0\n", true),
    ("boolean", "", "TRUE", false),
    ("date", "", "2004-02-29", true),
    ("date", "", "2100-02-28+14:00", true),
    ("date", "", "2003-02-29", false),
    ("date", "<maxInclusive value='2000-01-01'/>", "2004-02-29", false),
    ("dateTime", "", "1970-01-01T00:00:00.500Z", true),
    ("dateTime", "", "2020-12-31T24:00:00", true),
    ("dateTime", "", "2020-12-31T23:59:60", false),
    ("decimal", "<totalDigits value='18'/>", "-999999999999999999", true),
    ("decimal", "<fractionDigits value='2'/>", " +007.10 ", true),
    ("decimal", "", "-.5", true),
    ("decimal", "", "5.", true),
    ("decimal", "", "1e3", false),
    ("decimal", "", "", false),
    ("decimal", "<fractionDigits value='2'/>", "7.123", false),
    ("decimal", "", "9999999999999999999", true),
    ("gYearMonth", "", "1970-12Z", true),
    ("gYearMonth", "", "1970-13", false),
    ("string", "<length value='5'/>", " a\t&amp; ", true),
    ("string", "<minLength value='0'/>", "", true),
    ("duration", "", "P1Y", true),
    ("list", "", "1 2", true),
];

/// Returns a small suite of the rows.
fn small_suite(name: &str, rows: &[Row], contributor: &str) -> Result<Report, String> {
    let mut files: Vec<(String, String)> = Vec::new();
    let mut set = format!(
        "<testSet contributor='{contributor}' name='s' xmlns='{XSTS}' xmlns:xlink='{XLINK}'><annotation/>"
    );
    for (number, (base, facets, text, is_valid)) in rows.iter().enumerate() {
        let validity = if *is_valid { "valid" } else { "invalid" };
        set.push_str(&format!(
            "<testGroup name='g{number}'><schemaTest name='s{number}'>\
             <schemaDocument xlink:href='../data/{number}.xsd'/><expected validity='valid'/></schemaTest>\
             <instanceTest name='i{number}'><instanceDocument xlink:href='../data/{number}.xml'/>\
             <expected validity='{validity}'/><current status='accepted'/></instanceTest></testGroup>"
        ));
        let of_type = if *base == "list" {
            "<list itemType='integer'/>".to_owned()
        } else {
            format!("<restriction base='{base}'><annotation/>{facets}</restriction>")
        };
        files.push((
            format!("data/{number}.xsd"),
            format!(
                "<schema xmlns='{XSD}' targetNamespace='t' xmlns:t='t'><element name='e' type='t:T'/>\
                 <simpleType name='T'>{of_type}</simpleType></schema>"
            ),
        ));
        files.push((
            format!("data/{number}.xml"),
            format!("<e xmlns='t'>{text}</e>"),
        ));
    }
    set.push_str("</testSet>");
    files.push(("meta/s.testSet".to_owned(), set));
    let files: Vec<(&str, &[u8])> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_bytes()))
        .collect();
    run(&folder(name, &files))
}

#[test]
fn the_datatype_runner_counts_each_case_once() {
    let report = small_suite("xsts", ROWS, "NIST").unwrap();
    println!("{report}");
    assert_eq!(report.failed, [""; 0]);
    let text = report.to_string();
    for line in [
        "1  boolean, invalid",
        "2  boolean, valid",
        "1  date, invalid",
        "2  date, valid",
        "1  dateTime, invalid",
        "2  dateTime, valid",
        "2  decimal, invalid",
        "4  decimal, valid",
        "1  gYearMonth, invalid",
        "1  gYearMonth, valid",
        "1  string, valid",
        "1  a list or a union, which the message does not have",
        "1  date, invalid by a facet of its own schema",
        "1  decimal, invalid by a facet of its own schema",
        "1  decimal beyond the facets of the message",
        "1  string beyond the facets of the message",
        "1  the datatype duration, which the message does not have",
        "24  a test of a schema, not of a document",
    ] {
        assert!(text.contains(&format!(" {line}\n")), "{line}: {text}");
    }
    let cases = report.passed.values().chain(report.excluded.values());
    assert_eq!(cases.sum::<usize>(), 2 * ROWS.len());
    let others = small_suite("xsts-others", ROWS, "Sun").unwrap();
    assert_eq!(
        (others.passed.len(), others.excluded["not of NIST"]),
        (0, ROWS.len())
    );
}

#[test]
fn the_datatype_runner_finds_a_planted_wrong_verdict() {
    for (number, row) in [
        ("boolean", "", "yes", true),
        ("boolean", "", "1", false),
        ("date", "", "2003-02-29", true),
        ("dateTime", "", "2020-12-31T23:59:59.9-14:00", false),
        ("decimal", "", "1,5", true),
        ("decimal", "", "-0", false),
        ("gYearMonth", "", "0000-01", true),
        ("string", "", "x", false),
    ]
    .into_iter()
    .enumerate()
    {
        let report = small_suite(&format!("xsts-{number}"), &[row], "NIST").unwrap();
        assert_eq!(report.failed.len(), 1, "{row:?} {report}");
    }
}

#[test]
fn the_datatype_runner_refuses_a_folder_without_a_whole_suite() {
    assert!(
        run(&folder("xsts-empty", &[]))
            .unwrap_err()
            .contains("no testSet")
    );
    assert!(run(Path::new("/nowhere")).is_err());
    let root = folder("xsts-broken", &[]);
    small_suite("xsts-broken", ROWS, "NIST").unwrap();
    fs::remove_file(root.join("data/3.xml")).unwrap();
    assert!(run(&root).unwrap_err().contains("3.xml is missing"));
    fs::write(root.join("meta/s.testSet"), "<testSet").unwrap();
    assert!(run(&root).unwrap_err().contains("s.testSet"));
}
