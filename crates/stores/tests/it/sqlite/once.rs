use crate::engines::{at, sqlite_file};
use bankrail_client_assertion::token::{TokenGrant, TokenHash, TokenStore};
use bankrail_client_assertion::{ReplayKey, ReplayStore};
use bankrail_stores::sqlite::SqliteStore;

fn grant() -> TokenGrant {
    TokenGrant::new("A".parse().unwrap(), "READ".parse().unwrap(), at(0), at(100))
}

fn key(number: u8) -> ReplayKey {
    ReplayKey::new([number; 32], at(50))
}

#[tokio::test]
async fn a_grant_is_stored_with_the_claim_of_its_assertion() {
    let engine = sqlite_file();
    let (store, handle, grant) = (&engine.store, engine.store.clone(), grant());
    let insert = |hash: u8, claim: u8| store.insert_once(TokenHash::from([hash; 32]), &grant, key(claim), &handle);
    assert!(insert(1, 1).unwrap().await.unwrap());
    assert_eq!(store.find(TokenHash::from([1; 32]), at(1)).await.unwrap().as_ref(), Some(&grant));
    assert!(!insert(2, 1).unwrap().await.unwrap(), "used before");
    assert_eq!(store.find(TokenHash::from([2; 32]), at(1)).await.unwrap(), None);
    assert!(!store.claim([1; 32], at(50), at(60)).await.unwrap(), "claimed until the assertion's own end");
    assert!(store.claim([1; 32], at(51), at(60)).await.unwrap());

    let drop = store.transaction(|transaction| transaction.connection().execute_batch("DROP TABLE bankrail_token"));
    drop.await.unwrap();
    assert!(insert(3, 3).unwrap().await.is_err());
    assert!(store.claim([3; 32], at(0), at(50)).await.unwrap(), "without its grant, an assertion is not used up");
}

#[tokio::test]
async fn one_of_many_gets_its_grant() {
    let engine = sqlite_file();
    for claim in 0..20 {
        let insert = |hash: u8| {
            let (store, grant) = (engine.store.clone(), grant());
            tokio::spawn(async move {
                let stored = store.insert_once(TokenHash::from([hash; 32]), &grant, key(claim), &store).unwrap().await;
                assert_eq!(
                    store.find(TokenHash::from([hash; 32]), at(1)).await.unwrap().is_some(),
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

#[tokio::test]
async fn two_stores_have_no_common_step() {
    let engine = sqlite_file();
    let other = SqliteStore::open_in_memory(Default::default()).unwrap();
    let memory = bankrail_stores::memory::MemoryStore::new();
    for replay in [&other as &dyn ReplayStore, &memory] {
        assert!(engine.store.insert_once(TokenHash::from([1; 32]), &grant(), key(1), replay).is_none());
    }
    assert!(memory.insert_once(TokenHash::from([1; 32]), &grant(), key(1), &memory).is_none());
}
