//! The poller through the real client and a store with transactions.

use crate::log::Log;
use crate::provider::{API_KEY, KEY, Reply, request_key, start};
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use bankrail_client::{
    Client, ClientOptions, Credentials, NewEntries, PageSource, PolledAccount, Poller,
    PollerOptions,
};
use bankrail_client_assertion::CustomerCode;
use bankrail_rate_limit::Policy;
use bankrail_statement::{
    AccountId, Cursor, MaxEntries, NextPage, PollOptions, StatementRequest, StatementResponse,
};
use bankrail_stores::sqlite::{SqliteStore, SqliteWork, Transaction, rusqlite};
use bankrail_values::ManualClock;
use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

pub(crate) const ACCOUNTS: [&str; 2] = ["012003123456789", "012003123456780"];

/// An entry of the bank: its amount, and its reference if it has one.
pub(crate) type Real = (u32, Option<u64>);

/// A bank on loopback whose statements the test changes.
#[derive(Clone)]
pub(crate) struct Bank(Arc<Mutex<Books>>);

#[derive(Default)]
struct Books {
    entries: HashMap<String, Vec<Real>>,
    /// The maximum number of equal entries that were ever listed at once.
    most: HashMap<(String, Real), usize>,
    calls: usize,
}

impl Bank {
    pub(crate) async fn start() -> (Self, Client, Arc<ManualClock>) {
        Self::start_with(ClientOptions::new()).await
    }

    pub(crate) async fn start_with(options: ClientOptions) -> (Self, Client, Arc<ManualClock>) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let bank = Self(Arc::default());
        let app = axum::Router::new()
            .fallback(answer)
            .with_state(bank.clone());
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        let clock = Arc::new(ManualClock::new(start()));
        let options = options
            .danger_allow_http_on_loopback(true)
            .statement_limits(Policy::unlimited())
            .token_limits(Policy::unlimited())
            .clock(clock.clone());
        let credentials = Credentials::new(
            CustomerCode::parse("CUSTOMER").unwrap(),
            KEY.clone(),
            API_KEY,
        );
        (
            bank,
            Client::new(credentials, &url, options).unwrap(),
            clock,
        )
    }

    pub(crate) fn change(&self, account: &str, change: impl FnOnce(&mut Vec<Real>)) {
        let books = &mut *self.0.lock().unwrap();
        let entries = books.entries.entry(account.to_owned()).or_default();
        change(entries);
        for (real, count) in counted(entries) {
            let most = books.most.entry((account.to_owned(), real)).or_default();
            *most = count.max(*most);
        }
    }

    fn calls(&self) -> usize {
        self.0.lock().unwrap().calls
    }

    /// Compares the paid entries with the bank's list.
    pub(crate) fn check(&self, paid: &[(String, Real)]) {
        let books = self.0.lock().unwrap();
        let paid = counted(paid);
        for (account, entries) in &books.entries {
            for (real, count) in counted(entries) {
                let paid = paid.get(&(account.clone(), real)).copied().unwrap_or(0);
                assert!(
                    paid >= count,
                    "{count} entries {real:?} are listed, {paid} were handed over"
                );
            }
        }
        for (real, paid) in paid {
            let most = books.most.get(&real).copied().unwrap_or(0);
            assert!(
                paid <= most,
                "at most {most} entries {real:?} were listed, {paid} were handed over"
            );
        }
    }
}

fn counted<T: Clone + Eq + std::hash::Hash>(all: &[T]) -> HashMap<T, usize> {
    let mut counts = HashMap::new();
    all.iter()
        .for_each(|one| *counts.entry(one.clone()).or_default() += 1);
    counts
}

