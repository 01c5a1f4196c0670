#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

/// Why the store itself made an entry a dead letter.
#[cfg(all(feature = "mailbox", any(feature = "sqlite", feature = "postgres", feature = "redis")))]
const UNREADABLE: &str = "the stored entry is unreadable";

/// How many entries one look at an inbox makes ready at most: of many that come due at once, later looks see to the
/// rest.
#[cfg(all(feature = "mailbox", any(feature = "sqlite", feature = "postgres")))]
const MOST_WOKEN: u32 = 1000;

#[cfg(feature = "memory")]
pub mod memory;
#[cfg(all(feature = "postgres", feature = "mailbox"))]
pub mod postgres;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(feature = "sqlite")]
pub mod sqlite;
