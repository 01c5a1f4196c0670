//! The remembered entries: those that were handed over and may still be listed or replaced.

mod completed;
mod replaceable;
mod text;

use super::relation::{AccountNotice, EntryRelation};
use super::{Judged, OnPage, WalkEvidence};
use crate::EntryLinks;
use crate::seen::{EntryKey, SeenEntry, SeenEntryId};
use bankrail_values::Date;
use completed::Unlisted;
use replaceable::{Payment, Replaceable};
use std::collections::{HashMap, HashSet};

/// An entry by its key and occurrence.
pub(super) type Numbered = (EntryKey, u32);

/// The later forms that a full walk has held back, each with the entry that it replaces; `None` if
/// the walk has not shown which one.
pub(super) type Completions = HashMap<Numbered, Option<Numbered>>;

/// The remembered entries, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TrackedEntries(Vec<Tracked>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Tracked {
    entry: Numbered,
    links: EntryLinks,
    /// The day of the last statement that listed the entry.
    on: Option<Date>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Listed,
    /// The last full walk did not list the entry.
    Missing,
    /// Two full walks in a row did not list the entry, and a notice was given.
    Vanished,
    /// Another entry replaces this one, and a relation was given.
    Replaced,
}

/// The number of entries of each key that a walk has listed up to the end of a page.
struct Listed<'a> {
    before: &'a HashMap<EntryKey, u32>,
    page: HashMap<EntryKey, u32>,
}

impl<'a> Listed<'a> {
    fn of(page: &[OnPage<'_>], before: &'a HashMap<EntryKey, u32>) -> Self {
        let mut counts = HashMap::new();
        page.iter()
            .for_each(|entry| *counts.entry(entry.seen.key).or_default() += 1);
        Self {
            before,
            page: counts,
        }
    }

    fn count(&self, key: EntryKey) -> u32 {
        let of = |counts: &HashMap<EntryKey, u32>| counts.get(&key).copied().unwrap_or(0);
        of(self.before).saturating_add(of(&self.page))
    }

    /// Returns true if the walk has listed at least as many entries of the row's key as the row's
    /// number. Entries with a reference are numbered by page, so the second one of a page may be
    /// the first one of the next page now.
    fn has(&self, row: &Tracked) -> bool {
        let (key, occurrence) = row.entry;
        self.count(key) >= occurrence
    }
}

impl TrackedEntries {
    /// The maximum number of remembered entries, whose text has a quarter of a MiB.
    const MAX_ENTRIES: usize = 2_000;
    /// The number of days after its last listing in which an entry that is not booked can be
    /// replaced or return.
    const PENDING_DAYS: i64 = 7;

