//! The stores on real servers, each started by its test. `BANKRAIL_REDIS_SERVER` and
//! `BANKRAIL_VALKEY_SERVER` name the programs.

mod cluster;
mod faults;
mod inbox;
mod proxy;
mod same_answers;
mod server;
mod store;
mod together;

#[cfg(feature = "webhook")]
pub(crate) use server::{SERVERS, Server};
