//! The judgement of a received page: its new entries, their relations, and the position after it.

use super::{PageDecision, PollCommit, PolledPage};
use crate::poll::day::WalkedDay;
use crate::poll::position::Resume;
use crate::poll::{Delta, Judged, MAX_FRUITLESS_PAGES, OnPage, Walk, WalkEvidence};
use crate::seen::{EntryCounter, EntryIdentity, EntryKey, PageCounts, SeenEntry};
use crate::{AccountNotice, AccountPoll, PollPosition, ReceivedNextPage, Step, WalkError};
use bankrail_values::{Date, Timestamp};
use std::time::Duration;

impl AccountPoll {
    /// Decides on the page that was received for [`AccountPoll::cursor`]. `known` has the store's
    /// counts of the keys of the page's entries, in their order.
    ///
    /// If the decision is [`PageDecision::Commit`], the poll is unchanged, and the page can be
    /// judged again with newer counts.
    pub fn judge(&mut self, page: &PolledPage, known: &[u32], now: Timestamp) -> PageDecision {
        let walk = &self.walk;
        let alone = EntryCounter::default();
        let before = if walk.full { &walk.counter } else { &alone };
        let mut counts = PageCounts::default();
        let numbered: Vec<SeenEntry> = page
            .entries
            .iter()
            .map(|entry| before.count(&mut counts, entry))
            .collect();
        let mut commit = PollCommit::default();
        let (mut held_back, mut undecided) = (Vec::new(), Vec::new());
        // If there are fewer counts than keys, the rest counts as unknown.
        let known: Vec<u32> = known
            .iter()
            .copied()
            .chain(std::iter::repeat(0))
            .take(numbered.len())
            .collect();
        let may_complete = self.may_complete(page, &numbered, &known);
        for (index, (((entry, seen), known), may_complete)) in page
            .entries
            .iter()
            .zip(numbered)
            .zip(known)
            .zip(may_complete)
            .enumerate()
        {
            let new = seen.occurrence > known;
            let ambiguous = !entry.has_reference && self.is_ambiguous(&counts, entry.key, known);
            if !walk.full && (ambiguous || may_complete) {
                // A partial walk is the first of its poll, so this does not exceed the maximum of
                // walks.
                (self.walks, self.walk) = (self.walks.saturating_add(1), Walk::full(&self.options));
                return PageDecision::BeginAgain;
            }
            let earlier = walk.counter.count_of(entry.key);
            let is_counted_twice =
                !entry.has_reference && new && earlier > 0 && !self.was_counted_before(&seen);
            if is_counted_twice || may_complete {
                held_back.push(entry.key);
                let links = page.links.get(index).filter(|_| may_complete);
                undecided.extend(links.map(|links| ((seen.key, seen.occurrence), *links)));
            } else {
                commit.push(index, seen, new);
            }
        }
        let day = page.day.map(|day| day.day);
        let day_changed = day.is_some_and(|day| self.known_day().is_some_and(|known| known != day));
        let fruitless = if walk.is_fruitless(page) {
            walk.fruitless.saturating_add(1)
        } else {
            0
        };
        let after = match walk.cursors.after(&page.next) {
            // A service whose cursors have no end would use up all calls.
            Ok(Step::Fetch(_)) if fruitless >= MAX_FRUITLESS_PAGES => {
                Err(WalkError::NothingMore { pages: fruitless })
            }
            after => after,
        };
        let stated = page.stated.clone();
        let unread = page.unread.iter().map(|(hash, _)| *hash).collect();
        commit.delta = Delta {
            counts,
            held_back,
            undecided,
            day,
            day_changed,
            fruitless,
            stated,
            unread,
            after,
            ..Delta::default()
        };
        commit.next = self.position_after(page, &commit.delta, now);
        self.relate(page, now, &mut commit);
        // Most pages of a full walk change the position only in parts that need no record.
        commit.position = (self.moves(&commit.delta) || commit.next != self.position)
            .then(|| commit.next.to_json().into());
        commit.before = self.stored.clone();
        PageDecision::Commit(Box::new(commit))
    }

