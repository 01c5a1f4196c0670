//! Makes the calls within the budget, and collects the rows.

use super::budget::Purse;
use super::forge::{Assertion, Keys, now};
use super::options::{CallsLeft, ProviderJudgeOptions};
use super::target::Target;
use super::wire::{Answer, Call, send};
use crate::hook::Hook;
use crate::row::{Row, Verdict, is_beyond};
use crate::selection::Wanted;
use bankrail_http::names::REQUEST_KEY;
use bankrail_values::excerpt;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

/// What became of a call.
pub(super) enum Got {
    Answer(Answer),
    /// The connection failed.
    Nothing(String),
    /// It was not made.
    NotRun(String),
}

impl Got {
    /// The answer.
    ///
    /// # Errors
    /// What to say of a row that needed it.
    pub(super) fn answer(self) -> Result<Answer, Verdict> {
        match self {
            Self::Answer(answer) => Ok(answer),
            Self::Nothing(why) => Err(Verdict::Failed(format!(
                "expected an answer, found none: {why}"
            ))),
            Self::NotRun(why) => Err(Verdict::NotRun(why)),
        }
    }
}

/// The endpoint of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    Token,
    Statement,
}

/// An access token, and until when it is valid.
pub(super) struct Bearer {
    pub(super) token: String,
    pub(super) until: Instant,
}

pub(super) struct Judge {
    pub(super) target: Target,
    pub(super) keys: Keys,
    pub(super) client: reqwest::Client,
    tokens: Purse,
    statements: Purse,
    pub(super) pause: Duration,
    next_token: Option<Instant>,
    /// The longest wait.
    pub(super) wait: Duration,
    assertions: u32,
    pub(super) bearer: Option<Bearer>,
    /// The header X-RequestKey of each answer of the token endpoint.
    pub(super) token_request_keys: Vec<Option<String>>,
    /// The member requestKey of each answer of the statement endpoint that has one.
    pub(super) statement_request_keys: Vec<String>,
    wanted: Wanted,
    on_call: fn(CallsLeft),
    pub(super) limits: bool,
    pub(super) seed: u32,
    strict: bool,
    /// How bookings are ordered.
    pub(super) book: Option<Hook>,
    /// How the provider's clock is stepped.
    pub(super) clock: Option<Hook>,
    /// When the judge began, in UNIX seconds.
    pub(super) began: i64,
    /// The calls of each endpoint that were answered 200, and those that were not.
    token_counts: (usize, usize),
    statement_counts: (usize, usize),
    /// Why no further call shows anything.
    pub(super) blocked: Option<&'static str>,
    pub(super) rows: Vec<Row>,
    took: Duration,
}

impl Judge {
    pub(super) fn new(
        target: Target,
        keys: Keys,
        client: reqwest::Client,
        options: ProviderJudgeOptions,
    ) -> Self {
        let ProviderJudgeOptions {
            budget,
            wait,
            only,
            rest_of,
            limits,
            seed,
            strict,
            book,
            clock,
            on_call,
            ..
        } = options;
        Self {
            keys,
            client,
            target,
            tokens: Purse::new("token requests", budget.tokens),
            statements: Purse::new("statements", budget.statements),
            pause: budget.pause(),
            next_token: None,
            wait,
            assertions: 0,
            bearer: None,
            token_request_keys: Vec::new(),
            statement_request_keys: Vec::new(),
            wanted: Wanted {
                only,
                rest: rest_of,
            },
            on_call,
            limits,
            seed,
            strict,
            book,
            clock,
            began: now(),
            token_counts: (0, 0),
            statement_counts: (0, 0),
            blocked: None,
            rows: Vec::new(),
            took: Duration::ZERO,
        }
    }

    /// True if a row of this id is asked for.
    pub(super) fn wants(&self, id: &str) -> bool {
        self.wanted.has(id)
    }

    /// True if this row is asked for.
    pub(super) fn wants_row(&self, id: &str, title: &str) -> bool {
        self.wanted.has_row(id, title)
    }

    /// True if rows under one of these are asked for.
    pub(super) fn wants_any(&self, headings: &[&str]) -> bool {
        self.wanted.has_any(headings)
    }

    /// Adds a row. The calls since the last row were made for it.
    pub(super) fn row(&mut self, id: &'static str, title: impl Into<String>, verdict: Verdict) {
        let took = std::mem::take(&mut self.took);
        let title = title.into();
        let verdict = match verdict {
            Verdict::Noted(why) if self.strict && is_beyond(id) => Verdict::Failed(why),
            Verdict::Failed(why) if !self.strict && is_beyond(id) => Verdict::Noted(why),
            other => other,
        };
        if self.wanted.has_row(id, &title) {
            self.rows.push(Row::new(id, title, verdict, took));
        }
    }

    /// Adds a row for what became of a call.
    pub(super) fn row_of(
        &mut self,
        id: &'static str,
        title: impl Into<String>,
        got: Got,
        judge: impl FnOnce(&Answer) -> Verdict,
    ) {
        self.row(
            id,
            title,
            got.answer()
                .map_or_else(|verdict| verdict, |answer| judge(&answer)),
        );
    }

