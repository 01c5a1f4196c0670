//! Tests of polls: the requested pages, and the entries that are handed over.

use crate::support::Random;
use bankrail_statement::{
    AccountPoll, Cursor, EntryIdentity, EntryKey, PageDecision, PollOptions, PollPosition,
    PollPositionError, PollStep, PolledPage, ReceivedNextPage, StatementDay, WalkError,
};
use bankrail_values::{Date, Timestamp};
use std::collections::HashMap;
use std::time::Duration;

fn start() -> Timestamp {
    "2026-11-21T06:00:00.000Z".parse().unwrap()
}

fn hour() -> Duration {
    Duration::from_secs(3_600)
}

/// The records of one account in a store.
#[derive(Default)]
struct Store {
    counts: HashMap<EntryKey, u32>,
    position: Option<String>,
    handed: HashMap<(EntryKey, u32), u32>,
}

/// A customer that polls one account with a store.
struct Customer {
    store: Store,
    poll: AccountPoll,
    now: Timestamp,
    /// The cursors of the calls.
    asked: Vec<Option<String>>,
}

impl Customer {
    fn new() -> Self {
        Self {
            store: Store::default(),
            poll: poll_at(None),
            now: start(),
            asked: Vec::new(),
        }
    }

    /// Restarts the process, so that only the store's records are left.
    fn restart(&mut self) {
        self.poll = poll_at(self.store.position.as_deref());
    }

    /// Fetches and commits one page. `page` answers a cursor.
    fn step(
        &mut self,
        page: impl FnOnce(Option<&str>) -> PolledPage,
    ) -> Result<Option<PollStep>, WalkError> {
        let cursor = self
            .poll
            .cursor(self.now)
            .map(|cursor| cursor.as_str().to_owned());
        let page = page(cursor.as_deref());
        self.asked.push(cursor);
        match self.judge(&page) {
            PageDecision::BeginAgain => Ok(None),
            PageDecision::Commit(commit) => {
                self.store.commit(&commit);
                self.poll.committed(commit).map(Some)
            }
        }
    }

    fn judge(&mut self, page: &PolledPage) -> PageDecision {
        let known: Vec<u32> = page
            .keys()
            .iter()
            .map(|key| self.store.known(*key))
            .collect();
        self.poll.judge(page, &known, self.now)
    }

    /// Polls these pages, whose cursors are their numbers, to the end of the poll.
    fn poll(&mut self, pages: &[&[EntryIdentity]]) -> Result<PollStep, WalkError> {
        self.poll_from(|cursor| page_of(pages, cursor))
    }

    /// Polls the pages of a bank to the end of the poll.
    fn poll_from(
        &mut self,
        page: impl Fn(Option<&str>) -> PolledPage,
    ) -> Result<PollStep, WalkError> {
        self.asked.clear();
        for _ in 0..100 {
            if let Some(step @ PollStep::Complete { .. }) = self.step(&page)? {
                return Ok(step);
            }
        }
        panic!("the poll does not end");
    }

    fn asked(&self) -> Vec<&str> {
        self.asked
            .iter()
            .map(|cursor| cursor.as_deref().unwrap_or("-"))
            .collect()
    }

    /// Returns the number of entries of a content or reference that were handed over, and checks
    /// that each was handed over once.
    fn handed(&self, entry: &EntryIdentity) -> u32 {
        assert!(self.store.handed.values().all(|times| *times == 1));
        u32::try_from(
            self.store
                .handed
                .keys()
                .filter(|(key, _)| *key == entry.key)
                .count(),
        )
        .unwrap()
    }
}

impl Store {
    fn known(&self, key: EntryKey) -> u32 {
        self.counts.get(&key).copied().unwrap_or(0)
    }

    /// Commits the page in one transaction.
    fn commit(&mut self, commit: &bankrail_statement::PollCommit) {
        for (_, entry) in commit.new_entries() {
            *self
                .handed
                .entry((entry.key, entry.occurrence))
                .or_default() += 1;
        }
        for entry in commit.entries() {
            let count = self.counts.entry(entry.key).or_default();
            *count = (*count).max(entry.occurrence);
        }
        if let Some(position) = commit.position().after {
            self.position = Some(position.to_owned());
        }
    }
}

