//! Documents for the targets that read markup: invented ones, and changes of their markup.

use crate::invented::choices;
use arbitrary::Arbitrary;
use bankrail_camt052::{Document, WriteOptions};
use std::borrow::Cow;

/// Returns the input as it is, or the document that its choices invent, with their changes.
pub fn report(data: &[u8]) -> Cow<'_, [u8]> {
    let Some(mut choices) = choices(data) else {
        return data.into();
    };
    let changes: Vec<_> = (0..choices.int_in_range(0..=4).unwrap_or(0))
        .filter_map(|_| <(u16, Change<'_>)>::arbitrary(&mut choices).ok())
        .collect();
    let indented = choices.ratio(1, 4).unwrap_or(false);
    let options = WriteOptions::default().schema_valid(true);
    let options = if indented { options.indent(2) } else { options };
    let document = Document::arbitrary(&mut choices).ok();
    let xml = document.and_then(|document| document.to_xml_with(&options).ok());
    let mut xml = xml.unwrap_or_default();
    for (place, change) in &changes {
        xml = changed(&xml, *place, change).unwrap_or(xml);
    }
    xml.into_bytes().into()
}

#[derive(Arbitrary, Debug)]
pub enum Change<'a> {
    /// The content becomes this value.
    Value(u8),
    /// The content becomes this text.
    Text(&'a str),
    /// This markup is put before the content.
    Markup(&'a str),
    Attribute(u8),
    Drop,
    Double,
    /// Markup is put between this element and the one before.
    Before(u8),
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
    "100000000000",
    "123456789012345678",
    "1000000000000000000",
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
    "2021-07-29+13:59",
    "2021-07-29+13:60",
    "2021-07-29T01:02:60",
    "2021-07-29T01:60:00",
    "2021-07-29T25:00:00",
    "2021-00-29",
    "2021-13-29",
    "2021-04-31",
    "1900-02-29",
    "2000-02-29",
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
    " a=\"b&#10;&#9;&#13;'&lt;&quot;\u{e9}\"",
    " Ccy=\"AUD\"",
    " Ccy=\"aud\"",
    " xml:lang=\"en\"",
    " xmlns:x=\"urn:x\" x:a=\"b\"",
    " xmlns=\"urn:x\"",
    " xmlns=\"\"",
    " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:nil=\"false\"",
    " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"a b\"",
];

/// Markup around which readers may differ.
const MARKUP: &[&str] = &[
    " \n ",
    "<!---->",
    "<!-->-->",
    "<!--a-->",
    "<!--a--a-->",
    "<?a b?>",
    "<![CDATA[ ]]>",
    "&#32;",
    "&amp;]]>",
    "]]>",
    "\u{1f44d}",
    "<a/>",
    "<a xmlns=\"urn:x\" b=\"&#10;\"><b>c</b></a>",
];

/// Changes the element at a place in the order of the document.
pub fn changed(xml: &str, place: u16, change: &Change<'_>) -> Option<String> {
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
        Change::Before(number) => {
            let markup = MARKUP[usize::from(*number) % MARKUP.len()];
            (range, format!("{markup}{text}"))
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
