//! Tests of restoring yesterday's backup after a day's work: the repeated and the lost effects, as
//! the guide's page `upgrade` lists them.

use crate::both::{API_KEY, Keys, endpoint, endpoints, query};
use axum::body::Body;
use bankrail::bank::{Booked, Booking, BookingKind, SqliteLedger};
use bankrail::client::receivers::{
    Delivery, Handlers, Receivers, ReceiversOptions, Worker, WorkerOptions,
};
use bankrail::client::{
    Archive, Client, LedgerChange, NewEntries, PolledAccount, Poller, PollerOptions, SealingSecret,
};
use bankrail::client_assertion::token::{TokenGrant, TokenHash, TokenStore};
use bankrail::client_assertion::{ReplayKey, ReplayStore};
use bankrail::mailbox::{EntryId, Inbox, InboxCounts, OutboxCounts, OutboxOperator, OutboxState};
use bankrail::service::delivery::{
    Dispatcher, DispatcherOptions, Transport, TransportFuture, TransportRequest, TransportResponse,
};
use bankrail::stores::memory::MemoryStore;
use bankrail::stores::sqlite::{SqliteInbox, SqliteOptions, SqliteStore, SqliteWork, rusqlite};
use bankrail::values::{Clock as _, Date, ManualClock};
use bankrail::webhook::Message;
use bankrail_emulator::{Delivered, FakeBank, FakeBooking as Entry};
use http_body_util::BodyExt as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tower::ServiceExt as _;

/// A database in a folder, and its backup.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn database(&self) -> PathBuf {
        self.0.path().join("our.sqlite")
    }

    fn copy(&self) -> PathBuf {
        self.0.path().join("backup.sqlite")
    }

    fn open(&self) -> Arc<SqliteStore> {
        Arc::new(SqliteStore::open(self.database(), SqliteOptions::new()).unwrap())
    }

    /// Opens the archive, which is another file on another disk.
    fn archive(&self) -> Archive {
        let store =
            SqliteStore::open(self.0.path().join("archive.sqlite"), SqliteOptions::new()).unwrap();
        Archive::new(
            Arc::new(store),
            SealingSecret::from_bytes([7; 32]),
            Default::default(),
        )
    }

    /// Backs up the database while the store is in use.
    fn back_up(&self) {
        let sql = rusqlite::Connection::open(self.database()).unwrap();
        sql.execute("VACUUM INTO ?1", [self.copy().to_str().unwrap()])
            .unwrap();
    }

    /// Restores the backup after every process has closed the database, because its log belongs to
    /// the replaced file.
    fn restore(&self) -> Arc<SqliteStore> {
        for of_the_day in ["our.sqlite", "our.sqlite-wal", "our.sqlite-shm"] {
            remove(&self.0.path().join(of_the_day));
        }
        fs::copy(self.copy(), self.database()).unwrap();
        self.open()
    }
}

fn remove(file: &Path) {
    assert!(
        fs::remove_file(file).is_ok() || !file.exists(),
        "{}",
        file.display()
    );
}

/// The reports to another system, which no restore undoes.
type Told = Arc<Mutex<Vec<String>>>;

fn told(what: &Told) -> Vec<String> {
    what.lock().unwrap().drain(..).collect()
}

/// A biller whose ledger is in the restored file, and which also reports to another system.
struct Biller {
    store: Arc<SqliteStore>,
    poller: Poller,
    worker: Worker<SqliteInbox>,
}

