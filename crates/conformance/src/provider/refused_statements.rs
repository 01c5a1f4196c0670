//! Statement requests that must get no statement (Specification: "Request statement", "Errors").

use super::body;
use super::judge::{Endpoint, Got, Judge, differs};
use super::token::bearer_of;
use super::wire::{Answer, Call};
use crate::error::JudgeError;
use crate::row::Verdict;
use bankrail_values::excerpt;
use bankrail_values::json::JsonValue;
use reqwest::Method;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use serde_json::json;

/// The identifier that is never found (Specification: "Request statement", test data).
const FIFTEEN_ZEROS: &str = "000000000000000";
/// A token and an API key that nobody has.
const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

/// Passed if the answer has no statement and the service did not fail.
pub(super) fn refused(answer: &Answer) -> Verdict {
    if is_error(answer) {
        Verdict::Passed
    } else if (500..=599).contains(&answer.status) && answer.status != 501 {
        Verdict::Failed(format!("expected a refusal, found a failure of the service, {}", answer.status))
    } else {
        let what = if answer.status == 200 { "a statement" } else { "another answer" };
        Verdict::Failed(format!("expected a refusal, found {what}, {}", answer.status))
    }
}

/// True for a status from 400 on that is no failure of the service, and for an error in the body under any other.
fn is_error(answer: &Answer) -> bool {
    let in_body =
        || body::object(&answer.body).is_ok_and(|members| matches!(members.get("error"), Some(JsonValue::Object(_))));
    (400..=499).contains(&answer.status) || answer.status == 501 || (answer.status < 400 && in_body())
}

