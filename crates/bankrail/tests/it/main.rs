//! Tests of both sides together: the dispatcher's messages reach the receivers' inbox and handler,
//! whatever fails in between.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a case says what it expects"
)]

mod both;
mod change_log;
mod defaults;
mod faults;
mod guide_folder;
mod kills;
mod log_fields;
mod log_sources;
mod restore;
mod rings;
