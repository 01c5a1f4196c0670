//! Databases that commit 2e37472 wrote, opened by today's code: `tests/past/README.md` says how
//! they were made, and `tests/past/writer.rs` which operations wrote them. Each row must have the
//! same meaning as before.
//!
//! That commit had no archive, and neither then nor today does PostgreSQL store used assertions and
//! tokens.

use crate::engines::{at, lease, owner};
use bankrail_camt052::Document;
use bankrail_client_assertion::token::{
    CachedToken, TokenCache, TokenCacheKey, TokenGrant, TokenHash, TokenStore,
};
use bankrail_client_assertion::{ReplayKey, ReplayStore};
use bankrail_mailbox::{
    Circuit, DeliveryNote, DeliveryRecord, Disposition, EndpointCircuit, EndpointId, Enqueued,
    EntryId, Inbox, InboxCounts, InboxState, LeaseRequest, OutboxCounts, OutboxQuery, OutboxState,
    OutboxStore, ReceiveOutcome,
};
use bankrail_rate_limit::{Algorithm, CallType, Charge, CounterStore, Counting, Policy, Window};
use bankrail_statement::{
    AccountId, AccountPoll, Cursor, EntryIdentity, EntryLinks, EntryRelation, PageDecision,
    PollOptions, PollStep, PolledPage, ReceivedNextPage, Recorded, SeenEntries, StatedAccount,
    StatementDay,
};
use bankrail_values::HyphenatedUuid;
use bankrail_webhook::history::{Histories, HistoryId, HistoryState, MandateState, PaymentState};
use bankrail_webhook::{
    Acknowledgement, ActionStatus, ActionType, DeliveryHeaders, Message, MessageKind, samples,
};
use std::time::Duration;

const HOUR: i64 = 3_600_000;

async fn assertions<S: ReplayStore>(store: &S) {
    assert!(
        !store
            .claim(ReplayKey::new([1; 32], at(HOUR)), at(1))
            .await
            .unwrap(),
        "used up"
    );
    assert!(
        store
            .claim(ReplayKey::new([2; 32], at(HOUR)), at(1))
            .await
            .unwrap()
    );
}

async fn tokens<S: TokenStore>(store: &S) {
    let scopes = "READ WRITE".parse().unwrap();
    let granted = TokenGrant::new("CUSTOMER-7".parse().unwrap(), scopes, at(0), at(HOUR));
    assert_eq!(
        store
            .find(TokenHash::from([2; 32]), at(HOUR - 1))
            .await
            .unwrap(),
        Some(granted)
    );
    assert_eq!(
        store
            .find(TokenHash::from([2; 32]), at(HOUR))
            .await
            .unwrap(),
        None,
        "expired"
    );
    assert_eq!(
        store.find(TokenHash::from([3; 32]), at(1)).await.unwrap(),
        None,
        "revoked"
    );
}

async fn cached<S: TokenCache>(store: &S) {
    let token = CachedToken::new(vec![7; 60], at(HOUR));
    assert_eq!(
        store
            .get(&TokenCacheKey::from([4; 32]), at(1))
            .await
            .unwrap(),
        Some(token)
    );
}

fn page(xml: &str, page: ReceivedNextPage) -> PolledPage {
    let document = Document::parse(xml).unwrap().document;
    let report = &document.reports[0];
    PolledPage::new(page, report.entries.iter().map(EntryIdentity::of).collect())
        .links(report.entries.iter().map(EntryLinks::of).collect())
        .day(StatementDay::of(report))
        .stated(StatedAccount::of(report))
}

