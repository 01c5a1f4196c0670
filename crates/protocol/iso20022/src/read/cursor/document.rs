//! The parts around a message: the document element, and what may be beside it.

use super::{Cursor, Shape};
use crate::extra::Extra;
use crate::finding::{FindingKind, shown};
use crate::read::error::{Halt, ReadErrorKind};

impl Cursor<'_> {
    /// Reads the start tag of the document element, and takes the message of its namespace.
    pub(crate) fn find_message(&mut self, shapes: &[&'static Shape]) -> Result<(), Halt> {
        self.events.open_document()?;
        let versions = self.findings.versions();
        (self.shape, self.version) = self.events.take_version(shapes, versions)?;
        Ok(())
    }

    /// Reads from the start tag of a document element, which has just been read, up to that of the
    /// message itself.
    pub(crate) fn open_message(&mut self) -> Result<(), Halt> {
        self.push(self.shape.document);
        if let Some(found) = self
            .events
            .take_declared()
            .filter(|_| self.findings.is_of_text() || self.events.is_marked_utf8())
        {
            let found = shown(&found);
            self.report(FindingKind::DeclaredEncoding { found });
        }
        if let Some(kind) = self.shape.newer(self.version) {
            self.report(kind);
        }
        self.begin()?;
        match self.alternative(self.shape.root)? {
            Some(_) => Ok(()),
            None => Err(match self.findings.unknown_element() {
                Some(found) => self.halt_here(ReadErrorKind::WrongRoot {
                    expected: self.shape.root_name(),
                    found,
                }),
                None => self.missing(self.shape.root_name()),
            }),
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

    /// Reads from the end of the message to the end of the document. Returns the parts there beyond
    /// the schema.
    pub(crate) fn close_document(&mut self) -> Result<Vec<Extra>, Halt> {
        self.leave_document()?;
        self.events.close_document()?;
        Ok(self.keeper.take_all())
    }
}
