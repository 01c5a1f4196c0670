//! Judges the last rows: request keys, metadata, scopes, the end of a token.

use super::checks::{guid, object, status_of, text};
use super::refusals::refused;
use super::token::{bearer, form};
use super::windows::step;
use super::wire::{Answer, Call};
use super::{Bearer, Endpoint, ProviderJudge};
use crate::error::JudgeError;
use crate::row::{Demand, Verdict};
use bankrail_client_assertion::token::names;
use reqwest::Method;
use serde_json::json;
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The keys of all answers so far (Specification: "What the service does").
pub(super) fn request_keys(judge: &mut ProviderJudge) {
    let keys = judge.token_request_keys.clone();
    let without = keys
        .iter()
        .filter(|key| {
            key.as_deref()
                .is_none_or(|key| guid("", key) != Verdict::Passed)
        })
        .count();
    let verdict = match without {
        _ if keys.is_empty() => Verdict::not_seen("the token endpoint answered nothing"),
        0 => Verdict::Passed,
        without => Verdict::Failed(format!(
            "expected a GUID in the header X-RequestKey of each answer, found none in {without} of {}",
            keys.len()
        )),
    };
    let row = (
        "S2.12",
        "each answer of the token endpoint has the header X-RequestKey",
    );
    judge.row(row, verdict);
    let mut all: Vec<String> = keys.into_iter().flatten().collect();
    all.extend(judge.statement_request_keys.iter().cloned());
    let distinct: HashSet<String> = all.iter().map(|key| key.to_ascii_lowercase()).collect();
    let verdict = match all.len() - distinct.len() {
        _ if all.len() < 2 => Verdict::not_seen("there are no two request keys"),
        0 => Verdict::Passed,
        again => Verdict::Failed(format!(
            "expected another request key for each request, found {again} again"
        )),
    };
    let row = ("S2.11", "each request has a request key of its own");
    judge.row(row, verdict);
}

