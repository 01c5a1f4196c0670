//! A correct token request and its answer (Specification: "Obtain access token", "Access token
//! response").

use super::checks::{
    ABSENT, AnswerView, Check, expect, guid, kind, object, path_of, seen, status_of,
};
use super::forge::Assertion;
use super::wire::{Answer, Call};
use super::{Bearer, Endpoint, NO_TOKEN, ProviderJudge, now};
use crate::error::JudgeError;
use crate::row::{BEYOND, Verdict};
use bankrail_client_assertion::token::TokenRequest;
use bankrail_http::names::{REQUEST_KEY, TOKEN_PATH};
use bankrail_values::json::{JsonObject, JsonValue};
use bankrail_values::{Decimal, excerpt};
use serde_json::json;
use std::time::Duration;

/// Returns the four fields of the form.
pub(super) fn form(
    judge: &ProviderJudge,
    assertion: &Assertion,
    scope: &str,
) -> Result<Vec<(&'static str, String)>, JudgeError> {
    Ok(vec![
        ("grant_type", TokenRequest::GRANT_TYPE.to_owned()),
        (
            "client_assertion_type",
            TokenRequest::ASSERTION_TYPE.to_owned(),
        ),
        ("scope", scope.to_owned()),
        ("client_assertion", assertion.write(&judge.keys)?),
    ])
}

/// Sends a token request with an assertion.
async fn request(
    judge: &mut ProviderJudge,
    assertion: &Assertion,
) -> Result<Result<Answer, Verdict>, JudgeError> {
    let scope = judge.target.scopes.join(" ");
    let call = Call::token(&judge.target, &form(judge, assertion, &scope)?);
    Ok(judge.call(Endpoint::Token, call).await)
}

/// Another token, if a right request is answered with one.
pub(super) async fn another(judge: &mut ProviderJudge) -> Result<Option<Bearer>, JudgeError> {
    let assertion = judge.assertion();
    let got = request(judge, &assertion).await?;
    Ok(got.ok().and_then(|answer| bearer(judge, &answer)))
}

/// The longest exp of 3600 s, less half a minute for clocks that differ.
const LONGEST_EXP: (&str, &str) = ("S8.15", "an exp 59 minutes and a half ahead is accepted");

/// Gets the first token and judges its answer.
///
/// # Errors
/// [`JudgeError`] if the provider cannot be reached.
pub(super) async fn judge_first(judge: &mut ProviderJudge) -> Result<(), JudgeError> {
    let mut assertion = judge.assertion();
    let far = json!(now() + 3570);
    assertion.claims.insert("exp".to_owned(), far);
    let mut got = request(judge, &assertion).await?;
    let mut is_far = Verdict::Passed;
    if let Ok(refusal) = &got
        && refusal.status != 200
        && judge.tokens.left() > 0
    {
        // Tries an `exp` that clients usually send.
        is_far = status_of(refusal, &[200]);
        let assertion = judge.assertion();
        got = request(judge, &assertion).await?;
    }
    let answer = match got {
        Ok(answer) => answer,
        Err(Verdict::Failed(reason)) => {
            return Err(JudgeError::Unreachable {
                address: judge.target.token_url.to_string(),
                reason,
            });
        }
        // Without the rows of statements, the report would have no rows left to judge later.
        Err(not_run) => {
            return Err(JudgeError::NoToken {
                reason: not_run.detail().to_owned(),
            });
        }
    };
    judge.row(
        ("S20.13", "a right token request is answered 200"),
        status_of(&answer, &[200]),
    );
    judge.row(
        ("S20.2", "the path is /v1.0/auth"),
        path_of(&answer, &judge.target.token_url, TOKEN_PATH),
    );
    if answer.status != 200 {
        // No other row can judge an answer that is not a token response.
        judge.row(LONGEST_EXP, Verdict::not_run(NO_TOKEN));
        return Ok(());
    }
    judge.row(LONGEST_EXP, is_far);
    let view = AnswerView::of(&answer, "");
    for (id, title, check) in ROWS {
        judge.row((id, title), seen(check(&view), "the body cannot be read"));
    }
    if judge.target.scopes.len() > 1 {
        let row = ("S20.9", "several scopes are separated by a space");
        judge.row(row, Verdict::Passed);
    }
    judge.bearer = bearer(judge, &answer);
    Ok(())
}

