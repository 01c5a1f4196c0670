//! The public interface, as a user of the crate sees it.

// Helpers of tests panic on unexpected results like the tests themselves.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod access;
mod any_value;
mod both_readers;
mod checking;
mod damaged;
mod entries;
mod findings;
mod hostile;
mod invented;
mod lossless;
mod mutate;
mod payload_table;
mod pyiso20022;
mod quoting;
mod reading;
mod reports;
mod respell;
mod round_trips;
mod samples;
mod schema_agreement;
mod shared;
mod simple_types;
mod standards;
mod stated_schema;
mod stated_types;
mod statements;
mod streaming;
mod tree;
mod types;
mod unreadable;
#[path = "../../../camt/tests/it/validators.rs"]
mod validators;
mod writing;
mod written;
