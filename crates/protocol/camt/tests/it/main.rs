//! The messages of the family in all their versions, as a user of the crate sees them.

// Helpers of tests panic on unexpected results like the tests themselves.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod agreement;
mod archive;
mod around;
mod codes;
mod documents;
mod family;
mod foreign;
mod forms;
mod pages;
mod reading;
mod schemas;
mod sizes;
mod to_version;
#[allow(dead_code)]
#[path = "../../../camt052/tests/it/tree.rs"]
mod tree;
mod validators;
mod versions;
