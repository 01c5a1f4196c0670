//! Limits, endpoints and accounts follow the directory.

use super::fixture::{Folder, customer, record};
use crate::engines::{Customers, Engine, over_both};
use bankrail_bank::{
    AccountRegistrar, AccountsOfCustomer, CustomerSet, DirectoryFollower, SqlDirectoryOptions,
    SqliteLedger,
};
use bankrail_rate_limit::{CallType, Limiter, default_limits};
use bankrail_secured_payload::{SealOptions, Sealer};
use bankrail_service::delivery::{Endpoints, SealPayload};
use bankrail_statement::AccountId;
use bankrail_stores::sqlite::SqliteStore;
use bankrail_values::{StoreErrorKind, StoreFuture};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;

/// A ledger that registers accounts, unless a test makes it fail.
#[derive(Default)]
struct Register {
    accounts: Mutex<BTreeMap<String, Vec<String>>>,
    calls: AtomicUsize,
    together: Mutex<Vec<usize>>,
    fails: AtomicBool,
    learned: Notify,
}

impl AccountRegistrar for Register {
    fn register(&self, customers: Vec<AccountsOfCustomer>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            if customers.len() > 1 {
                self.together.lock().unwrap().push(customers.len());
            }
            for (customer, accounts) in customers {
                self.calls.fetch_add(1, Ordering::SeqCst);
                if self.fails.load(Ordering::SeqCst) && customer.as_str() == "ACME" {
                    return Err(StoreErrorKind::Unavailable.into());
                }
                let accounts = accounts
                    .into_iter()
                    .map(|(id, account)| format!("{id} {}", account.currency))
                    .collect();
                self.accounts
                    .lock()
                    .unwrap()
                    .insert(customer.to_string(), accounts);
                self.learned.notify_one();
            }
            Ok(())
        })
    }
}

impl Register {
    fn of(&self, customer: &str) -> Vec<String> {
        self.accounts
            .lock()
            .unwrap()
            .get(customer)
            .cloned()
            .unwrap_or_default()
    }
}

struct Followed {
    follower: DirectoryFollower,
    limiter: Arc<Limiter>,
    endpoints: Endpoints,
    register: Arc<Register>,
    sealers: Arc<AtomicUsize>,
}

fn followed() -> Followed {
    let (limiter, endpoints, register) = (
        Arc::<Limiter>::default(),
        Endpoints::new(),
        Arc::<Register>::default(),
    );
    let sealers = Arc::<AtomicUsize>::default();
    let made = Arc::clone(&sealers);
    let follower = DirectoryFollower::new()
        .limiter(Arc::clone(&limiter))
        .accounts(Arc::clone(&register) as Arc<dyn AccountRegistrar>)
        .endpoints(endpoints.clone(), move |endpoint| {
            made.fetch_add(1, Ordering::SeqCst);
            let bank = crate::world::keys()[1].clone();
            Arc::new(Sealer::new(
                bank,
                endpoint.encryption_key().clone(),
                SealOptions::new(),
            )) as Arc<dyn SealPayload>
        });
    Followed {
        follower,
        limiter,
        endpoints,
        register,
        sealers,
    }
}

const LIMIT: &str = "[[limits]]\ncall_type = \"statement\"\nper_hour = 50\n";
const ACCOUNT: &str = "[[accounts]]\nid = \"1\"\ncurrency = \"AUD\"\n";

fn endpoint(id: &str, path: &str) -> String {
    format!(
        "[[endpoints]]\nid = \"{id}\"\nurl = \"https://a.example/{path}\"\nencryption_key = {{ file = \
         \"encryption.pem\" }}\n"
    )
}

fn set(customers: &[(&str, &str)]) -> CustomerSet {
    CustomerSet::new(customers.iter().map(|(code, more)| record(code, &[], more))).unwrap()
}

fn statements(limiter: &Limiter, code: &str) -> u32 {
    let now = super::fixture::TIME.parse().unwrap();
    limiter.policy(code, CallType::Statement, now).windows()[0].limit()
}

#[tokio::test]
async fn only_what_changes_is_applied_and_what_is_gone_is_removed() {
    let Followed {
        mut follower,
        limiter,
        endpoints,
        register,
        sealers,
    } = followed();
    // Somebody else's limit and endpoint stay.
    let other =
        default_limits(CallType::Token).with_algorithm(bankrail_rate_limit::Algorithm::Fixed);
    limiter.change_limits(|limits| limits.set_override("ACME", CallType::Token, other));

    let both = format!(
        "{LIMIT}{ACCOUNT}{}{}",
        endpoint("e1", "a"),
        endpoint("e2", "b")
    );
    follower
        .apply(&set(&[("ACME", &both), ("BETA", "")]))
        .await
        .unwrap();
    assert_eq!(
        (statements(&limiter, "ACME"), statements(&limiter, "BETA")),
        (50, 25)
    );
    let ids = ["e1", "e2"].map(|id| id.parse().unwrap());
    assert!(ids.iter().all(|id| endpoints.contains(id)));
    assert_eq!(
        (register.of("ACME"), sealers.load(Ordering::SeqCst)),
        (vec!["1 AUD".to_owned()], 2)
    );
    let calls = register.calls.load(Ordering::SeqCst);

    // One endpoint moves, the other one goes; the limit changes, the accounts do not.
    let moved = format!(
        "{}{ACCOUNT}{}",
        LIMIT.replace("50", "60"),
        endpoint("e1", "c")
    );
    follower
        .apply(&set(&[("ACME", &moved), ("BETA", LIMIT)]))
        .await
        .unwrap();
    assert_eq!(
        (statements(&limiter, "ACME"), statements(&limiter, "BETA")),
        (60, 50)
    );
    assert_eq!(sealers.load(Ordering::SeqCst), 3);
    assert!(endpoints.contains(&ids[0]) && !endpoints.contains(&ids[1]));
    assert_eq!(register.calls.load(Ordering::SeqCst), calls);

    // The customer goes.
    follower.apply(&set(&[("BETA", LIMIT)])).await.unwrap();
    assert_eq!(
        (statements(&limiter, "ACME"), statements(&limiter, "BETA")),
        (25, 50)
    );
    assert!(!endpoints.contains(&ids[0]));
    assert_eq!(register.of("ACME"), Vec::<String>::new());
    let now = super::fixture::TIME.parse().unwrap();
    assert_eq!(limiter.policy("ACME", CallType::Token, now), other);
}

