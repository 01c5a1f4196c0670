//! The limits of calls, counted (Specification: "Limits").
//!
//! The counting algorithms agree on a customer that has not called for two hours. Whether or not
//! refused requests count, the limit is the number of requests that are answered. What was sent
//! before in the same run counts too.

use super::Target;
use super::checks::status_of;
use super::forge::now;
use super::token::{bearer, bearer_of, form};
use super::wire::{Answer, Call};
use super::{Endpoint, Judge};
use crate::error::JudgeError;
use crate::row::Verdict;
use serde_json::json;
use std::time::Duration;
use tokio::time::sleep;

/// The calls of each kind that an hour allows, and the tokens of a second.
const STATEMENTS: usize = 25;
const TOKENS: usize = 10;

const STATEMENT_LIMIT: (&str, &str) = ("S24.5", "beyond 25 statements an hour the answer is 429");
const TOKEN_LIMIT: (&str, &str) = ("S24.6", "beyond 10 tokens an hour the answer is 429");
const RETRY: (&str, &str) = (
    "S24.7",
    "a call after Retry-After, where it is sent, is answered",
);
const STATEMENT_COUNT: (&str, &str) = (
    "S25.16",
    "25 statements an hour are answered, whatever their accounts, and no more",
);
const TOKEN_COUNT: (&str, &str) = ("S25.4", "10 tokens an hour are issued, and no more");
const TOKEN_SECOND: (&str, &str) = ("S25.3", "of three token requests at once two are answered");
const OTHER: (&str, &str) = (
    "S25.19",
    "a customer at its limit does not keep another from its statements",
);
const ROWS: [(&str, &str); 7] = [
    STATEMENT_LIMIT,
    TOKEN_LIMIT,
    RETRY,
    STATEMENT_COUNT,
    TOKEN_COUNT,
    TOKEN_SECOND,
    OTHER,
];

/// Sends right requests until one is refused.
pub(super) async fn judge(judge: &mut Judge) -> Result<(), JudgeError> {
    let why = match (judge.limits, judge.blocked) {
        (true, None) => None,
        (true, Some(why)) => Some(Verdict::NotRun(why.to_owned())),
        (false, _) => Some(Verdict::NotSeen(
            "--limits sends requests until one is refused".to_owned(),
        )),
    };
    if let Some(why) = why {
        judge.rows(ROWS, ROWS.map(|_| why.clone()));
        return Ok(());
    }
    if [STATEMENT_LIMIT.0, STATEMENT_COUNT.0, OTHER.0]
        .iter()
        .any(|id| judge.wants(id))
    {
        statements(judge).await?;
    }
    if [TOKEN_LIMIT.0, TOKEN_COUNT.0, TOKEN_SECOND.0, RETRY.0]
        .iter()
        .any(|id| judge.wants(id))
    {
        tokens(judge).await?;
    }
    Ok(())
}

async fn statements(judge: &mut Judge) -> Result<(), JudgeError> {
    let token = bearer_of(judge).await?;
    let accounts = judge.target.customer.accounts.clone();
    let calls = accounts
        .iter()
        .map(|account| Call::statement(&judge.target, &token, &json!({ "accountId": account })));
    let calls: Vec<_> = calls.collect();
    let mut calls = calls.iter().cycle();
    let next = &mut |_: &mut Judge| Ok(calls.next().cloned());
    let (reached, count) = until_refused(judge, Endpoint::Statement, STATEMENTS, next).await?;
    let other = match &reached {
        Verdict::Passed => other_customer(judge).await?,
        _ => Verdict::NotSeen("the limit was not reached".to_owned()),
    };
    judge.rows(
        [STATEMENT_LIMIT, STATEMENT_COUNT, OTHER],
        [reached, count, other],
    );
    Ok(())
}

async fn tokens(judge: &mut Judge) -> Result<(), JudgeError> {
    // The limit of a second must not be met where that of an hour is counted.
    judge.pause = judge.pause.max(Duration::from_secs(1));
    // The other customer has the requests at once, because whether a refused one counts is open.
    let other = other_target(&judge.target).filter(|_| judge.keys.other.is_some());
    let before = *judge.counts(Endpoint::Token);
    let (second, retry) = three_at_once(judge, &mut |judge| {
        token_call(judge, other.as_ref()).map(Some)
    })
    .await?;
    if other.is_some() {
        *judge.counts(Endpoint::Token) = before;
    }
    judge.rows([TOKEN_SECOND, RETRY], [second, retry]);
    let (reached, count) = until_refused(judge, Endpoint::Token, TOKENS, &mut |judge| {
        token_call(judge, None).map(Some)
    })
    .await?;
    judge.rows([TOKEN_LIMIT, TOKEN_COUNT], [reached, count]);
    Ok(())
}

/// A right token request of the customer, or of the other one.
fn token_call(judge: &mut Judge, other: Option<&Target>) -> Result<Call, JudgeError> {
    let mut assertion = judge.assertion();
    if let Some(other) = other {
        assertion.signed = super::forge::Signed::Other;
        assertion
            .claims
            .insert("sub".to_owned(), json!(other.customer.code));
    }
    let form = form(judge, &assertion, &judge.target.scopes.join(" "))?;
    Ok(Call::token(other.unwrap_or(&judge.target), &form))
}

type NextCall<'a> = &'a mut dyn FnMut(&mut Judge) -> Result<Option<Call>, JudgeError>;