impl Biller {
    async fn start(bank: &FakeBank, files: &Files, store: Arc<SqliteStore>, tell: &Told) -> Self {
        let table = "CREATE TABLE IF NOT EXISTS imported (id, amount, UNIQUE (id))";
        store
            .transaction(|sql| sql.connection().execute_batch(table))
            .await
            .unwrap();
        let told = tell.clone();
        let import = move |new: NewEntries| {
            let tell = |change: &LedgerChange| match change {
                LedgerChange::Add(one) => format!("{:?} {}", one.id, one.amount),
                LedgerChange::Remove { id, .. } => format!("{id:?} removed"),
            };
            let changes = new.changes();
            told.lock().unwrap().extend(changes.iter().map(tell));
            told.lock()
                .unwrap()
                .extend(new.notices.iter().map(|notice| notice.kind().to_owned()));
            async move {
                Ok(SqliteWork::new(move |sql| {
                    changes.iter().try_for_each(|change| {
                        let LedgerChange::Add(one) = change else {
                            panic!("nothing is replaced")
                        };
                        let row = (one.id.as_bytes(), one.amount.amount().to_string());
                        sql.connection()
                            .execute("INSERT INTO imported VALUES (?1, ?2)", row)
                            .map(drop)
                    })
                }))
            }
        };
        let accounts = [PolledAccount::new(bank.account())];
        let options = bank.client_options().archive(files.archive());
        let client = Client::new(bank.credentials(), bank.url(), options).unwrap();
        let options = PollerOptions::new();
        let poller = Poller::transactional(
            client.statements(),
            store.clone(),
            accounts,
            import,
            options,
        );

        let told = tell.clone();
        let keep = move |received: Delivery<Message>| {
            told.lock()
                .unwrap()
                .push(received.headers.message_id.to_string());
            async move {
                let (message, at) = (received.message, received.received_at);
                Ok(SqliteWork::new(move |sql| {
                    sql.apply_history("", &message, at).map(drop)
                }))
            }
        };
        let options = ReceiversOptions::new().clock(bank.clock());
        let inbox = Arc::new(store.inbox());
        let receivers =
            Receivers::new(bank.opener(), FakeBank::RECEIVER_API_KEY, inbox, options).unwrap();
        bank.serve(receivers.router()).await;
        let worker = receivers.worker(
            Handlers::new().on_any_transactional(keep),
            WorkerOptions::new(),
        );
        Self {
            store,
            poller,
            worker,
        }
    }

    async fn imported(&self) -> i64 {
        let count = "SELECT count(*) FROM imported";
        self.store
            .read(|sql| sql.query_row(count, [], |row| row.get(0)))
            .await
            .unwrap()
    }

    async fn stop(self) {
        drop((self.poller, self.worker));
        self.store.close().await;
    }
}

fn acknowledged(delivered: &Delivered) -> String {
    assert!(delivered.is_received(), "{delivered}");
    delivered.acknowledgement.as_ref().unwrap().id.to_string()
}

/// Books an entry with a reference and one without, as each half of the day does.
fn book(bank: &FakeBank, amount: &str) {
    bank.book(&bank.account(), &Entry::new(amount).narrative("rent"));
    bank.book(
        &bank.account(),
        &Entry::new("10.00 AUD")
            .narrative("dues")
            .without_reference(),
    );
}

