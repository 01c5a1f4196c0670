//! An audit log in memory.

use crate::audit::{AuditLog, AuditRecord};
use bankrail_values::{StoreError, StoreErrorKind, StoreFuture};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Audit records in memory, for tests. A test can make the log fail.
#[derive(Debug, Default)]
pub struct MemoryAudit(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    records: Vec<AuditRecord>,
    fails: Option<StoreErrorKind>,
}

impl MemoryAudit {
    /// Creates an empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the records so far, in their order.
    #[must_use]
    pub fn records(&self) -> Vec<AuditRecord> {
        self.state().records.clone()
    }

    /// Makes each further record fail with this kind of error; `None` ends the failures.
    pub fn fail_with(&self, kind: Option<StoreErrorKind>) {
        self.state().fails = kind;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AuditLog for MemoryAudit {
    fn record<'a>(&'a self, record: &'a AuditRecord) -> StoreFuture<'a, ()> {
        let mut state = self.state();
        let recorded = match state.fails {
            Some(kind) => Err(StoreError::from(kind)),
            None => {
                state.records.push(record.clone());
                Ok(())
            }
        };
        Box::pin(std::future::ready(recorded))
    }
}
