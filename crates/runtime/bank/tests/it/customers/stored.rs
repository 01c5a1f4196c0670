//! The directory in SQLite and PostgreSQL.

use super::fixture::{Folder, TIME, customer, record};
use crate::engines::{Customers, Engine, Sqlite, over_both};
use bankrail_bank::{ApiKeyRecord, CustomerChangeError, CustomerSource as _, SqlDirectoryOptions};
use bankrail_client_assertion::CustomerCode;
use bankrail_service::testing::directory_suite;
use bankrail_service::{ApiKeyHash, Directory};
use bankrail_values::{Clock, ManualClock, StoreErrorKind, Timestamp};
use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::new(TIME.parse().unwrap()))
}

fn directory<E: Engine>(store: &E, clock: &Arc<ManualClock>) -> E::Directory {
    store.directory(SqlDirectoryOptions::new().clock(Arc::clone(clock) as Arc<dyn Clock>))
}

async fn new<E: Engine>() -> E::Directory {
    directory(&E::new().await, &clock())
}

fn hash(key: &str) -> ApiKeyHash {
    ApiKeyHash::of(key.as_bytes())
}

fn code(code: &str) -> CustomerCode {
    code.parse().unwrap()
}

async fn finds(directory: &impl Customers, key: &str) -> Option<String> {
    let customer = directory.customer_by_api_key(hash(key)).await.unwrap();
    customer.map(|customer| customer.code.to_string())
}

/// Returns the reason why a change is refused.
fn why(error: CustomerChangeError) -> String {
    assert_eq!(error.to_string(), "the record is refused");
    error.source().unwrap().to_string()
}

const MORE: &str = "[[limits]]\ncall_type = \"token\"\nper_hour = 100\nper_second = 3\n\
    [[limits]]\ncall_type = \"statement\"\nunlimited = true\nuntil = 2026-12-24T00:00:00Z\n\
    [[accounts]]\nid = \"1\"\ncurrency = \"AUD\"\nname = \"Täglich\"\nvirtual_accounts = true\n\
    [[accounts]]\nid = \"0\"\ncurrency = \"VND\"\nreporting_source = \"X\"\n\
    [[endpoints]]\nid = \"e1\"\nurl = \"https://a.example/x\"\n\
    encryption_key = { file = \"encryption.pem\", kid = \"k\" }\n\
    api_key = { header = \"x-key\", value = \"hunter2\" }\npaths = { query = \"/q\" }\n\
    [[endpoints]]\nid = \"e0\"\nurl = \"https://a.example/y\"\nencryption_key = { file = \"encryption.pem\" }\n";

async fn the_suite<E: Engine>() {
    let directory = new::<E>().await;
    directory
        .put(record("ACME", &["key-of-acme", "second-key"], ""))
        .await
        .unwrap();
    directory
        .put(record("BETA", &["key-of-beta"], ""))
        .await
        .unwrap();
    let known: [(&[u8], _); 3] = [
        (b"key-of-acme", code("ACME")),
        (b"second-key", code("ACME")),
        (b"key-of-beta", code("BETA")),
    ];
    directory_suite(&directory, &known).await;
}

async fn records_are_stored_whole_and_replaced_whole<E: Engine>() {
    let store = E::shared().await;
    let full = record(
        "ACME",
        &["a", "b"],
        &format!("not_before = 2026-11-01T00:00:00Z\n{MORE}"),
    );
    directory(&store, &clock()).put(full.clone()).await.unwrap();
    // Another process reads it.
    let store = store.again().await;
    let directory = directory(&store, &clock());
    assert_eq!(
        directory.find(&code("ACME")).await.unwrap().as_ref(),
        Some(&full)
    );
    assert_eq!(directory.find(&code("BETA")).await.unwrap(), None);
    let small = record("ACME", &["c"], "");
    directory.put(small.clone()).await.unwrap();
    directory.put(record("AAA", &["b"], MORE)).await.unwrap();
    assert_eq!(directory.find(&code("ACME")).await.unwrap(), Some(small));
    assert_eq!(directory.list().await.unwrap(), [code("AAA"), code("ACME")]);
    assert_eq!(
        (finds(&directory, "a").await, finds(&directory, "c").await),
        (None, Some("ACME".into()))
    );
    assert!(directory.remove(&code("AAA")).await.unwrap());
    assert!(!directory.remove(&code("AAA")).await.unwrap());
    assert_eq!(finds(&directory, "b").await, None);
    // Nothing of it is left.
    let rest = "DELETE FROM bankrail_customer_name WHERE customer <> 'ACME' OR kind <> 'api_key'";
    assert_eq!(store.change(rest).await, 0);
}

