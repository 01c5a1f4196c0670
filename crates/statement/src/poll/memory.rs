//! The entries that were handed over and may still be listed, or be replaced by others.

use super::relation::{AccountNotice, EntryRelation};
use crate::EntryLinks;
use crate::seen::{EntryKey, SeenEntry};
use bankrail_values::Date;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use std::collections::{HashMap, HashSet};

/// An entry by its key and occurrence.
pub(super) type Numbered = (EntryKey, u32);

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

impl OnPage<'_> {
    pub(super) fn numbered(&self) -> Numbered {
        (self.seen.key, self.seen.occurrence)
    }
}

/// What a walk has shown with a page.
pub(super) struct Shown<'a> {
    /// What its pages before this one have listed.
    pub(super) before: &'a HashSet<Numbered>,
    /// Whether it is a full walk that ends with this page, so that what it did not list is not in the statement.
    pub(super) complete: bool,
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
        let mut relations = Self::known(&mut rows, page, shown.day);
        let listed: HashSet<Numbered> = page.iter().map(OnPage::numbered).chain(shown.before.iter().copied()).collect();
        if page.iter().any(|entry| entry.new) {
            let mut gone = Gone::of(&rows, &listed, shown);
            let mut new_payments: HashMap<u128, usize> = HashMap::new();
            for payment in page.iter().filter(|entry| entry.new).filter_map(|entry| entry.links?.payment) {
                *new_payments.entry(payment).or_default() += 1;
            }
            for (entry, relation) in page.iter().zip(&mut relations).filter(|(entry, _)| entry.new) {
                let Some(links) = entry.links else { continue };
                let mut none = 0;
                let left = links.payment.and_then(|payment| new_payments.get_mut(&payment)).unwrap_or(&mut none);
                *relation = Some(gone.relation(links, *left));
                *left = left.saturating_sub(1);
            }
            let Gone { replaced, .. } = gone;
            for (_, row) in rows.iter_mut().enumerate().filter(|(index, _)| replaced.contains(index)) {
                row.state = State::Replaced;
            }
        }
        let notices = match shown.day {
            Some(day) if shown.complete => Self::complete(&mut rows, &listed, day),
            _ => Vec::new(),
        };
        rows.extend(page.iter().filter(|entry| entry.new).filter_map(|new| {
            Some(Remembered { entry: new.numbered(), links: *new.links?, on: shown.day, state: State::Listed })
        }));
        Self::bound(&mut rows);
        Remembering { memory: Self(rows), relations, notices }
    }

    /// Marks the entries of the page that are remembered, and finds those that are handed over again.
    fn known(rows: &mut [Remembered], page: &[OnPage<'_>], day: Option<Date>) -> Vec<Option<EntryRelation>> {
        let at: HashMap<Numbered, usize> = rows.iter().enumerate().map(|(index, row)| (row.entry, index)).collect();
        let known = |entry: &OnPage<'_>| {
            if entry.new {
                return Some(EntryRelation::New { may_replace: Vec::new() });
            }
            let (row, links) = (rows.get_mut(*at.get(&entry.numbered())?)?, *entry.links?);
            let returned = matches!(row.state, State::Vanished | State::Replaced);
            let changed = links.reference.is_some() && row.links.payment != links.payment;
            (row.on, row.links, row.state) = (day.or(row.on), links, State::Listed);
            match (returned, changed) {
                (true, _) => Some(EntryRelation::Returned),
                (false, true) => Some(EntryRelation::TextChanged),
                (false, false) => None,
            }
        };
        page.iter().map(known).collect()
    }

    /// Ends a full walk: what it did not list is missing, and what was missing before has vanished.
    fn complete(rows: &mut Vec<Remembered>, listed: &HashSet<Numbered>, day: Date) -> Vec<AccountNotice> {
        let mut notices = Vec::new();
        // Booked entries of other days have left the statement with their day.
        for row in rows.iter_mut().filter(|row| row.on == Some(day) || !row.links.booked) {
            match row.state {
                State::Listed if !listed.contains(&row.entry) => row.state = State::Missing,
                State::Missing => {
                    row.state = State::Vanished;
                    notices.push(AccountNotice::Vanished { id: row.id(), booked: row.links.booked });
                }
                State::Listed | State::Vanished | State::Replaced => {}
            }
        }
        rows.retain(|row| {
            let is_over = row.links.booked && matches!(row.state, State::Listed | State::Missing);
            let days = if is_over { 0 } else { Self::PENDING_DAYS };
            row.on.is_none_or(|on| (day.to_time() - on.to_time()).whole_days() <= days)
        });
        notices
    }

    /// Forgets the oldest booked entries, then the oldest.
    fn bound(rows: &mut Vec<Remembered>) {
        let mut excess = rows.len().saturating_sub(Self::MOST);
        rows.retain(|row| {
            let kept = excess == 0 || !row.links.booked;
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

/// The entries that a statement no longer lists and a new one may replace, by their links.
struct Gone<'a> {
    rows: &'a [Remembered],
    by_reference: HashMap<u128, Vec<usize>>,
    by_payment: HashMap<u128, Vec<usize>>,
    by_amount: HashMap<u128, Vec<usize>>,
    /// Whether a full walk has shown that they are gone.
    certain: bool,
    replaced: HashSet<usize>,
}

impl<'a> Gone<'a> {
    /// The most candidates of one entry.
    const MOST_CANDIDATES: usize = 8;

    fn of(rows: &'a [Remembered], listed: &HashSet<Numbered>, shown: &Shown<'_>) -> Self {
        let (by_reference, by_payment, by_amount) = Default::default();
        let mut gone =
            Self { rows, by_reference, by_payment, by_amount, certain: shown.complete, replaced: HashSet::new() };
        for (index, row) in rows.iter().enumerate() {
            // A booked entry may also stand on another page, or have left the statement with its day.
            let may_be_replaced =
                !row.links.booked || (shown.complete && row.on == shown.day && row.state != State::Vanished);
            if !may_be_replaced || listed.contains(&row.entry) || row.state == State::Replaced {
                continue;
            }
            let links = row.links;
            let payment = links.payment.filter(|_| !links.booked);
            for (by_link, link) in [
                (&mut gone.by_reference, links.reference),
                (&mut gone.by_payment, payment),
                (&mut gone.by_amount, Some(links.amount)),
            ] {
                link.into_iter().for_each(|link| by_link.entry(link).or_default().push(index));
            }
        }
        gone
    }

    /// What a new entry is. `new_ones` of the page, this one among them, have its payment and no relation yet.
    fn relation(&mut self, new: &EntryLinks, new_ones: usize) -> EntryRelation {
        let by_reference = self.left(&self.by_reference, new.reference);
        let by_payment = self.left(&self.by_payment, new.payment.filter(|_| new.booked));
        let is_booked_now =
            |(_, row): &&(usize, &Remembered)| new.booked && !row.links.booked && row.links.amount == new.amount;
        let alike =
            by_payment.iter().all(|(_, row)| by_payment.first().is_some_and(|(_, first)| first.entry.0 == row.entry.0));
        let unmistakable = self.certain && (alike || by_payment.len() <= new_ones);
        let earlier = by_reference.iter().find(is_booked_now);
        let earlier = earlier.or_else(|| by_reference.first().filter(|_| self.certain));
        if let Some((index, row)) = earlier.or_else(|| by_payment.first().filter(|_| unmistakable)) {
            let id = row.id();
            self.replaced.insert(*index);
            return EntryRelation::Replaces(id);
        }
        let by_amount = self.left(&self.by_amount, Some(new.amount));
        let mut may_replace: Vec<[u8; 32]> = Vec::new();
        for (_, row) in by_reference.iter().chain(&by_payment).chain(&by_amount) {
            let id = row.id();
            if may_replace.len() < Self::MOST_CANDIDATES && !may_replace.contains(&id) {
                may_replace.push(id);
            }
        }
        EntryRelation::New { may_replace }
    }

    /// The rows of a link that nothing has replaced yet.
    fn left(&self, by_link: &HashMap<u128, Vec<usize>>, link: Option<u128>) -> Vec<(usize, &'a Remembered)> {
        let indices = link.and_then(|link| by_link.get(&link)).into_iter().flatten().copied();
        let left = indices.filter(|index| !self.replaced.contains(index));
        left.filter_map(|index| Some((index, self.rows.get(index)?))).collect()
    }
}
