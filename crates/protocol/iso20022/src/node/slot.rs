//! Sequences while they are read, and the places for the occurrences of one element.

use super::{Content, Node};
use crate::extra::Extras;
use crate::field::{Field, Tag};
use crate::read::{Ahead, Cursor, Halt, NotPlain, Scanner};

/// A sequence that can be read element by element.
pub trait Record: Sized {
    /// The elements read so far.
    type Slots: Clone + Default;
    /// The elements of the sequence in the order of the schema.
    const FIELDS: &'static [Field];
    /// Reads the element whose start tag has just been read.
    fn take(slots: &mut Self::Slots, index: usize, from: &mut Cursor<'_>) -> Result<(), Halt>;
    /// Reads the next element into its place if all of it is as the writer writes it. Returns
    /// false, having read nothing, if it is not or if there is no room.
    fn take_ahead(
        slots: &mut Self::Slots,
        index: usize,
        ahead: Ahead,
        from: &mut Cursor<'_>,
    ) -> Result<bool, Halt>;
    /// Makes the value of the elements read, after checking that the mandatory ones are present.
    fn finish(slots: Self::Slots, from: &mut Cursor<'_>) -> Result<Self, Halt>;
    /// Returns the parts beyond the schema.
    fn extras(&self) -> &Extras;
    /// Returns the parts beyond the schema, for changing them.
    fn extras_mut(&mut self) -> &mut Extras;
}

/// The place for the occurrences of one element.
pub trait Slot: Content + Sized {
    /// True if the slot is a list.
    const IS_LIST: bool;
    /// Puts one more occurrence into its place.
    fn put(&mut self, item: Self::Item);
    /// Removes all but the first `count` occurrences.
    fn truncate(&mut self, count: usize);
    /// Reads up to `max` elements as the writer writes them.
    fn scan(from: &mut Scanner<'_>, tag: &'static Tag, max: u32) -> Result<Self, NotPlain>;

    /// Returns true when there is room for one more occurrence, or the memory for it may be taken.
    fn has_room(&self, _: &Cursor<'_>) -> bool {
        true
    }

    /// Makes room for one more occurrence.
    fn make_room(&mut self, _: &mut Cursor<'_>) -> Result<(), Halt> {
        Ok(())
    }

    /// Returns the number of occurrences read.
    fn count(&self) -> usize {
        self.items().len()
    }

    /// Reads one more occurrence.
    fn fill(&mut self, from: &mut Cursor<'_>) -> Result<(), Halt> {
        // Makes room before the element is read, so that the limit is met before its parts take
        // memory.
        self.make_room(from)?;
        self.put(Self::Item::read(from)?);
        Ok(())
    }

    /// Reads the next occurrence if all of it is as the writer writes it. Returns false, having
    /// read nothing, if it is not or if the schema allows no more.
    fn fill_ahead(
        &mut self,
        field: Field,
        tag: &'static Tag,
        ahead: Ahead,
        from: &mut Cursor<'_>,
    ) -> Result<bool, Halt> {
        // Without room, the element is left to the reader over events, which reports it or keeps it
        // as markup in excess.
        if !field.allows(self.count()) || !self.has_room(from) {
            return Ok(false);
        }
        // Makes room before the element is taken, because `put` cannot return an error.
        self.make_room(from)?;
        let number = (field.max > 1).then_some(self.count());
        Ok(from.scan_element(self, tag, number, ahead).is_ok())
    }
}

impl<N: Node> Slot for Option<N> {
    const IS_LIST: bool = false;

    fn put(&mut self, item: N) {
        *self = Some(item);
    }

    fn truncate(&mut self, count: usize) {
        if count == 0 {
            *self = None;
        }
    }

    #[inline(always)]
    fn scan(from: &mut Scanner<'_>, tag: &'static Tag, _: u32) -> Result<Self, NotPlain> {
        from.maybe(tag)
    }
}

impl<N: Node> Slot for Vec<N> {
    const IS_LIST: bool = true;

    #[inline]
    fn put(&mut self, item: N) {
        self.push(item);
    }

    fn truncate(&mut self, count: usize) {
        self.truncate(count);
    }

    #[inline(always)]
    fn scan(from: &mut Scanner<'_>, tag: &'static Tag, max: u32) -> Result<Self, NotPlain> {
        from.many(tag, max)
    }

    fn has_room(&self, from: &Cursor<'_>) -> bool {
        from.has_room(self)
    }

    fn make_room(&mut self, from: &mut Cursor<'_>) -> Result<(), Halt> {
        from.make_room(self)
    }
}
