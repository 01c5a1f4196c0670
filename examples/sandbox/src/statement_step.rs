//! Step 2: a statement of every test account.

use crate::bank::{balance_of, entries};
use crate::report::print_document;
use crate::tour::{Sandbox, expect};
use bankrail::camt052::{Direction, Document};
use bankrail::client::{CallError, CallErrorKind, StatementPage};
use bankrail::statement::{
    AccountId, AccountKind, EntryChannel, MaxEntries, Recorded, SeenEntries, StatementRequest,
    find_new,
};
use bankrail::stores::sqlite::{SqliteOptions, SqliteStore};
use bankrail::values::{Clock as _, Date, Decimal};
use bankrail_emulator::TestAccount;
use std::error::Error;

/// The entries of a page of the account that shows paging.
const PAGE: u16 = 3;

/// Fetches all statements, and returns the number of calls.
pub(crate) async fn run(sandbox: &Sandbox) -> Result<u32, Box<dyn Error>> {
    let mut calls = 0;
    let imported = SqliteStore::open_in_memory(SqliteOptions::new())?;
    for account in TestAccount::ALL {
        calls += one_account(sandbox, account, &imported).await?;
    }
    calls += without_narrative(sandbox).await?;

    println!("\nasked          accountId {}", TestAccount::UNKNOWN);
    let request = StatementRequest::new(&AccountId::parse(TestAccount::UNKNOWN)?);
    match sandbox.client.statements().page(&request).await {
        Err(CallError {
            reason: CallErrorKind::Service { title, .. },
            status: Some(status),
            code: Some(code),
            request_key: Some(request_key),
            ..
        }) => {
            expect(&*code == "EC20001", "the code EC20001")?;
            println!(
                "answered       {status} {code}: {}",
                title.unwrap_or_default()
            );
            println!("requestKey     {request_key}");
        }
        other => return Err(format!("expected EC20001, found {other:?}").into()),
    }
    calls += 1;

    let reserved = StatementRequest::new(&AccountId::parse("999001111111111")?);
    match sandbox.client.statements().page(&reserved).await {
        Err(error) if matches!(error.reason, CallErrorKind::ReservedAccount { .. }) => {
            println!("\nnot asked      {error}")
        }
        other => return Err(format!("expected the client's own refusal, found {other:?}").into()),
    }
    Ok(calls)
}

/// Walks through an account's statement and imports each entry once.
async fn one_account(
    sandbox: &Sandbox,
    account: &TestAccount,
    imported: &impl SeenEntries,
) -> Result<u32, Box<dyn Error>> {
    let (account_id, today) = (account.id(), sandbox.clock.now().date());
    let booked = entries(account, today)?.len();
    let mut request = StatementRequest::new(&account_id);
    request.include_narrative = Some(true);
    if booked > usize::from(PAGE) {
        request.max_entries = MaxEntries::new(PAGE);
    }
    println!("\n{} ({})", account.shows(), account.opening().currency());
    let mut pages = sandbox.client.statements().pages(request);
    let (mut calls, mut found) = (0, 0);
    while let Some(page) = pages.next().await? {
        let new = find_new(imported, &account_id, page.seen_entries()).await?;
        expect(
            new.iter().all(|new| *new),
            "entries that were not imported before",
        )?;
        // A real program imports the new entries here, best within
        // `TransactionalSeenEntries::record_with`.
        let recorded = imported
            .record(&account_id, page.seen_entries(), None)
            .await?;
        expect(
            matches!(recorded, Recorded::Committed),
            "no other process with this account",
        )?;
        let again = find_new(imported, &account_id, page.seen_entries()).await?;
        expect(
            !again.contains(&true),
            "no new entry in a page that was imported",
        )?;
        let page = page.stored()?;
        calls += 1;
        println!("  request key {}, page {calls}", page.request_key());
        print_document(&page.document, &mut std::io::stdout().lock())?;
        check_page(account, today, &page)?;
        found += page_entries(&page.document);
    }
    expect(found == booked, "every entry once")?;
    let several = booked > usize::from(PAGE);
    expect(
        several == (calls > 1),
        "several pages exactly for the long account",
    )?;
    Ok(calls)
}

fn check_page(
    account: &TestAccount,
    today: Date,
    page: &StatementPage,
) -> Result<(), Box<dyn Error>> {
    expect(
        page.received.findings.is_empty() && page.document_findings.is_empty(),
        "no findings",
    )?;
    expect(
        page.received.account_id == account.id().as_str(),
        "the account asked for",
    )?;
    let registered = account.registered();
    let has_virtual_accounts = registered.kind == AccountKind::WithVirtualAccounts;
    expect(
        page.received.sort_order.is_some() == has_virtual_accounts,
        "sortOrder for virtual accounts only",
    )?;
    let [report] = page.document.reports.as_slice() else {
        return Err("expected one report".into());
    };
    let [balance] = report.balances.as_slice() else {
        return Err("expected one balance".into());
    };
    let sign = if balance.direction == Direction::Debit {
        -Decimal::ONE
    } else {
        Decimal::ONE
    };
    let money = balance.amount.to_money().ok_or("expected a currency")?;
    let currency = registered.currency;
    expect(money.currency() == currency, "the account's currency")?;
    expect(
        money.amount() * sign == balance_of(account, today)?,
        "the balance of opening and entries",
    )?;
    let decimals = currency.minor_units().map(u32::from);
    let amounts = report
        .entries
        .iter()
        .filter_map(|entry| entry.amount.to_money())
        .chain([money]);
    expect(
        amounts
            .into_iter()
            .all(|amount| Some(amount.amount().scale()) == decimals),
        "the currency's own decimals",
    )
}

/// Fetches statements without narrative: fast payments have no parties and no text, ordinary
/// entries keep their memo.
async fn without_narrative(sandbox: &Sandbox) -> Result<u32, Box<dyn Error>> {
    let mut calls = 0;
    for id in ["999001400100101", "999042700100109"] {
        let account = TestAccount::ALL
            .iter()
            .find(|account| account.id().as_str() == id)
            .ok_or("expected an account")?;
        let mut request = StatementRequest::new(&account.id());
        request.include_narrative = Some(false);
        println!(
            "\n{} ({}), includeNarrative false",
            account.shows(),
            account.opening().currency()
        );
        let page = sandbox.client.statements().page(&request).await?;
        calls += 1;
        print_document(&page.document, &mut std::io::stdout().lock())?;
        let report = page.document.reports.first().ok_or("expected a report")?;
        for (entry, booked) in report
            .entries
            .iter()
            .zip(entries(account, sandbox.clock.now().date())?)
        {
            let parties = entry
                .transactions()
                .any(|transaction| transaction.parties.is_some());
            expect(!parties, "no related parties")?;
            let is_fast = booked.channel == EntryChannel::FastPayment;
            let narrative = if is_fast {
                String::new()
            } else {
                booked.entry.narrative()
            };
            expect(
                entry.narrative() == narrative,
                "the memo of ordinary entries and no other narrative",
            )?;
        }
    }
    Ok(calls)
}

fn page_entries(document: &Document) -> usize {
    document
        .reports
        .iter()
        .map(|report| report.entries.len())
        .sum()
}