/// The metadata of the issuer below the base address, if it is there.
pub(super) async fn metadata(judge: &mut ProviderJudge) {
    let row = ("S22.5", "the issuer's metadata name the token endpoint");
    if !judge.wanted.has(row.0) && !judge.wanted.has("S8.18") {
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
    let elsewhere = || Verdict::not_seen("there are none below the provider's address");
    let verdict = match judge.send_aside(call).await {
        Ok(answer) if answer.status == 200 => match object(&answer.body) {
            Ok(members) => {
                judge.target.issuer = text(&members, "issuer").ok().map(str::to_owned);
                match text(&members, "token_endpoint") {
                    Ok(found) if found == judge.target.token_url.as_str() => Verdict::Passed,
                    // Addresses are not printed.
                    Ok(_) => Verdict::Noted(
                        "expected the address of the token endpoint, found another".to_owned(),
                    ),
                    Err(what) => Verdict::Failed(what),
                }
            }
            Err(_) => elsewhere(),
        },
        _ => elsewhere(),
    };
    judge.row(row, verdict);
}

const WITHOUT_SCOPE: (&str, &str) = (
    "S22.10",
    "a token without the scope of statements gets no statement",
);
const SEVERAL_SCOPES: (&str, &str) = ("S20.9", "each of several scopes counts, the last one too");

/// A token without the scope of statements, and one with another scope before it (Specification:
/// "Authentication", 4).
pub(super) async fn other_scope(judge: &mut ProviderJudge) -> Result<(), JudgeError> {
    if !judge.wanted.has(WITHOUT_SCOPE.0) && !judge.wanted.has(SEVERAL_SCOPES.0) {
        return Ok(());
    }
    let own = judge.target.scopes.clone();
    let of_statements = |scope: &&String| scope.to_ascii_uppercase().contains("STATEMENT");
    let unseen = |why: &str| {
        Verdict::NotSeen(format!(
            "--scope names another scope of the customer: {why}"
        ))
    };
    let mut verdicts =
        [(); 2].map(|()| unseen("no scope of the customer is known to be of something else"));
    // The provider chooses the names of scopes, so the purpose of another scope shows only in
    // comparison with the scope of statements.
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
    let [alone, both] = verdicts;
    judge.row_demanding(Demand::Refusal, WITHOUT_SCOPE, alone);
    judge.row(SEVERAL_SCOPES, both);
    Ok(())
}

/// A token of these scopes, or why there is none.
async fn token_with(
    judge: &mut ProviderJudge,
    scope: &str,
) -> Result<Result<String, Verdict>, JudgeError> {
    let assertion = judge.assertion();
    let call = Call::token(&judge.target, &form(judge, &assertion, scope)?);
    let got = judge.call(Endpoint::Token, call).await;
    Ok(got.and_then(|answer| {
        let bearer = bearer(judge, &answer).ok_or_else(|| status_of(&answer, &[200]))?;
        Ok(bearer.token)
    }))
}

/// Returns the verdict about the answer to a statement request with a token.
async fn statement_with(
    judge: &mut ProviderJudge,
    token: &str,
    verdict: impl FnOnce(&Answer) -> Verdict,
) -> Verdict {
    let account = judge.target.first_account();
    let call = Call::statement(&judge.target, token, &json!({ "accountId": account }));
    judge
        .call(Endpoint::Statement, call)
        .await
        .map_or_else(|why| why, |answer| verdict(&answer))
}

const ALIVE: (&str, &str) = (
    "S22.6",
    "a token is accepted while it lives, whatever tokens were issued after it",
);
const LAST_MOMENT: (&str, &str) = (
    "S22.6",
    "a token is accepted until expires_in seconds have passed",
);
const ENDED: (&str, &str) = (
    "S22.6",
    "a token is refused when expires_in seconds have passed",
);

/// Uses the token now, shortly before its end and after it, as far as the provider's clock can be
/// stepped or `--wait` lasts (Specification: "Authentication", 3).
pub(super) async fn end_of_token(judge: &mut ProviderJudge) -> Result<(), JudgeError> {
    if !judge.wanted.has(ALIVE.0) {
        return Ok(());
    }
    let Some(bearer) = judge.bearer.clone() else {
        let unseen = judge
            .blocked
            .map_or(Verdict::not_seen("there is no token"), |why| {
                Verdict::not_run(why)
            });
        judge.same_rows([ALIVE, LAST_MOMENT, ENDED], &unseen);
        return Ok(());
    };
    let account = judge.target.first_account();
    let call = Call::statement(
        &judge.target,
        &bearer.token,
        &json!({ "accountId": account }),
    );
    let now = judge.provider_now();
    // Leaves enough time for the call before the end, and a second after the end, because the
    // provider began to count before its answer arrived.
    let margin = (bearer.lifetime / 10).min(Duration::from_secs(10));
    let times = [
        now,
        bearer.until - margin,
        bearer.until + Duration::from_secs(1),
    ];
    for (row, time) in [ALIVE, LAST_MOMENT, ENDED].into_iter().zip(times) {
        let is_end = time > bearer.until;
        let got = match reach(judge, &bearer, time).await {
            Err(verdict) => Err(verdict),
            Ok(()) => judge.call(Endpoint::Statement, call.clone()).await,
        };
        let verdict = match got {
            Err(verdict) => verdict,
            Ok(answer) if is_end => refused(&answer),
            Ok(_) if judge.provider_now() >= bearer.until => {
                Verdict::not_seen("the token has ended before the answer came")
            }
            Ok(answer) => match status_of(&answer, &[200]) {
                Verdict::Failed(why) => {
                    let (all, left) = (bearer.lifetime, bearer.until - judge.provider_now());
                    let (all, left) = (all.as_secs(), left.as_secs());
                    Verdict::Failed(format!("{left} s before the end of {all} s: {why}"))
                }
                verdict => verdict,
            },
        };
        let demand = if is_end {
            Demand::Refusal
        } else {
            Demand::Service
        };
        judge.row_demanding(demand, row, verdict);
    }
    Ok(())
}

/// Waits until a time at the provider, or steps its clock.
///
/// # Errors
/// The verdict of a row that cannot be judged.
async fn reach(judge: &mut ProviderJudge, bearer: &Bearer, time: Instant) -> Result<(), Verdict> {
    let left = time.saturating_duration_since(judge.provider_now());
    if judge.clock.is_some() {
        // Whole seconds, rounded towards the side of the end that is judged.
        let seconds = left.as_secs() + u64::from(time > bearer.until);
        step(judge, seconds).await.map_err(Verdict::NotRun)
    } else if left <= judge.wait {
        // Nothing else makes the time pass at a provider whose clock cannot be stepped.
        sleep(left).await;
        Ok(())
    } else {
        Err(Verdict::NotSeen(format!(
            "--clock shows it, or --wait {}",
            bearer.lifetime.as_secs() + 1
        )))
    }
}
