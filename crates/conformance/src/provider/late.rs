//! What is judged when everything else was asked: request keys, metadata, the end of a token, limits.

use super::body;
use super::judge::{Endpoint, Judge, differs};
use super::refusals::refused;
use super::token::{bearer, bearer_of, form};
use super::wire::Call;
use crate::error::JudgeError;
use crate::row::Verdict;
use reqwest::Method;
use serde_json::json;
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Requests of each kind that are sent to meet a limit: one more than two fixed windows let through.
const TOKENS: usize = 2 * 10 + 1;
const STATEMENTS: usize = 2 * 25 + 1;

/// The keys of all answers so far (Specification: "What the service does").
pub(super) fn request_keys(judge: &mut Judge) {
    let keys = judge.token_request_keys.clone();
    let without = keys.iter().filter(|key| key.as_deref().is_none_or(|key| body::guid("", key).is_err())).count();
    let verdict = match without {
        _ if keys.is_empty() => Verdict::NotSeen("the token endpoint answered nothing".to_owned()),
        0 => Verdict::Passed,
        without => Verdict::Failed(format!(
            "expected a GUID in the header X-RequestKey of each answer, found none in {without} of {}",
            keys.len()
        )),
    };
    judge.row("S2.12", "each answer of the token endpoint has the header X-RequestKey", verdict);
    let mut all: Vec<String> = keys.into_iter().flatten().collect();
    all.extend(judge.statement_request_keys.iter().cloned());
    let distinct: HashSet<String> = all.iter().map(|key| key.to_ascii_lowercase()).collect();
    let verdict = match all.len() - distinct.len() {
        _ if all.len() < 2 => Verdict::NotSeen("there are no two request keys".to_owned()),
        0 => Verdict::Passed,
        again => Verdict::Failed(format!("expected another request key for each request, found {again} again")),
    };
    judge.row("S2.11", "each request has a request key of its own", verdict);
}

/// The metadata of the issuer below the base address, if it is there.
pub(super) async fn metadata(judge: &mut Judge) {
    let (id, title) = ("S22.5", "the issuer's metadata name the token endpoint");
    if !judge.wants(id) {
        return;
    }
    let mut url = judge.target.base_url.clone();
    url.set_path(&format!("{}/.well-known/openid-configuration", url.path().trim_end_matches('/')));
    let call = Call { method: Method::GET, url, headers: Vec::new(), body: Vec::new() };
    let elsewhere = || Verdict::NotSeen("there are none below the provider's address".to_owned());
    let verdict = match judge.send_aside(call).await {
        Ok(answer) if answer.status == 200 => match body::object(&answer.body) {
            Ok(members) => match body::text(&members, "token_endpoint") {
                Ok(found) if found == judge.target.token_url.as_str() => Verdict::Passed,
                Ok(found) => Verdict::Noted(differs(judge.target.token_url.as_str(), Some(found))),
                Err(what) => Verdict::Failed(what),
            },
            Err(_) => elsewhere(),
        },
        _ => elsewhere(),
    };
    judge.row(id, title, verdict);
}

/// A token without the scope of statements (Specification: "Authentication", 4).
pub(super) async fn other_scope(judge: &mut Judge) -> Result<(), JudgeError> {
    let (id, title) = ("S22.10", "a token without the scope of statements gets no statement");
    if judge.wants(id) {
        let verdict = statement_without_scope(judge).await?;
        judge.row(id, title, verdict);
    }
    Ok(())
}

async fn statement_without_scope(judge: &mut Judge) -> Result<Verdict, JudgeError> {
    let of_statements = |scope: &str| scope.to_ascii_uppercase().contains("STATEMENT");
    // Names of scopes are the provider's: what another is for shows only beside one that is of statements.
    let known = judge.target.scopes.iter().any(|scope| of_statements(scope));
    let other = judge.target.scopes.iter().find(|scope| known && !of_statements(scope)).cloned();
    let (Some(scope), Some(account)) = (other, judge.target.customer.accounts.first().cloned()) else {
        let why = "no scope of the customer is of something else; --scope names one";
        return Ok(Verdict::NotSeen(why.to_owned()));
    };
    let assertion = judge.assertion();
    let call = Call::token(&judge.target, &form(judge, &assertion, &scope)?);
    let token = match judge.call(Endpoint::Token, call).await.answer() {
        Err(verdict @ Verdict::NotRun(_)) => return Ok(verdict),
        answer => answer.ok().and_then(|answer| bearer(&answer)),
    };
    let Some(token) = token else {
        return Ok(Verdict::NotSeen("there is no token with this scope alone".to_owned()));
    };
    let call = Call::statement(&judge.target, &token.token, &json!({ "accountId": account }));
    let answer = judge.call(Endpoint::Statement, call).await.answer();
    Ok(answer.map_or_else(|verdict| verdict, |answer| refused(&answer)))
}

