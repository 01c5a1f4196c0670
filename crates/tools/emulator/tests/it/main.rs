//! The fake bank against the real client, receivers and sockets.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod accounts;
mod biller;
mod control;
mod faults;
mod openapi;
mod stories;
mod suites;
mod test_accounts;
mod webhooks;
