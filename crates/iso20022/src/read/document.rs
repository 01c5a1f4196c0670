//! The parts around a message: the document element, and what may be beside it.

use super::attributes::malformed;
use super::cursor::Cursor;
use super::declaration;
use super::error::ReadErrorKind;
use super::events::{check_instruction, not_well_formed};
use super::halt::Halt;
use super::tokens::Tokens;
use crate::extra::Extra;
use crate::finding::shown;
use crate::xml::is_blank;
use quick_xml::events::Event;

impl<T: Tokens> Cursor<T> {
    /// Reads up to the start tag of the document element and checks it.
    pub(crate) fn open_document(&mut self) -> Result<(), Halt> {
        loop {
            self.events.advance()?;
            let event = self.events.tokens.next();
            let empty = matches!(event, Ok(Event::Empty(_)));
            let checked = match event {
                Ok(Event::Start(tag) | Event::Empty(tag)) => {
                    self.events.tag.set(&tag);
                    self.events.open(empty)?;
                    return self.check_root();
                }
                Ok(Event::Decl(declaration)) if self.events.mark.text == 0 => {
                    declaration::check(declaration.get(3..).unwrap_or_default())
                }
                other => outside(other),
            };
            self.events.content(checked)?;
        }
    }

    /// Checks the document element, whose start tag has just been read.
    pub(crate) fn check_root(&mut self) -> Result<(), Halt> {
        let ours = self.events.is_ours()?;
        let tag = &self.events.tag;
        if tag.local_name() != self.shape.document {
            let found = shown(tag.local_name());
            return Err(self.events.halt(ReadErrorKind::WrongRoot { found }));
        }
        if !ours {
            let found = self.events.namespaces.get(tag.prefix().unwrap_or_default());
            let found = found.map_or_else(|| "none".to_owned(), shown_end);
            return Err(self.events.halt(ReadErrorKind::WrongNamespace { expected: self.shape.namespace, found }));
        }
        self.events.refuse_nil()?;
        self.push(self.shape.document);
        self.begin()
    }

    /// Reads up to the start tag of the message itself.
    pub(crate) fn open_message(&mut self) -> Result<(), Halt> {
        match self.alternative(self.shape.root)? {
            Some(_) => Ok(()),
            None => Err(self.halt_here(ReadErrorKind::Missing { name: self.shape.root_name().to_owned() })),
        }
    }

    /// Reads from the end of the message to the end tag of the document element.
    pub(crate) fn leave_document(&mut self) -> Result<(), Halt> {
        while self.alternative(self.shape.root)?.is_some() {
            self.refuse_repeated(self.shape.root_name())?;
        }
        self.leave();
        Ok(())
    }

    /// Reads from the end of the message to the end of the document. Returns the parts there beyond the schema.
    pub(crate) fn close_document(&mut self) -> Result<Vec<Extra>, Halt> {
        self.leave_document()?;
        loop {
            self.events.advance()?;
            let event = self.events.tokens.next();
            if matches!(event, Ok(Event::Eof)) {
                return Ok(self.keeper.take_all());
            }
            let checked = match event {
                Ok(Event::Start(_) | Event::Empty(_)) => Err(malformed("expected one document element")),
                other => outside(other),
            };
            self.events.content(checked)?;
        }
    }
}

/// Accepts only what is allowed beside the document element: white space, comments, processing instructions.
fn outside(event: Result<Event<'_>, quick_xml::Error>) -> Result<(), ReadErrorKind> {
    match event {
        Ok(Event::Text(text)) if is_blank(&text) => Ok(()),
        Ok(Event::Comment(_)) => Ok(()),
        Ok(Event::PI(instruction)) => check_instruction(instruction.target()),
        Ok(Event::Decl(_)) => Err(malformed("expected the XML declaration at the very beginning")),
        Ok(Event::DocType(_)) => Err(ReadErrorKind::DocumentType),
        Ok(Event::Eof) => Err(malformed("expected a document element, found the end of the document")),
        Ok(_) => Err(malformed("expected nothing but white space beside the document element")),
        Err(error) => Err(not_well_formed(&error)),
    }
}

/// The end of a namespace, with message and version, for an error text.
fn shown_end(namespace: &str) -> String {
    const KEPT: usize = 60;
    let start = namespace.char_indices().nth_back(KEPT - 1).map_or(0, |(start, _)| start);
    let cut = if start > 0 { "…" } else { "" };
    format!("{cut}{}", namespace.get(start..).unwrap_or_default().escape_debug())
}
