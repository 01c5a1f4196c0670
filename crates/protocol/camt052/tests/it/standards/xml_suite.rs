//! W3C's XML conformance suite, in the folder that `BANKRAIL_XMLCONF` names.
//!
//! The element of each case becomes the supplementary data of an entry. What is before and behind
//! it (byte order mark, XML declaration, comments, instructions) stands before and behind the
//! document element, all in the encoding of the case. A case that states no encoding is read as
//! UTF-16 and as marked UTF-8, too. Verdicts are those of the suite for a processor that does not
//! validate; a case with `OUTPUT` has to mean the same as that file.

use super::{ENVELOPE, Report, around, envelope, folder, marked, read, suite};
use bankrail_camt052::{ReadErrorKind, ReadOptions};
use roxmltree::{Document, Node};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// An entry of the catalogue.
struct Case {
    name: String,
    file: PathBuf,
    output: Option<PathBuf>,
    kind: String,
    /// The reason why no verdict is asked for.
    excluded: Option<&'static str>,
}

/// The verdict on a case: the kind of case that the reader passed, the reason why it was not asked,
/// or what is wrong.
type Verdict = Result<Result<String, &'static str>, String>;

#[test]
fn the_w3c_suite_is_read_as_it_says() {
    if let Some(folder) = suite("BANKRAIL_XMLCONF") {
        run(&folder)
            .unwrap_or_else(|error| panic!("{error}"))
            .assert_passed();
    }
}

/// Judges a suite. An error means that the folder holds none, or a broken one.
fn run(root: &Path) -> Result<Report, String> {
    let mut cases = Vec::new();
    let catalogue = root.join("xmlconf.xml");
    let text = text_of(&catalogue)?;
    add_cases(&text, &catalogue, &mut cases)?;
    // The catalogue includes those of its parts as external entities.
    for declaration in text.split("<!ENTITY ").skip(1) {
        if let Some((name, rest)) = declaration.split_once(" SYSTEM ")
            && let Some(path) = rest.split(['"', '\'']).nth(1)
            && text.contains(&format!("&{};", name.trim()))
        {
            let part = root.join(path);
            add_cases(&text_of(&part)?, &part, &mut cases)?;
        }
    }
    if cases.is_empty() {
        return Err(format!("{} has no TEST", catalogue.display()));
    }
    let mut report = Report::default();
    for case in &cases {
        match judge(case) {
            Ok(Ok(kind)) => report.pass(&kind),
            Ok(Err(reason)) => report.exclude(reason),
            Err(wrong) => report
                .failed
                .push(format!("{} ({}): {wrong}", case.name, case.kind)),
        }
    }
    Ok(report)
}

fn text_of(file: &Path) -> Result<String, String> {
    let bytes = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Adds the entries of a catalogue, whose references to parts are left out. The catalogue of a part
/// may have several elements at the top.
fn add_cases(text: &str, file: &Path, to: &mut Vec<Case>) -> Result<(), String> {
    let text = text.trim_start_matches('\u{feff}');
    let body = text
        .strip_prefix("<?xml")
        .and_then(|rest| rest.split_once("?>"))
        .map_or(text, |(_, body)| body);
    let body = match doctype(body) {
        Some(found) => &body[found.range.end..],
        None => body,
    };
    let mut whole = String::from("<PART>");
    let mut rest = body;
    while let Some((before, after)) = rest.split_once('&') {
        whole.push_str(before);
        let of_name = |c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c);
        let (name, end) = after.split_at(after.find(of_name).unwrap_or(after.len()));
        let is_part = end.starts_with(';') && !["amp", "lt", "gt", "apos", "quot"].contains(&name);
        if is_part && !name.is_empty() {
            rest = &end[1..];
        } else {
            whole.push('&');
            rest = after;
        }
    }
    whole.push_str(rest);
    whole.push_str("</PART>");
    let tree = Document::parse(&whole).map_err(|error| format!("{}: {error}", file.display()))?;
    for test in tree.descendants().filter(|node| node.has_tag_name("TEST")) {
        to.push(case(test, file)?);
    }
    Ok(())
}