/// Makes the requests, and the rows.
pub(super) async fn judge(judge: &mut Judge) -> Result<(), JudgeError> {
    let token = bearer_of(judge).await?;
    let account = judge.target.customer.accounts.first().cloned().unwrap_or_default();
    unknown_account(judge, &token).await;
    let right = Call::statement(&judge.target, &token, &json!({ "accountId": account, "includeNarrative": true }));
    let header = judge.target.api_key_header.clone();
    let unknown = |call: Call| call.with(&AUTHORIZATION, format!("Bearer {UNKNOWN}"));
    ask(
        judge,
        "S19.6",
        "a statement request without an access token is refused",
        right.clone().without(&AUTHORIZATION),
    )
    .await;
    ask(judge, "S2.6", "an access token that was never issued is refused", unknown(right.clone())).await;
    ask(judge, "S19.7", "a statement request without the API key is refused", right.clone().without(&header)).await;
    ask(judge, "S22.1", "a statement request with a wrong API key is refused", right.clone().with(&header, UNKNOWN))
        .await;
    somebody_else(judge, &token, &right).await;
    let with = |body: &str| Call { body: body.as_bytes().to_vec(), ..right.clone() };
    let without_account = with(r#"{"includeNarrative":true}"#);
    ask(judge, "S19.10", "a statement request without accountId is refused", without_account).await;
    ask(judge, "S19.10", "an accountId that is no text is refused", with(r#"{"accountId":[]}"#)).await;
    ask(judge, "S19.22", "a body that is not JSON is refused", with("accountId=1")).await;
    let plain = right.clone().with(&CONTENT_TYPE, "text/plain");
    ask(judge, "S19.4", "a statement request with another Content-Type is refused", plain).await;
    let get = Call { method: Method::GET, body: Vec::new(), ..right };
    ask(judge, "S19.1", "the method is POST: a GET gets no statement", get).await;
    Ok(())
}

async fn ask(judge: &mut Judge, id: &'static str, title: &'static str, call: Call) {
    if judge.wants_row(id, title) {
        let got = judge.call(Endpoint::Statement, call).await;
        judge.row_of(id, title, got, refused);
    }
}

/// The account, the token and the API key of the second customer.
async fn somebody_else(judge: &mut Judge, token: &str, right: &Call) {
    let account_title = "another customer's account gets no statement";
    let key_title = "an access token beside another customer's API key is refused";
    let Some(other) = &judge.target.other else {
        let why = || Verdict::NotSeen("--second-connection names another customer".to_owned());
        judge.row("S19.11", account_title, why());
        judge.row("S22.2", key_title, why());
        return;
    };
    let (account, key) = (other.accounts.first().cloned(), other.api_key.expose_secret().to_owned());
    match account {
        Some(account) => {
            let call = Call::statement(&judge.target, token, &json!({ "accountId": account }));
            ask(judge, "S19.11", account_title, call).await;
        }
        None => {
            let why = "the second connection has no account of its own".to_owned();
            judge.row("S19.11", account_title, Verdict::NotSeen(why));
        }
    }
    if judge.wants("S22.2") {
        let call = right.clone().with(&judge.target.api_key_header, key);
        let got = judge.call(Endpoint::Statement, call).await;
        // The specification wants both, and does not say that they are of one customer.
        judge.row_of("S22.2", key_title, got, |answer| match refused(answer) {
            Verdict::Failed(what) => Verdict::Noted(what),
            other => other,
        });
    }
}

/// Fifteen zeros, and each member of the error response.
async fn unknown_account(judge: &mut Judge, token: &str) {
    const IDS: [(&str, &str); 6] = [
        ("S19.29", "the identifier of fifteen zeros is answered by an error"),
        ("S5.1", "the error response has a GUID as requestKey"),
        ("S5.2", "the error response has an object error with statusCode and title"),
        ("S5.3", "error.statusCode is EC and digits"),
        ("S24.1", "error.statusCode of an unknown account is EC20001"),
        ("S5.6", "error.title of an unknown account is Account Id: '…' not found"),
    ];
    if !IDS.iter().any(|(id, _)| judge.wants(id)) {
        return;
    }
    let call = Call::statement(&judge.target, token, &json!({ "accountId": FIFTEEN_ZEROS }));
    let got = judge.call(Endpoint::Statement, call).await;
    let verdicts: Vec<Verdict> = match &got {
        Got::NotRun(why) => IDS.iter().map(|_| Verdict::NotRun(why.clone())).collect(),
        Got::Nothing(why) => {
            IDS.iter().map(|_| Verdict::Failed(format!("expected an answer, found none: {why}"))).collect()
        }
        Got::Answer(answer) => error_rows(answer).into(),
    };
    for ((id, title), verdict) in IDS.into_iter().zip(verdicts) {
        judge.row(id, title, verdict);
    }
}

/// The verdicts in the order of the rows.
fn error_rows(answer: &Answer) -> [Verdict; 6] {
    let unseen = || Verdict::NotSeen("there is no error to see it in".to_owned());
    let members = match body::object(&answer.body) {
        Ok(members) if members.get("error").is_some() => members,
        found => {
            let what = found.err().unwrap_or_else(|| "expected the member error, found none".to_owned());
            let first = if (200..=299).contains(&answer.status) { refused(answer) } else { Verdict::Passed };
            return [first, unseen(), Verdict::Failed(what), unseen(), unseen(), unseen()];
        }
    };
    let pass = |result: Result<(), String>| result.map_or_else(Verdict::Failed, |()| Verdict::Passed);
    let key = body::text(&members, "requestKey").and_then(|key| body::guid("requestKey", key).map(drop));
    let Some(JsonValue::Object(error)) = members.get("error") else {
        let what = body::kind("error", "an object", members.get("error"));
        return [Verdict::Passed, pass(key), Verdict::Failed(what), unseen(), unseen(), unseen()];
    };
    let (code, title) = (body::text(error, "statusCode"), body::text(error, "title"));
    let shape = code.clone().and(title.clone()).map(drop);
    let form = |code: &str| match code.strip_prefix("EC") {
        Some(digits) if !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()) => Ok(()),
        _ => Err(format!("expected EC and digits, found {}", excerpt(code))),
    };
    let expected = format!("Account Id: '{FIFTEEN_ZEROS}' not found");
    let is = |expected: &str, found: &str| {
        if found == expected { Ok(()) } else { Err(differs(&excerpt(expected), Some(found))) }
    };
    [
        Verdict::Passed,
        pass(key),
        pass(shape),
        code.as_ref().map_or_else(|_| unseen(), |code| pass(form(code))),
        code.map_or_else(|_| unseen(), |code| pass(is("EC20001", code))),
        title.map_or_else(|_| unseen(), |title| pass(is(&expected, title))),
    ]
}
