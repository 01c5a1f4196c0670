//! A biller, tested in the way in which a user would: statements imported once, payments handled once.

use bankrail_client::Client;
use bankrail_client::receivers::{Delivery, HandlerError, Handlers, Receivers, ReceiversOptions};
use bankrail_statement::{AccountId, SeenEntries, StatementRequest, find_new};
use bankrail_stores::memory::MemoryStore;
use bankrail_testing::{Booking, Endpoint, FakeBank, Fault};
use bankrail_webhook::PaymentOutcome;
use std::error::Error;
use std::sync::{Arc, Mutex};

/// The biller: imports what is new on an account, and returns the narratives.
async fn import(client: &Client, seen: &MemoryStore, account: &AccountId) -> Result<Vec<String>, Box<dyn Error>> {
    let mut imported = Vec::new();
    let mut pages = client.statements().pages(StatementRequest::new(account));
    while let Some(page) = pages.next().await? {
        let new = find_new(seen, account, page.seen_entries()).await?;
        imported.extend(page.entries().zip(new).filter(|(_, new)| *new).map(|(entry, _)| entry.narrative()));
        seen.record(account, page.seen_entries()).await?;
        page.stored()?;
    }
    Ok(imported)
}

#[tokio::test]
async fn a_biller_is_tested_in_a_few_lines() -> Result<(), Box<dyn Error>> {
    let (bank, store) = (FakeBank::start().await, MemoryStore::new());
    let (client, account) = (bank.client(), bank.account());
    // Two payments that nothing tells apart are two, and no poll imports one twice.
    let dues = Booking::new("10.00 AUD").narrative("dues").without_reference();
    bank.book(&account, &dues);
    bank.book(&account, &dues);
    assert_eq!(import(&client, &store, &account).await?, ["dues", "dues"]);
    bank.book(&account, &Booking::new("25.00 AUD").narrative("rent").listed_first());
    bank.fail(Endpoint::Statement, Fault::HalfBody);
    assert!(import(&client, &store, &account).await.is_err());
    assert_eq!(import(&client, &store, &account).await?, ["rent"]);

    // A payment that is delivered twice and out of order is handled once for each status.
    let handled = Arc::new(Mutex::new(Vec::new()));
    let seen = handled.clone();
    let handlers = Handlers::new().payment_outcome(move |received: Delivery<PaymentOutcome>| {
        seen.lock().unwrap().push(received.message.transaction_status.to_string());
        async { Ok::<(), HandlerError>(()) }
    });
    let options = ReceiversOptions::new().clock(bank.clock());
    let receivers = Receivers::new(bank.opener(), FakeBank::RECEIVER_API_KEY, Arc::new(store.inbox()), options)?;
    bank.serve(receivers.router()).await;
    let mut payment = bank.payment();
    bank.withhold(payment.delayed());
    let settled = payment.settled();
    bank.deliver(settled.clone()).await;
    bank.deliver_again(&settled).await;
    bank.release().await;
    receivers.worker(handlers).run_due().await?;
    handled.lock().unwrap().sort();
    assert_eq!(*handled.lock().unwrap(), ["ACSC", "ACSP"]);
    Ok(())
}
