//! The entries that the bank completes, or corrects under their reference.

use super::replaceable::Replaceable;
use super::{Listed, Numbered, State, Tracked, TrackedEntries};
use crate::EntryLinks;
use crate::poll::{OnPage, WalkEvidence};
use bankrail_values::Date;
use std::collections::{HashMap, HashSet};

impl TrackedEntries {
    /// Returns true for each entry of a page that may be a later form of one that the walk has not
    /// listed up to the end of the page.
    pub(in crate::poll) fn may_complete(
        &self,
        page: &[OnPage<'_>],
        evidence: &WalkEvidence<'_>,
    ) -> Vec<bool> {
        let listed = Listed::of(page, evidence.before);
        let unlisted = Unlisted::of(&self.0, &listed, evidence.day);
        // This is the case for almost every page.
        if unlisted.0.is_empty() {
            return vec![false; page.len()];
        }
        let handed_over_again: HashSet<Numbered> = self
            .0
            .iter()
            .filter(|row| matches!(row.state, State::Replaced | State::Vanished))
            .map(|row| row.entry)
            .collect();
        page.iter()
            .map(|entry| {
                (entry.new || handed_over_again.contains(&entry.numbered()))
                    && entry
                        .links
                        .is_some_and(|links| unlisted.forms(links).next().is_some())
            })
            .collect()
    }

    /// Pairs entries of a full walk that may be later forms with the rows that they replace. The
    /// walk has ended, and `listed` has its number of entries of each key.
    pub(in crate::poll) fn completions(
        &self,
        entries: &[(Numbered, EntryLinks)],
        before: &HashMap<crate::EntryKey, u32>,
        day: Option<Date>,
    ) -> HashMap<Numbered, Numbered> {
        let listed = Listed::of(&[], before);
        let pairs = Unlisted::of(&self.0, &listed, day).pair(entries);
        let row = |index: usize| Some(self.0.get(index)?.entry);
        pairs
            .into_iter()
            .filter_map(|(entry, index)| Some((entry, row(index)?)))
            .collect()
    }
}

/// The rows that a walk has not listed, with their indexes.
pub(super) struct Unlisted<'a>(Vec<(usize, &'a Tracked)>);

impl<'a> Unlisted<'a> {
    pub(super) fn of(rows: &'a [Tracked], listed: &Listed<'_>, day: Option<Date>) -> Self {
        let is_unlisted = |(_, row): &(usize, &Tracked)| {
            row.state == State::Listed && (row.on == day || !row.links.booked) && !listed.has(row)
        };
        Self(rows.iter().enumerate().filter(is_unlisted).collect())
    }

    /// Returns the rows that can be earlier forms of an entry.
    pub(super) fn forms(&self, links: &EntryLinks) -> impl Iterator<Item = (usize, &'a Tracked)> {
        let can_become = |(_, row): &(usize, &Tracked)| row.links.can_become(links);
        self.0.iter().copied().filter(can_become)
    }

    pub(super) fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        self.0.retain(|(index, _)| keep(*index));
    }

    /// Returns the indexes of the rows that these entries of a page replace as their later forms,
    /// as far as the walk proves that.
    pub(super) fn completed(
        &self,
        entries: &[(Numbered, EntryLinks)],
        evidence: &WalkEvidence<'_>,
    ) -> HashMap<Numbered, usize> {
        if !evidence.all_read {
            return HashMap::new();
        }
        if evidence.complete && evidence.single {
            return self.pair(entries);
        }
        let Some(completions) = evidence.completions else {
            return HashMap::new();
        };
        let found = |(entry, _): &(Numbered, EntryLinks)| {
            let row = completions.get(entry)?.as_ref()?;
            let index = self.0.iter().find(|(_, own)| own.entry == *row)?.0;
            Some((*entry, index))
        };
        entries.iter().filter_map(found).collect()
    }

    /// Pairs each entry with the row that it replaces. With several rows or entries there is no
    /// pair, unless they are equal, or each of the rows is replaced by one of the entries.
    fn pair(&self, entries: &[(Numbered, EntryLinks)]) -> HashMap<Numbered, usize> {
        let mut pairs = HashMap::new();
        if self.0.is_empty() {
            return pairs;
        }
        let mut taken = HashSet::new();
        for (entry, links) in entries {
            let forms: Vec<_> = self.forms(links).take(Replaceable::MAX_COMPARED).collect();
            let Some((_, first)) = forms.first().copied() else {
                continue;
            };
            let others: Vec<&EntryLinks> = entries
                .iter()
                .map(|(_, other)| other)
                .filter(|other| first.links.can_become(other))
                .take(Replaceable::MAX_COMPARED)
                .collect();
            let are_rows_alike = forms.iter().all(|(_, row)| row.entry.0 == first.entry.0);
            let are_entries_alike = others.iter().all(|other| *other == links);
            if are_rows_alike
                && forms.len() < Replaceable::MAX_COMPARED
                && (are_entries_alike || others.len() <= forms.len())
            {
                let free = forms.iter().find(|(index, _)| taken.insert(*index));
                pairs.extend(free.map(|(index, _)| (*entry, *index)));
            }
        }
        pairs
    }
}
