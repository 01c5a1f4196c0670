//! The entries that were handed over and may still be listed, or be replaced by others.

use super::relation::{AccountNotice, EntryRelation};
use crate::EntryLinks;
use crate::seen::{EntryKey, SeenEntry};
use bankrail_values::Date;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use std::collections::HashMap;

/// An entry by its key and occurrence.
type Numbered = (EntryKey, u32);

/// What is remembered, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Memory(Vec<Remembered>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Remembered {
    entry: Numbered,
    links: EntryLinks,
    /// The day of the statement that listed it last.
    on: Option<Date>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Listed,
    /// The last full walk did not list it.
    Missing,
    /// Two full walks in a row did not list it, and that was said.
    Vanished,
    /// Another one replaces it, and that was said.
    Replaced,
}

/// One entry of a page.
pub(super) struct OnPage<'a> {
    pub(super) seen: &'a SeenEntry,
    /// Without links it is neither remembered nor compared.
    pub(super) links: Option<&'a EntryLinks>,
    pub(super) new: bool,
}

/// What a walk has shown with a page.
pub(super) struct Shown<'a> {
    /// How many entries of each key its pages before this one have listed.
    pub(super) before: &'a HashMap<EntryKey, u32>,
    /// Whether it is a full walk that ends with this page, so that what it did not list is not in the statement.
    pub(super) complete: bool,
    /// Whether that walk has one page, so that nothing can have moved from one to another meanwhile.
    pub(super) single: bool,
    /// The day of the statement.
    pub(super) day: Option<Date>,
}

/// What follows from a page.
#[derive(Clone, Debug, Default)]
pub(super) struct Remembering {
    pub(super) memory: Memory,
    /// For each entry of the page what it is, if it is handed over.
    pub(super) relations: Vec<Option<EntryRelation>>,
    pub(super) notices: Vec<AccountNotice>,
}

impl Memory {
    /// So many entries make a text of a quarter of a MiB.
    const MOST: usize = 2_000;
    /// For how many days after it was listed an entry can be replaced that is not booked, or return.
    const PENDING_DAYS: i64 = 7;
    /// The bytes of an entry in the text.
    const ROW: usize = 32 + 4 + 3 * 16 + 4 + 1;

