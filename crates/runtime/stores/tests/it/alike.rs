//! The engines give the same answers to random operations. Inbox and outbox are compared with
//! models elsewhere.

use crate::engines::at;
use bankrail_client_assertion::token::{TokenGrant, TokenHash, TokenStore};
use bankrail_client_assertion::{ReplayKey, ReplayStore};
use bankrail_statement::{AccountId, EntryKey, PositionChange, SeenEntries, SeenEntry};
use bankrail_stores::memory::MemoryStore;
#[cfg(feature = "sqlite")]
use bankrail_stores::sqlite::SqliteStore;
use bankrail_values::{Date, EXPIRY_GRACE, Timestamp};
use proptest::prelude::*;
use std::collections::HashMap;

#[derive(Clone, Debug)]
enum Operation {
    Claim {
        key: u8,
        now: i64,
        expires: i64,
    },
    Insert {
        hash: u8,
        issued: i64,
        expires: i64,
    },
    Find {
        hash: u8,
        now: i64,
    },
    Revoke {
        hash: u8,
    },
    Record {
        account: u8,
        entries: Vec<(u8, u32, Option<u8>)>,
        position: Option<u8>,
    },
    Counts {
        account: u8,
    },
    Position {
        account: u8,
    },
    Forget {
        account: u8,
        day: u8,
    },
}

/// Returns operations at an instant of the first tenth of a second, or later by up to this many
/// grace periods.
fn operation(later: i64) -> impl Strategy<Value = Operation> {
    let grace = i64::try_from(EXPIRY_GRACE.as_millis()).unwrap();
    let (small, time) = (
        0..6_u8,
        (0..100_i64, 0..=later).prop_map(move |(millis, later)| millis + later * grace),
    );
    let entry = (small.clone(), 0..4_u32, proptest::option::of(1..5_u8));
    prop_oneof![
        (small.clone(), time.clone(), time.clone())
            .prop_map(|(key, now, expires)| Operation::Claim { key, now, expires }),
        (small.clone(), time.clone(), time.clone()).prop_map(|(hash, issued, expires)| {
            Operation::Insert {
                hash,
                issued,
                expires,
            }
        }),
        (small.clone(), time.clone()).prop_map(|(hash, now)| Operation::Find { hash, now }),
        small.clone().prop_map(|hash| Operation::Revoke { hash }),
        (
            0..2_u8,
            proptest::collection::vec(entry, 0..5),
            proptest::option::of(0..9_u8)
        )
            .prop_map(|(account, entries, position)| Operation::Record {
                account,
                entries,
                position
            }),
        (0..2_u8).prop_map(|account| Operation::Counts { account }),
        (0..2_u8).prop_map(|account| Operation::Position { account }),
        (0..2_u8, 1..6_u8).prop_map(|(account, day)| Operation::Forget { account, day }),
    ]
}

fn account(number: u8) -> AccountId {
    AccountId::parse(&number.to_string()).unwrap()
}

fn day(number: u8) -> Date {
    Date::parse(&format!("2024-01-0{number}")).unwrap()
}

