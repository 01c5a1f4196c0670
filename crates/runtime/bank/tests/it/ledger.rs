//! The ledger in SQLite and PostgreSQL.

mod booking;
mod days;
mod forget;
mod loading;
mod model;
mod pages;
mod served;
mod stored;
mod together;

use crate::engines::{Books, Engine, Sqlite, over_both};
use bankrail_bank::{Booking, BookingKind};
use bankrail_service::testing::{LedgerFixture, ledger_suite, ledger_suite_while_booking};
use bankrail_service::{Ledger, LedgerAnswer, LedgerPage, RegisteredAccount, StatementQuery};
use bankrail_statement::{AccountId, MaxEntries, PagePosition, SortOrder};
use bankrail_values::{Currency, Date, StoreFuture};

/// Returns the identifier of ACME's account.
fn account() -> AccountId {
    "999001400100101".parse().unwrap()
}

fn day(text: &str) -> Date {
    Date::parse(text).unwrap()
}

fn today() -> Date {
    day("2021-07-29")
}

/// Makes a ledger with an account of ACME and one of BETA.
pub(crate) async fn ledger<E: Engine>() -> E::Ledger {
    ledger_in(&E::new().await).await
}

async fn ledger_in<E: Engine>(engine: &E) -> E::Ledger {
    let ledger = engine.ledger();
    for (customer, id) in [("ACME", account()), ("BETA", "2".parse().unwrap())] {
        let registered = vec![(
            id,
            RegisteredAccount::new(Currency::AUD).with_name("Operating"),
        )];
        ledger
            .register(&customer.parse().unwrap(), registered)
            .await
            .unwrap();
    }
    ledger
}

fn paid(amount: &str) -> Booking {
    Booking::new(BookingKind::FastPaymentIn, amount.parse().unwrap(), today())
}

/// Returns the answer to ACME's query for a day.
async fn page(
    ledger: &impl Books,
    day: Date,
    order: SortOrder,
    most: u16,
    position: Option<PagePosition>,
) -> LedgerAnswer {
    let mut query = StatementQuery::new("ACME".parse().unwrap(), account(), day);
    query.position = position;
    query.max_entries = MaxEntries::new(most).unwrap();
    query.sort_order = order;
    ledger.statement(&query).await.unwrap()
}

async fn whole(ledger: &impl Books, day: Date) -> LedgerPage {
    match page(ledger, day, SortOrder::Forward, 1000, None).await {
        LedgerAnswer::Page(page) => *page,
        other => panic!("{other:?}"),
    }
}

fn fixture() -> LedgerFixture {
    LedgerFixture::new("ACME".parse().unwrap(), account(), today())
        .stranger("NOBODY".parse().unwrap())
        .stranger("BETA".parse().unwrap())
        .unknown_account("2".parse().unwrap())
        .unknown_account("3".parse().unwrap())
        .empty_day(day("2021-07-30"))
}

async fn it_is_a_good_ledger<E: Engine>() {
    let ledger = ledger::<E>().await;
    for amount in 1..=7 {
        let booking = paid(&format!("{amount}.00 AUD"))
            .reference(format!("FP{amount}"))
            .narrative("rent 👍");
        ledger.book(&account(), &booking).await.unwrap();
        let earlier = Booking::new(
            BookingKind::Fee,
            "1.00 AUD".parse().unwrap(),
            day("2021-07-28"),
        );
        ledger.book(&account(), &earlier).await.unwrap();
    }
    ledger_suite(&ledger, &fixture()).await;
}

async fn it_is_a_good_ledger_while_entries_are_booked<E: Engine>() {
    let ledger = ledger_in(&E::shared().await).await;
    for _ in 0..5 {
        ledger.book(&account(), &paid("10.00 AUD")).await.unwrap();
    }
    ledger_suite_while_booking(&ledger, &fixture(), async || {
        ledger.book(&account(), &paid("1.00 AUD")).await.unwrap();
    })
    .await;
}

/// A ledger whose balance never moves.
#[derive(Debug)]
struct Frozen<L>(L);

impl<L: Ledger> Ledger for Frozen<L> {
    fn statement<'a>(&'a self, query: &'a StatementQuery) -> StoreFuture<'a, LedgerAnswer> {
        Box::pin(async move {
            let mut answer = self.0.statement(query).await?;
            if let LedgerAnswer::Page(page) = &mut answer {
                page.balance = "50.00".parse().unwrap();
            }
            Ok(answer)
        })
    }
}

#[tokio::test]
#[should_panic(expected = "what was booked moves the balance by its amount")]
async fn a_ledger_whose_balance_does_not_follow_the_bookings() {
    let ledger = Frozen(ledger::<Sqlite>().await);
    for _ in 0..5 {
        ledger.0.book(&account(), &paid("10.00 AUD")).await.unwrap();
    }
    ledger_suite_while_booking(&ledger, &fixture(), async || {
        ledger.0.book(&account(), &paid("1.00 AUD")).await.unwrap();
    })
    .await;
}

over_both! {
    it_is_a_good_ledger,
    it_is_a_good_ledger_while_entries_are_booked,
}
