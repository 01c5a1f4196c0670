//! Changed requests as data, most of which must be refused. The most important ones come first,
//! because only ten token requests fit into the hourly budget.

use super::Target;
use super::checks::{ABSENT, AnswerView, Check, expect, guid, kind, object, seen, status_of, text};
use super::forge::Signed;
use super::late;
use super::token::{bearer_of, form};
use super::wire::{Answer, Call};
use super::{Endpoint, ProviderJudge, now};
use crate::error::JudgeError;
use crate::row::{Demand, Verdict};
use bankrail_values::excerpt;
use bankrail_values::json::JsonValue;
use reqwest::Method;
use reqwest::header::HeaderName;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// The identifier that is never found (Specification: "Request statement", test data).
const FIFTEEN_ZEROS: &str = "000000000000000";

/// One row: the changes of a correct request, and the correct answers. A member that is null is
/// removed from the request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refusal {
    id: String,
    title: String,
    /// The correct statuses; if there are none, every answer that is an error is correct.
    #[serde(default)]
    right: Vec<u16>,
    /// The changes of the assertion: its signature, its header and its claims.
    #[serde(default)]
    signed: Signed,
    #[serde(default)]
    header: Map<String, Value>,
    #[serde(default)]
    claims: Map<String, Value>,
    /// Claims that the provider must accept, or this row shows nothing; the specification leaves
    /// them open.
    control: Option<Map<String, Value>>,
    /// The changed fields of the form.
    #[serde(default)]
    form: Map<String, Value>,
    /// The changes of the call itself.
    #[serde(default)]
    headers: Map<String, Value>,
    method: Option<String>,
    body: Option<String>,
    /// The query that is added to the address.
    query: Option<String>,
}

// The rows are read once for the whole program, because rows of a judgement refer to the ids.
static TOKENS: LazyLock<Vec<Refusal>> = LazyLock::new(|| read(include_str!("token_requests.json")));
static STATEMENTS: LazyLock<Vec<Refusal>> =
    LazyLock::new(|| read(include_str!("statement_requests.json")));

/// The number of [`STATEMENTS`] that calls are kept for. An hour's limit allows no more beside some
/// accounts.
const KEPT_REFUSALS: usize = 8;

/// The calls that are kept for the first of the changed statement requests.
pub(super) fn kept_requests(judge: &ProviderJudge) -> usize {
    let first = STATEMENTS.iter().take(KEPT_REFUSALS);
    first.filter(|row| judge.wanted.has_any(&[&row.id])).count()
}

fn read(rows: &str) -> Vec<Refusal> {
    serde_json::from_str(rows).expect("a test reads the rows")
}

/// Makes the token requests, and a row for each; also as the other customer when the first one's
/// budget has been spent.
pub(super) async fn judge_tokens(judge: &mut ProviderJudge) -> Result<(), JudgeError> {
    let scope = judge.target.scopes.join(" ");
    let mut first = None;
    for row in TOKENS.iter() {
        if !judge.wanted.has_row(&row.id, &row.title) {
            continue;
        }
        if first.is_none() && judge.tokens.left() == 0 {
            first = Some(judge.as_other_customer().await?);
            late::other_scope(judge).await?;
        }
        let call = row.token_call(judge, &scope, &row.claims)?;
        let control = row
            .control
            .as_ref()
            .map(|claims| row.token_call(judge, &scope, claims))
            .transpose()?;
        row.judge(judge, Endpoint::Token, call, control.and_then(Result::ok))
            .await;
    }
    match first {
        Some(first) => drop(first.map(|first| judge.change(first))),
        None => late::other_scope(judge).await?,
    }
    Ok(())
}