/// Waits for the end of the token, if that is within `--wait` (Specification: "Authentication", 3).
pub(super) async fn end_of_token(judge: &mut Judge) -> Result<(), JudgeError> {
    let (id, title) = ("S22.6", "a token is refused when expires_in seconds have passed");
    let Some((token, until)) = judge.bearer.as_ref().map(|bearer| (bearer.token.clone(), bearer.until)) else {
        judge.row(id, title, Verdict::NotSeen("there is no token".to_owned()));
        return Ok(());
    };
    // A second more, because the provider began to count before its answer came.
    let until = until + Duration::from_secs(1);
    let left = until.saturating_duration_since(Instant::now());
    if !judge.wants(id) || left > judge.wait {
        let why = format!("it lives for another {} s, and --wait is {} s", left.as_secs(), judge.wait.as_secs());
        judge.row(id, title, Verdict::NotSeen(why));
        return Ok(());
    }
    sleep_until(until).await;
    let account = judge.target.customer.accounts.first().cloned().unwrap_or_default();
    let call = Call::statement(&judge.target, &token, &json!({ "accountId": account }));
    let got = judge.call(Endpoint::Statement, call).await;
    judge.row_of(id, title, got, refused);
    Ok(())
}

const STATEMENT_LIMIT: (&str, &str) = ("S24.5", "beyond 25 statements an hour the answer is 429");
const TOKEN_LIMIT: (&str, &str) = ("S24.6", "beyond 10 tokens an hour the answer is 429");

/// Sends right requests until one is refused (Specification: "Limits").
pub(super) async fn limits(judge: &mut Judge) -> Result<(), JudgeError> {
    if !judge.limits {
        for (id, title) in [STATEMENT_LIMIT, TOKEN_LIMIT] {
            judge.row(id, title, Verdict::NotSeen("--limits sends requests until one is refused".to_owned()));
        }
        return Ok(());
    }
    let (id, title) = STATEMENT_LIMIT;
    if judge.wants(id) {
        let token = bearer_of(judge).await?;
        let verdict = if judge.bearer.as_ref().is_some_and(|bearer| bearer.until > Instant::now()) {
            let account = judge.target.customer.accounts.first().cloned().unwrap_or_default();
            let call = Call::statement(&judge.target, &token, &json!({ "accountId": account }));
            until_refused(judge, Endpoint::Statement, STATEMENTS, &mut |_| Ok(call.clone())).await?
        } else {
            Verdict::NotRun("there is no valid access token".to_owned())
        };
        judge.row(id, title, verdict);
    }
    let (id, title) = TOKEN_LIMIT;
    if judge.wants(id) {
        let scope = judge.target.scopes.join(" ");
        let mut call = |judge: &mut Judge| -> Result<Call, JudgeError> {
            let assertion = judge.assertion();
            Ok(Call::token(&judge.target, &form(judge, &assertion, &scope)?))
        };
        let verdict = until_refused(judge, Endpoint::Token, TOKENS, &mut call).await?;
        judge.row(id, title, verdict);
    }
    Ok(())
}

async fn until_refused(
    judge: &mut Judge,
    endpoint: Endpoint,
    most: usize,
    call: &mut dyn FnMut(&mut Judge) -> Result<Call, JudgeError>,
) -> Result<Verdict, JudgeError> {
    for _ in 0..most {
        let next = call(judge)?;
        match judge.send(endpoint, next).await {
            Ok(answer) if answer.status == 200 => {}
            Ok(answer) if answer.status == 429 => {
                // Refused for as long as the rate has not dropped, and not just once.
                let again = call(judge)?;
                return Ok(match judge.send(endpoint, again).await {
                    Ok(answer) if answer.status == 429 => Verdict::Passed,
                    Ok(answer) => Verdict::Failed(format!("expected 429 again, found {}", answer.status)),
                    Err(why) => Verdict::Failed(format!("expected 429 again, found none: {why}")),
                });
            }
            Ok(answer) => return Ok(Verdict::Failed(format!("expected 200 or 429, found {}", answer.status))),
            Err(why) => return Ok(Verdict::Failed(format!("expected 200 or 429, found none: {why}"))),
        }
    }
    Ok(Verdict::Failed(format!("expected 429 within {most} requests, found 200 each time")))
}
