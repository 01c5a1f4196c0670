//! A setter is called as if it changed the options in place.
//! says: a setter returns the options as they are with it
#![deny(unused_must_use)]
use bankrail::client::{ClientOptions, PollerOptions};
use std::time::Duration;

fn options() -> (ClientOptions, Duration) {
    let timeout = Duration::from_secs(5);
    PollerOptions::new().handler_timeout(timeout);
    (ClientOptions::new(), timeout)
}

fn main() {}
