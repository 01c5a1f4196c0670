//! The places for the occurrences of one element while a sequence is read.

use super::Node;
use crate::field::Tag;
use crate::read::{Cursor, Halt, Tokens};

/// The place for the occurrences of one element.
pub trait Slot {
    /// How many have been read.
    fn count(&self) -> usize;
    /// True when the place takes no more.
    fn is_full(&self) -> bool;
    /// Reads one more.
    fn fill<T: Tokens>(&mut self, from: &mut Cursor<T>) -> Result<(), Halt>;
    /// Reads further ones as long as they follow as the writer writes them.
    fn fill_ahead<T: Tokens>(&mut self, _: &'static Tag, _: &mut Cursor<T>) -> Result<(), Halt> {
        Ok(())
    }
}

impl<N: Node> Slot for Option<N> {
    fn count(&self) -> usize {
        usize::from(self.is_some())
    }

    fn is_full(&self) -> bool {
        self.is_some()
    }

    fn fill<T: Tokens>(&mut self, from: &mut Cursor<T>) -> Result<(), Halt> {
        *self = Some(N::read(from)?);
        Ok(())
    }
}

impl<N: Node> Slot for Vec<N> {
    fn count(&self) -> usize {
        self.len()
    }

    fn is_full(&self) -> bool {
        false
    }

    fn fill<T: Tokens>(&mut self, from: &mut Cursor<T>) -> Result<(), Halt> {
        from.make_room(self)?;
        self.push(N::read(from)?);
        Ok(())
    }

    fn fill_ahead<T: Tokens>(&mut self, tag: &'static Tag, from: &mut Cursor<T>) -> Result<(), Halt> {
        while let Ok(item) = from.scan_element(tag, self.len()) {
            from.make_room(self)?;
            self.push(item);
        }
        Ok(())
    }
}
