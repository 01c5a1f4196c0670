//! Removes the prefix from every tag of an element, because the fast reader knows names without
//! prefixes only.

use super::scan::{first, zeros};
use crate::xml::ONES;

/// Copies an element to `plain` and removes the prefix, which is given with its colon. `text`
/// begins with the element's start tag, or after it.
///
/// - Returns the length of the element in `text`, in bytes.
/// - Returns `None` if a tag lacks the prefix, or the end tag is missing or has white space.
///   Nothing after the end tag is looked at; otherwise reading would take quadratic time.
/// - Where an element of the same name lies within it, the result ends too early and cannot be
///   read.
pub(crate) fn strip(text: &str, prefix: &str, name: &str, plain: &mut String) -> Option<usize> {
    // Cutting out what begins and ends with ASCII leaves whole characters.
    let mut out = std::mem::take(plain).into_bytes();
    out.clear();
    let length = strip_bytes(
        text.as_bytes(),
        Prefix::new(prefix),
        name.as_bytes(),
        &mut out,
    );
    if length.is_none() {
        out.clear(); // The room is used again.
    }
    *plain = String::from_utf8(out).ok()?;
    length
}

fn strip_bytes(text: &[u8], prefix: Prefix<'_>, name: &[u8], plain: &mut Vec<u8>) -> Option<usize> {
    let mut at = 0;
    loop {
        at += copy_to_tag(text.get(at..)?, plain)?;
        let tag = text.get(at..)?;
        let end = match tag.get(1)? {
            b'/' => true,
            b'!' => {
                let bytes = declared(tag)?;
                plain.extend_from_slice(tag.get(..bytes)?);
                at += bytes;
                continue;
            }
            _ => false,
        };
        let mark: &[u8] = if end { b"</" } else { b"<" };
        plain.extend_from_slice(mark);
        let rest = prefix.cut(tag.get(mark.len()..)?)?;
        at = text.len() - rest.len();
        // One byte rules out nearly every other end tag before the names are compared.
        if end
            && rest.get(name.len()).is_some_and(|byte| ends_name(*byte))
            && rest.starts_with(name)
        {
            plain.extend_from_slice(name);
            // The bracket is assumed here and checked below; an end tag with white space before it
            // is left to the reader over events.
            plain.push(b'>');
            at += name.len() + 1;
            return (text.get(at - 1) == Some(&b'>')).then_some(at);
        }
    }
}

/// Copies what comes before the next `<`, eight bytes in one step, and returns its length.
fn copy_to_tag(text: &[u8], plain: &mut Vec<u8>) -> Option<usize> {
    let (words, tail) = text.as_chunks::<8>();
    let mut at = 0;
    for word in words {
        // Copies the whole word and cuts back, because a copy of a fixed length takes one
        // instruction.
        plain.extend_from_slice(word);
        let marks = zeros(u64::from_le_bytes(*word) ^ (ONES * u64::from(b'<')));
        if marks != 0 {
            let found = first(marks);
            plain.truncate(plain.len() - 8 + found);
            return Some(at + found);
        }
        at += 8;
    }
    let found = tail.iter().position(|byte| *byte == b'<')?;
    plain.extend_from_slice(tail.get(..found)?);
    Some(at + found)
}

/// Returns the length in bytes of the comment or CDATA section that a text begins with.
fn declared(tag: &[u8]) -> Option<usize> {
    let (begin, end) = if tag.starts_with(b"<![CDATA[") {
        ("<![CDATA[", "]]>")
    } else {
        ("<!--", "-->")
    };
    let content = tag.strip_prefix(begin.as_bytes())?;
    Some(begin.len() + memchr::memmem::find(content, end.as_bytes())? + end.len())
}

/// A prefix with its colon.
#[derive(Clone, Copy)]
struct Prefix<'a> {
    text: &'a [u8],
    /// The first eight bytes, and a mask with a bit set for each bit that counts.
    word: u64,
    mask: u64,
}

impl<'a> Prefix<'a> {
    fn new(text: &'a str) -> Self {
        let mut word = [0; 8];
        word.iter_mut()
            .zip(text.bytes())
            .for_each(|(place, byte)| *place = byte);
        // A prefix has no zero byte, so a zero stands for a place after its end.
        let mask = word.map(|byte| if byte == 0 { 0 } else { 0xFF });
        Self {
            text: text.as_bytes(),
            word: u64::from_le_bytes(word),
            mask: u64::from_le_bytes(mask),
        }
    }

