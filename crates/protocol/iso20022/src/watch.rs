//! Rules beyond the schema: their input, their memory, and the reader or checker that they report
//! to.

use crate::finding::FindingKind;
use std::any::Any;
use std::fmt;

/// The reader or checker that a rule beyond the schema reports to.
pub trait Watch {
    /// Returns the memory of this message's rules; `None` if there is none.
    fn memory(&mut self) -> Option<&mut Memory>;

    /// Reports a finding about the current element.
    fn report(&mut self, kind: FindingKind);
}

/// The memory of a message's rules from one element to the next, such as running totals. The engine
/// does not know its type; it is made when a rule first asks for it.
#[derive(Default)]
pub struct Memory {
    rules: Option<Box<dyn Any + Send + Sync>>,
    /// True if a unit of the group could not be read and was left out.
    pub(crate) left_out: bool,
}

impl Memory {
    /// Returns the memory of type `M`; a new one if there was none or it was of another type.
    pub fn get<M: Any + Default + Send + Sync>(&mut self) -> &mut M {
        if !self.rules.as_ref().is_some_and(|memory| memory.is::<M>()) {
            self.rules = Some(Box::<M>::default());
        }
        let memory = self.rules.as_mut().and_then(|memory| memory.downcast_mut());
        memory.expect("it was just made of this type")
    }

    /// Returns true at the end of a group if one of its units could not be read and was left out,
    /// and resets the mark.
    pub fn take_left_out(&mut self) -> bool {
        std::mem::take(&mut self.left_out)
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Memory")
            .field(&self.rules.is_some())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_stays_until_another_type_is_asked_for() {
        let mut memory = Memory::default();
        assert_eq!(format!("{memory:?}"), "Memory(false)");
        *memory.get::<u32>() += 5;
        *memory.get::<u32>() += 5;
        assert_eq!(*memory.get::<u32>(), 10);
        assert_eq!(format!("{memory:?}"), "Memory(true)");
        assert_eq!(*memory.get::<u64>(), 0);
        assert_eq!(*memory.get::<u32>(), 0);
    }
}
