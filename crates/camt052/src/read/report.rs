//! Findings and errors, with their element and place.

use super::cursor::{Cursor, Halt};
use super::error::{LimitKind, ReadError, ReadErrorKind};
use super::options::Mode;
use super::tokens::{Mark, Tokens};
use crate::check::{fault_kind, push_step};
use crate::finding::{Finding, FindingKind};
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
        if self.findings.len() < self.options.limits.findings {
            self.findings.push(Finding { kind, path, position: Some(self.tokens.position(mark)) });
        } else if kind.is_schema() && !self.findings.iter().any(|finding| finding.kind.is_schema()) {
            // Strict reading must not overlook a finding for want of room.
            self.findings.pop();
            self.findings.push(Finding { kind, path, position: Some(self.tokens.position(mark)) });
        }
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
        ReadError::new(kind, self.path_text(), position, std::mem::take(&mut self.findings))
    }

    /// An error of the current element.
    #[cold]
    pub(super) fn halt_here(&mut self, kind: ReadErrorKind) -> Halt {
        let mark = self.path.last().map_or(self.mark, |step| step.mark);
        let position = self.tokens.position(mark);
        ReadError::new(kind, self.path_text(), position, std::mem::take(&mut self.findings))
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
        let refused = self.findings.iter().position(|finding| {
            self.options.deny_findings || (self.options.mode == Mode::Strict && finding.kind.is_schema())
        });
        match refused.and_then(|index| self.findings.get(index)).cloned() {
            Some(finding) => {
                let position = finding.position.unwrap_or_default();
                let findings = std::mem::take(&mut self.findings);
                Err(ReadError::new(ReadErrorKind::Refused(finding.kind), finding.path, position, findings))
            }
            None => Ok(()),
        }
    }
}
