//! The parts around a message: the document element, and what may be around and after it.

use super::{Cursor, Used};
use crate::extra::Extra;
use crate::field::DOCUMENT;
use crate::finding::{FindingKind, shown};
use crate::read::error::{Halt, ReadError, ReadErrorKind};
use crate::read::shape::Shape;
use crate::watch::Memory;

impl Cursor<'_> {
    /// Reads the start tag of the next document of one of the messages in `shapes`, skipping what
    /// is around it; returns false at the end of the input and after an error.
    pub(crate) fn find_document(&mut self, shapes: &[&'static Shape]) -> Result<bool, ReadError> {
        if self.ended {
            return Ok(false);
        }
        let found = self.find_next(shapes);
        self.ended = !matches!(found, Ok(true));
        found.map_err(|halt| self.error(halt))
    }

    fn find_next(&mut self, shapes: &[&'static Shape]) -> Result<bool, Halt> {
        // Resets everything of the previous document, except the memory that it took.
        self.among_others = true;
        self.handed_out = None;
        self.memory = Memory::default();
        self.events.count_from(Used::default());
        let (is_text, around) = (self.options.text, &mut self.around);
        if !self.events.next_document(is_text, around)? {
            return Ok(false);
        }
        self.events.count_from(Used::DOCUMENT);
        self.take_version(shapes)?;
        Ok(true)
    }

    /// Takes the message of the document element just begun, and its version.
    fn take_version(&mut self, shapes: &[&'static Shape]) -> Result<(), Halt> {
        let versions = self.options.all_versions();
        (self.shape, self.version) = self.events.take_version(shapes, versions)?;
        self.schema = self.shape.known(self.version);
        Ok(())
    }

    /// Returns the error of a document that follows another, where one was to be read.
    pub fn another(&mut self) -> ReadError {
        let halt = self.events.halt(ReadErrorKind::SeveralDocuments);
        self.error(halt)
    }

    /// Counts the memory of one whole document of possibly many.
    pub(crate) fn hold_document(&mut self, bytes: usize) -> Result<(), Halt> {
        if self.among_others {
            self.hold(bytes)?;
        }
        Ok(())
    }

    /// Reads the start tag of the document element, and takes the message of its namespace.
    pub(crate) fn find_message(&mut self, shapes: &[&'static Shape]) -> Result<(), Halt> {
        self.events.open_document()?;
        self.take_version(shapes)
    }

    /// Reads from the start tag of a document element, which has just been read, up to that of the
    /// message itself.
    pub(crate) fn open_message(&mut self) -> Result<(), Halt> {
        self.push(DOCUMENT.wire);
        if let Some(found) = self
            .events
            .declared
            .as_deref()
            .map(shown)
            .filter(|_| self.options.text || self.events.is_marked_utf8())
        {
            self.report(FindingKind::DeclaredEncoding { found });
        }
        if let Some(kind) = self.shape.newer(self.version) {
            self.report(kind);
        }
        self.report_other_message();
        self.begin()?;
        match self.alternative(self.shape.root)? {
            Some(_) => Ok(()),
            None => Err(match self.unknown_element() {
                Some(found) => self.halt_here(ReadErrorKind::WrongRoot {
                    expected: self.shape.root_name(),
                    found,
                }),
                None => self.missing(self.shape.root_name()),
            }),
        }
    }

    /// Returns the name of the first element found that the schema does not have.
    fn unknown_element(&self) -> Option<String> {
        self.found.iter().find_map(|finding| match &finding.kind {
            FindingKind::UnknownElement { name } => Some(name.clone()),
            _ => None,
        })
    }

    /// Reports an application header that names another message.
    fn report_other_message(&mut self) {
        let header = self
            .around
            .as_ref()
            .and_then(|around| around.header.as_ref());
        let Some(named) = header.and_then(|header| header.message.as_deref()) else {
            return;
        };
        let namespace = self.shape.namespace(self.version);
        let found = namespace.rsplit(':').next().unwrap_or_default();
        if named != found {
            let (header, found) = (shown(named), found.to_owned());
            self.report(FindingKind::HeaderMessage { header, found });
        }
    }

    /// Reads from the end of the message to the end tag of the document element.
    fn leave_document(&mut self) -> Result<(), Halt> {
        while self.alternative(self.shape.root)?.is_some() {
            self.refuse_repeated(self.shape.root_name())?;
        }
        self.leave();
        Ok(())
    }

    /// Reads from the end of the message to the end of the document, and of the input unless others
    /// may follow. Returns the parts there beyond the schema.
    pub(crate) fn close_document(&mut self) -> Result<Vec<Extra>, Halt> {
        self.leave_document()?;
        if !self.among_others {
            self.events.close_document()?;
        }
        Ok(std::mem::take(&mut self.parts))
    }
}