    /// A right assertion, another one each time.
    pub(super) fn assertion(&mut self) -> Assertion {
        self.assertions += 1;
        Assertion::new(&self.target, &self.keys, self.assertions)
    }

    /// How many calls were answered 200, and how many were not.
    pub(super) fn counts(&mut self, endpoint: Endpoint) -> &mut (usize, usize) {
        if endpoint == Endpoint::Token {
            &mut self.token_counts
        } else {
            &mut self.statement_counts
        }
    }

    /// How many calls are left.
    pub(super) fn left(&self, endpoint: Endpoint) -> usize {
        match endpoint {
            Endpoint::Token => self.tokens.left(),
            Endpoint::Statement => self.statements.left(),
        }
    }

    /// Makes a call if the budget allows it. One that is answered 429 is repeated when the answer
    /// says, if that is soon enough; otherwise nothing further is asked of that endpoint.
    pub(super) async fn call(&mut self, endpoint: Endpoint, call: Call) -> Got {
        let begin = Instant::now();
        (self.on_call)(CallsLeft {
            tokens: self.tokens.left(),
            statements: self.statements.left(),
        });
        let got = self.call_patiently(endpoint, call).await;
        self.took += begin.elapsed();
        got
    }

    async fn call_patiently(&mut self, endpoint: Endpoint, call: Call) -> Got {
        if let Some(why) = self.blocked {
            return Got::NotRun(why.to_owned());
        }
        loop {
            if let Err(why) = self.purse(endpoint).pay() {
                return Got::NotRun(why);
            }
            let answer = match self.send(endpoint, call.clone()).await {
                Ok(answer) => answer,
                Err(why) => return Got::Nothing(why),
            };
            if answer.status != 429 {
                return Got::Answer(answer);
            }
            let after = answer.retry_after();
            match after
                .map(Duration::from_secs)
                .filter(|after| *after <= self.wait)
            {
                Some(after) => sleep(after).await,
                None => {
                    let when =
                        after.map_or_else(String::new, |after| format!(", Retry-After {after} s"));
                    let why = format!("the provider answers 429{when}");
                    self.purse(endpoint).close(why.clone());
                    return Got::NotRun(why);
                }
            }
        }
    }

    /// Sends a call at the pace of its endpoint, whatever the budget, and keeps the request key of
    /// the answer.
    pub(super) async fn send(&mut self, endpoint: Endpoint, call: Call) -> Result<Answer, String> {
        let is_post = call.method == reqwest::Method::POST;
        if endpoint == Endpoint::Token {
            if let Some(next) = self.next_token {
                sleep_until(next).await;
            }
            self.next_token = Some(Instant::now() + self.pause);
        }
        let answer = send(&self.client, call).await?;
        let (answered, refused) = self.counts(endpoint);
        *(if answer.status == 200 {
            answered
        } else {
            refused
        }) += 1;
        // Others than POST need not reach the endpoint, nor what is refused before it.
        if is_post && answer.status != 429 {
            match endpoint {
                Endpoint::Token => {
                    self.token_request_keys
                        .push(answer.header(REQUEST_KEY.as_str()).map(str::to_owned));
                }
                Endpoint::Statement => {
                    self.statement_request_keys
                        .extend(super::body::text_member(&answer.body, "requestKey"));
                }
            }
        }
        Ok(answer)
    }

    /// Sends three calls at once, whatever the budget.
    pub(super) async fn send_three(&mut self, calls: [Call; 3]) -> [Result<Answer, String>; 3] {
        let [first, second, third] = calls.map(|call| send(&self.client, call));
        tokio::join!(first, second, third).into()
    }

    /// Sends a call that is of neither endpoint.
    pub(super) async fn send_aside(&mut self, call: Call) -> Result<Answer, String> {
        send(&self.client, call).await
    }

    fn purse(&mut self, endpoint: Endpoint) -> &mut Purse {
        match endpoint {
            Endpoint::Token => &mut self.tokens,
            Endpoint::Statement => &mut self.statements,
        }
    }
}

/// `expected X, found Y`.
pub(super) fn differs(expected: &str, found: Option<&str>) -> String {
    let found = found.map_or_else(|| "none".to_owned(), excerpt);
    format!("expected {expected}, found {found}")
}

/// Passed if there is an endpoint at the path of the specification. Another path is noted, because
/// the caller chose it.
pub(super) fn path_of(answer: &Answer, url: &reqwest::Url, path: &str) -> Verdict {
    let said =
        super::body::object(&answer.body).is_ok_and(|members| members.get("error").is_some());
    match answer.status {
        _ if !url.path().ends_with(path) => Verdict::Noted(differs(path, Some(url.path()))),
        404 | 405 if !said => Verdict::Failed(format!(
            "expected the endpoint at {path}, found {}",
            answer.status
        )),
        _ => Verdict::Passed,
    }
}

/// Passed if the status is an expected one.
pub(super) fn status_of(answer: &Answer, expected: &[u16]) -> Verdict {
    if expected.contains(&answer.status) {
        return Verdict::Passed;
    }
    let names: Vec<String> = expected.iter().map(u16::to_string).collect();
    Verdict::Failed(format!(
        "expected {}, found {}",
        names.join(" or "),
        answer.status
    ))
}
