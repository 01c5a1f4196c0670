//! Documents to read: invented, and changed in one place.

use arbitrary::{Arbitrary, Unstructured};
use bankrail_camt053::{Document, Mode, ReadOptions};
use std::path::PathBuf;

/// A document made from a number, always the same.
pub(crate) fn numbered(seed: u64) -> Document {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let bytes: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    })
    .take(200 + usize::try_from(seed % 7).unwrap() * 150)
    .collect();
    Document::arbitrary(&mut Unstructured::new(&bytes)).unwrap()
}

/// The document with one element dropped, doubled, renamed, emptied, or given another's value.
pub(crate) fn changed(xml: &str, seed: usize) -> String {
    let tree = roxmltree::Document::parse(xml).unwrap();
    let elements: Vec<_> = tree
        .descendants()
        .filter(roxmltree::Node::is_element)
        .skip(1)
        .collect();
    let element = elements[seed * 7 % elements.len()].range();
    let other = elements[seed * 13 % elements.len()].range();
    let text = &xml[element.clone()];
    let name = text[1..].split([' ', '>', '/']).next().unwrap();
    let replacement = match seed % 6 {
        0 => String::new(),
        1 => text.repeat(2),
        2 => text
            .replace(&format!("<{name}"), "<Other")
            .replace(&format!("</{name}>"), "</Other>"),
        3 => format!("<{name}></{name}>"),
        4 => text.replacen('>', " other=\"1\">", 1),
        _ => format!("{text}{}", &xml[other]),
    };
    format!(
        "{}{replacement}{}",
        &xml[..element.start],
        &xml[element.end..]
    )
}

/// Reading that refuses what the schema refuses.
pub(crate) fn strict() -> ReadOptions {
    ReadOptions::default().mode(Mode::Strict)
}

/// A folder of data that is not part of the project; `None` when `BANKRAIL_SHARED` does not say
/// where it is.
pub(crate) fn shared(folder: &str) -> Option<PathBuf> {
    let Some(root) = std::env::var_os("BANKRAIL_SHARED") else {
        println!("BANKRAIL_SHARED not set: skipped");
        return None;
    };
    let path = PathBuf::from(root).join(folder);
    assert!(path.exists(), "{} is missing", path.display());
    Some(path)
}
