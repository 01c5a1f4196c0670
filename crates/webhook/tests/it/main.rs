//! Public-API tests.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "tests say what they expect"
)]

mod checksums;
mod findings;
mod headers;
mod history;
mod hostile;
mod keys;
mod messages;
mod outgoing;
mod schema;
mod sender;
mod stdnum;
mod traits;
mod validate;
mod wire_names;
