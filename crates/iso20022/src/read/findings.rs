//! What a reader has found so far.

use super::options::{Mode, ReadOptions};
use crate::finding::{Finding, FindingKind};

/// The findings of a document, as many as there is room for.
#[derive(Debug)]
pub(crate) struct Findings {
    options: ReadOptions,
    found: Vec<Finding>,
    /// Findings beyond those there is room for.
    further: u64,
    /// Nothing is reported: it will be found again.
    silent: bool,
}

impl Findings {
    pub(crate) fn new(options: ReadOptions) -> Self {
        Self { options, found: Vec::new(), further: 0, silent: false }
    }

    /// Nothing is reported until the opposite is said.
    pub(crate) fn set_silent(&mut self, silent: bool) {
        self.silent = silent;
    }

    /// Makes room for a finding; false when it is only counted, or not even that.
    pub(crate) fn make_room(&mut self, kind: &FindingKind) -> bool {
        if self.silent {
            return false;
        }
        if self.found.len() >= self.options.limits.findings {
            // What refuses the document must not be overlooked for want of room.
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

    /// Takes what has been found since this was last asked.
    pub(crate) fn take(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.found)
    }

    /// How many more have been found than there was room for.
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