/// The next poll begins at the last page, and the hour's full walk finds nothing new. Only the
/// entry whose reference is the placeholder `NONREF` is new once more: that commit took it for a
/// reference.
async fn seen<S: SeenEntries>(store: &S) {
    let account: AccountId = "999001400100101".parse().unwrap();
    let position = store.position(&account).await.unwrap().unwrap();
    let mut poll = AccountPoll::new(Some(&position), PollOptions::new());
    assert_eq!(poll.last_full_walk(), Some(at(0)));
    let two = Cursor::parse("two").unwrap();
    assert_eq!(poll.cursor(at(1)), Some(&two));
    let first = page(
        include_str!("../past/page-1.xml"),
        ReceivedNextPage::At { cursor: two },
    );
    let second = page(include_str!("../past/page-2.xml"), ReceivedNextPage::None);
    assert_eq!(
        store.counts(&account, &first.keys()).await.unwrap(),
        [2, 2, 1]
    );

    let full_walk = at(2 * HOUR);
    let walks = [
        (&second, at(1), &[2][..]),
        (&first, full_walk, &[]),
        (&second, full_walk, &[]),
    ];
    for (page, now, expected) in walks {
        poll.cursor(now);
        let known = store.counts(&account, &page.keys()).await.unwrap();
        let PageDecision::Commit(commit) = poll.judge(page, &known, now) else {
            panic!("a page of a full walk")
        };
        let handed: Vec<_> = commit
            .handed_over()
            .map(|handed| (handed.index, handed.relation.clone()))
            .collect();
        let news: Vec<_> = expected
            .iter()
            .map(|index| {
                (
                    *index,
                    EntryRelation::New {
                        may_replace: Vec::new(),
                    },
                )
            })
            .collect();
        assert_eq!(handed, news);
        assert_eq!(
            commit.notices(),
            [],
            "nothing is missed, late or contradictory"
        );
        let recorded = store
            .record(&account, commit.entries(), Some(commit.position()))
            .await
            .unwrap();
        assert!(matches!(recorded, Recorded::Committed), "{recorded:?}");
        let _: PollStep = poll.committed(commit).unwrap();
    }
    assert_eq!(poll.last_full_walk(), Some(full_walk));
}

async fn counters<S: CounterStore>(store: &S) {
    let windows = [Window::per_hour(3).unwrap(), Window::per_minute(3).unwrap()];
    let policy = Policy::new(Algorithm::Sliding, Counting::Admitted, &windows).unwrap();
    let mut allowed = Vec::new();
    for _ in 0..2 {
        let charge = Charge::new("CUSTOMER-7", CallType::Statement, &policy, at(1), 1).unwrap();
        allowed.push(store.charge(charge).await.unwrap().is_allowed());
    }
    assert_eq!(
        allowed,
        [true, false],
        "two of three calls were made before"
    );
}

fn uuid(number: u8) -> HyphenatedUuid {
    HyphenatedUuid::from_random_bytes([number; 16])
}

/// Returns the acknowledgement of a message.
fn acknowledgement(number: u8) -> Vec<u8> {
    Acknowledgement::received(uuid(100 + number))
        .to_json()
        .into_bytes()
}

