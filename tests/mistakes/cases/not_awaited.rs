//! A message is enqueued, and its answer is not awaited.
//! says: consider `await`ing on the `Future`
use bankrail::mailbox::{Outbox, Outgoing};
use bankrail::values::{Clock, StoreError, SystemClock};

async fn send(outbox: &dyn Outbox, message: &Outgoing) -> Result<(), StoreError> {
    outbox.enqueue(message, SystemClock.now())?;
    Ok(())
}

fn main() {}
