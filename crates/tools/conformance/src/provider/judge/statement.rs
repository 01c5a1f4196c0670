//! Correct statement requests, and the members of their answers (Specification: "Statement
//! response").

use super::checks::{ABSENT, AnswerView, Check, combined, expect, guid, kind, path_of, status_of};
use super::refusals::kept_requests;
use super::token::bearer_of;
use super::wire::{Answer, Call};
use super::{Endpoint, ProviderJudge, Statement, Statements, now};
use crate::error::JudgeError;
use crate::row::Verdict;
use bankrail_http::names::{REQUEST_KEY, STATEMENT_PATH};
use bankrail_values::json::JsonValue;
use serde_json::{Value, json};

/// The rows with calls of their own after the right statements, beside the
/// changed requests, and the calls that they need together.
const LATER_CALLS: [(&[&str], usize); 7] = [
    (&["S19.29", "S5", "S24.1"], 1),
    (&["S19.14"], 1),
    (&["S19.15", "S19.17"], 1),
    // The rows need three short pages, the whole statement once more, and a page of exactly all
    // entries. No call is reserved for the page of all entries but one.
    (&["S4.15", "S6.24"], 5),
    (&["S22.10", "S20.9"], 2),
    (&["S22.6"], 1),
    (&["S22.6"], 1),
];

/// The rows about the members of an answer: clause, title, and what is right.
const ROWS: [(&str, &str, Check); 11] = [
    (
        "S19.21",
        "the answer is a JSON object with each member once",
        |view| {
            let members = view.members.as_ref();
            members.map_or_else(Verdict::failed, |_| Verdict::Passed)
        },
    ),
    (
        "S4.1",
        "accountId is the account that was asked for",
        |view| {
            view.text("accountId", |found| {
                // Account numbers are not printed.
                Verdict::when(found == view.account, || {
                    "expected the account that was asked for, found another".to_owned()
                })
            })
        },
    ),
    ("S4.3", "extract is there, intraday", |view| {
        view.text("extract", |found| {
            expect(found == "intraday", "intraday", Some(found))
        })
    }),
    (
        "S4.5",
        "sortOrder, if it is there, is text",
        |view| match view.member("sortOrder") {
            None => ABSENT,
            _ => view.text("sortOrder", |_| Verdict::Passed),
        },
    ),
    ("S4.8", "payload is text, one XML document", |view| {
        view.text("payload", |xml| match roxmltree::Document::parse(xml) {
            Ok(_) => Verdict::Passed,
            Err(error) => Verdict::Failed(format!("expected one XML document, found: {error}")),
        })
    }),
    ("S4.9", "requestKey is a GUID", |view| {
        view.text("requestKey", |key| guid("requestKey", key))
    }),
    (
        "S4.10",
        "requestKey is in lower case with hyphens",
        |view| match view.member("requestKey") {
            Some(JsonValue::String(key)) => expect(
                key.bytes().all(|byte| !byte.is_ascii_uppercase()),
                "lower case",
                Some(key),
            ),
            _ => ABSENT,
        },
    ),
    (
        "S4.11",
        "cursor is there exactly if moreTransactionsAvailable is true",
        |view| {
            let Some(JsonValue::Bool(more)) = view.member("moreTransactionsAvailable") else {
                return ABSENT;
            };
            let what = match (more, view.member("cursor")) {
                (_, Some(JsonValue::String(cursor))) if cursor.is_empty() => {
                    "expected a cursor, found an empty text"
                }
                (true, Some(JsonValue::String(_))) | (false, None) => return Verdict::Passed,
                (true, None) => {
                    "expected a cursor beside moreTransactionsAvailable true, found none"
                }
                (false, Some(JsonValue::String(_))) => {
                    "expected no cursor beside moreTransactionsAvailable false, found one"
                }
                (_, other) => return Verdict::Failed(kind("cursor", "a string", other)),
            };
            Verdict::failed(what)
        },
    ),
    (
        "S4.14",
        "moreTransactionsAvailable is a boolean",
        |view| match view.member(MORE) {
            _ if view.members.is_err() => ABSENT,
            Some(JsonValue::Bool(_)) => Verdict::Passed,
            other => Verdict::Failed(kind(MORE, "a boolean", other)),
        },
    ),
    (
        "S2.13",
        "the header X-RequestKey has the request key too",
        |view| {
            let what = match (
                view.member("requestKey"),
                view.answer.header(REQUEST_KEY.as_str()),
            ) {
                (Some(JsonValue::String(key)), Some(header)) if header == key => {
                    return Verdict::Passed;
                }
                (Some(JsonValue::String(_)), Some(_)) => "expected the same key, found another",
                (Some(JsonValue::String(_)), None) => "expected the same key, found none",
                _ => return ABSENT,
            };
            Verdict::Noted(what.to_owned())
        },
    ),
    (
        "S4.6",
        "sortOrder, if it is there, is forward",
        |view| match view.member("sortOrder") {
            Some(JsonValue::String(found)) => expect(found == "forward", "forward", Some(found)),
            _ => ABSENT,
        },
    ),
];

