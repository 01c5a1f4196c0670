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

mod message;

pub use bankrail_camt::notification::{Document, Notification, StreamItem};
pub use bankrail_camt::*;
pub use message::{EntryReader, Parsed};

/// The namespace of version 06, which is written by default.
pub const NAMESPACE: &str = "urn:iso:std:iso:20022:tech:xsd:camt.054.001.06";
