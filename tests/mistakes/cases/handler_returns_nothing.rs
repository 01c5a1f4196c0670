//! A handler that has no error of its own returns nothing.
//! says: end it with `Ok(())`
use bankrail::client::receivers::{Delivery, Handlers};
use bankrail::webhook::Message;

async fn tell(received: Delivery<Message>) {
    println!("{}", received.id);
}

fn handlers() -> Handlers {
    Handlers::new().on_any(tell)
}

fn main() {}
