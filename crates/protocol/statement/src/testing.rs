//! The suites that each engine of [`SeenEntries`] and
//! [`TransactionalSeenEntries`](crate::TransactionalSeenEntries) runs, and a naive model of both
//! (feature `testing`).
//!
//! A suite panics with the rule that an engine breaks. A suite starts no runtime: await it in a
//! test.

mod model;
#[allow(
    clippy::indexing_slicing,
    reason = "a suite says what it expects by panicking"
)]
mod suite;
#[allow(
    clippy::indexing_slicing,
    reason = "a suite says what it expects by panicking"
)]
mod transactional_suite;

pub use model::{ModelSeenEntries, ModelWork};
pub use suite::{seen_entries_against_model, seen_entries_suite};
pub use transactional_suite::transactional_seen_entries_suite;

use crate::{AccountId, EntryKey, PositionChange, Recorded, SeenEntries, SeenEntry};
use bankrail_values::{Date, StoreError};

fn account(id: &str) -> AccountId {
    AccountId::parse(id).expect("an account of the suite")
}

fn key(number: u8) -> EntryKey {
    EntryKey::from([number; 32])
}

fn day(text: &str) -> Option<Date> {
    Some(Date::parse(text).expect("a day of the suite"))
}

/// Returns the entry of this key and occurrence, without a day.
fn entry(number: u8, occurrence: u32) -> SeenEntry {
    SeenEntry::new(key(number), occurrence, None)
}

/// Records entries, and sets the position if one is given, without comparing the one before.
///
/// # Panics
/// If the engine reports that another process was faster.
async fn record(
    store: &impl SeenEntries,
    account: &AccountId,
    entries: &[SeenEntry],
    position: Option<&str>,
) -> Result<(), StoreError> {
    let before = store.position(account).await?;
    let change = position.map(|after| PositionChange::new(before.as_deref(), Some(after)));
    let recorded = store.record(account, entries, change).await?;
    assert!(
        matches!(recorded, Recorded::Committed),
        "the position is the one before: {recorded:?}"
    );
    Ok(())
}
