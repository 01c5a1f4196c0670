//! The archive: its records, their sealing, and their import.

use crate::log::Log;
use crate::poller::{ACCOUNTS, Bank, Random, Real, change, paid, poller_of, store, wakes};
use crate::provider::{Provider, Reply, request, start};
use crate::receivers::{UUID, delivery, message, options, receivers_with, seal, send};
use axum::http::StatusCode;
use bankrail_client::receivers::ReceiversOptions;
use bankrail_client::{
    Archive, ArchiveOptions, Client, ClientOptions, ImportError, Imported, PolledAccount, Poller,
    PollerOptions, SealingSecret,
};
use bankrail_mailbox::{ArchiveLabel, ArchiveRecord, ArchiveStore, OpaqueBytes};
use bankrail_statement::AccountId;
use bankrail_stores::memory::MemoryStore;
use bankrail_stores::sqlite::SqliteStore;
use bankrail_values::{ManualClock, StoreErrorKind, StoreFuture, Timestamp};
use bankrail_webhook::MessageKind;
use std::sync::Arc;
use std::time::Duration;

fn secret(byte: u8) -> SealingSecret {
    SealingSecret::from_bytes([byte; SealingSecret::LEN])
}

pub(crate) fn kept() -> (SqliteStore, Archive) {
    let store = SqliteStore::open_in_memory(Default::default()).unwrap();
    (
        store.clone(),
        Archive::new(Arc::new(store), secret(1), ArchiveOptions::new()),
    )
}

fn of(account: &str, rows: Vec<(String, Real)>) -> Vec<Real> {
    rows.into_iter()
        .filter(|(of, _)| of == account)
        .map(|(_, real)| real)
        .collect()
}

/// Imports the archive of each account into a new ledger.
async fn imported(archive: &Archive, most: u16) -> Arc<SqliteStore> {
    let again = store().await;
    for account in ACCOUNTS {
        let replay = archive
            .replay(&AccountId::parse(account).unwrap(), Default::default())
            .await
            .unwrap();
        let poller = poller_of(&[account], &replay, &again, most);
        assert!(replay.import(&poller).await.unwrap().unreadable.is_empty());
    }
    again
}

/// The import of an archive into an empty ledger makes the same ledger.
#[tokio::test]
async fn a_statement_is_handed_out_once_and_another_consumer_eats_it() {
    for seed in 0..12 {
        let mut random = Random(seed);
        let (_, archive) = kept();
        let (bank, client, clock) =
            Bank::start_with(ClientOptions::new().archive(archive.clone())).await;
        let ledger = store().await;
        let most = u16::try_from(1 + random.below(4)).unwrap();
        let poller = poller_of(&ACCOUNTS, client.statements(), &ledger, most);
        let mut serial = 0;
        for _ in 0..20 {
            change(&bank, &mut random, &mut serial);
            clock.advance(Duration::from_secs(61));
            poller.run_due().await;
        }
        let again = imported(&archive, most).await;
        for account in ACCOUNTS {
            let first = of(account, paid(&ledger).await);
            assert!(first.len() > 5, "{first:?}");
            assert_eq!(of(account, paid(&again).await), first, "seed {seed}");
        }
        // It has them all by now: nothing is handed over twice.
        for account in ACCOUNTS {
            let replay = archive
                .replay(&AccountId::parse(account).unwrap(), Default::default())
                .await
                .unwrap();
            let before = paid(&again).await.len();
            replay
                .import(&poller_of(&[account], &replay, &again, most))
                .await
                .unwrap();
            assert_eq!(paid(&again).await.len(), before, "seed {seed}");
        }
    }
}

/// Pages that were fetched and not recorded are in the archive and are fetched again.
#[tokio::test]
async fn an_archive_of_interrupted_walks_loses_and_doubles_nothing() {
    for seed in 0..12 {
        let mut random = Random(seed);
        let (_, archive) = kept();
        let (bank, client, clock) =
            Bank::start_with(ClientOptions::new().archive(archive.clone())).await;
        let ledger = store().await;
        let most = u16::try_from(1 + random.below(4)).unwrap();
        let poller = || poller_of(&ACCOUNTS, client.statements(), &ledger, most);
        let mut serial = 0;
        for _ in 0..8 {
            change(&bank, &mut random, &mut serial);
            clock.advance(Duration::from_secs(61));
            wakes(random.below(16), poller().run_due()).await;
        }
        clock.advance(Duration::from_secs(301));
        poller().run_due().await;
        bank.check(&paid(&*imported(&archive, most).await).await);
    }
}

async fn polled(options: ClientOptions) -> (Bank, Client, usize) {
    let (bank, client, _clock) = Bank::start_with(options).await;
    bank.change(ACCOUNTS[0], |entries| {
        entries.extend([(471_147, None), (2, Some(7)), (3, None)])
    });
    let ledger = store().await;
    poller_of(&ACCOUNTS[..1], client.statements(), &ledger, 2)
        .run_due()
        .await;
    (bank, client, paid(&ledger).await.len())
}

