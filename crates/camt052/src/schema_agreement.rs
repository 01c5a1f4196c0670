//! Strict reading agrees with xmllint about documents and their mutations.

use crate::round_trips::{invented, octets};
use crate::{Document, Mode, ReadOptions};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Documents that are judged.
const DOCUMENTS: u64 = 2_000;

#[test]
#[ignore = "needs xmllint"]
fn strict_reading_agrees_with_xmllint() {
    let Some(shared) = std::env::var_os("BANKRAIL_SHARED").map(PathBuf::from) else {
        println!("BANKRAIL_SHARED not set: skipped");
        return;
    };
    let schema = shared.join("schema/camt.052.001.06.xsd");
    let folder = std::env::temp_dir().join(format!("camt052-agreement-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut documents = HashMap::new();
    for seed in 0..DOCUMENTS {
        let document = invented(&octets(seed, 200 + usize::try_from(seed % 7).unwrap() * 150));
        let xml = document.to_xml().unwrap();
        let xml = if seed % 10 == 0 { xml } else { mutate(&xml, seed) };
        let path = folder.join(format!("{seed}.xml"));
        std::fs::write(&path, &xml).unwrap();
        documents.insert(path, xml);
    }
    let verdicts = xmllint(&schema, &documents.keys().cloned().collect::<Vec<_>>());
    let options = ReadOptions { mode: Mode::Strict, ..ReadOptions::default() };
    let (mut valid, mut wrong) = (0, Vec::new());
    for (path, xml) in &documents {
        let ours = Document::parse_with(xml, &options);
        let theirs = verdicts[path];
        valid += usize::from(theirs);
        // libxml2 wrongly refuses a date padded with white space.
        if ours.is_ok() != theirs && !(ours.is_ok() && has_padded_date(xml)) {
            wrong.push(format!(
                "{}: {theirs} {:?}",
                path.display(),
                ours.map(|_| ()).map_err(|error| error.to_string())
            ));
        }
    }
    assert!(valid > 200 && valid < 1_500, "{valid} valid documents");
    assert!(wrong.is_empty(), "{} of {DOCUMENTS}:\n{}", wrong.len(), wrong.join("\n"));
    std::fs::remove_dir_all(&folder).unwrap();
}

fn xmllint(schema: &Path, files: &[PathBuf]) -> HashMap<PathBuf, bool> {
    let mut verdicts = HashMap::new();
    for files in files.chunks(250) {
        let run = Command::new("xmllint").arg("--noout").arg("--schema").arg(schema).args(files).output().unwrap();
        for line in String::from_utf8_lossy(&run.stderr).lines() {
            if let Some(file) = line.strip_suffix(" validates") {
                verdicts.insert(file.into(), true);
            } else if let Some(file) = line.strip_suffix(" fails to validate") {
                verdicts.insert(file.into(), false);
            } else if let Some((file, _)) = line.split_once(".xml:").filter(|(_, rest)| rest.contains("parser error")) {
                verdicts.insert(format!("{file}.xml").into(), false);
            }
        }
    }
    verdicts
}

fn has_padded_date(xml: &str) -> bool {
    xml.split(['<', '>']).any(|text| {
        let inner = text.trim_matches([' ', '\n', '\t', '\r']);
        inner.len() < text.len() && inner.len() >= 7 && inner.as_bytes()[4..].contains(&b'-')
    })
}

/// An element in a form that is easily changed.
#[derive(Clone, Debug)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Element>,
    text: String,
}

/// One change somewhere: an element dropped, doubled, moved, renamed, or a value broken.
fn mutate(xml: &str, seed: u64) -> String {
    let tree = roxmltree::Document::parse(xml).unwrap();
    let mut root = element(tree.root_element());
    let mut dice = octets(seed ^ 0xABCD, 64).into_iter().map(usize::from).cycle();
    let mut roll = |sides: usize| (dice.next().unwrap() * 256 + dice.next().unwrap()) % sides.max(1);
    let place = roll(count(&root));
    let action = roll(14);
    let pick = roll(1000);
    change(&mut root, &mut { place }, action, pick);
    let mut written = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    write(&root, true, &mut written);
    written
}

fn element(node: roxmltree::Node<'_, '_>) -> Element {
    let children: Vec<Element> = node.children().filter(roxmltree::Node::is_element).map(element).collect();
    let text = if children.is_empty() { node.text().unwrap_or_default().to_owned() } else { String::new() };
    let attributes = node.attributes().map(|a| (a.name().to_owned(), a.value().to_owned())).collect();
    // What an envelope holds is not of the schema.
    let children = if node.tag_name().name() == "Envlp" { vec![any()] } else { children };
    Element { name: node.tag_name().name().to_owned(), attributes, children, text }
}

fn any() -> Element {
    let attributes = vec![("xmlns".to_owned(), "urn:any".to_owned())];
    Element { name: "any".to_owned(), attributes, children: Vec::new(), text: String::new() }
}

fn count(element: &Element) -> usize {
    element.children.iter().map(|child| 1 + count(child)).sum()
}

/// Changes the child at a place in document order; true when it has been found.
fn change(parent: &mut Element, place: &mut usize, action: usize, pick: usize) -> bool {
    for index in 0..parent.children.len() {
        if *place == 0 {
            change_child(parent, index, action, pick);
            return true;
        }
        *place -= 1;
        if change(&mut parent.children[index], place, action, pick) {
            return true;
        }
    }
    false
}

fn change_child(parent: &mut Element, index: usize, action: usize, pick: usize) {
    const NAMES: [&str; 8] = ["Cd", "Prtry", "Id", "Nm", "Amt", "Dt", "Xyz", "Othr"];
    const TEXTS: [&str; 24] = [
        "",
        " ",
        "x",
        "BOOK",
        "CRDT",
        "1e3",
        "-5",
        "+5",
        ".5",
        "5.",
        " 10.00 ",
        "10.000001",
        "1234567890123456789",
        "NaN",
        "2021-02-29",
        "2021-07-29Z",
        "2021-07-29T24:00:00",
        "2021-07-29T24:00:01",
        "2021-07-29T10:00:00.123456789012+14:00",
        "true",
        "0",
        "ABCDAU2S",
        "AUD",
        "00000000000000000000000000000000000000000000000000000000000000000000001",
    ];
    let siblings = parent.children.len();
    let child = &mut parent.children[index];
    let leaf = child.children.is_empty();
    match action {
        0 | 1 => {
            parent.children.remove(index);
        }
        2 => {
            let again = child.clone();
            parent.children.insert(index, again);
        }
        3 => parent.children.swap(index, pick % siblings),
        4 => child.name = NAMES[pick % NAMES.len()].to_owned(),
        5 => child.attributes.push(("x".to_owned(), "1".to_owned())),
        6 => child.attributes.clear(),
        7 => child.attributes = vec![("Ccy".to_owned(), ["AUD", "aud", "", " AUD"][pick % 4].to_owned())],
        8 if leaf => child.text.push_str(&"x".repeat(pick % 150)),
        9 if leaf => child.text = format!(" {} ", child.text),
        10 if leaf => child.children.push(any()),
        10 => child.text = "text".to_owned(),
        _ if leaf => child.text = TEXTS[pick % TEXTS.len()].to_owned(),
        _ => child.children.clear(),
    }
}

fn write(element: &Element, root: bool, xml: &mut String) {
    let escape = |text: &str| {
        text.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('"', "&quot;")
            .replace('>', "&gt;")
            .replace('\r', "&#13;")
    };
    xml.push_str(&format!("<{}", element.name));
    if root {
        xml.push_str(&format!(" xmlns=\"{}\"", crate::NAMESPACE));
    }
    for (name, value) in &element.attributes {
        xml.push_str(&format!(" {name}=\"{}\"", escape(value)));
    }
    xml.push('>');
    xml.push_str(&escape(&element.text));
    for child in &element.children {
        write(child, false, xml);
    }
    xml.push_str(&format!("</{}>", element.name));
}
