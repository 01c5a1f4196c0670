//! Writes something into every table of an engine. A module of `tests/it` of `bankrail-stores` at
//! commit 2e37472, with `bankrail-camt052` as a dependency of the tests; not compiled today.

use crate::engines::{at, lease, owner};
use bankrail_camt052::Document;
use bankrail_client_assertion::ReplayStore;
use bankrail_client_assertion::token::{
    CachedToken, TokenCache, TokenCacheKey, TokenGrant, TokenHash, TokenStore,
};
use bankrail_mailbox::{
    Circuit, DeliveryNote, DeliveryRecord, Disposition, DropOutcome, EndpointId, Inbox,
    Intervention, LeaseRequest, Outbox,
};
use bankrail_rate_limit::{Algorithm, CallType, Charge, CounterStore, Counting, Policy, Window};
use bankrail_statement::{
    AccountId, AccountPoll, Cursor, EntryIdentity, PageDecision, PollOptions, PollPosition,
    PollStep, PolledPage, ReceivedNextPage, SeenEntries,
};
use bankrail_values::HyphenatedUuid;
use bankrail_webhook::history::Histories;
use bankrail_webhook::{
    Acknowledgement, ActionStatus, ActionType, CaseType, DeliveryHeaders, Message,
    TransactionStatus, samples,
};
use std::time::Duration;

const HOUR: i64 = 3_600_000;

pub(crate) async fn assertions<S: ReplayStore>(store: &S) {
    assert!(store.claim([1; 32], at(0), at(HOUR)).await.unwrap());
}

pub(crate) async fn tokens<S: TokenStore>(store: &S) {
    let grant = |code: &str| {
        TokenGrant::new(
            code.parse().unwrap(),
            "READ WRITE".parse().unwrap(),
            at(0),
            at(HOUR),
        )
    };
    store
        .insert(TokenHash::from([2; 32]), grant("CUSTOMER-7"))
        .await
        .unwrap();
    store
        .insert(TokenHash::from([3; 32]), grant("CUSTOMER-8"))
        .await
        .unwrap();
    assert!(store.revoke(TokenHash::from([3; 32])).await.unwrap());
}

pub(crate) async fn cached<S: TokenCache>(store: &S) {
    store
        .put(
            &TokenCacheKey::from([4; 32]),
            &CachedToken::new(vec![7; 60], at(HOUR)),
            at(0),
        )
        .await
        .unwrap();
}

fn page(xml: &str, page: ReceivedNextPage) -> PolledPage {
    let parsed = Document::parse(xml).unwrap();
    assert!(parsed.findings.is_empty(), "{:?}", parsed.findings);
    let entries = parsed.document.reports[0]
        .entries
        .iter()
        .map(EntryIdentity::of)
        .collect();
    PolledPage::new(page, entries).day(Some(bankrail_values::Date::parse("2027-01-15").unwrap()))
}

/// Records a full walk over two pages.
pub(crate) async fn seen<S: SeenEntries>(store: &S) {
    let account: AccountId = "999001400100101".parse().unwrap();
    let mut poll = AccountPoll::new(PollPosition::start(), PollOptions::new());
    let folder = std::env::var("PAST").unwrap();
    let pages = [
        (
            ReceivedNextPage::At {
                cursor: Cursor::parse("two").unwrap(),
            },
            "page-1.xml",
        ),
        (ReceivedNextPage::None, "page-2.xml"),
    ];
    let mut complete = false;
    for (received, name) in pages {
        poll.cursor(at(0));
        let page = page(
            &std::fs::read_to_string(format!("{folder}/{name}")).unwrap(),
            received,
        );
        let known = store.counts(&account, &page.keys()).await.unwrap();
        let PageDecision::Commit(commit) = poll.judge(&page, &known, at(0)) else {
            panic!()
        };
        assert_eq!(commit.new_entries().count(), 3);
        let entries: Vec<_> = commit.entries().to_vec();
        store
            .record(&account, &entries, commit.position())
            .await
            .unwrap();
        complete = poll.committed(commit).unwrap() == PollStep::Complete { full: true };
    }
    assert!(complete);
}

