//! A right token request, and what comes back (Specification: "Obtain access token", "Access token response").

use super::body;
use super::forge::Assertion;
use super::judge::{Bearer, Endpoint, Got, Judge, path_of, status_of};
use super::wire::{Answer, Call};
use crate::error::JudgeError;
use crate::row::Verdict;
use bankrail_client_assertion::token::TokenRequest;
use bankrail_http::names::{REQUEST_KEY, TOKEN_PATH};
use bankrail_values::excerpt;
use bankrail_values::json::JsonValue;
use std::time::Duration;
use tokio::time::Instant;

/// The four fields.
pub(super) fn form(
    judge: &Judge,
    assertion: &Assertion,
    scope: &str,
) -> Result<Vec<(&'static str, String)>, JudgeError> {
    Ok(vec![
        ("grant_type", TokenRequest::GRANT_TYPE.to_owned()),
        ("client_assertion_type", TokenRequest::ASSERTION_TYPE.to_owned()),
        ("scope", scope.to_owned()),
        ("client_assertion", assertion.write(&judge.keys)?),
    ])
}

/// A right request for these scopes.
async fn request(judge: &mut Judge, scope: &str) -> Result<Got, JudgeError> {
    let assertion = judge.assertion();
    let form = form(judge, &assertion, scope)?;
    let call = Call::token(&judge.target, &form);
    Ok(judge.call(Endpoint::Token, call).await)
}

/// Gets the first token and judges its answer.
///
/// # Errors
/// [`JudgeError`] if the provider cannot be reached.
pub(super) async fn judge_first(judge: &mut Judge) -> Result<(), JudgeError> {
    let scope = judge.target.scopes.join(" ");
    let answer = match request(judge, &scope).await? {
        Got::Answer(answer) => answer,
        Got::Nothing(reason) => {
            return Err(JudgeError::Unreachable { address: judge.target.token_url.to_string(), reason });
        }
        // A report without the rows of statements would have no rest to judge later.
        Got::NotRun(reason) => return Err(JudgeError::NoToken { reason }),
    };
    let all = |found: &dyn Fn(&Answer) -> Verdict| found(&answer);
    let verdict = all(&|answer| status_of(answer, &[200]));
    judge.row("S20.13", "a right token request is answered 200", verdict);
    let url = judge.target.token_url.clone();
    judge.row("S20.2", "the path is /v1.0/auth", all(&|answer| path_of(answer, &url, TOKEN_PATH)));
    if answer.status != 200 {
        // Nothing else can be said about an answer that is not the one.
        return Ok(());
    }
    let members = |answer: &Answer, found: &dyn Fn(&body::Members<'_>) -> Verdict| match body::object(&answer.body) {
        Ok(members) => found(&members),
        Err(_) => Verdict::NotSeen("the body cannot be read".to_owned()),
    };
    let verdict = all(&|answer| three_members(&answer.body).map_or_else(Verdict::Failed, |()| Verdict::Passed));
    judge.row("S20.15", "the answer is JSON with expires_in, token_type and access_token", verdict);
    let verdict = all(&|answer| match answer.header(REQUEST_KEY.as_str()) {
        Some(found) => body::guid("X-RequestKey", found).map_or_else(Verdict::Failed, |_| Verdict::Passed),
        None => Verdict::Failed("expected the header X-RequestKey once, found none or several".to_owned()),
    });
    judge.row("S7.1", "the answer has the header X-RequestKey with a GUID", verdict);
    let verdict =
        all(&|answer| members(answer, &|members| seconds(members).map_or_else(Verdict::Failed, |_| Verdict::Passed)));
    judge.row("S7.3", "expires_in is a whole number of seconds", verdict);
    let verdict = all(&|answer| members(answer, &token_type));
    judge.row("S7.5", "token_type is Bearer", verdict);
    let verdict = all(&|answer| members(answer, &access_token));
    judge.row("S7.6", "access_token is a hyphenated GUID", verdict);
    if judge.target.scopes.len() > 1 {
        judge.row("S20.9", "several scopes are separated by a space", all(&|_| Verdict::Passed));
    }
    judge.bearer = bearer(&answer);
    Ok(())
}

/// The token that statements are asked with; another one if the first has ended. It is empty if there never was one.
pub(super) async fn bearer_of(judge: &mut Judge) -> Result<String, JudgeError> {
    let valid = |bearer: &&Bearer| bearer.until > Instant::now() + Duration::from_secs(1);
    if let Some(bearer) = judge.bearer.as_ref().filter(valid) {
        return Ok(bearer.token.clone());
    }
    if judge.bearer.is_none() {
        return Ok(String::new());
    }
    let scope = judge.target.scopes.join(" ");
    if let Got::Answer(answer) = request(judge, &scope).await? {
        judge.bearer = bearer(&answer).or(judge.bearer.take());
    }
    Ok(judge.bearer.as_ref().map_or_else(String::new, |bearer| bearer.token.clone()))
}

/// A token of an answer, whatever else is wrong with it.
pub(super) fn bearer(answer: &Answer) -> Option<Bearer> {
    let members = body::object(&answer.body).ok().filter(|_| answer.status == 200)?;
    let token =
        members.get("access_token")?.as_str().filter(|token| token.bytes().all(|byte| byte.is_ascii_graphic()))?;
    // A lifetime that cannot be read is that of every example.
    let lifetime = Duration::from_secs(seconds(&members).unwrap_or(3600).min(86_400));
    Some(Bearer { token: token.to_owned(), until: Instant::now() + lifetime })
}

fn three_members(text: &[u8]) -> Result<(), String> {
    let members = body::object(text)?;
    for name in ["expires_in", "token_type", "access_token"] {
        if members.get(name).is_none() {
            return Err(format!("expected the member {name}, found none"));
        }
    }
    Ok(())
}

/// `expires_in`.
pub(super) fn seconds(members: &body::Members<'_>) -> Result<u64, String> {
    match members.get("expires_in") {
        Some(JsonValue::Number(number)) => number
            .as_u64()
            .filter(|seconds| *seconds > 0)
            .ok_or_else(|| format!("expected whole seconds as expires_in, found {}", excerpt(number.as_str()))),
        found => Err(body::kind("expires_in", "a number", found)),
    }
}

fn token_type(members: &body::Members<'_>) -> Verdict {
    match body::text(members, "token_type") {
        Ok("Bearer") => Verdict::Passed,
        // RFC 6749 section 5.1: its value is case insensitive.
        Ok(found) if found.eq_ignore_ascii_case("Bearer") => {
            Verdict::Noted(format!("expected Bearer, found {}", excerpt(found)))
        }
        Ok(found) => Verdict::Failed(format!("expected Bearer, found {}", excerpt(found))),
        Err(what) => Verdict::Failed(what),
    }
}

fn access_token(members: &body::Members<'_>) -> Verdict {
    match body::text(members, "access_token") {
        // The token itself is a secret.
        Ok(found) => match body::guid("access_token", found) {
            Ok(_) => Verdict::Passed,
            Err(_) => Verdict::Failed("expected a hyphenated GUID as access_token, found another text".to_owned()),
        },
        Err(what) => Verdict::Failed(what),
    }
}
