//! The public API against a scripted service on loopback.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod archive;
mod authority;
mod config;
mod conflicts;
#[cfg(feature = "connection")]
mod connection;
mod exchange_logs;
mod faulty;
#[cfg(feature = "jwks-url")]
mod jwks_url;
mod kept_tokens;
mod keys;
mod leaks;
mod log;
#[cfg(feature = "metrics")]
mod metrics;
mod nginx;
mod observer;
mod outages;
mod outcomes;
mod pacer;
mod pages;
mod poller;
mod poller_logs;
mod probe;
mod provider;
mod proxy;
mod receivers;
mod remote;
mod sockets;
mod statements;
mod tokens;
mod transactional;
mod waits;
mod ways;
mod words;
mod worker;
