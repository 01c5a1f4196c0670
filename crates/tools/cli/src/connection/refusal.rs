//! The failure of a command whose call failed, and what to do next.

use crate::clock::instant;
use crate::failure::{Failure, causes};
use bankrail::client::{CallError, CallErrorKind};

/// The failure of a command that got no token or no statement.
pub(crate) fn call_failure(error: &CallError) -> Failure {
    let said = match &error.reason {
        CallErrorKind::Refused { description, .. } => description.as_ref(),
        CallErrorKind::Service { title, .. } => title.as_ref(),
        _ => None,
    };
    let said = said.map_or_else(String::new, |text| format!(": {text}"));
    let key = error.request_key;
    let key = key.map_or_else(String::new, |key| format!(", request key {key}"));
    let what = format!("{}{said}{key}", causes(error));
    let next = match error.retry_at {
        Some(at) => format!("wait until {}", instant(at)).into(),
        None => error.advice(),
    };
    match &error.reason {
        // No call was made, or none was answered.
        CallErrorKind::ReservedAccount { .. }
        | CallErrorKind::Account(_)
        | CallErrorKind::Assertion(_)
        | CallErrorKind::Signer { .. }
        | CallErrorKind::Counters(_)
        | CallErrorKind::Transport(_)
        | CallErrorKind::NotStored { .. }
        | CallErrorKind::Closed
        | CallErrorKind::Abandoned => Failure::unable(what, next),
        CallErrorKind::Refused { .. } if error.status == Some(401) => Failure::refused(
            what,
            format_args!(
                "{next}; bankrail assertion explain judges an assertion as a provider does"
            ),
        ),
        _ => Failure::refused(what, next),
    }
}
