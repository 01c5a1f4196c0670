//! The last rows: request keys, metadata, scopes, the end of a token.

use super::body;
use super::checks::{differs, status_of};
use super::refusals::refused;
use super::token::{bearer, form};
use super::wire::{Answer, Call};
use super::{Endpoint, Judge};
use crate::error::JudgeError;
use crate::row::Verdict;
use bankrail_client_assertion::token::names;
use reqwest::Method;
use serde_json::json;
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// The keys of all answers so far (Specification: "What the service does").
pub(super) fn request_keys(judge: &mut Judge) {
    let keys = judge.token_request_keys.clone();
    let without = keys
        .iter()
        .filter(|key| {
            key.as_deref()
                .is_none_or(|key| body::guid("", key).is_err())
        })
        .count();
    let verdict = match without {
        _ if keys.is_empty() => Verdict::NotSeen("the token endpoint answered nothing".to_owned()),
        0 => Verdict::Passed,
        without => Verdict::Failed(format!(
            "expected a GUID in the header X-RequestKey of each answer, found none in {without} of {}",
            keys.len()
        )),
    };
    judge.row(
        "S2.12",
        "each answer of the token endpoint has the header X-RequestKey",
        verdict,
    );
    let mut all: Vec<String> = keys.into_iter().flatten().collect();
    all.extend(judge.statement_request_keys.iter().cloned());
    let distinct: HashSet<String> = all.iter().map(|key| key.to_ascii_lowercase()).collect();
    let verdict = match all.len() - distinct.len() {
        _ if all.len() < 2 => Verdict::NotSeen("there are no two request keys".to_owned()),
        0 => Verdict::Passed,
        again => Verdict::Failed(format!(
            "expected another request key for each request, found {again} again"
        )),
    };
    judge.row(
        "S2.11",
        "each request has a request key of its own",
        verdict,
    );
}

/// The metadata of the issuer below the base address, if it is there.
pub(super) async fn metadata(judge: &mut Judge) {
    let (id, title) = ("S22.5", "the issuer's metadata name the token endpoint");
    if !judge.wants(id) && !judge.wants("S8.18") {
        return;
    }
    let mut url = judge.target.base_url.clone();
    url.set_path(&format!(
        "{}/.well-known/openid-configuration",
        url.path().trim_end_matches('/')
    ));
    let call = Call {
        method: Method::GET,
        url,
        headers: Vec::new(),
        body: Vec::new(),
    };
    let elsewhere = || Verdict::NotSeen("there are none below the provider's address".to_owned());
    let verdict = match judge.send_aside(call).await {
        Ok(answer) if answer.status == 200 => match body::object(&answer.body) {
            Ok(members) => {
                judge.target.issuer = body::text(&members, "issuer").ok().map(str::to_owned);
                match body::text(&members, "token_endpoint") {
                    Ok(found) if found == judge.target.token_url.as_str() => Verdict::Passed,
                    Ok(found) => {
                        Verdict::Noted(differs(judge.target.token_url.as_str(), Some(found)))
                    }
                    Err(what) => Verdict::Failed(what),
                }
            }
            Err(_) => elsewhere(),
        },
        _ => elsewhere(),
    };
    judge.row(id, title, verdict);
}

const WITHOUT: (&str, &str) = (
    "S22.10",
    "a token without the scope of statements gets no statement",
);
const SEVERAL: (&str, &str) = ("S20.9", "each of several scopes counts, the last one too");

