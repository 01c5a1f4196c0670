//! Explanations of a provider's refusals, and what to do next.

use crate::clock::instant;
use crate::failure::{Failure, causes};
use bankrail::client::{Call, CallError, CallFault, ExchangeError};
use bankrail::values::{HyphenatedUuid, Timestamp};
use std::borrow::Cow;

/// The failure of a command that got no token or no statement.
pub(crate) fn call_failure(error: &CallError) -> Failure {
    let status = error.status.unwrap_or_default();
    let what = match (&error.fault, error.call) {
        (CallFault::Refused { description, .. }, _) => {
            let code_text = error
                .code
                .as_ref()
                .map_or_else(String::new, |code| format!(", {code}"));
            let described = description
                .as_ref()
                .map_or_else(String::new, |text| format!(": {text}"));
            format!("the token endpoint refused with status {status}{code_text}{described}")
        }
        (CallFault::Service { title, .. }, _) => {
            let code_text = error.code.as_deref().unwrap_or("no code");
            let title = title
                .as_ref()
                .map_or_else(String::new, |title| format!(": {title}"));
            format!("the provider answered {code_text} (status {status}){title}")
        }
        (CallFault::TooManyCalls, Call::Token) => {
            "the token endpoint counted too many calls".to_owned()
        }
        (CallFault::TooManyCalls, _) => "the provider counted too many statement calls".to_owned(),
        (CallFault::HeldBack, call) => {
            format!("the limit of {} calls allows none now", call.name())
        }
        (CallFault::Transport(exchange), call) => {
            return unanswered(&format!("{} endpoint", call.name()), exchange);
        }
        (
            CallFault::Unavailable
            | CallFault::Unexpected { .. }
            | CallFault::Response(_)
            | CallFault::Unauthorized
            | CallFault::Reply(_)
            | CallFault::Payload(_)
            | CallFault::Walk(_),
            _,
        ) => causes(error),
        _ => return Failure::unable(causes(error), error.advice()),
    };
    let next = error.retry_at.map_or_else(|| error.advice(), until);
    let explain = match (&error.fault, status) {
        (CallFault::Refused { .. }, 401) => {
            "; bankrail assertion explain judges an assertion as a provider does"
        }
        _ => "",
    };
    Failure::refused(
        format_args!("{what}{}", key_text(error.request_key)),
        format_args!("{next}{explain}"),
    )
}

fn until(at: Timestamp) -> Cow<'static, str> {
    format!("wait until {}", instant(at)).into()
}

/// An endpoint without a complete answer: what stands in the way, and how to remove it.
fn unanswered(endpoint: &str, error: &ExchangeError) -> Failure {
    let what = match error {
        ExchangeError::Connect(_) => "was not reached: ",
        ExchangeError::TooLarge { .. } => "gave an answer that is not read: ",
        _ => "gave ",
    };
    Failure::unable(
        format_args!("the {endpoint} {what}{}", causes(error)),
        error.advice(),
    )
}

/// `, request key K`.
fn key_text(key: Option<HyphenatedUuid>) -> String {
    key.map_or_else(String::new, |key| format!(", request key {key}"))
}
