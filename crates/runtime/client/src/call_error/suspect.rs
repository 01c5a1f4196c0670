//! The part of a refused token call that is to be checked.

use bankrail_client_assertion::token::TokenErrorCode;
use std::borrow::Cow;

/// The part of a token call that a refusal makes suspect. The code names the kind of fault. Some
/// services also describe the fault, although the rules demand that they give no reason for a
/// refused assertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Suspect {
    Scope,
    /// The clock of this machine, and its lead in seconds.
    Clock(i64),
    ApiKey,
    Audience,
    SigningKey,
    /// Any part of the assertion.
    Assertion,
    Address,
    Request,
}

impl Suspect {
    pub(super) fn of(
        status: u16,
        code: Option<&str>,
        description: &str,
        clock_ahead: Option<i64>,
    ) -> Self {
        /// Words of a refusal's description, in lower case, and the part that they make suspect.
        const WORDS: [(&[&str], Suspect); 3] = [
            (&["api key", "apikey", "api-key"], Suspect::ApiKey),
            (&["audience", "\"aud\"", "'aud'"], Suspect::Audience),
            (&["signature", "unknown key", "kid"], Suspect::SigningKey),
        ];
        if code == Some(TokenErrorCode::InvalidScope.as_str()) {
            return Self::Scope;
        }
        if let Some(ahead) = clock_ahead.filter(|ahead| about_clock(*ahead).is_some()) {
            return Self::Clock(ahead);
        }
        let description = description.to_ascii_lowercase();
        let found = WORDS
            .iter()
            .find(|(words, _)| words.iter().any(|word| description.contains(word)));
        match (found, status) {
            (Some((_, suspect)), _) => *suspect,
            (None, 401) if code.is_none() => Self::ApiKey,
            (None, 401) => Self::Assertion,
            (None, 404 | 405) => Self::Address,
            (None, _) => Self::Request,
        }
    }

    pub(super) fn advice(self) -> Cow<'static, str> {
        match self {
            Self::Scope => "ask for a scope that the customer has",
            Self::Clock(ahead) => return about_clock(ahead).unwrap_or_default().into(),
            Self::ApiKey => "check the API key and the name of its header",
            Self::Audience => "check the audience: it is what the service has arranged, which need not be an address",
            Self::SigningKey => {
                "check that the service has the public half of the signing key, and that its id is the arranged one"
            }
            Self::Assertion => "check customer code, audience, signing key and its id, and the clock of this machine",
            Self::Address => "check the address of the token endpoint: the service has none there",
            Self::Request => "compare the request with what the service expects",
        }
        .into()
    }
}

/// The difference between two clocks from which on this side's clock is suspected.
const SUSPECT_CLOCK_SECONDS: u64 = 60;

/// Returns the advice about a clock that is ahead by this many seconds, if that makes it suspect.
pub(crate) fn about_clock(ahead: i64) -> Option<String> {
    let side = if ahead > 0 { "ahead of" } else { "behind" };
    let by = ahead.unsigned_abs();
    (by >= SUSPECT_CLOCK_SECONDS)
        .then(|| format!("set the clock of this machine: it is {by} s {side} the service's"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_what_fits() {
        let client = Some(TokenErrorCode::InvalidClient.as_str());
        for (status, code, description, clock_ahead, expected) in [
            (
                401,
                client,
                "",
                Some(59),
                "customer code, audience, signing key",
            ),
            (
                401,
                client,
                "",
                Some(60),
                "it is 60 s ahead of the service's",
            ),
            (
                401,
                client,
                "bad API key",
                Some(-61),
                "it is 61 s behind the service's",
            ),
            (401, client, "Invalid API Key", None, "check the API key"),
            (
                401,
                client,
                "claim \"aud\" is wrong",
                None,
                "check the audience",
            ),
            (401, client, "no key with this kid", None, "public half"),
            (401, None, "", None, "check the API key"),
            (
                400,
                Some("invalid_scope"),
                "",
                Some(3600),
                "a scope that the customer has",
            ),
            (
                400,
                Some("invalid_request"),
                "",
                None,
                "compare the request",
            ),
            (404, None, "", None, "the address of the token endpoint"),
        ] {
            let advice = Suspect::of(status, code, description, clock_ahead).advice();
            assert!(advice.contains(expected), "{description}: {advice}");
        }
    }
}
