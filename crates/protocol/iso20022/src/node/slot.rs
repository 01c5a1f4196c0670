//! The places for the occurrences of one element while a sequence is read.

use super::Node;
use crate::field::{Field, Tag};
use crate::read::{Ahead, Cursor, Halt, Odd, Scanner};

/// The place for the occurrences of one element.
pub trait Slot: Sized {
    /// The type of each occurrence.
    type Item: Node;
    /// True for a list.
    const IS_LIST: bool;
    /// Returns the number of occurrences read.
    fn count(&self) -> usize;
    /// Reads one more.
    fn fill(&mut self, from: &mut Cursor<'_>) -> Result<(), Halt>;
    /// Puts one more into its place.
    fn put(&mut self, item: Self::Item);
    /// Returns the last one.
    fn last(&self) -> Option<&Self::Item>;
    /// Removes all but the first `count`.
    fn truncate(&mut self, count: usize);
    /// Reads up to `max` elements as the writer writes them.
    fn scan(from: &mut Scanner<'_>, tag: &'static Tag, max: u32) -> Result<Self, Odd>;
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
    type Item = N;
    const IS_LIST: bool = false;

    fn count(&self) -> usize {
        usize::from(self.is_some())
    }

    fn fill(&mut self, from: &mut Cursor<'_>) -> Result<(), Halt> {
        *self = Some(N::read(from)?);
        Ok(())
    }

    fn put(&mut self, item: N) {
        *self = Some(item);
    }

    fn last(&self) -> Option<&N> {
        self.as_ref()
    }

    fn truncate(&mut self, count: usize) {
        if count == 0 {
            *self = None;
        }
    }

    #[inline(always)]
    fn scan(from: &mut Scanner<'_>, tag: &'static Tag, max: u32) -> Result<Self, Odd> {
        from.maybe(tag, max)
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
        Ok(from.scan_element(self, tag, None, ahead).is_ok())
    }
}

impl<N: Node> Slot for Vec<N> {
    type Item = N;
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

    #[inline]
    fn put(&mut self, item: N) {
        self.push(item);
    }

    fn last(&self) -> Option<&N> {
        self.as_slice().last()
    }

    fn truncate(&mut self, count: usize) {
        self.truncate(count);
    }

    #[inline(always)]
    fn scan(from: &mut Scanner<'_>, tag: &'static Tag, max: u32) -> Result<Self, Odd> {
        from.many(tag, max)
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
        let number = (field.max > 1).then_some(self.len());
        Ok(from.scan_element(self, tag, number, ahead).is_ok())
    }
}
