//! A ledger and a directory that commit 2e37472 wrote, opened by today's code:
//! `tests/past/README.md` says how they were made, and `tests/past/writer.rs` has the bookings.
//! That commit wrote no checksums of entries.

use crate::engines::{Customers, Engine as _, Postgres};
use bankrail_bank::{
    Booked, Booking, BookingKind, CustomerFolder, CustomerFolderOptions, SqlDirectoryOptions,
    SqliteDirectory, SqliteLedger,
};
use bankrail_service::{ApiKeyHash, Ledger, LedgerAnswer, LedgerPage, PageEntry, StatementQuery};
use bankrail_statement::{AccountId, AccountKind};
use bankrail_stores::sqlite::{SqliteOptions, SqliteStore, rusqlite};
use bankrail_values::{Date, ManualClock};
use std::error::Error as _;
use std::sync::Arc;

fn opened(folder: &tempfile::TempDir) -> SqliteStore {
    let path = folder.path().join("past.db");
    let written = rusqlite::Connection::open(&path).unwrap();
    written
        .execute_batch(include_str!("../past/sqlite.sql"))
        .unwrap();
    written.close().unwrap();
    SqliteStore::open(path, SqliteOptions::new()).unwrap()
}

async fn page(ledger: &SqliteLedger, day: &str) -> LedgerPage {
    let account = "999001400100101".parse().unwrap();
    let query = StatementQuery::new("ACME".parse().unwrap(), account, Date::parse(day).unwrap());
    match ledger.statement(&query).await.unwrap() {
        LedgerAnswer::Page(page) => *page,
        other => panic!("{other:?}"),
    }
}

/// Returns the signed amounts and the narratives of a page's entries.
fn shown(page: &LedgerPage) -> Vec<(String, String)> {
    let shown = |entry: &PageEntry| match entry {
        // Without a checksum it is read before it is shown.
        PageEntry::Model(ledger) => {
            let amount = ledger.entry.signed_amount().unwrap().to_string();
            (amount, ledger.entry.narrative())
        }
        written => panic!("an entry without a checksum was taken for a whole one: {written:?}"),
    };
    page.entries.iter().map(shown).collect()
}

#[tokio::test]
async fn a_ledger_of_2e37472_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = SqliteLedger::new(opened(&folder));
    let account: AccountId = "999001400100101".parse().unwrap();
    assert_eq!(
        ledger.balance(&account).await.unwrap().unwrap().to_string(),
        "4752.50 AUD"
    );
    let other = ledger
        .balance(&"999001400100102".parse().unwrap())
        .await
        .unwrap();
    assert_eq!(other.unwrap().to_string(), "0 VND");
    let invoice = || ("1250.00".to_owned(), "Invoice 2041 👍".to_owned());
    let (yesterday, today) = (
        page(&ledger, "2027-01-14").await,
        page(&ledger, "2027-01-15").await,
    );
    assert_eq!(shown(&yesterday), [("5.00".to_owned(), String::new())]);
    assert_eq!(
        shown(&today),
        [
            invoice(),
            invoice(),
            invoice(),
            ("-2.50".to_owned(), String::new())
        ]
    );
    assert_eq!(today.account.name.as_deref(), Some("Täglich"));
    assert_eq!(today.account.kind, AccountKind::WithVirtualAccounts);

    // What was booked under a reference is known by it; what follows gets the next number.
    let booking = |kind, amount: &str, reference: &str| {
        let today = Date::parse("2027-01-15").unwrap();
        Booking::new(kind, amount.parse().unwrap(), today).reference(reference)
    };
    let fee = booking(BookingKind::Fee, "2.50 AUD", "fee");
    assert_eq!(ledger.book(&account, &fee).await.unwrap(), Booked::Known(5));
    let paid = booking(BookingKind::TransferIn, "0.50 AUD", "T-1");
    assert_eq!(ledger.book(&account, &paid).await.unwrap(), Booked::New(6));
    assert_eq!(
        ledger.balance(&account).await.unwrap().unwrap().to_string(),
        "4753.00 AUD"
    );
    assert_eq!(page(&ledger, "2027-01-15").await.entries.len(), 5);
    assert_eq!(
        ledger
            .forget_before(Date::parse("2026-01-15").unwrap())
            .await
            .unwrap(),
        0
    );
    assert_eq!(page(&ledger, "2027-01-15").await.entries.len(), 5);
}

fn options() -> SqlDirectoryOptions {
    SqlDirectoryOptions::new().clock(Arc::new(ManualClock::new(
        "2027-01-15T08:00:00.000Z".parse().unwrap(),
    )))
}

async fn has_the_customers(directory: &impl Customers) {
    let imported = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/past/customers");
    let imported = CustomerFolder::open(imported, CustomerFolderOptions::new())
        .unwrap()
        .current();
    let acme = "ACME".parse().unwrap();
    let record = directory.find(&acme).await.unwrap().unwrap();
    assert_eq!(
        &record,
        &**imported.get(&acme).unwrap(),
        "what the folder says today"
    );
    assert_eq!(
        (
            record.api_keys.len(),
            record.limits.len(),
            record.accounts.len()
        ),
        (2, 2, 2)
    );
    for key in ["key-of-acme", "next-key"] {
        let customer = directory
            .customer_by_api_key(ApiKeyHash::of(key.as_bytes()))
            .await
            .unwrap();
        assert_eq!(customer.unwrap().code, acme, "{key}");
    }
    assert!(
        directory
            .customer_by_api_key(ApiKeyHash::of(b"another"))
            .await
            .unwrap()
            .is_none()
    );
    // Its accounts and endpoints are known: a customer with the same ones clashes.
    let mut twin = record.clone();
    twin.customer.code = "TWIN".parse().unwrap();
    twin.accounts[0].1.name = None;
    let refused = directory.put(twin).await.unwrap_err();
    assert_eq!(
        refused.source().unwrap().to_string().lines().count(),
        2 + 1 + 1,
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_directory_of_2e37472_has_its_customers() {
    let folder = tempfile::tempdir().unwrap();
    has_the_customers(&SqliteDirectory::new(opened(&folder), options())).await;
}

/// A directory in PostgreSQL tables of version 9 has its customers.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn a_directory_of_version_9_has_its_customers() {
    let mut rows = "ALTER TABLE bankrail_customer_account
        ALTER COLUMN virtual_accounts TYPE INTEGER USING 0;\n"
        .to_owned();
    for line in include_str!("../past/sqlite.sql").lines() {
        let is_change = line.starts_with("INSERT INTO bankrail_customer_change");
        if line.starts_with("INSERT INTO bankrail_customer") && !is_change {
            let line = line.replace(",X'", ",'\\x");
            rows += &line.replace("VALUES", " OVERRIDING SYSTEM VALUE VALUES");
            rows += "\n";
        }
    }
    rows += "ALTER TABLE bankrail_customer_account
        ALTER COLUMN virtual_accounts TYPE BOOLEAN USING virtual_accounts <> 0;";
    let engine = Postgres::of_version(9, &rows).await;
    has_the_customers(&engine.directory(options())).await;
}
