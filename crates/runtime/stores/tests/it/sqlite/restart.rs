use crate::engines::{at, incoming, lease, outgoing, owner, query};
use bankrail_client_assertion::token::{TokenGrant, TokenHash, TokenStore};
use bankrail_client_assertion::{ReplayKey, ReplayStore};
use bankrail_mailbox::{
    DeliveryNote, DeliveryRecord, Disposition, Inbox, Intervention, LeaseRequest, Outbox,
    OutboxOperator, ReceiveOutcome,
};
use bankrail_rate_limit::{CallType, Charge, CounterStore, default_limits};
use bankrail_statement::{AccountId, EntryKey, PositionChange, SeenEntries, SeenEntry};
use bankrail_stores::sqlite::SqliteStore;
use std::time::Duration;

#[tokio::test]
async fn everything_is_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bankrail.db");
    let account: AccountId = "012003123456789".parse().unwrap();
    let grant = TokenGrant::new(
        "CUSTOMER-7".parse().unwrap(),
        "WRITE READ".parse().unwrap(),
        at(0),
        at(3_600_000),
    );
    let delivery = DeliveryRecord {
        started_at: at(5),
        duration: Duration::from_millis(250),
        status: Some(200),
        note: Some(DeliveryNote::Unacknowledged),
    };
    let received = incoming(&query(1, "Why? 🏦"), 1);
    let to = outgoing("biller", 1);

    let store = SqliteStore::open(&path, Default::default()).unwrap();
    assert!(
        ReplayStore::claim(&store, ReplayKey::new([1; 32], at(100)), at(0))
            .await
            .unwrap()
    );
    TokenStore::insert(&store, TokenHash::from([2; 32]), grant.clone())
        .await
        .unwrap();
    store.record_seen(&account).await;
    for used in 0..10 {
        assert!(tokens_at(&store, used * 1000).await, "{used}");
    }
    let outcome = store.inbox().receive(&received, at(1)).await.unwrap();
    let leased = store
        .inbox()
        .lease(&[], 1, lease(1, 50), at(2))
        .await
        .unwrap();
    let enqueued = store.outbox().enqueue(&to, at(3)).await.unwrap();
    let request = LeaseRequest::new(lease(1, 50), 1);
    let pending = store.outbox().lease(request, at(4)).await.unwrap();
    assert!(
        store
            .outbox()
            .record(
                enqueued.id(),
                owner(1),
                &delivery,
                Disposition::RetryAt(at(90)),
                None,
                at(5)
            )
            .await
            .unwrap()
    );
    let gone = Intervention {
        by: "on call".parse().unwrap(),
        reason: "gone".parse().unwrap(),
    };
    store
        .outbox()
        .stop_endpoint(&to.endpoint, &gone, at(6))
        .await
        .unwrap();
    store.close().await;
    drop(store);

    let store = SqliteStore::open(&path, Default::default()).unwrap();
    assert!(
        !ReplayStore::claim(&store, ReplayKey::new([1; 32], at(200)), at(100))
            .await
            .unwrap()
    );
    assert_eq!(
        TokenStore::find(&store, TokenHash::from([2; 32]), at(0))
            .await
            .unwrap(),
        Some(grant)
    );
    assert_eq!(store.counts_seen(&account).await, 3);
    assert_eq!(
        SeenEntries::position(&store, &account)
            .await
            .unwrap()
            .as_deref(),
        Some("here")
    );
    assert!(
        !tokens_at(&store, 20_000).await,
        "the eleventh token of the hour"
    );
    let again = store.inbox().receive(&received, at(9)).await.unwrap();
    assert!(matches!(&again, ReceiveOutcome::InProgress { id, .. } if *id == outcome.id()));
    assert_eq!(again.acknowledgement(), outcome.acknowledgement());
    assert_eq!(
        store.inbox().find(outcome.id()).await.unwrap().as_ref(),
        leased.first()
    );
    assert!(
        store
            .inbox()
            .lease(&[], 1, lease(2, 99), at(49))
            .await
            .unwrap()
            .is_empty(),
        "the lease holds on"
    );
    assert_eq!(
        store
            .inbox()
            .lease(&[], 1, lease(2, 99), at(50))
            .await
            .unwrap()
            .len(),
        1
    );
    let entry = store.outbox().find(enqueued.id()).await.unwrap().unwrap();
    assert_eq!(
        (entry.deliveries, entry.due, &entry.message),
        (1, at(90), &pending[0].message)
    );
    assert_eq!(
        store.outbox().deliveries(enqueued.id()).await.unwrap(),
        [delivery]
    );
    assert_eq!(
        store.outbox().stopped_endpoints().await.unwrap()[0].intervention,
        gone
    );
    assert!(store.outbox().next_due().await.unwrap().is_none());
}

/// Returns true if the customer may have a token `millis` after the start, by the specification's
/// limits.
async fn tokens_at(store: &SqliteStore, millis: i64) -> bool {
    let policy = default_limits(CallType::Token);
    store
        .charge(Charge::new("CUSTOMER-7", CallType::Token, &policy, at(millis), 1).unwrap())
        .await
        .unwrap()
        .is_allowed()
}

#[tokio::test]
async fn two_handles_of_one_file_see_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bankrail.db");
    let (one, other) = (
        SqliteStore::open(&path, Default::default()).unwrap(),
        SqliteStore::open(&path, Default::default()).unwrap(),
    );
    let mut first = 0;
    for number in 0..20 {
        let (a, b) = tokio::join!(
            ReplayStore::claim(&one, ReplayKey::new([number; 32], at(100)), at(0)),
            ReplayStore::claim(&other, ReplayKey::new([number; 32], at(100)), at(0))
        );
        first += usize::from(a.unwrap()) + usize::from(b.unwrap());
    }
    assert_eq!(first, 20, "one of the two each time");
}

trait Seen {
    async fn record_seen(&self, account: &AccountId);
    async fn counts_seen(&self, account: &AccountId) -> u32;
}

impl Seen for SqliteStore {
    async fn record_seen(&self, account: &AccountId) {
        let entry = SeenEntry::new(
            EntryKey::from([3; 32]),
            3,
            Some("2024-01-02".parse().unwrap()),
        );
        let change = PositionChange::new(None, Some("here"));
        let _ = SeenEntries::record(self, account, &[entry], Some(change))
            .await
            .unwrap();
    }

    async fn counts_seen(&self, account: &AccountId) -> u32 {
        SeenEntries::counts(self, account, &[EntryKey::from([3; 32])])
            .await
            .unwrap()[0]
    }
}