    /// Returns the text after the prefix.
    #[inline]
    fn cut<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        if let Some(first) = text.first_chunk()
            && (u64::from_le_bytes(*first) ^ self.word) & self.mask != 0
        {
            return None;
        }
        // The first eight bytes have been compared, if the text has that many.
        if self.text.len() > 8 || text.len() < 8 {
            return text.strip_prefix(self.text);
        }
        text.get(self.text.len()..)
    }
}

/// Returns true for a byte that ends the name in an end tag.
pub(crate) fn ends_name(byte: u8) -> bool {
    matches!(byte, b'>' | b' ' | b'\t' | b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_any_length_are_cut_and_others_are_not() {
        for prefix in [
            "p:",
            "ab:",
            "sevenp:",
            "eightpr:",
            "ninepref:",
            "é:",
            "a-prefix-of-many-letters:",
        ] {
            let mut plain = String::new();
            let text = format!("<{prefix}a><{prefix}b>é</{prefix}b><{prefix}cd/></{prefix}a>");
            let longer = format!("{text}<{prefix}a>");
            for text in [&text, &longer] {
                assert_eq!(
                    strip(text, prefix, "a", &mut plain),
                    Some(longer.len() - prefix.len() - "<a>".len())
                );
                assert_eq!(plain, "<a><b>é</b><cd/></a>");
            }
            // Changes one byte of the prefix.
            for at in 0..prefix.len() {
                let mut other = prefix.as_bytes().to_vec();
                other[at] = b'_';
                let Ok(other) = String::from_utf8(other) else {
                    continue;
                };
                let text = format!("<{prefix}a><{other}b/></{prefix}a>   ");
                assert_eq!(strip(&text, prefix, "a", &mut plain), None, "{text}");
                assert_eq!(strip(&format!("<{other}"), prefix, "a", &mut plain), None);
            }
        }
    }

    #[test]
    fn every_tag_loses_its_prefix_and_text_loses_nothing() {
        let mut plain = String::from("before");
        let text = "<p:a><p:b c=\"p:\">p:é &lt;<![CDATA[<p:b></p:a>]]></p:b><!-- </p:a>]]> --><p:ab/></p:a><p:a>";
        assert_eq!(
            strip(text, "p:", "a", &mut plain),
            Some(text.len() - "<p:a>".len())
        );
        assert_eq!(
            plain,
            "<a><b c=\"p:\">p:é &lt;<![CDATA[<p:b></p:a>]]></b><!-- </p:a>]]> --><ab/></a>"
        );
        for odd in [
            "<p:a><b/></p:a>",
            "<p:a><!-- -- ></p:a>",
            "<p:a><!DOCTYPE a></p:a>",
            "<p:a>",
            "<pp:a></p:a>",
            "<p:a></q:a>",
            "<p:a></q:a>.......",
            "<p:a><q:b></p:a>",
            "",
            "<",
            "</",
        ] {
            assert_eq!(strip(odd, "p:", "a", &mut plain), None, "{odd}");
        }
        // An end tag has a longer name, or the text ends within the end tag.
        for text in [
            "<p:a><p:ab>c</p:ab></p:a>",
            "<p:a><p:a-b></p:a-b></p:a>",
            "<p:a><p:ab> 1234567 </p:ab></p:a>",
        ] {
            assert_eq!(
                strip(text, "p:", "a", &mut plain),
                Some(text.len()),
                "{text}"
            );
            assert_eq!(plain, text.replace("p:", ""));
        }
        // The next tag is at any place of the words that are copied, or after them.
        for length in 0..20 {
            let text = format!("<p:a>{}</p:a>", "x".repeat(length));
            assert_eq!(
                strip(&text, "p:", "a", &mut plain),
                Some(text.len()),
                "{text}"
            );
            assert_eq!(plain, text.replace("p:", ""));
        }
        for section in [
            "<![CDATA[<]]>",
            "<![CDATA[x<b]]>",
            "<![CDATA[]]>",
            "<!--<b-->",
        ] {
            let text = format!("<p:a>{section}</p:a>");
            assert_eq!(
                strip(&text, "p:", "a", &mut plain),
                Some(text.len()),
                "{text}"
            );
            assert_eq!(plain, format!("<a>{section}</a>"));
        }
        for odd in [
            "<p:a></p:a ><p:a></p:a>",
            "<p:a></p:a\n></p:a>",
            "<p:a></p:a",
        ] {
            assert_eq!(strip(odd, "p:", "a", &mut plain), None, "{odd}");
        }
    }
}
