//! The entries that are no longer listed and that a new one may replace.

use super::{Listed, State, Tracked};
use crate::poll::WalkEvidence;
use crate::{EntryLinks, EntryRelation, SeenEntryId};
use std::collections::HashMap;

/// Indexes of rows by a link.
type ByLink = HashMap<u128, Vec<usize>>;

/// The entries that a statement no longer lists and a new one may replace, by their links.
pub(super) struct Replaceable<'a> {
    rows: &'a [Tracked],
    by_reference: ByLink,
    by_payment: ByLink,
    by_amount: ByLink,
    /// True if a full walk has shown that they are gone; `single` if that had one page.
    certain: bool,
    single: bool,
    replaced: Vec<usize>,
}

impl<'a> Replaceable<'a> {
    /// The most candidates of one entry.
    const MAX_CANDIDATES: usize = 8;
    /// The most equal payments that are compared; beyond them none is certain.
    const MAX_COMPARED: usize = 64;

    pub(super) fn of(
        rows: &'a [Tracked],
        listed: &Listed<'_>,
        evidence: &WalkEvidence<'_>,
    ) -> Self {
        let (by_reference, by_payment, by_amount) = Default::default();
        let (certain, single, replaced) = (evidence.complete, evidence.single, Vec::new());
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
            // A booked entry may also stand on another page, or have left the statement with its
            // day.
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

    /// Returns the relation of a new entry. `new_ones` entries of the page, this one among them,
    /// have its payment and no relation yet.
    pub(super) fn relation(&mut self, new: &EntryLinks, new_ones: usize) -> EntryRelation {
        let by_reference = self.rows_of(&self.by_reference, new.reference);
        let by_payment = self.rows_of(&self.by_payment, new.payment.filter(|_| new.booked));
        let is_booked_now =
            |row: &Tracked| new.booked && !row.links.booked && row.links.amount == new.amount;
        // With several pages, an entry can have moved to one that was fetched before.
        let is_surely_gone = |row: &Tracked| {
            self.certain && (self.single || !row.links.booked || row.state != State::Listed)
        };
        let alike = by_payment.iter().all(|(_, row)| {
            by_payment
                .first()
                .is_some_and(|first| first.1.entry.0 == row.entry.0)
        });
        let unmistakable =
            self.certain && (alike || by_payment.len() <= new_ones.min(Self::MAX_COMPARED - 1));
        let earlier = by_reference.iter().find(|(_, row)| is_booked_now(row));
        let earlier = earlier.or_else(|| by_reference.iter().find(|(_, row)| is_surely_gone(row)));
        if let Some((index, row)) = earlier
            .or_else(|| by_payment.first().filter(|_| unmistakable))
            .copied()
        {
            // An entry is replaced once, so no other new entry may find it.
            for (rows, link) in self.places(&row.links) {
                let rows = link.and_then(|link| rows.get_mut(&link));
                rows.into_iter()
                    .for_each(|rows| rows.retain(|other| *other != index));
            }
            self.replaced.push(index);
            return EntryRelation::Replaces(row.id());
        }
        let by_amount = self.rows_of(&self.by_amount, Some(new.amount));
        let mut may_replace: Vec<SeenEntryId> = Vec::new();
        for (_, row) in by_reference.iter().chain(&by_payment).chain(&by_amount) {
            if may_replace.len() == Self::MAX_CANDIDATES {
                break;
            }
            let id = row.id();
            if !may_replace.contains(&id) {
                may_replace.push(id);
            }
        }
        EntryRelation::New { may_replace }
    }

    /// Returns the indexes of the rows that were found to be replaced.
    pub(super) fn replaced(self) -> Vec<usize> {
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