fn poll_at(position: Option<&str>) -> AccountPoll {
    let poll = AccountPoll::new(position, PollOptions::new());
    assert!(!poll.is_position_unreadable());
    poll
}

fn more(cursor: &str) -> ReceivedNextPage {
    ReceivedNextPage::At {
        cursor: Cursor::parse(cursor).unwrap(),
    }
}

fn page_of(pages: &[&[EntryIdentity]], cursor: Option<&str>) -> PolledPage {
    let at: usize = cursor.map_or(0, |cursor| cursor.parse().unwrap());
    let next = at + 1;
    let page = if next < pages.len() {
        more(&next.to_string())
    } else {
        ReceivedNextPage::None
    };
    PolledPage::new(page, pages[at].to_vec())
}

/// Makes an entry without a reference.
fn plain(content: u8) -> EntryIdentity {
    EntryIdentity::by_content(EntryKey::from([content; 32]), None)
}

fn named(reference: u8) -> EntryIdentity {
    EntryIdentity::by_reference(EntryKey::from([reference; 32]), None)
}

const FULL: PollStep = PollStep::Complete { full: true };
const PARTIAL: PollStep = PollStep::Complete { full: false };

#[test]
fn one_call_when_nothing_is_new() {
    let mut customer = Customer::new();
    let (first, second, third) = ([plain(1), named(2)], [plain(3), named(4)], [plain(5)]);
    assert_eq!(customer.poll(&[&first, &second]), Ok(FULL));
    assert_eq!(customer.asked(), ["-", "1"]);
    for restarted in [false, true] {
        if restarted {
            customer.restart();
        }
        assert_eq!(customer.poll(&[&first, &second]), Ok(PARTIAL));
        assert_eq!(customer.asked(), ["1"], "at the last page");
    }
    // The last page has grown, and there is a new one.
    let grown = [plain(3), named(4), plain(6)];
    assert_eq!(customer.poll(&[&first, &grown, &third]), Ok(PARTIAL));
    assert_eq!(customer.asked(), ["1", "2"]);
    assert_eq!(customer.poll(&[&first, &grown, &third]), Ok(PARTIAL));
    assert_eq!(customer.asked(), ["2"]);
    assert_eq!(customer.store.handed.len(), 6);
}

#[test]
fn a_full_walk_is_made_in_intervals() {
    let mut customer = Customer::new();
    let (first, second) = ([plain(1)], [plain(2)]);
    assert_eq!(customer.poll.last_full_walk(), None);
    assert_eq!(customer.poll(&[&first, &second]), Ok(FULL));
    assert_eq!(customer.poll.last_full_walk(), Some(start()));
    // The entry is inserted before the cursor.
    let inserted = [plain(1), plain(3)];
    customer.now = start().saturating_add(hour() - Duration::from_millis(1));
    assert_eq!(customer.poll(&[&inserted, &second]), Ok(PARTIAL));
    assert_eq!(
        (customer.handed(&plain(3)), customer.poll.last_full_walk()),
        (0, Some(start()))
    );
    customer.now = start().saturating_add(hour());
    assert_eq!(customer.poll(&[&inserted, &second]), Ok(FULL));
    assert_eq!(
        (customer.asked(), customer.handed(&plain(3))),
        (vec!["-", "1"], 1)
    );
    assert_eq!(customer.poll.last_full_walk(), Some(customer.now));
    // The clock was wrong when the last full walk was recorded.
    customer.now = start();
    assert_eq!(customer.poll(&[&inserted, &second]), Ok(FULL));
    // A partial walk that has begun continues, although a full one becomes due meanwhile.
    let pages: [&[EntryIdentity]; 3] = [&inserted, &second, &[plain(4)]];
    assert_eq!(
        customer.step(|cursor| page_of(&pages, cursor)),
        Ok(Some(PollStep::Fetch))
    );
    customer.now = start().saturating_add(hour());
    assert_eq!(customer.poll(&pages), Ok(PARTIAL));
    assert_eq!(customer.asked(), ["2"]);
    assert_eq!(customer.poll(&pages), Ok(FULL));
}

