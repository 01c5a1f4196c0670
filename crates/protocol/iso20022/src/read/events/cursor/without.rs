//! Elements that cannot be read and without which reading can continue: they are kept as markup,
//! and reported.
//!
//! - An optional element that contains an invalid value or lacks a mandatory part. The innermost
//!   such element is kept as markup.
//! - Where unknown parts are dropped, such an element is dropped and reported as unknown.
//! - A unit, such as an entry, on request. A reader of one part after the other returns it as an
//!   error and continues.

use super::Cursor;
use crate::extra::ExtraPart;
use crate::finding::{FindingKind, FurtherFindings};
use crate::read::error::{Halt, ReadError};
use crate::read::tokens::Mark;

/// The state to return to when the element whose start tag has just been read cannot be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenElement {
    /// Elements of the schema that are open, with this one.
    level: usize,
    /// The number of open elements, including this one.
    depth: usize,
}

impl Cursor<'_> {
    /// Returns the place of the element whose start tag has just been read.
    #[inline]
    pub(crate) fn place(&self) -> OpenElement {
        OpenElement {
            level: self.open.len(),
            depth: self.events.depth,
        }
    }

    /// Keeps the element at a place, which could not be read, as markup and reports the reason, if
    /// reading can do without the element. Otherwise the reason is the error.
    #[cold]
    pub(crate) fn do_without(
        &mut self,
        halt: Halt,
        place: OpenElement,
        may_miss: bool,
    ) -> Result<(), Halt> {
        // The level counts the element itself, so it is at least 1.
        let (around, name) = (place.level - 1, self.name_at(place.level - 1));
        let (group, unit) = (
            self.shape.is_group(around, name),
            self.shape.is_unit(around, name),
        );
        let asked = !unit || self.options.keep_unreadable;
        // Markup that is malformed or over a limit ends reading, because nothing after it can be
        // relied on. A group is never dropped, because its units would be lost with it.
        if !may_miss || group || !halt.is_of_content() {
            return Err(halt);
        }
        if !asked {
            // A reader of one part after the other also reads to the end of the unit before it
            // returns the error.
            if unit && self.is_tolerant() {
                self.skip_rest(place)?;
            }
            return Err(halt);
        }
        let mut xml = self.rest(place)?;
        if self.options.drop_unknown {
            let path = self.path_to(place.level);
            let mark = self.return_to(place);
            let start = self.events.position(mark).offset;
            self.found
                .retain(|finding| finding.position.is_none_or(|place| place.offset < start));
            let name = name.to_owned();
            self.report_at(FindingKind::UnknownElement { name }, path, mark);
            return Ok(());
        }
        // Reports before returning to the place, because the reason is about the innermost element.
        self.report_halt(&halt);
        self.return_to(place);
        self.events.transplant(&mut xml, 0)?;
        self.keep_part(ExtraPart::Xml(xml.into()))
    }

    /// Returns the error for the unit at a place that could not be read, after which reading
    /// continues; or the error that ends reading.
    #[cold]
    pub(crate) fn go_on(&mut self, halt: Halt, place: OpenElement) -> Result<Box<ReadError>, Halt> {
        if !halt.is_of_content() || !self.is_tolerant() {
            return Err(halt);
        }
        let xml = self.rest(place)?;
        self.events.hold(xml.len())?;
        let path = self.path();
        self.return_to(place);
        self.memory.left_out = true;
        let error = halt.into_error(path, Vec::new(), FurtherFindings::default());
        Ok(Box::new(error.with_unread(xml)))
    }

    /// Reads on to the end of the element at a place and returns all of it, as it stands.
    fn rest(&mut self, place: OpenElement) -> Result<String, Halt> {
        self.skip_rest(place)?;
        let start = self
            .open
            .get(place.level - 1)
            .map_or(self.events.mark, |step| step.mark);
        self.events.since(start)
    }

    /// Reads on to the end of the element at a place. An error there is one of this element,
    /// because what could not be read in it has another place.
    fn skip_rest(&mut self, place: OpenElement) -> Result<(), Halt> {
        let skipped = self.events.skip_to_end(place.depth);
        if skipped.is_err() {
            self.open.truncate(place.level);
        }
        skipped
    }

    /// Forgets the element at a place, but for its findings; returns where its start tag begins.
    fn return_to(&mut self, place: OpenElement) -> Mark {
        let mut mark = self.events.mark;
        while self.open.len() >= place.level
            && let Some(step) = self.open.pop()
        {
            if let Some(used) = step.outer {
                self.events.count_from(used);
            }
            mark = step.mark;
            self.sequence = step.sequence;
            self.parts.truncate(step.extras);
        }
        self.late = None;
        mark
    }
}
