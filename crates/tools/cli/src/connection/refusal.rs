//! Explanations of a provider's refusals, and what to do next.

use crate::clock::instant;
use crate::failure::{Failure, causes};
use bankrail::client::{ExchangeError, StatementError, TokenError};
use bankrail::values::{HyphenatedUuid, Timestamp};
use std::borrow::Cow;

/// The failure of a command that got no token.
pub(crate) fn token_failure(error: &TokenError) -> Failure {
    let what = match error {
        TokenError::Refused {
            status,
            code,
            description,
            ..
        } => {
            let code_text = code
                .as_ref()
                .map_or_else(String::new, |code| format!(", {code}"));
            let described = description
                .as_ref()
                .map_or_else(String::new, |text| format!(": {text}"));
            format!("the token endpoint refused with status {status}{code_text}{described}")
        }
        TokenError::TooManyCalls { .. } => "the token endpoint counted too many calls".to_owned(),
        TokenError::HeldBack { .. } => "the limit of token calls allows none now".to_owned(),
        TokenError::Transport(error) => return unreached("token endpoint", error),
        TokenError::Unavailable { .. }
        | TokenError::Unexpected { .. }
        | TokenError::Response { .. } => causes(error),
        _ => return Failure::unable(causes(error), error.advice()),
    };
    let next = error.retry_at().map_or_else(|| error.advice(), until);
    let explain = match error {
        TokenError::Refused { status: 401, .. } => {
            "; bankrail assertion explain judges an assertion as a provider does"
        }
        _ => "",
    };
    Failure::refused(
        format_args!("{what}{}", key_text(error.request_key())),
        format_args!("{next}{explain}"),
    )
}

/// The failure of a command that got no statement.
pub(crate) fn statement_failure(error: &StatementError) -> Failure {
    let what = match error {
        StatementError::Token(error) => return token_failure(error),
        StatementError::Service {
            status,
            code,
            title,
            ..
        } => {
            let code_text = code
                .as_ref()
                .map_or_else(|| "no code".to_owned(), ToString::to_string);
            let title = title
                .as_ref()
                .map_or_else(String::new, |title| format!(": {title}"));
            format!("the provider answered {code_text} (status {status}){title}")
        }
        StatementError::TooManyCalls { .. } => {
            "the provider counted too many statement calls".to_owned()
        }
        StatementError::HeldBack { .. } => {
            "the limit of statement calls allows none now".to_owned()
        }
        StatementError::Transport(error) => return unreached("statement endpoint", error),
        StatementError::Unauthorized { .. }
        | StatementError::Unexpected { .. }
        | StatementError::Reply { .. }
        | StatementError::Payload(_)
        | StatementError::Walk(_) => causes(error),
        _ => return Failure::unable(causes(error), error.advice()),
    };
    let next = error.retry_at().map_or_else(|| error.advice(), until);
    Failure::refused(
        format_args!("{what}{}", key_text(error.request_key())),
        next,
    )
}

fn until(at: Timestamp) -> Cow<'static, str> {
    format!("wait until {}", instant(at)).into()
}

/// An endpoint without an answer: what stands in the way, and how to remove it.
fn unreached(endpoint: &str, error: &ExchangeError) -> Failure {
    Failure::unable(
        format_args!("the {endpoint} was not reached: {}", causes(error)),
        error.advice(),
    )
}

/// `, request key K`.
fn key_text(key: Option<HyphenatedUuid>) -> String {
    key.map_or_else(String::new, |key| format!(", request key {key}"))
}
