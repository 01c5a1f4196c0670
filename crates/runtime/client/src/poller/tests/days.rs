//! A day of the bank, from midnight to midnight in its zone.

use super::*;

/// Returns the offset of a zone whose clocks are set forward on 4 October 2026 at 02:00 and back on
/// 4 April 2027 at 03:00.
fn zone(at: Timestamp) -> i8 {
    let summer = "2026-10-03T16:00:00.000Z".parse::<Timestamp>().unwrap()
        .."2027-04-03T16:00:00.000Z".parse().unwrap();
    if summer.contains(&at) { 11 } else { 10 }
}

/// The midnights at which days end, with the hours of the day: two ordinary days, and those of 23
/// and 25 hours.
const ENDS: [(&str, u64); 4] = [
    ("2026-10-03T14:00:00.000Z", 24),
    ("2026-10-04T13:00:00.000Z", 23),
    ("2026-12-01T13:00:00.000Z", 24),
    ("2027-04-04T14:00:00.000Z", 25),
];

/// Returns a bank whose clock shows this time.
fn bank_at(now: Timestamp, accounts: &[&'static str]) -> Bank {
    let bank = Bank::new(&[]);
    for account in accounts {
        bank.list(account, &[&[1]]);
    }
    bank.with(|table| {
        table.zone = Some(zone);
        table.calls_an_hour = Some(25);
        // The first moment is later than some of these days.
        (table.ahead, table.set_back) =
            (now.saturating_since(start()), start().saturating_since(now));
    });
    bank
}

/// Polls these accounts every ten minutes through the day with this end, and returns the seconds
/// between the last poll of each and the end.
async fn last_polls(end: &str, hours: u64, accounts: &[&'static str]) -> Vec<u64> {
    let end: Timestamp = end.parse().unwrap();
    let bank = bank_at(end.saturating_sub(seconds(3_600 * hours)), accounts);
    let (poller, _) = poller(
        &bank,
        accounts
            .iter()
            .map(|account| PolledAccount::new(id(account))),
    );
    run_for(&poller, seconds(3_600 * (hours + 3))).await;
    let at_end = 3_600 * hours;
    let last = |account: &&str| {
        bank.times(account)
            .into_iter()
            .filter(|at| *at < at_end)
            .max()
            .unwrap()
    };
    for account in accounts {
        assert!(
            bank.times(account).iter().any(|at| *at >= at_end),
            "it goes on after midnight"
        );
    }
    accounts.iter().map(last).map(|at| at_end - at).collect()
}

#[tokio::test(start_paused = true)]
async fn each_account_is_polled_as_late_before_midnight_as_the_calls_allow() {
    let names: Vec<&'static str> = (1..=30)
        .map(|number| &*format!("{number:015}").leak())
        .collect();
    let mut earlier: Vec<Vec<usize>> = Vec::new();
    for (end, hours) in ENDS {
        assert_eq!(last_polls(end, hours, &names[..1]).await, [120], "{end}");
        assert_eq!(last_polls(end, hours, &names[..4]).await, [120; 4], "{end}");
        assert_eq!(
            last_polls(end, hours, &names[..25]).await,
            [120; 25],
            "{end}"
        );
        let of_thirty = last_polls(end, hours, &names).await;
        let early: Vec<usize> = (0..30).filter(|index| of_thirty[*index] == 3_720).collect();
        assert_eq!(
            early.len(),
            5,
            "{end}: an hour earlier, so that the others have its calls"
        );
        assert_eq!(
            of_thirty.iter().filter(|before| **before == 120).count(),
            25,
            "{end}"
        );
        assert!(!earlier.contains(&early), "{end}: others each day");
        earlier.push(early);
    }
}

#[tokio::test(start_paused = true)]
async fn a_day_whose_end_was_missed_is_said_to_be_incomplete() {
    let (end, hours) = ENDS[1];
    let end: Timestamp = end.parse().unwrap();
    let bank = bank_at(end.saturating_sub(seconds(3_600 * hours)), &[A]);
    let notices = Arc::new(std::sync::Mutex::new(Vec::new()));
    let noted = notices.clone();
    let handler = move |new: NewEntries| {
        noted.lock().unwrap().extend(new.notices);
        async { Ok(()) }
    };
    let poller = with_handler(
        &bank,
        [PolledAccount::new(id(A))],
        handler,
        PollerOptions::new(),
    );
    run_for(&poller, seconds(3_600 * (hours - 1) + 1)).await;
    tokio::time::sleep(seconds(7_200)).await;
    run_for(&poller, seconds(600)).await;
    let seen_until = end.saturating_sub(seconds(3_600));
    let (day, next) = (
        Date::parse("2026-10-04").unwrap(),
        Date::parse("2026-10-05").unwrap(),
    );
    assert_eq!(
        *notices.lock().unwrap(),
        [AccountNotice::DayIncomplete {
            day,
            seen_until,
            next
        }]
    );
}

/// Entries that the bank still listed were once handed over again.
#[tokio::test(start_paused = true)]
async fn under_a_clock_that_is_ahead_nothing_is_forgotten_that_the_bank_lists() {
    let bank = Bank::new(&[(A, &[&[1]])]);
    bank.with(|table| {
        table.zone = Some(|_| 10);
        table.entries = Some(entry(" Ccy='AUD'>1.00", "CRDT", "<Sts>BOOK</Sts>", "R1"));
    });
    let (poller, handed) = poller(&bank, [PolledAccount::new(id(A))]);
    // Of a walk that was interrupted before its last page.
    let (key, day) = (EntryKey::from([1; 32]), "2026-11-21".parse().unwrap());
    let first_page = [SeenEntry::new(key, 1, Some(day))];
    let store = poller.0.sink.store();
    let _ = store.record(&id(A), &first_page, None).await.unwrap();
    let retention = seconds(2 * 86_400);
    let month = seconds(30 * 86_400);
    for stage in ["no page", "a page of the first walk", "the whole walk"] {
        let start = PollPosition::start().to_json();
        match stage {
            "no page" => {}
            "a page of the first walk" => {
                let change = PositionChange::new(None, Some(&start));
                let _ = store.record(&id(A), &[], Some(change)).await.unwrap();
            }
            _ => run_for(&poller, seconds(60)).await,
        }
        bank.with(|table| table.ahead += month);
        poller.forget(retention).await;
        bank.with(|table| table.ahead -= month);
        assert_eq!(store.counts(&id(A), &[key]).await.unwrap(), [1], "{stage}");
    }
    run_for(&poller, seconds(2 * 3_600)).await;
    assert_eq!(handed.amounts(A).len(), 1);
}
