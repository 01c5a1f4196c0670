//! What is logged of failed calls: what to check, and not the same thing every second.

use super::{CallFacts, Caller};
use crate::exchange_error::CallPhase;
use bankrail_statement::ErrorCode;
use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The kind of the last failure, and how many calls of an endpoint have failed one after the other.
#[derive(Debug, Default)]
pub(crate) struct Failing(Mutex<(&'static str, u32)>);

/// What is said of a failed call beside its facts.
pub(crate) struct Remarks<'a> {
    /// What the call was doing when it failed, if there was no answer.
    pub(crate) phase: Option<CallPhase>,
    /// Why there was no answer, or what is wrong with it, in words of this crate.
    pub(crate) cause: Option<Cow<'static, str>>,
    pub(crate) code: Option<&'a ErrorCode>,
    /// What to check.
    pub(crate) advice: &'a str,
}

impl Caller {
    /// Logs a failed call: as a warning if it is the first of its kind, or the second, fourth,
    /// eighth and so on in a row, and otherwise for those who look closely. The kind of the error,
    /// not its text, which can quote the service.
    ///
    /// A call that this side held back, or did not make because it is ending, is no failure of the
    /// service.
    pub(crate) fn failed(&self, what: &'static str, facts: &CallFacts, remarks: &Remarks<'_>) {
        if matches!(facts.kind, "held back" | "closed") {
            let until = facts.retry_at.map(tracing::field::display);
            return tracing::info!(error = %facts.kind, until, endpoint = self.name, "{what}");
        }
        let failures = {
            let mut failing = self.failing();
            if failing.0 != facts.kind {
                *failing = (facts.kind, 0);
            }
            failing.1 = failing.1.saturating_add(1);
            failing.1
        };
        macro_rules! say {
            ($level:ident) => {
                tracing::$level!(
                    request_key = facts.request_key.map(tracing::field::display),
                    error = %facts.kind,
                    status = facts.status,
                    until = facts.retry_at.map(tracing::field::display),
                    code = remarks.code.filter(|code| code.is_well_formed()).map(tracing::field::display),
                    url = %self.endpoint.url(),
                    phase = remarks.phase.map(tracing::field::display),
                    cause = remarks.cause.as_deref().map(tracing::field::display),
                    advice = %remarks.advice,
                    failures,
                    "{what}"
                )
            };
        }
        if failures.is_power_of_two() {
            say!(warn)
        } else {
            say!(debug)
        }
    }

    /// The next failure is the first one again.
    pub(crate) fn succeeded(&self) {
        let (_, failures) = std::mem::take(&mut *self.failing());
        if failures > 0 {
            tracing::info!(endpoint = self.name, failures, "calls succeed again");
        }
    }

    fn failing(&self) -> MutexGuard<'_, (&'static str, u32)> {
        // A panic elsewhere leaves it consistent.
        self.failing
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
