//! Counts calls to judge the limits (Specification: "Limits").
//!
//! The counting algorithms agree on a customer that has not called for two hours. The specification
//! leaves open if refused requests count. A limit is therefore judged only if no request was
//! refused before the limit was met: in a fresh hour if the clock can be stepped, otherwise in a
//! run without incorrect requests.

use super::Target;
use super::checks::status_of;
use super::token::{bearer, bearer_of, form};
use super::windows::{fresh_hour, two_hours_later};
use super::wire::{Answer, Call};
use super::{Endpoint, ProviderJudge, now};
use crate::error::JudgeError;
use crate::row::Verdict;
use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The calls of each kind that an hour allows, and the tokens of a second.
const STATEMENTS_PER_HOUR: usize = 25;
const TOKENS_PER_HOUR: usize = 10;

const STATEMENT_LIMIT: (&str, &str) = ("S24.5", "beyond 25 statements an hour the answer is 429");
const TOKEN_LIMIT: (&str, &str) = ("S24.6", "beyond 10 tokens an hour the answer is 429");
const RETRY_AFTER: (&str, &str) = (
    "S24.7",
    "a call after Retry-After, where it is sent, is answered",
);
const STATEMENT_COUNT: (&str, &str) = (
    "S25.16",
    "25 statements an hour are answered, whatever their accounts, and no more",
);
const TOKEN_COUNT: (&str, &str) = ("S25.4", "10 tokens an hour are issued, and no more");
const TOKEN_SECOND: (&str, &str) = ("S25.3", "of three token requests at once two are answered");
const OTHER_CUSTOMER: (&str, &str) = (
    "S25.19",
    "a customer at its limit does not keep another from its statements",
);
const ANSWERED_AGAIN: (&str, &str) = (
    "S24.7",
    "a customer at its limit is answered again two hours later",
);
const ROWS: [(&str, &str); 8] = [
    STATEMENT_LIMIT,
    TOKEN_LIMIT,
    RETRY_AFTER,
    STATEMENT_COUNT,
    TOKEN_COUNT,
    TOKEN_SECOND,
    OTHER_CUSTOMER,
    ANSWERED_AGAIN,
];

/// Sends right requests until one is refused.
pub(super) async fn judge(judge: &mut ProviderJudge) -> Result<(), JudgeError> {
    let why = match (judge.limits, judge.blocked) {
        (true, None) => None,
        (true, Some(why)) => Some(Verdict::not_run(why)),
        (false, _) => Some(Verdict::not_seen(
            "--limits sends requests until one is refused",
        )),
    };
    if let Some(why) = why {
        judge.same_rows(ROWS, &why);
        return Ok(());
    }
    if [
        STATEMENT_LIMIT.0,
        STATEMENT_COUNT.0,
        OTHER_CUSTOMER.0,
        ANSWERED_AGAIN.0,
    ]
    .iter()
    .any(|id| judge.wanted.has(id))
    {
        statements(judge).await?;
    }
    if [TOKEN_LIMIT.0, TOKEN_COUNT.0, TOKEN_SECOND.0, RETRY_AFTER.0]
        .iter()
        .any(|id| judge.wanted.has(id))
    {
        tokens(judge).await?;
    }
    Ok(())
}