async fn inbox<I: Inbox>(inbox: &I) {
    let counts = inbox.counts().await.unwrap();
    assert_eq!(
        counts,
        InboxCounts {
            pending: 4,
            completed: 1,
            dead_letters: 1
        }
    );
    let kinds = [
        "payment_outcome",
        "mandate_outcome",
        "mandate_outcome",
        "query",
        "query",
        "query",
    ];
    for (number, kind) in (1..).zip(kinds) {
        let id = EntryId::new(u64::from(number));
        let entry = inbox.find(id).await.unwrap().unwrap();
        assert_eq!(
            (entry.kind.as_str(), entry.received_at),
            (kind, at(i64::from(number)))
        );
        let (headers, findings) = DeliveryHeaders::from_attributes(&entry.attributes).unwrap();
        assert_eq!((headers.message_id, findings), (uuid(number), Vec::new()));
        // Delivered again, it is the same message, and gets the answer that it got then.
        let message = Message::from_json(kind.parse().unwrap(), &entry.body)
            .unwrap()
            .message;
        let answer = Acknowledgement::received(uuid(200));
        let again = inbox
            .receive(
                &message.incoming("", &headers, &[], entry.body.to_vec(), &answer),
                at(30),
            )
            .await;
        let known = match again.unwrap() {
            ReceiveOutcome::InProgress {
                id,
                acknowledgement,
            } => (InboxState::Pending, id, acknowledgement),
            ReceiveOutcome::Duplicate {
                id,
                acknowledgement,
            } => (entry.state, id, acknowledgement),
            other => panic!("message {number}: {other:?}"),
        };
        assert_eq!(known, (entry.state, id, acknowledgement(number).into()));
    }
    let find = async |number| inbox.find(EntryId::new(number)).await.unwrap().unwrap();
    let dead = find(4).await;
    assert_eq!(
        (dead.state, dead.attempts, dead.last_error.as_deref()),
        (InboxState::DeadLetter, 1, Some("poison"))
    );
    let conflict = find(5).await;
    assert_eq!(
        (conflict.conflicts_with, conflict.last_error.as_deref()),
        (Some(dead.id), Some("busy"))
    );
    assert_eq!(find(3).await.follows, Some(EntryId::new(2)));

    let leased = async |owner, until, now| {
        let leased = inbox
            .lease(&[], 9, lease(owner, until), at(now))
            .await
            .unwrap();
        leased
            .iter()
            .map(|entry| entry.id.get())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        leased(2, 40_000, 30).await,
        [6],
        "one is leased, one follows it, one waits"
    );
    assert!(
        inbox
            .complete(EntryId::new(2), owner(1), at(31))
            .await
            .unwrap(),
        "a lease goes on"
    );
    assert_eq!(leased(2, 40_000, 32).await, [3], "its turn has come");
    assert!(inbox.resend(EntryId::new(4), at(33)).await.unwrap());
    assert_eq!(leased(2, 40_000, 34).await, [4]);
    assert_eq!(
        leased(3, 200_000, 90_000).await,
        [3, 4, 5, 6],
        "leases end, and what waited is due"
    );
    assert_eq!(
        inbox.forget(at(25)).await.unwrap(),
        1,
        "the message that was handled at 20 ms"
    );
}

