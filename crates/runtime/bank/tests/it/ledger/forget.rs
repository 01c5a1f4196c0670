//! The deletion of old days.

use super::{account, day, ledger_in, page, paid, today, whole};
use crate::engines::{Books, Engine, Postgres, Sqlite, over_both};
use bankrail_bank::{BookError, Booked, Booking, BookingKind, ForgetError};
use bankrail_service::LedgerAnswer;
use bankrail_statement::{AccountId, SortOrder};

const OLD: u32 = 1100;

fn old(number: u32) -> Booking {
    let day = day(if number.is_multiple_of(2) {
        "2021-07-27"
    } else {
        "2021-07-28"
    });
    Booking::new(BookingKind::Fee, "1.00 AUD".parse().unwrap(), day).key(format!("K{number}"))
}

/// Makes a ledger with [`OLD`] entries of two days, and one of today.
async fn filled<E: Engine>(engine: &E) -> E::Ledger {
    let ledger = ledger_in(engine).await;
    for number in 0..OLD {
        ledger.book(&account(), &old(number)).await.unwrap();
    }
    ledger
        .book(&account(), &paid("5.00 AUD").key("today"))
        .await
        .unwrap();
    ledger
}

async fn walks_of_forgotten_days_end_and_nothing_else_changes<E: Engine>() {
    let ledger = filled(&E::new().await).await;
    let LedgerAnswer::Page(first) =
        page(&ledger, day("2021-07-28"), SortOrder::Backward, 10, None).await
    else {
        panic!()
    };
    let other: AccountId = "2".parse().unwrap();
    ledger.book(&other, &old(0)).await.unwrap();
    let before = (
        ledger.balance(&account()).await.unwrap(),
        ledger.balance(&other).await.unwrap(),
    );

    // A mistyped year.
    let future = ledger.forget_before(day("9021-07-28")).await.unwrap_err();
    assert!(matches!(&future, ForgetError::Future { .. }), "{future:?}");
    assert_eq!(
        ledger.forget_before(day("2021-07-28")).await.unwrap(),
        u64::from(OLD / 2) + 1,
        "of both accounts"
    );
    let next = page(
        &ledger,
        day("2021-07-28"),
        SortOrder::Backward,
        10,
        first.next.clone(),
    )
    .await;
    assert!(
        matches!(next, LedgerAnswer::Page(page) if page.entries.len() == 10),
        "a day that is kept"
    );
    assert_eq!(
        ledger.forget_before(today()).await.unwrap(),
        u64::from(OLD / 2)
    );
    let next = page(
        &ledger,
        day("2021-07-28"),
        SortOrder::Backward,
        10,
        first.next.clone(),
    )
    .await;
    assert!(matches!(next, LedgerAnswer::UnknownPosition), "{next:?}");
    assert_eq!(whole(&ledger, day("2021-07-28")).await.entries.len(), 0);
    assert_eq!(ledger.forget_before(today()).await.unwrap(), 0);

    assert_eq!(
        (
            ledger.balance(&account()).await.unwrap(),
            ledger.balance(&other).await.unwrap()
        ),
        before
    );
    assert_eq!(whole(&ledger, today()).await.entries.len(), 1);
    let again = ledger.book(&account(), &old(1)).await;
    assert!(
        matches!(again, Err(BookError::Forgotten)),
        "not booked twice: {again:?}"
    );
    assert_eq!(
        ledger
            .book(&account(), &paid("5.00 AUD").key("today"))
            .await
            .unwrap(),
        Booked::Known(u64::from(OLD) + 1)
    );
    assert_eq!(
        ledger.book(&other, &old(1)).await.unwrap(),
        Booked::New(2),
        "of this account nothing of the day"
    );
}

over_both! {
    walks_of_forgotten_days_end_and_nothing_else_changes,
}

