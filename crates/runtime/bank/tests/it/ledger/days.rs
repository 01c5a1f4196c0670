//! Booking days and the day of the reports.

use super::{account, day, ledger_in};
use crate::capture::Capture;
use crate::customers::fixture::{Folder, customer};
use crate::engines::{Books, Engine, Sqlite, over_both};
use crate::world::World;
use bankrail_bank::{BookError, Booked, Booking, BookingKind, LoadError};
use bankrail_service::{BookingDayPolicy, ProviderOptions};
use bankrail_values::{Clock as _, Date};
use std::sync::Arc;

/// A provider in Sydney, its ledger, and the ledger's store.
struct Sydney<E: Engine> {
    world: World,
    ledger: E::Ledger,
    store: E,
    folder: Folder,
}

async fn sydney<E: Engine>(policy: BookingDayPolicy) -> Sydney<E> {
    let store = E::new().await;
    let (ledger, folder) = (ledger_in(&store).await, Folder::new());
    folder.write("A.toml", &customer("ACME", "acme", &["key-of-acme"], ""));
    let options = ProviderOptions::new()
        .report_time_zone("Australia/Sydney")
        .booking_day_policy(policy);
    let world = World::new(
        Arc::new(folder.open()),
        Arc::new(ledger.clone()),
        folder.clock.clone(),
        options,
    );
    Sydney {
        world,
        ledger,
        store,
        folder,
    }
}

fn fee(day: Date) -> Booking {
    Booking::new(BookingKind::Fee, "1.00 AUD".parse().unwrap(), day)
}

async fn listed(world: &World) -> usize {
    let token = world.token().await;
    let answer = world
        .statement(
            "key-of-acme",
            &token,
            &format!(r#"{{"accountId":"{}"}}"#, account()),
        )
        .await;
    answer.json["payload"]
        .as_str()
        .unwrap()
        .matches("<Ntry>")
        .count()
}

async fn what_is_booked_on_the_providers_day_is_seen_at_once<E: Engine>() {
    let Sydney {
        world,
        ledger,
        folder,
        ..
    } = sydney::<E>(BookingDayPolicy::Refuse).await;
    for (instant, expected) in [
        // Midnight of UTC, in summer and in winter.
        ("2021-01-14T23:59:59.999Z", "2021-01-15"),
        ("2021-01-15T00:00:00.000Z", "2021-01-15"),
        ("2021-07-14T23:59:59.999Z", "2021-07-15"),
        ("2021-07-15T00:00:00.000Z", "2021-07-15"),
        // Midnight of Sydney before and on the day on which summer time begins, and after it.
        ("2021-10-02T13:59:59.999Z", "2021-10-02"),
        ("2021-10-02T14:00:00.000Z", "2021-10-03"),
        ("2021-10-02T15:59:59.999Z", "2021-10-03"),
        ("2021-10-02T16:00:00.000Z", "2021-10-03"),
        ("2021-10-03T12:59:59.999Z", "2021-10-03"),
        ("2021-10-03T13:00:00.000Z", "2021-10-04"),
        // The same where it ends.
        ("2022-04-02T12:59:59.999Z", "2022-04-02"),
        ("2022-04-02T13:00:00.000Z", "2022-04-03"),
        ("2022-04-02T15:59:59.999Z", "2022-04-03"),
        ("2022-04-02T16:00:00.000Z", "2022-04-03"),
        ("2022-04-03T13:59:59.999Z", "2022-04-03"),
        ("2022-04-03T14:00:00.000Z", "2022-04-04"),
    ] {
        folder.clock.set(instant.parse().unwrap());
        let today = world.provider.today();
        assert_eq!(today, day(expected), "{instant}");
        assert_eq!(world.provider.report_day().today(), today);
        let before = listed(&world).await;
        ledger.book(&account(), &fee(today)).await.unwrap();
        assert_eq!(listed(&world).await, before + 1, "{instant}");
        let utc = folder.clock.now().date();
        let booked = ledger.book(&account(), &fee(utc)).await;
        assert_eq!(booked.is_ok(), utc == today, "{instant}");
        assert_eq!(
            listed(&world).await,
            before + 1 + usize::from(utc == today),
            "{instant}"
        );
    }
}

async fn a_booking_of_another_day_is_refused_if_the_caller_wants_it<E: Engine>() {
    let Sydney { ledger, folder, .. } = sydney::<E>(BookingDayPolicy::Refuse).await;
    folder
        .clock
        .set("2021-07-28T20:00:00.000Z".parse().unwrap());
    let known = fee(day("2021-07-29")).key("k");
    assert_eq!(
        ledger.book(&account(), &known).await.unwrap(),
        Booked::New(1)
    );
    for wrong in ["2021-07-28", "2021-07-30"] {
        let error = ledger.book(&account(), &fee(day(wrong))).await.unwrap_err();
        let BookError::OtherDay(days) = error else {
            panic!("{error:?}")
        };
        assert_eq!(
            days.to_string(),
            format!("booking day: expected 2021-07-29, the day of the reports, found {wrong}")
        );
    }
    let rows = format!(
        "account,date,kind,amount,currency\n{},2021-07-28,fee,1.00,AUD\n",
        account()
    );
    let loaded = ledger.load_csv(Box::new(std::io::Cursor::new(rows))).await;
    assert!(
        matches!(
            loaded,
            Err(LoadError::Row {
                line: 2,
                column: "date",
                ..
            })
        ),
        "{loaded:?}"
    );
    assert_eq!(
        ledger
            .balance(&account())
            .await
            .unwrap()
            .unwrap()
            .to_string(),
        "-1.00 AUD"
    );
    // What is booked already is known on the next day, too.
    folder
        .clock
        .set("2021-07-29T20:00:00.000Z".parse().unwrap());
    assert_eq!(
        ledger.book(&account(), &known).await.unwrap(),
        Booked::Known(1)
    );
}

#[tokio::test]
async fn a_booking_of_another_day_is_booked_and_warned_about_by_default() {
    for (policy, warnings) in [
        (BookingDayPolicy::default(), 2),
        (BookingDayPolicy::Accept, 0),
    ] {
        let Sydney {
            ledger,
            store,
            folder,
            ..
        } = sydney::<Sqlite>(policy).await;
        folder
            .clock
            .set("2021-07-28T20:00:00.000Z".parse().unwrap());
        let log = Capture::start();
        for booked in ["2021-07-29", "2021-07-28", "2021-07-28", "2021-06-30"] {
            // The store books on a thread of its own.
            let (ledger, to) = (
                ledger.clone(),
                tracing::dispatcher::get_default(tracing::Dispatch::clone),
            );
            let book = store.store.transaction(move |transaction| {
                let book = || ledger.book_within(transaction, &account(), &fee(day(booked)));
                tracing::dispatcher::with_default(&to, book)
            });
            book.await.unwrap();
        }
        let text = log.text();
        let warned = text
            .lines()
            .filter(|line| line.contains("WARN"))
            .collect::<Vec<_>>();
        assert_eq!(warned.len(), warnings, "{text}");
        for (line, booked) in warned.iter().zip(["2021-07-28", "2021-06-30"]) {
            assert!(
                line.contains(&format!("booking_day={booked} report_day=2021-07-29")),
                "{line}"
            );
            assert!(!line.contains(account().as_str()), "{line}");
        }
    }
}

over_both! {
    what_is_booked_on_the_providers_day_is_seen_at_once,
    a_booking_of_another_day_is_refused_if_the_caller_wants_it,
}