fn case(test: Node<'_, '_>, catalogue: &Path) -> Result<Case, String> {
    let needed = |name: &str| {
        test.attribute(name)
            .map(str::to_owned)
            .ok_or_else(|| format!("a TEST of {} has no {name}", catalogue.display()))
    };
    let (name, kind) = (needed("ID")?, needed("TYPE")?);
    let has = |name: &str, value: &str| {
        test.attribute(name)
            .is_none_or(|values| values.split_whitespace().any(|one| one == value))
    };
    let recommendation = test.attribute("RECOMMENDATION").unwrap_or("XML1.0");
    let excluded = if matches!(recommendation, "XML1.1" | "NS1.1") || !has("VERSION", "1.0") {
        Some("of XML 1.1 or Namespaces 1.1")
    } else if !has("EDITION", "5") {
        Some("of editions before the fifth")
    } else if kind == "error" {
        Some("an error that a processor need not report")
    } else if test.attribute("NAMESPACE") == Some("no") && kind != "not-wf" {
        Some("names that Namespaces do not allow")
    } else {
        None
    };
    if !["valid", "invalid", "not-wf", "error"].contains(&kind.as_str()) {
        return Err(format!("{name} is of the type {kind}"));
    }
    Ok(Case {
        file: resolve(test, catalogue, &needed("URI")?)?,
        output: match test.attribute("OUTPUT") {
            Some(path) if excluded.is_none() => Some(resolve(test, catalogue, path)?),
            _ => None,
        },
        name,
        kind,
        excluded,
    })
}

/// Returns a file that a case names: beside its catalogue, as in the suite of 2013, whose master
/// has a wrong base for one part; otherwise under the bases of the elements around it.
fn resolve(test: Node<'_, '_>, catalogue: &Path, path: &str) -> Result<PathBuf, String> {
    let beside = catalogue.with_file_name("");
    let mut below = path.to_owned();
    let mut tried = vec![beside.join(path)];
    for node in test.ancestors() {
        if let Some(base) = node.attribute(("http://www.w3.org/XML/1998/namespace", "base")) {
            below = format!("{base}{below}");
            tried.push(beside.join(&below));
        }
    }
    let found = tried.iter().find(|path| path.is_file()).cloned();
    found.ok_or_else(|| format!("{} is missing", tried[0].display()))
}

/// The encoding of a case, as far as its first bytes prove it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Eight bits for a character of ASCII.
    Narrow,
    Utf16Le,
    Utf16Be,
}

/// A case taken apart; marks and text are in the encoding of the case.
struct Source {
    form: Form,
    mark: Vec<u8>,
    /// The beginning up to the end of the XML declaration.
    declaration: Vec<u8>,
    rest: Vec<u8>,
    /// The rest, if it can be decoded.
    text: Option<String>,
    declares_encoding: bool,
}

impl Source {
    fn of(bytes: &[u8]) -> Self {
        let (form, mark) = match bytes {
            [0xFF, 0xFE, ..] => (Form::Utf16Le, 2),
            [0xFE, 0xFF, ..] => (Form::Utf16Be, 2),
            [b'<', 0, ..] => (Form::Utf16Le, 0),
            [0, b'<', ..] => (Form::Utf16Be, 0),
            [0xEF, 0xBB, 0xBF, ..] => (Form::Narrow, 3),
            _ => (Form::Narrow, 0),
        };
        let (mark, after) = bytes.split_at(mark);
        let end = if after.starts_with(&encode(form, "<?xml")) {
            let end = encode(form, "?>");
            // Searches at whole characters of UTF-16.
            let step = end.len() / 2;
            (0..after.len())
                .step_by(step)
                .find(|at| after[*at..].starts_with(&end))
                .map_or(0, |at| at + end.len())
        } else {
            0
        };
        let (declaration, rest) = after.split_at(end);
        let declares_encoding =
            decode(form, declaration).is_none_or(|text| text.contains("encoding"));
        Self {
            form,
            mark: mark.to_owned(),
            declaration: declaration.to_owned(),
            text: decode(form, rest),
            rest: rest.to_owned(),
            declares_encoding,
        }
    }

