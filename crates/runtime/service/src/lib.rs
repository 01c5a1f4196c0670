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

#[cfg(feature = "delivery")]
pub mod delivery;
#[cfg(feature = "endpoints")]
mod endpoints;
#[cfg(feature = "testing")]
#[allow(
    clippy::indexing_slicing,
    reason = "a suite says what it expects by panicking"
)]
pub mod testing;

/// The crate of the routers, with the statuses of `http`.
#[cfg(feature = "endpoints")]
pub use axum;
#[cfg(feature = "endpoints")]
pub use bankrail_http::{SecretError, SecretFileError};
#[cfg(feature = "endpoints")]
pub use endpoints::{
    ApiKeyHash, BookingDayError, BookingDayPolicy, CallOutcome, CallRefusal, CursorSecret,
    Customer, Directory, Ledger, LedgerAnswer, LedgerEntry, LedgerPage, PageEntry, Provider,
    ProviderOptions, ProviderOptionsError, RegisteredAccount, ReportDay, StatementFailure,
    StatementQuery, TokenErrorStyle, audit,
};