    /// Judges the entries of a page, in their order.
    pub(super) fn page(&self, page: &[OnPage<'_>], shown: &Shown<'_>) -> Remembering {
        let mut rows = self.0.clone();
        let mut listed = shown.before.clone();
        page.iter().for_each(|entry| *listed.entry(entry.seen.key).or_default() += 1);
        let mut notices = Vec::new();
        let mut relations = Self::known(&mut rows, page, shown, &listed, &mut notices);
        let is_compared = |relation: &Option<EntryRelation>| {
            matches!(relation, Some(EntryRelation::New { .. } | EntryRelation::Returned { .. }))
        };
        if relations.iter().any(is_compared) {
            let mut gone = Gone::of(&rows, &listed, shown);
            let mut new_payments: HashMap<u128, usize> = HashMap::new();
            for payment in page.iter().filter(|entry| entry.new).filter_map(|entry| entry.links?.payment) {
                *new_payments.entry(payment).or_default() += 1;
            }
            for (entry, relation) in page.iter().zip(&mut relations).filter(|(_, relation)| is_compared(relation)) {
                let Some(links) = entry.links else { continue };
                let mut none = 0;
                let left = links.payment.and_then(|payment| new_payments.get_mut(&payment)).unwrap_or(&mut none);
                *relation = Some(match (entry.new, gone.relation(links, *left)) {
                    (true, relation) => {
                        *left = left.saturating_sub(1);
                        relation
                    }
                    (false, EntryRelation::Replaces(id)) => EntryRelation::Returned { replaces: Some(id) },
                    (false, _) => EntryRelation::Returned { replaces: None },
                });
            }
            for index in gone.replaced {
                rows.get_mut(index).into_iter().for_each(|row| row.state = State::Replaced);
            }
        }
        if let Some(day) = shown.day.filter(|_| shown.complete) {
            notices.extend(Self::complete(&mut rows, &listed, day));
        }
        rows.extend(page.iter().filter(|entry| entry.new).filter_map(|entry| Remembered::of(entry, shown.day)));
        Self::bound(&mut rows);
        Remembering { memory: Self(rows), relations, notices }
    }

    /// Marks the entries of the page that are remembered, and finds those that are handed over again. What is known and
    /// was forgotten is remembered anew.
    fn known(
        rows: &mut Vec<Remembered>,
        page: &[OnPage<'_>],
        shown: &Shown<'_>,
        listed: &HashMap<EntryKey, u32>,
        notices: &mut Vec<AccountNotice>,
    ) -> Vec<Option<EntryRelation>> {
        let at: HashMap<Numbered, usize> = rows.iter().enumerate().map(|(index, row)| (row.entry, index)).collect();
        let known = |entry: &OnPage<'_>| {
            if entry.new {
                return Some(EntryRelation::New { may_replace: Vec::new() });
            }
            let now = Remembered::of(entry, shown.day)?;
            let Some(row) = at.get(&now.entry).and_then(|index| rows.get_mut(*index)) else {
                rows.extend((rows.len() < Self::MOST).then_some(now));
                return None;
            };
            // Parts of a batch share a reference, and a page that lists one of them does not say which.
            let is_alone = listed.get(&entry.seen.key) == Some(&1);
            let changed = is_alone && now.links.reference.is_some() && row.links.payment != now.links.payment;
            let links = if is_alone { now.links } else { row.links };
            match std::mem::replace(row, Remembered { links, ..now }).state {
                State::Vanished if links.booked => {
                    notices.push(AccountNotice::Reappeared { id: row.id() });
                    None
                }
                State::Vanished | State::Replaced => Some(EntryRelation::Returned { replaces: None }),
                State::Listed | State::Missing => changed.then_some(EntryRelation::TextChanged),
            }
        };
        page.iter().map(known).collect()
    }

    /// Ends a full walk: what it did not list is missing, and what was missing before has vanished.
    fn complete(rows: &mut Vec<Remembered>, listed: &HashMap<EntryKey, u32>, day: Date) -> Vec<AccountNotice> {
        let mut vanished: Vec<&Remembered> = Vec::new();
        let mut is_one_left = false;
        // Booked entries of other days have left the statement with their day.
        for row in rows.iter_mut().filter(|row| row.on == Some(day) || !row.links.booked) {
            match row.state {
                State::Listed if !row.is_listed(listed) => row.state = State::Missing,
                State::Missing => {
                    row.state = State::Vanished;
                    vanished.push(row);
                }
                State::Listed => is_one_left |= row.links.booked,
                State::Vanished | State::Replaced => {}
            }
        }
        let booked = vanished.iter().filter(|row| row.links.booked).count();
        let are_all_gone = booked > 1 && !is_one_left;
        let said = vanished.iter().filter(|row| !(are_all_gone && row.links.booked));
        let mut notices: Vec<AccountNotice> =
            said.map(|row| AccountNotice::Vanished { id: row.id(), booked: row.links.booked }).collect();
        if are_all_gone {
            notices.push(AccountNotice::AllVanished { count: booked });
        }
        rows.retain(|row| {
            let days = match row.state {
                State::Listed | State::Missing if row.links.booked => 0,
                State::Listed | State::Missing => return true,
                State::Vanished | State::Replaced => Self::PENDING_DAYS,
            };
            row.on.is_none_or(|on| (day.to_time() - on.to_time()).whole_days() <= days)
        });
        notices
    }

    /// Forgets the oldest booked entries that are listed, then the oldest of all.
    fn bound(rows: &mut Vec<Remembered>) {
        let mut excess = rows.len().saturating_sub(Self::MOST);
        rows.retain(|row| {
            let kept = excess == 0 || !row.links.booked || row.state != State::Listed;
            excess -= usize::from(!kept);
            kept
        });
        rows.drain(..rows.len().saturating_sub(Self::MOST));
    }

    /// Writes all rows as base64.
    pub(super) fn to_text(&self) -> String {
        let mut bytes = Vec::with_capacity(self.0.len() * Self::ROW);
        for Remembered { entry: (key, occurrence), links, on, state } in &self.0 {
            bytes.extend(key.as_bytes());
            bytes.extend(occurrence.to_be_bytes());
            // No hash is 0.
            for link in [links.amount, links.reference.unwrap_or(0), links.payment.unwrap_or(0)] {
                bytes.extend(link.to_be_bytes());
            }
            bytes.extend(on.map_or(0, |on| on.to_time().to_julian_day()).to_be_bytes());
            bytes.push(u8::from(links.booked) | (*state as u8) << 1);
        }
        BASE64.encode(bytes)
    }

    /// Reads what [`Memory::to_text`] wrote.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        let bytes = BASE64.decode(text).ok()?;
        let rows = bytes.chunks(Self::ROW).map(Remembered::read).collect::<Option<Vec<_>>>()?;
        (rows.len() <= Self::MOST).then_some(Self(rows))
    }
}

