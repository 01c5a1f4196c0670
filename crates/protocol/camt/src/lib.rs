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
mod any;
#[cfg(feature = "archive")]
mod archive;
#[cfg(feature = "codes")]
mod codes;
mod model;
pub mod notification;
mod pages;
pub mod report;
mod rules;
pub mod statement;

pub use access::{EntryLine, RunningSummary, summary_of, summary_of_amounts};
pub use any::{AnyDocument, AnyReader};
#[cfg(feature = "archive")]
pub use archive::{Archive, ArchiveError, ArchiveLimits, Member};
pub use bankrail_iso20022::*;
pub use model::*;
pub use pages::{MergeError, MergeErrorKind, MergedPages, merge_pages};
pub use rules::{CountedEntries, Disagreement};