pub(crate) async fn counters<S: CounterStore>(store: &S) {
    let windows = [Window::per_hour(3).unwrap(), Window::per_minute(3).unwrap()];
    let policy = Policy::new(Algorithm::Sliding, Counting::Admitted, &windows).unwrap();
    for _ in 0..2 {
        let charge = Charge::new("CUSTOMER-7", CallType::Statement, &policy, at(0), 1).unwrap();
        assert!(store.charge(charge).await.unwrap().is_allowed());
    }
}

fn uuid(number: u8) -> HyphenatedUuid {
    HyphenatedUuid::from_random_bytes([number; 16])
}

fn headers(message: &Message, number: u8) -> DeliveryHeaders {
    let mut headers = samples::headers(message.kind());
    headers.message_id = uuid(number);
    headers
}

pub(crate) async fn inbox<I: Inbox>(inbox: &I) {
    let mut other = samples::query(&CaseType::Payments);
    other.narrative = "Another text of the same case.".parse().unwrap();
    let messages: [Message; 6] = [
        samples::payment_outcome(&TransactionStatus::SettlementCompleted).into(),
        samples::mandate_outcome(&ActionType::Create, &ActionStatus::Pending).into(),
        samples::mandate_outcome(&ActionType::Create, &ActionStatus::Completed).into(),
        samples::query(&CaseType::Payments).into(),
        other.into(),
        samples::query(
            CaseType::KNOWN
                .iter()
                .find(|case| **case != CaseType::Payments)
                .unwrap(),
        )
        .into(),
    ];
    let mut ids = Vec::new();
    for (number, message) in (1..).zip(&messages) {
        let headers = headers(message, number);
        let acknowledgement = Acknowledgement::received(uuid(100 + number));
        let incoming = message.incoming("", &headers, &[], message.to_json().into_bytes(), &acknowledgement);
        ids.push(
            inbox
                .receive(&incoming, at(i64::from(number)))
                .await
                .unwrap()
                .id(),
        );
    }
    // All but the last one and the one that follows, which is held.
    let leased = inbox.lease(&[], 4, lease(1, 50_000), at(10)).await.unwrap();
    assert_eq!(
        leased.iter().map(|entry| entry.id).collect::<Vec<_>>(),
        [ids[0], ids[1], ids[3], ids[4]]
    );
    assert!(inbox.complete(ids[0], owner(1), at(20)).await.unwrap());
    assert!(
        inbox
            .dead_letter(ids[3], owner(1), "poison", at(21))
            .await
            .unwrap()
    );
    assert!(
        inbox
            .release(ids[4], owner(1), at(90_000), "busy")
            .await
            .unwrap()
    );
}