#[tokio::test]
async fn pages_are_kept_sealed_with_their_requests() {
    let (sqlite, archive) = kept();
    let (_, _client, handed_over) = polled(ClientOptions::new().archive(archive.clone())).await;
    assert_eq!(handed_over, 3);
    let records = archive.all_records().await.unwrap();
    assert_eq!(
        records
            .iter()
            .map(|record| record.number)
            .collect::<Vec<_>>(),
        [1, 2]
    );
    assert_eq!(
        (
            records[0].label.kind.clone(),
            records[0].label.subject.as_str()
        ),
        (Archive::PAGE, ACCOUNTS[0])
    );
    let second = archive.find(2).await.unwrap().unwrap();
    assert_eq!(second.record, records[1]);
    assert_eq!(
        second.note,
        format!(
            r#"{{"accountId":"{}","cursor":"2","maxEntries":2}}"#,
            ACCOUNTS[0]
        )
    );
    let first = archive.find(1).await.unwrap().unwrap();
    assert!(
        String::from_utf8(first.body.clone())
            .unwrap()
            .contains("471147")
    );
    assert!(!format!("{first:?}").contains("471147"));
    assert!(archive.find(3).await.unwrap().is_none());

    let sealed = sqlite.content(1).await.unwrap().unwrap();
    assert!(
        !String::from_utf8_lossy(&sealed).contains("471147") && sealed.len() > first.body.len()
    );
    let other = Archive::new(Arc::new(sqlite.clone()), secret(2), ArchiveOptions::new());
    assert_eq!(
        other.find(1).await.unwrap_err().kind(),
        StoreErrorKind::Corrupt
    );
    // A content belongs to its label.
    for column in [
        "subject = '1'",
        "call = '0b7c2f6e-8a1d-41eb-8dcd-0242ac130009'",
        "at = at + 1",
        "kind = 'other'",
    ] {
        let sql = format!("UPDATE bankrail_archive SET {column} WHERE number = 1");
        let moved = sqlite
            .transaction(move |transaction| transaction.connection().execute(&sql, []))
            .await;
        moved.unwrap();
        assert_eq!(
            archive.find(1).await.unwrap_err().kind(),
            StoreErrorKind::Corrupt,
            "{column}"
        );
    }
}

#[tokio::test]
async fn what_cannot_be_taken_in_is_said() {
    let (sqlite, archive) = kept();
    polled(ClientOptions::new().archive(archive.clone())).await;
    let account = AccountId::parse(ACCOUNTS[0]).unwrap();
    let label = ArchiveLabel::new(Archive::PAGE, ACCOUNTS[0], None, start());
    // 64 bytes that this secret did not seal.
    sqlite
        .add(
            &label,
            &OpaqueBytes::from(vec![1; 64]),
            Timestamp::MIN,
            1 << 20,
        )
        .await
        .unwrap();
    let again = store().await;
    let replay = archive.replay(&account, Default::default()).await.unwrap();
    let failed = replay
        .import(&poller_of(&ACCOUNTS[..1], &replay, &again, 2))
        .await;
    assert!(matches!(failed, Err(ImportError::Archive(_))), "{failed:?}");
    assert_eq!(paid(&again).await.len(), 3, "what came before it");

    let replay = archive.replay(&account, Default::default()).await.unwrap();
    let failed = replay
        .import(&poller_of(&ACCOUNTS[1..], &replay, &again, 2))
        .await;
    assert!(
        matches!(failed, Err(ImportError::Idle)),
        "another account's poller: {failed:?}"
    );
    let nothing = |_| std::future::ready(Err("closed".into()));
    let replay = archive.replay(&account, Default::default()).await.unwrap();
    let accounts = [PolledAccount::new(account.clone())];
    let poller = Poller::new(
        &replay,
        Arc::new(MemoryStore::new()),
        accounts,
        nothing,
        PollerOptions::new(),
    );
    let failed = replay.import(&poller).await;
    assert!(
        matches!(failed, Err(ImportError::Stopped(_))),
        "a handler that fails: {failed:?}"
    );
    let none = archive
        .replay(&AccountId::parse(ACCOUNTS[1]).unwrap(), Default::default())
        .await
        .unwrap();
    let empty = none
        .import(&poller_of(&ACCOUNTS[1..], &none, &again, 2))
        .await
        .unwrap();
    assert_eq!(empty, Imported::default());
}

