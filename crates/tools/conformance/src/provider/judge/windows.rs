//! The worked cases of the specification's windows (Specification: "Limits", rules 2 and 3), at the
//! 25 statements of an hour. There are 20 statements in one hour, and the cases are a quarter, a
//! half and three quarters into the next hour.

use super::statement::statement_of;
use super::token::bearer_of;
use super::wire::Call;
use super::xml::{read, text};
use super::{Endpoint, ProviderJudge, Statement};
use crate::error::JudgeError;
use crate::row::Verdict;
use bankrail_camt052::IsoDateTime;
use serde_json::json;
use std::time::Duration;
use time::UtcOffset;

const ROWS: [(&str, &str); 3] = [
    (
        "S25.26",
        "a quarter into an hour, 5 statements after 20 in the hour before are answered",
    ),
    (
        "S25.27",
        "half way into it, the 16th is answered 429 (sliding window), or the 26th (fixed window)",
    ),
    (
        "S25.28",
        "three quarters into it, one more is answered (sliding window), or still 429 (fixed window)",
    ),
];

const HOURLY_LIMIT: usize = 25;
const CALLS_BEFORE: usize = 20;
const FIRST_CALLS: usize = 5;
/// Half of those of the hour before count.
const SLIDING_LIMIT: usize = HOURLY_LIMIT - CALLS_BEFORE / 2;

const HOUR: u64 = 3600;
/// The longest delay of the judge half way into the hour. From 180 s on, one call more is right.
const MAX_DELAY: Duration = Duration::from_secs(150);
/// The longest time that all of it takes: two hours until nothing counts, one or two until an hour
/// begins, and that.
const MAX_DURATION: Duration = Duration::from_secs(6 * HOUR);

/// Judges the worked cases where the provider's clock can be stepped, or the judge may wait.
pub(super) async fn judge(judge: &mut ProviderJudge) -> Result<(), JudgeError> {
    if !ROWS.iter().any(|(id, _)| judge.wanted.has(id)) {
        return Ok(());
    }
    let verdicts = match judge.blocked {
        _ if !judge.limits || (judge.clock.is_none() && judge.wait < MAX_DURATION) => {
            let seconds = MAX_DURATION.as_secs();
            Err(Verdict::NotSeen(format!(
                "--clock with --limits shows it, or --wait {seconds} with it"
            )))
        }
        Some(why) => Err(Verdict::not_run(why)),
        None => cases(judge).await.map_err(Verdict::NotRun),
    };
    let verdicts = verdicts.unwrap_or_else(|verdict| [(); ROWS.len()].map(|()| verdict.clone()));
    judge.rows(ROWS, verdicts);
    Ok(())
}

/// The verdicts, or why there are none.
async fn cases(judge: &mut ProviderJudge) -> Result<[Verdict; ROWS.len()], String> {
    begin_hour(judge).await?;
    let began = judge.provider_now();
    let answered = answered(judge, CALLS_BEFORE).await?;
    if answered != CALLS_BEFORE {
        return Err(format!(
            "expected {CALLS_BEFORE} answers in a fresh hour, found {answered}"
        ));
    }
    // Steps from the beginning of the hour with the 20 statements to a quarter past the next hour.
    step(judge, HOUR + HOUR / 4).await?;
    let first = self::answered(judge, FIRST_CALLS).await?;
    let quarter = Verdict::when(first == FIRST_CALLS, || {
        format!("expected {FIRST_CALLS} answers, found {first} before the first 429")
    });
    step(judge, HOUR / 4).await?;
    let half_way = began + Duration::from_secs(HOUR + HOUR / 2);
    if judge.provider_now().saturating_duration_since(half_way) > MAX_DELAY {
        return Ok([
            quarter,
            Verdict::not_seen("the calls took too long"),
            Verdict::not_seen("the calls took too long"),
        ]);
    }
    let all = first + self::answered(judge, HOURLY_LIMIT + 1 - first).await?;
    let half = Verdict::when(all == SLIDING_LIMIT || all == HOURLY_LIMIT, || {
        format!(
            "expected 429 after {SLIDING_LIMIT} answers in this hour, or after {HOURLY_LIMIT}, found {all} answers"
        )
    });
    step(judge, HOUR / 4).await?;
    let more = self::answered(judge, 1).await?;
    let three_quarters = match all {
        SLIDING_LIMIT => Verdict::when(more == 1, || {
            "expected an answer, found 429 or none".to_owned()
        }),
        HOURLY_LIMIT => Verdict::when(more == 0, || "expected 429, found an answer".to_owned()),
        _ => Verdict::not_seen("neither window was kept half way"),
    };
    Ok([quarter, half, three_quarters])
}

