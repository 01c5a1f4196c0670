//! An alternative of a choice while it is read.

use super::{Node, Slot};
use crate::field::{MANY, Tag};
use crate::read::{Cursor, Halt, NotPlain, Scanner};

/// An alternative of a choice while it is read. Most alternatives occur once; one type of
/// alternative occurs several times.
pub trait Alternative: Sized {
    /// Reads the first occurrence.
    fn first(from: &mut Cursor<'_>) -> Result<Self, Halt>;
    /// Reads a further occurrence, if the schema has one.
    fn more(&mut self, from: &mut Cursor<'_>) -> Result<bool, Halt>;
    /// Reads all occurrences as the writer writes them, if there are any.
    fn scan_all(from: &mut Scanner<'_>, tag: &'static Tag) -> Result<Option<Self>, NotPlain>;
}

impl<N: Node> Alternative for N {
    fn first(from: &mut Cursor<'_>) -> Result<Self, Halt> {
        N::read(from)
    }

    fn more(&mut self, _: &mut Cursor<'_>) -> Result<bool, Halt> {
        Ok(false)
    }

    #[inline]
    fn scan_all(from: &mut Scanner<'_>, tag: &'static Tag) -> Result<Option<Self>, NotPlain> {
        from.maybe(tag)
    }
}

impl<N: Node> Alternative for Vec<N> {
    fn first(from: &mut Cursor<'_>) -> Result<Self, Halt> {
        let mut items = Self::new();
        items.more(from)?;
        Ok(items)
    }

    fn more(&mut self, from: &mut Cursor<'_>) -> Result<bool, Halt> {
        from.set_index(self.len());
        self.fill(from)?;
        Ok(true)
    }

    fn scan_all(from: &mut Scanner<'_>, tag: &'static Tag) -> Result<Option<Self>, NotPlain> {
        from.many(tag, MANY)
            .map(|items| if items.is_empty() { None } else { Some(items) })
    }
}
