//! Tests of the poller in paused time, over a bank that answers from a table.

mod complaints;
mod days;
mod health;
mod unreadable;

use super::handler::BoxError;
use super::sink::{Patience, Plain, Sink};
use super::source::{PageFuture, PageSource};
use super::*;
use crate::{AnswerForm, Call, CallError, CallErrorKind, CallPhase, ExchangeError, StatementPage};
use bankrail_camt052::ReadOptions;
use bankrail_mailbox::Schedule;
use bankrail_statement::{
    AccountNotice, EntryKey, EntryRelation, ErrorCode, PollCommit, PollPosition, PositionChange,
    Recorded, SeenEntry, StatementReply, StatementRequest, WalkError,
};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::{Date, StoreErrorKind, StoreFuture};
use std::collections::{HashMap, VecDeque};
use tokio::time::Instant;

const A: &str = "000000000000001";
const B: &str = "000000000000002";

fn start() -> Timestamp {
    "2026-11-21T06:00:00.000Z".parse().unwrap()
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn id(account: &str) -> AccountId {
    AccountId::parse(account).unwrap()
}

/// A call that the bank got: the account, the cursor, and the time in seconds.
type BankCall = (&'static str, Option<String>, u64);

#[derive(Default)]
struct Table {
    /// The pages of each account, as amounts. The cursor of a page is its index.
    pages: HashMap<&'static str, Vec<Vec<u32>>>,
    failures: HashMap<&'static str, VecDeque<CallError>>,
    calls: Vec<BankCall>,
    /// Amounts that the bank lists with a minus sign, so that their entries cannot be read.
    unreadable: Vec<u32>,
    /// The entries of every page, in place of those amounts.
    entries: Option<String>,
    /// The zone of the bank: its offset from UTC in hours. Without a zone, all reports have one
    /// time.
    zone: Option<fn(Timestamp) -> i8>,
    /// The maximum number of calls of an hour.
    calls_an_hour: Option<usize>,
    /// True if each account has its own calls of an hour.
    each: bool,
    /// The currency of the account and the balances, as XML.
    currency: &'static str,
    balances: String,
    /// True if the bank's documents have an IBAN in place of the account.
    other_account: bool,
    /// The duration of a call.
    takes: Duration,
    /// The cursor of every page, in place of its index.
    cursor: Option<&'static str>,
    /// The lead of the clock at the start.
    ahead: Duration,
    /// The time that the clock was set back.
    set_back: Duration,
}

/// A bank whose clock is tokio's.
#[derive(Clone)]
struct Bank {
    table: Arc<std::sync::Mutex<Table>>,
    began: Instant,
}

impl Bank {
    fn new(pages: &[(&'static str, &[&[u32]])]) -> Self {
        let bank = Self {
            table: Arc::default(),
            began: Instant::now(),
        };
        for (account, pages) in pages {
            bank.list(account, pages);
        }
        bank
    }

    fn list(&self, account: &'static str, pages: &[&[u32]]) {
        let pages = pages.iter().map(|page| page.to_vec()).collect();
        self.with(|table| table.pages.insert(account, pages));
    }

    fn fail(&self, account: &'static str, errors: impl IntoIterator<Item = CallError>) {
        self.with(|table| table.failures.entry(account).or_default().extend(errors));
    }

    fn with<T>(&self, change: impl FnOnce(&mut Table) -> T) -> T {
        change(&mut self.table.lock().unwrap())
    }

    fn passed(&self) -> u64 {
        self.began.elapsed().as_secs()
    }

    /// Returns the calls for an account: cursors and times.
    fn calls(&self, account: &str) -> Vec<(Option<String>, u64)> {
        let of = |call: &BankCall| (call.0 == account).then(|| (call.1.clone(), call.2));
        self.with(|table| table.calls.iter().filter_map(of).collect())
    }

    fn times(&self, account: &str) -> Vec<u64> {
        self.calls(account).into_iter().map(|(_, at)| at).collect()
    }

    fn answer(&self, request: &StatementRequest) -> Result<StatementPage, CallError> {
        let cursor = request
            .cursor
            .as_ref()
            .map(|cursor| cursor.as_str().to_owned());
        let (at, now) = (self.passed(), self.now());
        let (amounts, next) = self.with(|table| {
            let (account, pages) = table.pages.get_key_value(request.account_id()).unwrap();
            let (account, pages) = (*account, pages.clone());
            let own = |call: &&BankCall| !table.each || call.0 == account;
            let recent = table
                .calls
                .iter()
                .rev()
                .take_while(|call| call.2 + 3_600 > at)
                .filter(own);
            if table
                .calls_an_hour
                .is_some_and(|most| recent.clone().count() >= most)
            {
                let oldest = recent.last().map_or(at, |call| call.2);
                let retry_at = now.saturating_add(seconds(oldest + 3_600 - at));
                return Err(CallError {
                    retry_at: Some(retry_at),
                    ..failed(CallErrorKind::HeldBack)
                });
            }
            table.calls.push((account, cursor.clone(), at));
            if let Some(error) = table
                .failures
                .get_mut(account)
                .and_then(VecDeque::pop_front)
            {
                return Err(error);
            }
            let index: usize = cursor.map_or(0, |cursor| cursor.parse().unwrap());
            let next = (index + 1 < pages.len()).then(|| (index + 1).to_string());
            Ok((
                pages[index].clone(),
                next.map(|next| table.cursor.map_or(next, str::to_owned)),
            ))
        })?;
        let unreadable = self.with(|table| table.unreadable.clone());
        let entry = |amount: &u32| {
            let sign = if unreadable.contains(amount) { "-" } else { "" };
            format!(
                "<Ntry><Amt Ccy=\"AUD\">{sign}{amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd><Domn>\
                 <Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>DMCT</SubFmlyCd></Fmly></Domn></BkTxCd></Ntry>"
            )
        };
        let account = request.account_id();
        let made =
            self.with(|table| table.zone)
                .map_or("2026-11-21T16:00:00+10:00".to_owned(), |zone| {
                    let hours = zone(self.now());
                    let local = self
                        .now()
                        .saturating_add(seconds(3_600 * u64::try_from(hours).unwrap()))
                        .to_string();
                    local.replace('Z', &format!("+{hours:02}:00"))
                });
        let xml = format!(
            "<Document xmlns='urn:iso:std:iso:20022:tech:xsd:camt.052.001.06'><BkToCstmrAcctRpt><GrpHdr><MsgId>m\
             </MsgId><CreDtTm>2026-11-21T16:00:00+10:00</CreDtTm></GrpHdr><Rpt><Id>r</Id>\
             <CreDtTm>{made}</CreDtTm><Acct><Id>{}</Id>{}</Acct>\
             {}{}</Rpt></BkToCstmrAcctRpt></Document>",
            if self.with(|table| table.other_account) {
                "<IBAN>GB33BUKB20201555555555</IBAN>".to_owned()
            } else {
                format!("<Othr><Id>{account}</Id></Othr>")
            },
            self.with(|table| table.currency),
            self.with(|table| table.balances.clone()),
            self.with(|table| table.entries.clone()).unwrap_or_else(|| amounts.iter().map(entry).collect())
        )
        .replace('"', "'");
        let more = match next {
            Some(cursor) => format!(r#""cursor":"{cursor}","moreTransactionsAvailable":true"#),
            None => r#""moreTransactionsAvailable":false"#.to_owned(),
        };
        let body = format!(
            r#"{{"accountId":"{account}","extract":"intraday","payload":"{xml}",
                "requestKey":"0b7c2f6e-8a1d-41eb-8dcd-0242ac130003",{more}}}"#
        );
        let StatementReply::Statement(received) =
            StatementReply::parse(200, body.as_bytes()).unwrap()
        else {
            panic!("a statement")
        };
        StatementPage::read(request, received, 200, &ReadOptions::default())
            .or_else(CallError::readable)
    }
}

impl PageSource for Bank {
    fn page<'a>(&'a self, request: &'a StatementRequest) -> PageFuture<'a> {
        Box::pin(async move {
            tokio::time::sleep(self.with(|table| table.takes)).await;
            self.answer(request)
        })
    }

    fn calls_an_hour(&self) -> Option<usize> {
        self.with(|table| table.calls_an_hour)
    }

    fn counts_each_account(&self) -> bool {
        self.with(|table| table.each)
    }

    fn now(&self) -> Timestamp {
        start()
            .saturating_add(self.began.elapsed())
            .saturating_add(self.with(|table| table.ahead))
            .saturating_sub(self.with(|table| table.set_back))
    }
}

/// The amounts that were handed over, by account.
#[derive(Clone, Default)]
struct Handed(Arc<std::sync::Mutex<Vec<(String, String)>>>);

impl Handed {
    fn take(&self, new: &NewEntries) {
        let entry = |new: &NewEntry, account: &AccountId| {
            (account.to_string(), new.entry.amount.value().to_string())
        };
        self.0
            .lock()
            .unwrap()
            .extend(new.entries.iter().map(|own| entry(own, &new.account)));
    }

    fn amounts(&self, account: &str) -> Vec<String> {
        let all = self.0.lock().unwrap();
        all.iter()
            .filter(|(of, _)| of == account)
            .map(|(_, amount)| amount.clone())
            .collect()
    }
}

fn poller(bank: &Bank, accounts: impl IntoIterator<Item = PolledAccount>) -> (Poller, Handed) {
    let handed = Handed::default();
    let taken = handed.clone();
    let handler = move |new: NewEntries| {
        taken.take(&new);
        async { Ok(()) }
    };
    (
        with_handler(bank, accounts, handler, PollerOptions::new()),
        handed,
    )
}

fn with_handler(
    bank: &Bank,
    accounts: impl IntoIterator<Item = PolledAccount>,
    handler: impl NewEntriesHandler,
    options: PollerOptions,
) -> Poller {
    let sink = Plain {
        store: Arc::new(MemoryStore::default()),
        handler: Arc::new(handler),
    };
    Poller::with(Arc::new(bank.clone()), accounts, sink, options)
}

fn accounts() -> [PolledAccount; 2] {
    [PolledAccount::new(id(A)), PolledAccount::new(id(B))]
}

async fn run_for(poller: &Poller, time: Duration) {
    poller.run(tokio::time::sleep(time)).await;
}

/// Runs for this time, and sets the bank's clock back by a day meanwhile.
async fn run_over_a_clock_set_back(poller: &Poller, bank: &Bank, after: Duration, time: Duration) {
    let stop = async {
        tokio::time::sleep(after).await;
        bank.with(|table| table.set_back = seconds(86_400));
        tokio::time::sleep(time.saturating_sub(after)).await;
    };
    poller.run(stop).await;
}

fn stopped(poller: &Poller, account: &str) -> Arc<PollError> {
    match poller.state(&id(account)) {
        Some(AccountState::Stopped { error, .. }) => error,
        other => panic!("expected a stopped account, found {other:?}"),
    }
}

fn later(after: u64) -> Timestamp {
    start().saturating_add(seconds(after))
}

#[tokio::test(start_paused = true)]
async fn each_entry_is_handed_over_once_and_a_quiet_poll_takes_one_call() {
    let bank = Bank::new(&[(A, &[&[1, 2], &[3]]), (B, &[&[7]])]);
    let (poller, handed) = poller(&bank, accounts());
    run_for(&poller, seconds(1_500)).await;
    bank.list(A, &[&[1, 2], &[3, 3, 4], &[5]]);
    run_for(&poller, seconds(1_000)).await;
    assert_eq!(handed.amounts(A), ["1", "2", "3", "3", "4", "5"]);
    assert_eq!(handed.amounts(B), ["7"]);
    let cursor = |text: &str| Some(text.to_owned());
    let expected = [
        (None, 0),
        (cursor("1"), 0),
        (cursor("1"), 600),
        (cursor("1"), 1_200),
        (cursor("1"), 1_800),
        (cursor("2"), 1_800),
    ];
    assert_eq!(bank.calls(A)[..6], expected);
    assert_eq!(bank.times(B), [0, 600, 1_200, 1_800, 2_400]);
}

#[tokio::test(start_paused = true)]
async fn the_account_that_was_due_first_goes_first_and_none_starves() {
    let bank = Bank::new(&[(A, &[&[1], &[2], &[3]]), (B, &[&[7]])]);
    // More calls are due than there is time for.
    bank.with(|table| table.takes = seconds(60));
    let (poller, _) = poller(&bank, accounts().map(|account| account.every(seconds(1))));
    run_for(&poller, seconds(650)).await;
    let order: Vec<&str> = bank.with(|table| table.calls.iter().map(|call| call.0).collect());
    assert_eq!(
        order,
        [A, A, A, B, A, B, A, B, A, B],
        "a walk is not interrupted by an account that was due later"
    );
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_fails_three_times_stops_its_account_until_that_is_resumed() {
    let bank = Bank::new(&[(A, &[&[1]]), (B, &[&[7]])]);
    let (handed, broken) = (
        Handed::default(),
        Arc::new(std::sync::atomic::AtomicBool::new(true)),
    );
    let (taken, fails) = (handed.clone(), broken.clone());
    let attempts = Arc::new(std::sync::Mutex::new(Vec::new()));
    let noted = attempts.clone();
    let handler = move |new: NewEntries| {
        let fails = fails.load(std::sync::atomic::Ordering::SeqCst) && new.account.as_str() == A;
        if fails {
            noted.lock().unwrap().push((new.attempt, new.entries[0].id));
        } else {
            taken.take(&new);
        }
        async move {
            if fails {
                Err("the ledger is closed".into())
            } else {
                Ok(())
            }
        }
    };
    let poller = with_handler(&bank, accounts(), handler, PollerOptions::new());
    run_for(&poller, seconds(1_900)).await;
    let PollError::Handler { times: 3, source } = &*stopped(&poller, A) else {
        panic!("the handler failed")
    };
    assert_eq!(source.to_string(), "the ledger is closed");
    assert_eq!(bank.times(A), [0], "the page is kept for the handler");
    let seen = attempts.lock().unwrap().clone();
    assert_eq!(
        seen.iter().map(|(attempt, _)| *attempt).collect::<Vec<_>>(),
        [1, 2, 3]
    );
    assert!(
        seen.iter().all(|(_, id)| *id == seen[0].1),
        "the identifier is stable"
    );
    assert_eq!(
        (handed.amounts(A).len(), bank.times(B)),
        (0, vec![0, 600, 1_200, 1_800])
    );

    broken.store(false, std::sync::atomic::Ordering::SeqCst);
    assert!(poller.resume(&id(A)) && !poller.resume(&id(A)) && !poller.resume(&id("3")));
    run_for(&poller, seconds(10)).await;
    assert_eq!(
        (handed.amounts(A), bank.times(A)),
        (vec!["1".to_owned()], vec![0, 1_900])
    );
}

#[tokio::test(start_paused = true)]
async fn resuming_wakes_a_poller_that_has_nothing_else_to_do() {
    let bank = Bank::new(&[(A, &[&[1]])]);
    bank.fail(A, [not_found()]);
    let (poller, handed) = poller(&bank, [PolledAccount::new(id(A))]);
    let other = poller.clone();
    let resuming = async {
        tokio::time::sleep(seconds(100)).await;
        assert!(other.resume(&id(A)));
        tokio::time::sleep(seconds(100)).await;
    };
    poller.run(resuming).await;
    assert_eq!((bank.times(A), handed.amounts(A).len()), (vec![0, 100], 1));
}

fn not_found() -> CallError {
    service(404, ErrorCode::ACCOUNT_NOT_FOUND)
}

fn failed(reason: CallErrorKind) -> CallError {
    CallError::new(Call::Statement, reason)
}

fn service(status: u16, code: ErrorCode) -> CallError {
    CallError {
        status: Some(status),
        code: Some(code.as_str().into()),
        ..failed(CallErrorKind::Service { title: None })
    }
}

/// Makes the error of an answer that is not the service's.
fn stray(status: u16, form: AnswerForm) -> CallError {
    CallError {
        status: Some(status),
        ..failed(CallErrorKind::Unexpected { form, target: None })
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_and_a_hanging_handler_are_failures() {
    let bank = Bank::new(&[(A, &[&[1]])]);
    let handler = |new: NewEntries| async move {
        match new.attempt {
            1 => panic!("a fault of the handler"),
            2 => std::future::pending().await,
            _ => Ok(()),
        }
    };
    let poller = with_handler(
        &bank,
        [PolledAccount::new(id(A))],
        handler,
        PollerOptions::new(),
    );
    run_for(&poller, seconds(100)).await;
    assert!(poller.status()[0].last_poll.is_some());
    assert_eq!(bank.times(A), [0]);
}

#[tokio::test(start_paused = true)]
async fn refused_token_calls_leave_some_for_when_the_refusal_is_mended() {
    let refused = CallError {
        status: Some(401),
        ..failed(CallErrorKind::Refused {
            description: None,
            clock_ahead: None,
        })
    };
    // The answer of a wrong address, or of a proxy in front of the service.
    for answer in [refused, stray(404, AnswerForm::Html)] {
        let answer = CallError {
            call: Call::Token,
            ..answer
        };
        let bank = Bank::new(&[(A, &[&[1]]), (B, &[&[7]])]);
        for account in [A, B] {
            bank.fail(account, std::iter::repeat_n(answer.clone(), 20));
        }
        let (poller, _) = poller(&bank, accounts());
        run_for(&poller, seconds(3_590)).await;
        // Ten an hour are allowed, for all accounts.
        assert_eq!(
            (bank.times(A), bank.times(B)),
            (vec![0, 720, 1_440, 2_160, 2_880], vec![])
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_may_pass_is_tried_again_and_not_before_its_time() {
    let bank = Bank::new(&[(A, &[&[1]]), (B, &[&[7]])]);
    bank.fail(
        A,
        [
            failed(CallErrorKind::Transport(ExchangeError::TimedOut {
                after: seconds(60),
                phase: CallPhase::Answer,
            })),
            failed(CallErrorKind::Unauthorized),
            stray(503, AnswerForm::Html),
            service(500, ErrorCode::INTERNAL),
            CallError {
                retry_at: Some(later(300)),
                ..failed(CallErrorKind::TooManyCalls)
            },
            CallError {
                retry_at: Some(later(500)),
                ..failed(CallErrorKind::HeldBack)
            },
        ],
    );
    let (poller, handed) = poller(&bank, accounts());
    run_for(&poller, seconds(250)).await;
    let Some(AccountState::Waiting {
        until,
        reason: WaitReason::Retry,
    }) = poller.state(&id(A))
    else {
        panic!("it waits")
    };
    assert_eq!(until, later(300));
    let failures = |poller: &Poller| {
        poller
            .status()
            .into_iter()
            .map(|status| status.last_failure)
            .collect::<Vec<_>>()
    };
    let [Some(failure), None] = &failures(&poller)[..] else {
        panic!("the calls of one account failed")
    };
    assert_eq!(
        (failure.error.kind(), failure.retry_at),
        ("too many calls", later(300))
    );
    assert!(failure.at < later(40));
    run_for(&poller, seconds(250)).await;
    let times = bank.times(A);
    // After 1, 2, 4 and 8 s, give or take a fifth; then at the times of the answers' `Retry-After`.
    let pauses: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(
        (0..=2).contains(&pauses[0]) && (1..=3).contains(&pauses[1]),
        "{times:?}"
    );
    assert!(
        (3..=5).contains(&pauses[2]) && (6..=10).contains(&pauses[3]),
        "{times:?}"
    );
    assert_eq!((times.len(), times[5]), (6, 300));
    run_for(&poller, seconds(10)).await;
    assert_eq!((bank.times(A)[6], handed.amounts(A).len()), (500, 1));
    assert_eq!(bank.times(B), [0], "the other account was polled meanwhile");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_pass_stops_the_account_alone() {
    let bank = Bank::new(&[(A, &[&[1], &[2], &[3]]), (B, &[&[7]])]);
    bank.fail(B, [not_found()]);
    bank.with(|table| table.cursor = Some("1"));
    let (poller, handed) = poller(&bank, accounts());
    run_for(&poller, seconds(1_000)).await;
    let PollError::Statement(error) = &*stopped(&poller, A) else {
        panic!("the handler did not fail")
    };
    assert!(matches!(
        error.reason,
        CallErrorKind::Walk(WalkError::RepeatedCursor { page: 2 })
    ));
    assert!(
        matches!(&*stopped(&poller, B), PollError::Statement(error) if error.is_account_not_found())
    );
    assert_eq!(
        (bank.times(A).len(), handed.amounts(A).len()),
        (2, 2),
        "the pages before are valid"
    );
    bank.with(|table| table.cursor = None);
    assert!(poller.resume(&id(A)));
    run_for(&poller, seconds(1)).await;
    assert_eq!(handed.amounts(A), ["1", "2", "3"]);
}

/// A gateway in maintenance answers with its own pages under any status, and with JSON of another
/// shape.
#[tokio::test(start_paused = true)]
async fn answers_that_are_not_the_services_pass() {
    let bank = Bank::new(&[(A, &[&[1]])]);
    bank.fail(
        A,
        [
            stray(403, AnswerForm::Html),
            stray(404, AnswerForm::Json),
            stray(302, AnswerForm::Other),
            other_shape(),
        ],
    );
    let (poller, handed) = poller(&bank, [PolledAccount::new(id(A))]);
    run_for(&poller, seconds(60)).await;
    assert_eq!((bank.times(A).len(), handed.amounts(A).len()), (5, 1));
    assert!(poller.status()[0].stopped_since.is_none());
}

fn other_shape() -> CallError {
    let Err(source) = StatementReply::parse(200, b"{}") else {
        panic!("it is not a statement")
    };
    CallError {
        status: Some(200),
        ..failed(CallErrorKind::Reply(source))
    }
}

#[tokio::test(start_paused = true)]
async fn a_cursor_that_is_answered_with_no_statement_is_given_up_too() {
    let bank = Bank::new(&[(A, &[&[1], &[2]])]);
    let (poller, handed) = poller(&bank, [PolledAccount::new(id(A))]);
    run_for(&poller, seconds(1)).await;
    bank.fail(A, [other_shape(), other_shape(), other_shape()]);
    run_for(&poller, seconds(700)).await;
    let cursors: Vec<bool> = bank
        .calls(A)
        .iter()
        .map(|(cursor, _)| cursor.is_some())
        .collect();
    assert_eq!(cursors, [false, true, true, true, true, false, true]);
    assert_eq!(handed.amounts(A), ["1", "2"]);
}

#[tokio::test(start_paused = true)]
async fn an_account_whose_retry_waits_is_resumed_at_once() {
    let bank = Bank::new(&[(A, &[&[1]])]);
    bank.fail(
        A,
        [
            not_found(),
            CallError {
                retry_at: Some(later(90_000)),
                ..failed(CallErrorKind::TooManyCalls)
            },
        ],
    );
    let (poller, handed) = poller(&bank, [PolledAccount::new(id(A))]);
    run_for(&poller, seconds(3_700)).await;
    assert!(
        matches!(poller.state(&id(A)), Some(AccountState::Waiting { .. }))
            && poller.check().is_err()
    );
    assert!(poller.resume(&id(A)));
    run_for(&poller, seconds(1)).await;
    assert_eq!(
        (bank.times(A), handed.amounts(A).len()),
        (vec![0, 3_600, 3_700], 1)
    );
    assert!(poller.check().is_ok() && !poller.resume(&id(A)));
}

#[tokio::test(start_paused = true)]
async fn a_stopped_account_is_tried_again_and_not_well_until_a_page_is_recorded() {
    let bank = Bank::new(&[(A, &[&[1]]), (B, &[&[7]])]);
    bank.fail(
        A,
        [not_found(), not_found(), service(500, ErrorCode::INTERNAL)],
    );
    let accounts = [
        PolledAccount::new(id(A)).label("rent"),
        PolledAccount::new(id(B)),
    ];
    let (poller, handed) = poller(&bank, accounts);
    run_for(&poller, seconds(7_199)).await;
    assert_eq!(bank.times(A), [0, 3_600]);
    assert_eq!(poller.status()[0].stopped_since, Some(start()));
    let error = poller.check().unwrap_err();
    assert_eq!(
        (error.stopped.clone(), error.stale.clone()),
        (vec!["rent".to_owned()], vec![])
    );
    assert_eq!(
        error.to_string(),
        "accounts that are stopped: rent; accounts that keep being refused, asked less and less: \
         rent until 2026-11-21T09:00:00.000Z"
    );
    run_for(&poller, seconds(3_610)).await;
    assert_eq!(handed.amounts(A), ["1"]);
    assert_eq!(
        (poller.check(), poller.status()[0].stopped_since),
        (Ok(()), None)
    );

    let never = PollerOptions::new().retry_stopped(None);
    bank.fail(A, [not_found()]);
    let poller = with_handler(
        &bank,
        [PolledAccount::new(id(A))],
        |_| async { Ok(()) },
        never,
    );
    run_for(&poller, seconds(86_400)).await;
    assert!(matches!(
        poller.state(&id(A)),
        Some(AccountState::Stopped { retry_at: None, .. })
    ));
}

#[tokio::test(start_paused = true)]
async fn an_account_without_a_page_for_too_long_is_not_well() {
    let bank = Bank::new(&[(A, &[&[1]]), (B, &[&[7]])]);
    let (poller, _) = poller(&bank, accounts());
    run_for(&poller, seconds(60)).await;
    bank.fail(B, (0..100).map(|_| service(500, ErrorCode::INTERNAL)));
    run_for(&poller, seconds(7_140)).await;
    assert_eq!(poller.check(), Ok(()));
    run_for(&poller, seconds(1)).await;
    let error = poller.check().unwrap_err();
    assert_eq!((error.stopped, error.stale), (vec![], vec!["2".to_owned()]));
    // A clock that is set back makes nothing younger.
    run_over_a_clock_set_back(&poller, &bank, seconds(1), seconds(60)).await;
    assert_eq!(poller.check().unwrap_err().stale, ["2"]);
}

#[tokio::test(start_paused = true)]
async fn a_statement_without_end_leaves_the_others_their_calls() {
    let endless: Vec<Vec<u32>> = (0..90).map(|page| vec![page]).collect();
    let endless: Vec<&[u32]> = endless.iter().map(Vec::as_slice).collect();
    let bank = Bank::new(&[(A, &endless), (B, &[&[7]])]);
    // 25 calls an hour.
    bank.with(|table| table.takes = seconds(144));
    let (poller, _) = poller(&bank, accounts());
    run_for(&poller, seconds(3_600)).await;
    let order: Vec<&str> = bank.with(|table| table.calls.iter().map(|call| call.0).collect());
    assert_eq!(order[..12], [A, A, A, A, A, B, A, A, A, A, A, B]);
    assert_eq!(order.iter().filter(|account| **account == B).count(), 4);
}

/// Accounts with their own calls are polled as often as one alone; if they shared the calls, a
/// round of 50 would take two hours.
#[tokio::test(start_paused = true)]
async fn accounts_with_calls_of_their_own_are_polled_as_often_as_one_alone() {
    let bank = Bank::new(&[]);
    let names: Vec<&'static str> = (1..=50)
        .map(|number| &*format!("{number:015}").leak())
        .collect();
    names.iter().for_each(|name| bank.list(name, &[&[1]]));
    bank.with(|table| (table.calls_an_hour, table.each) = (Some(25), true));
    let (poller, _) = poller(
        &bank,
        names
            .iter()
            .map(|name| PolledAccount::new(id(name)).every(seconds(150))),
    );
    run_for(&poller, seconds(2 * 3_600)).await;
    for name in names {
        let calls = bank.times(name).len();
        assert!(
            (44..=50).contains(&calls),
            "{name}: {calls} calls in two hours"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn beside_a_statement_without_end_each_account_is_polled_when_it_is_due() {
    let endless: Vec<Vec<u32>> = (0..600).map(|page| vec![page]).collect();
    let endless: Vec<&[u32]> = endless.iter().map(Vec::as_slice).collect();
    let others = ["000000000000002", "000000000000003"];
    let bank = Bank::new(&[
        (A, &endless),
        (others[0], &[&[7]]),
        (others[1], &[&[7], &[8], &[9]]),
    ]);
    bank.with(|table| (table.calls_an_hour, table.takes) = (Some(25), seconds(1)));
    let polled =
        |account: &str, minutes: u64| PolledAccount::new(id(account)).every(seconds(60 * minutes));
    let (poller, _) = poller(
        &bank,
        [polled(A, 10), polled(others[0], 20), polled(others[1], 60)],
    );
    run_for(&poller, seconds(12 * 3_600)).await;
    for (account, every) in [(others[0], 1_200), (others[1], 3_600)] {
        let times = bank.times(account);
        let longest = times.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert!(longest < Some(every + 60), "{account}: {times:?}");
    }
    // Of an hour's calls, the others need three each. After 100 pages it is stopped for an hour.
    let hours = bank.times(A).into_iter().fold([0; 12], |mut hours, at| {
        hours[usize::try_from(at / 3_600).unwrap()] += 1;
        hours
    });
    assert_eq!(hours, [19, 19, 19, 19, 19, 5, 19, 19, 19, 19, 19, 5]);
}

#[tokio::test(start_paused = true)]
async fn a_cursor_that_is_refused_or_fails_three_times_is_given_up() {
    let bank = Bank::new(&[(A, &[&[1], &[2]])]);
    let (poller, handed) = poller(&bank, [PolledAccount::new(id(A))]);
    run_for(&poller, seconds(1)).await;
    bank.fail(A, [service(400, ErrorCode::VALIDATION)]);
    run_for(&poller, seconds(700)).await;
    bank.fail(A, (0..3).map(|_| service(500, ErrorCode::INTERNAL)));
    run_for(&poller, seconds(600)).await;
    let cursors: Vec<bool> = bank
        .calls(A)
        .iter()
        .map(|(cursor, _)| cursor.is_some())
        .collect();
    assert_eq!(
        cursors,
        [
            false, true, true, false, true, true, true, true, false, true
        ]
    );
    assert_eq!(handed.amounts(A), ["1", "2"]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_waits_and_calls_at_once_but_no_record() {
    let bank = Bank::new(&[(A, &[&[1]]), (B, &[&[7]])]);
    let (poller, handed) = poller(&bank, accounts());
    // A call that hangs.
    bank.with(|table| table.takes = seconds(10_000));
    run_for(&poller, seconds(5)).await;
    assert_eq!(bank.passed(), 5);
    // A wait.
    bank.with(|table| table.takes = Duration::ZERO);
    run_for(&poller, seconds(5)).await;
    assert_eq!(
        (
            bank.passed(),
            handed.amounts(A).len(),
            handed.amounts(B).len()
        ),
        (10, 1, 1)
    );
    for status in poller.status() {
        let AccountState::Waiting {
            until,
            reason: WaitReason::Interval,
        } = status.state
        else {
            panic!("it waits")
        };
        assert_eq!((until, status.last_poll), (later(605), Some(later(5))));
        assert_eq!(status.last_full_walk, Some(later(5)));
    }
    // A handler, which has 10 s.
    for (takes, recorded) in [(8, true), (20, false)] {
        let handler = move |_: NewEntries| async move {
            tokio::time::sleep(seconds(takes)).await;
            Ok(())
        };
        let (bank, began) = (Bank::new(&[(A, &[&[1]])]), Instant::now());
        let poller = with_handler(
            &bank,
            [PolledAccount::new(id(A))],
            handler,
            PollerOptions::new(),
        );
        run_for(&poller, seconds(1)).await;
        assert_eq!(began.elapsed(), seconds(if recorded { 8 } else { 11 }));
        assert_eq!(poller.status()[0].last_poll.is_some(), recorded);
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_a_shutdown_ends_has_not_failed() {
    let bank = Bank::new(&[(A, &[&[1]])]);
    let handed = Handed::default();
    let taken = handed.clone();
    let handler = move |new: NewEntries| {
        let (taken, first) = (taken.clone(), handed_nothing(&taken));
        async move {
            taken.take(&new);
            if first {
                std::future::pending::<()>().await;
            }
            Ok(())
        }
    };
    let options = PollerOptions::new().handler_schedule(Schedule::new([Duration::ZERO], 0));
    let poller = with_handler(&bank, [PolledAccount::new(id(A))], handler, options);
    run_for(&poller, seconds(1)).await;
    let state = poller.state(&id(A));
    assert!(
        matches!(state, Some(AccountState::Waiting { .. })),
        "{state:?}"
    );
    run_for(&poller, seconds(1)).await;
    assert_eq!(
        handed.amounts(A),
        ["1", "1"],
        "the next run hands it over again"
    );
    assert!(poller.status()[0].last_poll.is_some());
}

fn handed_nothing(handed: &Handed) -> bool {
    handed.amounts(A).is_empty()
}

/// A sink whose handler does nothing.
type Quiet = Plain<fn(NewEntries) -> std::future::Ready<Result<(), BoxError>>>;

fn quiet() -> Quiet {
    Plain {
        store: Arc::new(MemoryStore::default()),
        handler: Arc::new(|_| std::future::ready(Ok(()))),
    }
}

/// A sink that takes a minute to record a page.
struct Slow(Quiet);

impl Sink for Slow {
    fn store(&self) -> &dyn SeenEntries {
        self.0.store()
    }

    fn hand_over<'a>(
        &'a self,
        account: &'a AccountId,
        new: NewEntries,
        commit: &'a PollCommit,
        patience: Patience,
    ) -> StoreFuture<'a, Recorded> {
        Box::pin(async move {
            tokio::time::sleep(seconds(60)).await;
            self.0.hand_over(account, new, commit, patience).await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_interrupt_a_record() {
    let bank = Bank::new(&[(A, &[&[1]])]);
    let poller = Poller::with(
        Arc::new(bank.clone()),
        [PolledAccount::new(id(A))],
        Slow(quiet()),
        PollerOptions::new(),
    );
    run_for(&poller, seconds(1)).await;
    assert_eq!(
        (bank.passed(), poller.status()[0].last_poll),
        (60, Some(later(60)))
    );
}

#[tokio::test(start_paused = true)]
async fn an_account_whose_work_was_interrupted_waits_for_its_turn() {
    let bank = Bank::new(&[(A, &[&[1]])]);
    let poller = Poller::with(
        Arc::new(bank.clone()),
        [PolledAccount::new(id(A))],
        Slow(quiet()),
        PollerOptions::new(),
    );
    assert!(
        tokio::time::timeout(seconds(1), poller.run_due())
            .await
            .is_err()
    );
    let state = poller.state(&id(A));
    assert!(
        matches!(
            state,
            Some(AccountState::Waiting {
                reason: WaitReason::Turn,
                ..
            })
        ),
        "{state:?}"
    );
    assert_eq!((poller.run_due().await, bank.times(A)), (1, vec![0, 1]));
}

/// A sink whose pages another process has recorded a few times.
struct Overtaken(std::sync::atomic::AtomicU32, Quiet);

impl Sink for Overtaken {
    fn store(&self) -> &dyn SeenEntries {
        self.1.store()
    }

    fn hand_over<'a>(
        &'a self,
        account: &'a AccountId,
        new: NewEntries,
        commit: &'a PollCommit,
        patience: Patience,
    ) -> StoreFuture<'a, Recorded> {
        let left = |left: u32| left.checked_sub(1);
        let ordering = std::sync::atomic::Ordering::SeqCst;
        match self.0.fetch_update(ordering, ordering, left) {
            Ok(_) => Box::pin(async { Ok(Recorded::Overtaken) }),
            Err(_) => self.1.hand_over(account, new, commit, patience),
        }
    }
}

/// A page that was judged from an outdated position is fetched again from the position that the
/// other process has recorded.
#[tokio::test(start_paused = true)]
async fn a_page_that_another_process_has_recorded_is_fetched_again() {
    for (times, calls) in [(1, 2), (2, 3)] {
        let bank = Bank::new(&[(A, &[&[1]])]);
        let sink = Overtaken(times.into(), quiet());
        let poller = Poller::with(
            Arc::new(bank.clone()),
            [PolledAccount::new(id(A))],
            sink,
            PollerOptions::new(),
        );
        run_for(&poller, seconds(10)).await;
        assert!(poller.status()[0].last_poll.is_some());
        assert_eq!(bank.times(A).len(), calls, "{times}");
    }
}

/// A store that fails to record for a while.
#[derive(Debug)]
struct Flaky {
    store: MemoryStore,
    fails_until: Instant,
}

impl SeenEntries for Flaky {
    fn counts<'a>(
        &'a self,
        account: &'a AccountId,
        keys: &'a [EntryKey],
    ) -> StoreFuture<'a, Vec<u32>> {
        self.store.counts(account, keys)
    }

    fn record<'a>(
        &'a self,
        account: &'a AccountId,
        entries: &'a [SeenEntry],
        position: Option<PositionChange<'a>>,
    ) -> StoreFuture<'a, Recorded> {
        if Instant::now() < self.fails_until {
            return Box::pin(async { Err(StoreErrorKind::Unavailable.into()) });
        }
        self.store.record(account, entries, position)
    }

    fn position<'a>(&'a self, account: &'a AccountId) -> StoreFuture<'a, Option<String>> {
        self.store.position(account)
    }

    fn forget_before<'a>(&'a self, account: &'a AccountId, day: Date) -> StoreFuture<'a, u64> {
        self.store.forget_before(account, day)
    }
}

/// A page that could not be recorded is not fetched again: a store that is down for an hour would
/// use up the calls of many hours.
#[tokio::test(start_paused = true)]
async fn a_page_that_is_not_recorded_is_handed_over_again_under_the_same_identifiers_and_ever_later()
 {
    let bank = Bank::new(&[(A, &[&[1, 1]])]);
    let ids = Arc::new(std::sync::Mutex::new(Vec::new()));
    let noted = ids.clone();
    let handler = move |new: NewEntries| {
        noted
            .lock()
            .unwrap()
            .push(new.entries.iter().map(|own| own.id).collect::<Vec<_>>());
        async { Ok(()) }
    };
    let store = Arc::new(Flaky {
        store: MemoryStore::default(),
        fails_until: Instant::now() + seconds(3_600),
    });
    let sink = Plain {
        store,
        handler: Arc::new(handler),
    };
    let poller = Poller::with(
        Arc::new(bank.clone()),
        [PolledAccount::new(id(A))],
        sink,
        PollerOptions::new(),
    );
    run_for(&poller, seconds(3_600)).await;
    let tries = ids.lock().unwrap().len();
    assert!((10..=16).contains(&tries), "{tries}");
    assert_eq!(bank.times(A), [0]);
    assert!(matches!(
        poller.state(&id(A)),
        Some(AccountState::Waiting {
            reason: WaitReason::Store,
            ..
        })
    ));
    run_for(&poller, seconds(1_200)).await;
    assert!(poller.status()[0].last_poll.is_some());
    let ids = ids.lock().unwrap();
    assert_eq!(ids.len(), tries + 1);
    assert!(ids.iter().all(|own| *own == ids[0] && own[0] != own[1]));
}

/// A poll is due after the elapsed time, whatever the clock shows.
#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_back_delays_no_poll() {
    let bank = Bank::new(&[(A, &[&[1]])]);
    let (poller, _) = poller(&bank, [PolledAccount::new(id(A))]);
    run_for(&poller, seconds(300)).await;
    run_over_a_clock_set_back(&poller, &bank, seconds(100), seconds(600)).await;
    assert_eq!(bank.times(A), [0, 600]);
}

#[tokio::test(start_paused = true)]
async fn one_of_two_runs_works_at_a_time_and_an_account_is_polled_once() {
    let bank = Bank::new(&[(A, &[&[1], &[2]])]);
    bank.with(|table| table.takes = seconds(1));
    let (poller, handed) = poller(&bank, [A, A].map(|account| PolledAccount::new(id(account))));
    assert_eq!(poller.status().len(), 1);
    tokio::join!(
        run_for(&poller, seconds(500)),
        run_for(&poller, seconds(500))
    );
    assert_eq!((handed.amounts(A).len(), bank.times(A)), (2, vec![1, 2]));
}

#[tokio::test(start_paused = true)]
async fn what_is_due_is_done_once() {
    let bank = Bank::new(&[(A, &[&[1], &[2]]), (B, &[&[7]])]);
    let (poller, handed) = poller(&bank, accounts());
    assert_eq!(poller.run_due().await, 3);
    assert_eq!(poller.run_due().await, 0);
    assert_eq!((handed.amounts(A).len(), handed.amounts(B).len()), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn entries_beyond_the_retention_are_forgotten_while_the_poller_runs() {
    let store = Arc::new(MemoryStore::default());
    let seen = |key: u8, day: &str| {
        SeenEntry::new(
            EntryKey::from([key; 32]),
            1,
            Some(Date::parse(day).unwrap()),
        )
    };
    // The poller begins on 2026-11-21 in the morning.
    let known = [
        seen(1, "2026-11-17"),
        seen(2, "2026-11-18"),
        seen(3, "2026-11-21"),
    ];
    let keys = known.each_ref().map(|entry| entry.key);
    let _ = store.record(&id(B), &known, None).await.unwrap();
    let bank = Bank::new(&[(A, &[&[]]), (B, &[&[]])]);
    bank.with(|table| table.zone = Some(|_| 10));
    let poller = |options| {
        let sink = Plain {
            store: store.clone(),
            handler: Arc::new(|_| std::future::ready(Ok(()))),
        };
        Poller::with(Arc::new(bank.clone()), accounts(), sink, options)
    };
    run_for(&poller(PollerOptions::new()), seconds(2 * 86_400)).await;
    assert_eq!(
        store.counts(&id(B), &keys).await.unwrap(),
        [1, 1, 1],
        "for ever by default"
    );
    let days = |days: u64| PollerOptions::new().retention(seconds(days * 86_400));
    let poller = poller(days(5));
    run_for(&poller, seconds(60)).await;
    assert_eq!(store.counts(&id(B), &keys).await.unwrap(), [0, 1, 1]);
    run_for(&poller, seconds(86_400)).await;
    assert_eq!(
        store.counts(&id(B), &keys).await.unwrap(),
        [0, 0, 1],
        "as time goes on"
    );
    assert_eq!(days(1), days(2), "a day that may still be listed is kept");
}

#[test]
fn shown_without_accounts_and_entries() {
    fn shared<T: Send + Sync + Clone + std::fmt::Debug + 'static>() {}
    shared::<Poller>();
    shared::<PollerOptions>();
    shared::<AccountStatus>();
    fn sends<T: Send>(_: T) {}
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let _guard = runtime.enter();
    let bank = Bank::new(&[(A, &[&[471147114]])]);
    let shown = Arc::new(std::sync::Mutex::new(String::new()));
    let show = shown.clone();
    let handler = move |new: NewEntries| {
        *show.lock().unwrap() = format!("{new:?} {:?}", new.entries);
        async { Ok(()) }
    };
    let poller = with_handler(
        &bank,
        [PolledAccount::new(id(A))],
        handler,
        PollerOptions::new(),
    );
    sends(poller.run(std::future::pending()));
    sends(poller.run_due());
    assert_eq!(runtime.block_on(poller.run_due()), 1);
    let shown = format!("{} {poller:?}", shown.lock().unwrap());
    assert!(
        !shown.contains(A) && !shown.contains("471147114"),
        "{shown}"
    );
    assert!(
        shown.starts_with("NewEntries { entries: 1, again: 0, notices: 0, page: "),
        "{shown}"
    );
}

/// Returns an entry of a page: its amount with attributes, what follows the amount, and its
/// reference.
fn entry(amount: &str, direction: &str, status: &str, reference: &str) -> String {
    format!(
        "<Ntry><Amt{amount}</Amt><CdtDbtInd>{direction}</CdtDbtInd>{status}<BookgDt><Dt>2026-11-21</Dt></BookgDt>\
         <ValDt><DtTm>2026-11-23T01:00:00Z</DtTm></ValDt><AcctSvcrRef>{reference}</AcctSvcrRef><BkTxCd><Domn>\
         <Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>DMCT</SubFmlyCd></Fmly></Domn></BkTxCd><NtryDtls><TxDtls><Refs/>\
         <Amt{amount}</Amt><CdtDbtInd>{direction}</CdtDbtInd><RltdPties><Dbtr><Nm>Jo Payer</Nm></Dbtr><Cdtr>\
         <Nm>Al Payee</Nm></Cdtr></RltdPties><RmtInf><Ustrd>rent</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>"
    )
}

type Movements = Arc<std::sync::Mutex<Vec<Movement>>>;

/// Polls account A for a second, and returns what its handler got.
async fn movements(entries: &[String], options: PollerOptions) -> (Vec<Movement>, Poller) {
    let bank = Bank::new(&[(A, &[&[1]])]);
    bank.with(|table| table.entries = Some(entries.concat()));
    let all = Movements::default();
    let taken = all.clone();
    let handler = move |new: NewEntries| {
        let taken = taken.clone();
        async move {
            let added = new.changes().into_iter().filter_map(|change| match change {
                LedgerChange::Add(movement) => Some(movement),
                LedgerChange::Remove { .. } => None,
            });
            taken.lock().unwrap().extend(added);
            Ok(())
        }
    };
    let handler_schedule = Schedule::new([], 0);
    let poller = with_handler(
        &bank,
        [PolledAccount::new(id(A))],
        handler,
        options.handler_schedule(handler_schedule),
    );
    run_for(&poller, seconds(1)).await;
    let all = all.lock().unwrap().clone();
    (all, poller)
}

const BOOKED: &str = "<Sts>BOOK</Sts>";

#[tokio::test(start_paused = true)]
async fn a_movement_says_account_amount_with_its_sign_days_party_and_text() {
    let entries = [
        entry(" Ccy='AUD'>12.50", "CRDT", BOOKED, "1"),
        entry(" Ccy='USD'>7.00", "DBIT", BOOKED, "2"),
        entry(" Ccy='AUD'>0.00", "DBIT", BOOKED, "3"),
    ];
    let (movements, _) = movements(&entries, PollerOptions::new()).await;
    let said: Vec<_> = movements.iter().map(|one| one.amount.to_string()).collect();
    assert_eq!(said, ["12.50 AUD", "-7.00 USD", "0.00 AUD"]);
    let party: Vec<_> = movements
        .iter()
        .map(|one| one.counterparty.as_deref().unwrap())
        .collect();
    assert_eq!(party, ["Jo Payer", "Al Payee", "Al Payee"]);
    let day = |text: &str| Some(Date::parse(text).unwrap());
    for one in &movements {
        assert_eq!(
            (
                &one.account,
                one.status.as_str().unwrap_or_default(),
                one.text.as_str()
            ),
            (&id(A), "BOOK", "rent")
        );
        assert_eq!(
            (one.booked_on, one.value_on),
            (day("2026-11-21"), day("2026-11-23"))
        );
    }
    let shown = format!("{movements:?}");
    assert!(
        shown.contains("Movement { status: ") && !shown.contains("Payer"),
        "{shown}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_movement_has_its_references_by_type() {
    let refs = "<Refs><EndToEndId>INV-1</EndToEndId><MndtId>M-1</MndtId><Prtry><Tp>own</Tp><Ref>P-1</Ref>\
        </Prtry></Refs>";
    let with = entry(" Ccy='AUD'>12.50", "CRDT", BOOKED, "S-1").replace("<Refs/>", refs);
    let returned = entry(" Ccy='AUD'>1.00", "DBIT", BOOKED, "S-2").replace(
        "</RmtInf>",
        "</RmtInf><RtrInf><Rsn><Cd>MS03</Cd></Rsn></RtrInf>",
    );
    let (movements, _) = movements(&[with, returned], PollerOptions::new()).await;
    let [paid, back] = movements.as_slice() else {
        panic!("{movements:?}")
    };
    assert_eq!(paid.end_to_end_id(), Some("INV-1"));
    assert_eq!(paid.reference("AcctSvcrRef"), Some("S-1"));
    assert_eq!(paid.reference("MndtId"), Some("M-1"));
    assert_eq!(paid.reference("own"), Some("P-1"));
    assert_eq!(paid.references.len(), 4);
    assert_eq!(
        (back.end_to_end_id(), back.reference("MndtId")),
        (None, None)
    );
    assert_eq!(
        back.counterparty.as_deref(),
        Some("Jo Payer"),
        "the one who returned it"
    );
    assert_eq!(back.text, "rent\nMS03");
}

#[tokio::test(start_paused = true)]
async fn what_is_not_booked_is_handed_over_if_asked_for() {
    let of = |status: &str, reference| entry(" Ccy='AUD'>1.00", "CRDT", status, reference);
    let entries = [
        of("<Sts>PDNG</Sts>", "1"),
        of("<Sts>INFO</Sts>", "2"),
        of("<Sts>FUTR</Sts>", "3"),
        of(BOOKED, "1"),
    ];
    let statuses = |movements: &[Movement]| {
        movements
            .iter()
            .map(|one| one.status.to_string())
            .collect::<Vec<_>>()
    };
    let (booked, _) = movements(&entries, PollerOptions::new()).await;
    assert_eq!(statuses(&booked), ["BOOK"]);
    let (all, _) = movements(&entries, PollerOptions::new().unbooked(true)).await;
    assert_eq!(statuses(&all), ["PDNG", "INFO", "FUTR", "BOOK"]);
    let different: HashSet<_> = all.iter().map(|one| one.id).collect();
    assert_eq!(
        different.len(),
        4,
        "pending and booked are two, whatever the reference"
    );
}

#[tokio::test(start_paused = true)]
async fn a_pending_entry_that_is_booked_is_handed_over_when_it_is() {
    let bank = Bank::new(&[(A, &[&[1]])]);
    let list = |status: &str| {
        let entries = entry(" Ccy='AUD'>5.00", "DBIT", status, "R");
        bank.with(|table| table.entries = Some(entries));
    };
    list("<Sts>PDNG</Sts>");
    let (poller, handed) = poller(&bank, [PolledAccount::new(id(A))]);
    run_for(&poller, seconds(700)).await;
    assert!(handed.amounts(A).is_empty());
    list(BOOKED);
    run_for(&poller, seconds(1_300)).await;
    assert_eq!(handed.amounts(A), ["5.00"]);
}

#[tokio::test(start_paused = true)]
async fn a_bad_direction_or_currency_costs_its_entry_alone_and_is_said() {
    let right = entry(" Ccy='AUD'>1.00", "CRDT", BOOKED, "1");
    let last = entry(" Ccy='AUD'>3.00", "CRDT", BOOKED, "3");
    let currency = "expected the code of a currency in Amt or Acct";
    for (wrong, said) in [
        (
            entry(" Ccy='AUD'>2.00", "WHAT", BOOKED, "2"),
            "expected CRDT or DBIT in CdtDbtInd",
        ),
        (entry(">2.00", "CRDT", BOOKED, "2"), currency),
        (entry(" Ccy='aud'>2.00", "CRDT", BOOKED, "2"), currency),
        (entry(" Ccy='XXXX'>2.00", "CRDT", BOOKED, "2"), currency),
    ] {
        let bank = Bank::new(&[(A, &[&[1]])]);
        bank.with(|table| table.entries = Some([&*right, &*wrong, &*last].concat()));
        let all = Arc::new(std::sync::Mutex::new(Vec::new()));
        let taken = all.clone();
        let handler = move |new: NewEntries| {
            taken.lock().unwrap().push(new);
            async { Ok(()) }
        };
        let poller = with_handler(
            &bank,
            [PolledAccount::new(id(A))],
            handler,
            PollerOptions::new(),
        );
        run_for(&poller, seconds(1_300)).await;
        assert_eq!(poller.check(), Ok(()));
        let mut all = all.lock().unwrap();
        let [new] = &mut all[..] else {
            panic!("said once")
        };
        let amounts: Vec<String> = new
            .changes()
            .into_iter()
            .map(|change| match change {
                LedgerChange::Add(movement) => movement.amount.to_string(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(amounts, ["1.00 AUD", "3.00 AUD"]);
        assert_eq!(
            new.notices,
            [AccountNotice::Unbookable {
                id: new.entries[1].id
            }]
        );
        let [why] = &new.unbookable()[..] else {
            panic!("one entry")
        };
        assert!(why.to_string().ends_with(said), "{why}");
        // A handler that wants all or nothing stops its account, with the reason in the log.
        let error = PollError::Handler {
            times: 1,
            source: Box::new(*why),
        };
        assert!(error.advice().ends_with(said));
        // The row that it would replace stays, so that no money is missing.
        new.entries[1].relation = EntryRelation::Replaces(new.entries[0].id);
        let removed = |change: &LedgerChange| matches!(change, LedgerChange::Remove { .. });
        assert!(!new.changes().iter().any(removed));
    }
}

#[tokio::test(start_paused = true)]
async fn a_foreign_currency_another_account_and_a_date_far_off_are_said_once_each() {
    let bank = Bank::new(&[(A, &[&[1]])]);
    let usd = entry(" Ccy='USD'>7.00", "CRDT", BOOKED, "1");
    let aud = entry(" Ccy='AUD'>8.00", "CRDT", BOOKED, "2");
    bank.with(|table| {
        table.entries = Some([usd, aud].concat());
        table.currency = "<Ccy>AUD</Ccy>";
        table.zone = Some(|_| 10);
        table.ahead = seconds(0);
    });
    let notices = Arc::new(std::sync::Mutex::new(Vec::new()));
    let noted = notices.clone();
    let handler = move |new: NewEntries| {
        noted.lock().unwrap().extend(new.notices.clone());
        async { Ok(()) }
    };
    let poller = with_handler(
        &bank,
        [PolledAccount::new(id(A))],
        handler,
        PollerOptions::new(),
    );
    let kinds = || -> Vec<&str> {
        let taken = std::mem::take(&mut *notices.lock().unwrap());
        taken.iter().map(AccountNotice::kind).collect()
    };
    run_for(&poller, seconds(1_300)).await;
    assert_eq!(kinds(), ["foreign_currency"]);
    // Without a zone its reports are of one moment, and after more than a week that is far off.
    for (days, expected) in [(6, vec![]), (3, vec!["dated_far_off"]), (0, vec![])] {
        bank.with(|table| {
            table.zone = None;
            table.ahead += seconds(days * 86_400);
        });
        run_for(&poller, seconds(1_300)).await;
        let found = kinds();
        let found: Vec<&str> = found
            .into_iter()
            .filter(|kind| *kind != "day_incomplete")
            .collect();
        assert_eq!(found, expected, "{days}");
    }
    bank.with(|table| table.other_account = true);
    run_for(&poller, seconds(1_300)).await;
    assert_eq!(kinds(), ["other_account"]);
    bank.with(|table| table.other_account = false);
    run_for(&poller, seconds(1_300)).await;
    bank.with(|table| table.other_account = true);
    run_for(&poller, seconds(1_300)).await;
    assert_eq!(kinds(), ["other_account"], "said again");
    assert!(poller.status()[0].stopped_since.is_none());
}

#[tokio::test(start_paused = true)]
async fn of_an_account_that_is_there_twice_the_last_one_counts() {
    let bank = Bank::new(&[(A, &[&[1]]), (B, &[&[2]])]);
    let accounts = [
        PolledAccount::new(id(A)).label("first"),
        PolledAccount::new(id(B)),
        PolledAccount::new(id(A)),
    ];
    let (poller, handed) = poller(&bank, accounts);
    let labels: Vec<_> = poller
        .status()
        .into_iter()
        .map(|status| (status.account, status.label))
        .collect();
    assert_eq!(labels, [(id(B), "1".to_owned()), (id(A), "2".to_owned())]);
    poller.run_due().await;
    assert_eq!(
        (handed.amounts(A), handed.amounts(B)),
        (vec!["1".to_owned()], vec!["2".to_owned()])
    );
}
