//! Any value of the model, valid or not, is either refused by the writer or read back unchanged.

use crate::invented::{bytes, full, numbered};
use bankrail_camt052::{Document, WriteError};
use serde_json::{Value, json};

/// The number of values.
const VALUES: u64 = 1_500;

#[test]
fn what_is_written_is_read_again_or_refused() {
    let (mut written, mut refused, mut kept) = (0, 0, 0);
    for seed in 0..VALUES {
        let mut dice = bytes(seed ^ 0x5EED, 200)
            .into_iter()
            .map(usize::from)
            .cycle();
        let mut roll =
            move |sides: usize| (dice.next().unwrap() * 256 + dice.next().unwrap()) % sides.max(1);
        let document = if seed % 50 == 0 {
            full(seed)
        } else {
            numbered(seed)
        };
        let mut value = serde_json::to_value(&document).unwrap();
        for _ in 0..=roll(3) {
            let place = roll(places(&value));
            change(&mut value, &mut { place }, &mut roll);
        }
        // Most changes still give a value of the model; the others are not for the writer.
        let Ok(document) = serde_json::from_value::<Document>(value.clone()) else {
            continue;
        };
        match document.to_xml() {
            Ok(xml) => {
                let again = Document::parse(&xml)
                    .unwrap_or_else(|error| panic!("{seed}: {error:?}\n{value}\n{xml}"));
                assert_eq!(again.document, document, "{seed}\n{xml}");
                assert_eq!(again.document.to_xml().unwrap(), xml, "{seed}");
                written += 1;
                kept += usize::from(value.to_string().contains("\"extras\""));
            }
            Err(WriteError::Io(error)) => panic!("{seed}: {error}"),
            Err(_) => refused += 1,
        }
    }
    assert!(
        written > 300 && refused > 100 && kept > 30,
        "{written} written, {kept} with extras, {refused} refused"
    );
}

/// Returns the number of places of a value that can be changed.
fn places(value: &Value) -> usize {
    1 + match value {
        Value::Object(members) => members.values().map(places).sum(),
        Value::Array(items) => items.iter().map(places).sum(),
        _ => 0,
    }
}

/// Changes one place in document order; true when it has been found.
fn change(value: &mut Value, place: &mut usize, roll: &mut impl FnMut(usize) -> usize) -> bool {
    if *place == 0 {
        change_here(value, roll);
        return true;
    }
    *place -= 1;
    match value {
        Value::Object(members) => members
            .values_mut()
            .any(|member| change(member, place, roll)),
        Value::Array(items) => items.iter_mut().any(|item| change(item, place, roll)),
        _ => false,
    }
}

fn change_here(value: &mut Value, roll: &mut impl FnMut(usize) -> usize) {
    match value {
        Value::Object(members) => match roll(5) {
            0 => {
                let name = members.keys().nth(roll(members.len())).cloned();
                name.map(|name| members.remove(&name));
            }
            1 if members.len() == 1 => *value = json!("unknown"),
            _ => {
                members.insert("extras".to_owned(), extras(roll));
            }
        },
        Value::Array(items) => match roll(4) {
            0 => items.clear(),
            1 => items.reverse(),
            _ => {
                let more = items.iter().cycle().take(12).cloned().collect::<Vec<_>>();
                items.extend(more);
            }
        },
        Value::String(text) => *text = odd_text(roll),
        Value::Bool(flag) => *flag = !*flag,
        _ => {}
    }
}

fn odd_text(roll: &mut impl FnMut(usize) -> usize) -> String {
    const TEXTS: [&str; 24] = [
        "",
        " ",
        "\r\n\t",
        "]]>",
        "<a/>",
        "&amp;",
        "\0",
        "\u{fffe}",
        "BOOK",
        "CRDT",
        "\u{feff}",
        "\u{2028}",
        "<",
        "<a xmlns=\"urn:a\">",
        "<a xmlns=\"urn:a\"/><b/>",
        "<a>\r</a>",
        "<p:a/>",
        "<!-- a -->",
        "<![CDATA[a]]>",
        "<a xmlns=\"urn:b\">&b;</a>",
        "10.000000",
        "-0.0",
        "-0001-01-01",
        "24:00:00",
    ];
    match roll(TEXTS.len() + 2) {
        24 => "👍".repeat(600),
        25 => "x".repeat(2_000),
        index => TEXTS[index].to_owned(),
    }
}

/// Parts beyond the schema, some of which no document can hold.
fn extras(roll: &mut impl FnMut(usize) -> usize) -> Value {
    let names = ["Ntry", "Amt", "Id", "Cd", "GrpHdr", "Nm"];
    let mut parts = Vec::new();
    for _ in 0..=roll(2) {
        let mut step = |most: usize| {
            let step = json!({"name": names[roll(names.len())], "index": roll(2)});
            (roll(3) < most).then_some(step)
        };
        let inside: Vec<Value> = step(1).into_iter().collect();
        let after = step(1);
        let part = match roll(8) {
            0..4 => json!({"xml": odd_xml(roll)}),
            4 | 5 => json!({"text": odd_text(roll)}),
            6 => {
                json!({"attribute": {"name": "x:y", "namespace": "urn:x", "value": odd_text(roll)}})
            }
            _ => {
                let name = ["a", "Ccy", "xmlns", "b c", "xml:lang"][roll(5)];
                json!({"attribute": {"name": name, "value": "1"}})
            }
        };
        parts.push(json!({"inside": inside, "after": after, "part": part}));
    }
    Value::Array(parts)
}

fn odd_xml(roll: &mut impl FnMut(usize) -> usize) -> String {
    let sound = [
        "<Foo/>",
        "<Foo a=\"1\">x<Bar/></Foo>",
        "<a xmlns=\"urn:a\"/>",
        "<Sts x='1'/>",
    ];
    if roll(3) == 0 {
        odd_text(roll)
    } else {
        sound[roll(sound.len())].to_owned()
    }
}
