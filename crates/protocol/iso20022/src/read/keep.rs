//! Parts beyond the schema that have been read and not yet been put into their sequence, within a
//! bound on memory.

use super::error::LimitKind;
use super::path::Path;
use crate::extra::{Extra, ExtraPart, ExtraStep, Extras};

/// The parts kept so far.
#[derive(Debug)]
pub(crate) struct Keeper {
    /// `kept_bytes`.
    most: usize,
    /// Bytes kept since the start of the innermost element that is counted apart.
    used: usize,
    parts: Vec<Extra>,
    /// The path's length at the innermost sequence, and the first of its parts.
    sequence: Sequence,
}

/// Where a sequence begins: in the path, and among the parts kept.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sequence {
    base: usize,
    first: usize,
}

impl Keeper {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            used: 0,
            parts: Vec::new(),
            sequence: Sequence::default(),
        }
    }

    /// Counts bytes from another number on; returns the number so far.
    pub(crate) fn count_from(&mut self, used: usize) -> usize {
        std::mem::replace(&mut self.used, used)
    }

    /// Returns the number of parts that no sequence has taken.
    pub(crate) fn count(&self) -> usize {
        self.parts.len()
    }

    /// Begins a sequence `base` deep; the returned one belongs to its end.
    pub(crate) fn enter(&mut self, base: usize) -> Sequence {
        std::mem::replace(
            &mut self.sequence,
            Sequence {
                base,
                first: self.parts.len(),
            },
        )
    }

    /// Ends a sequence, and goes on with the one around it.
    pub(crate) fn leave(&mut self, outer: Sequence) {
        self.sequence = outer;
    }

    /// Returns the innermost sequence.
    pub(crate) fn sequence(&self) -> Sequence {
        self.sequence
    }

    /// Returns to a sequence, with so many parts kept.
    pub(crate) fn return_to(&mut self, sequence: Sequence, parts: usize) {
        self.sequence = sequence;
        self.parts.truncate(parts);
    }

    /// Takes the parts of the sequence that ends.
    #[inline]
    pub(crate) fn take(&mut self) -> Extras {
        if self.parts.len() == self.sequence.first {
            return Extras::default();
        }
        Extras::from_parts(self.parts.drain(self.sequence.first..).collect())
    }

    /// Takes the parts that are left.
    pub(crate) fn take_all(&mut self) -> Vec<Extra> {
        std::mem::take(&mut self.parts)
    }

    /// Puts parts back that a sequence has taken too early.
    pub(crate) fn put_back(&mut self, extras: &Extras) {
        self.parts.extend(extras.parts().iter().cloned());
    }

    /// Keeps a part at its place; returns the bytes of memory that it takes.
    pub(crate) fn keep(&mut self, part: ExtraPart, path: &Path) -> Result<usize, LimitKind> {
        let inside = path.below(self.sequence.base);
        // Attributes are kept before the element has any child, so that this is `None` for them.
        let after = path.last().and_then(|open| open.last);
        let after = after.map(|(name, index)| ExtraStep {
            name: name.into(),
            index,
        });
        let extra = Extra {
            inside,
            after,
            part,
        };
        let memory = extra.memory();
        // Before the part is stored, so that no part goes beyond the bound.
        self.hold(memory)?;
        self.parts.push(extra);
        Ok(memory)
    }

    /// True when markup was kept directly inside the current element.
    pub(crate) fn holds_element(&self, path: &Path) -> bool {
        let depth = path.len() - self.sequence.base;
        let before = path.last().map_or(0, |step| step.extras);
        let own = self.parts.get(before..).unwrap_or_default();
        own.iter()
            .any(|extra| extra.inside.len() == depth && matches!(extra.part, ExtraPart::Xml(_)))
    }

    /// Counts kept bytes; an error when there are too many.
    pub(crate) fn hold(&mut self, bytes: usize) -> Result<(), LimitKind> {
        self.bound(bytes)?;
        self.used += bytes;
        Ok(())
    }

    /// Refuses so many more bytes when they are too many.
    #[inline]
    pub(crate) fn bound(&self, bytes: usize) -> Result<(), LimitKind> {
        // A difference cannot overflow, as a sum could.
        if bytes > self.most.saturating_sub(self.used) {
            Err(LimitKind::KeptBytes)
        } else {
            Ok(())
        }
    }
}
