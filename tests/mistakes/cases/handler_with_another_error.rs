//! A handler returns an error of a library.
//! says: the handler returns `Result<(), std::io::Error>`
//! says: `?` turns any error into the expected one
use bankrail::client::receivers::{Delivery, Handlers};
use bankrail::webhook::PaymentOutcome;
use std::io;

fn handlers() -> Handlers {
    Handlers::new().on(async |_: Delivery<PaymentOutcome>| io::Result::Ok(()))
}

fn main() {}
