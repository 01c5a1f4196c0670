//! What a provider's refusal means, and what to do next.

use crate::clock::instant;
use crate::failure::{Failure, causes};
use bankrail::client::{ExchangeError, StatementError, TokenError};
use bankrail::client_assertion::token::TokenErrorCode;
use bankrail::statement::ErrorCode;
use bankrail::values::{Clock as _, HyphenatedUuid, SystemClock, Timestamp};

/// The end of a command without a token.
pub(crate) fn token_failure(error: &TokenError) -> Failure {
    let key = key_text(error.request_key());
    match error {
        TokenError::Refused { status, code, description, .. } => {
            let code_text = code.as_ref().map_or_else(String::new, |code| format!(", {code}"));
            let described = description.as_ref().map_or_else(String::new, |text| format!(": {text}"));
            Failure::refused(
                format_args!("the token endpoint refused with status {status}{code_text}{described}{key}"),
                after_refusal(*status, code.as_ref(), description.as_deref()),
            )
        }
        TokenError::TooManyCalls { retry_at, .. } => {
            Failure::refused(format_args!("the token endpoint counted too many calls{key}"), until(*retry_at))
        }
        TokenError::HeldBack { retry_at, .. } => {
            Failure::refused("the limit of token calls allows none now", until(*retry_at))
        }
        TokenError::Transport(error) => unreached("token endpoint", error),
        TokenError::Unavailable { .. } => {
            Failure::refused(format_args!("{}{key}", causes(error)), "try again later; the fault is the provider's")
        }
        TokenError::Unexpected { .. } => Failure::refused(
            format_args!("{}{key}", causes(error)),
            "check the address of the token endpoint, and what stands between here and there",
        ),
        TokenError::Response { .. } => {
            Failure::refused(format_args!("{}{key}", causes(error)), "show the provider this line")
        }
        _ => Failure::unable(causes(error), "correct what it says and try again"),
    }
}

/// What to do about a refusal. The code names the kind of fault; some providers also describe it.
fn after_refusal(status: u16, code: Option<&TokenErrorCode>, description: Option<&str>) -> String {
    let says = description.unwrap_or_default().to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| says.contains(word));
    if says(&["api key", "apikey", "api-key"]) {
        return "check the API key and the name of its header".to_owned();
    }
    if code == Some(&TokenErrorCode::InvalidScope) {
        return "ask for a scope that the customer has".to_owned();
    }
    if says(&["expired", "clock", "future", "too old", "too early"]) {
        return format!("check the clock of this machine: it is {} here", now());
    }
    if says(&["audience", "\"aud\"", "'aud'"]) {
        return "check the audience: it is what the provider has arranged, which need not be an address".to_owned();
    }
    if says(&["signature", "unknown key", "kid"]) {
        return "check that the provider has the public half of the signing key: bankrail keys show FILE".to_owned();
    }
    if status == 401 {
        // Whatever is wrong, a provider that keeps to the rules does not say.
        return format!(
            "check API key, customer code, audience, signing key and clock ({} here); bankrail assertion explain \
             judges an assertion as a provider does",
            now()
        );
    }
    "compare the request with what the provider expects".to_owned()
}

/// The end of a command without a statement.
pub(crate) fn statement_failure(error: &StatementError) -> Failure {
    let key = key_text(error.request_key());
    match error {
        StatementError::Token(error) => token_failure(error),
        StatementError::Service { status, code, title, .. } => {
            let code_text = code.as_ref().map_or_else(|| "no code".to_owned(), ToString::to_string);
            let title = title.as_ref().map_or_else(String::new, |title| format!(": {title}"));
            let next = match code {
                Some(code) if *code == ErrorCode::ACCOUNT_NOT_FOUND => {
                    "check the account: it must be registered for this customer".to_owned()
                }
                Some(code) if *code == ErrorCode::VALIDATION => "show the provider this line".to_owned(),
                _ if error.is_retryable() => {
                    error.retry_at().map_or_else(|| "try again later; the fault is the provider's".to_owned(), until)
                }
                _ => "ask the provider what the code means".to_owned(),
            };
            Failure::refused(format_args!("the provider answered {code_text} (status {status}){title}{key}"), next)
        }
        StatementError::Unauthorized { .. } => Failure::refused(
            format_args!("{}{key}", causes(error)),
            "check that the customer has the scope of statements, and the API key",
        ),
        StatementError::TooManyCalls { retry_at, .. } => {
            Failure::refused(format_args!("the provider counted too many statement calls{key}"), until(*retry_at))
        }
        StatementError::HeldBack { retry_at, .. } => {
            Failure::refused("the limit of statement calls allows none now", until(*retry_at))
        }
        StatementError::ReservedAccount { .. } | StatementError::Account(_) => {
            Failure::unable(causes(error), "name an account that is registered for this customer")
        }
        StatementError::Transport(error) => unreached("statement endpoint", error),
        StatementError::Unexpected { .. } => Failure::refused(
            format_args!("{}{key}", causes(error)),
            "check the address of the provider, and what stands between here and there",
        ),
        StatementError::Reply { .. } | StatementError::Payload(_) | StatementError::Walk(_) => {
            Failure::refused(format_args!("{}{key}", causes(error)), "show the provider this line")
        }
        _ => Failure::unable(causes(error), "try again"),
    }
}

/// An endpoint without an answer: what stands in the way, and how to remove it.
fn unreached(endpoint: &str, error: &ExchangeError) -> Failure {
    let text = causes(error);
    let next = after_silence(&text);
    Failure::unable(format_args!("the {endpoint} was not reached: {text}"), next)
}

/// What to do about an endpoint that was not reached, by the words of TLS and sockets.
fn after_silence(text: &str) -> &'static str {
    let lower = text.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if says(&["not valid for name", "notvalidforname"]) {
        "call the provider by a name that is in its certificate"
    } else if says(&["certificate expired", "not valid yet", "notvalidyet"]) {
        "check the clock of this machine, and ask the provider for its certificate"
    } else if says(&["unknownissuer", "unknown issuer", "certificate", "selfsigned"]) {
        "give the certificate authority of the provider (--roots, or roots in connection.toml)"
    } else if says(&["refused"]) {
        "check that the provider runs, and its address and port"
    } else if says(&["dns", "lookup", "resolve"]) {
        "check the name in the address"
    } else if says(&["invalidcontenttype", "corrupt message"]) {
        "check that the address is one of https"
    } else {
        "check the address and the network, and try again"
    }
}

/// `, request key K`.
fn key_text(key: Option<HyphenatedUuid>) -> String {
    key.map_or_else(String::new, |key| format!(", request key {key}"))
}

fn until(at: Timestamp) -> String {
    format!("wait until {}", instant(at))
}

fn now() -> String {
    instant(SystemClock.now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_of_a_certificate_has_its_own_remedy() {
        for (text, expected) in [
            ("invalid peer certificate: UnknownIssuer", "certificate authority"),
            ("invalid peer certificate: certificate not valid for name \"127.0.0.1\"", "by a name"),
            ("invalid peer certificate: certificate expired: verification time 2 (UNIX)", "clock"),
            ("invalid peer certificate: certificate not valid yet: verification time 2 (UNIX)", "clock"),
        ] {
            assert!(after_silence(text).contains(expected), "{text}: {}", after_silence(text));
        }
    }
}