impl Remembered {
    /// An entry that this page lists; `None` for one that nothing can come of: without links, or of an earlier day.
    fn of(entry: &OnPage<'_>, day: Option<Date>) -> Option<Self> {
        let links = *entry.links?;
        // A report that is made after midnight may still list the day before.
        let on = if links.booked { day.map(|day| entry.seen.day.map_or(day, |own| own.min(day))) } else { day };
        let entry = (entry.seen.key, entry.seen.occurrence);
        (on == day).then_some(Self { entry, links, on, state: State::Listed })
    }

    /// Whether as many entries of its key are listed. Entries with a reference are counted by page, so the second one of
    /// a page may be the first one of the next page now.
    fn is_listed(&self, listed: &HashMap<EntryKey, u32>) -> bool {
        listed.get(&self.entry.0).is_some_and(|count| *count >= self.entry.1)
    }

    fn id(&self) -> [u8; 32] {
        SeenEntry::new(self.entry.0, self.entry.1, None).id()
    }

    fn read(row: &[u8]) -> Option<Self> {
        let (key, row) = row.split_first_chunk::<32>()?;
        let (occurrence, row) = row.split_first_chunk()?;
        let (amount, row) = row.split_first_chunk()?;
        let (reference, row) = row.split_first_chunk()?;
        let (payment, row) = row.split_first_chunk()?;
        let (on, row) = row.split_first_chunk()?;
        let [flags] = row else { return None };
        let link = |bytes: &[u8; 16]| Some(u128::from_be_bytes(*bytes)).filter(|link| *link != 0);
        let state = match flags >> 1 {
            0 => State::Listed,
            1 => State::Missing,
            2 => State::Vanished,
            3 => State::Replaced,
            _ => return None,
        };
        let links = EntryLinks {
            booked: flags & 1 == 1,
            amount: u128::from_be_bytes(*amount),
            reference: link(reference),
            payment: link(payment),
        };
        let on = match i32::from_be_bytes(*on) {
            0 => None,
            day => Some(Date::from_time(time::Date::from_julian_day(day).ok()?)?),
        };
        Some(Self { entry: (EntryKey::from(*key), u32::from_be_bytes(*occurrence)), links, on, state })
    }
}

/// Places of rows by a link.
type ByLink = HashMap<u128, Vec<usize>>;

/// The entries that a statement no longer lists and a new one may replace, by their links.
struct Gone<'a> {
    rows: &'a [Remembered],
    by_reference: ByLink,
    by_payment: ByLink,
    by_amount: ByLink,
    /// Whether a full walk has shown that they are gone, and whether it had one page.
    certain: bool,
    single: bool,
    replaced: Vec<usize>,
}

