//! Findings and errors, with their place.

use super::Cursor;
use crate::finding::{Finding, FindingKind, Position};
use crate::read::Mode;
use crate::read::decode::count;
use crate::read::error::{Halt, ReadError, ReadErrorKind};
use crate::read::tokens::Mark;
use crate::watch::{Memory, Watch};

impl Cursor<'_> {
    /// Reports a finding about the current element.
    #[cold]
    pub(crate) fn report(&mut self, kind: FindingKind) {
        if self.admit(&kind) {
            let position = self.events.position(self.here());
            self.push_finding(kind, self.path(), position);
        }
    }

    #[cold]
    pub(super) fn report_at(&mut self, kind: FindingKind, path: String, mark: Mark) {
        if self.admit(&kind) {
            let position = self.events.position(mark);
            self.push_finding(kind, path, position);
        }
    }

    /// Reports the finding that an error becomes if reading continues.
    pub(super) fn report_halt(&mut self, halt: &Halt) {
        if let Some(kind) = halt.finding()
            && self.admit(&kind)
        {
            self.push_finding(kind, self.path(), halt.position());
        }
    }

    fn push_finding(&mut self, kind: FindingKind, path: String, position: Position) {
        let finding = Finding {
            kind,
            path,
            position: Some(position),
        };
        self.events.add_held(finding.memory());
        self.found.push(finding);
    }

    /// Makes room for a finding. Returns false if the finding must not be recorded; it is then
    /// counted, unless the cursor is silent.
    fn admit(&mut self, kind: &FindingKind) -> bool {
        // The finding is not counted either, because it is found again later.
        if self.silent {
            return false;
        }
        let name = kind.name();
        // The first finding of a kind that refuses the document is kept even when there is no room.
        let least = usize::from(self.refuses(kind));
        let room = self.options.limits.max_findings.max(least);
        let has_room = self.kept.of(name) < count(room);
        let count = if has_room {
            &mut self.kept
        } else {
            &mut self.further
        };
        count.add(name);
        has_room
    }

    /// Returns true when no finding refuses the document.
    pub(super) fn is_tolerant(&self) -> bool {
        self.options.mode == Mode::Tolerant && !self.options.deny_findings
    }

    fn refuses(&self, kind: &FindingKind) -> bool {
        let options = &self.options;
        options.deny_findings || (options.mode == Mode::Strict && kind.is_schema())
    }

    /// Returns an error for the first finding for which the options refuse the document.
    pub(crate) fn refuse_findings(&mut self) -> Result<(), Halt> {
        if self.is_tolerant() {
            return Ok(());
        }
        let refused = |finding: &&Finding| self.refuses(&finding.kind);
        self.found
            .iter()
            .find(refused)
            .cloned()
            .map_or(Ok(()), |finding| {
                // A finding of a reader always has a position, so the default is never used.
                let position = finding.position.unwrap_or_default();
                Err(Halt::new(ReadErrorKind::Refused(finding.kind), position).at(finding.path))
            })
    }

    /// Returns an error of the current element.
    #[cold]
    pub(super) fn halt_here(&mut self, kind: ReadErrorKind) -> Halt {
        let position = self.events.position(self.here());
        Halt::new(kind, position)
    }

    /// Returns the error that a mandatory part of the current element is missing.
    #[cold]
    pub(crate) fn missing(&mut self, name: impl Into<String>) -> Halt {
        self.halt_here(ReadErrorKind::Missing { name: name.into() })
    }

    /// Returns the place where the current element starts.
    pub(super) fn here(&self) -> Mark {
        self.open.last().map_or(self.events.mark, |step| step.mark)
    }

    /// Makes the error where reading stopped, with the findings before it.
    #[cold]
    pub(crate) fn error(&mut self, halt: Halt) -> ReadError {
        let (path, found) = (self.path(), self.take_findings());
        halt.into_error(path, found, self.further.clone())
    }
}

// Implemented for a reference, because only a type of known size becomes `dyn Watch`.
impl Watch for &mut Cursor<'_> {
    fn memory(&mut self) -> Option<&mut Memory> {
        Some(&mut self.memory)
    }

    fn report(&mut self, kind: FindingKind) {
        Cursor::report(self, kind);
    }
}
