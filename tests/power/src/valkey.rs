//! Work on Valkey, and what is left of it.

use crate::Failure;
use crate::judge::lease_tomorrow;
use crate::marks::Marks;
use bankrail_client_assertion::token::{TokenGrant, TokenHash, TokenStore};
use bankrail_client_assertion::{ReplayKey, ReplayStore};
use bankrail_mailbox::{
    DuplicateKey, Fingerprint, Inbox, Incoming, KeyHash, Kind, Lease, LeaseOwner,
};
use bankrail_rate_limit::{Algorithm, CallType, Charge, CounterStore, Counting, Policy, Window};
use bankrail_statement::{AccountId, EntryKey, SeenEntries, SeenEntry};
use bankrail_stores::redis::{
    RedisCounters, RedisCountersOptions, RedisInbox, RedisInboxOptions, RedisStore,
    RedisStoreOptions,
};
use bankrail_values::{Clock as _, SystemClock, Timestamp};
use serde_json::json;
use std::io::Write as _;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const CALLERS: u8 = 8;
/// A token is revoked when this many later ones were granted.
const REVOKED_AFTER: u32 = 40;
/// No time-out is tested here.
const PATIENCE: Duration = Duration::from_secs(20);
const HOUR: Duration = Duration::from_secs(3600);

struct Stores {
    records: RedisStore,
    inbox: RedisInbox,
    counters: RedisCounters,
    account: AccountId,
    once: Policy,
}

impl Stores {
    fn open(url: &str) -> Result<Self, Failure> {
        Ok(Self {
            records: RedisStore::open(url, RedisStoreOptions::new().timeout(PATIENCE))?,
            inbox: RedisInbox::open(url, RedisInboxOptions::new().timeout(PATIENCE))?,
            counters: RedisCounters::open(url, RedisCountersOptions::new().timeout(PATIENCE))?,
            account: "012003123456789".parse()?,
            once: Policy::new(
                Algorithm::Sliding,
                Counting::Attempts,
                &[Window::per_hour(1)?],
            )?,
        })
    }

    async fn charge(&self, number: u32, now: Timestamp) -> Result<bool, Failure> {
        let customer = format!("C{number}");
        let charge = Charge::new(&customer, CallType::Token, &self.once, now, 1)?;
        let decision = self.counters.charge(charge).await?;
        Ok(decision.is_allowed())
    }

    /// All operations of one number, each of which is marked once it is answered.
    async fn use_number(&self, number: u32, caller: u8, marks: &Marks) -> Result<(), Failure> {
        let now = SystemClock.now();
        if self.records.claim(replay(number, now), now).await? {
            marks.put(format_args!("claimed {number}"));
        }
        let grant = TokenGrant::new("A".parse()?, "READ".parse()?, now, now.saturating_add(HOUR));
        self.records.insert(token(number), grant).await?;
        marks.put(format_args!("granted {number}"));
        // The token was granted some seconds before, and after a kill before the kill.
        if let Some(old) = number.checked_sub(REVOKED_AFTER) {
            marks.put(format_args!("revoking {old}"));
            if self.records.revoke(token(old)).await? {
                marks.put(format_args!("revoked {old}"));
            }
        }
        let entry = [SeenEntry::new(EntryKey::from(bytes(number)), 1, None)];
        let _ = self.records.record(&self.account, &entry, None).await?;
        marks.put(format_args!("seen {number}"));
        if self.charge(number, now).await? {
            marks.put(format_args!("charged {number}"));
        }
        self.inbox.receive(&incoming(number), now).await?;
        marks.put(format_args!("received {number}"));
        let lease = Lease {
            owner: LeaseOwner::from_random_bytes([caller; 16]),
            until: now.saturating_add(HOUR),
        };
        for entry in self.inbox.lease(&[], 1, lease, now).await? {
            if self.inbox.complete(entry.id, lease.owner, now).await? {
                let name = String::from_utf8_lossy(&entry.body).into_owned();
                marks.put(format_args!("completed {name}"));
            }
        }
        Ok(())
    }
}

/// Works until the server is gone.
pub(crate) async fn work(url: &str, marks: &Marks, first: u32) -> Result<(), Failure> {
    let (stores, next) = (Stores::open(url)?, AtomicU32::new(first));
    let caller = async |caller: u8| -> Result<(), Failure> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            marks.put(format_args!("begun {number}"));
            stores.use_number(number, caller, marks).await?;
        }
    };
    let callers = (0..CALLERS).map(caller);
    // Each goes on until it fails.
    let ended = futures_util::future::join_all(callers).await;
    ended.into_iter().collect()
}

/// Prints which of the numbers are left, as a line of JSON.
pub(crate) async fn left(url: &str, numbers: u32) -> Result<(), Failure> {
    let stores = Stores::open(url)?;
    let now = SystemClock.now();
    let (lease, tomorrow) = lease_tomorrow();
    let mut due = Vec::new();
    for entry in stores.inbox.lease(&[], 100_000, lease, tomorrow).await? {
        due.push(String::from_utf8_lossy(&entry.body).into_owned());
    }
    let (mut claimed, mut granted, mut seen) = (Vec::new(), Vec::new(), Vec::new());
    let (mut charged, mut received, mut expired) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..numbers {
        if !stores.records.claim(replay(number, now), now).await? {
            claimed.push(number);
        }
        if stores.records.find(token(number), now).await?.is_some() {
            granted.push(number);
        }
        if stores
            .records
            .find(token(number), tomorrow)
            .await?
            .is_some()
        {
            expired.push(number);
        }
        let key = [EntryKey::from(bytes(number))];
        if stores.records.counts(&stores.account, &key).await? == [1] {
            seen.push(number);
        }
        if !stores.charge(number, now).await? {
            charged.push(number);
        }
        if !stores
            .inbox
            .receive(&incoming(number), now)
            .await?
            .is_stored()
        {
            received.push(number);
        }
    }
    let left = json!({
        "claimed": claimed, "granted": granted, "seen": seen, "charged": charged, "received": received,
        "due": due, "expired, and valid": expired,
    });
    writeln!(std::io::stdout(), "{left}")?;
    Ok(())
}

fn bytes(number: u32) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes
        .iter_mut()
        .zip(number.to_be_bytes())
        .for_each(|(to, from)| *to = from);
    bytes
}

fn replay(number: u32, now: Timestamp) -> ReplayKey {
    ReplayKey::new(bytes(number), now.saturating_add(HOUR))
}

fn token(number: u32) -> TokenHash {
    TokenHash::from(bytes(number))
}

fn incoming(number: u32) -> Incoming {
    Incoming {
        kind: Kind::from_static("query"),
        key: DuplicateKey::from(KeyHash::from_bytes(bytes(number))),
        fingerprint: Fingerprint::from_bytes(bytes(number)),
        other_spellings: Vec::new(),
        interim: false,
        attributes: Vec::new().into(),
        body: number.to_string().into_bytes().into(),
        acknowledgement: b"acknowledged".to_vec().into(),
    }
}
