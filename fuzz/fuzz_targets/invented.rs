//! Inputs that the targets of JSON, of markup and of errors share: samples changed by choices, so
//! that inputs get past the grammar.

use arbitrary::{Arbitrary, Unstructured};
use bankrail_values::json::{self, JsonLimits, JsonValue};
use std::borrow::Cow;
use std::error::Error;

/// Returns the choices of an input that holds choices: no text in UTF-8 begins with these bytes.
pub fn choices(data: &[u8]) -> Option<Unstructured<'_>> {
    match data {
        [0x80..=0xBF, rest @ ..] => Some(Unstructured::new(rest)),
        _ => None,
    }
}

/// Formats an error and its causes, which are one line of printable text each, as a log has them.
pub fn logged(error: &dyn Error) {
    for text in [format!("{error:?}"), bankrail_values::causes(error)] {
        assert!(!text.is_empty());
        assert!(!text.contains(char::is_control), "{text:?}");
    }
}

/// JSON as it is written: a value without parts, or a list of elements or members.
#[derive(Clone, Debug)]
pub enum Tree {
    Leaf(String),
    /// The name of an element is empty.
    Branch {
        object: bool,
        parts: Vec<(String, Tree)>,
    },
}

#[derive(Arbitrary, Debug)]
enum Change<'a> {
    /// The value becomes one of a list.
    Value(u8),
    Text(&'a str),
    /// The value becomes a text of one character, at the border of a bound.
    Long(u8, u8),
    /// The member gets the name of another member.
    Rename(u16),
    /// The member gets a name from a list.
    Name(u8),
    /// A member is put before this one.
    Add(u8, u8),
    Drop,
    Double,
    /// The part trades places with the one after it.
    Swap,
    /// The part is repeated, members under other names.
    Repeat(u8),
    /// The value becomes the one element of so many lists within each other.
    Nest(u8),
    /// The first character of name and value is written as an escape.
    Escape,
}

/// Values of any kind, and texts of the kinds that messages have.
const VALUES: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1.5",
    "1e400",
    "18446744073709551616",
    "[]",
    "{}",
    "[\"a\",\"b\"]",
    "[\"a\",\"a\"]",
    "[1,null,{\"a\":\"b\"}]",
    "{\"a\":{\"b\":1,\"a\":2}}",
    r#""""#,
    r#"" ""#,
    r#""0""#,
    r#""01""#,
    r#""a""#,
    r#""A""#,
    r#""-""#,
    r#""00""#,
    r#""ZZZ""#,
    r#""AUD""#,
    r#""12.50""#,
    r#""007.1""#,
    r#""-3""#,
    r#""12345678901234567890123456789""#,
    r#""1000-01-01""#,
    r#""2020-02-29""#,
    r#""2021-02-29""#,
    r#""2021-07-29T01:02:03.450Z""#,
    r#""2021-07-29T01:02:03Z""#,
    r#""2021-07-29T24:00:00.000Z""#,
    r#""09:30:00.000Z""#,
    r#""09:30:00.1Z""#,
    r#""09:30:00.00é""#,
    r#""00:00:00-00:00""#,
    r#""2a5558c4-d888-4683-b57e-d02afb52f7a0""#,
    r#""2A5558C4-D888-4683-B57E-D02AFB52F7A0""#,
    r#""0b7c2f6e8a1d11eb8dcd0242ac130003""#,
    r#""+61-400000000""#,
    r#""a@b.au""#,
    r#""51824753556""#,
    r#""\ud800""#,
    r#""\ud800\ud800""#,
    r#""\udbff\udfff""#,
    r#""\udbff\ue000""#,
    r#""\ud83d\udc4d""#,
    r#""\u0000\b\f\n\r\t\/\\\"""#,
    r#""\ufffd\uffff""#,
    "\"\u{e9}\u{1f44d}\u{301}\"",
    "\"\u{202e}\u{feff}\u{7f}\u{85}\"",
];

/// Names that a JSON pointer, a writer or a comparison may take for others.
const NAMES: &[&str] = &[
    r#""""#,
    r#""a""#,
    r#""a/b""#,
    r#""~""#,
    r#""~1""#,
    r#""\"\\""#,
    r#""\u0000""#,
    r#""é""#,
    r#""👍""#,
    r#""0""#,
];

/// Of one to four bytes, so that some stand across each border.
const CHARACTERS: [char; 4] = ['x', '\u{e9}', '\u{20ac}', '\u{1f44d}'];

/// The bounds of texts that parsers have.
const LENGTHS: [usize; 20] = [
    1, 2, 4, 9, 10, 20, 30, 34, 35, 40, 64, 105, 128, 140, 256, 300, 1000, 2048, 4096, 17_000,
];