async fn outbox<O: OutboxStore>(outbox: &O) {
    let counts = outbox.counts(None).await.unwrap();
    assert_eq!(
        counts,
        OutboxCounts {
            pending: 4,
            delivered: 1,
            dead_letters: 1,
            dropped: 1
        }
    );
    let id = EntryId::new;
    for number in 1..=7 {
        let entry = outbox.find(id(u64::from(number))).await.unwrap().unwrap();
        let (headers, _) = DeliveryHeaders::from_attributes(&entry.message.attributes).unwrap();
        assert_eq!(
            (entry.message.message_id, headers.message_id),
            (uuid(number), uuid(number))
        );
        let message = Message::from_json(MessageKind::PaymentOutcome, &entry.message.body)
            .unwrap()
            .message;
        let same = message
            .outgoing(entry.message.endpoint.clone(), &headers)
            .unwrap();
        assert_eq!(
            outbox.enqueue(&same, at(30)).await.unwrap(),
            Enqueued::AlreadyStored(entry.id)
        );
    }
    let record = |status, note| DeliveryRecord {
        started_at: at(11),
        duration: Duration::from_millis(12),
        status: Some(status),
        note,
    };
    let refused = record(503, Some(DeliveryNote::Refused));
    assert_eq!(outbox.deliveries(id(1)).await.unwrap(), [record(200, None)]);
    assert_eq!(
        outbox.deliveries(id(2)).await.unwrap(),
        std::slice::from_ref(&refused)
    );
    assert_eq!(outbox.deliveries(id(3)).await.unwrap(), [refused]);
    let dropped = outbox
        .list(&OutboxQuery::new().state(OutboxState::Dropped))
        .await
        .unwrap();
    let by = dropped[0].dropped.as_ref().unwrap();
    assert_eq!(
        (dropped[0].id, by.by.as_str(), by.reason.as_str()),
        (id(5), "Jane", "settled by telephone")
    );
    assert_eq!(
        outbox.summary(id(2)).await.unwrap().unwrap().finished_at,
        Some(at(21))
    );
    assert_eq!(
        outbox.summary(id(7)).await.unwrap().unwrap().leased_until,
        Some(at(50_000))
    );
    let stopped = outbox.stopped_endpoints().await.unwrap();
    let by = &stopped[0].intervention;
    assert_eq!(
        (stopped[0].endpoint.as_str(), stopped[0].since),
        ("gone", at(24))
    );
    assert_eq!((by.by.as_str(), by.reason.as_str()), ("John", "they moved"));
    let ill = Circuit {
        openings: 2,
        open_until: Some(at(70_000)),
        rests_until: None,
    };
    let circuits = outbox.circuits().await.unwrap();
    assert_eq!(
        circuits,
        [EndpointCircuit::new("ill".parse().unwrap(), ill)]
    );

    let leased = async |owner, until, now| {
        let leased = outbox
            .lease(LeaseRequest::new(lease(owner, until), 9), at(now))
            .await
            .unwrap();
        let mut leased: Vec<_> = leased.iter().map(|entry| entry.id.get()).collect();
        leased.sort_unstable();
        leased
    };
    assert_eq!(
        leased(2, 40_000, 30).await,
        [4, 6],
        "one waits, one is leased, and its endpoint is stopped"
    );
    let delivered = record(200, None);
    let done = outbox
        .record(
            id(7),
            owner(1),
            &delivered,
            Disposition::Delivered,
            None,
            at(31),
        )
        .await
        .unwrap();
    assert!(done, "a lease goes on");
    assert!(outbox.resend(id(2), at(32)).await.unwrap());
    assert_eq!(
        leased(3, 200_000, 90_000).await,
        [2, 3, 4, 6],
        "leases end, and what waited is due"
    );
    let gone: EndpointId = "gone".parse().unwrap();
    assert!(outbox.resume_endpoint(&gone, at(90_000)).await.unwrap());
    assert_eq!(
        outbox.forget(at(25)).await.unwrap(),
        2,
        "what was delivered at 20 ms and dropped at 23 ms"
    );
}

