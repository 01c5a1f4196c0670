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

mod access;
mod model;
mod rules;

pub use access::{EntryLine, RunningSummary, summary_of, summary_of_amounts};
pub use bankrail_iso20022::*;
pub use model::*;
pub use rules::{CountedEntries, Disagreement};

/// For the crates of messages only. It changes without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::access::balances::{balance, closing, opening, running};
    pub use crate::rules::compare_sums;
    pub use bankrail_iso20022::__private::Watch;
    pub use bankrail_values::Decimal;
}
