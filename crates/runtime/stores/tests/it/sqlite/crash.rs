//! A killed process loses no acknowledged operation.
//!
//! The parent starts this binary again as a child that works on a file and prints each acknowledged
//! operation. It kills the child after a random number of lines, and looks for each line's
//! operation in the file: ten times, or `BANKRAIL_KILLS` times.

use crate::engines::{at, incoming, lease, outgoing, query};
use bankrail_client_assertion::token::{TokenGrant, TokenHash, TokenStore};
use bankrail_client_assertion::{ReplayKey, ReplayStore};
use bankrail_mailbox::{
    DeliveryRecord, Disposition, Enqueued, EntryId, Inbox, LeaseRequest, Outbox, OutboxOperator,
    OutboxState, ReceiveOutcome, TransactionalInbox,
};
use bankrail_statement::{
    AccountId, EntryKey, PageRecord, PositionChange, Recorded, SeenEntries, SeenEntry,
    TransactionalSeenEntries,
};
use bankrail_stores::sqlite::{SqliteStore, SqliteWork, rusqlite};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const FILE: &str = "BANKRAIL_CRASH_FILE";
const ROUND: &str = "BANKRAIL_CRASH_ROUND";
const START: &str = "BANKRAIL_CRASH_START";

#[tokio::test]
async fn kills_lose_nothing() {
    let kills = std::env::var("BANKRAIL_KILLS").map_or(10, |kills| kills.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bankrail.db");
    let (mut kept, mut sent) = (BTreeSet::new(), BTreeSet::new());
    for round in 0..kills {
        let lines = run_and_kill(&path, round, kept.last().copied().unwrap_or(0));
        assert!(!lines.is_empty(), "round {round} did nothing");
        let (mut kept_now, mut sent_now) = (BTreeSet::new(), BTreeSet::new());
        for (word, number) in lines {
            let (now, ever) = if word == "kept" {
                (&mut kept_now, &mut kept)
            } else {
                (&mut sent_now, &mut sent)
            };
            assert!(
                now.insert(number) && ever.insert(number),
                "round {round}: {word} {number} twice"
            );
        }
        check(&path, &kept_now, &sent_now, &format!("round {round}")).await;
    }
    // No later kill lost an operation of an earlier round.
    check(&path, &kept, &sent, "at the end").await;
    assert!(!sent.is_empty());
    let connection = rusqlite::Connection::open(&path).unwrap();
    let sound: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(sound, "ok");
    // The handler's effect shares the inbox's transaction: one for each message, killed or not.
    let sql = "SELECT (SELECT count(*) FROM effect) = (SELECT count(*) FROM bankrail_inbox WHERE state = 'completed')";
    assert!(
        connection
            .query_row(sql, [], |row| row.get::<_, bool>(0))
            .unwrap()
    );
    // An import shares the transaction of its entry.
    let sql = "SELECT (SELECT count(*) FROM imported) = (SELECT count(*) FROM bankrail_seen)
        AND EXISTS (SELECT 1 FROM imported JOIN bankrail_seen_position ON number = CAST(position AS INTEGER))";
    assert!(
        connection
            .query_row(sql, [], |row| row.get::<_, bool>(0))
            .unwrap()
    );
}

/// Runs a child whose numbers begin with `start`, kills it, and returns the lines that it printed.
fn run_and_kill(path: &Path, round: u32, start: u32) -> Vec<(String, u32)> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "sqlite::crash::child",
            "--ignored",
            "--nocapture",
        ])
        .env(FILE, path)
        .env(ROUND, round.to_string())
        .env(START, start.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut wanted = 1 + random() % 60;
    let mut printed = Vec::new();
    // Reading goes on after the kill: lines printed before it count, too.
    for line in BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok)
    {
        let Some((word @ ("kept" | "sent"), number)) = line.split_once(' ') else {
            continue;
        };
        // The last line may be cut off.
        let Some(number) = number.strip_suffix('.') else {
            continue;
        };
        printed.push((word.to_owned(), number.parse().unwrap()));
        wanted = wanted.saturating_sub(1);
        if wanted == 0 {
            child.kill().unwrap();
        }
    }
    let status = child.wait().unwrap();
    assert_eq!(status.code(), None, "the child ended before it was killed");
    printed
}

/// Checks that each printed operation is in the file.
async fn check(path: &Path, kept: &BTreeSet<u32>, sent: &BTreeSet<u32>, context: &str) {
    let store = SqliteStore::open(path, Default::default()).unwrap();
    for &number in kept {
        check_kept(&store, number, &format!("{context}, {number}")).await;
    }
    for &number in sent {
        let entry = store
            .outbox()
            .find(EntryId::new(number.into()))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            entry.state,
            OutboxState::Delivered,
            "{context}: the delivery of {number} is lost"
        );
    }
}

/// Checks the records of `number`.
async fn check_kept(store: &SqliteStore, number: u32, context: &str) {
    assert!(
        !ReplayStore::claim(store, ReplayKey::new(key(number), at(1)), at(0))
            .await
            .unwrap(),
        "{context}: the claim is lost"
    );
    let grant = TokenStore::find(store, TokenHash::from(key(number)), at(0))
        .await
        .unwrap();
    assert!(grant.is_some(), "{context}: the token is lost");
    let again = store
        .outbox()
        .enqueue(&outgoing("biller", number), at(0))
        .await
        .unwrap();
    assert!(
        matches!(again, Enqueued::AlreadyStored(_)),
        "{context}: the message to deliver is lost"
    );
    let outcome = store
        .inbox()
        .receive(&incoming(&query(number, "Why?"), number), at(0))
        .await
        .unwrap();
    assert!(
        matches!(outcome, ReceiveOutcome::Duplicate { .. }),
        "{context}: the message or its completion is lost"
    );
    let counts = SeenEntries::counts(store, &account(), &[EntryKey::from(key(number))])
        .await
        .unwrap();
    assert_eq!(counts, [1], "{context}: the entry is lost");
}

