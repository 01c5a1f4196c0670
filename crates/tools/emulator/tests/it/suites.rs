//! The suites of `bankrail-service` over this crate's ledger and directory.

use bankrail_emulator::{FakeBooking, FakeDirectory, FakeLedger};
use bankrail_jose::{KeySet, RsaSize, SigningKey};
use bankrail_service::testing::{
    LedgerFixture, directory_suite, ledger_suite, ledger_suite_while_booking,
};
use bankrail_service::{ApiKeyHash, Customer, RegisteredAccount};
use bankrail_statement::AccountId;
use bankrail_values::{Currency, Date};

const DAY: &str = "2026-03-02";

/// Returns a ledger with five entries, two of them alike, and what the suite may expect of it.
fn ledger() -> (FakeLedger, LedgerFixture, AccountId) {
    let ledger = FakeLedger::new();
    let (customer, account, day) = (
        "ACME".parse().unwrap(),
        AccountId::parse("1").unwrap(),
        Date::parse(DAY).unwrap(),
    );
    let other = AccountId::parse("2").unwrap();
    ledger.open(
        &customer,
        &account,
        RegisteredAccount::new(Currency::AUD).with_virtual_accounts(),
    );
    ledger.open(
        &"BETA".parse().unwrap(),
        &other,
        RegisteredAccount::new(Currency::USD),
    );
    let twin = FakeBooking::new("2.00 AUD")
        .without_reference()
        .ordinary()
        .narrative("twin");
    let to_virtual = FakeBooking::new("3.00 AUD")
        .virtual_account("700100901", "999042")
        .party("K. Boronia");
    for booking in [
        FakeBooking::new("1.00 AUD"),
        twin.clone(),
        twin,
        to_virtual,
        FakeBooking::new("-4.00 AUD").party("Co"),
    ] {
        ledger.book(&account, &booking, day);
    }
    let fixture = LedgerFixture::new(customer, account.clone(), day)
        .stranger("BETA".parse().unwrap())
        .stranger("NOBODY".parse().unwrap())
        .unknown_account(other)
        .empty_day(Date::parse("2026-03-03").unwrap());
    (ledger, fixture, account)
}

#[tokio::test]
async fn the_fake_ledger() {
    let (ledger, fixture, _) = ledger();
    ledger_suite(&ledger, &fixture).await;
}

#[tokio::test]
async fn the_fake_ledger_while_it_books_first_or_last() {
    for first in [false, true] {
        let (ledger, fixture, account) = ledger();
        let booking = FakeBooking::new("5.00 AUD");
        let booking = if first {
            booking.listed_first()
        } else {
            booking
        };
        let book = async || {
            ledger.book(&account, &booking, Date::parse(DAY).unwrap());
        };
        ledger_suite_while_booking(&ledger, &fixture, book).await;
    }
}

#[tokio::test]
async fn the_fake_directory() {
    let directory = FakeDirectory::new();
    let key = SigningKey::generate(RsaSize::Rsa2048).unwrap();
    let customer = |code: &str| {
        let scopes = "GBL.INSTO.ACCOUNTS.STATEMENT.READ".parse().unwrap();
        Customer::new(
            code.parse().unwrap(),
            KeySet::new([key.verifying_key()]).unwrap(),
            scopes,
        )
    };
    let known: [(&[u8], _); 3] = [
        (b"old key", "ACME"),
        (b"new key", "ACME"),
        (b"Beta's", "BETA"),
    ];
    for (api_key, code) in known {
        directory.insert(ApiKeyHash::of(api_key), customer(code));
    }
    directory_suite(
        &directory,
        &known.map(|(key, code)| (key, code.parse().unwrap())),
    )
    .await;
    assert!(directory.remove(ApiKeyHash::of(b"old key")));
    assert!(!directory.remove(ApiKeyHash::of(b"old key")));
    directory_suite(&directory, &[(b"new key", "ACME".parse().unwrap())]).await;
}