async fn answer(
    State(bank): State<Bank>,
    uri: Uri,
    body: Bytes,
) -> (StatusCode, [(&'static str, &'static str); 1], String) {
    let json = [("content-type", "application/json")];
    if uri.path().ends_with("/auth") {
        let token = r#"{"access_token":"00000000-0000-4000-8000-000000000001","token_type":"Bearer","expires_in":3600}"#;
        return (StatusCode::OK, json, token.to_owned());
    }
    let request = StatementRequest::from_json(&body).unwrap();
    let books = &mut *bank.0.lock().unwrap();
    books.calls += 1;
    let entries = books
        .entries
        .get(request.account_id())
        .cloned()
        .unwrap_or_default();
    let from: usize = request
        .cursor
        .as_ref()
        .map_or(0, |cursor| cursor.as_str().parse().unwrap());
    if from > entries.len() {
        let error = format!(
            r#"{{"requestKey":"{}","error":{{"statusCode":"EC42001","title":"?"}}}}"#,
            request_key()
        );
        return (StatusCode::BAD_REQUEST, json, error);
    }
    let end = (from + request.entries_at_most()).min(entries.len());
    let page = match end < entries.len() {
        true => NextPage::At {
            cursor: Cursor::parse(&end.to_string()).unwrap(),
        },
        false => NextPage::None,
    };
    let account = request.account().unwrap();
    let response = StatementResponse::new(&account, request_key(), page);
    (
        StatusCode::OK,
        json,
        response.to_json(&document(&account, &entries[from..end])),
    )
}

fn document(account: &AccountId, entries: &[Real]) -> String {
    let entry = |(amount, reference): &Real| {
        let reference = reference
            .map(|number| format!("<AcctSvcrRef>{number}</AcctSvcrRef>"))
            .unwrap_or_default();
        format!(
            "<Ntry><Amt Ccy=\"AUD\">{amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BookgDt>\
             <Dt>2026-11-21</Dt></BookgDt>{reference}<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd>\
             <SubFmlyCd>DMCT</SubFmlyCd></Fmly></Domn></BkTxCd></Ntry>"
        )
    };
    format!(
        "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.052.001.06\"><BkToCstmrAcctRpt><GrpHdr>\
         <MsgId>0b7c2f6e8a1d41eb8dcd0242ac130003</MsgId><CreDtTm>2026-11-21T06:00:00.000+00:00</CreDtTm></GrpHdr>\
         <Rpt><Id>r</Id><CreDtTm>2026-11-21T06:00:00.000+00:00</CreDtTm><Acct><Id><Othr><Id>{account}</Id></Othr></Id>\
         <Ccy>AUD</Ccy></Acct>{}</Rpt></BkToCstmrAcctRpt></Document>",
        entries.iter().map(entry).collect::<String>()
    )
}

/// Makes a store with a table of paid entries. The table does not prevent duplicates.
pub(crate) async fn store() -> Arc<SqliteStore> {
    let store = SqliteStore::open_in_memory(Default::default()).unwrap();
    let create = |transaction: &Transaction<'_>| {
        transaction.connection().execute(
            "CREATE TABLE paid (account TEXT, amount INTEGER, reference INTEGER)",
            [],
        )
    };
    store.transaction(create).await.unwrap();
    Arc::new(store)
}

pub(crate) async fn paid(store: &SqliteStore) -> Vec<(String, Real)> {
    let read = |transaction: &Transaction<'_>| -> rusqlite::Result<Vec<(String, Real)>> {
        let mut all = transaction
            .connection()
            .prepare("SELECT account, amount, reference FROM paid")?;
        let row = |row: &rusqlite::Row<'_>| {
            Ok((
                row.get(0)?,
                (
                    row.get(1)?,
                    row.get::<_, Option<i64>>(2)?
                        .map(|number| number.try_into().unwrap()),
                ),
            ))
        };
        all.query_map([], row)?.collect()
    };
    store.transaction(read).await.unwrap()
}

/// Puts each new entry into the table, in the transaction that records it.
pub(crate) async fn pay(
    new: NewEntries,
) -> Result<SqliteWork, Box<dyn std::error::Error + Send + Sync>> {
    Ok(SqliteWork::new(move |transaction| {
        insert(transaction, &new)
    }))
}

fn insert(transaction: &Transaction<'_>, new: &NewEntries) -> rusqlite::Result<()> {
    for own in &new.entries {
        let amount = own.entry.amount.value().to_string();
        let reference = own
            .entry
            .servicer_reference
            .as_ref()
            .map(|text| text.as_str().to_owned());
        let row = (new.account.as_str(), amount, reference);
        transaction
            .connection()
            .execute("INSERT INTO paid VALUES (?1, ?2, ?3)", row)?;
    }
    Ok(())
}

fn poller(client: &Client, store: &Arc<SqliteStore>, most: u16) -> Poller {
    poller_of(&ACCOUNTS, client.statements(), store, most)
}