    /// Judges the entries of a page, in their order.
    pub(super) fn judge(&self, page: &[OnPage<'_>], evidence: &WalkEvidence<'_>) -> Judged {
        let mut rows = self.0.clone();
        let listed = Listed::of(page, evidence.before);
        let (mut relations, mut notices) = Self::known(&mut rows, page, evidence.day, &listed);
        Self::compare(&mut rows, page, evidence, &listed, &mut relations);
        if let Some(day) = evidence.day.filter(|_| evidence.complete) {
            notices.extend(Self::complete(&mut rows, &listed, day, evidence.all_read));
        }
        rows.extend(
            page.iter()
                .filter(|entry| entry.new)
                .filter_map(|entry| Tracked::of(entry, evidence.day)),
        );
        Self::bound(&mut rows);
        Judged {
            tracked: Self(rows),
            relations,
            notices,
        }
    }

    /// Marks the entries of the page that are remembered, and finds those that are handed over
    /// again. Re-adds known entries that were evicted.
    fn known(
        rows: &mut Vec<Tracked>,
        page: &[OnPage<'_>],
        day: Option<Date>,
        listed: &Listed<'_>,
    ) -> (Vec<Option<EntryRelation>>, Vec<AccountNotice>) {
        let at: HashMap<Numbered, usize> = rows
            .iter()
            .enumerate()
            .map(|(index, row)| (row.entry, index))
            .collect();
        let mut notices = Vec::new();
        let known = |entry: &OnPage<'_>| {
            if entry.new {
                return Some(EntryRelation::New {
                    may_replace: Vec::new(),
                });
            }
            let now = Tracked::of(entry, day)?;
            let Some(row) = at.get(&now.entry).and_then(|index| rows.get_mut(*index)) else {
                // An evicted entry is remembered again while there is room.
                rows.extend((rows.len() < Self::MAX_ENTRIES).then_some(now));
                return None;
            };
            // Parts of a batch share a reference, and a page that lists only one of them does not
            // distinguish them.
            let is_alone = listed.count(entry.seen.key) == 1;
            let changed =
                is_alone && now.links.reference.is_some() && row.links.payment != now.links.payment;
            // Entries without a reference share a key only if all their parts are equal.
            let links = if is_alone || now.links.reference.is_none() {
                now.links
            } else {
                row.links
            };
            match std::mem::replace(row, Tracked { links, ..now }).state {
                State::Vanished if links.booked => {
                    notices.push(AccountNotice::Reappeared { id: row.id() });
                    None
                }
                State::Vanished | State::Replaced => {
                    Some(EntryRelation::Returned { replaces: None })
                }
                State::Listed | State::Missing => changed.then_some(EntryRelation::TextChanged),
            }
        };
        let relations = page.iter().map(known).collect();
        (relations, notices)
    }

    /// Relates the entries that are handed over to those that are no longer listed.
    fn compare(
        rows: &mut [Tracked],
        page: &[OnPage<'_>],
        evidence: &WalkEvidence<'_>,
        listed: &Listed<'_>,
        relations: &mut [Option<EntryRelation>],
    ) {
        let is_compared = |relation: &Option<EntryRelation>| {
            matches!(
                relation,
                Some(EntryRelation::New { .. } | EntryRelation::Returned { .. })
            )
        };
        if !relations.iter().any(is_compared) {
            return;
        }
        let mut replaceable = Replaceable::of(rows, listed, evidence);
        let mut new_payments: HashMap<u128, usize> = HashMap::new();
        for payment in page
            .iter()
            .filter(|entry| entry.new)
            .filter_map(|entry| entry.links?.payment)
        {
            *new_payments.entry(payment).or_default() += 1;
        }
        let compared: Vec<(usize, &OnPage<'_>, &EntryLinks)> = page
            .iter()
            .enumerate()
            .filter(|(index, _)| relations.get(*index).is_some_and(is_compared))
            .filter_map(|(index, entry)| Some((index, entry, entry.links?)))
            .collect();
        let is_any = |is: &dyn Fn(&EntryLinks) -> bool| compared.iter().any(|(.., new)| is(new));
        // A row is contended if one entry has booked it, by its payment, and another one completes
        // it.
        let is_contended = |row: &Tracked| {
            let own = &row.links;
            !own.booked
                && own.payment.is_some()
                && is_any(&|new| new.booked && new.payment == own.payment)
                && is_any(&|new| own.can_become(new))
        };
        let contended = rows.iter().enumerate().filter(|(_, row)| is_contended(row));
        let contended: HashSet<usize> = contended.map(|(index, _)| index).collect();
        let mut unlisted = Unlisted::of(rows, listed, evidence.day);
        let mut replaced: HashMap<usize, SeenEntryId> = HashMap::new();
        // A reference is the best evidence, so entries with one come first, in any place of the
        // page.
        for (index, _, links) in &compared {
            replaced.extend(replaceable.by_reference(links).map(|id| (*index, id)));
        }
        let mut open: Vec<(Numbered, EntryLinks)> = Vec::new();
        for (index, entry, links) in &compared {
            let mut none = 0;
            let left = links
                .payment
                .and_then(|payment| new_payments.get_mut(&payment))
                .unwrap_or(&mut none);
            if !replaced.contains_key(index) {
                // An entry that could book a pending one and complete another one replaces neither.
                let is_form = unlisted.forms(links).next().is_some();
                match replaceable.by_payment(links, *left, &contended, is_form) {
                    Payment::None => open.push((entry.numbered(), **links)),
                    Payment::Unclear => {}
                    Payment::Replaces(id) => {
                        replaced.insert(*index, id);
                    }
                }
            }
            *left = left.saturating_sub(usize::from(entry.new));
        }
        let taken = replaceable.replaced();
        let is_taken = |index| contended.contains(&index) || taken.contains(&index);
        unlisted.retain(|index| !is_taken(index));
        let completed = unlisted.completed(&open, evidence);
        for (index, entry, _) in &compared {
            let row = completed.get(&entry.numbered());
            replaced.extend(row.and_then(|row| Some((*index, replaceable.replace(*row)?))));
        }
        for (index, entry, links) in compared {
            let Some(relation) = relations.get_mut(index) else {
                continue;
            };
            *relation = Some(match (entry.new, replaced.get(&index)) {
                (true, Some(id)) => EntryRelation::Replaces(*id),
                // The last cursor may lead to a day that is over, on which no further full walk can
                // decide.
                (true, None) if entry.seen.day < evidence.day => EntryRelation::New {
                    may_replace: Unlisted::of(rows, listed, entry.seen.day)
                        .forms(links)
                        .map(|(_, row)| row.id())
                        .take(Replaceable::MAX_CANDIDATES)
                        .collect(),
                },
                (true, None) => EntryRelation::New {
                    may_replace: replaceable.candidates(links),
                },
                (false, id) => EntryRelation::Returned {
                    replaces: id.copied(),
                },
            });
        }
        for index in replaceable.into_replaced() {
            rows.get_mut(index)
                .into_iter()
                .for_each(|row| row.state = State::Replaced);
        }
    }

    /// Ends a full walk: entries that it did not list are missing, and those that were missing
    /// before have vanished, unless some could not be read.
    fn complete(
        rows: &mut Vec<Tracked>,
        listed: &Listed<'_>,
        day: Date,
        all_read: bool,
    ) -> Vec<AccountNotice> {
        let mut vanished: Vec<&Tracked> = Vec::new();
        let mut is_one_left = false;
        // Booked entries of other days have left the statement with their day.
        for row in rows
            .iter_mut()
            .filter(|row| all_read && (row.on == Some(day) || !row.links.booked))
        {
            match row.state {
                State::Listed if !listed.has(row) => row.state = State::Missing,
                State::Missing => {
                    row.state = State::Vanished;
                    vanished.push(row);
                }
                State::Listed => is_one_left |= row.links.booked,
                State::Vanished | State::Replaced => {}
            }
        }
        let booked = vanished.iter().filter(|row| row.links.booked).count();
        // This is probably a mistake of the bank and not the end of each entry, so one notice
        // suffices.
        let are_all_gone = booked > 1 && !is_one_left;
        let said = vanished
            .iter()
            .filter(|row| !(are_all_gone && row.links.booked));
        let mut notices: Vec<AccountNotice> = said
            .map(|row| AccountNotice::Vanished {
                id: row.id(),
                booked: row.links.booked,
            })
            .collect();
        if are_all_gone {
            notices.push(AccountNotice::AllVanished { count: booked });
        }
        rows.retain(|row| {
            let days = match row.state {
                State::Listed | State::Missing if row.links.booked => 0,
                State::Listed | State::Missing => return true,
                State::Vanished | State::Replaced => Self::PENDING_DAYS,
            };
            row.on
                .is_none_or(|on| (day.to_time() - on.to_time()).whole_days() <= days)
        });
        notices
    }

    /// Evicts the oldest booked entries that are listed, then the oldest of all.
    fn bound(rows: &mut Vec<Tracked>) {
        let mut excess = rows.len().saturating_sub(Self::MAX_ENTRIES);
        rows.retain(|row| {
            // Booked entries that are still listed go first, because they change least.
            let kept = excess == 0 || !row.links.booked || row.state != State::Listed;
            excess -= usize::from(!kept);
            kept
        });
        rows.drain(..rows.len().saturating_sub(Self::MAX_ENTRIES));
    }
}

impl Tracked {
    /// Builds the row of an entry that this page lists; `None` without links, or for an entry of an
    /// earlier day, which cannot be replaced.
    fn of(entry: &OnPage<'_>, day: Option<Date>) -> Option<Self> {
        let links = *entry.links?;
        // A report that is made after midnight may still list entries of the day before.
        let on = if links.booked {
            day.map(|day| entry.seen.day.map_or(day, |own| own.min(day)))
        } else {
            day
        };
        let entry = (entry.seen.key, entry.seen.occurrence);
        (on == day).then_some(Self {
            entry,
            links,
            on,
            state: State::Listed,
        })
    }

    fn id(&self) -> SeenEntryId {
        SeenEntry::new(self.entry.0, self.entry.1, None).id()
    }
}
