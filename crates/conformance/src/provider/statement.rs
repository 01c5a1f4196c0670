//! Right statement requests, and the members of their answers (Specification: "Statement response").

use super::body::{self, Members};
use super::checks::{Checks, Found};
use super::judge::{Endpoint, Got, Judge, path_of, status_of};
use super::token::bearer_of;
use super::wire::{Answer, Call};
use crate::error::JudgeError;
use crate::row::Verdict;
use bankrail_http::names::{REQUEST_KEY, STATEMENT_PATH};
use bankrail_values::json::JsonValue;
use serde_json::{Value, json};

/// The rows with calls of their own after the right statements, and the calls that they need together.
const LATER: [(&[&str], usize); 16] = [
    (&["S19.29", "S5", "S24.1"], 1),
    (&["S19.6"], 1),
    (&["S2.6"], 1),
    (&["S19.7"], 1),
    (&["S22.1"], 1),
    (&["S19.11"], 1),
    (&["S22.2"], 1),
    (&["S19.10"], 2),
    (&["S19.22"], 1),
    (&["S19.4"], 1),
    (&["S19.1"], 1),
    (&["S19.14"], 1),
    (&["S19.15", "S19.17"], 1),
    // Three short pages, and the whole statement once more.
    (&["S4.15", "S6.24"], 4),
    (&["S22.10"], 1),
    (&["S22.6"], 1),
];

/// A statement that was asked for.
pub(super) struct Statement {
    /// What it is called in rows, such as `statement 2`; empty for one that was asked for later.
    pub(super) place: String,
    pub(super) account: String,
    pub(super) payload: String,
    pub(super) request_key: Option<String>,
    pub(super) cursor: Option<String>,
    pub(super) more: bool,
}

/// What was asked for, and what came of it.
pub(super) struct Statements {
    pub(super) found: Vec<Statement>,
    /// The accounts that the budget did not last for.
    pub(super) left_out: usize,
    /// What to say of a row that no statement shows.
    pub(super) unseen: Verdict,
}

const ROWS: [(&str, &str); 11] = [
    ("S19.21", "the answer is a JSON object with each member once"),
    ("S4.1", "accountId is the account that was asked for"),
    ("S4.3", "extract is there, intraday"),
    ("S4.5", "sortOrder, if it is there, is text"),
    ("S4.8", "payload is text, one XML document"),
    ("S4.9", "requestKey is a GUID"),
    ("S4.10", "requestKey is in lower case with hyphens"),
    ("S4.11", "cursor is there exactly if moreTransactionsAvailable is true"),
    ("S4.14", "moreTransactionsAvailable is a boolean"),
    ("S2.13", "the header X-RequestKey has the request key too"),
    ("S4.6", "sortOrder, if it is there, is forward"),
];

/// Asks for the statement of each account that the budget allows, and judges the answers.
pub(super) async fn judge(judge: &mut Judge) -> Result<Statements, JudgeError> {
    if !judge.wants_any(&["S2", "S4", "S6", "S7.8", "S19"]) {
        let unseen = Verdict::NotSeen("no statement was asked for".to_owned());
        return Ok(Statements { found: Vec::new(), left_out: 0, unseen });
    }
    let accounts = judge.target.customer.accounts.clone();
    let kept: usize = LATER.iter().filter(|(rows, _)| judge.wants_any(rows)).map(|(_, calls)| calls).sum();
    let most = judge.left(Endpoint::Statement).saturating_sub(kept).clamp(1, accounts.len());
    let mut checks = Checks::new(&ROWS);
    let mut found = Vec::new();
    let mut first = None;
    for (number, account) in accounts.iter().take(most).enumerate() {
        let token = bearer_of(judge).await?;
        let request = json!({ "accountId": account, "includeNarrative": true });
        let call = Call::statement(&judge.target, &token, &request);
        let got = judge.call(Endpoint::Statement, call).await;
        let place = format!("statement {}", number + 1);
        let right = matches!(&got, Got::Answer(answer) if answer.status == 200);
        if let (Got::Answer(answer), true) = (&got, right) {
            found.extend(read(answer, account, &place, &mut checks));
        }
        // The row is of the first that is wrong, if there is one.
        let first_is_right = matches!(&first, Some((_, true)));
        if first.is_none() || (first_is_right && !right) {
            first = Some((got, right));
        }
    }
    let unseen = match &first {
        Some((Got::NotRun(why), _)) => Verdict::NotRun(why.clone()),
        _ => Verdict::NotSeen("no statement was received".to_owned()),
    };
    if let Some((Got::Answer(answer), _)) = &first {
        let verdict = path_of(answer, &judge.target.statement_url, STATEMENT_PATH);
        judge.row("S19.2", "the path is /accounts/v2.0/statement", verdict);
    }
    if let Some((got, _)) = first {
        judge.row_of("S7.8", "a statement request with the access token is answered 200", got, |answer| {
            status_of(answer, &[200])
        });
    }
    let no_such = Verdict::NotSeen("no answer has such a member".to_owned());
    checks.rows(judge, if found.is_empty() { &unseen } else { &no_such });
    Ok(Statements { found, left_out: accounts.len() - most, unseen })
}