pub(crate) fn poller_of(
    accounts: &[&str],
    pages: &(impl PageSource + Clone + 'static),
    store: &Arc<SqliteStore>,
    most: u16,
) -> Poller {
    let account = |id: &&str| {
        let account =
            PolledAccount::new(AccountId::parse(id).unwrap()).every(Duration::from_secs(60));
        account.max_entries(MaxEntries::new(most).unwrap())
    };
    let options =
        PollerOptions::new().walks(PollOptions::new().full_walk_every(Duration::from_secs(300)));
    Poller::transactional(
        pages,
        store.clone(),
        accounts.iter().map(account),
        pay,
        options,
    )
}

/// Pseudo-random numbers (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(end).unwrap()).unwrap()
    }
}

/// Inserts, moves, corrects and takes back entries.
pub(crate) fn change(bank: &Bank, random: &mut Random, serial: &mut u64) {
    for account in ACCOUNTS {
        for _ in 0..random.below(4) {
            *serial += 1;
            let real = (
                1 + u32::try_from(random.below(3)).unwrap(),
                (random.below(10) < 3).then_some(*serial),
            );
            let (kind, at, to) = (
                random.below(10),
                random.below(1 << 20),
                random.below(1 << 20),
            );
            bank.change(account, |entries| match (kind, entries.len()) {
                (0..5, _) => entries.push(real),
                (5..7, length) => entries.insert(at % (length + 1), real),
                (_, 0) => {}
                (7, length) => entries[at % length] = real,
                (8, length) => {
                    let moved = entries.remove(at % length);
                    entries.insert(to % length, moved);
                }
                (_, length) => drop(entries.remove(at % length)),
            });
        }
    }
}

/// Runs a future until it is ready or has been woken this many times, and then drops it. Returns
/// true if it was ready.
pub(crate) async fn wakes(times: usize, future: impl Future<Output = usize>) -> bool {
    let (mut future, mut left) = (std::pin::pin!(future), times);
    std::future::poll_fn(|context| match left.checked_sub(1) {
        None => Poll::Ready(false),
        Some(less) => {
            left = less;
            future.as_mut().poll(context).map(|_| true)
        }
    })
    .await
}

#[tokio::test]
async fn every_entry_is_handed_over_once_however_often_the_poller_is_dropped() {
    let (mut dropped, mut ended) = (0, 0);
    for seed in 0..24 {
        let mut random = Random(seed);
        let (bank, client, clock) = Bank::start().await;
        let store = store().await;
        let most = u16::try_from(1 + random.below(4)).unwrap();
        let mut poller = poller(&client, &store, most);
        let mut serial = 0;
        for _ in 0..8 {
            change(&bank, &mut random, &mut serial);
            clock.advance(Duration::from_secs(61));
            let times = if random.below(2) == 0 {
                usize::MAX
            } else {
                random.below(16)
            };
            if wakes(times, poller.run_due()).await {
                ended += 1;
            } else {
                dropped += 1;
                poller = self::poller(&client, &store, most);
            }
        }
        clock.advance(Duration::from_secs(301));
        poller.run_due().await;
        assert!(
            poller
                .status()
                .iter()
                .all(|status| status.last_full_walk == Some(bankrail_values::Clock::now(&*clock)))
        );
        bank.check(&paid(&store).await);
    }
    assert!(
        dropped > 20 && ended > 20,
        "{dropped} dropped, {ended} ended"
    );
}

#[tokio::test]
async fn one_call_for_each_account_when_nothing_is_new() {
    let (bank, client, clock) = Bank::start().await;
    let store = store().await;
    for account in ACCOUNTS {
        bank.change(account, |entries| {
            entries.extend([(1, None), (2, None), (3, Some(7))])
        });
    }
    let before = poller(&client, &store, 2);
    assert_eq!((before.run_due().await, bank.calls()), (4, 4));
    for restarted in [false, true] {
        let after = if restarted {
            poller(&client, &store, 2)
        } else {
            before.clone()
        };
        clock.advance(Duration::from_secs(60));
        let calls = bank.calls();
        assert_eq!((after.run_due().await, bank.calls() - calls), (2, 2));
    }
    assert_eq!(paid(&store).await.len(), 6);
}

