//! Accounts as the bank sees them.

use super::{account, day, ledger, paid};
use crate::engines::{Books, Engine, over_both};
use bankrail_bank::{Booking, BookingKind};
use bankrail_statement::AccountId;

async fn listed(ledger: &impl Books, after: Option<&AccountId>, most: u32) -> Vec<String> {
    let accounts = ledger.accounts(after, most).await.unwrap();
    accounts
        .iter()
        .map(|found| format!("{} {} {}", found.id, found.balance, found.entries))
        .collect()
}

async fn accounts_are_listed_with_balances_and_numbers_of_entries<E: Engine>() {
    let ledger = ledger::<E>().await;
    ledger
        .open_account(&"3".parse().unwrap(), "-0.50 NZD".parse().unwrap())
        .await
        .unwrap();
    ledger.book(&account(), &paid("5.00 AUD")).await.unwrap();
    ledger.book(&account(), &paid("7.25 AUD")).await.unwrap();
    let all = ["2 0 AUD 0", "3 -0.50 NZD 0", "999001400100101 12.25 AUD 2"];
    assert_eq!(listed(&ledger, None, 1000).await, all);
    assert_eq!(listed(&ledger, None, 2).await, all[..2]);
    assert_eq!(
        listed(&ledger, Some(&"3".parse().unwrap()), 1000).await,
        all[2..]
    );
    assert!(listed(&ledger, Some(&account()), 1000).await.is_empty());
    assert!(listed(&ledger, None, 0).await.is_empty());
    let found = ledger.account(&account()).await.unwrap().unwrap();
    assert_eq!(
        (found.id, found.balance.to_string().as_str(), found.entries),
        (account(), "12.25 AUD", 2)
    );
    assert_eq!(ledger.account(&"4".parse().unwrap()).await.unwrap(), None);
}

async fn days_with_entries_are_found_from_the_last_one_back<E: Engine>() {
    let ledger = ledger::<E>().await;
    assert_eq!(ledger.last_day(&account(), None).await.unwrap(), None);
    for of in ["2021-07-29", "2021-08-02", "2021-07-30", "2021-08-02"] {
        let booking = Booking::new(
            BookingKind::FastPaymentIn,
            "1.00 AUD".parse().unwrap(),
            day(of),
        );
        ledger.book(&account(), &booking).await.unwrap();
    }
    let (mut days, mut before) = (Vec::new(), None);
    while let Some(found) = ledger.last_day(&account(), before).await.unwrap() {
        days.push(found.to_string());
        before = Some(found);
    }
    assert_eq!(days, ["2021-08-02", "2021-07-30", "2021-07-29"]);
    assert_eq!(
        ledger.last_day(&"2".parse().unwrap(), None).await.unwrap(),
        None
    );
    assert_eq!(
        ledger.last_day(&"4".parse().unwrap(), None).await.unwrap(),
        None
    );
}

over_both! {
    accounts_are_listed_with_balances_and_numbers_of_entries,
    days_with_entries_are_found_from_the_last_one_back,
}
