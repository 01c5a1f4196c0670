//! What becomes of the parts of a sequence at its end, by cardinality.

use super::cursor::{Cursor, Halt};
use super::error::ReadErrorKind;
use super::tokens::Tokens;
use crate::finding::FindingKind;

impl<T: Tokens> Cursor<T> {
    pub(crate) fn one<V>(&mut self, slot: Option<V>, name: &'static str) -> Result<V, Halt> {
        match slot {
            Some(value) => Ok(value),
            None => Err(self.halt_here(ReadErrorKind::Missing { name: name.to_owned() })),
        }
    }

    pub(crate) fn soft<V>(&mut self, slot: Option<V>, name: &'static str) -> Result<Option<V>, Halt> {
        if slot.is_none() {
            self.report(FindingKind::Missing { name: name.to_owned() });
        }
        Ok(slot)
    }

    #[allow(clippy::unused_self, clippy::unnecessary_wraps)] // the same form for every cardinality
    pub(crate) fn maybe<V>(&mut self, slot: Option<V>, _: &'static str) -> Result<Option<V>, Halt> {
        Ok(slot)
    }

    #[allow(clippy::unused_self, clippy::unnecessary_wraps)]
    pub(crate) fn many<V>(&mut self, slot: Vec<V>, _: &'static str) -> Result<Vec<V>, Halt> {
        Ok(slot)
    }

    pub(crate) fn some<V>(&mut self, slot: Vec<V>, name: &'static str) -> Result<Vec<V>, Halt> {
        if slot.is_empty() {
            return Err(self.halt_here(ReadErrorKind::Missing { name: name.to_owned() }));
        }
        Ok(slot)
    }
}
