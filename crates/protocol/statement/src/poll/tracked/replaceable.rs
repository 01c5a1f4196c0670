//! The entries that are no longer listed and that a new one may replace.

use super::{Listed, State, Tracked};
use crate::poll::WalkEvidence;
use crate::{EntryLinks, SeenEntryId};
use std::collections::{HashMap, HashSet};

/// Indexes of rows by a link.
type ByLink = HashMap<u128, Vec<usize>>;

/// The entries that a statement no longer lists and a new one may replace, by their links.
pub(super) struct Replaceable<'a> {
    rows: &'a [Tracked],
    by_reference: ByLink,
    by_payment: ByLink,
    by_amount: ByLink,
    /// True if a full walk has shown that the entries are gone; `single` is true if that walk had
    /// one page.
    certain: bool,
    single: bool,
    replaced: Vec<usize>,
}

/// The pending entries with the payment of a new one.
pub(super) enum Payment {
    /// There is no such entry.
    None,
    /// The relation is uncertain, because the new entry may be any of several.
    Unclear,
    /// The new entry replaces this one.
    Replaces(SeenEntryId),
}

impl<'a> Replaceable<'a> {
    /// The maximum number of candidates of one entry.
    pub(super) const MAX_CANDIDATES: usize = 8;
    /// The maximum number of equal payments that are compared; with more, none is certain.
    pub(super) const MAX_COMPARED: usize = 64;

    pub(super) fn of(
        rows: &'a [Tracked],
        listed: &Listed<'_>,
        evidence: &WalkEvidence<'_>,
    ) -> Self {
        let (by_reference, by_payment, by_amount) = Default::default();
        let certain = evidence.complete && evidence.all_read;
        let (single, replaced) = (evidence.single, Vec::new());
        let mut replaceable = Self {
            rows,
            by_reference,
            by_payment,
            by_amount,
            certain,
            single,
            replaced,
        };
        for (index, row) in rows.iter().enumerate() {
            // A booked entry may also be on another page, or have left the statement with its day.
            let may_be_replaced =
                !row.links.booked || (evidence.complete && row.on == evidence.day);
            if may_be_replaced && !listed.has(row) && row.state != State::Replaced {
                for (rows, link) in replaceable.places(&row.links) {
                    link.into_iter()
                        .for_each(|link| rows.entry(link).or_default().push(index));
                }
            }
        }
        replaceable
    }

    fn places(&mut self, links: &EntryLinks) -> [(&mut ByLink, Option<u128>); 3] {
        [
            (&mut self.by_reference, links.reference),
            (
                &mut self.by_payment,
                links.payment.filter(|_| !links.booked),
            ),
            (&mut self.by_amount, Some(links.amount)),
        ]
    }

    /// Returns the entry that a new one replaces under its reference.
    pub(super) fn by_reference(&mut self, new: &EntryLinks) -> Option<SeenEntryId> {
        let rows = self.rows_of(&self.by_reference, new.reference);
        let is_booked_now =
            |row: &Tracked| new.booked && !row.links.booked && row.links.amount == new.amount;
        // With several pages, an entry can have moved to a page that was fetched before.
        let is_surely_gone = |row: &Tracked| {
            self.certain && (self.single || !row.links.booked || row.state != State::Listed)
        };
        let earlier = rows.iter().find(|(_, row)| is_booked_now(row));
        let (index, _) = earlier.or_else(|| rows.iter().find(|(_, row)| is_surely_gone(row)))?;
        self.replace(*index)
    }

    /// Returns the pending entry that a new one has booked, by its payment. `new_ones` entries of
    /// the page, this one among them, have its payment and replace nothing yet. Rows that are
    /// `contended` are not related. If the new entry may also be a form of an entry that has just
    /// gone, it is not related to entries gone for longer.
    pub(super) fn by_payment(
        &mut self,
        new: &EntryLinks,
        new_ones: usize,
        contended: &HashSet<usize>,
        is_form: bool,
    ) -> Payment {
        let rows = self.rows_of(&self.by_payment, new.payment.filter(|_| new.booked));
        let Some((index, first)) = rows.first().copied() else {
            return Payment::None;
        };
        let is_gone_now = |(_, row): &(usize, &Tracked)| row.state == State::Listed;
        if is_form && !(self.certain && rows.iter().any(is_gone_now)) {
            return Payment::None;
        }
        let alike = rows.iter().all(|(_, row)| first.entry.0 == row.entry.0);
        let unmistakable = self.certain
            && !is_form
            && (alike || rows.len() <= new_ones.min(Self::MAX_COMPARED - 1))
            && !rows.iter().any(|(index, _)| contended.contains(index));
        let replaced = unmistakable.then(|| self.replace(index)).flatten();
        replaced.map_or(Payment::Unclear, Payment::Replaces)
    }

    /// Marks a row as replaced, and returns its id.
    pub(super) fn replace(&mut self, index: usize) -> Option<SeenEntryId> {
        let row = self.rows.get(index)?;
        // An entry is replaced once, so no other new entry may find it.
        for (rows, link) in self.places(&row.links) {
            let rows = link.and_then(|link| rows.get_mut(&link));
            rows.into_iter()
                .for_each(|rows| rows.retain(|other| *other != index));
        }
        self.replaced.push(index);
        Some(row.id())
    }

    /// Returns the entries that a new one may replace.
    pub(super) fn candidates(&self, new: &EntryLinks) -> Vec<SeenEntryId> {
        let by_reference = self.rows_of(&self.by_reference, new.reference);
        let by_payment = self.rows_of(&self.by_payment, new.payment.filter(|_| new.booked));
        let by_amount = self.rows_of(&self.by_amount, Some(new.amount));
        let mut candidates: Vec<SeenEntryId> = Vec::new();
        for (_, row) in by_reference.iter().chain(&by_payment).chain(&by_amount) {
            if candidates.len() == Self::MAX_CANDIDATES {
                break;
            }
            let id = row.id();
            if !candidates.contains(&id) {
                candidates.push(id);
            }
        }
        candidates
    }

    /// Returns the indexes of the rows that were found to be replaced.
    pub(super) fn replaced(&self) -> &[usize] {
        &self.replaced
    }

    /// Ends the comparisons, and returns the indexes of the replaced rows.
    pub(super) fn into_replaced(self) -> Vec<usize> {
        self.replaced
    }

    /// Returns the first rows of a link that nothing has replaced yet.
    fn rows_of(&self, by_link: &ByLink, link: Option<u128>) -> Vec<(usize, &'a Tracked)> {
        let indices = link
            .and_then(|link| by_link.get(&link))
            .into_iter()
            .flatten()
            .take(Self::MAX_COMPARED);
        indices
            .filter_map(|index| Some((*index, self.rows.get(*index)?)))
            .collect()
    }
}