/// Makes the statement requests, and the rows.
pub(super) async fn judge_statements(judge: &mut ProviderJudge) -> Result<(), JudgeError> {
    let token = bearer_of(judge).await?;
    unknown_account(judge, &token).await;
    let account = judge.target.first_account();
    let right = Call::statement(
        &judge.target,
        &token,
        &json!({ "accountId": account, "includeNarrative": true }),
    );
    for row in STATEMENTS.iter() {
        if judge.wanted.has_row(&row.id, &row.title) {
            let call = row.call(right.clone(), &judge.target, &token);
            row.judge(judge, Endpoint::Statement, call, None).await;
        }
    }
    Ok(())
}

impl Refusal {
    /// Returns a token request with the changes of this row, and the given claims.
    fn token_call(
        &self,
        judge: &mut ProviderJudge,
        scope: &str,
        claims: &Map<String, Value>,
    ) -> Result<Result<Call, &'static str>, JudgeError> {
        let mut assertion = judge.assertion();
        assertion.signed = self.signed;
        if matches!(self.signed, Signed::Other) && !judge.keys.other_differs() {
            return Ok(Err(
                "--second-connection names another customer with a key of its own",
            ));
        }
        let changed = put(&mut assertion.header, &self.header, &judge.target)
            .and_then(|()| put(&mut assertion.claims, claims, &judge.target));
        let mut fields = form(judge, &assertion, scope)?;
        fields.retain(|(name, _)| !self.form.contains_key(*name));
        fields.extend(
            self.form
                .iter()
                .filter_map(|(name, value)| Some((name.as_str(), value.as_str()?.to_owned()))),
        );
        Ok(
            changed
                .and_then(|()| self.call(Call::token(&judge.target, &fields), &judge.target, "")),
        )
    }

    /// Returns a correct call with the changes of this row, or the reason why it cannot be made.
    fn call(&self, mut call: Call, target: &Target, token: &str) -> Result<Call, &'static str> {
        let filled = |text: &str| filled(&text.replace("$token", token), target);
        if self.query.is_some() {
            call.url.set_query(self.query.as_deref());
        }
        for (name, value) in &self.headers {
            let name = match name.as_str() {
                "$api_key_header" => target.api_key_header.clone(),
                name => HeaderName::try_from(name).expect("a test reads the rows"),
            };
            call = match value.as_str() {
                Some(value) => call.with(&name, filled(value)?),
                None => call.without(&name),
            };
        }
        if let Some(method) = &self.method {
            call.method = Method::from_bytes(method.as_bytes()).expect("a test reads the rows");
        }
        if let Some(body) = &self.body {
            call.body = filled(body)?.into_bytes();
        }
        Ok(call)
    }

    fn verdict(&self, answer: &Answer) -> Verdict {
        if self.right.is_empty() {
            refused(answer)
        } else {
            status_of(answer, &self.right)
        }
    }

    async fn judge(
        &'static self,
        judge: &mut ProviderJudge,
        endpoint: Endpoint,
        call: Result<Call, &'static str>,
        control: Option<Call>,
    ) {
        let got = match call {
            Ok(call) => judge.call(endpoint, call).await,
            Err(why) => Err(Verdict::not_seen(why)),
        };
        let mut verdict = got.map_or_else(|verdict| verdict, |answer| self.verdict(&answer));
        // The control is made only after a failure, because it costs a call as well.
        if let (Verdict::Failed(_), Some(control)) = (&verdict, control) {
            let beside = judge
                .call(endpoint, control)
                .await
                .map(|answer| self.verdict(&answer));
            if !matches!(beside, Ok(Verdict::Passed)) {
                verdict = Verdict::not_seen("the provider takes no assertion with further claims");
            }
        }
        let demand = match self.right.contains(&200) {
            true => Demand::Service,
            false => Demand::Refusal,
        };
        judge.row_demanding(demand, (&self.id, &self.title), verdict);
    }
}