#[tokio::test]
async fn work_that_fails_undoes_the_record() {
    let (bank, client, clock) = Bank::start().await;
    let store = store().await;
    bank.change(ACCOUNTS[0], |entries| entries.push((1, None)));
    let accounts = [PolledAccount::new(AccountId::parse(ACCOUNTS[0]).unwrap())];
    let handler = |new: NewEntries| async move {
        let fails = new.attempt < 3;
        Ok(SqliteWork::new(move |transaction| {
            insert(transaction, &new)?;
            if fails {
                Err("the ledger is closed".into())
            } else {
                Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
            }
        }))
    };
    let poller = Poller::transactional(
        client.statements(),
        store.clone(),
        accounts,
        handler,
        PollerOptions::new(),
    );
    for paid_so_far in [0, 0, 1, 1] {
        poller.run_due().await;
        assert_eq!(paid(&store).await.len(), paid_so_far);
        clock.advance(Duration::from_secs(30));
    }
    assert_eq!(bank.calls(), 1);
}

#[tokio::test]
async fn logs_say_what_is_waited_for_and_name_no_account() {
    let (bank, client, _clock) = Bank::start().await;
    let store = store().await;
    bank.change(ACCOUNTS[0], |entries| entries.push((471147114, None)));
    let accounts = ACCOUNTS.map(|account| PolledAccount::new(AccountId::parse(account).unwrap()));
    let [first, second] = accounts;
    let poller = Poller::transactional(
        client.statements(),
        store,
        [first.label("main"), second],
        pay,
        PollerOptions::new(),
    );
    let log = Log::start();
    let said = async {
        while !log.text().contains("reason=interval") {
            tokio::task::yield_now().await;
        }
    };
    poller.run(said).await;
    let text = log.text();
    let line = text
        .lines()
        .find(|line| line.contains("reason=interval"))
        .unwrap();
    for part in [
        " INFO ",
        "waiting",
        r#"account="main""#,
        "until=2026-11-21T06:10:00.000Z",
    ] {
        assert!(line.contains(part), "{line}");
    }
    assert!(
        text.contains(r#"account="2""#) && text.contains("page recorded"),
        "{text}"
    );
    assert!(
        !text.contains(ACCOUNTS[0]) && !text.contains(ACCOUNTS[1]) && !text.contains("471147114"),
        "{text}"
    );
}

#[tokio::test]
async fn a_closed_client_is_no_fault_of_the_account() {
    let (_provider, client, _clock) = crate::provider::Provider::client().await;
    let accounts = ACCOUNTS.map(|account| PolledAccount::new(AccountId::parse(account).unwrap()));
    let store = store().await;
    let poller = Poller::transactional(
        client.statements(),
        store,
        accounts,
        pay,
        PollerOptions::new(),
    );
    client.close();
    let log = Log::start();
    assert_eq!(poller.run_due().await, 0);
    let text = log.text();
    assert!(
        text.contains("no longer polled: the client is closed") && !text.contains("ERROR"),
        "{text}"
    );
}

#[tokio::test]
async fn an_unknown_account_is_stopped_and_says_so() {
    let (provider, client, _clock) = crate::provider::Provider::client().await;
    let error = r#"{"requestKey":"0b7c2f6e-8a1d-41eb-8dcd-0242ac130003","error":{"statusCode":"EC20001","title":"?"}}"#;
    provider
        .tokens([Reply::token(1, 3600)])
        .statements([Reply::new(404, error)]);
    let store = store().await;
    let account = AccountId::parse(ACCOUNTS[0]).unwrap();
    let accounts = [PolledAccount::new(account.clone())];
    let poller = Poller::transactional(
        client.statements(),
        store,
        accounts,
        pay,
        PollerOptions::new(),
    );
    let log = Log::start();
    assert_eq!(poller.run_due().await, 0);
    let Some(bankrail_client::AccountState::Stopped { error, .. }) = poller.state(&account) else {
        panic!("it is stopped")
    };
    let bankrail_client::PollError::Statement(error) = &*error else {
        panic!("{error}")
    };
    assert!(error.is_account_not_found());
    let text = log.text();
    assert!(
        text.contains("ERROR") && text.contains("an account is no longer polled"),
        "{text}"
    );
    assert!(!text.contains(ACCOUNTS[0]), "{text}");
}