impl Tree {
    pub fn of(value: &JsonValue<'_>) -> Self {
        let (object, parts) = match value {
            JsonValue::Null => return Self::Leaf("null".into()),
            JsonValue::Bool(value) => return Self::Leaf(value.to_string()),
            JsonValue::Number(number) => return Self::Leaf(number.as_str().into()),
            JsonValue::String(text) => return Self::Leaf(quoted(text)),
            JsonValue::Array(elements) => {
                let parts = elements.iter().map(|one| (String::new(), Self::of(one)));
                (false, parts.collect())
            }
            JsonValue::Object(object) => {
                let members = object.members().iter();
                let parts = members.map(|own| (quoted(own.name()), Self::of(own.value())));
                (true, parts.collect())
            }
        };
        Self::Branch { object, parts }
    }

    pub fn parse(json: &[u8]) -> Option<Self> {
        let limits = JsonLimits::new().max_document_bytes(usize::MAX);
        json::read(json, &limits).ok().map(|value| Self::of(&value))
    }

    /// Returns the same value with the members of each object in the opposite order.
    pub fn reversed(self) -> Self {
        let Self::Branch { object, parts } = self else {
            return self;
        };
        let parts = parts
            .into_iter()
            .map(|(name, part)| (name, part.reversed()));
        let mut parts: Vec<_> = parts.collect();
        if object {
            parts.reverse();
        }
        Self::Branch { object, parts }
    }

    fn size(&self) -> usize {
        let sizes = self.parts().iter().map(|(_, part)| 1 + part.size());
        sizes.sum()
    }

    fn parts(&self) -> &[(String, Self)] {
        match self {
            Self::Leaf(_) => &[],
            Self::Branch { parts, .. } => parts,
        }
    }

    /// Finds the way to a part by its number in the order of the text.
    fn find(&self, left: &mut usize, way: &mut Vec<usize>) -> bool {
        for (index, (_, part)) in self.parts().iter().enumerate() {
            way.push(index);
            if *left == 0 {
                return true;
            }
            *left -= 1;
            if part.find(left, way) {
                return true;
            }
            way.pop();
        }
        false
    }

    /// Collects the names of all members.
    fn names(&self, to: &mut Vec<String>) {
        for (name, part) in self.parts() {
            to.extend((!name.is_empty()).then(|| name.clone()));
            part.names(to);
        }
    }

    fn name_of(&self, number: usize) -> Option<String> {
        let mut way = Vec::new();
        self.find(&mut { number }, &mut way);
        let mut part = ("", self);
        for index in way {
            let (name, inner) = &part.1.parts()[index];
            part = (name, inner);
        }
        (!part.0.is_empty()).then(|| part.0.to_owned())
    }

    fn change(&mut self, place: u16, change: &Change<'_>, values: &[&str], names: &[String]) {
        // Half of the values are of the target's kind.
        let value = |number: u8| {
            let list = if number % 2 == 0 && !values.is_empty() {
                values
            } else {
                VALUES
            };
            Self::Leaf(list[usize::from(number / 2) % list.len()].into())
        };
        let named = |number: u8| names[usize::from(number) % names.len()].clone();
        let size = self.size().max(1);
        let other = match change {
            Change::Rename(other) => self.name_of(usize::from(*other) % size),
            _ => None,
        };
        let mut way = Vec::new();
        self.find(&mut (usize::from(place) % size), &mut way);
        let Some(at) = way.pop() else { return };
        let mut parent = self;
        for index in way {
            let Self::Branch { parts, .. } = parent else {
                return;
            };
            parent = &mut parts[index].1;
        }
        let Self::Branch { object, parts } = parent else {
            return;
        };
        match change {
            Change::Value(number) => parts[at].1 = value(*number),
            Change::Text(text) => parts[at].1 = Self::Leaf(quoted(text)),
            Change::Long(of, length) => {
                let of = CHARACTERS[usize::from(*of) % CHARACTERS.len()];
                let border = LENGTHS[usize::from(length / 2) % LENGTHS.len()];
                let text = of.to_string().repeat(border + usize::from(length % 2));
                parts[at].1 = Self::Leaf(quoted(&text));
            }
            Change::Rename(_) if *object => parts[at].0 = other.unwrap_or_default(),
            Change::Name(number) if *object => parts[at].0 = named(*number),
            Change::Add(name, number) => {
                let name = if *object { named(*name) } else { String::new() };
                parts.insert(at, (name, value(*number)));
            }
            Change::Rename(_) | Change::Name(_) => {}
            Change::Drop => drop(parts.remove(at)),
            Change::Double => {
                let part = parts[at].clone();
                parts.insert(at, part);
            }
            Change::Swap => {
                let next = (at + 1) % parts.len();
                parts.swap(at, next);
            }
            Change::Repeat(times) => {
                let (name, part) = parts[at].clone();
                let text = part.to_string();
                for number in 0..usize::from(*times).min(20_000 / (text.len() + 1)) {
                    let name = match name.strip_suffix('"') {
                        Some(name) => format!("{name}{number}\""),
                        None => String::new(),
                    };
                    parts.push((name, part.clone()));
                }
            }
            Change::Nest(times) => {
                let (open, close) = ("[".repeat((*times).into()), "]".repeat((*times).into()));
                parts[at].1 = Self::Leaf(format!("{open}{}{close}", parts[at].1));
            }
            Change::Escape => {
                let (name, part) = &mut parts[at];
                *name = escaped(name);
                if let Self::Leaf(text) = part {
                    *text = escaped(text);
                }
            }
        }
    }
}

