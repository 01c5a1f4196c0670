//! Right statement requests, and the members of their answers (Specification: "Statement
//! response").

use super::body::{self, Members};
use super::checks::{Found, verdict};
use super::checks::{path_of, status_of};
use super::forge::now;
use super::refusals::STATEMENTS;
use super::token::bearer_of;
use super::wire::{Answer, Call};
use super::{Endpoint, Judge};
use crate::error::JudgeError;
use crate::row::Verdict;
use bankrail_http::names::{REQUEST_KEY, STATEMENT_PATH};
use bankrail_values::json::JsonValue;
use serde_json::{Value, json};

/// The rows with calls of their own after the right statements, beside [`STATEMENTS`], and the
/// calls that they need together.
const LATER: [(&[&str], usize); 7] = [
    (&["S19.29", "S5", "S24.1"], 1),
    (&["S19.14"], 1),
    (&["S19.15", "S19.17"], 1),
    // Three short pages, the whole statement once more, and as one page. That but for one entry may
    // not be asked for.
    (&["S4.15", "S6.24"], 5),
    (&["S22.10", "S20.9"], 2),
    (&["S22.6"], 1),
    (&["S22.6"], 1),
];

/// The number of [`STATEMENTS`] that calls are kept for. An hour's limit allows no more beside some
/// accounts.
const FIRST: usize = 8;

/// A statement that was asked for.
#[derive(Clone)]
pub(super) struct Statement {
    /// The name in rows, such as `statement 2`; empty for a statement that was requested later.
    pub(super) place: String,
    pub(super) account: String,
    pub(super) payload: String,
    pub(super) request_key: Option<String>,
    pub(super) cursor: Option<String>,
    pub(super) more: bool,
    /// The time at which the statement was received, in UNIX seconds.
    pub(super) at: i64,
}

/// The statements that were requested.
pub(super) struct Statements {
    pub(super) found: Vec<Statement>,
    /// The statements that bookings have changed, as they were before.
    pub(super) before: Vec<Statement>,
    /// The accounts that the budget did not last for.
    pub(super) left_out: usize,
    /// The calls that are kept for other rows.
    pub(super) kept: usize,
    /// The verdict of a row that no statement shows.
    pub(super) unseen: Verdict,
}

/// An answer with a statement, to check.
struct View<'a> {
    account: &'a str,
    header: Option<&'a str>,
    /// The members of the body, or the reason why it cannot be read.
    members: Result<Members<'a>, String>,
}