#[tokio::test]
async fn a_ledger_that_fails_is_told_again() {
    let Followed {
        mut follower,
        register,
        limiter,
        ..
    } = followed();
    register.fails.store(true, Ordering::SeqCst);
    let customers = set(&[
        ("ACME", &format!("{LIMIT}{ACCOUNT}")),
        ("BETA", &ACCOUNT.replace("\"1\"", "\"2\"")),
    ]);
    assert!(follower.apply(&customers).await.is_err());
    assert_eq!(
        (register.of("ACME").len(), register.of("BETA").len()),
        (0, 1)
    );
    assert_eq!(statements(&limiter, "ACME"), 50);
    register.fails.store(false, Ordering::SeqCst);
    follower.apply(&customers).await.unwrap();
    // First together, then each.
    assert_eq!(
        (
            register.of("ACME").len(),
            register.calls.load(Ordering::SeqCst)
        ),
        (1, 4)
    );
}

#[tokio::test]
async fn the_accounts_of_all_customers_are_registered_together() {
    let Followed {
        mut follower,
        register,
        ..
    } = followed();
    follower
        .apply(&set(&[("ACME", ACCOUNT), ("BETA", ""), ("GAMMA", "")]))
        .await
        .unwrap();
    follower
        .apply(&set(&[("ACME", ACCOUNT), ("BETA", ACCOUNT), ("GAMMA", "")]))
        .await
        .unwrap();
    assert_eq!(
        (
            &*register.together.lock().unwrap(),
            register.of("BETA").len()
        ),
        (&vec![3], 1)
    );
    assert_eq!(register.calls.load(Ordering::SeqCst), 4);
}

/// A follower over a store also applies changes of another process.
async fn it_runs_over_a_store<E: Engine>() {
    let store = E::shared().await;
    let options = || SqlDirectoryOptions::new().interval(Duration::from_millis(1));
    let [followed_one, changed] =
        [&store, &store.again().await].map(|store| store.directory(options()));
    let Followed {
        follower, register, ..
    } = followed();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(async move {
        follower
            .run(&followed_one, async { drop(stopped.await) })
            .await
    });
    changed.put(record("ACME", &[], ACCOUNT)).await.unwrap();
    register.learned.notified().await;
    assert_eq!(register.of("ACME"), ["1 AUD"]);
    changed.remove(&"ACME".parse().unwrap()).await.unwrap();
    register.learned.notified().await;
    assert_eq!(register.of("ACME"), Vec::<String>::new());
    stop.send(()).unwrap();
    running.await.unwrap();
}

/// A follower follows a folder until it is stopped.
#[tokio::test]
async fn it_runs_over_a_folder() {
    let folder = Folder::new();
    folder.write("A.toml", &customer("ACME", "acme", &[], ACCOUNT));
    let directory = folder.open();
    let Followed {
        follower, register, ..
    } = followed();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(async move {
        follower
            .run(&directory, async { drop(stopped.await) })
            .await
    });
    register.learned.notified().await;
    assert_eq!(register.of("ACME"), ["1 AUD"]);
    folder.write(
        "A.toml",
        &customer("ACME", "acme", &[], &ACCOUNT.replace("AUD", "USD")),
    );
    register.learned.notified().await;
    assert_eq!(register.of("ACME"), ["1 USD"]);
    stop.send(()).unwrap();
    running.await.unwrap();
}

/// The ledger serves the accounts of the records.
#[tokio::test]
async fn the_sqlite_ledger_learns_accounts() {
    let ledger = SqliteLedger::new(SqliteStore::open_in_memory(Default::default()).unwrap());
    let mut follower = DirectoryFollower::new().accounts(Arc::new(ledger.clone()));
    follower.apply(&set(&[("ACME", ACCOUNT)])).await.unwrap();
    let account = AccountId::parse("1").unwrap();
    assert_eq!(
        ledger
            .balance(&account)
            .await
            .unwrap()
            .map(|money| money.to_string()),
        Some("0 AUD".to_owned())
    );
    // What the ledger cannot have is an error, and the account stays as it is.
    let refused = follower
        .apply(&set(&[("ACME", &ACCOUNT.replace("AUD", "USD"))]))
        .await
        .unwrap_err();
    assert_eq!(refused.kind(), StoreErrorKind::Conflict);
}

over_both! {
    it_runs_over_a_store,
}
