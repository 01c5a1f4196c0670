//! Writes a ledger and a directory. A module of `tests/it` of `bankrail-service` at commit 2e37472;
//! not compiled today.

use bankrail_service::customers::{CustomerFolder, SqliteDirectory};
use bankrail_service::{Booking, BookingKind, SqliteLedger};
use bankrail_statement::AccountId;
use bankrail_stores::sqlite::SqliteStore;
use bankrail_values::Date;

#[tokio::test]
#[ignore = "writes"]
async fn write_sqlite() {
    let folder = std::env::var("PAST_BANK").unwrap();
    let customers = format!("{folder}/customers");
    if std::fs::metadata(format!("{customers}/acme.pem")).is_err() {
        let key = bankrail_jose::SigningKey::generate(bankrail_jose::RsaSize::Rsa2048).unwrap();
        std::fs::write(
            format!("{customers}/acme.pem"),
            key.verifying_key().to_spki_pem(),
        )
        .unwrap();
        let key = bankrail_jose::DecryptionKey::generate(bankrail_jose::RsaSize::Rsa2048).unwrap();
        std::fs::write(
            format!("{customers}/encryption.pem"),
            key.encryption_key().to_spki_pem(),
        )
        .unwrap();
    }
    let store = SqliteStore::open(format!("{folder}/past.db")).unwrap();
    let customers = CustomerFolder::open(&customers).unwrap().current();
    SqliteDirectory::new(store.clone())
        .import(customers.clone())
        .await
        .unwrap();

    let ledger = SqliteLedger::new(store.clone());
    let account: AccountId = "999001400100101".parse().unwrap();
    ledger
        .open_account(&account, "1000.00 AUD".parse().unwrap())
        .await
        .unwrap();
    for record in customers.records() {
        let accounts = record.accounts.clone();
        ledger
            .register(&record.customer.code, accounts)
            .await
            .unwrap();
    }
    let day = |text| Date::parse(text).unwrap();
    let yesterday = Booking::new(
        BookingKind::TransferIn,
        "5.00 AUD".parse().unwrap(),
        day("2027-01-14"),
    );
    ledger
        .book(&account, &yesterday.reference("Y-1"))
        .await
        .unwrap();
    let twin = || {
        Booking::new(
            BookingKind::FastPaymentIn,
            "1250.00 AUD".parse().unwrap(),
            day("2027-01-15"),
        )
        .narrative("Invoice 2041 \u{1f44d}")
        .counterparty("Jarrah Joinery")
    };
    ledger
        .book(&account, &twin().reference("FP0001"))
        .await
        .unwrap();
    ledger.book(&account, &twin()).await.unwrap();
    ledger.book(&account, &twin()).await.unwrap();
    let fee = Booking::new(
        BookingKind::Fee,
        "2.50 AUD".parse().unwrap(),
        day("2027-01-15"),
    )
    .reference("fee");
    ledger.book(&account, &fee).await.unwrap();
    store.close().await;
}