/// A token without the scope of statements, and one with another scope before it (Specification:
/// "Authentication", 4).
pub(super) async fn other_scope(judge: &mut Judge) -> Result<(), JudgeError> {
    if !judge.wants(WITHOUT.0) && !judge.wants(SEVERAL.0) {
        return Ok(());
    }
    let own = judge.target.scopes.clone();
    let of_statements = |scope: &&String| scope.to_ascii_uppercase().contains("STATEMENT");
    let unseen = |why: &str| {
        Verdict::NotSeen(format!(
            "{why}; --scope names another scope of the customer"
        ))
    };
    let mut verdicts =
        [(); 2].map(|()| unseen("no scope of the customer is known to be of something else"));
    // Names of scopes are the provider's: what another is for shows only beside one that is of
    // statements.
    if let Some(statements) = own.iter().find(of_statements) {
        verdicts = [(); 2].map(|()| unseen("there is no token with another scope alone"));
        let others = own
            .iter()
            .filter(|scope| !of_statements(scope))
            .map(String::as_str);
        let defaults = [
            names::MANDATE_READ,
            names::MANDATE_WRITE,
            names::PAYMENT_INSTRUCTION_WRITE,
        ];
        for scope in others.chain(defaults.into_iter().filter(|_| own.len() == 1)) {
            match token_with(judge, scope).await? {
                Ok(token) => {
                    let alone = statement_with(judge, &token, refused).await;
                    let both = match token_with(judge, &format!("{scope} {statements}")).await? {
                        Ok(token) => {
                            statement_with(judge, &token, |answer| status_of(answer, &[200])).await
                        }
                        Err(verdict) => verdict,
                    };
                    verdicts = [alone, both];
                    break;
                }
                Err(Verdict::Failed(_)) => {}
                Err(verdict) => verdicts = [verdict.clone(), verdict],
            }
        }
    }
    judge.rows([WITHOUT, SEVERAL], verdicts);
    Ok(())
}

/// A token of these scopes, or why there is none.
async fn token_with(judge: &mut Judge, scope: &str) -> Result<Result<String, Verdict>, JudgeError> {
    let assertion = judge.assertion();
    let call = Call::token(&judge.target, &form(judge, &assertion, scope)?);
    Ok(judge
        .call(Endpoint::Token, call)
        .await
        .answer()
        .and_then(|answer| {
            let bearer = bearer(&answer).ok_or_else(|| status_of(&answer, &[200]))?;
            Ok(bearer.token)
        }))
}

/// The verdict about the answer to a statement request with a token.
async fn statement_with(
    judge: &mut Judge,
    token: &str,
    verdict: impl FnOnce(&Answer) -> Verdict,
) -> Verdict {
    let account = judge.target.first_account();
    let call = Call::statement(&judge.target, token, &json!({ "accountId": account }));
    judge
        .call(Endpoint::Statement, call)
        .await
        .answer()
        .map_or_else(|why| why, |answer| verdict(&answer))
}

/// Waits for the end of the token, if that is within `--wait` (Specification: "Authentication", 3).
pub(super) async fn end_of_token(judge: &mut Judge) -> Result<(), JudgeError> {
    let (id, title) = (
        "S22.6",
        "a token is refused when expires_in seconds have passed",
    );
    let (alive, alive_title) = (
        "S22.6",
        "a token is accepted while it lives, whatever tokens were issued after it",
    );
    let Some((token, until)) = judge
        .bearer
        .as_ref()
        .map(|bearer| (bearer.token.clone(), bearer.until))
    else {
        let unseen = judge
            .blocked
            .map_or(Verdict::NotSeen("there is no token".to_owned()), |why| {
                Verdict::NotRun(why.to_owned())
            });
        judge.row(alive, alive_title, unseen.clone());
        judge.row(id, title, unseen);
        return Ok(());
    };
    let account = judge.target.first_account();
    let call = Call::statement(&judge.target, &token, &json!({ "accountId": account }));
    // A second less, because a call takes its time.
    if judge.wants_row(alive, alive_title) && until > Instant::now() + Duration::from_secs(1) {
        let got = judge.call(Endpoint::Statement, call.clone()).await;
        judge.row_of(alive, alive_title, got, |answer| status_of(answer, &[200]));
    } else {
        judge.row(
            alive,
            alive_title,
            Verdict::NotSeen("the first token has ended".to_owned()),
        );
    }
    // A second more, because the provider began to count before its answer came.
    let until = until + Duration::from_secs(1);
    let left = until.saturating_duration_since(Instant::now());
    if !judge.wants(id) || left > judge.wait {
        let why = format!(
            "it lives for another {} s, and --wait is {} s",
            left.as_secs(),
            judge.wait.as_secs()
        );
        judge.row(id, title, Verdict::NotSeen(why));
        return Ok(());
    }
    sleep_until(until).await;
    let got = judge.call(Endpoint::Statement, call).await;
    judge.row_of(id, title, got, refused);
    Ok(())
}