const MORE: &str = "moreTransactionsAvailable";

/// Reads the statement of an answer as far as possible.
fn statement(view: &AnswerView<'_>, place: &str) -> Option<Statement> {
    let text = |name| {
        view.member(name)
            .and_then(JsonValue::as_str)
            .map(str::to_owned)
    };
    let more = matches!(view.member(MORE), Some(JsonValue::Bool(true)));
    Some(Statement {
        place: place.to_owned(),
        account: view.account.to_owned(),
        payload: text("payload")?,
        request_key: text("requestKey"),
        cursor: text("cursor").filter(|cursor| !cursor.is_empty()),
        more,
        at: now(),
    })
}

/// Asks for the statement of each account that the budget allows, and judges the answers.
pub(super) async fn judge(judge: &mut ProviderJudge) -> Result<Statements, JudgeError> {
    if !judge.wanted.has_any(&["S2", "S4", "S6", "S7.8", "S19"]) {
        let unseen = Verdict::not_seen("no statement was asked for");
        return Ok(Statements {
            found: Vec::new(),
            before: Vec::new(),
            left_out: 0,
            kept: 0,
            unseen,
        });
    }
    let accounts = judge.target.customer.accounts.clone();
    let later: usize = LATER_CALLS
        .iter()
        .filter(|(rows, _)| judge.wanted.has_any(rows))
        .map(|(_, calls)| calls)
        .sum();
    let kept = later + kept_requests(judge);
    let most = judge
        .statements
        .left()
        .saturating_sub(kept)
        // Requests at least one statement, because no other row could be judged without it.
        .clamp(1, accounts.len());
    let (mut answers, mut refused, mut unrun) = (Vec::new(), Vec::new(), None);
    for (number, account) in accounts.iter().take(most).enumerate() {
        let token = bearer_of(judge).await?;
        let request = json!({ "accountId": account, "includeNarrative": true });
        let call = Call::statement(&judge.target, &token, &request);
        let place = format!("statement {}", number + 1);
        match judge.call(Endpoint::Statement, call).await {
            Ok(answer) => {
                if number == 0 {
                    let verdict = path_of(&answer, &judge.target.statement_url, STATEMENT_PATH);
                    judge.row(("S19.2", "the path is /accounts/v2.0/statement"), verdict);
                }
                match status_of(&answer, &[200]) {
                    Verdict::Passed => answers.push((place, account.as_str(), answer)),
                    wrong => refused.push((place, wrong)),
                }
            }
            Err(failed @ Verdict::Failed(_)) => refused.push((place, failed)),
            Err(not_run) => {
                unrun = Some(not_run);
                break;
            }
        }
    }
    let unseen = unrun
        .clone()
        .filter(|_| answers.is_empty())
        .unwrap_or_else(|| Verdict::not_seen("no statement was received"));
    judge.row(
        (
            "S7.8",
            "a statement request with the access token is answered 200",
        ),
        match combined(refused, &Verdict::Passed) {
            Verdict::Passed => unrun.unwrap_or(Verdict::Passed),
            failed => failed,
        },
    );
    let views: Vec<_> = answers
        .iter()
        .map(|(place, account, answer)| (place, AnswerView::of(answer, account)))
        .collect();
    let found: Vec<_> = views
        .iter()
        .filter_map(|(place, view)| statement(view, place))
        .collect();
    let no_such = Verdict::not_seen("no answer has such a member");
    for (id, title, check) in ROWS {
        let all = views
            .iter()
            .map(|(place, view)| (place.as_str(), check(view)));
        let unseen = if found.is_empty() { &unseen } else { &no_such };
        judge.row((id, title), combined(all, unseen));
    }
    Ok(Statements {
        found,
        before: Vec::new(),
        left_out: accounts.len() - most,
        kept,
        unseen,
    })
}

/// Returns the statement of an answer, if it can be read.
pub(super) fn statement_of(answer: &Answer, account: &str) -> Option<Statement> {
    statement(&AnswerView::of(answer, account), "")
}

/// Requests a statement.
///
/// # Errors
/// The verdict of a row that needs the statement.
pub(super) async fn ask(
    judge: &mut ProviderJudge,
    request: &Value,
) -> Result<Result<Statement, Verdict>, JudgeError> {
    let token = bearer_of(judge).await?;
    let call = Call::statement(&judge.target, &token, request);
    let account = request
        .get("accountId")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let answer = judge.call(Endpoint::Statement, call).await;
    Ok(answer.and_then(|answer| match status_of(&answer, &[200]) {
        Verdict::Passed => statement_of(&answer, account).ok_or_else(|| {
            let what = "expected a statement, found an answer that cannot be read";
            Verdict::failed(what)
        }),
        other => Err(other),
    }))
}
