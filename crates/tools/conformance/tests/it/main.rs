//! The judge of a provider over the fake bank, in the way in which a user's own test runs it.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests say what they expect as tests do"
)]

mod provider;
mod receiver;
mod subject;

use bankrail_conformance::{
    Budget, Customer, Judgement, ProviderJudge, ProviderJudgeOptions, Verdict,
};
use bankrail_emulator::{Endpoint, FakeBank, FakeBankOptions, FakeBooking, Fault};
use bankrail_jose::{KeySet, RsaSize, SigningKey};
use bankrail_rate_limit::{CallType, Limits, Policy};
use bankrail_service::{ApiKeyHash, RegisteredAccount};
use bankrail_statement::AccountId;
use bankrail_values::{Clock as _, Currency, SystemClock};

const CODE: &str = "JUDGEDCUSTOMER";
const ACCOUNT: &str = "999001400100777";

/// Returns a bank with a customer whose account has entries of today.
async fn bank(key: &SigningKey) -> FakeBank {
    let mut limits = Limits::default();
    for call_type in CallType::ALL {
        limits.set_default(call_type, Policy::unlimited());
    }
    // The judge signs assertions by the time of the system.
    let bank = FakeBank::start_with(
        FakeBankOptions::new()
            .limits(limits)
            .start(SystemClock.now()),
    )
    .await;
    let (code, account) = (CODE.parse().unwrap(), AccountId::parse(ACCOUNT).unwrap());
    bank.ledger()
        .open(&code, &account, RegisteredAccount::new(Currency::AUD));
    for amount in ["1250.00 AUD", "-89.95 AUD", "12.50 AUD"] {
        bank.book(
            &account,
            &FakeBooking::new(amount)
                .party("Jarrah & Sons")
                .narrative("invoice 2041 👩‍👩‍👧"),
        );
    }
    let keys = KeySet::new([key.verifying_key()]).unwrap();
    let scopes = bankrail_client_assertion::token::names::STATEMENT_READ
        .parse()
        .unwrap();
    bank.directory().insert(
        ApiKeyHash::of(b"our-key"),
        bankrail_service::Customer::new(code, keys, scopes),
    );
    bank
}

async fn judge(bank: &FakeBank, key: &SigningKey, only: &[&str]) -> Judgement {
    let customer = Customer::new(CODE, "our-key".into(), [ACCOUNT]);
    let budget: Budget = "tokens=100,statements=100,tokens-per-second=1000"
        .parse()
        .unwrap();
    let only = only.iter().map(|id| id.parse().unwrap()).collect();
    let options = ProviderJudgeOptions::new()
        .roots(bank.roots())
        .budget(budget)
        .only(only);
    ProviderJudge::new(bank.url(), customer, key, options)
        .unwrap()
        .judge()
        .await
        .unwrap()
}

#[tokio::test]
async fn the_fake_bank_passes_every_row() {
    let key = SigningKey::generate(RsaSize::Rsa2048).unwrap();
    let bank = bank(&key).await;
    let judgement = judge(&bank, &key, &[]).await;
    assert!(judgement.passed() && judgement.is_complete(), "{judgement}");
    assert!(judgement.rows().len() > 90, "{judgement}");
    let seen = judgement
        .rows()
        .iter()
        .filter(|row| row.verdict == Verdict::Passed);
    assert!(seen.count() > 80, "{}", judgement.to_json());
}

#[tokio::test]
async fn a_fault_is_found_and_printed() {
    let key = SigningKey::generate(RsaSize::Rsa2048).unwrap();
    let bank = bank(&key).await;
    bank.fail(Endpoint::Statement, Fault::Status(500));
    let judgement = judge(&bank, &key, &["S7", "S20.13"]).await;
    let text = judgement.to_string();
    assert!(!judgement.passed() && text.starts_with("S7.8 "), "{text}");
    assert!(text.contains("expected 200, found 500"), "{text}");
    let failed = judgement
        .rows()
        .iter()
        .filter(|row| matches!(row.verdict, Verdict::Failed(_)));
    assert_eq!(
        failed.map(|row| row.id).collect::<Vec<_>>(),
        ["S7.8"],
        "{text}"
    );
}
