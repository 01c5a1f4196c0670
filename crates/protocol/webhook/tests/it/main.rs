//! Public-API tests.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "tests say what they expect"
)]

mod agreement;
mod aliases;
mod checksums;
mod clauses;
mod findings;
mod followed;
mod headers;
mod history;
mod hostile;
mod keys;
mod members;
mod messages;
mod open;
mod outgoing;
mod rows;
mod schema;
mod sender;
mod stdnum;
mod stored;
mod traits;
mod validate;
mod wire_names;