async fn a_change_is_validated_with_all_other_customers<E: Engine>() {
    let directory = new::<E>().await;
    directory
        .put(record("ACME", &["a", "b"], MORE))
        .await
        .unwrap();
    let clash = record("BETA", &["c", "b"], &MORE.replace("Täglich", "Other"));
    assert_eq!(
        why(directory.put(clash).await.unwrap_err()),
        "customer BETA, API key 2: expected an API key of its own, found that of customer ACME, API key 2\n\
         customer BETA, account 1: expected the details of the same account at customer ACME, account 1, found others\n\
         customer BETA, endpoint 1: expected an endpoint id of its own, found that of customer ACME, endpoint 1\n\
         customer BETA, endpoint 2: expected an endpoint id of its own, found that of customer ACME, endpoint 2"
    );
    assert_eq!(directory.list().await.unwrap(), [code("ACME")]);
    // A customer takes over what another of the same import gives up.
    let folder = Folder::new();
    folder.write("A.toml", &customer("ACME", "acme", &["a"], ""));
    folder.write("B.toml", &customer("BETA", "beta", &["b"], MORE));
    let customers = folder.open().current();
    directory.import(Arc::clone(&customers)).await.unwrap();
    assert_eq!(directory.customers().await.unwrap(), customers);
    // One that clashes with a customer who stays changes nothing.
    folder.remove("B.toml");
    folder.write("A.toml", &customer("GAMMA", "acme", &["b"], ""));
    let refused = directory.import(folder.open().current()).await.unwrap_err();
    assert_eq!(
        why(refused),
        "customer GAMMA, API key 1: expected an API key of its own, found that of customer BETA, API key 1"
    );
    assert_eq!(directory.customers().await.unwrap(), customers);
}

async fn an_api_key_is_replaced_without_an_interruption<E: Engine>() {
    let clock = clock();
    let directory = directory(&E::new().await, &clock);
    directory.put(record("ACME", &["old"], "")).await.unwrap();
    assert!(
        directory
            .add_api_key(&code("ACME"), ApiKeyRecord::new(hash("new")))
            .await
            .unwrap()
    );
    assert!(
        !directory
            .add_api_key(&code("BETA"), ApiKeyRecord::new(hash("other")))
            .await
            .unwrap()
    );
    let acme = Some("ACME".to_owned());
    assert_eq!(
        (
            finds(&directory, "old").await,
            finds(&directory, "new").await
        ),
        (acme.clone(), acme.clone())
    );
    let soon = clock.now().saturating_add(Duration::from_secs(60));
    assert!(directory.retire_api_key(hash("old"), soon).await.unwrap());
    assert!(!directory.retire_api_key(hash("none"), soon).await.unwrap());
    // A later time does not give it longer.
    assert!(
        directory
            .retire_api_key(hash("old"), Timestamp::MAX)
            .await
            .unwrap()
    );
    clock.advance(Duration::from_millis(59_999));
    assert_eq!(finds(&directory, "old").await, acme);
    clock.advance(Duration::from_millis(1));
    assert_eq!(
        (
            finds(&directory, "old").await,
            finds(&directory, "new").await
        ),
        (None, acme)
    );
    // The key of a customer cannot be given to another one.
    directory.put(record("BETA", &[], "")).await.unwrap();
    let refused = directory
        .add_api_key(&code("BETA"), ApiKeyRecord::new(hash("new")))
        .await
        .unwrap_err();
    assert!(why(refused).starts_with("customer BETA, API key 1: expected an API key of its own"));
    // Expired keys make room.
    directory
        .add_api_key(&code("ACME"), ApiKeyRecord::new(hash("third")))
        .await
        .unwrap();
    let keys = directory
        .find(&code("ACME"))
        .await
        .unwrap()
        .unwrap()
        .api_keys;
    assert_eq!(
        keys,
        ["new", "third"].map(|key| ApiKeyRecord::new(hash(key)))
    );
    // A key that would end before it begins is gone.
    let mut later = ApiKeyRecord::new(hash("later"));
    later.not_before = Some(Timestamp::MAX);
    directory.add_api_key(&code("ACME"), later).await.unwrap();
    assert!(
        directory
            .retire_api_key(hash("later"), clock.now())
            .await
            .unwrap()
    );
    assert!(
        !directory
            .retire_api_key(hash("later"), clock.now())
            .await
            .unwrap()
    );
}

