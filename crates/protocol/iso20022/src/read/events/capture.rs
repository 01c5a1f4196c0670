//! Kept markup: copied verbatim, with the namespace declarations that it needs outside of its
//! context.

use super::{Events, StartTag, Token, take_content};
use crate::read::attributes::{self, Attribute, push_attribute};
use crate::read::error::Halt;
use crate::read::tokens::{TextTokens, Tokens};
use crate::xml::{continues_name, is_blank, starts_name};
use quick_xml::events::Event;
use std::collections::{BTreeSet, HashSet};

impl Events<'_> {
    /// Copies the element whose start tag has just been read, up to its end tag.
    pub(super) fn capture(&mut self) -> Result<String, Halt> {
        let mut xml = String::new();
        self.capture_to(&mut xml)?;
        Ok(xml)
    }

    /// Copies everything between the start tag just read and its end tag. Also returns how many
    /// elements there are at the top and whether there is text beside them.
    pub(super) fn capture_content(&mut self) -> Result<(String, (usize, bool)), Halt> {
        let (mut xml, mut elements, mut stray) = (String::new(), 0, false);
        loop {
            let before = xml.len();
            let mut text = String::new();
            match self.capture_event(&mut xml, &mut text)? {
                Token::Start => {
                    elements += 1;
                    // `capture_to` writes the start tag again and adds the declarations that the
                    // element needs.
                    xml.truncate(before);
                    self.capture_to(&mut xml)?;
                }
                // Elements at the top have been copied with their end tags.
                Token::End => {
                    xml.truncate(before);
                    self.keep_bytes(xml.len())?;
                    return Ok((xml, (elements, stray)));
                }
                Token::Content => stray |= !is_blank(&text),
            }
        }
    }

    /// Appends the element whose start tag has just been read.
    fn capture_to(&mut self, xml: &mut String) -> Result<(), Halt> {
        let (start, outer) = (xml.len(), self.depth);
        self.is_ours()?;
        for part in ["<", self.tag.as_str(), if self.empty { "/>" } else { ">" }] {
            xml.push_str(part);
        }
        let mut text = String::new();
        while self.depth >= outer {
            text.clear();
            self.capture_event(xml, &mut text)?;
        }
        self.transplant(xml, start)
    }

    /// Adds to an element the namespace declarations that it needs outside of its context. The
    /// element is the end of `xml`, from `start` on, and has just ended, so that the declarations
    /// around it are in scope and its own are not.
    pub(super) fn transplant(&mut self, xml: &mut String, start: usize) -> Result<(), Halt> {
        let element = xml.get(start..).unwrap_or_default();
        let mut tag = StartTag::default();
        if let Ok(Event::Start(start) | Event::Empty(start)) = TextTokens::new(element).next() {
            tag.set(&start);
        }
        let mut found = Vec::new();
        // The same attributes were read, and their number bounded, when the tag was opened.
        let _ = attributes::parse(tag.attributes(), usize::MAX, &mut found);
        let own = found
            .iter()
            .filter_map(Attribute::declared_prefix)
            .collect();
        let needed = self.needed(element, &own);
        let name_end = start + 1 + tag.name().len();
        // `insert_str` panics within a character.
        if !needed.is_empty() && xml.is_char_boundary(name_end) {
            // Checks the bound before the insertion, because even a short element may need very
            // long declarations.
            self.bound_kept(xml.len() + needed.len())?;
            self.hold(needed.len())?;
            xml.insert_str(name_end, &needed);
        }
        Ok(())
    }

    /// Returns the declarations that markup needs in addition to its own: those of the prefixes in
    /// its names or values, and the default namespace where writing would lose it.
    fn needed(&self, xml: &str, own: &BTreeSet<&str>) -> String {
        let mut needed = String::new();
        // A written document has the message's namespace as its default one, which would take in
        // unprefixed names of the markup.
        if !own.contains("") && !self.namespaces.default_is_ours() {
            push_attribute(
                &["xmlns"],
                self.namespaces.get("").unwrap_or_default(),
                &mut needed,
            );
        }
        let mut seen = HashSet::new();
        // A superfluous declaration is harmless; a missing one changes the meaning of a name.
        for prefix in prefixes(xml) {
            if !prefix.is_empty()
                && prefix != "xml"
                && !own.contains(prefix)
                && let Some(namespace) = self.namespaces.get(prefix)
                && seen.insert(prefix)
            {
                push_attribute(&["xmlns:", prefix], namespace, &mut needed);
            }
        }
        needed
    }

    /// Appends one event verbatim to `xml`, and its text to `text`. The end of an empty element
    /// adds nothing.
    fn capture_event(&mut self, xml: &mut String, text: &mut String) -> Result<Token, Halt> {
        if std::mem::take(&mut self.empty) {
            self.close();
            return Ok(Token::End);
        }
        // Checks the bound before each event, so that a flood of markup is refused while it is
        // being copied.
        self.bound_kept(xml.len())?;
        self.advance()?;
        let event = self.tokens.next();
        let (before, after) = match event {
            Ok(Event::Start(_)) => ("<", ">"),
            Ok(Event::Empty(_)) => ("<", "/>"),
            Ok(Event::End(_)) => ("</", ">"),
            Ok(Event::CData(_)) => ("<![CDATA[", "]]>"),
            Ok(Event::Comment(_)) => ("<!--", "-->"),
            Ok(Event::PI(_)) => ("<?", "?>"),
            Ok(Event::GeneralRef(_)) => ("&", ";"),
            _ => ("", ""),
        };
        for part in [before, event.as_deref().unwrap_or_default(), after] {
            xml.push_str(part);
        }
        match event {
            Ok(Event::Start(tag) | Event::Empty(tag)) => {
                self.empty = after == "/>";
                self.tag.set(&tag);
                self.open()?;
                self.is_ours()?;
                self.attributes.clear();
                Ok(Token::Start)
            }
            Ok(Event::End(_)) => {
                self.close();
                Ok(Token::End)
            }
            event => {
                let content = take_content(event, text);
                self.content(content)?;
                Ok(Token::Content)
            }
        }
    }
}

