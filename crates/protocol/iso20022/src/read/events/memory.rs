//! The memory that a document takes, within what its bytes allow.

use super::{Events, LimitKind, count};
use crate::read::error::Halt;
use crate::read::scan::growth;

/// The bytes of memory that any document may take, even a short one: enough for about a hundred
/// findings and as many parts beyond the schema, each of which takes hundreds of bytes.
const FREE_BYTES: u64 = 256 * 1024;

impl Events<'_> {
    /// Counts memory that the document takes; returns an error if it is too much for the bytes read
    /// so far.
    #[inline]
    pub(super) fn hold(&mut self, bytes: usize) -> Result<(), Halt> {
        self.add_held(bytes);
        if self.held > self.may_hold() {
            return Err(self.limit(LimitKind::Memory, self.limits.max_memory_per_byte));
        }
        Ok(())
    }

    /// Counts memory; when that is too much, the next part of the document is refused.
    #[inline]
    pub(super) fn add_held(&mut self, bytes: usize) {
        self.held = self.held.saturating_add(count(bytes));
    }

    /// Returns the bytes of memory that may still be taken.
    #[inline]
    pub(super) fn free(&self) -> usize {
        usize::try_from(self.may_hold().saturating_sub(self.held)).unwrap_or(usize::MAX)
    }

    /// Returns the bytes of memory that may be taken up to the current event.
    #[inline]
    fn may_hold(&self) -> u64 {
        // Uses the bytes of the source where they are counted, because decoding may lengthen a
        // text, which must not allow more memory.
        let read = self
            .mark
            .known
            .map_or(self.mark.text, |position| position.offset);
        let each = count(self.limits.max_memory_per_byte);
        FREE_BYTES.saturating_add(read.saturating_mul(each))
    }

    /// Returns true when there is room for one more element in a list, or the memory for it may be
    /// taken.
    #[inline]
    pub(super) fn has_room<V>(&self, items: &Vec<V>) -> bool {
        let before = items.capacity();
        if items.len() < before {
            return true;
        }
        self.held_with::<V>(before + self.grows_by::<V>(before)) <= self.may_hold()
    }

    /// Makes room for one more element in a list.
    #[inline]
    pub(super) fn make_room<V>(&mut self, items: &mut Vec<V>) -> Result<(), Halt> {
        let before = items.capacity();
        if items.len() < before {
            return Ok(());
        }
        // Reserves exactly, so that the memory counted is the memory taken.
        items.reserve_exact(self.grows_by::<V>(before));
        let moved = before * size_of::<V>();
        // While a list is moved, it takes memory in both places.
        self.hold(items.capacity() * size_of::<V>())?;
        // The list has been moved, so its old place is free again.
        self.held -= count(moved);
        Ok(())
    }

    /// Returns the number of elements that a full list grows by. The list doubles while its double
    /// is within a quarter of the free memory, so that it is seldom moved.
    #[inline]
    fn grows_by<V>(&self, before: usize) -> usize {
        let plenty = self.held_with::<V>(before * 2) <= self.may_hold() / 4;
        if plenty {
            before.max(1)
        } else {
            growth(before)
        }
    }

    /// Returns the bytes of memory taken, with those of a list of this many elements.
    #[inline]
    fn held_with<V>(&self, capacity: usize) -> u64 {
        let bytes = capacity.saturating_mul(size_of::<V>());
        self.held.saturating_add(count(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::ReadLimits;
    use crate::read::events::EventsOver;
    use crate::read::tokens::TextTokens;

    fn events() -> Box<Events<'static>> {
        let limits = ReadLimits::default().max_memory_per_byte(0);
        Box::new(EventsOver::new(TextTokens::new(""), limits, "urn:x"))
    }

    #[test]
    fn a_quarter_of_a_mebibyte_is_free() {
        let mut events = events();
        assert_eq!((events.free(), events.held), (262_144, 0));
        assert!(events.hold(262_143).is_ok());
        assert_eq!((events.free(), events.held), (1, 262_143));
        assert!(events.hold(1).is_ok());
        assert_eq!(events.free(), 0);
        assert!(events.hold(1).is_err());
        assert_eq!(events.free(), 0);
    }

    /// A list doubles while its double is within a quarter of the free memory, then grows by half,
    /// and is counted twice while it is moved.
    #[test]
    fn a_list_takes_the_memory_that_it_has_room_for() {
        assert_eq!(
            rooms::<64>(),
            [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 768, 1_152, 1_728]
        );
        assert_eq!(
            rooms::<96>(),
            [1, 2, 4, 8, 16, 32, 64, 128, 256, 384, 576, 864, 1_296]
        );
    }

    /// Returns the lengths that a list of items of this many bytes grows to.
    fn rooms<const BYTES: usize>() -> Vec<usize> {
        let mut events = events();
        let mut items: Vec<[u8; BYTES]> = Vec::new();
        let mut rooms = Vec::new();
        while events.has_room(&items) {
            assert!(events.make_room(&mut items).is_ok());
            assert_eq!(
                events.held,
                u64::try_from(items.capacity() * BYTES).unwrap()
            );
            items.push([0; BYTES]);
            rooms.push(items.capacity());
        }
        rooms.dedup();
        assert_eq!(rooms.last(), Some(&items.len()));
        assert!(events.make_room(&mut items).is_err());
        rooms
    }
}
