//! The ledger against a naive model, and bookings at the same time as walks.

use super::{account, day, ledger, ledger_in, page, paid};
use crate::engines::{Books, Engine, Postgres, Sqlite, over_both};
use bankrail_bank::{Booking, BookingKind};
use bankrail_service::{LedgerAnswer, LedgerPage};
use bankrail_statement::{PagePosition, SortOrder};
use bankrail_values::{Date, Decimal, Money};
use proptest::prelude::*;

const ORDERS: [SortOrder; 2] = [SortOrder::Forward, SortOrder::Backward];

/// A step: a booking on one of two days, or the next page of one of four walks.
#[derive(Clone, Copy, Debug)]
enum Step {
    Book { day: usize, cents: u32, debit: bool },
    Fetch { day: usize, order: usize, most: u16 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..2_usize, 1..100_000_u32, any::<bool>()).prop_map(|(day, cents, debit)| Step::Book {
            day,
            cents,
            debit
        }),
        (0..2_usize, 0..2_usize, 1..5_u16).prop_map(|(day, order, most)| Step::Fetch {
            day,
            order,
            most
        }),
    ]
}

/// A model that lists entries with their days, their signed amounts, and their places in the order
/// of booking.
#[derive(Default)]
struct Model {
    booked: Vec<(usize, Decimal)>,
}

impl Model {
    /// Returns the amounts of a page after the entry at a place, the place of its last entry, and
    /// true if more follow.
    fn page(
        &self,
        day: usize,
        order: SortOrder,
        most: usize,
        after: Option<usize>,
    ) -> (Vec<Decimal>, usize, bool) {
        let of_day = self
            .booked
            .iter()
            .enumerate()
            .filter(|(_, entry)| entry.0 == day);
        let mut rest: Vec<_> = match order {
            SortOrder::Backward => of_day
                .rev()
                .filter(|(at, _)| after.is_none_or(|after| *at < after))
                .collect(),
            _ => of_day
                .filter(|(at, _)| after.is_none_or(|after| *at > after))
                .collect(),
        };
        let more = rest.len() > most;
        rest.truncate(most);
        let last = rest.last().map_or(0, |(at, _)| *at);
        (
            rest.into_iter().map(|(_, entry)| entry.1).collect(),
            last,
            more,
        )
    }
}

fn days() -> [Date; 2] {
    [day("2021-07-29"), day("2021-07-30")]
}

fn amounts(page: &LedgerPage) -> Vec<Decimal> {
    page.clone()
        .read_entries()
        .unwrap()
        .iter()
        .map(|entry| entry.entry.signed_amount().unwrap())
        .collect()
}

async fn run<E: Engine>(steps: Vec<Step>) {
    let ledger = ledger::<E>().await;
    let mut model = Model::default();
    // The position and the place that each walk has come to.
    let mut walks: [[Option<(PagePosition, usize)>; 2]; 2] = Default::default();
    for step in steps {
        match step {
            Step::Book { day, cents, debit } => {
                let kind = if debit {
                    BookingKind::Fee
                } else {
                    BookingKind::TransferIn
                };
                let amount = Decimal::new(i64::from(cents), 2);
                let money = Money::new(amount, "AUD".parse().unwrap());
                ledger
                    .book(&account(), &Booking::new(kind, money, days()[day]))
                    .await
                    .unwrap();
                model
                    .booked
                    .push((day, if debit { -amount } else { amount }));
            }
            Step::Fetch { day, order, most } => {
                let walk = &mut walks[day][order];
                let (position, after) = walk.take().unzip();
                let answer = page(&ledger, days()[day], ORDERS[order], most, position).await;
                let LedgerAnswer::Page(page) = answer else {
                    panic!("a page")
                };
                let (expected, last, more) =
                    model.page(day, ORDERS[order], usize::from(most), after);
                assert_eq!((amounts(&page), page.next.is_some()), (expected, more));
                assert_eq!(
                    page.balance,
                    model.booked.iter().map(|entry| entry.1).sum::<Decimal>()
                );
                *walk = page.next.map(|next| (next, last));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pages_and_balances_are_those_of_a_list(steps in proptest::collection::vec(step(), 1..60)) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(run::<Sqlite>(steps));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    #[ignore = "needs postgresql"]
    fn pages_and_balances_of_postgresql_are_those_of_a_list(steps in proptest::collection::vec(step(), 1..60)) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(run::<Postgres>(steps));
    }
}

/// Walks run in both orders while four tasks book on two instances. Each walk has every entry from
/// before it exactly once, in order.
async fn bookings_at_the_same_time_neither_repeat_nor_hide_entries<E: Engine>() {
    let engine = E::shared().await;
    let ledger = ledger_in(&engine).await;
    let book = async |ledger: &E::Ledger, task: u32, number: u32| {
        let booking = paid("1.00 AUD").reference(format!("{task}-{number}"));
        ledger.book(&account(), &booking).await.unwrap();
    };
    for number in 0..20 {
        book(&ledger, 0, number).await;
    }
    let other = engine.again().await.ledger();
    let tasks: Vec<_> = (1..=4)
        .map(|task| {
            let ledger = if task % 2 == 0 {
                ledger.clone()
            } else {
                other.clone()
            };
            tokio::spawn(async move {
                for number in 0..25 {
                    book(&ledger, task, number).await;
                }
            })
        })
        .collect();
    for order in ORDERS.into_iter().cycle().take(8) {
        let before = references(&ledger, SortOrder::Forward, 1000).await;
        let mut listed = references(&ledger, order, 7).await;
        if order == SortOrder::Backward {
            listed.reverse();
        }
        assert_eq!(
            listed[..before.len()],
            before,
            "nothing before a walk is missing or moved"
        );
        let mut unique = listed.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), listed.len(), "nothing is repeated");
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(references(&ledger, SortOrder::Forward, 11).await.len(), 120);
    assert_eq!(
        ledger
            .balance(&account())
            .await
            .unwrap()
            .unwrap()
            .to_string(),
        "120.00 AUD"
    );
}

async fn references(ledger: &impl Books, order: SortOrder, most: u16) -> Vec<String> {
    let mut listed = Vec::new();
    let mut position = None;
    loop {
        let LedgerAnswer::Page(page) = page(ledger, days()[0], order, most, position).await else {
            panic!("a page")
        };
        position = page.next.clone();
        let entries = page.read_entries().unwrap();
        listed.extend(
            entries
                .iter()
                .map(|entry| entry.entry.references().next().unwrap().1.to_owned()),
        );
        if position.is_none() {
            return listed;
        }
    }
}

over_both! {
    bookings_at_the_same_time_neither_repeat_nor_hide_entries,
}
