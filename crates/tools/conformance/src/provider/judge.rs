//! Makes the calls within the budget, and collects the rows.

mod book;
mod checks;
mod forge;
mod late;
mod limits;
mod narrative;
mod paging;
mod payload;
mod refusals;
mod statement;
mod token;
mod windows;
mod wire;
mod xml;

use super::budget::{Budget, Purse};
use super::{CallsLeft, Customer, ProviderJudgeOptions};
use crate::client::{address, below, client};
use crate::error::JudgeError;
use crate::hook::Hook;
use crate::judgement::Judgement;
use crate::row::{Demand, Row, Verdict, is_beyond};
use crate::selection::Wanted;
use bankrail_client_assertion::token::names;
use bankrail_http::names::{REQUEST_KEY, STATEMENT_PATH, TOKEN_PATH};
use bankrail_jose::SigningKey;
use bankrail_values::json::JsonValue;
use bankrail_values::{Clock as _, SystemClock};
use forge::{Assertion, Keys};
use reqwest::Url;
use reqwest::header::HeaderName;
use std::mem::{replace, swap};
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};
use wire::{Answer, Call, send};

const NO_TOKEN: &str =
    "no access token was received: check the API key, the customer code, its key and the audience";

/// The options that judge more rows, and their costs.
const PRICES: [(&str, &str); 8] = [
    (
        "--book",
        "6 bookings and 2 to 4 statements for each account, a minute",
    ),
    (
        "--limits",
        "up to 52 statements and 25 token requests, a minute; the customer is then locked out for an hour",
    ),
    (
        "--clock",
        "2 statements, or up to 110 and 35 token requests with --limits, two minutes; --wait takes as long as a token lives",
    ),
    (
        "--second-connection",
        "up to 5 token requests and 4 statements, and the other customer's own budget, no further minute",
    ),
    (
        "--scope",
        "up to 4 token requests and 2 statements, no further minute",
    ),
    ("--account", "a statement for each, no further minute"),
    (
        "--budget",
        "a call or two for each, of a customer with higher limits; or --rest-of this report, an hour later",
    ),
    ("--strict", "no call"),
];

/// A provider, and one of its customers.
#[derive(Clone)]
struct Target {
    base_url: Url,
    token_url: Url,
    statement_url: Url,
    audience: String,
    /// The issuer in the provider's metadata, which some clients send as the audience.
    issuer: Option<String>,
    customer: Customer,
    api_key_header: HeaderName,
    scopes: Vec<String>,
    /// Another customer of the same provider.
    other: Option<Customer>,
}

impl Target {
    fn new(
        url: &str,
        customer: Customer,
        options: &ProviderJudgeOptions,
    ) -> Result<Self, JudgeError> {
        if customer.accounts.is_empty() {
            return Err(JudgeError::NoAccount);
        }
        let base_url = address(url)?;
        let token_url = options
            .token_url
            .as_deref()
            .map_or_else(|| Ok(below(&base_url, TOKEN_PATH)), address)?;
        let mut scopes = options.scopes.clone();
        if scopes.is_empty() {
            scopes.push(names::STATEMENT_READ.to_owned());
        }
        let other = options.second_customer.clone().map(|mut other| {
            // An account of both customers does not belong to the other one alone.
            other
                .accounts
                .retain(|account| !customer.accounts.contains(account));
            other
        });
        Ok(Self {
            statement_url: below(&base_url, STATEMENT_PATH),
            audience: options
                .audience
                .clone()
                .unwrap_or_else(|| token_url.to_string()),
            issuer: None,
            token_url,
            base_url,
            customer,
            api_key_header: options.api_key_header.clone(),
            scopes,
            other,
        })
    }

    /// Returns the account for rows about a single account.
    fn first_account(&self) -> String {
        self.customer.accounts.first().cloned().unwrap_or_default()
    }
}

/// UNIX seconds.
fn now() -> i64 {
    SystemClock.now().unix_seconds()
}

/// The endpoint of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Endpoint {
    Token,
    Statement,
}

/// A statement that was asked for.
#[derive(Clone)]
struct Statement {
    /// The name in rows, such as `statement 2`; empty for a statement that was requested later.
    place: String,
    account: String,
    payload: String,
    request_key: Option<String>,
    cursor: Option<String>,
    more: bool,
    /// The time at which the statement was received, in UNIX seconds.
    at: i64,
}