/// Returns true for markup with exactly one element at the top and no text beside it, by the rules
/// of the cursor.
pub(crate) fn is_one_element(xml: &str) -> bool {
    let mut tokens = TextTokens::new(xml);
    let (mut depth, mut elements) = (0_usize, 0_usize);
    let mut text = String::new();
    loop {
        match tokens.next() {
            Ok(Event::Start(_)) => {
                elements += usize::from(depth == 0);
                depth += 1;
            }
            Ok(Event::Empty(_)) => elements += usize::from(depth == 0),
            Ok(Event::End(_)) => depth = depth.saturating_sub(1),
            Ok(Event::Eof) => return depth == 0 && elements == 1,
            other => {
                text.clear();
                if take_content(other, &mut text).is_err() || (depth == 0 && !is_blank(&text)) {
                    return false;
                }
            }
        }
    }
}

/// Returns each name before a colon, which may be a prefix.
fn prefixes(xml: &str) -> impl Iterator<Item = &str> {
    memchr::memchr_iter(b':', xml.as_bytes()).scan(0, |from, at| {
        let before = xml.get(*from..at).unwrap_or_default();
        *from = at + 1;
        let name = before
            .rfind(|c| !continues_name(c))
            .and_then(|end| before.get(end..))
            .unwrap_or(before);
        Some(name.trim_start_matches(|c| !starts_name(c)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_one_element_or_it_is_not() {
        for one in [
            "<a/>",
            "<a></a>",
            "<a>t<b/>u<b><c/>&amp;</b></a>",
            " <a/>\n",
            "<!-- t --><a>t</a><?p i?>",
        ] {
            assert!(is_one_element(one), "{one}");
        }
        for other in [
            "",
            "t",
            "<!-- t -->",
            "<a>",
            "</a>",
            "<a/>t",
            "t<a/>",
            "<a/><b/>",
            "<a></a><b></b>",
            "<a/><b>",
        ] {
            assert!(!is_one_element(other), "{other}");
        }
        for malformed in [
            "<a><b></a>",
            "<a>&unknown;</a>",
            "<a/><!-- -- -->",
            "<a>]]></a>",
        ] {
            assert!(!is_one_element(malformed), "{malformed}");
        }
    }

    #[test]
    fn what_may_be_a_prefix_is_found() {
        let found = |xml| prefixes(xml).collect::<Vec<_>>();
        assert_eq!(found("<p:a b='q:c'>d:e</p:a>"), ["p", "q", "d", "p"]);
        assert_eq!(found("\u{e9}-1.b:c 1x:y ::z"), ["\u{e9}-1.b", "x", "", ""]);
        assert_eq!(found("no colon"), [""; 0]);
    }
}