/// Each lookup of two processes on one store sees the other's changes.
async fn another_process_changes_a_customer<E: Engine>() {
    let store = E::shared().await;
    let [one, two] = [&store, &store.again().await].map(|store| directory(store, &clock()));
    one.put(record("ACME", &["a"], "")).await.unwrap();
    let before = two.customers().await.unwrap();
    assert!(Arc::ptr_eq(&before, &two.customers().await.unwrap()));
    assert_eq!(finds(&two, "a").await.as_deref(), Some("ACME"));
    let mut changed = record("ACME", &["a"], "");
    changed.customer.scopes = "OTHER.READ".parse().unwrap();
    one.put(changed).await.unwrap();
    let customer = two.customer_by_api_key(hash("a")).await.unwrap().unwrap();
    assert_eq!(customer.scopes, "OTHER.READ".parse().unwrap());
    assert!(!Arc::ptr_eq(&before, &two.customers().await.unwrap()));
    one.remove(&code("ACME")).await.unwrap();
    assert_eq!(finds(&two, "a").await, None);
    // The same code again, with other keys.
    let folder = Folder::new();
    folder.write(
        "A.toml",
        &super::fixture::customer("ACME", "beta", &["a"], ""),
    );
    one.import(folder.open().current()).await.unwrap();
    let customer = two.customer_by_api_key(hash("a")).await.unwrap().unwrap();
    assert_eq!(
        customer.keys.keys()[0].public_key(),
        super::fixture::verifying_key(1).public_key()
    );
    assert_eq!(two.customers().await.unwrap().len(), 1);
}

async fn rows_of_somebody_else_are_reported_without_their_content<E: Engine>() {
    let store = E::new().await;
    let directory = directory(&store, &clock());
    directory.put(record("ACME", &["a"], MORE)).await.unwrap();
    for spoil in [
        "UPDATE bankrail_customer SET record = 'MARK4711'",
        "UPDATE bankrail_customer SET record = replace(record, 'GBL.', 'MARK4711  ')",
        "UPDATE bankrail_customer SET record = replace(record, 'id = \"1\"', 'id = \"MARK-4711\"')",
        "UPDATE bankrail_customer SET record = replace(record, 'https://', 'MARK4711')",
        "UPDATE bankrail_customer SET record = replace(record, '-----BEGIN', 'MARK4711')",
        "UPDATE bankrail_customer SET record = replace(record, '\"token\"', '\"MARK4711\"')",
        "UPDATE bankrail_customer SET record = replace(record, 'hunter2', 'MARK4711\\n')",
        "UPDATE bankrail_customer SET record = replace(record, '\"ACME\"', '\"MARK4711\"')",
        // A record in a store names no files.
        "UPDATE bankrail_customer SET record = replace(record, 'value = \"hunter2\"', 'file = \"/MARK4711\"')",
    ] {
        directory.put(record("ACME", &["a"], MORE)).await.unwrap();
        assert!(store.change(spoil).await > 0);
        let error = directory.find(&code("ACME")).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{spoil}");
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("4711"), "{shown}");
        // Whoever puts the record again repairs it.
    }
}

