//! The places for the occurrences of one element while a sequence is read.

use super::Node;
use crate::field::{Field, Tag};
use crate::read::{Ahead, Cursor, Halt};

/// The place for the occurrences of one element.
pub trait Slot {
    /// True for a list.
    const IS_LIST: bool;
    /// Returns the number of occurrences read.
    fn count(&self) -> usize;
    /// Reads one more.
    fn fill(&mut self, from: &mut Cursor<'_>) -> Result<(), Halt>;
    /// Reads the one that comes next if all of it is as the writer writes it. False when it is not
    /// or when the schema has no more; then nothing has been read.
    fn fill_ahead(
        &mut self,
        field: Field,
        tag: &'static Tag,
        ahead: Ahead,
        from: &mut Cursor<'_>,
    ) -> Result<bool, Halt>;
}

impl<N: Node> Slot for Option<N> {
    const IS_LIST: bool = false;

    fn count(&self) -> usize {
        usize::from(self.is_some())
    }

    fn fill(&mut self, from: &mut Cursor<'_>) -> Result<(), Halt> {
        *self = Some(N::read(from)?);
        Ok(())
    }

    fn fill_ahead(
        &mut self,
        _: Field,
        tag: &'static Tag,
        ahead: Ahead,
        from: &mut Cursor<'_>,
    ) -> Result<bool, Halt> {
        // A second occurrence is kept as markup, which only the reader over events can do.
        if self.is_some() {
            return Ok(false);
        }
        Ok(from
            .scan_element(tag, None, ahead, |item| *self = Some(item))
            .is_ok())
    }
}

impl<N: Node> Slot for Vec<N> {
    const IS_LIST: bool = true;

    fn count(&self) -> usize {
        self.len()
    }

    fn fill(&mut self, from: &mut Cursor<'_>) -> Result<(), Halt> {
        // Before the element is read, so that the limit is met before its parts take memory.
        from.make_room(self)?;
        self.push(N::read(from)?);
        Ok(())
    }

    fn fill_ahead(
        &mut self,
        field: Field,
        tag: &'static Tag,
        ahead: Ahead,
        from: &mut Cursor<'_>,
    ) -> Result<bool, Halt> {
        // Without room, the element is left to the reader over events, which reports it.
        if !field.allows(self.len()) || !from.has_room(self) {
            return Ok(false);
        }
        // Before the element is taken, because `push` cannot return an error.
        from.make_room(self)?;
        Ok(from
            .scan_element(tag, (field.max > 1).then_some(self.len()), ahead, |item| {
                self.push(item)
            })
            .is_ok())
    }
}
