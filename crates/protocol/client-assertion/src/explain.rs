//! Judges each rule of an assertion separately, for people who need to know why an assertion is
//! refused.

use crate::claims::{self, Claims};
use crate::verify::{self, check_issuer, check_not_expired};
use crate::{AssertionError, Verifier};
use bankrail_jose::base64url;
use bankrail_values::Timestamp;
use bankrail_values::json::{self, JsonValue};

/// A rule of an assertion, and the result of judging it: see [`Verifier::explain`].
#[derive(Debug)]
#[non_exhaustive]
pub struct JudgedRule {
    /// The rule, in words.
    pub rule: &'static str,
    /// The result of verifying an assertion that could break this rule only.
    pub outcome: Result<(), AssertionError>,
}

impl Verifier {
    /// Judges each rule about form, header and claims separately, as of `now`. [`Verifier::verify`]
    /// stops at the first rule that is broken. The signature is not verified.
    #[must_use]
    pub fn explain(&self, assertion: &str, now: Timestamp) -> Vec<JudgedRule> {
        let parts: Vec<&str> = assertion.split('.').collect();
        let decoded = |at: usize| {
            parts
                .get(at)
                .and_then(|part| base64url::decode(part).ok())
                .unwrap_or_default()
        };
        let header = decoded(0);
        let header = json::read_object(&header, &claims::LIMITS).ok();
        let typ = header
            .as_ref()
            .and_then(|header| header.get("typ"))
            .and_then(JsonValue::as_str);
        let claims = Claims::read(&decoded(1));

        let mut rules = Vec::new();
        let mut rule = |rule, outcome| rules.push(JudgedRule { rule, outcome });
        rule(
            "three parts in base64url, header of RS256",
            verify::parse(assertion).map(drop),
        );
        rule("typ is jwt, in any case", self.options().typ.check(typ));
        let claims = match claims {
            Ok(claims) => claims,
            Err(error) => {
                rule("the claims are one JSON object", Err(error));
                return rules;
            }
        };
        rule("the claims are one JSON object", Ok(()));
        let subject = claims.subject();
        let issuer = subject
            .as_ref()
            .map_or(Ok(()), |subject| check_issuer(&claims, subject));
        rule("sub is a customer code", subject.map(drop));
        rule("aud is the token endpoint", self.check_audience(&claims));
        let expires = claims.expires_at(self.options().accept_text_exp);
        let instant = expires.as_ref().ok().copied();
        rule("exp is a number of seconds", expires.map(drop));
        if let Some(expires) = instant {
            rule("exp is in the future", check_not_expired(expires, now));
            rule(
                "exp is at most 60 minutes ahead",
                self.check_lifetime(expires, now),
            );
        }
        rule("iss, if present, is the value of sub", issuer);
        rule(
            "nbf, if present, is at most 30 s in the future",
            self.check_begun(&claims, "nbf", now),
        );
        rule(
            "iat, if present, is at most 30 s in the future",
            self.check_begun(&claims, "iat", now),
        );
        rule(
            "jti, if present, has 1 to 256 bytes",
            claims.jwt_id().map(drop),
        );
        rules
    }
}