#[test]
fn an_entry_that_moved_past_the_cursor_is_no_new_one() {
    let mut customer = Customer::new();
    let (first, second) = ([plain(1), plain(2)], [plain(3)]);
    assert_eq!(customer.poll(&[&first, &second]), Ok(FULL));
    let (first, second) = ([plain(2)], [plain(3), plain(1), plain(4)]);
    assert_eq!(customer.poll(&[&first, &second]), Ok(FULL));
    assert_eq!(
        customer.asked(),
        ["1", "-", "1"],
        "nothing of the partial walk is handed over; a full walk decides"
    );
    assert_eq!(
        (customer.handed(&plain(1)), customer.handed(&plain(4))),
        (1, 1)
    );
}

#[test]
fn identical_entries_on_one_page_are_handed_over_at_once() {
    let mut customer = Customer::new();
    assert_eq!(customer.poll(&[&[plain(9)], &[plain(1)]]), Ok(FULL));
    assert_eq!(
        customer.poll(&[&[plain(9)], &[plain(1), plain(1), plain(1)]]),
        Ok(PARTIAL)
    );
    assert_eq!(
        (customer.handed(&plain(1)), customer.asked()),
        (3, vec!["1"])
    );
}

#[test]
fn identical_entries_on_two_pages_are_handed_over_when_a_second_full_walk_agrees() {
    let mut customer = Customer::new();
    let twins: [&[EntryIdentity]; 2] = [&[plain(1)], &[plain(2), plain(1)]];
    assert_eq!(customer.poll(&[&[plain(1)], &[plain(2)]]), Ok(FULL));
    assert_eq!(customer.poll(&twins), Ok(FULL));
    assert_eq!(customer.asked(), ["1", "-", "1", "-", "1"]);
    assert_eq!(customer.handed(&plain(1)), 2);
    assert_eq!(customer.poll(&twins), Ok(PARTIAL));
    assert_eq!(customer.asked(), ["1"]);
}

#[test]
fn a_process_that_ends_between_the_two_full_walks_makes_both_again() {
    let mut customer = Customer::new();
    let twins: [&[EntryIdentity]; 2] = [&[plain(1)], &[plain(1)]];
    for _ in 0..2 {
        assert_eq!(
            customer.step(|cursor| page_of(&twins, cursor)),
            Ok(Some(PollStep::Fetch))
        );
        assert_eq!(
            customer.step(|cursor| page_of(&twins, cursor)),
            Ok(Some(PollStep::Fetch))
        );
        assert_eq!(customer.handed(&plain(1)), 1);
        customer.restart();
    }
    assert_eq!(customer.poll(&twins), Ok(FULL));
    assert_eq!(
        (customer.asked(), customer.handed(&plain(1))),
        (vec!["-", "1", "-", "1"], 2)
    );
    // This is so even shortly after a full walk, and for any page that holds an entry back.
    for at in [1, 2] {
        let mut customer = Customer::new();
        let (mut pages, twin) = ([vec![plain(1)], vec![plain(2)], vec![plain(3)]], plain(1));
        let listed = |pages: &[Vec<EntryIdentity>], cursor: Option<&str>| {
            page_of(&pages.iter().map(Vec::as_slice).collect::<Vec<_>>(), cursor)
        };
        assert_eq!(
            customer.poll_from(|cursor| listed(&pages, cursor)),
            Ok(FULL)
        );
        pages[at].push(twin.clone());
        assert_eq!(customer.poll.cursor_refused(), Ok(()));
        for _ in 0..3 {
            assert_eq!(
                customer.step(|cursor| listed(&pages, cursor)),
                Ok(Some(PollStep::Fetch))
            );
        }
        customer.restart();
        assert_eq!(
            customer.poll_from(|cursor| listed(&pages, cursor)),
            Ok(FULL),
            "{at}"
        );
        assert_eq!(customer.asked(), ["-", "1", "2", "-", "1", "2"], "{at}");
        assert_eq!(customer.handed(&twin), 2, "{at}");
    }
}

