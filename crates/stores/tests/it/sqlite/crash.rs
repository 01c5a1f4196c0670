//! A process that is killed in the middle of its work loses nothing that it was told was kept.
//!
//! The parent starts this binary again as a child that works on a file and prints each acknowledged operation, kills
//! it after a random number of lines, and looks for every line in the file.

use crate::engines::at;
use bankrail_client_assertion::ReplayStore;
use bankrail_client_assertion::token::{TokenGrant, TokenHash, TokenStore};
use bankrail_stores::sqlite::SqliteStore;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

const FILE: &str = "BANKRAIL_CRASH_FILE";

#[tokio::test]
async fn ten_kills_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bankrail.db");
    let mut acknowledged = BTreeSet::new();
    for round in 0..10 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "sqlite::crash::child", "--ignored", "--nocapture"])
            .env(FILE, &path)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut wanted = 1 + random() % 150;
        let mut seen = 0;
        // Reads on after the kill: what was printed before it counts too.
        while let Some(Ok(line)) = lines.next() {
            let Some(number) = line.strip_prefix("kept ").and_then(|n| n.parse::<u32>().ok()) else { continue };
            assert!(acknowledged.insert(number), "round {round}: {number} was claimed twice");
            seen += 1;
            wanted = wanted.saturating_sub(1);
            if wanted == 0 {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        assert!(seen > 0, "round {round} did nothing");
        let store = SqliteStore::open(&path).unwrap();
        for &number in &acknowledged {
            assert!(!store.claim(key(number), at(0), at(1)).await.unwrap(), "round {round}: claim {number} is lost");
            let grant = store.find(TokenHash::from(key(number)), at(0)).await.unwrap();
            assert!(grant.is_some(), "round {round}: token {number} is lost");
        }
    }
    let connection = rusqlite::Connection::open(&path).unwrap();
    let sound: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
}

#[tokio::test]
#[ignore = "started by ten_kills_lose_nothing"]
async fn child() {
    let path = std::env::var(FILE).expect("the parent names the file");
    let store = SqliteStore::open(path).unwrap();
    let next = AtomicU32::new(0);
    let worker = async || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let grant = TokenGrant::new("A".parse().unwrap(), "READ".parse().unwrap(), at(0), at(1_000_000));
            // The token first: whoever sees the claim may count on it.
            store.insert(TokenHash::from(key(number)), grant).await.unwrap();
            if store.claim(key(number), at(0), at(1_000_000)).await.unwrap() {
                writeln!(std::io::stdout(), "kept {number}").unwrap();
            }
        }
    };
    tokio::join!(worker(), worker(), worker(), worker());
}

fn key(number: u32) -> [u8; 32] {
    let mut key = [0; 32];
    key[..4].copy_from_slice(&number.to_be_bytes());
    key
}

fn random() -> u32 {
    use std::hash::{BuildHasher, Hasher};
    // The standard library's only source of randomness: a new hasher's keys.
    let hash = std::hash::RandomState::new().build_hasher().finish();
    u32::try_from(hash >> 32).unwrap()
}