/// Replaces members. `$now` with a number stands for a time in seconds, `$ms` with a number for one
/// in milliseconds.
fn put(
    to: &mut Map<String, Value>,
    changes: &Map<String, Value>,
    target: &Target,
) -> Result<(), &'static str> {
    for (name, value) in changes {
        match value.as_str() {
            None => drop(to.remove(name)),
            Some(text) => {
                let time = |unit| {
                    text.strip_prefix(unit)
                        .and_then(|seconds| seconds.parse::<i64>().ok())
                };
                let value = match (time("$now"), time("$ms")) {
                    (Some(time), _) => json!(now() + time),
                    (_, Some(time)) => json!((now() + time) * 1000),
                    _ => Value::from(filled(text, target)?),
                };
                to.insert(name.clone(), value);
            }
        }
    }
    Ok(())
}

/// Replaces the names of values in a text of a row by the values. The error is the name of a
/// missing value.
fn filled(text: &str, target: &Target) -> Result<String, &'static str> {
    let other = || {
        target
            .other
            .as_ref()
            .ok_or("--second-connection names another customer")
    };
    let accounts = &target.customer.accounts;
    let (name, value) = match text {
        _ if text.contains("$audience_origin") => {
            let url = reqwest::Url::parse(&target.audience)
                .ok()
                .filter(|url| url.path() != "/");
            let origin = url
                .ok_or("the audience has no path")?
                .origin()
                .ascii_serialization();
            let is_issuer = |issuer: &str| issuer.trim_end_matches('/') == origin;
            if text == "$audience_origin" && target.issuer.as_deref().is_some_and(is_issuer) {
                return Err("it is the issuer by the provider's metadata, which clients send, too");
            }
            ("$audience_origin", origin)
        }
        _ if text.contains("$audience") => ("$audience", target.audience.clone()),
        _ if text.contains("$account") => ("$account", target.first_account()),
        _ if text.contains("$numeric_account") => {
            let is_number =
                |account: &&String| account.parse::<u64>().is_ok() && !account.starts_with('0');
            (
                "$numeric_account",
                accounts
                    .iter()
                    .find(is_number)
                    .ok_or("no account is a number")?
                    .clone(),
            )
        }
        _ if text.contains("$unpadded_account") => {
            let shorter = accounts
                .iter()
                .find_map(|account| account.strip_prefix('0'));
            (
                "$unpadded_account",
                shorter
                    .ok_or("no account begins with a zero")?
                    .trim_start_matches('0')
                    .to_owned(),
            )
        }
        // The assertion is signed by this customer's key, which is not that of the other customer.
        "$other_customer" => (
            text,
            target
                .other
                .as_ref()
                .map_or("NOBODYSCUSTOMERCODE", |other| &other.code)
                .to_owned(),
        ),
        "$lower_case_customer" => match target.customer.code.to_lowercase() {
            lower if lower == target.customer.code => {
                return Err("the customer code has no letters");
            }
            lower => (text, lower),
        },
        "$other_api_key" => (text, other()?.api_key.expose_secret().to_owned()),
        _ if text.contains("$other_account") => {
            let account = other()?
                .accounts
                .first()
                .ok_or("the second connection has no account of its own")?;
            ("$other_account", account.clone())
        }
        _ => return Ok(text.to_owned()),
    };
    Ok(text.replace(name, &value))
}

/// Returns `Passed` if the answer has no statement and the service did not fail.
pub(super) fn refused(answer: &Answer) -> Verdict {
    if is_error(answer) {
        Verdict::Passed
    } else if (500..=599).contains(&answer.status) && answer.status != 501 {
        Verdict::Failed(format!(
            "expected a refusal, found a failure of the service, {}",
            answer.status
        ))
    } else {
        let what = if answer.status == 200 {
            "a statement"
        } else {
            "another answer"
        };
        Verdict::Failed(format!(
            "expected a refusal, found {what}, {}",
            answer.status
        ))
    }
}

/// Returns true for a status from 400 to 499 or 501, and for an error in the body under a status
/// below 400.
fn is_error(answer: &Answer) -> bool {
    let in_body = || {
        object(&answer.body)
            .is_ok_and(|members| matches!(members.get("error"), Some(JsonValue::Object(_))))
    };
    (400..=499).contains(&answer.status)
        || answer.status == 501
        || (answer.status < 400 && in_body())
}