#[tokio::test]
async fn a_biller_goes_on_from_a_backup_of_the_same_day() {
    let (bank, files, tell) = (FakeBank::start().await, Files::new(), Told::default());
    let biller = Biller::start(&bank, &files, files.open(), &tell).await;
    book(&bank, "25.00 AUD");
    biller.poller.run_due().await;
    assert_eq!(told(&tell).len(), 2);
    let [handled, waiting, after, last] = [(); 4].map(|()| bank.payment().settled());
    let first = acknowledged(&bank.deliver(handled.clone()).await);
    assert_eq!(biller.worker.run_due().await.unwrap(), 1);
    let second = acknowledged(&bank.deliver(waiting.clone()).await);
    let told_before = told(&tell);
    files.back_up();

    // In the rest of the day there are two entries, and three messages are handled or stored.
    book(&bank, "30.00 AUD");
    bank.clock().advance(Duration::from_secs(600));
    biller.poller.run_due().await;
    let entries_since = told(&tell);
    assert_eq!((entries_since.len(), biller.imported().await), (2, 4));
    let third = acknowledged(&bank.deliver(after.clone()).await);
    assert_eq!(biller.worker.run_due().await.unwrap(), 2);
    let messages_since = told(&tell);
    acknowledged(&bank.deliver(last.clone()).await);
    biller.stop().await;

    let biller = Biller::start(&bank, &files, files.restore(), &tell).await;
    // Entries since the backup are handed over again, each with its earlier id. They are once in
    // the restored ledger, and twice in a system that was not restored with it and does not compare
    // ids.
    assert_eq!(biller.imported().await, 2);
    bank.clock().advance(Duration::from_secs(600));
    biller.poller.run_due().await;
    assert_eq!((told(&tell), biller.imported().await), (entries_since, 4));

    // Messages that were stored at the backup and handled since are handled again. Messages that
    // were received since are missing, and the bank, which has their acknowledgements, does not
    // deliver them by itself.
    let inbox = biller.store.inbox();
    assert_eq!(
        inbox.counts().await.unwrap(),
        InboxCounts {
            pending: 1,
            completed: 1,
            dead_letters: 0
        }
    );
    assert_eq!(bank.deliver_due().await, 0);
    assert_eq!(biller.worker.run_due().await.unwrap(), 1);
    assert_eq!(
        told(&tell),
        messages_since[..1],
        "the waiting one, a second time"
    );

    // On request, the bank delivers again. Messages of the backup are known, and get their earlier
    // acknowledgements.
    assert_eq!(acknowledged(&bank.deliver_again(&handled).await), first);
    assert_eq!(acknowledged(&bank.deliver_again(&waiting).await), second);
    assert_eq!(biller.worker.run_due().await.unwrap(), 0);
    // Other messages count as new: they get new acknowledgements, and handled ones are handled
    // again.
    assert_ne!(acknowledged(&bank.deliver_again(&after).await), third);
    acknowledged(&bank.deliver_again(&last).await);
    assert_eq!(biller.worker.run_due().await.unwrap(), 2);
    let again = told(&tell);
    assert_eq!((&again[0], again.len()), (&messages_since[1], 2));
    assert!(
        !told_before.contains(&again[1]) && !messages_since.contains(&again[1]),
        "the last one, for the first time"
    );
}

#[tokio::test]
async fn entries_of_a_day_that_is_over_do_not_come_back() {
    let (bank, files, tell) = (FakeBank::start().await, Files::new(), Told::default());
    let biller = Biller::start(&bank, &files, files.open(), &tell).await;
    book(&bank, "25.00 AUD");
    biller.poller.run_due().await;
    files.back_up();
    book(&bank, "30.00 AUD");
    bank.clock().advance(Duration::from_secs(600));
    biller.poller.run_due().await;
    let yesterday = told(&tell);
    assert_eq!((yesterday.len(), biller.imported().await), (4, 4));
    biller.stop().await;

    bank.clock().advance(Duration::from_secs(86_400));
    book(&bank, "35.00 AUD");
    let biller = Biller::start(&bank, &files, files.restore(), &tell).await;
    biller.poller.run_due().await;
    let today = told(&tell);
    assert_eq!(
        (today.len(), today[2].as_str()),
        (3, "day_incomplete"),
        "{today:?}"
    );
    assert_eq!(
        biller.imported().await,
        4,
        "two of yesterday, two of today; two of yesterday are missing"
    );

    // An archive that was not restored has the pages. Imported into an empty store, each entry has
    // its old id.
    let replay = files
        .archive()
        .replay(&bank.account(), Default::default())
        .await
        .unwrap();
    let again = Told::default();
    let list = again.clone();
    let list = move |new: NewEntries| {
        list.lock()
            .unwrap()
            .extend(new.entries.iter().map(|one| format!("{:?}", one.id)));
        async { Ok(()) }
    };
    let (empty, account) = (
        Arc::new(MemoryStore::new()),
        PolledAccount::new(bank.account()),
    );
    let poller = Poller::new(&replay, empty, [account], list, PollerOptions::new());
    replay.import(&poller).await.unwrap();
    let all = yesterday
        .iter()
        .chain(&today[..2])
        .map(|line| line.split(' ').next().unwrap().to_owned());
    assert_eq!(told(&again), all.collect::<Vec<_>>());
}

/// A transport that carries deliveries to the receivers, and records the answers.
#[derive(Debug)]
struct Line {
    router: axum::Router,
    answers: Mutex<Vec<String>>,
}