    /// Returns true when the declaration states an encoding other than the mark. That is an error
    /// (4.3.3), which the reader does not make of it: the mark is what the bytes prove.
    fn mark_overrides(&self) -> bool {
        let declaration = decode(self.form, &self.declaration).unwrap_or_default();
        let name = match self.form {
            Form::Narrow => "utf-8",
            Form::Utf16Le | Form::Utf16Be => "utf-16",
        };
        let agrees = declaration.to_lowercase().contains(name);
        !self.mark.is_empty() && self.declares_encoding && !agrees
    }

    /// Returns the document with this content in its envelope, and what is before and behind the
    /// document element.
    fn document(&self, prolog: &[u8], content: &[u8], epilog: &[u8]) -> Vec<u8> {
        let (before, after) = around(ENVELOPE);
        [
            &self.mark,
            &self.declaration,
            prolog,
            &encode(self.form, &before),
            content,
            &encode(self.form, &after),
            epilog,
        ]
        .concat()
    }
}

/// Takes a document apart into prolog, element and the rest, which may be malformed.
fn split(text: &str) -> [&str; 3] {
    let mut start = 0;
    while let Some(next) = text[start..].chars().next() {
        let rest = &text[start..];
        let ending = |end: &str| rest.find(end).map_or(1, |at| at + end.len());
        start += match rest {
            _ if rest.starts_with("<!--") => ending("-->"),
            _ if rest.starts_with("<?") => ending("?>"),
            _ if next == '<' && !rest.starts_with("<!") => break,
            _ => next.len_utf8(),
        };
    }
    let (prolog, rest) = text.split_at(start);
    let (mut end, mut quote) = (rest.len(), None);
    for (at, c) in rest.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(begun), _) if begun == c => quote = None,
            (None, '>') => {
                end = at + 1;
                break;
            }
            _ => {}
        }
    }
    if !rest[..end].ends_with("/>") {
        let name = rest[1.min(rest.len())..end]
            .split([' ', '\t', '\r', '\n', '>'])
            .next();
        let tag = format!("</{}", name.unwrap_or_default());
        let closed = rest
            .rfind(&tag)
            .and_then(|at| Some(at + rest[at..].find('>')? + 1));
        end = closed.unwrap_or(rest.len());
    }
    let (element, epilog) = rest.split_at(end);
    [prolog, element, epilog]
}

fn encode(form: Form, text: &str) -> Vec<u8> {
    match form {
        Form::Narrow => text.as_bytes().to_owned(),
        Form::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        Form::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
    }
}

fn decode(form: Form, bytes: &[u8]) -> Option<String> {
    let pairs = |of: fn([u8; 2]) -> u16| {
        let (pairs, odd) = bytes.as_chunks::<2>();
        let units: Vec<u16> = pairs.iter().map(|pair| of(*pair)).collect();
        odd.is_empty().then(|| String::from_utf16(&units).ok())?
    };
    match form {
        Form::Narrow => String::from_utf8(bytes.to_owned()).ok(),
        Form::Utf16Le => pairs(u16::from_le_bytes),
        Form::Utf16Be => pairs(u16::from_be_bytes),
    }
}

/// A document type declaration.
struct Doctype {
    range: Range<usize>,
    /// Without an external subset, and with declarations of elements only: a document means the
    /// same without it.
    can_be_cut: bool,
}

/// Finds the document type declaration in a prolog, as far as the prolog is well-formed.
fn doctype(text: &str) -> Option<Doctype> {
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
        let rest = &rest[blank..];
        at += blank
            + match rest {
                _ if rest.starts_with("<!DOCTYPE") => break at += blank,
                _ if rest.starts_with("<!--") => rest.find("-->")? + 3,
                _ if rest.starts_with("<?") => rest.find("?>")? + 2,
                _ => return None,
            };
    }
    let (mut end, mut depth, mut can_be_cut) = (at + "<!DOCTYPE".len(), 0, true);
    loop {
        let rest = text.get(end..)?;
        end += match rest.chars().next()? {
            _ if rest.starts_with("<!--") => rest[4..].find("-->")? + 7,
            _ if rest.starts_with("<?") => rest.find("?>")? + 2,
            quote @ ('"' | '\'') => {
                // A literal in front of the subset names an external one.
                can_be_cut &= depth > 0;
                rest[1..].find(quote)? + 2
            }
            '<' => {
                can_be_cut &= rest.starts_with("<!ELEMENT");
                depth += 1;
                1
            }
            '%' => {
                can_be_cut &= depth > 1;
                1
            }
            '[' => {
                depth += 1;
                1
            }
            ']' => {
                depth -= 1;
                1
            }
            '>' if depth == 0 => break,
            '>' => {
                depth -= 1;
                1
            }
            other => other.len_utf8(),
        };
    }
    let range = at..end + 1;
    Some(Doctype { range, can_be_cut })
}