/// A lookup reads by indexes alone.
#[tokio::test]
async fn a_lookup_goes_by_an_index() {
    let store = Sqlite::new().await.store;
    let plan = store.read(|connection| {
        let sql = "EXPLAIN QUERY PLAN SELECT code, change FROM bankrail_customer_name
            JOIN bankrail_customer ON code = customer WHERE kind = 'api_key' AND name = ?1";
        let mut statement = connection.prepare(sql)?;
        let rows = statement.query_map([""], |row| row.get::<_, String>(3))?;
        rows.collect::<Result<Vec<_>, _>>()
    });
    let plan = plan.await.unwrap();
    assert_eq!(plan.len(), 2, "{plan:?}");
    assert!(
        plan.iter().all(|line| line.starts_with("SEARCH")),
        "{plan:?}"
    );
}

async fn a_change_leaves_the_other_records_as_they_are<E: Engine>() {
    let directory = new::<E>().await;
    for (code, key) in [("ACME", "a"), ("BETA", "b"), ("GAMMA", "g")] {
        directory.put(record(code, &[key], "")).await.unwrap();
    }
    let before = directory.customers().await.unwrap();
    assert!(Arc::ptr_eq(&before, &directory.customers().await.unwrap()));
    // One is replaced, one goes, and one comes that has the key of the one that goes.
    directory.put(record("BETA", &["b2"], "")).await.unwrap();
    assert!(directory.remove(&code("GAMMA")).await.unwrap());
    directory.put(record("AAA", &["g"], "")).await.unwrap();
    let after = directory.customers().await.unwrap();
    let same = Arc::ptr_eq(
        before.get(&code("ACME")).unwrap(),
        after.get(&code("ACME")).unwrap(),
    );
    let owner = |key| {
        after
            .customer_by_api_key(hash(key), TIME.parse().unwrap())
            .map(|of| of.code.to_string())
    };
    let owners = ["a", "b", "b2", "g"].map(owner);
    assert_eq!(
        owners,
        [Some("ACME"), None, Some("BETA"), Some("AAA")].map(|code| code.map(str::to_owned))
    );
    assert_eq!(
        (same, after.len(), after.get(&code("GAMMA"))),
        (true, 3, None)
    );
}

/// Lost changes are forgotten after a backup was restored, or a standby without them took over.
async fn changes_that_the_database_has_lost_are_lost<E: Engine>() {
    let engine = E::new().await;
    let directory = directory(&engine, &clock());
    let api_keys = async || {
        let customers = directory.customers().await.unwrap();
        let keys: Vec<usize> = customers
            .records()
            .map(|record| record.api_keys.len())
            .collect();
        keys
    };
    directory.put(record("ACME", &["a"], "")).await.unwrap();
    assert_eq!(api_keys().await, [1]);
    engine
        .change("CREATE TABLE before AS SELECT record FROM bankrail_customer")
        .await;
    directory
        .put(record("ACME", &["a", "b"], ""))
        .await
        .unwrap();
    assert_eq!(api_keys().await, [2]);
    let lost =
        "UPDATE bankrail_customer SET record = (SELECT record FROM before), change = change - 1";
    assert_eq!(engine.change(lost).await, 1);
    engine
        .change("UPDATE bankrail_customer_change SET last = last - 1")
        .await;
    assert_eq!(api_keys().await, [1]);
}

