//! A bank's intraday statements, access tokens and mandate webhooks: one crate to depend on, one feature for each part.
//!
//! What it is: the other bankrail crates under one version and one name. What it is not: it adds nothing of its own, and no
//! feature is on by default.
//!
//! ```
//! # #[cfg(feature = "rate-limit")] {
//! use bankrail::rate_limit::{CallType, default_limits};
//! assert_eq!(default_limits(CallType::Statement).windows().len(), 1);
//! # }
//! use bankrail::values::{Currency, Money};
//! assert_eq!("5 VND".parse::<Money>()?.currency(), Currency::VND);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | feature | module | for |
//! |---|---|---|
//! | (always) | `values` | money, currencies, timestamps, identifiers, secrets |
//! | `camt052` | `camt052` | reading, checking and writing account reports (camt.052) |
//! | `camt053` | `camt053` | the same for account statements (camt.053) |
//! | `iso20022`, `camt` | `iso20022`, `camt` | the engine and the shared types, to state further messages |
//! | `jose` | `jose` | RSA keys and strict RS256 signatures |
//! | `client-assertion` | `client_assertion` | assertions, the token exchange's wire types |
//! | `secured-payload` | `secured_payload` | sealing and opening webhook bodies |
//! | `statement` | `statement` | the statement exchange's JSON, cursors, de-duplication |
//! | `webhook` | `webhook` | the four messages, aliases, duplicate keys, ordering |
//! | `mailbox` | `mailbox` | inbox and outbox: store traits, leases, retry schedule |
//! | `rate-limit` | `rate_limit` | fixed and sliding windows, keyed limiter |
//! | `http` | `http` | what both sides of HTTP share: request keys, bounded bodies, `Retry-After` |
//! | `memory`, `sqlite`, `postgres`, `redis` | `stores` | each an engine, for the store traits of the parts that are on |
//! | `service` | `service` | the provider's endpoints and webhook delivery |
//! | `client` | `client` | the customer's calls and webhook receivers |
//! | `aws-lc` or `josekit` | | the RSA back end of whatever part has RSA in it; choose one |
//! | `x509` | `jose` | keys out of X.509 certificates |
//! | `coarse-clock` | | `values::CoarseClock`, the system's clock as of its last tick, cheap enough for every request |
//! | `random` | `values` | `values::HyphenatedUuid::random` |
//! | `serde` | | serde for `values` and, where it is on, `camt052`'s model |
//! | `pacer` | `rate_limit` | `rate_limit::Pacer`, which makes a client wait for its turn |
//! | `rate-limit-layer` | `rate_limit` | `rate_limit::layer::LimitLayer`, a tower layer that limits an HTTP service |
//! | `full` | all | all above that needs only Rust and a C compiler: not `josekit` |
//! | `arbitrary`, `testing` | `camt052`, `mailbox` | for tests: invented reports; the suites of inbox and outbox engines |
//!
//! A provider: `bankrail = { version = "0.1", features = ["service", "sqlite", "aws-lc"] }`.
//! A customer: `bankrail = { version = "0.1", features = ["client", "sqlite", "aws-lc"] }`.
//! A reader of statements: `bankrail-camt052 = "0.1"`.

#![forbid(unsafe_code)]

#[cfg(feature = "camt")]
pub use bankrail_camt as camt;
#[cfg(feature = "camt052")]
pub use bankrail_camt052 as camt052;
#[cfg(feature = "camt053")]
pub use bankrail_camt053 as camt053;
#[cfg(feature = "client")]
pub use bankrail_client as client;
#[cfg(feature = "client-assertion")]
pub use bankrail_client_assertion as client_assertion;
#[cfg(feature = "http")]
pub use bankrail_http as http;
#[cfg(feature = "iso20022")]
pub use bankrail_iso20022 as iso20022;
#[cfg(feature = "jose")]
pub use bankrail_jose as jose;
#[cfg(feature = "mailbox")]
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