#[test]
fn a_process_that_ends_within_a_full_walk_leaves_the_position_as_it_was() {
    let mut customer = Customer::new();
    let pages: [&[EntryIdentity]; 3] = [&[plain(1)], &[plain(2)], &[plain(3)]];
    assert_eq!(customer.poll(&pages), Ok(FULL));
    let before = customer.store.position.clone();
    assert_eq!(customer.poll.cursor_refused(), Ok(()));
    for _ in 0..2 {
        assert_eq!(
            customer.step(|cursor| page_of(&pages, cursor)),
            Ok(Some(PollStep::Fetch))
        );
        assert_eq!(customer.store.position, before);
    }
    customer.restart();
    assert_eq!(customer.poll(&pages), Ok(PARTIAL));
    assert_eq!(customer.asked(), ["2"]);
}

/// An entry is handed over once, even if the bank inserts another one between two pages, so that
/// the last entry of a page is also the first of the next one.
#[test]
fn an_entry_that_is_on_two_pages_of_a_shifting_statement_is_handed_over_once() {
    let mut customer = Customer::new();
    let before: [&[EntryIdentity]; 2] = [&[plain(1), plain(2)], &[plain(3)]];
    let after: [&[EntryIdentity]; 2] = [&[plain(9), plain(1)], &[plain(2), plain(3)]];
    assert_eq!(
        customer.step(|cursor| page_of(&before, cursor)),
        Ok(Some(PollStep::Fetch))
    );
    assert_eq!(
        customer.step(|cursor| page_of(&after, cursor)),
        Ok(Some(PollStep::Fetch))
    );
    assert_eq!(customer.poll(&after), Ok(FULL));
    for content in [1, 2, 3, 9] {
        assert_eq!(customer.handed(&plain(content)), 1, "{content}");
    }
}

#[test]
fn an_entry_with_a_reference_is_known_by_it() {
    let mut customer = Customer::new();
    assert_eq!(
        customer.poll(&[&[named(1), named(2)], &[named(2), named(3)]]),
        Ok(FULL)
    );
    // The entry has moved past the cursor, and is twice on one page, like the parts of a batch.
    assert_eq!(
        customer.poll(&[&[named(2)], &[named(1), named(3), named(4), named(4)]]),
        Ok(PARTIAL)
    );
    let handed: Vec<u32> = [1, 2, 3, 4]
        .map(|reference| customer.handed(&named(reference)))
        .to_vec();
    assert_eq!(handed, [1, 1, 1, 2]);
}

#[test]
fn a_corrected_entry_without_a_reference_is_a_new_one() {
    let mut customer = Customer::new();
    assert_eq!(customer.poll(&[&[plain(1), plain(2)]]), Ok(FULL));
    assert_eq!(customer.poll(&[&[plain(1), plain(7)]]), Ok(FULL));
    assert_eq!(
        (customer.handed(&plain(2)), customer.handed(&plain(7))),
        (1, 1)
    );
}

#[test]
fn a_refused_cursor_begins_a_full_walk_and_not_for_ever() {
    let mut customer = Customer::new();
    let pages: [&[EntryIdentity]; 2] = [&[plain(1)], &[plain(2)]];
    assert_eq!(customer.poll(&pages), Ok(FULL));
    assert_eq!(customer.poll.cursor(start()).unwrap().as_str(), "1");
    assert_eq!(customer.poll.cursor_refused(), Ok(()));
    assert_eq!(customer.poll(&pages), Ok(FULL));
    assert_eq!(customer.asked(), ["-", "1"]);
    for _ in 0..4 {
        assert_eq!(customer.poll.cursor_refused(), Ok(()));
        assert_eq!(
            customer.step(|cursor| page_of(&pages, cursor)),
            Ok(Some(PollStep::Fetch))
        );
    }
    assert_eq!(
        customer.poll.cursor_refused(),
        Err(WalkError::BeganAgain { walks: 5 })
    );
    assert_eq!(
        customer.poll(&pages),
        Ok(FULL),
        "the next poll is a full walk"
    );
}

