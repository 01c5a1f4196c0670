//! The findings of a reader so far.

use super::options::{Mode, ReadOptions};
use crate::finding::{Finding, FindingKind};

/// The findings of a document, as many as there is room for.
#[derive(Debug)]
pub(crate) struct Findings {
    options: ReadOptions,
    found: Vec<Finding>,
    /// Findings beyond those there is room for.
    further: u64,
    /// True while nothing is recorded, because it will be found again.
    silent: bool,
}

impl Findings {
    pub(crate) fn new(options: ReadOptions) -> Self {
        Self { options, found: Vec::new(), further: 0, silent: false }
    }

    /// Switches recording off and on.
    pub(crate) fn set_silent(&mut self, silent: bool) {
        self.silent = silent;
    }

    /// Makes room for a finding. False when the finding is not to be recorded, but counted at most.
    pub(crate) fn make_room(&mut self, kind: &FindingKind) -> bool {
        if self.silent {
            return false;
        }
        if self.found.len() >= self.options.limits.findings {
            // A finding that refuses the document is kept even when there is no room.
            if !self.refuses(kind) || self.found.iter().any(|finding| self.refuses(&finding.kind)) {
                self.further += 1;
                return false;
            }
            self.further += u64::from(self.found.pop().is_some());
        }
        true
    }

    pub(crate) fn push(&mut self, finding: Finding) {
        self.found.push(finding);
    }

    /// Takes the findings since the last call.
    pub(crate) fn take(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.found)
    }

    /// The number of findings for which there was no room.
    pub(crate) fn further(&self) -> u64 {
        self.further
    }

    /// The first finding that the options refuse a document for.
    pub(crate) fn first_refused(&self) -> Option<&Finding> {
        if self.options.mode == Mode::Tolerant && !self.options.deny_findings {
            return None;
        }
        self.found.iter().find(|finding| self.refuses(&finding.kind))
    }

    fn refuses(&self, kind: &FindingKind) -> bool {
        self.options.deny_findings || (self.options.mode == Mode::Strict && kind.is_schema())
    }
}