    /// Returns true for each entry of the page that may be a completed form of another one, which
    /// only the end of a full walk or a second walk decides.
    fn may_complete(&self, page: &PolledPage, numbered: &[SeenEntry], known: &[u32]) -> Vec<bool> {
        let walk = &self.walk;
        let single = walk.cursors.pages() == 0 && matches!(page.next, ReceivedNextPage::None);
        if walk.full && single {
            return vec![false; numbered.len()];
        }
        let entries = numbered.iter().zip(known).zip(0..);
        let on_page: Vec<OnPage<'_>> = entries
            .map(|((seen, known), index)| OnPage {
                seen,
                new: seen.occurrence > *known,
                links: page.links.get(index),
            })
            .collect();
        let evidence = WalkEvidence {
            before: &walk.listed,
            complete: false,
            all_read: true,
            single: false,
            day: page.day.map(|day| day.day).or(walk.day),
            completions: None,
        };
        let may_complete = self.position.tracked.may_complete(&on_page, &evidence);
        // The entries that the walk before held back are decided. An entry that the bank has
        // completed since then waits for another walk.
        let is_decided = |seen: &SeenEntry| {
            let decided = self.completions.as_ref().filter(|_| walk.full);
            decided.is_some_and(|decided| decided.contains_key(&(seen.key, seen.occurrence)))
        };
        let entries = numbered.iter().zip(may_complete);
        entries
            .map(|(seen, may_complete)| may_complete && !is_decided(seen))
            .collect()
    }

    /// Adds the relations of the page's entries and the notices about the account to a commit and
    /// to the position after it.
    fn relate(&self, page: &PolledPage, now: Timestamp, commit: &mut PollCommit) {
        let complete = self.completes(&commit.delta);
        let all_read = self.walk.unread.is_empty() && page.unread.is_empty();
        let day = commit.delta.day.or(self.walk.day);
        let on_page: Vec<OnPage<'_>> = commit
            .all()
            .map(|(index, seen, new)| OnPage {
                seen,
                new,
                links: page.links.get(index),
            })
            .collect();
        let single = self.walk.cursors.pages() == 0;
        let evidence = WalkEvidence {
            before: &self.walk.listed,
            complete,
            all_read,
            single,
            day,
            completions: self.completions.as_ref(),
        };
        let Judged {
            tracked,
            relations,
            mut notices,
        } = self.position.tracked.judge(&on_page, &evidence);
        commit.delta.listed = on_page.iter().map(|entry| entry.seen.key).collect();
        commit.relations = relations;
        commit.next.tracked = tracked;
        notices.extend(commit.next.books.page(&page.stated));
        let known = &self.position.unread;
        let unread = page.unread.iter().filter(|(hash, _)| !known.contains(hash));
        notices.extend(unread.map(|(_, place)| AccountNotice::Unreadable {
            place: place.clone(),
        }));
        let ends = self.walk.full && matches!(commit.delta.after, Ok(Step::Done));
        let before = if ends { &self.walk.unread } else { known };
        let all = before.iter().chain(&commit.delta.unread);
        commit.next.unread = all.copied().take(PollPosition::MAX_UNREAD).collect();
        if let Some(day) = day.filter(|_| complete && all_read) {
            let mut sums = self.walk.sums.clone();
            sums.add(&page.stated);
            notices.extend(commit.next.books.complete(&sums, day));
        }
        if let Some(next) = commit.delta.day
            && let Some(last) = commit.next.walked.take_if(|last| last.day < next)
            // After the end, the last cursor may still lead to that day's entries.
            && (self.walk.full || !page.entries.iter().any(|entry| entry.day == Some(last.day)))
        {
            notices.extend(last.notice(next, self.options.unseen));
        }
        if matches!(commit.delta.after, Ok(Step::Done)) {
            commit.next.walked = page.day.and_then(|day| WalkedDay::complete(day, now));
        }
        let is_booked = |index: usize| page.links.get(index).is_none_or(|links| links.booked);
        commit.late = commit
            .all()
            .map(|(index, seen, new)| new && is_booked(index) && self.is_late(seen, now))
            .collect();
        commit.notices = notices;
    }

