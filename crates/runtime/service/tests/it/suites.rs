//! The suites over this crate's own test ledger and directory, right and wrong.

use crate::world::{API_KEY, OTHER_KEY, World};
use bankrail_service::testing::{LedgerFixture, directory_suite, ledger_suite};
use bankrail_values::Date;
use std::sync::atomic::Ordering;

fn fixture() -> LedgerFixture {
    let (customer, account) = ("ACME".parse().unwrap(), "1".parse().unwrap());
    LedgerFixture::new(customer, account, Date::parse("2021-07-29").unwrap())
        .unknown_account("9".parse().unwrap())
        .stranger("NOBODY".parse().unwrap())
}

#[tokio::test]
async fn a_good_ledger_and_a_good_directory() {
    let world = World::new();
    ledger_suite(&*world.ledger, &fixture()).await;
    let known = [
        (API_KEY.as_bytes(), "ACME".parse().unwrap()),
        (OTHER_KEY.as_bytes(), "BETA".parse().unwrap()),
    ];
    directory_suite(&*world.book, &known).await;
}

/// Returns the rule with which the suite refuses a ledger.
async fn refused(spoil: impl FnOnce(&World)) -> String {
    let world = World::new();
    spoil(&world);
    let run = tokio::spawn(async move { ledger_suite(&*world.ledger, &fixture()).await });
    let panic = run.await.unwrap_err().into_panic();
    panic
        .downcast_ref::<String>()
        .cloned()
        .unwrap_or_else(|| (*panic.downcast_ref::<&str>().unwrap()).to_owned())
}

#[tokio::test]
async fn each_fault_of_a_ledger_is_named() {
    let stuck = refused(|world| world.ledger.stuck.store(1, Ordering::SeqCst)).await;
    assert!(
        stuck.contains("each page ends at a new position") || stuck.contains("are the whole"),
        "{stuck}"
    );
    let surplus = refused(|world| world.ledger.surplus.store(1, Ordering::SeqCst)).await;
    assert!(
        surplus.contains("at most as many entries as the query allows"),
        "{surplus}"
    );
    let barren = refused(|world| world.ledger.barren.store(1, Ordering::SeqCst)).await;
    assert!(barren.contains("three entries or more"), "{barren}");
    let far = refused(|world| world.ledger.far.store(1, Ordering::SeqCst)).await;
    assert!(
        far.contains("the pages of 1 are the whole in its order"),
        "{far}"
    );
}

/// The error is one line, and does not list every entry twice.
#[tokio::test]
async fn a_wrong_order_is_named_by_the_number_of_its_entry() {
    let far = refused(|world| world.ledger.far.store(1, Ordering::SeqCst)).await;
    assert!(far.contains("in place of number 2"), "{far}");
    assert!(far.len() < 200, "{far}");
}

#[tokio::test]
#[should_panic(expected = "a page has the account's balance")]
async fn a_ledger_with_a_wrong_balance() {
    let world = World::new();
    ledger_suite(&*world.ledger, &fixture().balance("1.00".parse().unwrap())).await;
}

#[tokio::test]
#[should_panic(expected = "an account is unknown to customers that it is not registered for")]
async fn a_ledger_that_shows_accounts_to_strangers() {
    let world = World::new();
    // BETA has an account with the same identifier, which the fixture takes for ACME's.
    ledger_suite(&*world.ledger, &fixture().stranger("BETA".parse().unwrap())).await;
}

#[tokio::test]
#[should_panic(expected = "a key finds the customer that it was given to")]
async fn a_directory_that_mistakes_a_customer() {
    directory_suite(
        &*World::new().book,
        &[(API_KEY.as_bytes(), "BETA".parse().unwrap())],
    )
    .await;
}
