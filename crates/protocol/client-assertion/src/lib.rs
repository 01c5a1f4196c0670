#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        clippy::iter_over_hash_type
    )
)]

mod audience;
mod build;
mod claims;
mod customer;
mod error;
mod explain;
mod options;
mod replay;
#[cfg(feature = "testing")]
pub mod testing;
pub mod token;
mod verify;

pub use audience::Audience;
pub use build::{AssertionBuildError, AssertionBuilder};
pub use claims::{MAX_LIFETIME, is_lifetime};
pub use customer::CustomerCode;
pub use error::AssertionError;
pub use explain::JudgedRule;
pub use options::{AssertionOptions, JwtId, TypRule, VerifierOptions};
pub use replay::{KEPT_CLAIMS, ReplayKey, ReplayPolicy, ReplayStore};
pub use verify::{Unverified, VerifiedAssertion, Verifier};

/// The maximum number of bytes of a `jti`.
pub(crate) const MAX_JWT_ID: usize = 256;
