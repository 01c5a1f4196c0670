//! Statement pages against the entries that an account has on the day.

use crate::Curve;
use bankrail_bank::{Booked, Booking, BookingKind, SqlLedger};
use bankrail_service::{Ledger, LedgerAnswer, RegisteredAccount, StatementQuery};
use bankrail_statement::{AccountId, MaxEntries, PagePosition, SortOrder};
use bankrail_values::{Currency, Date};
use std::fmt::Write as _;

const ACCOUNT: &str = "011222814766538";
const DAY: &str = "2021-07-29";
/// The rows that are loaded in one transaction.
const AT_ONCE: u64 = 100_000;
const TIMES: usize = 101;

macro_rules! over {
    ($curve:ident, $name:literal, $store:expr) => {{
        let ledger = SqlLedger::new($store);
        let account = AccountId::parse(ACCOUNT).unwrap();
        ledger
            .open_account(&account, "0.00 AUD".parse().unwrap())
            .await
            .unwrap();
        let registered = vec![(account.clone(), RegisteredAccount::new(Currency::AUD))];
        ledger
            .register(&"ACME".parse().unwrap(), registered)
            .await
            .unwrap();
        let mut booked = 0;
        for size in $curve.sizes() {
            while booked < size {
                let until = size.min(booked + AT_ONCE);
                ledger
                    .load_csv(std::io::Cursor::new(rows(booked, until)))
                    .await
                    .unwrap();
                booked = until;
            }
            let mut query = StatementQuery::new("ACME".parse().unwrap(), account.clone(), day());
            query.max_entries = MaxEntries::new(100).unwrap();
            $curve
                .time(
                    concat!($name, ", first page of 100"),
                    size,
                    TIMES,
                    async || read(&ledger, &query).await,
                )
                .await;
            query.position = Some(PagePosition::from_number(size / 2));
            let middle = concat!($name, ", page in the middle");
            $curve
                .time(middle, size, TIMES, async || read(&ledger, &query).await)
                .await;
            (query.position, query.sort_order) = (None, SortOrder::Backward);
            let newest = concat!($name, ", newest first");
            $curve
                .time(newest, size, TIMES, async || read(&ledger, &query).await)
                .await;
            let booking = concat!($name, ", one booking");
            $curve
                .time(booking, size, TIMES, async || {
                    let booking =
                        Booking::new(BookingKind::Fee, "0.01 AUD".parse().unwrap(), day());
                    assert!(matches!(
                        ledger.book(&account, &booking).await.unwrap(),
                        Booked::New(_)
                    ));
                })
                .await;
            booked += u64::try_from(TIMES).unwrap();
        }
    }};
}

pub(crate) async fn measure(curve: &Curve<'_>) {
    let (store, _folder) = crate::sqlite();
    over!(curve, "SQLite", store);
    if let Some((store, shorter)) = crate::postgres(curve, "scale_statements").await {
        over!(shorter, "PostgreSQL", store);
    }
}

pub(crate) fn day() -> Date {
    Date::parse(DAY).unwrap()
}

async fn read(ledger: &impl Ledger, query: &StatementQuery) {
    let LedgerAnswer::Page(page) = ledger.statement(query).await.unwrap() else {
        panic!("expected a page")
    };
    assert!(!page.entries.is_empty());
}

pub(crate) fn rows(from: u64, until: u64) -> String {
    let mut rows =
        "account,date,kind,amount,currency,reference,counterparty,narrative\n".to_owned();
    for row in from..until {
        let _ = writeln!(
            rows,
            "{ACCOUNT},{DAY},fast_payment_in,12.34,AUD,R{row},JANE CITIZEN,payment {row} for goods"
        );
    }
    rows
}
