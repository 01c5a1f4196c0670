//! Findings and errors, with their element and place.

use super::cursor::{Cursor, Halt};
use super::error::{LimitKind, ReadError, ReadErrorKind};
use super::options::Mode;
use super::tokens::{Mark, Tokens};
use crate::check::{fault_kind, push_step};
use crate::finding::{Finding, FindingKind, Position};
use crate::schema::{Fault, Unreadable};
use bankrail_values::excerpt;

impl<T: Tokens> Cursor<T> {
    /// Reports that the element just begun should have stood before another.
    #[cold]
    pub(super) fn report_late(&mut self, before: &'static str) {
        if let Some(name) = self.path.last().map(|step| step.name) {
            self.report(FindingKind::OutOfOrder { name, before });
        }
    }

    #[cold]
    pub(super) fn report_fault(&mut self, fault: Fault) {
        let kind = fault_kind(fault, &self.text);
        self.report(kind);
    }

    /// Reports something about the current element.
    #[cold]
    pub(crate) fn report(&mut self, kind: FindingKind) {
        let mark = self.path.last().map_or(self.mark, |step| step.mark);
        let path = self.path_text();
        self.report_at(kind, path, mark);
    }

    #[cold]
    pub(super) fn report_at(&mut self, kind: FindingKind, path: String, mark: Mark) {
        if self.silent {
            return;
        }
        if self.findings.len() >= self.options.limits.findings {
            // What refuses the document must not be overlooked for want of room.
            if !self.refuses(&kind) || self.findings.iter().any(|finding| self.refuses(&finding.kind)) {
                self.further += 1;
                return;
            }
            self.further += u64::from(self.findings.pop().is_some());
        }
        let position = Some(self.tokens.position(mark));
        self.findings.push(Finding { kind, path, position });
    }

    /// True when the options refuse a document because of such a finding.
    fn refuses(&self, kind: &FindingKind) -> bool {
        self.options.deny_findings || (self.options.mode == Mode::Strict && kind.is_schema())
    }

    pub(super) fn path_text(&self) -> String {
        let mut path = String::new();
        for step in &self.path {
            push_step(&mut path, step.name, step.repeats.then_some(step.index));
        }
        path
    }

    /// An error at the current event.
    #[cold]
    pub(super) fn halt(&mut self, kind: ReadErrorKind) -> Halt {
        let position = self.tokens.position(self.mark);
        self.error(kind, self.path_text(), position)
    }

    /// An error of the current element.
    #[cold]
    pub(super) fn halt_here(&mut self, kind: ReadErrorKind) -> Halt {
        let mark = self.path.last().map_or(self.mark, |step| step.mark);
        let position = self.tokens.position(mark);
        self.error(kind, self.path_text(), position)
    }

    /// An error with what has been found before it.
    #[cold]
    pub(super) fn error(&mut self, kind: ReadErrorKind, path: String, position: Position) -> Halt {
        ReadError::new(kind, path, position, std::mem::take(&mut self.findings), self.further)
    }

    #[cold]
    pub(super) fn unreadable(&mut self, unreadable: Unreadable) -> Halt {
        let found = excerpt(&self.text);
        self.halt_here(ReadErrorKind::Unreadable { expected: unreadable.expected, found })
    }

    pub(super) fn limit(&mut self, limit: LimitKind, max: usize) -> Halt {
        self.halt(ReadErrorKind::Limit { limit, max: u64::try_from(max).unwrap_or(u64::MAX) })
    }

    /// Refuses what has been found, if the options say so.
    pub(crate) fn refuse_findings(&mut self) -> Result<(), Halt> {
        if self.options.mode == Mode::Tolerant && !self.options.deny_findings {
            return Ok(());
        }
        let refused = self.findings.iter().find(|finding| self.refuses(&finding.kind)).cloned();
        match refused {
            Some(Finding { kind, path, position }) => {
                Err(self.error(ReadErrorKind::Refused(kind), path, position.unwrap_or_default()))
            }
            None => Ok(()),
        }
    }
}
