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

mod build;
mod message;

pub use bankrail_camt::*;
pub use build::{
    BuildError, CreationTime, EntryBuilder, ReportBuilder, ReportIds, WrittenEntry, WrittenReport,
};
pub use message::{Document, EntryReader, Parsed, Report, StreamItem};

/// The namespace of the message.
pub const NAMESPACE: &str = "urn:iso:std:iso:20022:tech:xsd:camt.052.001.06";
