//! Markup kept as it stands, with the namespace declarations it needs to stand elsewhere.

use super::attributes::push_attribute;
use super::cursor::{Cursor, Halt};
use super::events::take_content;
use super::tokens::Tokens;
use crate::NAMESPACE;
use quick_xml::events::Event;

impl<T: Tokens> Cursor<T> {
    /// The element whose start tag has just been read, to its end tag.
    pub(super) fn capture(&mut self) -> Result<String, Halt> {
        let mut xml = String::new();
        self.capture_to(&mut xml)?;
        Ok(xml)
    }

    /// Everything between the start tag just read and its end tag; how many elements there are at the top, and whether
    /// there is text beside them.
    pub(crate) fn capture_content(&mut self) -> Result<(String, usize, bool), Halt> {
        let (mut xml, mut elements, mut stray) = (String::new(), 0, false);
        if self.empty {
            self.empty = false;
            self.close();
            return Ok((xml, elements, stray));
        }
        let outer = self.depth;
        loop {
            let before = xml.len();
            match self.capture_event(&mut xml)? {
                Captured::Start => {
                    elements += 1;
                    xml.truncate(before);
                    self.capture_to(&mut xml)?;
                }
                Captured::End if self.depth < outer => {
                    xml.truncate(before);
                    return Ok((xml, elements, stray));
                }
                Captured::End => {}
                Captured::Content(blank) => stray |= !blank,
            }
        }
    }

    /// Appends the element whose start tag has just been read.
    fn capture_to(&mut self, xml: &mut String) -> Result<(), Halt> {
        let start = xml.len();
        let outer = self.depth;
        let name_end = start + 1 + self.tag.name().len();
        let declarations: Vec<(String, String)> = self.declarations();
        self.is_ours()?;
        self.push_start(xml);
        while self.depth >= outer {
            if self.empty {
                self.empty = false;
                self.close();
                continue;
            }
            self.capture_event(xml)?;
        }
        let mut needed = String::new();
        for (prefix, namespace) in declarations {
            let written = xml.get(start..).unwrap_or_default();
            match prefix.as_str() {
                "" => push_attribute(&["xmlns"], &namespace, &mut needed),
                prefix if uses(written, prefix) => push_attribute(&["xmlns:", prefix], &namespace, &mut needed),
                _ => {}
            }
        }
        if !needed.is_empty() && xml.is_char_boundary(name_end) {
            xml.insert_str(name_end, &needed);
        }
        Ok(())
    }

    /// The bindings in scope that the element just begun does not declare itself and that writing would lose.
    fn declarations(&self) -> Vec<(String, String)> {
        let own: Vec<&str> = self.namespaces.declared_at(self.depth).collect();
        let mut needed: Vec<(String, String)> = Vec::new();
        if !own.contains(&"") && self.namespaces.get("") != Some(NAMESPACE) {
            needed.push((String::new(), self.namespaces.get("").unwrap_or_default().to_owned()));
        }
        for (prefix, namespace) in self.namespaces.in_scope() {
            if !prefix.is_empty() && !own.contains(&prefix) {
                needed.push((prefix.to_owned(), namespace.to_owned()));
            }
        }
        needed
    }

    fn push_start(&self, xml: &mut String) {
        xml.push('<');
        xml.push_str(self.tag.as_str());
        xml.push_str(if self.empty { "/>" } else { ">" });
    }

    /// Appends one event as it stands.
    fn capture_event(&mut self, xml: &mut String) -> Result<Captured, Halt> {
        self.advance()?;
        let mut scratch = String::new();
        let event = self.tokens.next();
        let empty = matches!(event, Ok(Event::Empty(_)));
        match event {
            Ok(Event::Start(tag) | Event::Empty(tag)) => {
                self.tag.set(&tag);
                self.open(empty)?;
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
        Ok(Captured::Content(super::names::is_blank(&scratch)))
    }
}

enum Captured {
    Start,
    End,
    /// Character data, white space only or not.
    Content(bool),
}

/// True when markup may use a prefix, in a name or in a value.
fn uses(xml: &str, prefix: &str) -> bool {
    xml.match_indices(prefix).any(|(at, _)| xml.get(at + prefix.len()..).is_some_and(|rest| rest.starts_with(':')))
}
