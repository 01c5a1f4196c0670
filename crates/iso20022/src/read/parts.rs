//! The parts of a sequence at its end, by cardinality.

use super::cursor::Cursor;
use super::error::ReadErrorKind;
use super::halt::Halt;
use super::tokens::Tokens;
use crate::finding::FindingKind;

impl<T: Tokens> Cursor<T> {
    /// `1..1`
    pub fn one<V>(&mut self, slot: Option<V>, name: &'static str) -> Result<V, Halt> {
        match slot {
            Some(value) => Ok(value),
            None => Err(self.halt_here(ReadErrorKind::Missing { name: name.to_owned() })),
        }
    }

    /// `1..1 ~`
    pub fn soft<V>(&mut self, slot: Option<V>, name: &'static str) -> Result<Option<V>, Halt> {
        if slot.is_none() {
            self.report(FindingKind::Missing { name: name.to_owned() });
        }
        Ok(slot)
    }

    /// `0..1`
    #[allow(clippy::unused_self, clippy::unnecessary_wraps)] // the same form for every cardinality
    pub fn maybe<V>(&mut self, slot: Option<V>, _: &'static str) -> Result<Option<V>, Halt> {
        Ok(slot)
    }

    /// `0..*`
    #[allow(clippy::unused_self, clippy::unnecessary_wraps)]
    pub fn many<V>(&mut self, slot: Vec<V>, _: &'static str) -> Result<Vec<V>, Halt> {
        Ok(slot)
    }

    /// `1..*`
    pub fn some<V>(&mut self, slot: Vec<V>, name: &'static str) -> Result<Vec<V>, Halt> {
        if slot.is_empty() && self.handed_out != Some(name) {
            return Err(self.halt_here(ReadErrorKind::Missing { name: name.to_owned() }));
        }
        Ok(slot)
    }
}