impl std::fmt::Display for Tree {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self::Branch { object, parts } = self else {
            let Self::Leaf(text) = self else {
                return Ok(());
            };
            return out.write_str(text);
        };
        out.write_str(if *object { "{" } else { "[" })?;
        for (index, (name, part)) in parts.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let colon = if *object { ":" } else { "" };
            write!(out, "{comma}{name}{colon}{part}")?;
        }
        out.write_str(if *object { "}" } else { "]" })
    }
}

pub fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text")
}

/// Writes the first character of a text that is not escaped as an escape.
fn escaped(quoted: &str) -> String {
    match quoted
        .strip_prefix('"')
        .and_then(|rest| rest.chars().next())
    {
        Some(first) if first != '\\' && first != '"' => {
            let mut units = [0; 2];
            let escapes = first.encode_utf16(&mut units).iter();
            let escapes: String = escapes.map(|unit| format!("\\u{unit:04X}")).collect();
            format!("\"{escapes}{}", &quoted[1 + first.len_utf8()..])
        }
        _ => quoted.to_owned(),
    }
}

/// Returns the input as it is, or the sample that its choices take, with their changes. `values`
/// are tried beside those of any message.
pub fn json<'a, S: AsRef<str>>(data: &'a [u8], samples: &[S], values: &[&str]) -> Cow<'a, [u8]> {
    let Some(mut choices) = choices(data) else {
        return data.into();
    };
    changed_json(&mut choices, samples, values)
        .into_bytes()
        .into()
}

pub fn changed_json<S: AsRef<str>>(
    choices: &mut Unstructured<'_>,
    samples: &[S],
    values: &[&str],
) -> String {
    let sample = choices.choose(samples).map_or("", |sample| sample.as_ref());
    let Some(mut tree) = Tree::parse(sample.as_bytes()) else {
        return sample.to_owned();
    };
    // A single change mostly leaves the rest intact, and each sample is tried as it is.
    let changes = *choices.choose(&[0, 1, 1, 2, 3, 0]).unwrap_or(&0);
    let mut names: Vec<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
    if changes > 0 {
        let trees = samples
            .iter()
            .filter_map(|sample| Tree::parse(sample.as_ref().as_bytes()));
        trees.for_each(|tree| tree.names(&mut names));
    }
    for _ in 0..changes {
        if let (Ok(place), Ok(change)) = (choices.arbitrary(), choices.arbitrary()) {
            tree.change(place, &change, values, &names);
        }
    }
    tree.to_string()
}

/// A short text, of characters that one writer or another escapes.
#[derive(Debug)]
pub struct Odd(pub String);

impl<'a> Arbitrary<'a> for Odd {
    fn arbitrary(choices: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        const PARTS: [&str; 16] = [
            "A",
            "7",
            "\"",
            "\\",
            "/",
            "AB",
            "\u{0}",
            "\n",
            "a",
            " ",
            "\u{e9}",
            "\u{1f44d}",
            "+",
            "&",
            "%",
            "<",
        ];
        let parts = choices.int_in_range(0..=4)?;
        // Mostly of the first ones, which names may have.
        let most = *choices.choose(&[6, 6, 6, 16])?;
        let parts = (0..parts).map(|_| Ok(*choices.choose(&PARTS[..most])?));
        let mut text = parts.collect::<arbitrary::Result<String>>()?;
        if choices.ratio(1, 16)? {
            text = text.repeat(usize::from(u8::arbitrary(choices)?));
        }
        Ok(Self(text))
    }
}

/// A text of pieces, each repeated up to the border of a bound.
pub fn pieces<'a>(data: &'a [u8], pieces: &[&str]) -> Cow<'a, str> {
    let Some(mut choices) = choices(data) else {
        return String::from_utf8_lossy(data);
    };
    let mut text = String::new();
    while let (Ok(piece), Ok(length)) = (choices.choose(pieces), u8::arbitrary(&mut choices)) {
        let border = LENGTHS[usize::from(length / 4) % LENGTHS.len()];
        let times = match length % 4 {
            0 => border - 1,
            1 => border,
            2 => border + 1,
            _ => 1,
        };
        text.extend(std::iter::repeat_n(*piece, times.min(300)));
        if choices.is_empty() || text.len() > 1_000 {
            break;
        }
    }
    text.into()
}