#[test]
fn a_new_day_is_walked_in_full() {
    let day = |text: &str| Some(StatementDay::new(text.parse::<Date>().unwrap()));
    let mut customer = Customer::new();
    let pages: [&[EntryIdentity]; 2] = [&[plain(1)], &[plain(2)]];
    let monday = |cursor: Option<&str>| page_of(&pages, cursor).day(day("2026-11-23"));
    assert_eq!(customer.step(monday), Ok(Some(PollStep::Fetch)));
    assert_eq!(customer.step(monday), Ok(Some(FULL)));
    assert_eq!(customer.step(monday), Ok(Some(PARTIAL)));
    // An entry is booked late on Monday, and the old cursor still shows it. Then Tuesday begins.
    let late = |_: Option<&str>| {
        PolledPage::new(ReceivedNextPage::None, vec![plain(2), plain(3)]).day(day("2026-11-24"))
    };
    assert_eq!(customer.step(late), Ok(Some(PollStep::Fetch)));
    assert_eq!(customer.handed(&plain(3)), 1);
    assert_eq!(
        poll_at(customer.store.position.as_deref()).cursor(start()),
        None,
        "also after the process has ended"
    );
    let tuesday = |_: Option<&str>| {
        PolledPage::new(ReceivedNextPage::None, vec![plain(4)]).day(day("2026-11-24"))
    };
    assert_eq!(customer.step(tuesday), Ok(Some(FULL)));
    assert_eq!(customer.asked.last(), Some(&None));
    // A full walk over midnight has seen parts of two statements.
    let mut customer = Customer::new();
    assert_eq!(customer.step(monday), Ok(Some(PollStep::Fetch)));
    assert_eq!(
        customer.step(|_| page_of(&pages, Some("1")).day(day("2026-11-24"))),
        Ok(Some(PollStep::Fetch))
    );
    assert_eq!(customer.step(tuesday), Ok(Some(FULL)));
    // A bank whose pages never agree on the day ends the poll with its fifth walk.
    let mut customer = Customer::new();
    let days = |cursor: Option<&str>| {
        page_of(&pages, cursor).day(day(if cursor.is_none() {
            "2026-11-23"
        } else {
            "2026-11-24"
        }))
    };
    assert_eq!(customer.poll_from(days), Ok(PARTIAL));
    assert_eq!(customer.asked(), ["-", "1"].repeat(5));
}

#[test]
fn a_statement_that_does_not_end_is_an_error_and_its_pages_are_valid() {
    let dead_ends: [(&str, ReceivedNextPage, WalkError); 2] = [
        (
            "no cursor",
            ReceivedNextPage::WithoutCursor,
            WalkError::MoreWithoutCursor,
        ),
        (
            "the same cursor",
            more("1"),
            WalkError::RepeatedCursor { page: 2 },
        ),
    ];
    for (name, end, error) in dead_ends {
        for known in [false, true] {
            let mut customer = Customer::new();
            if known {
                assert_eq!(
                    customer.poll(&[&[plain(1)], &[plain(2)]]),
                    Ok(FULL),
                    "{name}"
                );
            } else {
                let first = PolledPage::new(more("1"), vec![plain(1)]);
                assert_eq!(
                    customer.step(|_| first),
                    Ok(Some(PollStep::Fetch)),
                    "{name}"
                );
            }
            let last = PolledPage::new(end.clone(), vec![plain(2), plain(3)]);
            let error = match (&error, known) {
                (WalkError::RepeatedCursor { .. }, true) => WalkError::RepeatedCursor { page: 1 },
                (error, _) => error.clone(),
            };
            assert_eq!(customer.step(|_| last), Err(error), "{name}");
            assert_eq!(customer.handed(&plain(3)), 1, "{name}");
            assert_eq!(customer.poll.cursor(start()), None, "{name}");
            customer.restart();
            assert_eq!(customer.poll.cursor(start()), None, "{name}");
        }
    }
    let mut poll = AccountPoll::new(None, PollOptions::new().max_pages(1));
    assert_eq!(poll.cursor(start()), None);
    let PageDecision::Commit(commit) =
        poll.judge(&PolledPage::new(more("1"), vec![]), &[], start())
    else {
        panic!("a full walk")
    };
    assert_eq!(
        poll.committed(commit),
        Err(WalkError::TooManyPages { limit: 1 })
    );
}

