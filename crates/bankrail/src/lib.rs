#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

// The guide is text only, so a program that is built does not contain it.
#[cfg(all(doc, feature = "full"))]
pub mod guide;

#[cfg(feature = "bank")]
pub use bankrail_bank as bank;
#[cfg(feature = "camt")]
pub use bankrail_camt as camt;
#[cfg(feature = "camt")]
pub use bankrail_camt052 as camt052;
#[cfg(feature = "camt")]
pub use bankrail_camt053 as camt053;
#[cfg(feature = "camt")]
pub use bankrail_camt054 as camt054;
#[cfg(feature = "client")]
pub use bankrail_client as client;
#[cfg(feature = "client-assertion")]
pub use bankrail_client_assertion as client_assertion;
#[cfg(feature = "http")]
pub use bankrail_http as http;
#[cfg(feature = "camt")]
pub use bankrail_iso20022 as iso20022;
#[cfg(feature = "jose")]
pub use bankrail_jose as jose;
#[cfg(feature = "webhook")]
pub use bankrail_mailbox as mailbox;
#[cfg(feature = "rate-limit")]
pub use bankrail_rate_limit as rate_limit;
#[cfg(feature = "secured-payload")]
pub use bankrail_secured_payload as secured_payload;
#[cfg(feature = "service")]
pub use bankrail_service as service;
#[cfg(feature = "statement")]
pub use bankrail_statement as statement;
#[cfg(feature = "stores")]
pub use bankrail_stores as stores;
pub use bankrail_values as values;
#[cfg(feature = "webhook")]
pub use bankrail_webhook as webhook;