impl Transport for Line {
    fn post(&self, request: TransportRequest) -> TransportFuture<'_> {
        Box::pin(async move {
            let mut arriving = axum::http::Request::post(request.url.path())
                .body(Body::from(request.body))
                .unwrap();
            *arriving.headers_mut() = request.headers;
            let (head, body) = self
                .router
                .clone()
                .oneshot(arriving)
                .await
                .unwrap()
                .into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            self.answers
                .lock()
                .unwrap()
                .push(String::from_utf8(body.to_vec()).unwrap());
            Ok(TransportResponse::new(head.status, head.headers, body))
        })
    }
}

#[tokio::test]
async fn a_restored_biller_gets_again_what_was_delivered_since_its_backup() {
    let (keys, files) = (Keys::generate(), Files::new());
    let clock = Arc::new(ManualClock::new(start()));
    let outbox = Arc::new(MemoryStore::new().outbox());
    // Returns the bank's dispatcher, for a biller that stores its messages in this store.
    let bank = |store: &SqliteStore| {
        let options = ReceiversOptions::new().clock(clock.clone());
        let inbox = Arc::new(store.inbox());
        let receivers = Receivers::new(keys.opener(), API_KEY, inbox, options).unwrap();
        let line = Arc::new(Line {
            router: receivers.router(),
            answers: Mutex::default(),
        });
        Dispatcher::new(
            outbox.clone(),
            endpoints("https://biller.example", &keys),
            line,
            DispatcherOptions::new().clock(clock.clone()),
        )
        .unwrap()
    };
    let deliver = async |bank: &Dispatcher, numbers: std::ops::RangeInclusive<u32>| {
        for number in numbers {
            let (message, headers) = query(number);
            bank.enqueue(&endpoint(), &message, headers).await.unwrap();
        }
        while bank.run_once().await.unwrap() > 0 {}
    };
    let contents = async |store: &SqliteStore| {
        let inbox = store.inbox();
        let mut contents = Vec::new();
        for number in 1..=12 {
            if let Some(entry) = inbox.find(EntryId::new(number)).await.unwrap() {
                contents.push((entry.attributes.to_vec(), entry.body.to_vec()));
            }
        }
        // Concurrent deliveries arrive in any order.
        contents.sort();
        contents
    };

    let store = files.open();
    let before = bank(&store);
    deliver(&before, 1..=2).await;
    clock.advance(Duration::from_secs(60));
    let backup = clock.now();
    files.back_up();
    clock.advance(Duration::from_secs(60));
    deliver(&before, 3..=12).await;
    let lost = contents(&store).await;
    assert_eq!(lost.len(), 12);
    drop(before);
    store.close().await;

    let store = files.restore();
    assert_eq!(contents(&store).await.len(), 2);
    let after = bank(&store);
    clock.advance(Duration::from_secs(60));
    let until = clock.now();
    let resent = after.resend_delivered(&endpoint(), backup, until).await;
    assert_eq!(resent.unwrap(), 10);
    while after.run_once().await.unwrap() > 0 {}
    assert!(contents(&store).await == lost, "under their message ids");
    let resent = after.resend_delivered(&endpoint(), backup, until).await;
    assert_eq!(resent.unwrap(), 0, "each once");
}