/// A lost key is not accepted from the cache, even if another change was made since.
async fn a_key_that_the_database_has_lost_is_not_believed<E: Engine>() {
    let engine = E::shared().await;
    let kept = directory(&engine, &clock());
    let keys = async || {
        kept.customer_by_api_key(hash("a"))
            .await
            .unwrap()
            .unwrap()
            .keys
            .keys()
            .len()
    };
    kept.put(record("ACME", &["a"], "")).await.unwrap();
    assert_eq!(keys().await, 1);
    engine.change("CREATE TABLE before (change BIGINT)").await;
    engine
        .change("INSERT INTO before SELECT last FROM bankrail_customer_change")
        .await;
    kept.put(record("ACME", &["a"], "[[keys]]\nfile = \"beta.pem\"\n"))
        .await
        .unwrap();
    assert_eq!(keys().await, 2);
    engine
        .change("UPDATE bankrail_customer_change SET last = (SELECT change FROM before)")
        .await;
    let engine = engine.again().await;
    directory(&engine, &clock())
        .put(record("ACME", &["a"], ""))
        .await
        .unwrap();
    assert_eq!(keys().await, 1);
}

/// A lost customer leaves the set, even if more changes of another customer were made since.
async fn what_the_database_has_lost_leaves_the_book_although_others_have_changed_since<
    E: Engine,
>() {
    for lost in ["a change", "a new customer", "that a customer is gone"] {
        let engine = E::new().await;
        let [kept, another] = [&engine, &engine].map(|engine| directory(engine, &clock()));
        for (code, key) in [("ACME", "a"), ("BETA", "b"), ("DELTA", "d")] {
            kept.put(record(code, &[key], "")).await.unwrap();
        }
        for before in [
            "CREATE TABLE customer AS SELECT code, record, change FROM bankrail_customer",
            "CREATE TABLE customer_name AS SELECT kind, name, customer FROM bankrail_customer_name",
            "CREATE TABLE customer_change AS SELECT last FROM bankrail_customer_change",
        ] {
            engine.change(before).await;
        }
        match lost {
            "a change" => kept.put(record("ACME", &["a", "a2"], "")).await.unwrap(),
            "a new customer" => kept.put(record("OMEGA", &["o"], "")).await.unwrap(),
            _ => assert!(kept.remove(&code("DELTA")).await.unwrap()),
        }
        let known = kept.customers().await.unwrap();
        for as_before in [
            "DELETE FROM bankrail_customer",
            "INSERT INTO bankrail_customer (code, record, change) SELECT code, record, change FROM customer",
            "INSERT INTO bankrail_customer_name (kind, name, customer) SELECT kind, name, customer FROM customer_name",
            "UPDATE bankrail_customer_change SET last = (SELECT last FROM customer_change)",
        ] {
            engine.change(as_before).await;
        }
        // The steps between changes are random. So many are beyond one.
        for _ in 0..20 {
            another.put(record("BETA", &["b"], "")).await.unwrap();
        }
        let there = another.customers().await.unwrap();
        assert!(*known != *there, "{lost}: it was known");
        assert!(*kept.customers().await.unwrap() == *there, "{lost}");
        // What is known is whole: a further change reads no more than that one.
        another.put(record("BETA", &["b", "b2"], "")).await.unwrap();
        let before = kept.customers().await.unwrap();
        assert!(*before == *another.customers().await.unwrap(), "{lost}");
        another.put(record("BETA", &["b"], "")).await.unwrap();
        let after = kept.customers().await.unwrap();
        let same = [&before, &after].map(|customers| customers.get(&code("ACME")).unwrap());
        assert!(Arc::ptr_eq(same[0], same[1]), "{lost}");
    }
}

over_both! {
    changes_that_the_database_has_lost_are_lost,
    what_the_database_has_lost_leaves_the_book_although_others_have_changed_since,
    a_key_that_the_database_has_lost_is_not_believed,
    the_suite,
    a_change_leaves_the_other_records_as_they_are,
    records_are_stored_whole_and_replaced_whole,
    a_change_is_validated_with_all_other_customers,
    an_api_key_is_replaced_without_an_interruption,
    another_process_changes_a_customer,
    rows_of_somebody_else_are_reported_without_their_content,
}
