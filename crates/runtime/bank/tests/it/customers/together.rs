//! Instances on several machines, which only PostgreSQL allows.

use super::fixture::{Folder, customer, record};
use crate::engines::{Engine, Postgres};
use bankrail_bank::{ApiKeyRecord, CustomerSource as _, DirectoryFollower, SqlDirectoryOptions};
use bankrail_rate_limit::{CallType, Limiter};
use bankrail_service::{ApiKeyHash, Directory as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Returns options with an interval so long that only a notification shows a change.
fn never() -> SqlDirectoryOptions {
    SqlDirectoryOptions::new().interval(Duration::from_secs(3600))
}

fn per_hour(limiter: &Limiter) -> u32 {
    limiter
        .policy(
            "ACME",
            CallType::Statement,
            super::fixture::TIME.parse().unwrap(),
        )
        .windows()[0]
        .limit()
}

async fn until(what: &str, mut is: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A limit that is changed on one instance applies on the other as soon as it is notified, also a
/// temporary one, and also after its connection was lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs postgresql"]
async fn a_limit_is_followed_by_all_instances() {
    let engine = Postgres::new().await;
    let changed = engine.directory(never());
    let limiters = [(); 2].map(|()| Arc::<Limiter>::default());
    let mut following = Vec::new();
    // Only after a connection was lost it comes to the interval.
    for (limiter, options) in limiters
        .iter()
        .zip([never(), never().interval(Duration::from_secs(2))])
    {
        let directory = engine.again().await.directory(options);
        let follower = DirectoryFollower::new().limiter(Arc::clone(limiter));
        following.push(tokio::spawn(async move {
            follower.run(&directory, std::future::pending()).await
        }));
    }
    let lasting = "[[limits]]\ncall_type = \"statement\"\nper_hour = 50\n";
    changed.put(record("ACME", &[], lasting)).await.unwrap();
    until("the first customers", || {
        limiters.iter().all(|limiter| per_hour(limiter) == 50)
    })
    .await;

    let temporary = format!(
        "{lasting}[[limits]]\ncall_type = \"statement\"\nper_hour = 70\nuntil = 2026-12-24T00:00:00Z\n"
    );
    changed.put(record("ACME", &[], &temporary)).await.unwrap();
    until("a temporary limit", || {
        limiters.iter().all(|limiter| per_hour(limiter) == 70)
    })
    .await;

    let others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE pid <> pg_backend_pid() AND datname = current_database() AND query = 'LISTEN \"bankrail_customer\"'";
    engine
        .store
        .read(async |transaction| transaction.query(others, &[]).await)
        .await
        .unwrap();
    changed.remove(&"ACME".parse().unwrap()).await.unwrap();
    until("after a lost connection", || per_hour(&limiters[1]) == 25).await;
    following.iter().for_each(tokio::task::JoinHandle::abort);
}

/// Each lookup sees the commits of another instance, without any follower.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn a_key_that_is_replaced_on_one_instance_is_known_on_the_other() {
    let engine = Postgres::new().await;
    let [one, two] = [&engine, &engine.again().await].map(|engine| engine.directory(never()));
    let hash = |key: &str| ApiKeyHash::of(key.as_bytes());
    let finds = async |key: &str| two.customer_by_api_key(hash(key)).await.unwrap().is_some();
    one.put(record("ACME", &["old"], "")).await.unwrap();
    assert!(finds("old").await);
    one.add_api_key(&"ACME".parse().unwrap(), ApiKeyRecord::new(hash("new")))
        .await
        .unwrap();
    assert!(finds("new").await && finds("old").await);
    one.retire_api_key(hash("old"), super::fixture::TIME.parse().unwrap())
        .await
        .unwrap();
    assert!(finds("new").await && !finds("old").await);
}

/// Concurrent changes are made one after the other: none is lost, and conflicting ones are refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs postgresql"]
async fn changes_of_several_instances_at_once_are_all_kept_or_refused() {
    let engine = Postgres::new().await;
    let directory = engine.directory(never());
    directory.put(record("ACME", &[], "")).await.unwrap();
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let engine = engine.clone();
            tokio::spawn(async move {
                let directory = engine.again().await.directory(never());
                let key = ApiKeyRecord::new(ApiKeyHash::of(format!("key {task}").as_bytes()));
                assert!(
                    directory
                        .add_api_key(&"ACME".parse().unwrap(), key)
                        .await
                        .unwrap()
                );
                let clash = record(&format!("C{task}"), &["the same"], "");
                directory.put(clash).await.is_ok()
            })
        })
        .collect();
    let mut kept = 0;
    for task in tasks {
        kept += u32::from(task.await.unwrap());
    }
    assert_eq!(kept, 1);
    assert_eq!(
        directory
            .find(&"ACME".parse().unwrap())
            .await
            .unwrap()
            .unwrap()
            .api_keys
            .len(),
        8
    );
    assert_eq!(directory.customers().await.unwrap().len(), 2);
}

/// Many customers are read together, and later only the changed ones.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn many_customers_are_imported_and_read() {
    let engine = Postgres::new().await;
    let folder = Folder::new();
    for number in 0..300 {
        let account = format!("[[accounts]]\nid = \"{number}\"\ncurrency = \"AUD\"\n");
        folder.write(
            &format!("{number}.toml"),
            &customer(
                &format!("C{number}"),
                "acme",
                &[&format!("k{number}")],
                &account,
            ),
        );
    }
    let customers = folder.open().current();
    let [one, two] = [&engine, &engine.again().await].map(|engine| engine.directory(never()));
    one.import(Arc::clone(&customers)).await.unwrap();
    assert_eq!(two.customers().await.unwrap(), customers);
    one.remove(&"C7".parse().unwrap()).await.unwrap();
    let left = two.customers().await.unwrap();
    assert_eq!(left.len(), 299);
    assert!(Arc::ptr_eq(&left, &two.customers().await.unwrap()));
}
