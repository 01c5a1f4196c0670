//! The test suites of each implementation of [`Ledger`](crate::Ledger) and
//! [`Directory`](crate::Directory) (feature `testing`).
//!
//! A suite panics with the rule that an implementation breaks. A suite starts no runtime: await it
//! in a test.
//!
//! [`MemoryAudit`] is an audit log whose records a test can read.

mod audit;
mod directory;
mod ledger;

pub use audit::MemoryAudit;
pub use directory::directory_suite;
pub use ledger::{LedgerFixture, ledger_suite, ledger_suite_while_booking};
