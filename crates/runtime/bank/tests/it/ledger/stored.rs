//! Rows of entries in today's form, in those of earlier versions, and damaged.

use super::{account, ledger_in, paid, today};
use crate::engines::{Books, Engine, Sqlite, over_both};
use bankrail_bank::{BookError, Booked};
use bankrail_service::{LedgerAnswer, LedgerPage, PageEntry, StatementQuery};
use bankrail_values::{StoreError, StoreErrorKind};

async fn booked<E: Engine>() -> (E, E::Ledger) {
    let store = E::new().await;
    let ledger = ledger_in(&store).await;
    for reference in ["FP1", "FP2"] {
        let booking = paid("25.00 AUD").reference(reference).narrative("rent 👍");
        assert!(matches!(
            ledger.book(&account(), &booking).await.unwrap(),
            Booked::New(_)
        ));
    }
    (store, ledger)
}

async fn change(store: &impl Engine, sql: &'static str) {
    assert!(store.change(sql).await > 0);
}

async fn page(ledger: &impl Books) -> Result<LedgerPage, StoreError> {
    match ledger
        .statement(&StatementQuery::new(
            "ACME".parse().unwrap(),
            account(),
            today(),
        ))
        .await?
    {
        LedgerAnswer::Page(page) => Ok(*page),
        other => panic!("{other:?}"),
    }
}

async fn entries_are_handed_over_as_they_were_written<E: Engine>() {
    let (_, ledger) = booked::<E>().await;
    let page = page(&ledger).await.unwrap();
    assert!(
        page.entries
            .iter()
            .all(|entry| matches!(entry, PageEntry::Written { .. }))
    );
    let expected = ["FP1", "FP2"].map(|reference| {
        paid("25.00 AUD")
            .reference(reference)
            .narrative("rent 👍")
            .to_entry()
            .unwrap()
    });
    assert_eq!(page.read_entries().unwrap(), expected);
}

#[tokio::test]
async fn entries_of_an_earlier_version_are_read_first() {
    let (store, ledger) = booked::<Sqlite>().await;
    let now = page(&ledger).await.unwrap().read_entries().unwrap();
    change(
        &store,
        "UPDATE bankrail_account_entry SET checksum = NULL WHERE number = 1",
    )
    .await;
    let before = page(&ledger).await.unwrap();
    assert!(
        before
            .entries
            .iter()
            .all(|entry| matches!(entry, PageEntry::Model(_)))
    );
    assert_eq!(before.read_entries().unwrap(), now);
    let again = paid("25.00 AUD").reference("FP1").narrative("rent 👍");
    assert_eq!(
        ledger.book(&account(), &again).await.unwrap(),
        Booked::Known(1)
    );
    let other = paid("26.00 AUD").reference("FP1").narrative("rent 👍");
    assert!(matches!(
        ledger.book(&account(), &other).await,
        Err(BookError::Conflict)
    ));
    change(
        &store,
        "UPDATE bankrail_account_entry SET entry = '<Ntry/><Ntry/>' WHERE number = 1",
    )
    .await;
    assert_eq!(
        page(&ledger).await.unwrap_err().kind(),
        StoreErrorKind::Corrupt
    );
}

/// Damage of any column that a statement shows, or of the checksum, is a failure of the ledger.
async fn a_damaged_row_is_a_failure_of_the_ledger<E: Engine>() {
    for damage in [
        "UPDATE bankrail_account_entry SET entry = replace(entry, '25.00', '25.01') WHERE number = 2",
        "UPDATE bankrail_account_entry SET entry = replace(entry, 'rent', 'rant') WHERE number = 2",
        "UPDATE bankrail_account_entry SET amount = '25.01' WHERE number = 2",
        "UPDATE bankrail_account_entry SET amount = '-25.00' WHERE number = 2",
        "UPDATE bankrail_account_entry SET channel = 'ordinary' WHERE number = 2",
        "UPDATE bankrail_account_entry SET number = 3 WHERE number = 2",
        "UPDATE bankrail_account_entry SET checksum = checksum + 1 WHERE number = 2",
        "UPDATE bankrail_account_entry SET checksum = -1 WHERE number = 2",
    ] {
        let (store, ledger) = booked::<E>().await;
        change(&store, damage).await;
        assert_eq!(
            page(&ledger).await.unwrap_err().kind(),
            StoreErrorKind::Corrupt,
            "{damage}"
        );
        let again = paid("25.00 AUD").reference("FP2").narrative("rent 👍");
        let BookError::Store(error) = ledger.book(&account(), &again).await.unwrap_err() else {
            panic!("{damage}")
        };
        assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{damage}");
    }
}

over_both! {
    entries_are_handed_over_as_they_were_written,
    a_damaged_row_is_a_failure_of_the_ledger,
}
