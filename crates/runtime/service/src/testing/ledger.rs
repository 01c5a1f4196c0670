//! The rules of a ledger.

use crate::endpoints::statement_endpoint::report;
use crate::{Ledger, LedgerAnswer, LedgerPage, PageEntry, ProviderOptions, StatementQuery};
use bankrail_client_assertion::CustomerCode;
use bankrail_statement::{
    AccountId, MaxEntries, NextPage, PagePosition, SortOrder, StatementResponse,
};
use bankrail_values::{Date, Decimal, HyphenatedUuid, Timestamp};

/// The content of a ledger for its suite: one account with entries, and customers who must not see
/// it.
#[derive(Clone, Debug)]
pub struct LedgerFixture {
    customer: CustomerCode,
    account: AccountId,
    day: Date,
    strangers: Vec<CustomerCode>,
    unknown: Vec<AccountId>,
    empty_day: Option<Date>,
    balance: Option<Decimal>,
}

impl LedgerFixture {
    /// Creates an account that is registered for a customer and has three entries or more on a day,
    /// at most 1000.
    #[must_use]
    pub fn new(customer: CustomerCode, account: AccountId, day: Date) -> Self {
        Self {
            customer,
            account,
            day,
            strangers: Vec::new(),
            unknown: Vec::new(),
            empty_day: None,
            balance: None,
        }
    }

    /// Adds a customer that the account is not registered for; the bank may know the customer or
    /// not. Default: none.
    #[must_use]
    pub fn stranger(mut self, customer: CustomerCode) -> Self {
        self.strangers.push(customer);
        self
    }

    /// Adds an account that does not exist, or is not registered for the customer. Default: fifteen
    /// zeros.
    #[must_use]
    pub fn unknown_account(mut self, account: AccountId) -> Self {
        self.unknown.push(account);
        self
    }

    /// Sets a day on which the account has no entries. Default: none, for a ledger that lists the
    /// same entries on each day.
    #[must_use]
    pub fn empty_day(mut self, day: Date) -> Self {
        self.empty_day = Some(day);
        self
    }

    /// Sets the account's balance, with which its pages are compared. Default: none; then only
    /// [`ledger_suite_while_booking`] finds a balance that is wrong on each page.
    #[must_use]
    pub fn balance(mut self, balance: Decimal) -> Self {
        self.balance = Some(balance);
        self
    }

    fn query(&self, order: SortOrder, most: MaxEntries) -> StatementQuery {
        StatementQuery {
            customer: self.customer.clone(),
            account: self.account.clone(),
            day: self.day,
            position: None,
            max_entries: most,
            sort_order: order,
        }
    }
}

const ORDERS: [SortOrder; 2] = [SortOrder::Forward, SortOrder::Backward];
/// The maximum number of pages of a walk: more than the fixture's maximum of entries.
const MAX_PAGES: usize = 1100;

/// Queries a ledger for the fixture's account page by page, in both orders and many lengths, and
/// for accounts that it must not show. Nothing may be booked meanwhile.
///
/// # Panics
/// With the rule that the ledger breaks.
pub async fn ledger_suite<L: Ledger + ?Sized>(ledger: &L, fixture: &LedgerFixture) {
    let whole = whole(ledger, fixture).await;
    can_be_sent(fixture, &whole);
    if let Some(balance) = fixture.balance {
        assert_eq!(whole.balance, balance, "a page has the account's balance");
    }
    for order in ORDERS {
        let mut expected = whole.entries.clone();
        if order == SortOrder::Backward {
            expected.reverse();
        }
        for most in lengths(expected.len()) {
            let pages = walk(ledger, fixture.query(order, most), async || {}).await;
            for page in &pages {
                assert_eq!(
                    page.account, whole.account,
                    "the account is the same on each page"
                );
                assert_eq!(
                    page.balance, whole.balance,
                    "the balance is the same on each page"
                );
                can_be_sent(fixture, page);
            }
            let listed = entries(&pages);
            // Entries are long: the number of the first that differs is enough.
            let alike = listed.iter().zip(&expected).take_while(|(a, b)| a == b);
            let alike = alike.count();
            assert!(
                alike == expected.len() && alike == listed.len(),
                "the pages of {} are the whole in its order: expected its {} entries {order:?}, \
                 found {}, and another one or none in place of number {}",
                most.get(),
                expected.len(),
                listed.len(),
                alike + 1
            );
        }
    }
    hides_what_is_not_the_customers(ledger, fixture).await;
    refuses_positions_that_name_no_entry(ledger, fixture).await;
    if let Some(day) = fixture.empty_day {
        let page = page(
            ledger,
            &StatementQuery {
                day,
                ..fixture.query(SortOrder::Forward, MaxEntries::MAX)
            },
        )
        .await;
        assert!(
            page.entries.is_empty(),
            "a page has the entries of the query's day alone"
        );
        assert!(page.next.is_none(), "a day without entries has one page");
    }
}

