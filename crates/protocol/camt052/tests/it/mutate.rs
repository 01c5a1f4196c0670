//! Documents changed in one place: an element dropped, doubled, moved or renamed, a value broken,
//! an attribute added.

use crate::invented::bytes;
use crate::types::{Types, child_type, name_of};
use bankrail_camt052::NAMESPACE;

/// An element in a form that is easily changed.
#[derive(Clone, Debug)]
struct Element {
    name: String,
    /// The type and its facets, as the schema has them.
    kind: String,
    attributes: Vec<(String, String)>,
    children: Vec<Element>,
    text: String,
}

/// One change somewhere, another one for each seed; every fifth document is written with a prefix.
pub(crate) fn mutate(xml: &str, seed: u64, types: &Types) -> String {
    let tree = roxmltree::Document::parse(xml).unwrap();
    let mut root = element(tree.root_element(), "Document", types);
    let mut dice = bytes(seed ^ 0xABCD, 64)
        .into_iter()
        .map(usize::from)
        .cycle();
    let mut roll =
        |sides: usize| (dice.next().unwrap() * 256 + dice.next().unwrap()) % sides.max(1);
    let place = roll(count(&root));
    let (action, pick) = (roll(20), roll(1000));
    change(&mut root, &mut { place }, action, pick);
    let mut written = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    let (prefix, bound) = if seed % 5 == 1 {
        ("c:", ":c")
    } else {
        ("", "")
    };
    let declarations = format!(
        " xmlns{bound}=\"{NAMESPACE}\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xmlns:xs=\"http://www.w3.org/2001/XMLSchema\""
    );
    write(&root, prefix, &declarations, &mut written);
    written
}

fn element(node: roxmltree::Node<'_, '_>, kind: &str, types: &Types) -> Element {
    let child = |child: roxmltree::Node<'_, '_>| {
        element(
            child,
            child_type(types, name_of(kind), child.tag_name().name()),
            types,
        )
    };
    let children: Vec<Element> = node
        .children()
        .filter(roxmltree::Node::is_element)
        .map(child)
        .collect();
    let text = if children.is_empty() {
        node.text().unwrap_or_default().to_owned()
    } else {
        String::new()
    };
    let attributes = node
        .attributes()
        .map(|a| (a.name().to_owned(), a.value().to_owned()))
        .collect();
    // In an envelope only a document of this message, at any depth, is of the schema.
    let children = match (node.tag_name().name(), node.range().start % 4) {
        ("Envlp", 0) => vec![document(types)],
        ("Envlp", 1) => vec![Element {
            children: vec![document(types)],
            ..any()
        }],
        ("Envlp", _) => vec![any()],
        _ => children,
    };
    Element {
        name: node.tag_name().name().to_owned(),
        kind: kind.to_owned(),
        attributes,
        children,
        text,
    }
}

fn any() -> Element {
    let attributes = vec![("xmlns".to_owned(), "urn:any".to_owned())];
    Element {
        name: "any".to_owned(),
        kind: String::new(),
        attributes,
        children: Vec::new(),
        text: String::new(),
    }
}

fn document(types: &Types) -> Element {
    let xml = "<Document><BkToCstmrAcctRpt><GrpHdr><MsgId>m</MsgId><CreDtTm>2021-07-29T01:02:03</CreDtTm></GrpHdr>\
        <Rpt><Id>r</Id><CreDtTm>2021-07-29T01:02:03</CreDtTm><Acct><Id><Othr><Id>a</Id></Othr></Id></Acct></Rpt>\
        </BkToCstmrAcctRpt></Document>";
    let mut document = element(
        roxmltree::Document::parse(xml).unwrap().root_element(),
        "Document",
        types,
    );
    document
        .attributes
        .push(("xmlns".to_owned(), NAMESPACE.to_owned()));
    document
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
    let siblings = parent.children.len();
    let child = &mut parent.children[index];
    let leaf = child.children.is_empty();
    let mut attribute =
        |name: &str, value: &str| child.attributes.push((name.to_owned(), value.to_owned()));
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
        5 => attribute(["x", "xml:lang", "xsi:other"][pick % 3], "1"),
        6 => child.attributes.clear(),
        7 => {
            child.attributes = vec![(
                "Ccy".to_owned(),
                ["AUD", "aud", "", " AUD"][pick % 4].to_owned(),
            )]
        }
        // The schema does not restrict the content of an envelope.
        8 if child.name != "any" => attribute("xsi:nil", ["true", "false", "0"][pick % 3]),
        18 | 19 if child.name == "any" => {
            const TYPES: [&str; 12] = [
                "own:Max35Text",
                "own:ISODate",
                "own:CreditDebitCode",
                "own:ActiveCurrencyCode",
                "own:PartyIdentification43",
                "own:Document",
                "own:Nothing",
                "xs:int",
                "xs:anyType",
                ":X",
                "unbound:X",
                "Max35Text",
            ];
            attribute("xmlns:own", NAMESPACE);
            attribute("xsi:type", TYPES[pick % TYPES.len()]);
            child.text = texts(pick / TYPES.len()).to_owned();
        }
        // `~` stands for the document's prefix.
        18 | 19 if child.name != "any" => {
            // The last of them have the facets of other types.
            let names = [
                "GroupHeader58",
                "Max999Text",
                "Max4Text",
                "ExternalPurpose1Code",
                "TrueFalseIndicator",
                "YesNoIndicator",
                "PercentageRate",
                "AnyBICIdentifier",
            ];
            let name = if pick.is_multiple_of(2) {
                name_of(&child.kind)
            } else {
                names[pick / 2 % names.len()]
            };
            let name = if pick % 9 == 8 {
                "xs:string".to_owned()
            } else {
                format!("~{name}")
            };
            child.attributes.push(("xsi:type".to_owned(), name));
        }
        9 => attribute(
            ["xsi:schemaLocation", "xsi:noNamespaceSchemaLocation"][pick % 2],
            &format!("{NAMESPACE} camt.052.001.06.xsd")[pick % 2 * NAMESPACE.len()..],
        ),
        10 if leaf => child.children.push(any()),
        10 => child.text = "text".to_owned(),
        11 | 12 if leaf => break_facet(child, pick),
        13 if leaf => child.text = format!(" {} ", child.text),
        14 if leaf => child.text.push_str(&"x".repeat(pick % 150)),
        15 => child.children.clear(),
        _ if leaf => child.text = texts(pick).to_owned(),
        _ => parent.children.swap(index, (index + 1) % siblings),
    }
}