    /// Returns true if a full walk through the statement of a later day was completed before. A day
    /// in the future, by more than zones differ, was written under a wrong clock.
    fn is_late(&self, entry: &SeenEntry, now: Timestamp) -> bool {
        // Tomorrow is already today in the east; a later day was recorded under a wrong clock.
        let tomorrow = now.saturating_add(Duration::from_secs(86_400)).date();
        let complete = self.position.day.filter(|day| *day <= tomorrow);
        entry
            .day
            .zip(complete)
            .is_some_and(|(own, complete)| own < complete)
    }

    /// Returns true if a full walk ends with this page and shows the whole statement of one day.
    fn completes(&self, delta: &Delta) -> bool {
        let walk = &self.walk;
        let certain = walk.held_back.is_empty() && delta.held_back.is_empty();
        walk.full
            && matches!(delta.after, Ok(Step::Done))
            && certain
            && !walk.day_changed
            && !delta.day_changed
    }

    /// Returns true if a partial walk cannot count the new entries of this content. This is so if
    /// the page lists more of them than last time, and the store has some that were not on this
    /// page and may have moved onto it.
    fn is_ambiguous(&self, counts: &PageCounts, key: EntryKey, known: u32) -> bool {
        let resumed = (self.walk.cursors.pages() == 0)
            .then_some(self.position.resume.as_ref())
            .flatten();
        let last_time = resumed
            .and_then(|resume| resume.listed.get(&key))
            .copied()
            .unwrap_or(0);
        let listed = counts.contents().get(&key).copied().unwrap_or(0);
        listed > last_time && known > last_time
    }

    fn was_counted_before(&self, seen: &SeenEntry) -> bool {
        self.counted_before
            .get(&seen.key)
            .is_some_and(|counted| seen.occurrence <= *counted)
    }

    /// Returns the day of the statement in this walk, or in the walk that it continues.
    fn known_day(&self) -> Option<Date> {
        self.walk.day.or(if self.walk.full {
            None
        } else {
            self.position.day
        })
    }

    /// Returns true if a page changes the stored cursor. A full walk changes the stored cursor only
    /// at its last page: an interrupted walk begins again, because the counted entries may have
    /// moved meanwhile.
    fn moves(&self, delta: &Delta) -> bool {
        !(self.walk.full && matches!(delta.after, Ok(Step::Fetch(_))))
    }

    /// Returns the position after a page.
    fn position_after(&self, page: &PolledPage, delta: &Delta, now: Timestamp) -> PollPosition {
        let walk = &self.walk;
        let before = self.position.clone();
        if !self.moves(delta) {
            return before;
        }
        let ends = !matches!(delta.after, Ok(Step::Fetch(_)));
        let certain = walk.held_back.is_empty() && delta.held_back.is_empty();
        // The next walk would miss entries if it began at the cursor of a page out of order, or of
        // a walk that is to be repeated.
        let trusted = delta.after.is_ok()
            && page.ordered
            && certain
            && !(ends && (walk.day_changed || delta.day_changed));
        let resume = walk
            .cursors
            .next()
            .filter(|_| trusted)
            .and_then(|cursor| Resume::new(cursor, &page.entries));
        PollPosition {
            full_walk_at: if self.completes(delta) {
                Some(now)
            } else {
                before.full_walk_at
            },
            day: if walk.full {
                delta.day.or(walk.day)
            } else {
                before.day
            },
            resume,
            ..before
        }
    }
}

impl Walk {
    /// Returns true if all entries of the page have references that this walk has met.
    fn is_fruitless(&self, page: &PolledPage) -> bool {
        let is_known =
            |entry: &EntryIdentity| entry.has_reference && self.listed.contains_key(&entry.key);
        page.others == 0 && page.unread.is_empty() && page.entries.iter().all(is_known)
    }
}
