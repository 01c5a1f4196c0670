//! Pages for developers who build on these crates.
//!
#![doc = include_str!("guide/links.txt")]
//!
#![doc = include_str!("guide/README.md")]

// In the repository the pages link to each other's files. Here they link to each other's modules,
// because the first of two definitions of a link counts.

/// A biller, from an empty folder to a program that may be killed at any time.
///
#[doc = include_str!("guide/links.txt")]
///
#[doc = include_str!("guide/biller.md")]
///
/// # Names
///
/// A biller's names, in the order of use: [`Connection`](crate::client::Connection),
/// [`ClientOptions`](crate::client::ClientOptions),
/// [`SealingSecret`](crate::client::SealingSecret), [`Poller`](crate::client::Poller),
/// [`PollerOptions`](crate::client::PollerOptions),
/// [`PolledAccount`](crate::client::PolledAccount), [`NewEntries`](crate::client::NewEntries),
/// [`LedgerChange`](crate::client::LedgerChange), [`Handlers`](crate::client::receivers::Handlers),
/// [`Delivery`](crate::client::receivers::Delivery),
/// [`Conflict`](crate::client::receivers::Conflict),
/// [`HandlerError`](crate::client::receivers::HandlerError),
/// [`ReceiversOptions`](crate::client::receivers::ReceiversOptions),
/// [`WorkerOptions`](crate::client::receivers::WorkerOptions),
/// [`OutcomeWatch`](crate::client::receivers::OutcomeWatch), [`Message`](crate::webhook::Message),
/// [`KeptHistory`](crate::webhook::history::KeptHistory),
/// [`SqliteStore`](crate::stores::sqlite::SqliteStore),
/// [`SqliteOptions`](crate::stores::sqlite::SqliteOptions),
/// [`SqliteWork`](crate::stores::sqlite::SqliteWork),
/// [`ServerOptions`](crate::http::serve::ServerOptions),
/// [`Shutdown`](crate::http::serve::Shutdown), [`Operations`](crate::http::operations::Operations),
/// [`Money`](crate::values::Money), [`MainError`](crate::values::MainError).
pub mod biller {}

/// A provider, from an empty folder to customers, a ledger, limits and webhooks.
///
#[doc = include_str!("guide/links.txt")]
///
#[doc = include_str!("guide/provider.md")]
///
/// # Names
///
/// A provider's names, in the order of use: [`SqliteStore`](crate::stores::sqlite::SqliteStore),
/// [`CustomerFolder`](crate::bank::CustomerFolder),
/// [`DirectoryFollower`](crate::bank::DirectoryFollower),
/// [`EndpointRecord`](crate::bank::EndpointRecord), [`SqliteLedger`](crate::bank::SqliteLedger),
/// [`Audience`](crate::client_assertion::Audience),
/// [`Verifier`](crate::client_assertion::Verifier), [`Limits`](crate::rate_limit::Limits),
/// [`Limiter`](crate::rate_limit::Limiter), [`CursorSecret`](crate::service::CursorSecret),
/// [`Provider`](crate::service::Provider), [`ProviderOptions`](crate::service::ProviderOptions),
/// [`AuditFile`](crate::service::audit::AuditFile), [`SigningKey`](crate::jose::SigningKey),
/// [`Sealer`](crate::secured_payload::Sealer), [`Message`](crate::webhook::Message),
/// [`DeliveryHeaders`](crate::webhook::DeliveryHeaders), [`Outbox`](crate::mailbox::Outbox),
/// [`Dispatcher`](crate::service::delivery::Dispatcher),
/// [`DispatcherOptions`](crate::service::delivery::DispatcherOptions),
/// [`HttpsTransport`](crate::service::delivery::HttpsTransport),
/// [`Server`](crate::http::serve::Server),
/// [`CertificateFiles`](crate::http::serve::CertificateFiles),
/// [`Operations`](crate::http::operations::Operations),
/// [`SystemClock`](crate::values::SystemClock).
pub mod provider {}