async fn histories<H: Histories>(histories: &H) {
    let changes = histories.changes_after(0, 9).await.unwrap();
    let states: Vec<_> = changes
        .iter()
        .map(|kept| (kept.state(), kept.change, kept.changed_at))
        .collect();
    let mandate = HistoryState::Mandate(MandateState::Active);
    let payment = HistoryState::Payment(PaymentState::Settled);
    assert_eq!(states, [(mandate, 2, at(2)), (payment, 3, at(3))]);
    for kept in &changes {
        for id in &kept.ids {
            assert_eq!(histories.find("", id).await.unwrap().as_ref(), Some(kept));
        }
    }
    // A message of the mandate goes on with its history.
    let HistoryId::Mandate(id) = changes[0].ids[0] else {
        panic!("{:?}", changes[0].ids)
    };
    let mut suspended =
        samples::mandate_outcome(&ActionType::StatusChange, &ActionStatus::Completed);
    suspended.mandate_identification = Some(id);
    suspended.creation_date_time = at(4);
    histories.apply("", &suspended.into(), at(5)).await.unwrap();
    let changed = histories.changes_after(3, 9).await.unwrap();
    let [kept] = &*changed else {
        panic!("{changed:?}")
    };
    assert_eq!((kept.number, kept.change), (changes[0].number, 4));
    assert_eq!(kept.state(), HistoryState::Mandate(MandateState::Suspended));
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn what_2e37472_wrote_with_sqlite_is_understood() {
    use bankrail_stores::sqlite::{SqliteOptions, SqliteStore, rusqlite};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("past.db");
    let written = rusqlite::Connection::open(&path).unwrap();
    written
        .execute_batch(include_str!("../past/sqlite.sql"))
        .unwrap();
    let version = |sql: &rusqlite::Connection| {
        sql.query_row("SELECT version FROM bankrail_schema", [], |row| {
            row.get::<_, i64>(0)
        })
        .unwrap()
    };
    assert_eq!(version(&written), 9);
    written.close().unwrap();
    // The second opening finds nothing to do.
    SqliteStore::open(&path, SqliteOptions::new())
        .unwrap()
        .close()
        .await;
    assert!(version(&rusqlite::Connection::open(&path).unwrap()) > 9);
    let store = SqliteStore::open(&path, SqliteOptions::new()).unwrap();
    store.check().await.unwrap();
    assertions(&store).await;
    tokens(&store).await;
    cached(&store).await;
    seen(&store).await;
    counters(&store).await;
    inbox(&store.inbox()).await;
    outbox(&store.outbox()).await;
    histories(&store.histories()).await;
}

#[cfg(feature = "postgres")]
#[tokio::test]
#[ignore = "needs postgresql"]
async fn what_2e37472_wrote_with_postgres_is_understood() {
    use bankrail_stores::CounterClock;
    use bankrail_stores::postgres::{PostgresStore, tokio_postgres};
    use tokio_postgres::NoTls;
    let config = crate::engines::postgres_schema().await;
    let (client, connection) = tokio_postgres::connect(&config, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
        .batch_execute(include_str!("../past/postgres.sql"))
        .await
        .unwrap();
    let store = PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap();
    store.check().await.unwrap();
    cached(&store).await;
    seen(&store).await;
    counters(&store.counters(CounterClock::Callers)).await;
    inbox(&store.inbox()).await;
    outbox(&store.outbox()).await;
    histories(&store.histories()).await;
}

#[cfg(feature = "redis")]
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server and valkey-server"]
async fn what_2e37472_wrote_with_redis_is_understood() {
    use crate::redis::{SERVERS, Server};
    use bankrail_stores::redis::{RedisInbox, RedisInboxOptions, RedisStore, RedisStoreOptions};
    let patient = Duration::from_secs(20);
    for variable in SERVERS {
        let server = Server::start(variable).await;
        for line in include_str!("../past/valkey.txt").lines() {
            let _: redis::Value = command(line)
                .query_async(&mut server.connection().await)
                .await
                .unwrap();
        }
        let store =
            RedisStore::open(&server.url(), RedisStoreOptions::new().timeout(patient)).unwrap();
        store.check().await.unwrap();
        assertions(&store).await;
        tokens(&store).await;
        cached(&store).await;
        seen(&store).await;
        counters(&server.counters_by_callers()).await;
        inbox(&RedisInbox::open(&server.url(), RedisInboxOptions::new().timeout(patient)).unwrap())
            .await;
    }
}

/// Parses a command: its name, then words in quotes, in which `\xHH` is a byte.
#[cfg(feature = "redis")]
fn command(line: &str) -> redis::Cmd {
    let (name, rest) = line.split_once(' ').unwrap();
    let mut command = redis::cmd(name);
    let mut rest = rest.bytes();
    while rest.by_ref().any(|byte| byte == b'"') {
        let mut word = Vec::new();
        loop {
            match (rest.next().unwrap(), &mut rest) {
                (b'"', _) => break,
                (b'\\', rest) => match rest.next().unwrap() {
                    b'x' => {
                        let digits = [rest.next().unwrap(), rest.next().unwrap()];
                        word.push(
                            u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap(),
                        );
                    }
                    plain => word.push(plain),
                },
                (plain, _) => word.push(plain),
            }
        }
        command.arg(word);
    }
    command
}
