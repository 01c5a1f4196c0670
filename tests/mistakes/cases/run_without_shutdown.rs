//! A poller runs for ever.
//! says: provide the argument
use bankrail::client::Poller;

async fn poll(poller: &Poller) {
    poller.run().await;
}

fn main() {}