/// Goes to an hour of the provider in which nothing was called, if its clock can be stepped.
pub(super) async fn fresh_hour(judge: &mut ProviderJudge) -> Result<(), String> {
    match judge.clock {
        Some(_) => begin_hour(judge).await,
        None => Ok(()),
    }
}

/// The verdict on a customer at its limit, if the clock can be stepped.
pub(super) async fn two_hours_later(judge: &mut ProviderJudge) -> Verdict {
    if judge.clock.is_none() {
        return Verdict::not_seen("--clock with --limits shows it");
    }
    let answered = async {
        forget(judge).await?;
        answered(judge, 1).await
    };
    match answered.await {
        Ok(count) => Verdict::when(count == 1, || {
            "expected an answer, found 429 or none".to_owned()
        }),
        Err(why) => Verdict::NotRun(why),
    }
}

/// Lets two hours pass, after which no call counts.
async fn forget(judge: &mut ProviderJudge) -> Result<(), String> {
    step(judge, 2 * HOUR).await?;
    judge.tokens = judge.budget.purses().0;
    Ok(())
}

/// Goes to the beginning of an hour in which nothing was called, nor in the one before.
async fn begin_hour(judge: &mut ProviderJudge) -> Result<(), String> {
    forget(judge).await?;
    let now = provider_time(judge).await?;
    let now =
        now.ok_or("the provider's time is not seen: no statement is answered after two hours")?;
    // That one statement is in the hour between, which must not be the hour before.
    step(judge, HOUR - now.rem_euclid(HOUR) + HOUR + 1).await?;
    (judge.tokens.counts, judge.statements.counts) = ((0, 0), (0, 0));
    Ok(())
}

/// Lets time pass at the provider. Its tokens may have ended then.
pub(super) async fn step(judge: &mut ProviderJudge, seconds: u64) -> Result<(), String> {
    let time = Duration::from_secs(seconds);
    let Some(clock) = judge.clock.clone() else {
        // `--wait` allows it: the worked cases are judged in real time then.
        tokio::time::sleep(time).await;
        return Ok(());
    };
    let order = json!({ "seconds": seconds });
    let done = clock.order(&judge.client, judge.timeout, &order).await;
    done.map_err(|why| format!("--clock: {why}"))?;
    judge.stepped += time;
    Ok(())
}

/// Counts the statements that are answered before one is refused, at most this many.
async fn answered(judge: &mut ProviderJudge, most: usize) -> Result<usize, String> {
    for count in 0..most {
        if statement(judge).await?.is_none() {
            return Ok(count);
        }
    }
    Ok(most)
}

/// Returns the creation time of a statement, in UNIX seconds.
async fn provider_time(judge: &mut ProviderJudge) -> Result<Option<u64>, String> {
    let Some(statement) = statement(judge).await? else {
        return Ok(None);
    };
    let made = read(&statement.payload, "BkToCstmrAcctRpt", |message| {
        let made = IsoDateTime::parse(text(message, "GrpHdr/CreDtTm")?).ok()?;
        u64::try_from(made.to_time(UtcOffset::UTC)?.unix_timestamp()).ok()
    });
    Ok(made.flatten())
}

/// Requests the statement of the first account without asking the budget. `None` if it is refused.
async fn statement(judge: &mut ProviderJudge) -> Result<Option<Statement>, String> {
    let token = bearer_of(judge).await.map_err(|error| error.to_string())?;
    let account = judge.target.first_account();
    let call = Call::statement(&judge.target, &token, &json!({ "accountId": account }));
    // Does not use `call`, which waits after a 429.
    let answer = judge.send(Endpoint::Statement, call).await?;
    Ok(statement_of(&answer, &account).filter(|_| answer.status == 200))
}