impl<'a> Gone<'a> {
    /// The most candidates of one entry.
    const MOST_CANDIDATES: usize = 8;
    /// So many equal payments are looked at; more are not told apart.
    const MOST_COMPARED: usize = 64;

    fn of(rows: &'a [Remembered], listed: &HashMap<EntryKey, u32>, shown: &Shown<'_>) -> Self {
        let (by_reference, by_payment, by_amount) = Default::default();
        let (certain, single, replaced) = (shown.complete, shown.single, Vec::new());
        let mut gone = Self { rows, by_reference, by_payment, by_amount, certain, single, replaced };
        for (index, row) in rows.iter().enumerate() {
            // A booked entry may also stand on another page, or have left the statement with its day.
            let may_be_replaced = !row.links.booked || (shown.complete && row.on == shown.day);
            if may_be_replaced && !row.is_listed(listed) && row.state != State::Replaced {
                for (rows, link) in gone.places(&row.links) {
                    link.into_iter().for_each(|link| rows.entry(link).or_default().push(index));
                }
            }
        }
        gone
    }

    fn places(&mut self, links: &EntryLinks) -> [(&mut ByLink, Option<u128>); 3] {
        [
            (&mut self.by_reference, links.reference),
            (&mut self.by_payment, links.payment.filter(|_| !links.booked)),
            (&mut self.by_amount, Some(links.amount)),
        ]
    }

    /// What a new entry is. `new_ones` of the page, this one among them, have its payment and no relation yet.
    fn relation(&mut self, new: &EntryLinks, new_ones: usize) -> EntryRelation {
        let by_reference = self.rows_of(&self.by_reference, new.reference);
        let by_payment = self.rows_of(&self.by_payment, new.payment.filter(|_| new.booked));
        let is_booked_now = |row: &Remembered| new.booked && !row.links.booked && row.links.amount == new.amount;
        // Of several pages, an entry can have moved to one that was fetched before.
        let is_surely_gone =
            |row: &Remembered| self.certain && (self.single || !row.links.booked || row.state != State::Listed);
        let alike =
            by_payment.iter().all(|(_, row)| by_payment.first().is_some_and(|first| first.1.entry.0 == row.entry.0));
        let unmistakable = self.certain && (alike || by_payment.len() <= new_ones.min(Self::MOST_COMPARED - 1));
        let earlier = by_reference.iter().find(|(_, row)| is_booked_now(row));
        let earlier = earlier.or_else(|| by_reference.iter().find(|(_, row)| is_surely_gone(row)));
        if let Some((index, row)) = earlier.or_else(|| by_payment.first().filter(|_| unmistakable)).copied() {
            for (rows, link) in self.places(&row.links) {
                let rows = link.and_then(|link| rows.get_mut(&link));
                rows.into_iter().for_each(|rows| rows.retain(|other| *other != index));
            }
            self.replaced.push(index);
            return EntryRelation::Replaces(row.id());
        }
        let by_amount = self.rows_of(&self.by_amount, Some(new.amount));
        let mut may_replace: Vec<[u8; 32]> = Vec::new();
        for (_, row) in by_reference.iter().chain(&by_payment).chain(&by_amount) {
            if may_replace.len() == Self::MOST_CANDIDATES {
                break;
            }
            let id = row.id();
            if !may_replace.contains(&id) {
                may_replace.push(id);
            }
        }
        EntryRelation::New { may_replace }
    }

    /// The first rows of a link that nothing has replaced yet.
    fn rows_of(&self, by_link: &ByLink, link: Option<u128>) -> Vec<(usize, &'a Remembered)> {
        let indices = link.and_then(|link| by_link.get(&link)).into_iter().flatten().take(Self::MOST_COMPARED);
        indices.filter_map(|index| Some((*index, self.rows.get(*index)?))).collect()
    }
}
