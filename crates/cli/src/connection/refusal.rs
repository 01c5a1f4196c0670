//! What a provider's refusal means, and what to do next.

use crate::clock::instant;
use crate::failure::{Failure, causes};
use bankrail::client::{ExchangeError, StatementError, TokenError};
use bankrail::client_assertion::token::TokenErrorCode;
use bankrail::statement::ErrorCode;
use bankrail::values::{Clock as _, HyphenatedUuid, SystemClock, Timestamp};

/// What to do when the fault is the provider's.
const LATER: &str = "try again later; the fault is the provider's";
const SHOW: &str = "show the provider this line";

/// The failure of a command that got no token.
pub(crate) fn token_failure(error: &TokenError) -> Failure {
    let (what, next) = match error {
        TokenError::Refused { status, code, description, .. } => {
            let code_text = code.as_ref().map_or_else(String::new, |code| format!(", {code}"));
            let described = description.as_ref().map_or_else(String::new, |text| format!(": {text}"));
            let what = format!("the token endpoint refused with status {status}{code_text}{described}");
            (what, after_refusal(*status, code.as_ref(), description.as_deref()))
        }
        TokenError::TooManyCalls { retry_at, .. } => {
            ("the token endpoint counted too many calls".to_owned(), until(*retry_at))
        }
        TokenError::HeldBack { retry_at, .. } => {
            ("the limit of token calls allows none now".to_owned(), until(*retry_at))
        }
        TokenError::Transport(error) => return unreached("token endpoint", error),
        TokenError::Unavailable { .. } => (causes(error), LATER.to_owned()),
        TokenError::Unexpected { .. } => (causes(error), check_address("the token endpoint")),
        TokenError::Response { .. } => (causes(error), SHOW.to_owned()),
        _ => return Failure::unable(causes(error), "correct what it says and try again"),
    };
    Failure::refused(format_args!("{what}{}", key_text(error.request_key())), next)
}

/// The failure of a command that got no statement.
pub(crate) fn statement_failure(error: &StatementError) -> Failure {
    let (what, next) = match error {
        StatementError::Token(error) => return token_failure(error),
        StatementError::Service { status, code, title, .. } => {
            let code_text = code.as_ref().map_or_else(|| "no code".to_owned(), ToString::to_string);
            let title = title.as_ref().map_or_else(String::new, |title| format!(": {title}"));
            let next = if error.is_account_not_found() {
                "check the account: it must be registered for this customer".to_owned()
            } else if code.as_ref() == Some(&ErrorCode::VALIDATION) {
                SHOW.to_owned()
            } else if error.is_retryable() {
                error.retry_at().map_or_else(|| LATER.to_owned(), until)
            } else {
                "ask the provider what the code means".to_owned()
            };
            (format!("the provider answered {code_text} (status {status}){title}"), next)
        }
        StatementError::Unauthorized { .. } => {
            (causes(error), "check that the customer has the scope of statements, and the API key".to_owned())
        }
        StatementError::TooManyCalls { retry_at, .. } => {
            ("the provider counted too many statement calls".to_owned(), until(*retry_at))
        }
        StatementError::HeldBack { retry_at, .. } => {
            ("the limit of statement calls allows none now".to_owned(), until(*retry_at))
        }
        StatementError::ReservedAccount { .. } | StatementError::Account(_) => {
            return Failure::unable(causes(error), "name an account that is registered for this customer");
        }
        StatementError::Transport(error) => return unreached("statement endpoint", error),
        StatementError::Unexpected { .. } => (causes(error), check_address("the provider")),
        StatementError::Reply { .. } | StatementError::Payload(_) | StatementError::Walk(_) => {
            (causes(error), SHOW.to_owned())
        }
        _ => return Failure::unable(causes(error), "try again"),
    };
    Failure::refused(format_args!("{what}{}", key_text(error.request_key())), next)
}

fn check_address(of: &str) -> String {
    format!("check the address of {of}, and what stands between here and there")
}

/// Words of a text, in small letters, and what to do when it has one of them.
type Remedies = [(&'static [&'static str], &'static str)];

fn remedy(remedies: &Remedies, text: &str) -> Option<&'static str> {
    let text = text.to_ascii_lowercase();
    let found = remedies.iter().find(|(words, _)| words.iter().any(|word| text.contains(word)));
    found.map(|(_, next)| *next)
}

/// What to do about a refusal. The code names the kind of fault; some providers also describe it.
fn after_refusal(status: u16, code: Option<&TokenErrorCode>, description: Option<&str>) -> String {
    const CLOCK: &str = "check the clock of this machine";
    const REMEDIES: &Remedies = &[
        (&["api key", "apikey", "api-key"], "check the API key and the name of its header"),
        (&["expired", "clock", "future", "too old", "too early"], CLOCK),
        (
            &["audience", "\"aud\"", "'aud'"],
            "check the audience: it is what the provider has arranged, which need not be an address",
        ),
        (
            &["signature", "unknown key", "kid"],
            "check that the provider has the public half of the signing key: bankrail keys show FILE",
        ),
    ];
    if code == Some(&TokenErrorCode::InvalidScope) {
        return "ask for a scope that the customer has".to_owned();
    }
    let now = instant(SystemClock.now());
    match remedy(REMEDIES, description.unwrap_or_default()) {
        Some(CLOCK) => format!("{CLOCK}: it is {now} here"),
        Some(next) => next.to_owned(),
        // A provider that keeps to the rules does not say why it refuses an assertion.
        None if status == 401 => format!(
            "check API key, customer code, audience, signing key and clock ({now} here); bankrail assertion explain \
             judges an assertion as a provider does"
        ),
        None => "compare the request with what the provider expects".to_owned(),
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
    const REMEDIES: &Remedies = &[
        (&["not valid for name", "notvalidforname"], "call the provider by a name that is in its certificate"),
        (
            &["certificate expired", "not valid yet", "notvalidyet"],
            "check the clock of this machine, and ask the provider for its certificate",
        ),
        (
            &["unknownissuer", "unknown issuer", "certificate", "selfsigned"],
            "give the certificate authority of the provider (--roots, or roots in connection.toml)",
        ),
        (&["refused"], "check that the provider runs, and its address and port"),
        (&["dns", "lookup", "resolve"], "check the name in the address"),
        (&["invalidcontenttype", "corrupt message"], "check that the address is one of https"),
    ];
    remedy(REMEDIES, text).unwrap_or("check the address and the network, and try again")
}

/// `, request key K`.
fn key_text(key: Option<HyphenatedUuid>) -> String {
    key.map_or_else(String::new, |key| format!(", request key {key}"))
}

fn until(at: Timestamp) -> String {
    format!("wait until {}", instant(at))
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