/// The statements that were requested.
struct Statements {
    found: Vec<Statement>,
    /// The statements that bookings have changed, as they were before.
    before: Vec<Statement>,
    /// The accounts that the budget did not last for.
    left_out: usize,
    /// The calls that are kept for other rows.
    kept: usize,
    /// The verdict of a row that no statement shows.
    unseen: Verdict,
}

impl Statements {
    /// Returns the verdict of a row that no statement shows: `budget` is the reason if there are
    /// accounts that the budget did not last for, `account` if the customer has no other account.
    fn without(
        &self,
        budget: impl FnOnce(usize) -> String,
        account: impl FnOnce() -> String,
    ) -> Verdict {
        match &self.unseen {
            Verdict::NotRun(why) => Verdict::not_run(why),
            _ if self.left_out > 0 => Verdict::NotRun(budget(self.left_out)),
            _ => Verdict::NotSeen(account()),
        }
    }
}

/// An access token, and the provider's time of its end.
#[derive(Clone)]
struct Bearer {
    token: String,
    lifetime: Duration,
    until: Instant,
}

/// The calls and the token that a customer has left.
type Remainder = (Purse, Purse, Option<Bearer>);

/// Judges a provider by the clauses of the specification that can be seen from outside.
///
/// It calls the provider's two endpoints over HTTPS as a customer does, rightly and wrongly. Every
/// call counts against the customer's limits, so the calls are bounded by a
/// [`Budget`](crate::Budget), the most important ones first. A row for which the budget did not
/// suffice is [`Verdict::NotRun`](crate::Verdict::NotRun). A call that is answered 429 is repeated
/// after its `Retry-After` if that is within [`ProviderJudgeOptions::wait`].
pub struct ProviderJudge {
    target: Target,
    keys: Keys,
    client: reqwest::Client,
    budget: Budget,
    tokens: Purse,
    statements: Purse,
    pause: Duration,
    next_token: Option<Instant>,
    /// The maximum wait.
    wait: Duration,
    assertions: u32,
    bearer: Option<Bearer>,
    /// The header X-RequestKey of each answer of the token endpoint.
    token_request_keys: Vec<Option<String>>,
    /// The member requestKey of each answer of the statement endpoint that has one.
    statement_request_keys: Vec<String>,
    wanted: Wanted,
    on_call: fn(CallsLeft),
    limits: bool,
    seed: u32,
    strict: bool,
    /// The hook that orders bookings.
    book: Option<Hook>,
    /// The hook that steps the provider's clock.
    clock: Option<Hook>,
    /// The total of all steps of the subject's clock.
    stepped: Duration,
    /// The maximum time for an answer or an order.
    timeout: Duration,
    /// The time at which the judge began, in UNIX seconds.
    began: i64,
    /// The reason why no further call shows anything.
    blocked: Option<&'static str>,
    judged: Vec<Row>,
    took: Duration,
}

bankrail_values::impl_debug!(ProviderJudge);