#[test]
fn a_walk_ends_when_five_pages_in_a_row_list_nothing_else() {
    // Each case has the entries of the first page, those of another page, and those of each further
    // page.
    let cases: [(&[EntryIdentity], &[EntryIdentity], &[EntryIdentity]); 3] = [
        (&[named(1), named(2)], &[named(3)], &[named(2), named(1)]),
        (&[named(1)], &[named(1), named(2)], &[named(1)]),
        (&[], &[plain(1)], &[]),
    ];
    for (first, other, further) in cases {
        let mut customer = Customer::new();
        let pages = [
            first, further, further, further, other, further, further, further, further, further,
            other,
        ];
        let end = (1..).zip(pages).find_map(|(number, entries)| {
            let page = PolledPage::new(more(&number.to_string()), entries.to_vec());
            let step = customer.step(|_| page);
            (step != Ok(Some(PollStep::Fetch))).then_some((number, step))
        });
        assert_eq!(
            end,
            Some((10, Err(WalkError::NothingMore { pages: 5 }))),
            "{first:?}"
        );
        assert_eq!(customer.poll.cursor(start()), None, "{first:?}");
    }
    // Entries without a reference can be twins, entries that are not handed over are entries, and a
    // last page ends a walk anyway.
    for (entries, others) in [(vec![plain(1)], 0), (vec![named(1)], 1), (vec![], 1)] {
        let mut customer = Customer::new();
        for number in 1..20 {
            let page = PolledPage::new(more(&number.to_string()), entries.clone()).others(others);
            assert_eq!(
                customer.step(|_| page),
                Ok(Some(PollStep::Fetch)),
                "{entries:?}"
            );
        }
    }
    let mut customer = Customer::new();
    assert_eq!(
        customer.poll(&[&[named(1)], &[], &[], &[], &[], &[]]),
        Ok(FULL)
    );
}

#[test]
fn a_statement_in_another_order_is_always_walked_in_full() {
    let mut customer = Customer::new();
    let pages: [&[EntryIdentity]; 2] = [&[plain(1)], &[plain(2)]];
    for _ in 0..2 {
        assert_eq!(
            customer.step(|cursor| page_of(&pages, cursor).ordered(false)),
            Ok(Some(PollStep::Fetch))
        );
        assert_eq!(
            customer.step(|cursor| page_of(&pages, cursor).ordered(false)),
            Ok(Some(FULL))
        );
        assert_eq!(customer.poll.cursor(start()), None);
    }
}

#[test]
fn a_position_is_text_below_one_mebibyte() {
    let mut customer = Customer::new();
    let key = |number: usize| {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&number.to_be_bytes());
        EntryIdentity::by_content(EntryKey::from(key), None)
    };
    for (contents, kept) in [(5_000, true), (5_001, false)] {
        let longest = "\u{1}".repeat(Cursor::MAX_LENGTH);
        let entries: Vec<_> = (0..contents).map(key).collect();
        assert!(
            customer
                .step(|_| PolledPage::new(more(&longest), vec![]))
                .is_ok()
        );
        assert_eq!(
            customer.step(|_| PolledPage::new(ReceivedNextPage::None, entries)),
            Ok(Some(FULL))
        );
        let text = customer.store.position.clone().unwrap();
        assert!(text.len() < 1 << 20, "{}", text.len());
        let position = PollPosition::from_json(&text).unwrap();
        assert_eq!(
            (position.to_json() == text, position.cursor().is_some()),
            (true, kept)
        );
        assert_eq!(position.full_walk_at(), Some(start()));
        customer = Customer::new();
    }
}

