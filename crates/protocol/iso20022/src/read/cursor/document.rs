//! The parts around a message: the document element, and what may be beside it.

use super::Cursor;
use crate::extra::Extra;
use crate::finding::{FindingKind, shown};
use crate::read::error::{Halt, ReadErrorKind};

impl Cursor<'_> {
    /// Reads up to the start tag of the message itself.
    pub(crate) fn open_document(&mut self) -> Result<(), Halt> {
        self.events.open_document()?;
        self.events.refuse_other_root(self.shape.document)?;
        self.open_message()
    }

    /// Reads from the start tag of a document element, which has just been read, up to that of the
    /// message itself.
    fn open_message(&mut self) -> Result<(), Halt> {
        self.push(self.shape.document);
        if let Some(found) = self
            .events
            .take_declared()
            .filter(|_| self.findings.is_of_text() || self.events.is_marked_utf8())
        {
            let found = shown(&found);
            self.report(FindingKind::DeclaredEncoding { found });
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