/// A day of which some entries are deleted is not shown, because its other entries would look like
/// all.
#[tokio::test]
async fn a_day_that_is_partly_deleted_is_gone() {
    let engine = Sqlite::new().await;
    let ledger = filled(&engine).await;
    let LedgerAnswer::Page(first) =
        page(&ledger, day("2021-07-28"), SortOrder::Backward, 10, None).await
    else {
        panic!()
    };
    engine
        .change(
            "CREATE TRIGGER full BEFORE DELETE ON bankrail_account_entry WHEN old.number = 1050
            BEGIN SELECT RAISE(ABORT, 'full'); END",
        )
        .await;
    ledger.forget_before(today()).await.unwrap_err();
    let next = page(
        &ledger,
        day("2021-07-28"),
        SortOrder::Backward,
        10,
        first.next.clone(),
    )
    .await;
    assert!(matches!(next, LedgerAnswer::UnknownPosition), "{next:?}");
    assert!(
        matches!(
            ledger.book(&account(), &old(1099)).await,
            Err(BookError::Forgotten)
        ),
        "also what is still there"
    );
    engine.change("DROP TRIGGER full").await;
    assert_eq!(
        ledger.forget_before(today()).await.unwrap(),
        u64::from(OLD) - 1000
    );
}

/// No transaction deletes many entries, waits for an uncommitted booking on another account, or
/// makes a booking wait.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn forgetting_locks_little_on_postgresql() {
    let engine = Postgres::new().await;
    let ledger = filled(&engine).await;
    engine
        .change(
            "CREATE FUNCTION at_most() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF (SELECT count(*) FROM gone) > 500 THEN RAISE EXCEPTION 'too many'; END IF;
                PERFORM pg_sleep(1); RETURN NULL; END $$",
        )
        .await;
    engine
        .change(
            "CREATE TRIGGER at_most AFTER DELETE ON bankrail_account_entry REFERENCING OLD TABLE AS gone
            FOR EACH STATEMENT EXECUTE FUNCTION at_most()",
        )
        .await;
    let other: AccountId = "2".parse().unwrap();
    let forgotten = engine.store.transaction(async |transaction| {
        ledger
            .book_within(*transaction, &other, &paid("1.00 AUD"))
            .await?;
        let forgetting = ledger.forget_before(today());
        let booking = async {
            for number in 0..20 {
                let begun = std::time::Instant::now();
                ledger
                    .book(&account(), &paid("1.00 AUD").key(format!("N{number}")))
                    .await
                    .unwrap();
                // A batch takes at least as long.
                assert!(
                    begun.elapsed() < std::time::Duration::from_millis(900),
                    "{:?}",
                    begun.elapsed()
                );
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            }
        };
        let (forgotten, ()) = tokio::join!(forgetting, booking);
        Ok::<_, BookError>(forgotten.unwrap())
    });
    assert_eq!(forgotten.await.unwrap(), u64::from(OLD));
    assert_eq!(whole(&ledger, today()).await.entries.len(), 21);
}

/// Tables of version 7, which did not record deleted days, are brought up to date.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn tables_of_version_7_go_on() {
    let engine = Postgres::new().await;
    let booked = old(0);
    ledger_in(&engine)
        .await
        .book(&account(), &booked)
        .await
        .unwrap();
    let schema = engine
        .config
        .rsplit_once('=')
        .unwrap()
        .1
        .trim_end_matches('\'');
    let rows = format!(
        "INSERT INTO bankrail_account (id, account, currency, balance, last_entry)
            OVERRIDING SYSTEM VALUE
            SELECT id, account, currency, balance, last_entry FROM {schema}.bankrail_account;
        INSERT INTO bankrail_account_entry
            (account, number, day, amount, channel, key, entry, checksum)
            SELECT account, number, day, amount, channel, key, entry, checksum
            FROM {schema}.bankrail_account_entry;"
    );
    let engine = Postgres::of_version(7, &rows).await;
    let ledger = engine.ledger();
    assert_eq!(
        ledger.book(&account(), &booked).await.unwrap(),
        Booked::Known(1)
    );
    assert_eq!(ledger.forget_before(today()).await.unwrap(), 1);
}