#[test]
fn other_texts_are_no_position() {
    let position = PollPosition::start();
    assert_eq!(PollPosition::from_json(&position.to_json()), Ok(position));
    for bad in [
        "",
        "[]",
        "{}",
        r#"{"poll":2}"#,
        r#"{"poll":1,"cursor":"a"}"#,
        r#"{"poll":1,"day":"2026-13-01"}"#,
        r#"{"poll":1,"entries":"="}"#,
        r#"{"poll":1,"account":[]}"#,
        r#"{"poll":1,"account":{"kind":1}}"#,
        r#"{"poll":1,"account":{"gap":"x"}}"#,
        r#"{"poll":1,"walked":{"day":"2026-03-01"}}"#,
    ] {
        assert!(
            matches!(PollPosition::from_json(bad), Err(PollPositionError { .. })),
            "{bad}"
        );
        let mut poll = AccountPoll::new(Some(bad), PollOptions::new());
        assert!(poll.is_position_unreadable(), "{bad}");
        assert_eq!(poll.cursor(start()), None, "{bad}");
        let PageDecision::Commit(commit) = poll.judge(
            &PolledPage::new(ReceivedNextPage::None, vec![]),
            &[],
            start(),
        ) else {
            panic!("a full walk")
        };
        assert_eq!(commit.position().before, Some(bad), "as the store has it");
    }
}

/// One real entry of the bank.
#[derive(Clone)]
struct Real {
    identity: EntryIdentity,
    serial: u64,
}

/// A bank whose statement changes in all ways between two walks.
struct Bank {
    entries: Vec<Real>,
    /// The maximum number of entries that the statement ever listed at once, by content.
    most: HashMap<EntryKey, u32>,
    serial: u64,
    day: u8,
    page_size: usize,
    /// True if a cursor counts entries instead of naming one.
    by_offset: bool,
    /// True if a page repeats the last entry of the page before, provided that it has a reference.
    repeats: bool,
    refuses: bool,
}

impl Bank {
    fn new(random: &mut Random) -> Self {
        let mut bank = Self {
            entries: Vec::new(),
            most: HashMap::new(),
            serial: 0,
            day: 1,
            page_size: 1 + random.below(5),
            by_offset: random.percent(50),
            repeats: random.percent(50),
            refuses: random.percent(30),
        };
        for _ in 0..random.below(12) {
            bank.add(random, true);
        }
        bank
    }

    fn entry(&mut self, random: &mut Random) -> Real {
        self.serial += 1;
        let mut key = [0; 32];
        let identity = if random.percent(30) {
            key[..8].copy_from_slice(&self.serial.to_be_bytes());
            EntryIdentity::by_reference(EntryKey::from(key), None)
        } else {
            key[30] = self.day;
            key[31] = 1 + u8::try_from(random.below(4)).unwrap();
            EntryIdentity::by_content(EntryKey::from(key), None)
        };
        Real {
            identity,
            serial: self.serial,
        }
    }

    fn add(&mut self, random: &mut Random, at_the_end: bool) {
        let real = self.entry(random);
        let at = if at_the_end {
            self.entries.len()
        } else {
            random.below(self.entries.len() + 1)
        };
        self.entries.insert(at, real);
        self.note();
    }

    fn change(&mut self, random: &mut Random) {
        for _ in 0..random.below(4) {
            let some = (!self.entries.is_empty()).then(|| random.below(self.entries.len().max(1)));
            match (random.below(12), some) {
                (0..5, _) => self.add(random, true),
                (5..7, _) => self.add(random, false),
                (7, Some(at)) => drop(self.entries.remove(at)),
                // The bank corrects an entry.
                (8, Some(at)) => self.entries[at] = self.entry(random),
                (9..11, Some(at)) => {
                    let moved = self.entries.remove(at);
                    let to = random.below(self.entries.len() + 1);
                    self.entries.insert(to, moved);
                }
                (11, _) if random.percent(30) => {
                    self.day += 1;
                    self.entries.clear();
                }
                _ => {}
            }
            self.note();
        }
    }

    fn counts(&self) -> HashMap<EntryKey, u32> {
        let mut counts = HashMap::new();
        for real in &self.entries {
            *counts.entry(real.identity.key).or_default() += 1;
        }
        counts
    }

    fn note(&mut self) {
        for (key, count) in self.counts() {
            let most = self.most.entry(key).or_default();
            *most = (*most).max(count);
        }
    }

