//! An account is named by a text that was not checked.
//! says: expected `AccountId`, found `String`
use bankrail::client::PolledAccount;

fn account(id: String) -> PolledAccount {
    PolledAccount::new(id)
}

fn main() {}
