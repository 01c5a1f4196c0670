use crate::engines::{at, sqlite_file, sqlite_memory};
use bankrail_client_assertion::token::{TokenGrant, TokenHash, TokenStore};
use bankrail_client_assertion::{ReplayKey, ReplayStore};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::causes;

fn grant() -> TokenGrant {
    TokenGrant::new(
        "A".parse().unwrap(),
        "READ".parse().unwrap(),
        at(0),
        at(100),
    )
}

fn key(number: u8) -> ReplayKey {
    ReplayKey::new([number; 32], at(50))
}

#[tokio::test]
async fn a_grant_is_stored_with_the_claim_of_its_assertion() {
    let engine = sqlite_file();
    let (store, grant) = (&engine.store, grant());
    let insert = |hash: u8, claim: u8| {
        store.grant_once(Some(key(claim)), TokenHash::from([hash; 32]), grant.clone())
    };
    assert!(insert(1, 1).await.unwrap());
    assert_eq!(
        store
            .find(TokenHash::from([1; 32]), at(1))
            .await
            .unwrap()
            .as_ref(),
        Some(&grant)
    );
    assert!(!insert(2, 1).await.unwrap(), "used before");
    assert_eq!(
        store.find(TokenHash::from([2; 32]), at(1)).await.unwrap(),
        None
    );
    assert!(
        !store
            .claim(ReplayKey::new([1; 32], at(60)), at(50))
            .await
            .unwrap(),
        "claimed until the assertion's own end"
    );
    assert!(
        store
            .claim(ReplayKey::new([1; 32], at(60)), at(51))
            .await
            .unwrap()
    );

    let drop = store.transaction(|transaction| {
        transaction
            .connection()
            .execute_batch("DROP TABLE bankrail_token")
    });
    drop.await.unwrap();
    assert!(insert(3, 3).await.is_err());
    assert!(
        store
            .claim(ReplayKey::new([3; 32], at(50)), at(0))
            .await
            .unwrap(),
        "without its grant, an assertion is not used up"
    );
}

#[tokio::test]
async fn one_of_many_gets_its_grant() {
    let engine = sqlite_file();
    for claim in 0..20 {
        let insert = |hash: u8| {
            let (store, grant) = (engine.store.clone(), grant());
            tokio::spawn(async move {
                let stored = store
                    .grant_once(Some(key(claim)), TokenHash::from([hash; 32]), grant)
                    .await;
                assert_eq!(
                    store
                        .find(TokenHash::from([hash; 32]), at(1))
                        .await
                        .unwrap()
                        .is_some(),
                    *stored.as_ref().unwrap()
                );
                store.revoke(TokenHash::from([hash; 32])).await.unwrap();
                usize::from(stored.unwrap())
            })
        };
        let all: Vec<_> = (0..8).map(insert).collect();
        let mut first = 0;
        for one in all {
            first += one.await.unwrap();
        }
        assert_eq!(first, 1);
    }
}

/// In memory, too, both or neither.
#[tokio::test]
async fn a_full_store_of_grants_uses_no_assertion_up() {
    let memory = MemoryStore::with_capacity(1);
    let insert = |hash: u8, claim: u8| {
        memory.grant_once(Some(key(claim)), TokenHash::from([hash; 32]), grant())
    };
    memory
        .insert(TokenHash::from([1; 32]), grant())
        .await
        .unwrap();
    assert!(insert(2, 2).await.is_err());
    assert!(memory.revoke(TokenHash::from([1; 32])).await.unwrap());
    assert!(insert(2, 2).await.unwrap(), "the assertion was not used up");
    assert!(!insert(2, 2).await.unwrap());
}

#[tokio::test]
async fn a_read_that_fails_says_why() {
    for engine in [sqlite_file(), sqlite_memory()] {
        let store = &engine.store;
        store
            .transaction(|t| t.connection().execute_batch("DROP TABLE bankrail_token"))
            .await
            .unwrap();
        let error = store
            .find(TokenHash::from([1; 32]), at(1))
            .await
            .unwrap_err();
        assert!(
            causes(&error)
                .to_string()
                .contains("no such table: bankrail_token"),
            "{}",
            causes(&error)
        );
    }
}

/// An idle worker is notified of messages only. A second handle of the file stands for another
/// process.
#[tokio::test]
async fn an_idle_worker_is_told_of_messages_and_of_no_other_writes() {
    use crate::engines::{at, outgoing};
    use bankrail_client_assertion::{ReplayKey, ReplayStore as _};
    use bankrail_mailbox::Outbox as _;
    use bankrail_stores::sqlite::{SqliteOptions, SqliteStore};
    use std::time::Duration;
    let folder = tempfile::tempdir().unwrap();
    let open = |name| SqliteStore::open(folder.path().join(name), SqliteOptions::new()).unwrap();
    let elsewhere = open("bank.db");
    // The log is beside the file, not beside the link to it.
    std::os::unix::fs::symlink("bank.db", folder.path().join("link.db")).unwrap();
    let here = open("link.db");
    let outbox = here.outbox();
    let told = async || {
        tokio::time::timeout(Duration::from_millis(300), outbox.changed())
            .await
            .is_ok()
    };
    assert!(told().await, "what came before the first call");
    for number in 0..3 {
        assert!(!told().await);
        assert!(
            elsewhere
                .claim(ReplayKey::new([number; 32], at(9)), at(1))
                .await
                .unwrap()
        );
        assert!(!told().await, "no message was stored");
        let enqueue = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            elsewhere
                .outbox()
                .enqueue(&outgoing("acme", number.into()), at(1))
                .await
                .unwrap();
        };
        assert!(tokio::join!(told(), enqueue).0, "while it waits");
    }
}