#[tokio::test]
#[ignore = "started by kills_lose_nothing"]
async fn child() {
    let path = std::env::var(FILE).expect("the parent names the file");
    let round: i64 = std::env::var(ROUND)
        .expect("the parent counts the rounds")
        .parse()
        .unwrap();
    let store = SqliteStore::open(path, Default::default()).unwrap();
    let table = "CREATE TABLE IF NOT EXISTS effect (message INTEGER PRIMARY KEY) STRICT;
        CREATE TABLE IF NOT EXISTS imported (number INTEGER PRIMARY KEY) STRICT";
    store
        .transaction(move |t| t.connection().execute_batch(table))
        .await
        .unwrap();
    let next = AtomicU32::new(
        std::env::var(START)
            .expect("the parent names the first number")
            .parse()
            .unwrap(),
    );
    let worker = async |name: u8| {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if keep(&store, name, round, number).await {
                print(format!("kept {number}.\n"));
            }
            for id in send(&store, name, round).await {
                print(format!("sent {id}.\n"));
            }
        }
    };
    tokio::join!(worker(1), worker(2), worker(3), worker(4));
}

/// Prints a line in one write, so that it is whole or recognisably cut off.
fn print(line: String) {
    std::io::stdout().write_all(line.as_bytes()).unwrap();
}

/// Stores the records of `number`. Returns false if an earlier child has begun them.
async fn keep(store: &SqliteStore, name: u8, round: i64, number: u32) -> bool {
    let far = at(1_000_000_000);
    if !ReplayStore::claim(store, ReplayKey::new(key(number), far), at(0))
        .await
        .unwrap()
    {
        return false;
    }
    let grant = TokenGrant::new("A".parse().unwrap(), "READ".parse().unwrap(), at(0), far);
    TokenStore::insert(store, TokenHash::from(key(number)), grant)
        .await
        .unwrap();
    store
        .outbox()
        .enqueue(&outgoing("biller", number), at(0))
        .await
        .unwrap();
    let message = incoming(&query(number, "Why?"), number);
    let mine = lease(name, (round + 1) * 1000);
    let (inbox, now) = (store.inbox(), at(round * 1000));
    let received = inbox.receive(&message, now).await.unwrap();
    // Another child may have leased it together with its own.
    let mut is_leased = false;
    while !is_leased {
        for entry in inbox.lease(&[], 1000, mine, now).await.unwrap() {
            if entry.id == received.id() {
                is_leased = true;
            } else {
                inbox
                    .release(entry.id, mine.owner, now, "another child's")
                    .await
                    .unwrap();
            }
        }
    }
    let effect = SqliteWork::new(move |t| {
        t.connection()
            .execute("INSERT INTO effect VALUES (?1)", [number])
            .map(drop)
    });
    store
        .inbox()
        .complete_with(received.id(), mine.owner, effect, at(round * 1000))
        .await
        .unwrap();
    let (entries, position) = (
        [SeenEntry::new(EntryKey::from(key(number)), 1, None)],
        format!("{number:09}"),
    );
    loop {
        let import = SqliteWork::new(move |t| {
            t.connection()
                .execute("INSERT INTO imported VALUES (?1)", [number])
                .map(drop)
        });
        let before = store.position(&account()).await.unwrap();
        let change = PositionChange::new(before.as_deref(), Some(&position));
        let page = PageRecord::new(&entries, &[true]).position(change);
        match store.record_with(&account(), page, import).await {
            Ok(Recorded::Committed) => return true,
            // Another worker has recorded its page since the position was read.
            Ok(Recorded::Overtaken) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// Delivers the due messages, also those that a killed child had leased.
async fn send(store: &SqliteStore, name: u8, round: i64) -> Vec<u64> {
    let now = at(round * 1000);
    let lease = lease(name, (round + 1) * 1000);
    let request = LeaseRequest::new(lease, 2);
    let mut sent = Vec::new();
    for entry in store.outbox().lease(request, now).await.unwrap() {
        let delivery = DeliveryRecord {
            started_at: now,
            duration: Duration::ZERO,
            status: Some(200),
            note: None,
        };
        assert!(
            store
                .outbox()
                .record(
                    entry.id,
                    lease.owner,
                    &delivery,
                    Disposition::Delivered,
                    None,
                    now
                )
                .await
                .unwrap()
        );
        sent.push(entry.id.get());
    }
    sent
}

fn key(number: u32) -> [u8; 32] {
    let mut key = [0; 32];
    key[..4].copy_from_slice(&number.to_be_bytes());
    key
}

fn account() -> AccountId {
    "012003123456789".parse().unwrap()
}

fn random() -> u32 {
    use std::hash::{BuildHasher, Hasher};
    // The keys of a new hasher are the standard library's only source of randomness.
    let hash = std::hash::RandomState::new().build_hasher().finish();
    u32::try_from(hash >> 32).unwrap()
}