/// Reading account reports: tolerant, strict, streaming, findings, broken documents.
///
#[doc = include_str!("guide/links.txt")]
///
#[doc = include_str!("guide/statements.md")]
///
/// # Names
///
/// A reader's names, in the order of use: [`Document`](crate::camt052::Document),
/// [`Report`](crate::camt052::Report), [`EntryReader`](crate::camt052::EntryReader),
/// [`AnyDocument`](crate::camt::AnyDocument), [`AnyReader`](crate::camt::AnyReader),
/// [`Archive`](crate::camt::Archive), [`Entry`](crate::camt::Entry),
/// [`EntryLine`](crate::camt::EntryLine), [`merge_pages`](crate::camt::merge_pages),
/// [`ReadOptions`](crate::iso20022::ReadOptions), [`Mode`](crate::iso20022::Mode),
/// [`ReadLimits`](crate::iso20022::ReadLimits), [`Finding`](crate::iso20022::Finding),
/// [`Money`](crate::values::Money), [`Currency`](crate::values::Currency).
pub mod statements {}

/// Sealed messages: their profile, keys, rotation of keys, keys in hardware.
///
#[doc = include_str!("guide/links.txt")]
///
#[doc = include_str!("guide/sealed_messages.md")]
pub mod sealed_messages {}

/// Webhooks: duplicates, order, contradictions, and overdue outcomes.
///
#[doc = include_str!("guide/links.txt")]
///
#[doc = include_str!("guide/webhooks.md")]
pub mod webhooks {}

/// Rate limits: windows, ways of counting, and several machines.
///
#[doc = include_str!("guide/links.txt")]
///
#[doc = include_str!("guide/limits.md")]
///
/// # Names
///
/// A limiter's names, in the order of use: [`Limits`](crate::rate_limit::Limits),
/// [`Limiter`](crate::rate_limit::Limiter), [`MemoryCounters`](crate::rate_limit::MemoryCounters),
/// [`CallType`](crate::rate_limit::CallType), [`Policy`](crate::rate_limit::Policy),
/// [`Window`](crate::rate_limit::Window), [`Algorithm`](crate::rate_limit::Algorithm),
/// [`Counting`](crate::rate_limit::Counting),
/// [`default_limits`](crate::rate_limit::default_limits),
/// [`LimitLayer`](crate::rate_limit::layer::LimitLayer).
pub mod limits {}

/// Operations: logs, metrics, alarms, retention, finding a call, keys, dead letters.
///
#[doc = include_str!("guide/links.txt")]
///
#[doc = include_str!("guide/operations.md")]
pub mod operations {}

/// Incidents: log lines and alarms with their causes and remedies.
///
#[doc = include_str!("guide/links.txt")]
///
#[doc = include_str!("guide/incidents.md")]
pub mod incidents {}

/// Upgrades, backups and restoring them.
///
#[doc = include_str!("guide/links.txt")]
///
#[doc = include_str!("guide/upgrade.md")]
pub mod upgrade {}

/// Several machines: shared state, separate state, and possible losses.
///
#[doc = include_str!("guide/links.txt")]
///
#[doc = include_str!("guide/several_machines.md")]
pub mod several_machines {}

/// Testing your own code against the emulator and the judges.
///
#[doc = include_str!("guide/links.txt")]
///
#[doc = include_str!("guide/testing.md")]
pub mod testing {}

/// Moving from josekit, jsonwebtoken, governor and sepa.
///
#[doc = include_str!("guide/links.txt")]
///
#[doc = include_str!("guide/moving.md")]
pub mod moving {}

/// Short answers to "how do I …".
///
#[doc = include_str!("guide/links.txt")]
///
#[doc = include_str!("guide/recipes.md")]
pub mod recipes {}

/// Design: the reasons for it, and attempts that were dropped.
///
#[doc = include_str!("guide/links.txt")]
///
#[doc = include_str!("guide/design.md")]
pub mod design {}

/// Glossary: the words of the field and of this workspace.
///
#[doc = include_str!("guide/links.txt")]
///
#[doc = include_str!("guide/glossary.md")]
pub mod glossary {}
