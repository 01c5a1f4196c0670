//! The parts around the document element: what may be before and behind it, and which element it
//! has to be.

use super::{Events, check_instruction, not_well_formed};
use crate::finding::shown;
use crate::read::attributes::malformed;
use crate::read::cursor::Shape;
use crate::read::declaration;
use crate::read::error::{Halt, ReadErrorKind};
use crate::version::Version;
use crate::xml::is_blank;
use quick_xml::events::Event;

impl Events<'_> {
    /// Reads up to the start tag of the document element.
    pub(crate) fn open_document(&mut self) -> Result<(), Halt> {
        loop {
            self.advance()?;
            let event = self.tokens.next();
            // Noted before the event is taken apart: an empty document element ends with the next
            // event.
            self.empty = matches!(event, Ok(Event::Empty(_)));
            let checked = match event {
                Ok(Event::Start(tag) | Event::Empty(tag)) => {
                    self.tag.set(&tag);
                    return self.open();
                }
                // At the very beginning only: even white space before a declaration is malformed.
                // The event has the `xml` of the declaration, which is cut off.
                Ok(Event::Decl(declaration)) if self.mark.text == 0 => {
                    declaration::check(declaration.get(3..).unwrap_or_default())
                        .map(|encoding| self.declared = encoding)
                }
                other => outside(other),
            };
            self.content(checked)?;
        }
    }

    /// Refuses the element just begun, a document element, when it has another name, or a namespace
    /// that is not one of the messages in these versions. Returns the message and the version.
    pub(crate) fn take_version(
        &mut self,
        shapes: &[&'static Shape],
        versions: [Version; 2],
    ) -> Result<(&'static Shape, Version), Halt> {
        // First of all, because a malformed name or an unbound prefix is the graver error.
        self.is_ours()?;
        if shapes
            .iter()
            .all(|shape| self.tag.local_name() != shape.document)
        {
            let found = shown(self.tag.local_name());
            let expected = "Document";
            return Err(self.halt(ReadErrorKind::WrongRoot { expected, found }));
        }
        let found = self.namespaces.get(self.tag.prefix().unwrap_or_default());
        let is_of = |shape: &&'static Shape| Some((*shape, shape.version_of(found?, versions)?));
        if let Some((shape, version)) = shapes.iter().find_map(is_of) {
            self.namespaces.adopt(shape.namespace(version));
            self.version = shape.known(version);
            return Ok((shape, version));
        }
        let found = found.map_or_else(|| "none".to_owned(), shown_end);
        let expected: Vec<_> = shapes
            .iter()
            .map(|shape| shape.namespaces(versions))
            .collect();
        let expected = expected.join(" or ");
        Err(self.halt(ReadErrorKind::WrongNamespace { expected, found }))
    }

    /// Reads from the end tag of the document element to the end of the document.
    pub(crate) fn close_document(&mut self) -> Result<(), Halt> {
        loop {
            self.advance()?;
            let checked = match self.tokens.next() {
                Ok(Event::Eof) => return Ok(()),
                Ok(Event::Start(_) | Event::Empty(_)) => {
                    Err(malformed("expected one document element"))
                }
                other => outside(other),
            };
            self.content(checked)?;
        }
    }
}

/// Accepts only what is allowed beside the document element: white space, comments, processing
/// instructions.
fn outside(event: Result<Event<'_>, quick_xml::Error>) -> Result<(), ReadErrorKind> {
    match event {
        Ok(Event::Text(text)) if is_blank(&text) => Ok(()),
        Ok(Event::Comment(_)) => Ok(()),
        Ok(Event::PI(instruction)) => check_instruction(instruction.target()),
        Ok(Event::Decl(_)) => Err(malformed(
            "expected the XML declaration at the very beginning",
        )),
        Ok(Event::DocType(_)) => Err(ReadErrorKind::DocumentType),
        Ok(Event::Eof) => Err(ReadErrorKind::NotXml { found: "nothing" }),
        Ok(_) => Err(malformed(
            "expected nothing but white space beside the document element",
        )),
        Err(error) => Err(not_well_formed(&error)),
    }
}

/// Returns the end of a namespace, with message and version, for an error text.
fn shown_end(namespace: &str) -> String {
    const KEPT: usize = 60;
    let start = namespace
        .char_indices()
        .nth_back(KEPT - 1)
        .map_or(0, |(start, _)| start);
    let cut = if start > 0 { "…" } else { "" };
    format!(
        "{cut}{}",
        namespace.get(start..).unwrap_or_default().escape_debug()
    )
}
