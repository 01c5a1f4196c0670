//! Kept markup: copied as it stands, with the namespace declarations that it needs in another place.

use super::{Events, take_content};
use crate::read::attributes::{self, push_attribute};
use crate::read::halt::Halt;
use crate::read::keep::Keeper;
use crate::read::start::StartTag;
use crate::read::tokens::{TextTokens, Tokens};
use crate::xml::{continues_name, is_blank, starts_name};
use quick_xml::events::Event;
use std::collections::{BTreeSet, HashSet};

impl<T: Tokens> Events<T> {
    /// Copies the element whose start tag has just been read, up to its end tag.
    pub(crate) fn capture(&mut self, keeper: &mut Keeper) -> Result<String, Halt> {
        let mut xml = String::new();
        self.capture_to(&mut xml, keeper)?;
        Ok(xml)
    }

    /// Copies everything between the start tag just read and its end tag. Also returns how many elements there are at
    /// the top and whether there is text beside them.
    pub(crate) fn capture_content(&mut self, keeper: &mut Keeper) -> Result<(String, (usize, bool)), Halt> {
        let (mut xml, mut elements, mut stray) = (String::new(), 0, false);
        let outer = self.depth;
        loop {
            let before = xml.len();
            match self.capture_event(&mut xml, keeper)? {
                Captured::Start => {
                    elements += 1;
                    xml.truncate(before);
                    self.capture_to(&mut xml, keeper)?;
                }
                Captured::End if self.depth < outer => {
                    xml.truncate(before);
                    let held = keeper.hold(xml.len());
                    self.bounded(held)?;
                    return Ok((xml, (elements, stray)));
                }
                Captured::End => {}
                Captured::Content(blank) => stray |= !blank,
            }
        }
    }

    /// Appends the element whose start tag has just been read.
    fn capture_to(&mut self, xml: &mut String, keeper: &mut Keeper) -> Result<(), Halt> {
        let start = xml.len();
        let outer = self.depth;
        let name_end = start + 1 + self.tag.name().len();
        let own: BTreeSet<Box<str>> = self.namespaces.declared_at(outer).map(Box::from).collect();
        self.is_ours()?;
        self.push_start(xml);
        while self.depth >= outer {
            self.capture_event(xml, keeper)?;
        }
        // The element has ended, so its own declarations are gone and those around it are in scope.
        let needed = self.needed(xml.get(start..).unwrap_or_default(), &own);
        if !needed.is_empty() && xml.is_char_boundary(name_end) {
            self.bounded(keeper.bound(xml.len() + needed.len()))?;
            self.hold(needed.len())?;
            xml.insert_str(name_end, &needed);
        }
        Ok(())
    }

    /// An element that has just ended, with the namespace declarations that it needs in another place.
    pub(crate) fn transplanted(&mut self, mut xml: String) -> Result<String, Halt> {
        let mut tag = StartTag::default();
        if let Ok(Event::Start(start) | Event::Empty(start)) = TextTokens::new(&xml).next() {
            tag.set(&start);
        }
        let mut found = Vec::new();
        // They have been read without an error before.
        let _ = attributes::parse(tag.attributes(), usize::MAX, &mut found);
        let own: BTreeSet<Box<str>> =
            found.iter().filter_map(|attribute| attribute.declared_prefix()).map(Box::from).collect();
        let needed = self.needed(&xml, &own);
        self.hold(needed.len())?;
        let name_end = 1 + tag.name().len();
        if xml.is_char_boundary(name_end) {
            xml.insert_str(name_end, &needed);
        }
        Ok(xml)
    }

    /// The declarations that markup needs beside its own: those of the prefixes it uses, in names or in values, and the
    /// default namespace where writing would lose it.
    fn needed(&self, xml: &str, own: &BTreeSet<Box<str>>) -> String {
        let mut needed = String::new();
        if !own.contains("") && !self.namespaces.default_is_ours() {
            push_attribute(&["xmlns"], self.namespaces.get("").unwrap_or_default(), &mut needed);
        }
        let mut seen = HashSet::new();
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

    fn push_start(&self, xml: &mut String) {
        xml.push('<');
        xml.push_str(self.tag.as_str());
        xml.push_str(if self.empty { "/>" } else { ">" });
    }

    /// Appends one event as it stands; nothing at the end of an empty element.
    fn capture_event(&mut self, xml: &mut String, keeper: &Keeper) -> Result<Captured, Halt> {
        if std::mem::take(&mut self.empty) {
            self.close();
            return Ok(Captured::End);
        }
        self.bounded(keeper.bound(xml.len()))?;
        self.advance()?;
        let mut scratch = String::new();
        let event = self.tokens.next();
        self.empty = matches!(event, Ok(Event::Empty(_)));
        match event {
            Ok(Event::Start(tag) | Event::Empty(tag)) => {
                self.tag.set(&tag);
                self.open()?;
                self.is_ours()?;
                self.push_start(xml);
                self.attributes.clear();
                return Ok(Captured::Start);
            }
            Ok(Event::End(tag)) => {
                xml.push_str("</");
                xml.push_str(tag.name().as_ref());
                xml.push('>');
                self.close();
                return Ok(Captured::End);
            }
            _ => {}
        }
        match &event {
            Ok(Event::Text(text)) => xml.push_str(text),
            Ok(Event::CData(text)) => {
                xml.push_str("<![CDATA[");
                xml.push_str(text);
                xml.push_str("]]>");
            }
            Ok(Event::Comment(text)) => {
                xml.push_str("<!--");
                xml.push_str(text);
                xml.push_str("-->");
            }
            Ok(Event::PI(text)) => {
                xml.push_str("<?");
                xml.push_str(text);
                xml.push_str("?>");
            }
            Ok(Event::GeneralRef(name)) => {
                xml.push('&');
                xml.push_str(name);
                xml.push(';');
            }
            _ => {}
        }
        let content = take_content(event, &mut scratch);
        self.content(content)?;
        Ok(Captured::Content(is_blank(&scratch)))
    }
}

enum Captured {
    Start,
    End,
    /// Character data, white space only or not.
    Content(bool),
}

/// True for markup with exactly one element at the top and no text beside it, as the cursor sees it.
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

/// Each name before a colon, which may be a prefix.
fn prefixes(xml: &str) -> impl Iterator<Item = &str> {
    memchr::memchr_iter(b':', xml.as_bytes()).scan(0, |from, at| {
        let before = xml.get(*from..at).unwrap_or_default();
        *from = at + 1;
        let name = before.rfind(|c| !continues_name(c)).and_then(|end| before.get(end..)).unwrap_or(before);
        Some(name.trim_start_matches(|c| !starts_name(c)))
    })
}