/// Asks for a statement with a request of its own.
///
/// # Errors
/// What to say of a row that needed it.
pub(super) async fn ask(judge: &mut Judge, request: &Value) -> Result<Result<Statement, Verdict>, JudgeError> {
    let token = bearer_of(judge).await?;
    let call = Call::statement(&judge.target, &token, request);
    let account = request.get("accountId").and_then(Value::as_str).unwrap_or_default();
    Ok(match judge.call(Endpoint::Statement, call).await {
        Got::NotRun(why) => Err(Verdict::NotRun(why)),
        Got::Nothing(why) => Err(Verdict::Failed(format!("expected an answer, found none: {why}"))),
        Got::Answer(answer) => match status_of(&answer, &[200]) {
            Verdict::Passed => read(&answer, account, "", &mut Checks::new(&ROWS)).ok_or_else(|| {
                let what = "expected a statement, found an answer that cannot be read";
                Verdict::Failed(what.to_owned())
            }),
            other => Err(other),
        },
    })
}

/// Checks the members of an answer, and reads what can be read.
fn read(answer: &Answer, account: &str, place: &str, checks: &mut Checks) -> Option<Statement> {
    let members = match body::object(&answer.body) {
        Ok(members) => members,
        Err(what) => {
            checks.enter("S19.21", place, Found::Wrong(what));
            return None;
        }
    };
    checks.enter("S19.21", place, Found::Right);
    let echo = body::text(&members, "accountId").and_then(|found| match found {
        found if found == account => Ok(()),
        // Account numbers are not printed.
        _ => Err("expected the account that was asked for, found another".to_owned()),
    });
    checks.enter("S4.1", place, Found::of(echo));
    let extract = match body::text(&members, "extract") {
        Ok(found) => Found::usually("intraday", Some(found)),
        Err(what) => Found::Wrong(what),
    };
    checks.enter("S4.3", place, extract);
    sort_order(&members, place, checks);
    let key = body::text(&members, "requestKey").map(str::to_owned);
    let guid = key.clone().and_then(|key| body::guid("requestKey", &key));
    if let Ok(key) = &key {
        let lower = key.bytes().all(|byte| !byte.is_ascii_uppercase());
        checks.enter("S4.10", place, Found::when(lower, "lower case", Some(key)));
        let header = answer.header(REQUEST_KEY.as_str());
        let found = if header == Some(key) {
            Found::Right
        } else {
            Found::Unusual(
                header
                    .map_or("expected the same key, found none", |_| "expected the same key, found another")
                    .to_owned(),
            )
        };
        checks.enter("S2.13", place, found);
    }
    checks.enter("S4.9", place, Found::of(guid.map(drop)));
    let (more, cursor) = page(&members, place, checks);
    let payload = body::text(&members, "payload").map(str::to_owned);
    let one_document = payload.clone().and_then(|xml| {
        roxmltree::Document::parse(&xml).map(drop).map_err(|error| format!("expected one XML document, found: {error}"))
    });
    checks.enter("S4.8", place, Found::of(one_document));
    let (place, account) = (place.to_owned(), account.to_owned());
    Some(Statement { place, account, payload: payload.ok()?, request_key: key.ok(), cursor, more })
}

fn sort_order(members: &Members<'_>, place: &str, checks: &mut Checks) {
    match members.get("sortOrder") {
        None => {}
        Some(JsonValue::String(found)) => {
            checks.enter("S4.5", place, Found::Right);
            checks.enter("S4.6", place, Found::usually("forward", Some(found)));
        }
        other => checks.enter("S4.5", place, Found::Wrong(body::kind("sortOrder", "a string", other))),
    }
}

/// `moreTransactionsAvailable` and `cursor`.
fn page(members: &Members<'_>, place: &str, checks: &mut Checks) -> (bool, Option<String>) {
    let more = match members.get("moreTransactionsAvailable") {
        Some(JsonValue::Bool(more)) => {
            checks.enter("S4.14", place, Found::Right);
            *more
        }
        other => {
            let what = body::kind("moreTransactionsAvailable", "a boolean", other);
            checks.enter("S4.14", place, Found::Wrong(what));
            return (false, None);
        }
    };
    let cursor = match members.get("cursor") {
        None => Ok(None),
        Some(JsonValue::String(cursor)) if !cursor.is_empty() => Ok(Some(cursor.to_string())),
        Some(JsonValue::String(_)) => Err("expected a cursor, found an empty text".to_owned()),
        other => Err(body::kind("cursor", "a string", other)),
    };
    let rule = cursor.clone().and_then(|cursor| match (more, cursor.is_some()) {
        (true, false) => Err("expected a cursor beside moreTransactionsAvailable true, found none".to_owned()),
        (false, true) => Err("expected no cursor beside moreTransactionsAvailable false, found one".to_owned()),
        _ => Ok(()),
    });
    checks.enter("S4.11", place, Found::of(rule));
    (more, cursor.ok().flatten())
}