/// Books on the fixture's account while its pages are fetched: `book` books one entry on the
/// fixture's day, in the order in which the ledger lists entries that are new.
///
/// # Panics
/// With the rule that the ledger breaks.
pub async fn ledger_suite_while_booking<L: Ledger + ?Sized>(
    ledger: &L,
    fixture: &LedgerFixture,
    mut book: impl AsyncFnMut(),
) {
    for order in ORDERS {
        for most in [1, 2].into_iter().filter_map(MaxEntries::new) {
            let LedgerPage {
                entries: mut before,
                balance,
                ..
            } = whole(ledger, fixture).await;
            let sum = total(&before);
            if order == SortOrder::Backward {
                before.reverse();
            }
            let mut booked = 0;
            let book_some = async || {
                // Two entries at once move the rest by a whole page.
                if booked < 4 {
                    book().await;
                    book().await;
                    booked += 2;
                }
            };
            let listed = entries(&walk(ledger, fixture.query(order, most), book_some).await);
            let mut rest = listed.iter();
            let kept = before
                .iter()
                .all(|entry| rest.any(|listed| listed == entry));
            assert!(
                kept,
                "an entry that is booked between two pages makes none of the others disappear"
            );
            assert!(
                listed.len() <= before.len() + 4,
                "an entry that is booked between two pages repeats none"
            );
            let after = whole(ledger, fixture).await;
            assert_eq!(
                after.entries.len(),
                before.len() + booked,
                "what was booked is listed from the next walk on"
            );
            assert_eq!(
                after.balance - balance,
                total(&after.entries) - sum,
                "what was booked moves the balance by its amount"
            );
        }
    }
}

/// Returns the whole statement as one page.
async fn whole<L: Ledger + ?Sized>(ledger: &L, fixture: &LedgerFixture) -> LedgerPage {
    let query = fixture.query(SortOrder::Forward, MaxEntries::MAX);
    let whole = page(ledger, &query).await;
    assert!(
        whole.entries.len() >= 3,
        "the suite needs three entries or more, found {}",
        whole.entries.len()
    );
    assert!(
        whole.next.is_none(),
        "a page with room for all entries is the last"
    );
    let again = page(ledger, &query).await;
    assert!(
        again.entries == whole.entries,
        "the same query has the same answer while nothing is booked"
    );
    whole
}

/// Returns page lengths from 1 to one more than the number of entries.
fn lengths(entries: usize) -> impl Iterator<Item = MaxEntries> {
    let entries = u16::try_from(entries).unwrap_or(u16::MAX);
    [1, 2, 3, entries - 1, entries, entries.saturating_add(1)]
        .into_iter()
        .filter_map(MaxEntries::new)
}

fn entries(pages: &[LedgerPage]) -> Vec<PageEntry> {
    pages
        .iter()
        .flat_map(|page| &page.entries)
        .cloned()
        .collect()
}

fn total(entries: &[PageEntry]) -> Decimal {
    let amounts = entries.iter().map(|entry| {
        let read = entry.clone().read().expect("an entry can be read");
        read.entry.signed_amount().expect("an entry has a sign")
    });
    amounts.sum()
}

async fn answer<L: Ledger + ?Sized>(ledger: &L, query: &StatementQuery) -> LedgerAnswer {
    ledger.statement(query).await.expect("the ledger answers")
}

