//! Pages for those who build on these crates.
//!
#![doc = include_str!("guide/links.txt")]
//!
#![doc = include_str!("guide/README.md")]

// In the repository the pages link to each other's files. Of two definitions of a link the first
// one counts, so that here they link to each other's modules.

/// A biller, from an empty folder to one that may be killed at any time.
///
#[doc = include_str!("guide/links.txt")]
///
#[doc = include_str!("guide/biller.md")]
pub mod biller {}

/// A provider, from an empty folder to customers, a ledger, limits and webhooks.
///
#[doc = include_str!("guide/links.txt")]
///
#[doc = include_str!("guide/provider.md")]
pub mod provider {}

/// Reading account reports: tolerant, strict, streaming, findings, broken documents.
///
#[doc = include_str!("guide/links.txt")]
///
#[doc = include_str!("guide/statements.md")]
pub mod statements {}

/// Sealed messages: their profile, keys, rotation of keys, keys in hardware.
///
#[doc = include_str!("guide/links.txt")]
///
#[doc = include_str!("guide/sealed_messages.md")]
pub mod sealed_messages {}

/// Webhooks: each message once, in any order, contradictions, following up.
///
#[doc = include_str!("guide/links.txt")]
///
#[doc = include_str!("guide/webhooks.md")]
pub mod webhooks {}

/// Rate limits: which window, which counting, one machine or many.
///
#[doc = include_str!("guide/links.txt")]
///
#[doc = include_str!("guide/limits.md")]
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

/// Several machines: what is shared, what is not, what may be lost.
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

/// Design: why it is as it is, what was tried and dropped.
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
