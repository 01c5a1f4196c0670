//! A handler of every kind of message is given to the method for one kind.
//! says: a handler of every kind goes to `Handlers::on_any`
//! says: one of conflicts to `Handlers::on_conflict`
use bankrail::client::receivers::{Delivery, HandlerError, Handlers};
use bankrail::webhook::Message;

async fn keep(_: Delivery<Message>) -> Result<(), HandlerError> {
    Ok(())
}

fn handlers() -> Handlers {
    Handlers::new().on(keep)
}

fn main() {}
