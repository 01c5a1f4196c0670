#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        clippy::iter_over_hash_type
    )
)]

#[cfg(not(any(feature = "aws-lc", feature = "josekit")))]
compile_error!(
    "bankrail-service needs an RSA back end: switch on its feature `aws-lc` or `josekit`"
);

#[cfg(feature = "endpoints")]
mod answer;
#[cfg(feature = "endpoints")]
mod api_key;
#[cfg(feature = "endpoints")]
pub mod audit;
#[cfg(feature = "endpoints")]
mod cursor;
#[cfg(feature = "delivery")]
pub mod delivery;
#[cfg(feature = "endpoints")]
mod directory;
#[cfg(feature = "endpoints")]
mod discovery;
#[cfg(feature = "endpoints")]
mod endpoint;
#[cfg(feature = "endpoints")]
mod failure;
#[cfg(feature = "endpoints")]
mod issuer;
#[cfg(feature = "endpoints")]
mod ledger;
mod measure;
#[cfg(feature = "endpoints")]
mod openapi;
#[cfg(feature = "endpoints")]
mod options;
#[cfg(feature = "endpoints")]
mod outcome;
#[cfg(feature = "endpoints")]
mod provider;
#[cfg(feature = "endpoints")]
mod refusal;
#[cfg(feature = "endpoints")]
mod report_day;
#[cfg(feature = "endpoints")]
mod shared;
#[cfg(feature = "endpoints")]
mod statement_endpoint;
#[cfg(feature = "testing")]
#[allow(
    clippy::indexing_slicing,
    reason = "a suite says what it expects by panicking"
)]
pub mod testing;
#[cfg(feature = "endpoints")]
mod time_zone;
#[cfg(feature = "endpoints")]
mod token_endpoint;

#[cfg(feature = "endpoints")]
pub use api_key::ApiKeyHash;
/// The crate of the routers, with the statuses of `http`.
#[cfg(feature = "endpoints")]
pub use axum;
#[cfg(feature = "endpoints")]
pub use bankrail_http::{SecretError, SecretFileError};
#[cfg(feature = "endpoints")]
pub use cursor::CursorSecret;
#[cfg(feature = "endpoints")]
pub use directory::{Customer, Directory};
#[cfg(feature = "endpoints")]
pub use failure::StatementFailure;
#[cfg(feature = "endpoints")]
pub use ledger::{
    Ledger, LedgerAnswer, LedgerEntry, LedgerPage, PageEntry, RegisteredAccount, StatementQuery,
};
#[cfg(feature = "endpoints")]
pub use options::{ProviderOptions, ProviderOptionsError, TokenErrorStyle};
#[cfg(feature = "endpoints")]
pub use outcome::{CallOutcome, CallRefusal};
#[cfg(feature = "endpoints")]
pub use provider::Provider;
#[cfg(feature = "endpoints")]
pub use report_day::{BookingDayError, BookingDayPolicy, ReportDay};
