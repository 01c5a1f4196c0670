//! Where the cursor calls the fast reader: before an element of a sequence, except for groups and
//! for most elements of a name that it keeps leaving.
//!
//! The fast reader takes an element whole or not at all, and only if it is as the writer writes it.
//! Any other element is read over events; if it is a sequence, the fast reader is asked for its
//! children. The element may break rules beyond the schema: the fast reader notes the place and the
//! checker reports the rule, so that both readers report the same.

use super::record::Record;
use crate::check::Checker;
use crate::field::Tag;
use crate::node::{Node, Slot};
use crate::read::{Ahead, Cursor, Halt, Odd};

impl Cursor<'_> {
    /// Reads elements of a sequence into their places as long as they follow as the writer writes
    /// them, from the field `at` on. Elements of the name `handed_out`, empty for none, are left.
    /// Returns the next field, if its start tag is so written.
    pub(crate) fn read_ahead<R: Record>(
        &mut self,
        slots: &mut R::Slots,
        at: &mut usize,
        handed_out: &str,
    ) -> Result<Option<(usize, Ahead)>, Halt> {
        self.begin_ahead()?;
        loop {
            let next = self.field_ahead(R::FIELDS, *at);
            let Some((index, ahead)) = next else {
                return Ok(next);
            };
            let field = R::FIELDS.get(index);
            let Some(field) = field.filter(|field| field.wire != handed_out) else {
                return Ok(next);
            };
            let version = self.read_as_of(*field);
            let taken = R::take_ahead(slots, index, ahead, self);
            self.set_schema_version(version);
            if !taken? {
                return Ok(next);
            }
            *at = index;
        }
    }

    /// Reads the next element into its place if all of it is as the writer writes it. Otherwise
    /// nothing has been read. `number` is its number among those of its name, from 0, if the schema
    /// allows several.
    pub(crate) fn scan_element<S: Slot>(
        &mut self,
        slot: &mut S,
        tag: &'static Tag,
        number: Option<usize>,
        ahead: Ahead,
    ) -> Result<(), Odd> {
        if !self.may_take(tag.wire) {
            return Err(Odd);
        }
        let count = slot.count();
        // Put there before it is accepted, so that an element of hundreds of bytes is moved once.
        let scanned = self.scan_ahead(tag, ahead, |scanner| {
            scanner.bare_element(tag).map(|node| slot.put(node))
        });
        if scanned.is_err() && self.end_comes(tag, ahead) {
            slot.truncate(count);
            // Now the end is in memory, so it is read again only once.
            return self.scan_element(slot, tag, number, ahead);
        }
        let accepted = match (scanned, slot.items().last()) {
            (Ok(extent), Some(node)) => {
                self.accept(tag.wire, number, ahead, &extent, &|shape, path, version| {
                    let mut checker = Checker::within(shape, path, version);
                    node.check(&mut checker);
                    checker.into_findings()
                })
            }
            _ => Err(Odd),
        };
        self.count_scanned(tag.wire, accepted.is_ok());
        if accepted.is_err() {
            slot.truncate(count);
        } else if let Some(node) = slot.items().last() {
            // Only when the element is accepted: a running total must not count one that is read
            // again.
            node.settle(&mut &mut *self);
            self.leave();
        }
        accepted
    }
}