async fn statements(judge: &mut ProviderJudge) -> Result<(), JudgeError> {
    let rows = [
        STATEMENT_LIMIT,
        STATEMENT_COUNT,
        OTHER_CUSTOMER,
        ANSWERED_AGAIN,
    ];
    if let Err(why) = fresh_hour(judge).await {
        judge.same_rows(rows, &Verdict::NotRun(why));
        return Ok(());
    }
    let mut tokens = vec![bearer_of(judge).await?];
    // Uses two tokens, because the limit belongs to the customer and not to a token.
    let call = token_call(judge, None)?;
    let second = judge.send(Endpoint::Token, call).await;
    tokens.extend(
        second
            .ok()
            .and_then(|answer| Some(bearer(judge, &answer)?.token)),
    );
    let accounts = judge.target.customer.accounts.clone();
    let calls = accounts.iter().flat_map(|account| {
        let request = json!({ "accountId": account });
        let target = &judge.target;
        tokens
            .iter()
            .map(move |token| Call::statement(target, token, &request))
    });
    let calls: Vec<_> = calls.collect();
    let mut calls = calls.into_iter().cycle();
    let next =
        &mut |_: &mut ProviderJudge| Ok(calls.next().expect("there is an account and a token"));
    let (reached, count) =
        until_refused(judge, Endpoint::Statement, STATEMENTS_PER_HOUR, next).await?;
    let [other, again] = match &reached {
        Verdict::Passed => [other_customer(judge).await?, two_hours_later(judge).await],
        _ => [(); 2].map(|()| Verdict::not_seen("the limit was not reached")),
    };
    judge.rows(rows, [reached, count, other, again]);
    Ok(())
}

async fn tokens(judge: &mut ProviderJudge) -> Result<(), JudgeError> {
    // The limit of a second must not be met where that of an hour is counted.
    judge.pause = judge.pause.max(Duration::from_secs(1));
    // The simultaneous requests are the other customer's, because the specification leaves open if
    // a refused one counts.
    let other = other_target(&judge.target).filter(|_| judge.keys.other.is_some());
    let before = judge.tokens.counts;
    if let Err(why) = fresh_hour(judge).await {
        let rows = [TOKEN_SECOND, RETRY_AFTER, TOKEN_LIMIT, TOKEN_COUNT];
        judge.same_rows(rows, &Verdict::NotRun(why));
        return Ok(());
    }
    let at_once = &mut |judge: &mut ProviderJudge| token_call(judge, other.as_ref());
    let (second, retry) = three_at_once(judge, at_once).await?;
    if other.is_some() {
        judge.tokens.counts = before;
    }
    judge.rows([TOKEN_SECOND, RETRY_AFTER], [second, retry]);
    if let Err(why) = fresh_hour(judge).await {
        judge.same_rows([TOKEN_LIMIT, TOKEN_COUNT], &Verdict::NotRun(why));
        return Ok(());
    }
    let next = &mut |judge: &mut ProviderJudge| token_call(judge, None);
    let (reached, count) = until_refused(judge, Endpoint::Token, TOKENS_PER_HOUR, next).await?;
    judge.rows([TOKEN_LIMIT, TOKEN_COUNT], [reached, count]);
    Ok(())
}

