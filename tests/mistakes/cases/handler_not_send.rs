//! A handler holds what must stay on one thread while it waits.
//! says: future returned by `keep` is not `Send`
use bankrail::client::receivers::{Delivery, HandlerError, Handlers};
use bankrail::webhook::Message;
use std::future::ready;
use std::rc::Rc;

async fn keep(received: Delivery<Message>) -> Result<(), HandlerError> {
    let shared = Rc::new(received);
    ready(()).await;
    drop(shared);
    Ok(())
}

fn handlers() -> Handlers {
    Handlers::new().on_any(keep)
}

fn main() {}
