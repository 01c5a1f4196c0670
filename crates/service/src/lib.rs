//! The provider's side over HTTP: token endpoint, statement endpoint, webhook delivery

#![forbid(unsafe_code)]

mod answer;
mod api_key;
mod body;
mod cursor;
pub mod delivery;
mod directory;
mod fallback;
mod ledger;
pub mod limit;
mod provider;
mod statement_endpoint;
mod token_endpoint;

pub use api_key::ApiKeyHash;
pub use cursor::{CursorSecret, CursorSecretError};
pub use directory::{Customer, Directory};
pub use ledger::{AccountFacts, Ledger, LedgerEntry, LedgerPage, StatementQuery};
pub use provider::{BuildError, Provider, ProviderBuilder};