#[tokio::test]
async fn answers_that_are_no_statement_are_kept_and_left_out() {
    let (_, archive) = kept();
    let (provider, clock) = (Provider::start().await, Arc::new(ManualClock::new(start())));
    let client = provider.client_with(provider.options(&clock).archive(archive.clone()));
    provider.tokens([Reply::token(1, 3600)]);
    provider.statements([
        Reply::page(2, None),
        Reply::new(200, "{}"),
        Reply::new(503, ""),
        Reply::page(3, None),
    ]);
    let request = request();
    for _ in 0..4 {
        let _ = client.statements().page(&request).await;
        clock.advance(Duration::from_secs(600));
    }
    let account = request.account().unwrap();
    assert_eq!(
        archive.all_records().await.unwrap().len(),
        3,
        "503 is no page"
    );
    let replay = archive.replay(&account, Default::default()).await.unwrap();
    let seen = Arc::new(MemoryStore::new());
    let handler = |_| std::future::ready(Ok(()));
    let poller = Poller::new(
        &replay,
        seen,
        [PolledAccount::new(account)],
        handler,
        PollerOptions::new(),
    );
    let imported = replay.import(&poller).await.unwrap();
    assert_eq!((imported.pages, imported.unreadable), (2, vec![2]));
}

fn refused(archive: &Archive) -> ReceiversOptions {
    options().archive(archive.clone())
}

#[tokio::test]
async fn refused_messages_can_be_looked_at_with_their_reasons() {
    let (_, archive) = kept();
    let receivers = receivers_with(Arc::new(MemoryStore::new().inbox()), refused(&archive));
    let kind = MessageKind::PaymentOutcome;
    let hostile = "\u{1b}[31m\n\u{0}not json";
    let wrong = seal(r#"{"creation_date_time":"yesterday"}"#);
    for (body, status) in [
        (hostile, 400),
        (&*wrong, 400),
        (&*seal(&message(kind)), 200),
    ] {
        assert_eq!(send(&receivers, delivery(kind, body)).await.0, status);
    }
    let mut stranger = delivery(kind, "a flood");
    stranger
        .headers_mut()
        .insert("apikey", "another".parse().unwrap());
    assert_eq!(send(&receivers, stranger).await.0, StatusCode::UNAUTHORIZED);
    let records = archive.all_records().await.unwrap();
    assert_eq!(
        records.len(),
        2,
        "neither what was stored nor what had no API key"
    );
    for (record, body) in records.iter().zip([hostile, &*wrong]) {
        assert_eq!(
            (&record.label.kind, record.label.subject.as_str()),
            (&Archive::REFUSED_DELIVERY, kind.as_str())
        );
        assert_eq!(record.label.call.unwrap().to_string(), UUID);
        assert_eq!(
            archive.find(record.number).await.unwrap().unwrap().body,
            body.as_bytes()
        );
    }
    let reasons = [
        "envelope: expected a JSON object with the text secured_payload, found another body",
        "message: ",
    ];
    for (number, reason) in (1..).zip(reasons) {
        let note = archive.find(number).await.unwrap().unwrap().note;
        assert!(note.starts_with(reason), "{note}");
    }
}

/// An archive whose disk is full, or which hangs.
#[derive(Debug)]
struct Broken {
    hangs: bool,
}

impl ArchiveStore for Broken {
    fn add<'a>(
        &'a self,
        _: &'a ArchiveLabel,
        _: &'a OpaqueBytes,
        _: Timestamp,
        _: u64,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async {
            if self.hangs {
                std::future::pending::<()>().await;
            }
            Err(StoreErrorKind::Full.into())
        })
    }

    fn records(&self, _: u64, _: u32) -> StoreFuture<'_, Vec<ArchiveRecord>> {
        Box::pin(std::future::ready(Err(StoreErrorKind::Unavailable.into())))
    }

    fn content(&self, _: u64) -> StoreFuture<'_, Option<OpaqueBytes>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

pub(crate) fn broken(hangs: bool) -> Archive {
    Archive::new(Arc::new(Broken { hangs }), secret(1), ArchiveOptions::new())
}

#[tokio::test]
async fn an_archive_that_fails_stops_no_money() {
    let log = Log::start();
    let (_, _, handed_over) = polled(ClientOptions::new().archive(broken(false))).await;
    assert_eq!(handed_over, 3);
    let text = log.text();
    let line = text
        .lines()
        .find(|line| line.contains("the archive failed"))
        .unwrap();
    assert!(
        line.contains("ERROR") && line.contains(r#"archived="page" error=the store is full"#),
        "{line}"
    );
    assert!(!text.contains(ACCOUNTS[0]), "{text}");
}

#[tokio::test(start_paused = true)]
async fn an_archive_that_hangs_holds_an_answer_back_for_five_seconds() {
    let receivers = receivers_with(Arc::new(MemoryStore::new().inbox()), refused(&broken(true)));
    let begun = tokio::time::Instant::now();
    let answer = send(&receivers, delivery(MessageKind::Query, "{}")).await;
    assert_eq!(
        (answer.0, begun.elapsed()),
        (StatusCode::BAD_REQUEST, Duration::from_secs(5))
    );
}