impl ProviderJudge {
    /// A judge of the provider at this address, in the name of a customer whose assertions this key
    /// signs.
    ///
    /// # Errors
    /// [`JudgeError`] if an address is not one to call, the customer has no account, or the keys or
    /// the certificates to trust are unusable.
    pub fn new(
        url: &str,
        customer: Customer,
        signing_key: &SigningKey,
        options: ProviderJudgeOptions,
    ) -> Result<Self, JudgeError> {
        let target = Target::new(url, customer, &options)?;
        let client = client(
            &options.roots,
            options.client_certificate.as_ref(),
            options.proxy.as_ref(),
            options.timeout,
        )?;
        let keys = Keys::new(signing_key, options.second_signing_key.as_ref())?;
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
            timeout,
            on_call,
            ..
        } = options;
        let (tokens, statements) = budget.purses();
        Ok(Self {
            keys,
            client,
            target,
            budget,
            tokens,
            statements,
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
            stepped: Duration::ZERO,
            timeout,
            began: now(),
            blocked: None,
            judged: Vec::new(),
            took: Duration::ZERO,
        })
    }

    /// Makes the calls: first one token and the statements, then the calls that must be refused,
    /// then those that use up the budget.
    ///
    /// # Errors
    /// [`JudgeError`] if nobody answers, a request cannot be made, or no row is selected.
    pub async fn judge(mut self) -> Result<Judgement, JudgeError> {
        token::judge_first(&mut self).await?;
        late::metadata(&mut self).await;
        if self.bearer.is_none() {
            // A refusal would show nothing, because correct calls are refused as well.
            self.blocked = Some(NO_TOKEN);
        }
        let mut statements = statement::judge(&mut self).await?;
        book::judge(&mut self, &mut statements).await;
        payload::judge(&mut self, &statements);
        payload::judge_test_accounts(&mut self, &statements);
        narrative::judge(&mut self, &statements).await?;
        paging::judge(&mut self, &statements).await?;
        refusals::judge_statements(&mut self).await?;
        refusals::judge_tokens(&mut self).await?;
        late::request_keys(&mut self);
        late::end_of_token(&mut self).await?;
        // Judges the limits late, because afterwards they are used up.
        limits::judge(&mut self).await?;
        windows::judge(&mut self).await?;
        let address = self.target.base_url.to_string();
        let (rows, blocked) = (self.judged, self.blocked);
        Judgement::new("provider", address, rows, blocked, self.seed, &PRICES)
    }

    /// Adds a row of this id and title. The calls since the last row were made for it.
    fn row(&mut self, row: (&'static str, &str), verdict: Verdict) {
        self.row_demanding(Demand::Service, row, verdict);
    }

    fn row_demanding(
        &mut self,
        demand: Demand,
        (id, title): (&'static str, &str),
        verdict: Verdict,
    ) {
        let took = std::mem::take(&mut self.took);
        let verdict = match verdict {
            Verdict::Noted(why) if self.strict && is_beyond(id) => Verdict::Failed(why),
            Verdict::Failed(why) if !self.strict && is_beyond(id) => Verdict::Noted(why),
            other => other,
        };
        if self.wanted.has_row(id, title) {
            let row = Row::new(id, title, verdict, took);
            self.judged.push(row.demanding(demand));
        }
    }

    /// Adds rows, each with its verdict.
    fn rows(
        &mut self,
        rows: impl IntoIterator<Item = (&'static str, &'static str)>,
        verdicts: impl IntoIterator<Item = Verdict>,
    ) {
        for (row, verdict) in rows.into_iter().zip(verdicts) {
            self.row(row, verdict);
        }
    }

    /// Adds rows with the same verdict.
    fn same_rows<const N: usize>(
        &mut self,
        rows: [(&'static str, &'static str); N],
        verdict: &Verdict,
    ) {
        self.rows(rows, std::iter::repeat_n(verdict.clone(), N));
    }

    /// Returns the provider's time, as far as it is known.
    fn provider_now(&self) -> Instant {
        Instant::now() + self.stepped
    }

    /// Returns a correct assertion, which differs each time.
    fn assertion(&mut self) -> Assertion {
        self.assertions += 1;
        Assertion::new(&self.target, &self.keys, self.assertions)
    }

    /// Goes on as the other customer with a budget of its own, and returns what the first one has
    /// left. `None` if the other customer has no account, key or token, or its limits are counted
    /// later.
    async fn as_other_customer(&mut self) -> Result<Option<Remainder>, JudgeError> {
        let other = self.target.other.as_ref();
        let has_account = other.is_some_and(|other| !other.accounts.is_empty());
        if self.limits || !has_account || self.keys.other.is_none() {
            return Ok(None);
        }
        let (tokens, statements) = self.budget.purses();
        let first = self.change((tokens, statements, None));
        self.bearer = token::another(self).await?;
        if self.bearer.is_some() {
            return Ok(Some(first));
        }
        self.change(first);
        Ok(None)
    }

    /// Exchanges the two customers. Returns what this one has left.
    fn change(&mut self, (tokens, statements, bearer): Remainder) -> Remainder {
        if let (Some(customer), Some(key)) = (&mut self.target.other, &mut self.keys.other) {
            swap(&mut self.target.customer, customer);
            swap(&mut self.keys.own, key);
        }
        (
            replace(&mut self.tokens, tokens),
            replace(&mut self.statements, statements),
            replace(&mut self.bearer, bearer),
        )
    }

    /// Makes a call if the budget allows it. After a 429 the call is repeated at its `Retry-After`,
    /// if that is soon enough; otherwise the endpoint is not called again.
    ///
    /// # Errors
    /// The verdict of a row that needs the answer.
    async fn call(&mut self, endpoint: Endpoint, call: Call) -> Result<Answer, Verdict> {
        let begin = Instant::now();
        (self.on_call)(CallsLeft {
            tokens: self.tokens.left(),
            statements: self.statements.left(),
        });
        let got = self.call_patiently(endpoint, call).await;
        self.took += begin.elapsed();
        got
    }

    async fn call_patiently(&mut self, endpoint: Endpoint, call: Call) -> Result<Answer, Verdict> {
        if let Some(why) = self.blocked {
            return Err(Verdict::not_run(why));
        }
        loop {
            // Pays for each attempt, because the specification leaves open if a refused call
            // counts.
            self.purse(endpoint).pay().map_err(Verdict::NotRun)?;
            let answer = self.send(endpoint, call.clone()).await;
            let answer = answer
                .map_err(|why| Verdict::Failed(format!("expected an answer, found none: {why}")))?;
            if answer.status != 429 {
                return Ok(answer);
            }
            let after = answer.retry_after();
            match after
                .map(Duration::from_secs)
                .filter(|after| *after <= self.wait)
            {
                // Not a second earlier, because an early call may count against the limit again.
                Some(after) => sleep(after).await,
                None => {
                    let when =
                        after.map_or_else(String::new, |after| format!(", Retry-After {after} s"));
                    let why = format!("the provider answers 429{when}");
                    self.purse(endpoint).close(why.clone());
                    return Err(Verdict::NotRun(why));
                }
            }
        }
    }

    /// Sends a call at the pace of its endpoint without paying from the budget, and keeps the
    /// request key of the answer.
    async fn send(&mut self, endpoint: Endpoint, call: Call) -> Result<Answer, String> {
        let is_post = call.method == reqwest::Method::POST;
        if endpoint == Endpoint::Token {
            // Spaced, so that the limit of a second refuses no call of a row about something else.
            if let Some(next) = self.next_token {
                sleep_until(next).await;
            }
            // Measures from the sending, because the provider counts requests and not answers.
            self.next_token = Some(Instant::now() + self.pause);
        }
        // Before the answer, because a call without one may have counted.
        self.purse(endpoint).counts.1 += 1;
        let answer = send(&self.client, call).await?;
        if answer.status == 200 {
            let (answered, refused) = &mut self.purse(endpoint).counts;
            (*answered, *refused) = (*answered + 1, *refused - 1);
        }
        // Requests other than POST need not reach the endpoint, and neither need requests that a
        // limit refuses.
        if is_post && answer.status != 429 {
            match endpoint {
                Endpoint::Token => {
                    self.token_request_keys
                        .push(answer.header(REQUEST_KEY.as_str()).map(str::to_owned));
                }
                Endpoint::Statement => {
                    let members = checks::object(&answer.body);
                    let key = members.as_ref().ok().and_then(|all| all.get("requestKey"));
                    let key = key.and_then(JsonValue::as_str);
                    self.statement_request_keys.extend(key.map(str::to_owned));
                }
            }
        }
        Ok(answer)
    }

    /// Sends three calls at once without paying from the budget.
    async fn send_three(&mut self, calls: [Call; 3]) -> [Result<Answer, String>; 3] {
        let [first, second, third] = calls.map(|call| send(&self.client, call));
        // Sends them at once, so that all three fall into one second.
        tokio::join!(first, second, third).into()
    }

    /// Sends a call to neither of the endpoints.
    async fn send_aside(&mut self, call: Call) -> Result<Answer, String> {
        send(&self.client, call).await
    }

    fn purse(&mut self, endpoint: Endpoint) -> &mut Purse {
        match endpoint {
            Endpoint::Token => &mut self.tokens,
            Endpoint::Statement => &mut self.statements,
        }
    }
}