    /// Returns the page of a cursor; `None` if the cursor is refused.
    fn page(&self, cursor: Option<&str>, random: &mut Random) -> Option<PolledPage> {
        let from = match cursor.map(|cursor| cursor.parse::<u64>().unwrap()) {
            None => 0,
            Some(_) if self.refuses && random.percent(5) => return None,
            Some(offset) if self.by_offset => usize::try_from(offset).unwrap(),
            Some(serial) => self.entries.iter().position(|real| real.serial == serial)? + 1,
        };
        if from > self.entries.len() {
            return None;
        }
        let end = (from + self.page_size).min(self.entries.len());
        let repeated = self.repeats && from > 0 && self.entries[from - 1].identity.has_reference;
        let listed = &self.entries[from - usize::from(repeated)..end];
        let page = if end < self.entries.len() {
            more(
                &if self.by_offset {
                    u64::try_from(end).unwrap()
                } else {
                    self.entries[end - 1].serial
                }
                .to_string(),
            )
        } else {
            ReceivedNextPage::None
        };
        let day = format!("2026-11-{:02}", self.day % 28 + 1).parse().unwrap();
        Some(
            PolledPage::new(
                page,
                listed.iter().map(|real| real.identity.clone()).collect(),
            )
            .day(Some(StatementDay::new(day))),
        )
    }
}

/// Compares the entries that were handed over with the bank's, after a full walk.
fn check(life: &str, customer: &Customer, bank: &Bank) {
    for ((key, number), times) in &customer.store.handed {
        assert_eq!(*times, 1, "{life}: an entry was handed over {times} times");
        assert!(*number <= bank.most[key], "{life}: an entry was invented");
    }
    for (key, count) in bank.counts() {
        for number in 1..=count {
            let handed = customer.store.handed.contains_key(&(key, number));
            assert!(
                handed,
                "{life}: number {number} of {count} equal entries was not handed over"
            );
        }
    }
}

/// Runs one life of an account: walks, changes between them, and processes that end between any two
/// steps.
pub(crate) fn live(mut random: Random, life: &str) {
    let mut bank = Bank::new(&mut random);
    let mut customer = Customer::new();
    let mut walking = false;
    let mut quiet = false;
    for step in 0..140 {
        if step == 40 {
            (quiet, bank.refuses) = (true, false);
            customer.restart();
            customer.now = customer.now.saturating_add(2 * hour());
        }
        let ends = |random: &mut Random| !quiet && random.percent(4);
        if !quiet {
            customer.now = customer.now.saturating_add(Duration::from_secs(
                u64::try_from(random.below(900)).unwrap(),
            ));
        }
        if !walking && !quiet && random.percent(60) {
            bank.change(&mut random);
        }
        let cursor = customer
            .poll
            .cursor(customer.now)
            .map(|cursor| cursor.as_str().to_owned());
        let Some(page) = bank.page(cursor.as_deref(), &mut random) else {
            walking = false;
            if customer.poll.cursor_refused().is_err() {
                customer.restart();
            }
            continue;
        };
        walking = false;
        let PageDecision::Commit(commit) = customer.judge(&page) else {
            continue;
        };
        if ends(&mut random) {
            customer.restart();
            continue;
        }
        customer.store.commit(&commit);
        if ends(&mut random) {
            customer.restart();
            continue;
        }
        match customer.poll.committed(commit).unwrap() {
            PollStep::Fetch => walking = customer.poll.cursor(customer.now).is_some(),
            PollStep::Complete { full: true } => {
                check(life, &customer, &bank);
                if quiet {
                    return;
                }
            }
            PollStep::Complete { full: false } => {}
        }
    }
    panic!("{life}: no full walk was completed");
}

/// Every entry of a completed full walk is handed over exactly once, in 1000 or `BANKRAIL_LIVES`
/// lives. The bank changes between walks, not within one.
#[test]
fn every_entry_of_a_completed_full_walk_is_handed_over_exactly_once() {
    let lives = std::env::var("BANKRAIL_LIVES").map_or(1_000, |lives| lives.parse().unwrap());
    (0..lives).for_each(|seed| live(Random::new(seed), &format!("seed {seed}")));
}
