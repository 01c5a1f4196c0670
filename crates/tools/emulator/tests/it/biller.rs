//! A biller, tested in the way in which a user would: statements imported once, payments handled
//! once.

use bankrail_client::receivers::{
    Delivery, HandlerError, Handlers, Receivers, ReceiversOptions, WorkerOptions,
};
use bankrail_client::{NewEntries, PolledAccount, Poller, PollerOptions};
use bankrail_emulator::{Endpoint, FakeBank, FakeBooking, Fault};
use bankrail_stores::memory::MemoryStore;
use bankrail_webhook::PaymentOutcome;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Said = Arc<Mutex<Vec<String>>>;

#[tokio::test]
async fn a_biller_is_tested_in_a_few_lines() -> Result<(), Box<dyn Error>> {
    let (bank, store, imported) = (
        FakeBank::start().await,
        Arc::new(MemoryStore::new()),
        Said::default(),
    );
    let (account, import) = (bank.account(), imported.clone());
    let handler = move |new: NewEntries| {
        new.entries
            .iter()
            .for_each(|new| import.lock().unwrap().push(new.entry.narrative()));
        async { Ok(()) }
    };
    let accounts = [PolledAccount::new(account.clone())];
    let poller = Poller::new(
        bank.client().statements(),
        store.clone(),
        accounts,
        handler,
        PollerOptions::new(),
    );
    // Two payments that cannot be distinguished are imported as two, and no poll imports one twice.
    let dues = FakeBooking::new("10.00 AUD")
        .narrative("dues")
        .without_reference();
    bank.book(&account, &dues);
    bank.book(&account, &dues);
    poller.run_due().await;
    bank.book(
        &account,
        &FakeBooking::new("25.00 AUD")
            .narrative("rent")
            .listed_first(),
    );
    bank.fail(Endpoint::Statement, Fault::HalfBody);
    for (advanced, expected) in [
        (600, &["dues", "dues"][..]),
        (60, &["dues", "dues", "rent"]),
    ] {
        bank.clock().advance(Duration::from_secs(advanced));
        poller.run_due().await;
        assert_eq!(*imported.lock().unwrap(), expected);
    }

    // A payment that is delivered twice and out of order is handled once for each status.
    let handled = Said::default();
    let seen = handled.clone();
    let handlers = Handlers::new().on(move |received: Delivery<PaymentOutcome>| {
        seen.lock()
            .unwrap()
            .push(received.message.transaction_status.to_string());
        async { Ok::<(), HandlerError>(()) }
    });
    let options = ReceiversOptions::new().clock(bank.clock());
    let receivers = Receivers::new(
        bank.opener(),
        FakeBank::RECEIVER_API_KEY,
        Arc::new(store.inbox()),
        options,
    )?;
    bank.serve(receivers.router()).await;
    let mut payment = bank.payment();
    let delayed = payment.delayed();
    let settled = payment.settled();
    bank.deliver(settled.clone()).await;
    bank.deliver_again(&settled).await;
    bank.deliver(delayed).await;
    receivers
        .worker(handlers, WorkerOptions::new())
        .run_due()
        .await?;
    handled.lock().unwrap().sort();
    assert_eq!(*handled.lock().unwrap(), ["ACSC", "ACSP"]);
    Ok(())
}
