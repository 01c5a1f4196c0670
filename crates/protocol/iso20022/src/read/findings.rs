//! The findings of a reader so far.

use super::{Mode, ReadOptions};
use crate::finding::{Finding, FindingKind, Position};
use crate::version::Version;

/// The number of findings that there was no room for, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FurtherFindings(Vec<(&'static str, u64)>);

impl FurtherFindings {
    /// True when every finding was kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of findings of all kinds.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.iter().map(|(_, count)| count).sum()
    }

    /// Returns the number of findings of the kind with a name, as [`FindingKind::name`] gives it.
    #[must_use]
    pub fn of(&self, name: &str) -> u64 {
        self.iter()
            .find(|(other, _)| *other == name)
            .map_or(0, |(_, count)| count)
    }

    /// Returns the name of each kind with the number of its findings.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.0.iter().copied()
    }

    fn add(&mut self, name: &'static str) {
        // There are some twenty kinds, among which a list is searched as fast as a map.
        match self.0.iter_mut().find(|(other, _)| *other == name) {
            Some((_, count)) => *count += 1,
            None => self.0.push((name, 1)),
        }
    }
}

/// The findings of a document, as many of each kind as there is room for.
#[derive(Debug)]
pub(crate) struct Findings {
    options: ReadOptions,
    found: Vec<Finding>,
    /// The number of findings of each kind in `found`.
    kept: FurtherFindings,
    /// Findings beyond those there is room for.
    further: FurtherFindings,
    /// True while nothing is recorded, because it will be found again.
    silent: bool,
}

impl Findings {
    /// True when unknown parts are not kept.
    pub(crate) fn drops_unknown(&self) -> bool {
        self.options.drop_unknown
    }

    /// Returns the oldest and the newest version that are read.
    pub(crate) fn versions(&self) -> [Version; 2] {
        let all = [Version::new(0), Version::new(u8::MAX)];
        self.options.versions.unwrap_or(all)
    }

    pub(crate) fn new(options: ReadOptions) -> Self {
        let (kept, further) = Default::default();
        Self {
            options,
            found: Vec::new(),
            kept,
            further,
            silent: false,
        }
    }

    /// Switches recording off and on.
    pub(crate) fn set_silent(&mut self, silent: bool) {
        self.silent = silent;
    }

    /// Makes room for a finding. False when the finding is not to be recorded, but counted at most.
    pub(crate) fn make_room(&mut self, kind: &FindingKind) -> bool {
        // Not counted either, because the same is found again later.
        if self.silent {
            return false;
        }
        let name = kind.name();
        // The first finding of a kind that refuses the document is kept even when there is no room.
        let room = self
            .options
            .limits
            .findings
            .max(usize::from(self.refuses(kind)));
        let has_room = self.kept.of(name) < u64::try_from(room).unwrap_or(u64::MAX);
        if has_room {
            self.kept.add(name)
        } else {
            self.further.add(name)
        }
        has_room
    }

    pub(crate) fn push(&mut self, finding: Finding) {
        self.found.push(finding);
    }

    /// Removes the findings from a position on.
    pub(crate) fn forget_from(&mut self, start: Position) {
        let is_before = |place: Position| place.offset < start.offset;
        self.found
            .retain(|finding| finding.position.is_none_or(is_before));
    }

    /// True when no finding refuses the document.
    pub(crate) fn is_tolerant(&self) -> bool {
        self.options.mode == Mode::Tolerant && !self.options.deny_findings
    }

    /// True when the schema's findings refuse the document.
    pub(crate) fn is_strict(&self) -> bool {
        self.options.mode == Mode::Strict
    }

    /// True when the document was text before it was read.
    pub(crate) fn is_of_text(&self) -> bool {
        self.options.text
    }

    /// Returns the name of the first element found that the schema does not have.
    pub(crate) fn unknown_element(&self) -> Option<String> {
        self.found.iter().find_map(|finding| match &finding.kind {
            FindingKind::UnknownElement { name } => Some(name.clone()),
            _ => None,
        })
    }

    /// True when a unit that cannot be read is kept as markup.
    pub(crate) fn keeps_unreadable(&self) -> bool {
        self.options.keep_unreadable
    }

    /// Takes the findings since the last call.
    pub(crate) fn take(&mut self) -> Vec<Finding> {
        // Findings that have been taken leave their room to further ones.
        self.kept = FurtherFindings::default();
        std::mem::take(&mut self.found)
    }

    /// Returns the findings for which there was no room.
    pub(crate) fn further(&self) -> &FurtherFindings {
        &self.further
    }

    /// Takes the findings for which there was no room.
    pub(crate) fn take_further(&mut self) -> FurtherFindings {
        std::mem::take(&mut self.further)
    }

    /// Returns the first finding that the options refuse a document for.
    pub(crate) fn first_refused(&self) -> Option<&Finding> {
        if self.is_tolerant() {
            return None;
        }
        self.found
            .iter()
            .find(|finding| self.refuses(&finding.kind))
    }

    fn refuses(&self, kind: &FindingKind) -> bool {
        self.options.deny_findings || (self.options.mode == Mode::Strict && kind.is_schema())
    }
}
