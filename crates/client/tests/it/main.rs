//! The public API against a scripted service on loopback.

mod config;
mod pages;
mod provider;
mod receivers;
mod statements;
mod tokens;
mod worker;
