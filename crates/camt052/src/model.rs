//! The model: every type of the schema, stated once.
//!
//! One module per area of the message. The types are also at the root of the crate.

pub(crate) mod account;
pub(crate) mod agent;
pub(crate) mod amount;
pub(crate) mod balance;
pub(crate) mod bank_transaction_code;
pub(crate) mod card;
pub(crate) mod charges;
pub(crate) mod document_line;
pub(crate) mod entry;
pub(crate) mod envelope;
pub(crate) mod garnishment;
pub(crate) mod instrument;
pub(crate) mod interest;
pub(crate) mod message;
pub(crate) mod party;
pub(crate) mod period;
pub(crate) mod point_of_interaction;
pub(crate) mod remittance;
pub(crate) mod summary;
pub(crate) mod tax;
pub(crate) mod transaction;

pub use account::*;
pub use agent::*;
pub use amount::*;
pub use balance::*;
pub use bank_transaction_code::*;
pub use card::*;
pub use charges::*;
pub use document_line::*;
pub use entry::*;
pub use envelope::*;
pub use garnishment::*;
pub use instrument::*;
pub use interest::*;
pub use message::*;
pub use party::*;
pub use period::*;
pub use point_of_interaction::*;
pub use remittance::*;
pub use summary::*;
pub use tax::*;
pub use transaction::*;

/// The element below `Document`.
pub(crate) const ROOT: &str = "BkToCstmrAcctRpt";