async fn page<L: Ledger + ?Sized>(ledger: &L, query: &StatementQuery) -> LedgerPage {
    match answer(ledger, query).await {
        LedgerAnswer::Page(page) => *page,
        LedgerAnswer::UnknownAccount => {
            panic!("the fixture's account is registered for its customer")
        }
        LedgerAnswer::UnknownPosition => panic!("a position that a page ended with is known"),
    }
}

/// Returns all pages; `between` runs after each that is not the last.
async fn walk<L: Ledger + ?Sized>(
    ledger: &L,
    mut query: StatementQuery,
    mut between: impl AsyncFnMut(),
) -> Vec<LedgerPage> {
    let mut pages = Vec::new();
    loop {
        let page = page(ledger, &query).await;
        let most = usize::from(query.max_entries.get());
        assert!(
            page.entries.len() <= most,
            "a page has at most as many entries as the query allows"
        );
        let next = page.next.clone();
        pages.push(page);
        let Some(next) = next else { return pages };
        assert!(
            pages.last().is_some_and(|page| !page.entries.is_empty()),
            "a page that is not the last has entries"
        );
        assert_ne!(
            Some(&next),
            query.position.as_ref(),
            "each page ends at a new position"
        );
        assert!(pages.len() < MAX_PAGES, "a walk ends");
        query.position = Some(next);
        between().await;
    }
}

/// Makes the answer of the statement endpoint from a page.
fn can_be_sent(fixture: &LedgerFixture, page: &LedgerPage) {
    let options = ProviderOptions::default();
    let key = HyphenatedUuid::from_random_bytes([7; 16]);
    for narrative in [true, false] {
        let response = StatementResponse::new(&fixture.account, key, NextPage::None);
        if let Err(error) = report::write(
            &options,
            &response,
            narrative,
            page.clone(),
            Timestamp::UNIX_EPOCH,
        ) {
            panic!("a page can be sent as a report: {}", error.place());
        }
    }
}

async fn hides_what_is_not_the_customers<L: Ledger + ?Sized>(ledger: &L, fixture: &LedgerFixture) {
    let own = fixture.query(SortOrder::Forward, MaxEntries::MAX);
    let position = PagePosition::from_number(0);
    for position in [None, Some(position)] {
        for stranger in &fixture.strangers {
            let query = StatementQuery {
                customer: stranger.clone(),
                position: position.clone(),
                ..own.clone()
            };
            let hidden = matches!(answer(ledger, &query).await, LedgerAnswer::UnknownAccount);
            assert!(
                hidden,
                "an account is unknown to customers that it is not registered for, at any position"
            );
        }
        let zeros =
            AccountId::parse("000000000000000").expect("a constant that is an account identifier");
        for account in fixture
            .unknown
            .iter()
            .chain([&zeros])
            .filter(|account| **account != fixture.account)
        {
            let query = StatementQuery {
                account: account.clone(),
                position: position.clone(),
                ..own.clone()
            };
            let unknown = matches!(answer(ledger, &query).await, LedgerAnswer::UnknownAccount);
            assert!(
                unknown,
                "an account that does not exist is unknown, at any position"
            );
        }
    }
}

/// Checks that positions without an entry are refused. Sealed cursors return such positions when
/// entries have gone meanwhile, or when another version made the position.
async fn refuses_positions_that_name_no_entry<L: Ledger + ?Sized>(
    ledger: &L,
    fixture: &LedgerFixture,
) {
    let longest = [0xff; PagePosition::MAX_LENGTH];
    for bytes in [
        &[0xff_u8][..],
        &[0xff; 8],
        &[0xff; 16],
        b"no entry",
        &longest,
    ] {
        for order in ORDERS {
            let position = PagePosition::from_bytes(bytes);
            let query = StatementQuery {
                position,
                ..fixture.query(order, MaxEntries::MAX)
            };
            let refused = matches!(answer(ledger, &query).await, LedgerAnswer::UnknownPosition);
            assert!(
                refused,
                "a position of {} bytes that names no entry is unknown",
                bytes.len()
            );
        }
    }
}