/// The token that statements are asked with; another one if the first has ended. It is empty if
/// there never was one.
pub(super) async fn bearer_of(judge: &mut ProviderJudge) -> Result<String, JudgeError> {
    // A second is left for the call itself.
    let soon = judge.provider_now() + Duration::from_secs(1);
    if let Some(bearer) = judge.bearer.as_ref().filter(|bearer| bearer.until > soon) {
        return Ok(bearer.token.clone());
    }
    if judge.bearer.is_none() {
        return Ok(String::new());
    }
    // Keeps the previous token if there is no other, so that rows show the refusal of a call.
    judge.bearer = another(judge).await?.or(judge.bearer.take());
    Ok(judge
        .bearer
        .as_ref()
        .map_or_else(String::new, |bearer| bearer.token.clone()))
}

/// Reads the token of an answer and ignores its other faults.
pub(super) fn bearer(judge: &ProviderJudge, answer: &Answer) -> Option<Bearer> {
    let members = object(&answer.body).ok().filter(|_| answer.status == 200)?;
    let token = members
        .get("access_token")?
        .as_str()
        .filter(|token| token.bytes().all(|byte| byte.is_ascii_graphic()))?;
    // An unreadable lifetime is assumed to be that of every example.
    let lifetime = Duration::from_secs(seconds(&members).unwrap_or(3600).min(86_400));
    Some(Bearer {
        token: token.to_owned(),
        lifetime,
        until: judge.provider_now() + lifetime,
    })
}

/// `expires_in`.
fn seconds(members: &JsonObject<'_>) -> Result<u64, String> {
    match members.get("expires_in") {
        // Some libraries write 3600.0 or 3.6e3, which is the same number.
        Some(JsonValue::Number(number)) => number
            .as_str()
            .parse()
            .or_else(|_| Decimal::from_scientific(number.as_str()))
            .ok()
            .filter(|seconds| seconds.fract().is_zero() && *seconds > Decimal::ZERO)
            .and_then(|seconds| u64::try_from(seconds).ok())
            .ok_or_else(|| {
                format!(
                    "expected whole seconds as expires_in, found {}",
                    excerpt(number.as_str())
                )
            }),
        found => Err(kind("expires_in", "a number", found)),
    }
}

/// The rows about an answer with the status 200: clause, title, and what is right. The first alone
/// fails for a body that cannot be read.
const ROWS: [(&str, &str, Check); 7] = [
    (
        "S20.15",
        "the answer is JSON with expires_in, token_type and access_token",
        |view| {
            let members = match &view.members {
                Ok(members) => members,
                Err(what) => return Verdict::failed(what),
            };
            let mut names = ["expires_in", "token_type", "access_token"].into_iter();
            let missing = names.find(|name| members.get(name).is_none());
            missing.map_or(Verdict::Passed, |name| {
                Verdict::Failed(format!("expected the member {name}, found none"))
            })
        },
    ),
    (
        "S7.1",
        "the answer has the header X-RequestKey with a GUID",
        |view| match view.answer.header(REQUEST_KEY.as_str()) {
            Some(found) => guid("X-RequestKey", found),
            None => Verdict::failed("expected the header X-RequestKey once, found none or several"),
        },
    ),
    (
        "S7.3",
        "expires_in is a whole number of seconds",
        |view| match view.members.as_ref().map(seconds) {
            Ok(Err(what)) => Verdict::Failed(what),
            Ok(Ok(_)) => Verdict::Passed,
            Err(_) => ABSENT,
        },
    ),
    (
        "S7.4",
        "expires_in is no more than a day",
        |view| match view.members.as_ref().map(seconds) {
            Ok(Ok(86_401..)) => Verdict::failed(
                "expected about 3600 s, found more than a day; are these milliseconds?",
            ),
            Ok(_) => Verdict::Passed,
            Err(_) => ABSENT,
        },
    ),
    (BEYOND, "the answer has Cache-Control: no-store", |view| {
        let found = view.answer.header("cache-control");
        let is_right = |found: &str| found.to_ascii_lowercase().contains("no-store");
        expect(found.is_some_and(is_right), "no-store", found)
    }),
    ("S7.5", "token_type is Bearer", |view| {
        view.text("token_type", |found| {
            expect(found == "Bearer", "Bearer", Some(found))
        })
    }),
    ("S7.6", "access_token is a hyphenated GUID", |view| {
        view.text("access_token", |found| {
            // The token itself is a secret.
            Verdict::when(guid("", found) == Verdict::Passed, || {
                "expected a hyphenated GUID as access_token, found another text".to_owned()
            })
        })
    }),
];
