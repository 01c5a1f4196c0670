//! Sequences, read element by element.

use super::{Child, Cursor};
use crate::field::Field;
use crate::finding::FindingKind;
use crate::node::{Node, Record, Slot};
use crate::read::error::Halt;

impl Cursor<'_> {
    /// Reads a sequence.
    pub fn record<R: Record + Node>(&mut self) -> Result<R, Halt> {
        self.enter_record()?;
        let mut slots = R::Slots::default();
        let mut at = 0;
        loop {
            // Reads as far as the fast reader gets; `child` then begins the one element that it
            // declined.
            self.read_ahead::<R>(&mut slots, &mut at, "")?;
            match self.child(R::FIELDS, &mut at)? {
                Child::Field(index) => R::take(&mut slots, index, self)?,
                Child::Unknown => {}
                Child::End => break,
            }
        }
        let record = R::finish(slots, self)?;
        // Applies the rules before the sequence is left, because a finding has the path of the
        // current element.
        record.settle(&mut &mut *self);
        self.leave();
        Ok(record)
    }

    /// Reads one more occurrence of an element into its place. `may_miss` is true if tolerant
    /// reading can do without the occurrence.
    #[inline]
    pub fn take<S: Slot>(
        &mut self,
        slot: &mut S,
        field: Field,
        may_miss: bool,
    ) -> Result<(), Halt> {
        let count = slot.count();
        let allowed = field.allows(count);
        // A list has room for elements in excess; a single value has none, so they become markup.
        if S::IS_LIST {
            if field.max > 1 {
                self.set_index(count);
            }
            if !allowed {
                self.report(FindingKind::Repeated {
                    name: field.wire,
                    max: field.max,
                });
            }
        } else if !allowed {
            return self.refuse_repeated(field.wire);
        }
        self.report_if_late();
        // Takes the place before reading, because an error leaves the path in the middle of the
        // element.
        let place = self.place();
        let schema = self.read_as_of(field);
        let filled = slot.fill(self);
        self.schema = schema;
        if let Err(halt) = filled {
            self.do_without(halt, place, may_miss)?;
        }
        Ok(())
    }

    /// Returns the content of a field at the end of its sequence. Tolerant reading reports missing
    /// content that the schema demands.
    pub fn field<S: Slot>(&mut self, slot: S, rows: &[Field]) -> Result<S, Halt> {
        if let Some(field) = Field::of(rows, self.schema)
            && field.min > 0
            && slot.count() == 0
        {
            self.report(FindingKind::Missing {
                name: field.wire.to_owned(),
            });
        }
        Ok(slot)
    }

    /// Returns the content of a `1..1` field at the end of its sequence.
    pub fn one<V>(&mut self, slot: Option<V>, name: &'static str) -> Result<V, Halt> {
        slot.ok_or_else(|| self.missing(name))
    }

    /// Returns the content of a `1..*` field.
    pub fn some<V>(&mut self, slot: Vec<V>, name: &'static str) -> Result<Vec<V>, Halt> {
        // Elements that are handed out one by one are in the document and not in the list.
        if slot.is_empty() && !self.hands_out(name) {
            return Err(self.missing(name));
        }
        Ok(slot)
    }
}
