//! The lines that a person reads in the log of a poller.

use crate::log::Log;
use crate::provider::{ACCOUNT, Provider, Reply};
use bankrail_client::{NewEntries, PolledAccount, Poller, PollerOptions, StatementClient};
use bankrail_mailbox::Schedule;
use bankrail_statement::AccountId;
use bankrail_stores::memory::MemoryStore;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug)]
struct NoTable;

impl fmt::Display for NoTable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("no such table: imprted")
    }
}

impl Error for NoTable {}

#[derive(Debug)]
struct Failed(NoTable);

impl fmt::Display for Failed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the import failed")
    }
}

impl Error for Failed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

fn poller(pages: &StatementClient, accounts: &[&str], options: PollerOptions) -> Poller {
    let failing = |_: NewEntries| async { Err(Failed(NoTable).into()) };
    let accounts = accounts
        .iter()
        .map(|id| PolledAccount::new(AccountId::parse(id).unwrap()));
    Poller::new(
        pages,
        Arc::new(MemoryStore::new()),
        accounts,
        failing,
        options,
    )
}

fn line<'a>(text: &'a str, part: &str) -> &'a str {
    let mut lines = text.lines().filter(|line| line.contains(part));
    let line = lines
        .next()
        .unwrap_or_else(|| panic!("no {part} in {text}"));
    assert_eq!(lines.next(), None, "once");
    line
}

#[tokio::test(flavor = "current_thread")]
async fn the_log_says_why_a_handler_failed_if_that_is_wanted() {
    for wanted in [true, false] {
        let log = Log::start();
        let (provider, client, clock) = Provider::client().await;
        provider
            .tokens([Reply::token(1, 36_000)])
            .statements([Reply::page(1, None)]);
        let options = PollerOptions::new()
            .log_handler_errors(wanted)
            .handler_schedule(Schedule::new([0, 1].map(Duration::from_secs), 0));
        let poller = poller(client.statements(), &[ACCOUNT], options);
        poller.run_due().await;
        clock.advance(Duration::from_secs(2));
        poller.run_due().await;
        let text = log.text();
        let (failed, stopped) = (
            line(&text, "the handler failed"),
            line(&text, "an account is no longer polled"),
        );
        let why = "the import failed: no such table: imprted";
        for said in [failed, stopped] {
            assert_eq!(said.contains(why), wanted, "{said}");
        }
        assert_eq!(text.contains("imprted"), wanted);
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_bad_amount_is_a_warning_with_account_and_place_and_without_the_amount() {
    let log = Log::start();
    let (provider, client, clock) = Provider::client().await;
    let bad = || {
        let mut reply = Reply::page(3, None);
        let text = String::from_utf8(reply.body).unwrap();
        reply.body = text.replacen(">1.00<", ">-5.43<", 2).into();
        reply
    };
    provider
        .tokens([Reply::token(1, 36_000)])
        .statements([bad(), bad()]);
    let account = PolledAccount::new(AccountId::parse(ACCOUNT).unwrap()).label("rent");
    let store = Arc::new(MemoryStore::new());
    let import = |new: NewEntries| async move {
        assert_eq!((new.entries.len(), new.page.unread.len()), (1, 2));
        Ok(())
    };
    let poller = Poller::new(
        client.statements(),
        store,
        [account],
        import,
        PollerOptions::new(),
    );
    for _ in 0..2 {
        poller.run_due().await;
        clock.advance(Duration::from_secs(720));
    }
    assert_eq!(poller.check(), Ok(()));
    let text = log.text();
    let said = line(&text, "the statement is not what was expected");
    for part in [
        "WARN",
        "account=\"rent\"",
        "notice=\"unreadable\"",
        "report the entry to the bank: until a walk reads every entry",
        "count=2",
        "place=\"/Document/BkToCstmrAcctRpt/Rpt[1]/Ntry[1]/Amt (line 1, column ",
    ] {
        assert!(said.contains(part), "{part} in {said}");
    }
    assert!(
        !text.contains("5.43") && !text.contains("no statement"),
        "{text}"
    );
    // A caller of pages is not a poller, and would miss the entry.
    provider.statements([bad()]);
    let account = AccountId::parse(ACCOUNT).unwrap();
    assert!(client.statements().statement(&account).await.is_err());
}

#[tokio::test(flavor = "current_thread")]
async fn a_refused_key_is_an_error_at_once_and_once() {
    let log = Log::start();
    let (provider, client, clock) = Provider::client().await;
    provider.tokens((0..3).map(|_| Reply::new(401, "{}")));
    let poller = poller(client.statements(), &[ACCOUNT], PollerOptions::new());
    for _ in 0..3 {
        poller.run_due().await;
        clock.advance(Duration::from_secs(720));
    }
    let text = log.text();
    let said = line(&text, "the service refuses the key");
    assert!(
        said.contains("ERROR") && said.contains("status=401"),
        "{said}"
    );
    assert!(poller.check().unwrap_err().token_refused);
}

#[tokio::test(flavor = "current_thread")]
async fn accounts_that_need_more_calls_than_allowed_are_named_with_the_remedy() {
    let accounts: Vec<String> = (1..=10).map(|number| format!("{number:015}")).collect();
    let accounts: Vec<&str> = accounts.iter().map(String::as_str).collect();
    for (count, too_many) in [(10, true), (4, false)] {
        let log = Log::start();
        let (_provider, client, _clock) = Provider::client().await;
        let poller = poller(
            client.statements(),
            &accounts[..count],
            PollerOptions::new(),
        );
        poller.run(std::future::ready(())).await;
        let text = log.text();
        if !too_many {
            assert!(!text.contains("more often"), "{text}");
            continue;
        }
        let said = line(&text, "polled more often in an hour than calls are allowed");
        for part in [
            "1, 2, 3, 4, 5, 6, 7, 8, 9, 10",
            "wanted=60 allowed=25",
            "every 1440 s",
        ] {
            assert!(said.contains(part), "{part} in {said}");
        }
    }
}