/// Returns the answer as text.
async fn answer<S: ReplayStore + TokenStore + SeenEntries>(
    store: &S,
    operation: &Operation,
) -> String {
    match operation {
        Operation::Claim { key, now, expires } => {
            format!(
                "{:?}",
                store
                    .claim(ReplayKey::new([*key; 32], at(*expires)), at(*now))
                    .await
                    .unwrap()
            )
        }
        Operation::Insert {
            hash,
            issued,
            expires,
        } => {
            let grant = TokenGrant::new(
                "A".parse().unwrap(),
                "READ".parse().unwrap(),
                at(*issued),
                at(*expires),
            );
            format!(
                "{:?}",
                store
                    .insert(TokenHash::from([*hash; 32]), grant)
                    .await
                    .unwrap()
            )
        }
        Operation::Find { hash, now } => {
            format!(
                "{:?}",
                store
                    .find(TokenHash::from([*hash; 32]), at(*now))
                    .await
                    .unwrap()
            )
        }
        Operation::Revoke { hash } => format!(
            "{:?}",
            store.revoke(TokenHash::from([*hash; 32])).await.unwrap()
        ),
        Operation::Record {
            account: number,
            entries,
            position,
        } => {
            let entries: Vec<_> = entries
                .iter()
                .map(|(key, occurrence, on)| {
                    SeenEntry::new(EntryKey::from([*key; 32]), *occurrence, on.map(day))
                })
                .collect();
            let position = position.map(|position| position.to_string());
            let before = store.position(&account(*number)).await.unwrap();
            let change = PositionChange::new(before.as_deref(), position.as_deref());
            format!(
                "{:?}",
                store
                    .record(&account(*number), &entries, Some(change))
                    .await
                    .unwrap()
            )
        }
        Operation::Counts { account: number } => {
            let keys: Vec<_> = (0..6).map(|key| EntryKey::from([key; 32])).collect();
            format!(
                "{:?}",
                store.counts(&account(*number), &keys).await.unwrap()
            )
        }
        Operation::Position { account: number } => {
            format!("{:?}", store.position(&account(*number)).await.unwrap())
        }
        Operation::Forget {
            account: number,
            day: before,
        } => {
            format!(
                "{:?}",
                store
                    .forget_before(&account(*number), day(*before))
                    .await
                    .unwrap()
            )
        }
    }
}

/// A model of used assertions: the function's answers to claims whose times are within the grace
/// period of each other.
#[derive(Default)]
struct Used(HashMap<u8, Timestamp>);

impl Used {
    fn claim(&mut self, key: u8, now: Timestamp, expires: Timestamp) -> bool {
        let free = self
            .0
            .get(&key)
            .is_none_or(|until| ReplayKey::new([key; 32], *until).is_free_at(now));
        if free {
            self.0.insert(key, expires);
        }
        free
    }
}

/// Checks that an engine decides about used assertions like the function, over random histories.
pub(crate) async fn claims_as_the_function_decides<S: ReplayStore>(mut make: impl FnMut() -> S) {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let claims = proptest::collection::vec((0..4_u8, 0..100_i64, 0..100_i64), 1..60);
    for _ in 0..50 {
        let (mut used, store) = (Used::default(), make());
        for (key, now, expires) in claims.new_tree(&mut runner).unwrap().current() {
            let want = used.claim(key, at(now), at(expires));
            let got = store
                .claim(ReplayKey::new([key; 32], at(expires)), at(now))
                .await
                .unwrap();
            assert_eq!(got, want, "{key} at {now} until {expires}");
        }
    }
}

#[tokio::test]
async fn memory_claims_as_the_function_decides() {
    claims_as_the_function_decides(MemoryStore::new).await;
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn sqlite_claims_as_the_function_decides() {
    claims_as_the_function_decides(|| SqliteStore::open_in_memory(Default::default()).unwrap())
        .await;
}

#[cfg(feature = "sqlite")]
proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn memory_and_sqlite_answer_alike(operations in proptest::collection::vec(operation(2), 1..80)) {
        let sqlite = SqliteStore::open_in_memory(Default::default()).unwrap();
        let memory = MemoryStore::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            for operation in &operations {
                prop_assert_eq!(answer(&memory, operation).await, answer(&sqlite, operation).await, "{:?}", operation);
            }
            Ok(())
        })?;
    }
}

/// Compares an engine with memory over random histories within the grace period, in which no engine
/// drops expired records. `make` creates a store for each case.
#[cfg(feature = "redis")]
pub(crate) async fn answers_as_memory<S: ReplayStore + TokenStore + SeenEntries>(
    mut make: impl FnMut() -> S,
) {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let cases = proptest::collection::vec(operation(0), 1..80);
    for _ in 0..100 {
        let (memory, store) = (MemoryStore::new(), make());
        for operation in cases.new_tree(&mut runner).unwrap().current() {
            assert_eq!(
                answer(&store, &operation).await,
                answer(&memory, &operation).await,
                "{operation:?}"
            );
        }
    }
}