type Check = fn(&View<'_>) -> Found;

/// The rows about the members of an answer: clause, title, and what is right.
const ROWS: [(&str, &str, Check); 11] = [
    (
        "S19.21",
        "the answer is a JSON object with each member once",
        |view| {
            view.members
                .as_ref()
                .map_or_else(|what| Found::Wrong(what.clone()), |_| Found::Right)
        },
    ),
    (
        "S4.1",
        "accountId is the account that was asked for",
        |view| {
            view.text("accountId", |found| match found {
                found if found == view.account => Found::Right,
                // Account numbers are not printed.
                _ => Found::Wrong(
                    "expected the account that was asked for, found another".to_owned(),
                ),
            })
        },
    ),
    ("S4.3", "extract is there, intraday", |view| {
        view.text("extract", |found| {
            Found::when(found == "intraday", "intraday", Some(found))
        })
    }),
    (
        "S4.5",
        "sortOrder, if it is there, is text",
        |view| match view.member("sortOrder") {
            None => Found::Absent,
            _ => view.text("sortOrder", |_| Found::Right),
        },
    ),
    ("S4.8", "payload is text, one XML document", |view| {
        view.text("payload", |xml| match roxmltree::Document::parse(xml) {
            Ok(_) => Found::Right,
            Err(error) => Found::Wrong(format!("expected one XML document, found: {error}")),
        })
    }),
    ("S4.9", "requestKey is a GUID", |view| {
        view.text("requestKey", |key| {
            Found::of(body::guid("requestKey", key).map(drop))
        })
    }),
    (
        "S4.10",
        "requestKey is in lower case with hyphens",
        |view| match view.member("requestKey") {
            Some(JsonValue::String(key)) => Found::when(
                key.bytes().all(|byte| !byte.is_ascii_uppercase()),
                "lower case",
                Some(key),
            ),
            _ => Found::Absent,
        },
    ),
    (
        "S4.11",
        "cursor is there exactly if moreTransactionsAvailable is true",
        |view| {
            let Some(JsonValue::Bool(more)) = view.member("moreTransactionsAvailable") else {
                return Found::Absent;
            };
            let what = match (more, view.member("cursor")) {
                (_, Some(JsonValue::String(cursor))) if cursor.is_empty() => {
                    "expected a cursor, found an empty text"
                }
                (true, Some(JsonValue::String(_))) | (false, None) => return Found::Right,
                (true, None) => {
                    "expected a cursor beside moreTransactionsAvailable true, found none"
                }
                (false, Some(JsonValue::String(_))) => {
                    "expected no cursor beside moreTransactionsAvailable false, found one"
                }
                (_, other) => return Found::Wrong(body::kind("cursor", "a string", other)),
            };
            Found::Wrong(what.to_owned())
        },
    ),
    (
        "S4.14",
        "moreTransactionsAvailable is a boolean",
        |view| match view.member(MORE) {
            _ if view.members.is_err() => Found::Absent,
            Some(JsonValue::Bool(_)) => Found::Right,
            other => Found::Wrong(body::kind(MORE, "a boolean", other)),
        },
    ),
    (
        "S2.13",
        "the header X-RequestKey has the request key too",
        |view| {
            let what = match (view.member("requestKey"), view.header) {
                (Some(JsonValue::String(key)), Some(header)) if header == key => {
                    return Found::Right;
                }
                (Some(JsonValue::String(_)), Some(_)) => "expected the same key, found another",
                (Some(JsonValue::String(_)), None) => "expected the same key, found none",
                _ => return Found::Absent,
            };
            Found::Unusual(what.to_owned())
        },
    ),
    (
        "S4.6",
        "sortOrder, if it is there, is forward",
        |view| match view.member("sortOrder") {
            Some(JsonValue::String(found)) => {
                Found::when(found == "forward", "forward", Some(found))
            }
            _ => Found::Absent,
        },
    ),
];

const MORE: &str = "moreTransactionsAvailable";

impl<'a> View<'a> {
    fn of(answer: &'a Answer, account: &'a str) -> Self {
        Self {
            account,
            header: answer.header(REQUEST_KEY.as_str()),
            members: body::object(&answer.body),
        }
    }

    fn member(&self, name: &str) -> Option<&JsonValue<'a>> {
        self.members.as_ref().ok()?.get(name)
    }

    /// A check of a member that must be there as text.
    fn text(&self, name: &str, check: impl FnOnce(&str) -> Found) -> Found {
        let Ok(members) = &self.members else {
            return Found::Absent;
        };
        body::text(members, name).map_or_else(Found::Wrong, check)
    }

    /// Reads the statement as far as possible.
    fn statement(&self, place: &str) -> Option<Statement> {
        let text = |name| {
            self.member(name)
                .and_then(JsonValue::as_str)
                .map(str::to_owned)
        };
        let more = matches!(self.member(MORE), Some(JsonValue::Bool(true)));
        Some(Statement {
            place: place.to_owned(),
            account: self.account.to_owned(),
            payload: text("payload")?,
            request_key: text("requestKey"),
            cursor: text("cursor").filter(|cursor| !cursor.is_empty()),
            more,
            at: now(),
        })
    }
}

/// Asks for the statement of each account that the budget allows, and judges the answers.
pub(super) async fn judge(judge: &mut Judge) -> Result<Statements, JudgeError> {
    if !judge.wants_any(&["S2", "S4", "S6", "S7.8", "S19"]) {
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
    let later: usize = LATER
        .iter()
        .filter(|(rows, _)| judge.wants_any(rows))
        .map(|(_, calls)| calls)
        .sum();
    let kept = later
        + STATEMENTS
            .iter()
            .take(FIRST)
            .filter(|row| judge.wants_any(&[&row.id]))
            .count();
    let most = judge
        .left(Endpoint::Statement)
        .saturating_sub(kept)
        // At least one, without which no other row could be judged.
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
                    judge.row("S19.2", "the path is /accounts/v2.0/statement", verdict);
                }
                match status_of(&answer, &[200]) {
                    Verdict::Passed => answers.push((place, account.as_str(), answer)),
                    wrong => refused.push((place, Found::Wrong(wrong.detail().to_owned()))),
                }
            }
            Err(Verdict::Failed(why)) => refused.push((place, Found::Wrong(why))),
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
        "S7.8",
        "a statement request with the access token is answered 200",
        match verdict(refused, &Verdict::Passed) {
            Verdict::Passed => unrun.unwrap_or(Verdict::Passed),
            failed => failed,
        },
    );
    let views: Vec<_> = answers
        .iter()
        .map(|(place, account, answer)| (place, View::of(answer, account)))
        .collect();
    let found: Vec<_> = views
        .iter()
        .filter_map(|(place, view)| view.statement(place))
        .collect();
    let no_such = Verdict::not_seen("no answer has such a member");
    for (id, title, check) in ROWS {
        let all = views
            .iter()
            .map(|(place, view)| (place.as_str(), check(view)));
        judge.row(
            id,
            title,
            verdict(all, if found.is_empty() { &unseen } else { &no_such }),
        );
    }
    Ok(Statements {
        found,
        before: Vec::new(),
        left_out: accounts.len() - most,
        kept,
        unseen,
    })
}

/// The statement of an answer, if it can be read.
pub(super) fn statement_of(answer: &Answer, account: &str) -> Option<Statement> {
    View::of(answer, account).statement("")
}

/// Requests a statement.
///
/// # Errors
/// The verdict of a row that needed it.
pub(super) async fn ask(
    judge: &mut Judge,
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