/// Three requests within a second, of which one must be refused. They may fall into two windows,
/// but not twice.
async fn three_at_once(
    judge: &mut Judge,
    call: NextCall<'_>,
) -> Result<(Verdict, Verdict), JudgeError> {
    let unseen = |why: &str| Verdict::NotSeen(why.to_owned());
    for _ in 0..2 {
        // Longer than two windows of a second, so that no earlier request counts.
        sleep(Duration::from_millis(2100)).await;
        let mut calls = Vec::new();
        for _ in 0..3 {
            calls.extend(call(judge)?);
        }
        let Ok(calls) = calls.try_into() else { break };
        let answers = judge.send_three(calls).await;
        let heard = |status: u16| {
            answers
                .iter()
                .filter(|answer| answer.as_ref().is_ok_and(|answer| answer.status == status))
                .count()
        };
        let counts = judge.counts(Endpoint::Token);
        *counts = (counts.0 + heard(200), counts.1 + 3 - heard(200));
        let refusal = answers.iter().flatten().find(|answer| answer.status == 429);
        let retry = match refusal.and_then(Answer::retry_after) {
            None => unseen("no answer had Retry-After"),
            Some(after) if after > judge.wait.as_secs() => {
                unseen("Retry-After is longer than --wait")
            }
            Some(after) => {
                sleep(Duration::from_secs(after)).await;
                let Some(again) = call(judge)? else { break };
                match judge.send(Endpoint::Token, again).await {
                    Ok(answer) => status_of(&answer, &[200]),
                    Err(why) => {
                        Verdict::Failed(format!("expected 200 after {after} s, found none: {why}"))
                    }
                }
            }
        };
        match (heard(200), heard(429)) {
            (2, 1) => return Ok((Verdict::Passed, retry)),
            (3, 0) => {}
            (answered, refused) => {
                let what = format!(
                    "expected 200 twice and 429, found 200 {answered} and 429 {refused} times of 3"
                );
                return Ok((Verdict::Failed(what), retry));
            }
        }
    }
    let what = "expected 429 to one of three requests, found 200 each time, in two attempts";
    Ok((
        Verdict::Failed(what.to_owned()),
        unseen("no request was refused"),
    ))
}

/// Checks that 429 comes, and that it comes after the expected number of answers.
async fn until_refused(
    judge: &mut Judge,
    endpoint: Endpoint,
    limit: usize,
    call: NextCall<'_>,
) -> Result<(Verdict, Verdict), JudgeError> {
    let failed = |what: String| (Verdict::Failed(what.clone()), Verdict::Failed(what));
    let hour = |at: i64| at.div_euclid(3600);
    // One more than two fixed windows let through.
    for _ in 0..=2 * limit {
        let Some(next) = call(judge)? else { break };
        match judge.send(endpoint, next).await {
            Ok(answer) if answer.status == 200 => {}
            Ok(answer) if answer.status == 429 => {
                let (answered, refused) = *judge.counts(endpoint);
                // Refused for as long as the rate has not dropped, and not just once.
                let Some(again) = call(judge)? else { break };
                let reached = match judge.send(endpoint, again).await {
                    Ok(answer) if answer.status == 429 => Verdict::Passed,
                    Ok(answer) => {
                        Verdict::Failed(format!("expected 429 again, found {}", answer.status))
                    }
                    Err(why) => Verdict::Failed(format!("expected 429 again, found none: {why}")),
                };
                // A request that is refused for another reason may count too.
                let right = answered <= limit && answered + refused > limit;
                let count = match right {
                    true => Verdict::Passed,
                    false if hour(judge.began) != hour(now()) => {
                        Verdict::NotSeen("the hour ended meanwhile; run it again".to_owned())
                    }
                    false => Verdict::Failed(format!(
                        "expected {limit} answers, found {answered} before the first 429; the customer must not have \
                         called for two hours"
                    )),
                };
                return Ok((reached, count));
            }
            Ok(answer) => {
                return Ok(failed(format!(
                    "expected 200 or 429, found {}",
                    answer.status
                )));
            }
            Err(why) => return Ok(failed(format!("expected 200 or 429, found none: {why}"))),
        }
    }
    Ok(failed(format!(
        "expected 429 within {} requests, found 200 each time",
        2 * limit + 1
    )))
}

/// A statement of the other customer, now that the first has none left.
async fn other_customer(judge: &mut Judge) -> Result<Verdict, JudgeError> {
    let unseen = || {
        Ok(Verdict::NotSeen(
            "--second-connection names another customer, with its key and accounts".to_owned(),
        ))
    };
    let (Some(target), true) = (other_target(&judge.target), judge.keys.other.is_some()) else {
        return unseen();
    };
    let Some(account) = target.customer.accounts.first().cloned() else {
        return unseen();
    };
    let call = token_call(judge, Some(&target))?;
    let Ok(token) = judge.send_aside(call).await.map(|answer| bearer(&answer)) else {
        return unseen();
    };
    let Some(token) = token else {
        return Ok(Verdict::NotSeen(
            "the other customer got no token".to_owned(),
        ));
    };
    let call = Call::statement(&target, &token.token, &json!({ "accountId": account }));
    Ok(match judge.send_aside(call).await {
        Ok(answer) => status_of(&answer, &[200]),
        Err(why) => Verdict::Failed(format!("expected 200, found none: {why}")),
    })
}

/// The provider, as the other customer calls it.
fn other_target(target: &Target) -> Option<Target> {
    Some(Target {
        customer: target.other.clone()?,
        other: None,
        ..target.clone()
    })
}