#[tokio::test]
async fn a_provider_goes_on_from_a_backup() {
    let (keys, files, clock) = (
        Keys::generate(),
        Files::new(),
        Arc::new(ManualClock::new(start())),
    );
    let inbox = Arc::new(MemoryStore::new().inbox());
    let options = ReceiversOptions::new().clock(clock.clone());
    let receivers = Receivers::new(keys.opener(), API_KEY, inbox.clone(), options).unwrap();
    let line = Arc::new(Line {
        router: receivers.router(),
        answers: Mutex::default(),
    });
    let dispatcher = |store: &SqliteStore| {
        let (outbox, endpoints) = (
            Arc::new(store.outbox()),
            endpoints("https://biller.example", &keys),
        );
        Dispatcher::new(
            outbox,
            endpoints,
            line.clone(),
            DispatcherOptions::new().clock(clock.clone()),
        )
        .unwrap()
    };
    let enqueue = async |dispatcher: &Dispatcher, number| {
        let (message, headers) = query(number);
        dispatcher
            .enqueue(&endpoint(), &message, headers)
            .await
            .unwrap()
            .id()
    };
    let answers = || std::mem::take(&mut *line.answers.lock().unwrap());
    let account = "999001400100101".parse().unwrap();
    let paid = |reference: &str| {
        let day = Date::parse("2027-01-15").unwrap();
        Booking::new(
            BookingKind::FastPaymentIn,
            "25.00 AUD".parse().unwrap(),
            day,
        )
        .reference(reference)
    };
    let grant = |until| {
        TokenGrant::new(
            "ACME".parse().unwrap(),
            "READ".parse().unwrap(),
            start(),
            until,
        )
    };
    let hour = start().saturating_add(Duration::from_secs(3_600));

    let store = files.open();
    let ledger = SqliteLedger::new(SqliteStore::clone(&store));
    ledger
        .open_account(&account, "0.00 AUD".parse().unwrap())
        .await
        .unwrap();
    ledger.book(&account, &paid("FP1")).await.unwrap();
    let before = dispatcher(&store);
    enqueue(&before, 1).await;
    before.run_once().await.unwrap();
    enqueue(&before, 2).await;
    files.back_up();

    // The rest of the day follows.
    ledger.book(&account, &paid("FP2")).await.unwrap();
    assert!(
        store
            .claim(ReplayKey::new([1; 32], hour), start())
            .await
            .unwrap()
    );
    store
        .grant_once(None, TokenHash::from([2; 32]), grant(hour))
        .await
        .unwrap();
    before.run_once().await.unwrap();
    let third = enqueue(&before, 3).await;
    before.run_once().await.unwrap();
    enqueue(&before, 4).await;
    let delivered = answers();
    assert_eq!(delivered.len(), 3);
    drop((before, ledger));
    store.close().await;

    let store = files.restore();
    let after = dispatcher(&store);
    let outbox = store.outbox();
    let counts = OutboxCounts {
        pending: 1,
        delivered: 1,
        dead_letters: 0,
        dropped: 0,
    };
    assert_eq!(
        outbox.counts(None).await.unwrap(),
        counts,
        "the third and the fourth are not there"
    );
    // Messages that were delivered since the backup are delivered again, and the receiver answers
    // with the earlier acknowledgements.
    after.run_once().await.unwrap();
    assert_eq!(answers(), delivered[1..2]);
    // The caller enqueues again from its own records. The numbers of entries continue from the
    // backup's.
    assert_eq!(enqueue(&after, 4).await, third);
    assert_ne!(enqueue(&after, 3).await, third);
    while after.run_once().await.unwrap() > 0 {}
    let again = answers();
    assert_eq!(again.len(), 2);
    assert!(
        again.contains(&delivered[2]),
        "the third one is known to the receiver too"
    );
    assert_eq!(
        outbox.find(EntryId::new(2)).await.unwrap().unwrap().state,
        OutboxState::Delivered
    );
    let counts = inbox.counts().await.unwrap();
    assert_eq!(counts.pending, 4, "four messages, each once");

    // Tokens since the backup are unknown, and assertions used since can be used again until they
    // expire.
    assert_eq!(
        store.find(TokenHash::from([2; 32]), start()).await.unwrap(),
        None
    );
    assert!(
        store
            .claim(ReplayKey::new([1; 32], hour), clock.now())
            .await
            .unwrap()
    );
    // Bookings since the backup are missing. If they are loaded again with their references, each
    // counts once.
    let ledger = SqliteLedger::new(SqliteStore::clone(&store));
    assert_eq!(
        ledger.book(&account, &paid("FP1")).await.unwrap(),
        Booked::Known(1)
    );
    assert_eq!(
        ledger.book(&account, &paid("FP2")).await.unwrap(),
        Booked::New(2)
    );
    assert_eq!(
        ledger.balance(&account).await.unwrap().unwrap().to_string(),
        "50.00 AUD"
    );
}

fn start() -> bankrail::values::Timestamp {
    "2027-01-15T08:00:00.000Z".parse().unwrap()
}