pub(crate) async fn outbox<O: Outbox>(outbox: &O) {
    let message = Message::from(samples::payment_outcome(
        &TransactionStatus::SettlementCompleted,
    ));
    let mut ids = Vec::new();
    for number in 1..=7 {
        let headers = headers(&message, number);
        let endpoint: EndpointId = if number == 7 { "gone" } else { "biller" }.parse().unwrap();
        let outgoing = message.outgoing(endpoint, &headers).unwrap();
        ids.push(
            outbox
                .enqueue(&outgoing, at(i64::from(number)))
                .await
                .unwrap()
                .id(),
        );
    }
    let leased = outbox
        .lease(LeaseRequest::new(lease(1, 50_000), 4), at(10))
        .await
        .unwrap();
    assert_eq!(leased.len(), 4);
    let record = |status: u16, note| DeliveryRecord {
        started_at: at(11),
        duration: Duration::from_millis(12),
        status: Some(status),
        note,
    };
    let refused = || record(503, Some(DeliveryNote::Refused));
    let biller = ids.iter().copied().take(4).collect::<Vec<_>>();
    assert_eq!(
        leased
            .iter()
            .filter(|entry| biller.contains(&entry.id))
            .count()
            + 1,
        4,
        "one of them is gone's"
    );
    let of_biller: Vec<_> = leased
        .iter()
        .map(|entry| entry.id)
        .filter(|id| *id != ids[6])
        .collect();
    assert!(
        outbox
            .record(
                of_biller[0],
                owner(1),
                &record(200, None),
                Disposition::Delivered,
                at(20)
            )
            .await
            .unwrap()
    );
    assert!(
        outbox
            .record(
                of_biller[1],
                owner(1),
                &refused(),
                Disposition::DeadLetter,
                at(21)
            )
            .await
            .unwrap()
    );
    let later = Disposition::RetryAt(at(90_000));
    assert!(
        outbox
            .record(of_biller[2], owner(1), &refused(), later, at(22))
            .await
            .unwrap()
    );
    let intervention = |by: &str, reason: &str| Intervention {
        by: by.parse().unwrap(),
        reason: reason.parse().unwrap(),
    };
    let dropped = outbox
        .drop_entry(
            ids[4],
            &intervention("Jane", "settled by telephone"),
            at(23),
        )
        .await
        .unwrap();
    assert!(matches!(dropped, DropOutcome::Dropped), "{dropped:?}");
    outbox
        .stop_endpoint(
            &"gone".parse().unwrap(),
            &intervention("John", "they moved"),
            at(24),
        )
        .await
        .unwrap();
    let circuit = Circuit {
        openings: 2,
        open_until: Some(at(70_000)),
        rests_until: None,
    };
    outbox
        .hold_endpoint(&"ill".parse().unwrap(), circuit)
        .await
        .unwrap();
}

pub(crate) async fn histories<H: Histories>(histories: &H) {
    let messages: [Message; 3] = [
        samples::mandate_outcome(&ActionType::Create, &ActionStatus::Pending).into(),
        samples::mandate_outcome(&ActionType::Create, &ActionStatus::Completed).into(),
        samples::payment_outcome(&TransactionStatus::SettlementCompleted).into(),
    ];
    for (millis, message) in (1..).zip(&messages) {
        histories.apply("", message, at(millis)).await.unwrap();
    }
}

fn folder() -> String {
    std::env::var("PAST").unwrap()
}

#[tokio::test]
#[ignore = "writes"]
async fn write_sqlite() {
    let store =
        bankrail_stores::sqlite::SqliteStore::open(format!("{}/past.db", folder())).unwrap();
    assertions(&store).await;
    tokens(&store).await;
    cached(&store).await;
    seen(&store).await;
    counters(&store).await;
    inbox(&store.inbox()).await;
    outbox(&store.outbox()).await;
    histories(&store.histories()).await;
    store.close().await;
}

#[tokio::test]
#[ignore = "writes"]
async fn write_postgres() {
    let store = bankrail_stores::postgres::PostgresStore::connect(
        &std::env::var("BANKRAIL_POSTGRES").unwrap(),
    )
    .await;
    let store = store.unwrap();
    cached(&store).await;
    seen(&store).await;
    counters(&store.counters().with_client_time()).await;
    inbox(&store.inbox()).await;
    outbox(&store.outbox()).await;
    histories(&store.histories()).await;
}

#[tokio::test]
#[ignore = "writes"]
async fn write_redis() {
    use bankrail_stores::redis::{RedisCounters, RedisInbox, RedisStore};
    let url = std::env::var("PAST_REDIS").unwrap();
    let patient = Duration::from_secs(20);
    let store = RedisStore::open(&url).unwrap().with_timeout(patient);
    assertions(&store).await;
    tokens(&store).await;
    cached(&store).await;
    seen(&store).await;
    counters(
        &RedisCounters::open(&url)
            .unwrap()
            .with_client_time()
            .with_timeout(patient),
    )
    .await;
    inbox(&RedisInbox::open(&url).unwrap().with_timeout(patient)).await;
}
