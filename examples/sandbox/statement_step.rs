//! Step 2: a statement of every test account.

use crate::accounts::{ACCOUNTS, TestAccount, UNKNOWN_ACCOUNT};
use crate::tour::{Sandbox, expect};
use bankrail::camt052::{Direction, Document};
use bankrail::client::{StatementError, StatementPage};
use bankrail::statement::{AccountId, MaxEntries, SeenEntries, StatementRequest, find_new};
use bankrail::stores::sqlite::SqliteStore;
use bankrail::values::{Currency, Decimal};
use bankrail_examples::print_document;
use std::error::Error;

/// The entries of a page of the account that shows paging.
const PAGE: u16 = 3;

/// Fetches all statements, and returns how many calls that took.
pub(crate) async fn run(sandbox: &Sandbox) -> Result<u32, Box<dyn Error>> {
    let mut calls = 0;
    let imported = SqliteStore::open_in_memory()?;
    for account in &ACCOUNTS {
        calls += one_account(sandbox, account, &imported).await?;
    }
    calls += without_narrative(sandbox).await?;

    println!("\nasked          accountId {UNKNOWN_ACCOUNT}");
    let request = StatementRequest::new(&AccountId::parse(UNKNOWN_ACCOUNT)?);
    match sandbox.client.statements().page(&request).await {
        Err(StatementError::Service { status, code: Some(code), title, request_key: Some(request_key), .. }) => {
            expect(code.as_str() == "EC20001", "the code EC20001")?;
            println!("answered       {status} {code}: {}", title.unwrap_or_default());
            println!("requestKey     {request_key}");
        }
        other => return Err(format!("expected EC20001, found {other:?}").into()),
    }
    calls += 1;

    let reserved = StatementRequest::new(&AccountId::parse("999001111111111")?);
    match sandbox.client.statements().page(&reserved).await {
        Err(error @ StatementError::ReservedAccount { .. }) => println!("\nnot asked      {error}"),
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
    let account_id = AccountId::parse(account.id)?;
    let mut request = StatementRequest::new(&account_id);
    request.include_narrative = Some(true);
    if account.entries.len() > usize::from(PAGE) {
        request.max_entries = MaxEntries::new(PAGE);
    }
    println!("\n{} ({})", account.shows, account.currency);
    let mut pages = sandbox.client.statements().pages(request);
    let (mut calls, mut entries) = (0, 0);
    while let Some(page) = pages.next().await? {
        let new = find_new(imported, &account_id, page.seen_entries()).await?;
        expect(new.iter().all(|new| *new), "entries that were not imported before")?;
        // A real program imports the new entries here, best within `TransactionalSeenEntries::record_with`.
        imported.record(&account_id, page.seen_entries(), None).await?;
        let again = find_new(imported, &account_id, page.seen_entries()).await?;
        expect(!again.contains(&true), "no new entry in a page that was imported")?;
        let page = page.stored()?;
        calls += 1;
        println!("  request key {}, page {calls}", page.request_key());
        print_document(&page.document, &mut std::io::stdout().lock())?;
        check_page(account, &page)?;
        entries += page_entries(&page.document);
    }
    expect(entries == account.entries.len(), "every entry once")?;
    let several = account.entries.len() > usize::from(PAGE);
    expect(several == (calls > 1), "several pages exactly for the long account")?;
    Ok(calls)
}

fn check_page(account: &TestAccount, page: &StatementPage) -> Result<(), Box<dyn Error>> {
    expect(page.received.findings.is_empty() && page.document_findings.is_empty(), "no findings")?;
    expect(page.received.account_id == account.id, "the account asked for")?;
    expect(page.received.sort_order.is_some() == account.has_virtual_accounts, "sortOrder for virtual accounts only")?;
    let [report] = page.document.reports.as_slice() else { return Err("expected one report".into()) };
    let [balance] = report.balances.as_slice() else { return Err("expected one balance".into()) };
    let sign = if balance.direction == Direction::Debit { -Decimal::ONE } else { Decimal::ONE };
    let money = balance.amount.to_money().ok_or("expected a currency")?;
    let currency = Currency::parse(account.currency)?;
    expect(money.currency() == currency, "the account's currency")?;
    expect(money.amount() * sign == account.balance()?, "the balance of opening and entries")?;
    let decimals = currency.minor_units().map(u32::from);
    let amounts = report.entries.iter().filter_map(|entry| entry.amount.to_money()).chain([money]);
    expect(amounts.into_iter().all(|amount| Some(amount.amount().scale()) == decimals), "the currency's own decimals")
}

/// Fetches statements without narrative: fast payments have no parties and no text, ordinary entries keep their memo.
async fn without_narrative(sandbox: &Sandbox) -> Result<u32, Box<dyn Error>> {
    let mut calls = 0;
    for account in ACCOUNTS.iter().filter(|account| ["999001400100101", "999042700100109"].contains(&account.id)) {
        let mut request = StatementRequest::new(&AccountId::parse(account.id)?);
        request.include_narrative = Some(false);
        println!("\n{} ({}), includeNarrative false", account.shows, account.currency);
        let page = sandbox.client.statements().page(&request).await?;
        calls += 1;
        print_document(&page.document, &mut std::io::stdout().lock())?;
        let report = page.document.reports.first().ok_or("expected a report")?;
        for (entry, booked) in report.entries.iter().zip(account.entries) {
            let parties = entry.transactions().any(|transaction| transaction.parties.is_some());
            expect(!parties, "no related parties")?;
            let narrative = if booked.is_fast() { "" } else { booked.narrative };
            expect(entry.narrative() == narrative, "the memo of ordinary entries and no other narrative")?;
        }
    }
    Ok(calls)
}

fn page_entries(document: &Document) -> usize {
    document.reports.iter().map(|report| report.entries.len()).sum()
}