fn judge(case: &Case) -> Verdict {
    if let Some(reason) = case.excluded {
        return Ok(Err(reason));
    }
    let bytes = fs::read(&case.file).map_err(|error| error.to_string())?;
    let mut source = Source::of(&bytes);
    let is_well_formed = case.kind != "not-wf";
    // Without the text, whether there is a declaration shows in its bytes.
    let typed = match &source.text {
        Some(text) => text.contains("<!DOCTYPE"),
        None => contains(&source.rest, &encode(source.form, "<!DOCTYPE")),
    };
    let found = source.text.as_deref().and_then(doctype);
    if let Some(found) = &found {
        // The rule of the reader, whatever the declaration holds.
        let text = source.text.as_deref().unwrap_or_default();
        let (head, content) = text.split_at(found.range.end);
        let (head, content) = (encode(source.form, head), encode(source.form, content));
        let read = read(
            &source.document(&head, &content, &[]),
            ReadOptions::default(),
        );
        match read.as_ref().map_err(|error| error.kind()) {
            Err(ReadErrorKind::DocumentType) => {}
            Err(_) if !is_well_formed => {}
            other => return Err(format!("expected a refused document type, found {other:?}")),
        }
        if !is_well_formed {
            return Ok(Ok("refused, with a document type declaration".to_owned()));
        }
        if !found.can_be_cut {
            return Ok(Err("a document type declaration that the content may need"));
        }
        let mut text = text.to_owned();
        text.replace_range(found.range.clone(), "");
        source.rest = encode(source.form, &text);
        source.text = Some(text);
    } else if typed && is_well_formed {
        let text = source.text.as_deref().unwrap_or_default();
        // A comment or a CDATA section may hold one; then it is none.
        if !text.contains("<!--") && !text.contains("<![CDATA[") {
            return Err("a document type declaration that the runner does not find".to_owned());
        }
    }
    let document = match &source.text {
        Some(text) => {
            let [prolog, element, epilog] = split(text).map(|part| encode(source.form, part));
            source.document(&prolog, &element, &epilog)
        }
        None => source.document(&[], &source.rest, &[]),
    };
    if !is_well_formed && source.mark_overrides() && read(&document, ReadOptions::default()).is_ok()
    {
        return Ok(Err("a declaration that a byte order mark overrides"));
    }
    if let Some(reason) = differs(&document, is_well_formed)? {
        return Ok(Err(reason));
    }
    let mut kind = if is_well_formed {
        "accepted"
    } else {
        "refused"
    }
    .to_owned();
    if let Some(output) = &case.output
        && is_well_formed
    {
        let output = text_of(output)?;
        if output.contains("<!DOCTYPE") {
            kind.push_str(", OUTPUT not compared: it has a document type declaration");
        } else {
            let parsed = read(&document, ReadOptions::default()).map_err(|e| e.to_string())?;
            let (found, expected) = (meaning(envelope(&parsed))?, meaning(&output)?);
            if found != expected {
                return Err(format!("expected {expected:?}, found {found:?}"));
            }
            kind.push_str(", and means what OUTPUT says");
        }
    }
    match &source.text {
        Some(text) if !source.declares_encoding => {
            let declaration = decode(source.form, &source.declaration).unwrap_or_default();
            let (before, after) = around(ENVELOPE);
            let [prolog, element, epilog] = split(text);
            let document = format!("{declaration}{prolog}{before}{element}{after}{epilog}");
            for (form, bytes) in marked(&document) {
                if let Some(reason) =
                    differs(&bytes, is_well_formed).map_err(|wrong| format!("{form}: {wrong}"))?
                {
                    return Err(format!("{form}: {reason}"));
                }
            }
            kind.push_str("; in four encodings");
        }
        _ => kind.push_str("; in its own encoding"),
    }
    Ok(Ok(kind))
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Compares the reader's verdict; returns the reason why there is none. A finding is no acceptance:
/// the envelope of a document with two elements has one.
fn differs(document: &[u8], is_well_formed: bool) -> Result<Option<&'static str>, String> {
    match read(document, ReadOptions::default()) {
        Ok(parsed) if parsed.findings.is_empty() == is_well_formed => Ok(None),
        Ok(parsed) => Err(format!("read with the findings {:?}", parsed.findings)),
        Err(_) if !is_well_formed => Ok(None),
        Err(error) if matches!(error.kind(), ReadErrorKind::UnsupportedEncoding { .. }) => {
            Ok(Some("an encoding that a processor need not know"))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Returns the meaning of the document element: names with namespaces, attributes in order, text,
/// and processing instructions.
pub(super) fn meaning(xml: &str) -> Result<Vec<String>, String> {
    fn walk(node: Node<'_, '_>, to: &mut Vec<String>) {
        if let Some(instruction) = node.pi() {
            let value = instruction.value.unwrap_or_default();
            to.push(format!("?{} {value}", instruction.target));
        } else if let Some(text) = node.text().filter(|_| node.is_text()) {
            match to.last_mut() {
                Some(last) if last.starts_with('=') => last.push_str(text),
                _ => to.push(format!("={text}")),
            }
        } else if node.is_element() {
            to.push(format!("<{:?}", node.tag_name()));
            let mut attributes: Vec<String> = node
                .attributes()
                .map(|one| format!("@{:?} {} {}", one.namespace(), one.name(), one.value()))
                .collect();
            attributes.sort();
            to.extend(attributes);
            node.children().for_each(|child| walk(child, to));
            to.push(">".to_owned());
        }
    }
    let tree = Document::parse(xml).map_err(|error| format!("{error}: {xml}"))?;
    let mut meaning = Vec::new();
    walk(tree.root_element(), &mut meaning);
    Ok(meaning)
}

const MASTER: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE TESTSUITE SYSTEM "testcases.dtd" [
    <!ENTITY part SYSTEM "part/part.xml">
    <!ENTITY bare SYSTEM "misc/bare.xml">
]>
<TESTSUITE PROFILE="for a test of the runner">
  <TESTCASES PROFILE="a part" xml:base="part/">&part;</TESTCASES>
  <TESTCASES PROFILE="a wrong base" xml:base="other/misc/">&bare;</TESTCASES>
  <TEST TYPE="valid" ID="at-top" URI="top.xml" SECTIONS="1">At the top, &lt; everything.</TEST>
</TESTSUITE>"#;

const PART: &str = r#"<?xml version="1.0"?>
<TESTCASES PROFILE="a part">
<TEST TYPE="valid" ID="attributes" URI="valid.xml" OUTPUT="out/valid.xml" SECTIONS="2"/>
<TEST TYPE="valid" ID="subset" URI="subset.xml" OUTPUT="out/subset.xml" SECTIONS="2"/>
<TEST TYPE="valid" ID="notation" URI="notation.xml" SECTIONS="2" ENTITIES="both"/>
<TEST TYPE="invalid" ID="no-subset" URI="invalid.xml" SECTIONS="2"/>
<TEST TYPE="valid" ID="wide" URI="wide.xml" OUTPUT="out/wide.xml" SECTIONS="2"/>
<TEST TYPE="valid" ID="latin" URI="latin.xml" OUTPUT="out/latin.xml" SECTIONS="2"/>
<TEST TYPE="valid" ID="japanese" URI="japanese.xml" SECTIONS="2"/>
<TEST TYPE="not-wf" ID="tag" URI="tag.xml" SECTIONS="3"/>
<TEST TYPE="not-wf" ID="two" URI="two.xml" SECTIONS="3"/>
<TEST TYPE="not-wf" ID="behind" URI="behind.xml" SECTIONS="3"/>
<TEST TYPE="not-wf" ID="declaration" URI="declaration.xml" SECTIONS="3"/>
<TEST TYPE="not-wf" ID="marked" URI="marked.xml" SECTIONS="3"/>
<TEST TYPE="not-wf" ID="bytes" URI="bytes.xml" SECTIONS="3"/>
<TEST TYPE="not-wf" ID="typed" URI="typed.xml" SECTIONS="3"/>
<TEST TYPE="not-wf" ID="colons" URI="colons.xml" SECTIONS="3" NAMESPACE="no"/>
</TESTCASES>"#;

const BARE: &str = r#"
<TEST TYPE="error" ID="optional" URI="top.xml" SECTIONS="4"/>
<TEST TYPE="valid" ID="later" URI="top.xml" SECTIONS="4" VERSION="1.1"/>
<TEST TYPE="valid" ID="later-too" URI="top.xml" SECTIONS="4" RECOMMENDATION="NS1.1"/>
<TEST TYPE="not-wf" ID="earlier" URI="top.xml" SECTIONS="4" EDITION="1 2 3 4"/>
<TEST TYPE="valid" ID="now" URI="top.xml" SECTIONS="4" EDITION="5" VERSION="1.0 1.1"/>
<TEST TYPE="valid" ID="names" URI="top.xml" SECTIONS="4" NAMESPACE="no"/>"#;

/// Returns a small suite, with these replaced in its catalogues.
fn small_suite(name: &str, replaced: &[(&str, &str)]) -> Result<Report, String> {
    let catalogue = |text: &str| {
        replaced
            .iter()
            .fold(text.to_owned(), |text, (old, new)| text.replace(old, new))
            .into_bytes()
    };
    let wide = encode(Form::Utf16Be, "\u{feff}<?xml version='1.0'?><d>\u{e9}</d>");
    let typed = "<!DOCTYPE d [<!ELEMENT d (#PCDATA)><!-- ]> ' --><?p ]> ?>]>";
    let subset = format!("<?xml version='1.0'?>\n{typed}<d>&amp;</d>");
    let invalid = format!("{typed}<d><e/></d>");
    let files: &[(&str, &[u8])] = &[
        ("xmlconf.xml", &catalogue(MASTER)),
        ("part/part.xml", &catalogue(PART)),
        ("misc/bare.xml", &catalogue(BARE)),
        ("top.xml", b"<d/>"),
        ("misc/top.xml", b"<!-- <!DOCTYPE --><d/>"),
        (
            "part/valid.xml",
            b"<d b='&#10;' a='1\r\n'>x<![CDATA[<]]>\r\n<!-- --><?p  q?></d>\n",
        ),
        (
            "part/out/valid.xml",
            b"<d a=\"1 \" b=\"&#10;\">x&lt;&#10;<?p q?></d>",
        ),
        ("part/subset.xml", subset.as_bytes()),
        ("part/out/subset.xml", b"<d>&amp;</d>"),
        (
            "part/notation.xml",
            b"<!DOCTYPE d [<!ENTITY e ''>]><d>&e;</d>",
        ),
        ("part/invalid.xml", invalid.as_bytes()),
        ("part/wide.xml", &wide),
        ("part/out/wide.xml", "<d>\u{e9}</d>".as_bytes()),
        (
            "part/latin.xml",
            b"<?xml version='1.0' encoding='iso-8859-1'?><d>\xe9</d>",
        ),
        ("part/out/latin.xml", "<d>\u{e9}</d>".as_bytes()),
        (
            "part/japanese.xml",
            b"<?xml version='1.0' encoding='Shift_JIS'?><d>\x83\x41</d>",
        ),
        ("part/tag.xml", b"<d><e></d></e>"),
        ("part/two.xml", b"<d/><d/>"),
        ("part/behind.xml", b"<!-- --><d a='>'></d>&#32;"),
        (
            "part/declaration.xml",
            b"<?xml version='1.0' standalone='maybe'?><d/>",
        ),
        (
            "part/marked.xml",
            b"\xef\xbb\xbf<?xml version='1.0' encoding='iso-8859-1'?><d/>",
        ),
        ("part/bytes.xml", b"<d>\xc0\x80</d>"),
        ("part/typed.xml", b"<!DOCTYPE d [<!ELEMENT d>]><d/>"),
        ("part/colons.xml", b"<d <a:b:c></d>"),
    ];
    run(&folder(name, files))
}

#[test]
fn the_runner_counts_each_case_once() {
    let report = small_suite("xmlconf", &[]).unwrap();
    println!("{report}");
    assert_eq!(report.failed, [""; 0]);
    let counts = |counts: &std::collections::BTreeMap<String, usize>| -> Vec<(String, usize)> {
        counts
            .iter()
            .map(|(name, count)| (name.clone(), *count))
            .collect()
    };
    let expected = |list: &[(&str, usize)]| -> Vec<(String, usize)> {
        list.iter()
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect()
    };
    assert_eq!(
        counts(&report.passed),
        expected(&[
            ("accepted, and means what OUTPUT says; in four encodings", 3),
            (
                "accepted, and means what OUTPUT says; in its own encoding",
                1
            ),
            ("accepted; in four encodings", 3),
            ("refused, with a document type declaration", 1),
            ("refused; in four encodings", 5),
            ("refused; in its own encoding", 1),
        ])
    );
    assert_eq!(
        counts(&report.excluded),
        expected(&[
            ("a declaration that a byte order mark overrides", 1),
            ("a document type declaration that the content may need", 1),
            ("an encoding that a processor need not know", 1),
            ("an error that a processor need not report", 1),
            ("names that Namespaces do not allow", 1),
            ("of XML 1.1 or Namespaces 1.1", 2),
            ("of editions before the fifth", 1),
        ])
    );
}

#[test]
fn the_runner_finds_a_planted_wrong_verdict() {
    for (number, (old, new, failed)) in [
        (
            r#""valid" ID="attributes""#,
            r#""not-wf" ID="attributes""#,
            "attributes",
        ),
        (r#""not-wf" ID="tag""#, r#""valid" ID="tag""#, "tag"),
        (r#""not-wf" ID="two""#, r#""invalid" ID="two""#, "two"),
        (
            r#""not-wf" ID="declaration""#,
            r#""valid" ID="declaration""#,
            "declaration",
        ),
        (r#""not-wf" ID="bytes""#, r#""valid" ID="bytes""#, "bytes"),
        (
            r#""invalid" ID="no-subset""#,
            r#""valid" OUTPUT="out/subset.xml" ID="no-subset""#,
            "no-subset",
        ),
        ("out/wide.xml", "out/valid.xml", "wide"),
        (r#"EDITION="1 2 3 4""#, "", "earlier"),
    ]
    .into_iter()
    .enumerate()
    {
        let report = small_suite(&format!("xmlconf-{number}"), &[(old, new)]).unwrap();
        assert_eq!(report.failed.len(), 1, "{old}: {:?}", report.failed);
        assert!(
            report.failed[0].starts_with(&format!("{failed} (")),
            "{:?}",
            report.failed
        );
    }
}

#[test]
fn the_runner_refuses_a_folder_without_a_whole_suite() {
    assert!(
        run(&folder("xmlconf-empty", &[]))
            .unwrap_err()
            .contains("xmlconf.xml")
    );
    let none: &[(&str, &[u8])] = &[("xmlconf.xml", b"<TESTSUITE/>")];
    assert!(
        run(&folder("xmlconf-none", none))
            .unwrap_err()
            .contains("no TEST")
    );
    for (number, (old, new, missing)) in [
        (r#"URI="tag.xml""#, r#"URI="gone.xml""#, "gone.xml"),
        (
            r#"OUTPUT="out/wide.xml""#,
            r#"OUTPUT="gone.xml""#,
            "gone.xml",
        ),
        ("part/part.xml", "part/gone.xml", "gone.xml"),
        (r#"TYPE="error""#, r#"TYPE="other""#, "other"),
        (r#"ID="tag""#, "", "ID"),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("xmlconf-broken-{number}");
        let error = small_suite(&name, &[(old, new)]).unwrap_err();
        assert!(error.contains(missing), "{error}");
    }
}