/// A right token request of the customer, or of the other one.
fn token_call(judge: &mut ProviderJudge, other: Option<&Target>) -> Result<Call, JudgeError> {
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

type NextCall<'a> = &'a mut dyn FnMut(&mut ProviderJudge) -> Result<Call, JudgeError>;

/// Sends three requests within a second, one of which must be refused. They may fall into two
/// windows, but not in two attempts.
async fn three_at_once(
    judge: &mut ProviderJudge,
    call: NextCall<'_>,
) -> Result<(Verdict, Verdict), JudgeError> {
    for _ in 0..2 {
        // Waits longer than two windows of a second, so that no earlier request counts.
        sleep(Duration::from_millis(2100)).await;
        let calls = [call(judge)?, call(judge)?, call(judge)?];
        let began = Instant::now();
        let answers = judge.send_three(calls).await;
        let took = began.elapsed();
        let heard = |status: u16| {
            answers
                .iter()
                .filter(|answer| answer.as_ref().is_ok_and(|answer| answer.status == status))
                .count()
        };
        let counts = &mut judge.tokens.counts;
        *counts = (counts.0 + heard(200), counts.1 + 3 - heard(200));
        let refusal = answers.iter().flatten().find(|answer| answer.status == 429);
        let retry = match refusal.and_then(Answer::retry_after) {
            None => Verdict::not_seen("no answer had Retry-After"),
            Some(after) if after > judge.wait.as_secs() => {
                Verdict::not_seen("Retry-After is longer than --wait")
            }
            Some(after) => {
                // As long as the provider asks for: the row is about the call after that.
                sleep(Duration::from_secs(after)).await;
                let again = call(judge)?;
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
            (3, 0) if took >= Duration::from_secs(1) => {
                let why = "the three took longer than a second";
                return Ok((Verdict::not_seen(why), retry));
            }
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
        Verdict::failed(what),
        Verdict::not_seen("no request was refused"),
    ))
}

/// Checks that a request is answered 429 after the expected number of other answers.
async fn until_refused(
    judge: &mut ProviderJudge,
    endpoint: Endpoint,
    limit: usize,
    call: NextCall<'_>,
) -> Result<(Verdict, Verdict), JudgeError> {
    let failed = |what: String| (Verdict::Failed(what.clone()), Verdict::Failed(what));
    let hour = |at: i64| at.div_euclid(3600);
    // Sends one request more than two fixed windows allow.
    for _ in 0..=2 * limit {
        let next = call(judge)?;
        match judge.send(endpoint, next).await {
            Ok(answer) if answer.status == 200 => {}
            Ok(answer) if answer.status == 429 => {
                let (answered, refused) = judge.purse(endpoint).counts;
                // Refused for as long as the rate has not dropped, and not just once.
                let again = call(judge)?;
                let reached = match judge.send(endpoint, again).await {
                    Ok(answer) if answer.status == 429 => Verdict::Passed,
                    Ok(answer) => {
                        Verdict::Failed(format!("expected 429 again, found {}", answer.status))
                    }
                    Err(why) => Verdict::Failed(format!("expected 429 again, found none: {why}")),
                };
                let ended = judge.clock.is_none() && hour(judge.began) != hour(now());
                let count = match counted(limit, answered, refused - 1) {
                    Verdict::Failed(_) if ended => {
                        Verdict::not_seen("the hour ended meanwhile; run it again")
                    }
                    verdict => verdict,
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

/// Returns the verdict on a limit that was met after this many answers and earlier refusals for
/// other reasons.
fn counted(limit: usize, answered: usize, refused: usize) -> Verdict {
    if answered == limit && refused == 0 {
        Verdict::Passed
    } else if answered > limit || (1..limit).contains(&(answered + refused)) {
        Verdict::Failed(format!(
            "expected {limit} answers, found {answered} before the first 429; the customer must not have called for \
             two hours"
        ))
    } else if refused > 0 {
        Verdict::NotSeen(format!(
            "--clock shows it, or --only S25: {refused} requests were refused before and may count"
        ))
    } else {
        Verdict::not_seen("the customer was at its limit before this run")
    }
}

/// A statement of the other customer, now that the first has none left.
async fn other_customer(judge: &mut ProviderJudge) -> Result<Verdict, JudgeError> {
    let unseen = || {
        Ok(Verdict::not_seen(
            "--second-connection names another customer, with its key and accounts",
        ))
    };
    let (Some(target), true) = (other_target(&judge.target), judge.keys.other.is_some()) else {
        return unseen();
    };
    let Some(account) = target.customer.accounts.first().cloned() else {
        return unseen();
    };
    let call = token_call(judge, Some(&target))?;
    let Ok(answer) = judge.send_aside(call).await else {
        return unseen();
    };
    let Some(token) = bearer(judge, &answer) else {
        return Ok(Verdict::not_seen("the other customer got no token"));
    };
    let call = Call::statement(&target, &token.token, &json!({ "accountId": account }));
    Ok(match judge.send_aside(call).await {
        Ok(answer) => status_of(&answer, &[200]),
        Err(why) => Verdict::Failed(format!("expected 200, found none: {why}")),
    })
}

/// Returns the provider, as a target of the other customer.
fn other_target(target: &Target) -> Option<Target> {
    Some(Target {
        customer: target.other.clone()?,
        other: None,
        ..target.clone()
    })
}