/// The rows about the answer to fifteen zeros, and about each member of the error response.
const ERROR_ROWS: [(&str, &str, Check); 7] = [
    (
        "S19.29",
        "the identifier of fifteen zeros is answered by an error",
        |view| match view.member("error") {
            None if (200..=299).contains(&view.answer.status) => refused(view.answer),
            _ => Verdict::Passed,
        },
    ),
    (
        "S5.1",
        "the error response has a GUID as requestKey",
        |view| match view.member("error") {
            None => ABSENT,
            Some(_) => view.text("requestKey", |key| guid("requestKey", key)),
        },
    ),
    (
        "S5.2",
        "the error response has an object error with statusCode and title",
        |view| match (&view.members, view.member("error")) {
            (Err(what), _) => Verdict::failed(what),
            (_, None) => Verdict::failed("expected the member error, found none"),
            (_, Some(JsonValue::Object(error))) => {
                let both = text(error, "statusCode").and(text(error, "title"));
                both.map_or_else(Verdict::Failed, |_| Verdict::Passed)
            }
            (_, found) => Verdict::Failed(kind("error", "an object", found)),
        },
    ),
    ("S5.3", "error.statusCode is EC and digits", |view| {
        error_text(view, "statusCode", |code| {
            let digits = code.strip_prefix("EC").unwrap_or_default();
            let is_right = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
            expect(is_right, "EC and digits", Some(code))
        })
    }),
    (
        "S24.1",
        "error.statusCode of an unknown account is EC20001",
        |view| {
            error_text(view, "statusCode", |code| {
                expect(code == "EC20001", &excerpt("EC20001"), Some(code))
            })
        },
    ),
    (
        "S5.6",
        "error.title of an unknown account is Account Id: '…' not found",
        |view| {
            let expected = format!("Account Id: '{FIFTEEN_ZEROS}' not found");
            error_text(view, "title", |title| {
                expect(title == expected, &excerpt(&expected), Some(title))
            })
        },
    ),
    (
        "S24.9",
        "an unknown account is answered with the status 404 or 200",
        |view| status_of(view.answer, &[200, 404]),
    ),
];

/// Checks a text of the member `error`, if it is there.
fn error_text(view: &AnswerView<'_>, name: &str, check: impl FnOnce(&str) -> Verdict) -> Verdict {
    match view.member("error") {
        Some(JsonValue::Object(error)) => text(error, name).map_or(ABSENT, check),
        _ => ABSENT,
    }
}

/// Asks for the statement of fifteen zeros.
async fn unknown_account(judge: &mut ProviderJudge, token: &str) {
    if !ERROR_ROWS.iter().any(|(id, ..)| judge.wanted.has(id)) {
        return;
    }
    let call = Call::statement(&judge.target, token, &json!({ "accountId": FIFTEEN_ZEROS }));
    let got = judge.call(Endpoint::Statement, call).await;
    let view = got.as_ref().map(|answer| AnswerView::of(answer, ""));
    for (id, title, check) in ERROR_ROWS {
        let verdict = match &view {
            Ok(view) => seen(check(view), "there is no error to see it in"),
            Err(verdict) => (*verdict).clone(),
        };
        judge.row((id, title), verdict);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_files_can_be_read() {
        assert!(
            TOKENS.len() >= 42 && STATEMENTS.len() >= 16,
            "rows are added, and none is lost"
        );
        for row in TOKENS.iter().chain(STATEMENTS.iter()) {
            let name =
                |name: &String| name == "$api_key_header" || HeaderName::try_from(name).is_ok();
            assert!(row.headers.keys().all(name), "{}", row.title);
            assert!(
                row.method.as_ref().is_none_or(|method| method == "GET"),
                "{}",
                row.title
            );
        }
    }
}