fn texts(pick: usize) -> &'static str {
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
    TEXTS[pick % TEXTS.len()]
}

/// Puts a value at, or just beyond, a bound of its type.
fn break_facet(leaf: &mut Element, pick: usize) {
    let facet = |name: &str| -> Option<usize> {
        let rest = leaf.kind.split_once(&format!("{name}="))?.1;
        rest.split([' ', ']']).next()?.parse().ok()
    };
    let beyond = pick % 2;
    let nines = |count: usize| "9".repeat(count);
    leaf.text = if let Some(most) = facet("maxLength") {
        if pick.is_multiple_of(7) {
            String::new()
        } else {
            "👍".repeat(most + beyond)
        }
    } else if let (Some(digits), Some(fraction)) = (facet("totalDigits"), facet("fractionDigits")) {
        match pick % 6 {
            0 | 1 => format!(
                "{}.{}000",
                nines(digits - fraction),
                nines(fraction + beyond)
            ),
            2 | 3 => format!("000{}.0", nines(digits + beyond)),
            4 => format!("-0.{}", nines(fraction.min(3))),
            _ => format!("-{}", leaf.text),
        }
    } else if leaf.kind.contains("AndAmount") || leaf.kind.contains("DecimalAmount") {
        match pick % 6 {
            0 | 1 => format!("1.{}", nines(5 + beyond)),
            2 | 3 => nines(18 + beyond),
            4 => "-0.00".to_owned(),
            _ => "-0.01".to_owned(),
        }
    } else if leaf.kind.contains('{') && leaf.kind.contains('|') {
        [
            leaf.text.to_lowercase(),
            format!("{} ", leaf.text),
            "ZZZZ".to_owned(),
        ][pick % 3]
            .clone()
    } else if leaf.kind.contains("pattern") {
        match pick % 3 {
            0 => leaf.text.chars().skip(1).collect(),
            1 => format!("{}0", leaf.text),
            _ => leaf.text.to_lowercase(),
        }
    } else if leaf.kind.contains("[date") {
        let (date, time) = leaf
            .text
            .split_at(leaf.text.find('T').unwrap_or(leaf.text.len()));
        match pick % 6 {
            0 => format!("0000{}{time}", &date[date.len().min(4)..]),
            1 => format!("{date}+14:01"),
            2 => date.replace('-', ""),
            3 => format!("{date}T23:59:60"),
            4 => format!("-{date}{time}"),
            _ => format!("{date}T00:00"),
        }
    } else {
        texts(pick).to_owned()
    };
}

fn write(element: &Element, prefix: &str, declarations: &str, xml: &mut String) {
    let escape = |text: &str| {
        text.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('"', "&quot;")
            .replace('>', "&gt;")
            .replace('\r', "&#13;")
    };
    let prefix = if element.name == "any" { "" } else { prefix };
    xml.push_str(&format!("<{prefix}{}{declarations}", element.name));
    for (name, value) in &element.attributes {
        xml.push_str(&format!(
            " {name}=\"{}\"",
            escape(&value.replace('~', prefix))
        ));
    }
    xml.push('>');
    xml.push_str(&escape(&element.text));
    for child in &element.children {
        write(child, prefix, "", xml);
    }
    xml.push_str(&format!("</{prefix}{}>", element.name));
}
