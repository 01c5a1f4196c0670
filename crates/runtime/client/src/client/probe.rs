//! The probe of all parts that a customer's first statement needs.

use crate::call_error::{CallError, about_clock};
use crate::exchange_error::CallPhase;
use crate::statement::StatementClient;
use crate::token::{Exchange, SCOPES, Token, TokenSource};
use bankrail_client_assertion::Audience;
use bankrail_statement::{AccountId, StatementRequest};
use bankrail_values::json::{self, JsonLimits, JsonValue};
use std::borrow::Cow;
use std::fmt;
use url::Url;

/// The paths of the metadata of an issuer without a path (RFC 8414 section 3, OpenID Connect
/// Discovery section 4).
const METADATA: [&str; 2] = [
    "/.well-known/oauth-authorization-server",
    "/.well-known/openid-configuration",
];

/// The outcome of [`Client::probe`](super::Client::probe), step by step; a failed step may be the
/// last. `Display` writes a line for each step.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Probe {
    /// The steps that were tried, in their order.
    pub steps: Vec<ProbeStep>,
}

/// A step of a [`Probe`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProbeStep {
    /// The name of the step: `reach`, `clock`, `token`, `scopes`, and `service` or `account`.
    pub name: &'static str,
    /// The finding, as a text of this crate.
    pub found: String,
    /// The change to make; `None` if the step passed.
    pub advice: Option<Cow<'static, str>>,
}

impl Probe {
    /// Returns true if no step failed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.steps.iter().all(|step| step.advice.is_none())
    }

    pub(super) async fn of(
        tokens: &TokenSource,
        statements: &StatementClient,
        account: Option<&AccountId>,
    ) -> Self {
        let exchange = tokens.exchange();
        let mut steps = Vec::new();
        let Some(audiences) = reach(exchange, &mut steps).await else {
            return Self { steps };
        };
        // A cached token does not show that today's key and audience are right.
        match tokens.renew().await {
            Ok(token) => {
                steps.push(passed("token", granted(exchange)));
                steps.push(scopes(exchange, &token));
                steps.push(statement(statements, account).await);
            }
            Err(error) => steps.push(refused(exchange, &error, audiences).await),
        }
        Self { steps }
    }
}

impl fmt::Display for Probe {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| match &step.advice {
            None => writeln!(out, "ok    {:<8}{}", step.name, step.found),
            Some(advice) => writeln!(out, "FAIL  {:<8}{}: {advice}", step.name, step.found),
        })
    }
}

/// Returns the finding about a new token, with the calls that the service allows.
fn granted(exchange: &Exchange) -> String {
    let windows = exchange.caller.pacer.policy().windows().iter();
    let budget = windows.max_by_key(|window| window.length()).map(|window| {
        format!(
            ", one of {} in {} s",
            window.limit(),
            window.length().as_secs()
        )
    });
    format!("there is a new one{}", budget.unwrap_or_default())
}

fn passed(name: &'static str, found: impl Into<String>) -> ProbeStep {
    ProbeStep {
        name,
        found: found.into(),
        advice: None,
    }
}

fn failed(
    name: &'static str,
    found: impl Into<String>,
    advice: impl Into<Cow<'static, str>>,
) -> ProbeStep {
    ProbeStep {
        name,
        found: found.into(),
        advice: Some(advice.into()),
    }
}

/// Requests the metadata, and returns the audiences that it names; `None` if there was no answer.
/// The answer of a service without metadata also shows that the service was reached.
async fn reach(exchange: &Exchange, steps: &mut Vec<ProbeStep>) -> Option<Vec<Audience>> {
    let (url, mut clock_ahead) = (exchange.caller.endpoint.url(), None);
    let mut audiences = Vec::new();
    for path in METADATA {
        match exchange.caller.look(path).await {
            Ok(reply) => {
                clock_ahead = clock_ahead.or(reply.clock_ahead);
                audiences = named_audiences(&reply.body);
            }
            // Some gateway answers paths that it does not know with a page, or closes the
            // connection.
            Err(error) if matches!(error.phase(), CallPhase::Answer | CallPhase::Read) => {}
            Err(error) => {
                let found = format!("{url} failed at {}: {}", error.phase(), error.cause());
                steps.push(failed("reach", found, error.advice()));
                return None;
            }
        }
        if !audiences.is_empty() {
            break;
        }
    }
    steps.push(passed("reach", format!("{url} can be connected to")));
    steps.push(match clock_ahead.map(|ahead| (ahead, about_clock(ahead))) {
        None => passed("clock", "no answer has a Date to compare with"),
        Some((ahead, None)) => passed("clock", format!("{ahead} s ahead of the service's")),
        Some((_, Some(advice))) => failed("clock", "the clocks differ", advice),
    });
    Some(audiences)
}

/// Returns the audiences that a service's metadata names: its issuer, and the address of its token
/// endpoint.
fn named_audiences(metadata: &[u8]) -> Vec<Audience> {
    let Ok(object) = json::read_object(metadata, &JsonLimits::new()) else {
        return Vec::new();
    };
    let audience = |name: &&str| match object.get(name) {
        Some(JsonValue::String(text)) => Audience::parse(text).ok(),
        _ => None,
    };
    ["issuer", "token_endpoint"]
        .iter()
        .filter_map(audience)
        .collect()
}

/// Tries other audiences for a refused assertion, each with a token call. Only audiences at the
/// token endpoint's own host are tried: an assertion for another host would be valid there, and
/// this host would get it.
async fn refused(exchange: &Exchange, error: &CallError, audiences: Vec<Audience>) -> ProbeStep {
    let url = exchange.caller.endpoint.url();
    let found = format!("there is none from {url} ({})", described(error));
    let advice = error.advice();
    // Each try costs a token call, so there is none after a refusal that another audience cannot
    // mend.
    if !error.is_audience_suspect() || audiences.is_empty() {
        return failed("token", found, advice);
    }
    let own = exchange.caller.endpoint.url().origin();
    let is_own =
        |audience: &Audience| Url::parse(audience.as_str()).is_ok_and(|url| url.origin() == own);
    for audience in audiences
        .iter()
        .filter(|named| is_own(named) && *named != exchange.assertion.audience())
    {
        if exchange.try_audience(audience.clone()).await.is_ok() {
            let advice = format!(
                "set the audience to {:?}, with which there is one",
                audience.as_str()
            );
            return failed("token", found, advice);
        }
    }
    let named: Vec<&str> = audiences.iter().map(Audience::as_str).collect();
    failed(
        "token",
        found,
        format!("{advice}; the service names the audiences {named:?}"),
    )
}

fn scopes(exchange: &Exchange, token: &Token) -> ProbeStep {
    match exchange.missing_scopes(token).join(" ") {
        missing if missing.is_empty() => passed("scopes", token.scopes.to_string()),
        missing => failed("scopes", format!("without {missing}"), SCOPES),
    }
}

/// Requests the statement of the account, or without an account sends a request without a token,
/// which no limit counts.
async fn statement(statements: &StatementClient, account: Option<&AccountId>) -> ProbeStep {
    let url = statements.caller().endpoint.url();
    let error = match account {
        Some(account) => match statements.page(&StatementRequest::new(account)).await {
            Ok(page) => {
                return passed(
                    "account",
                    format!("a page of {} entries", page.entries().count()),
                );
            }
            Err(error) => error,
        },
        None => match statements.unauthorized().await {
            Ok(401) => return passed("service", format!("{url} asks for a token")),
            Ok(status) => {
                let advice =
                    "check the address of the service: expected 401 for a call without a token";
                return failed("service", format!("{url} answered {status}"), advice);
            }
            Err(error) => error,
        },
    };
    let found = format!("{url} failed ({})", described(&error));
    failed(
        if account.is_some() {
            "account"
        } else {
            "service"
        },
        found,
        error.advice(),
    )
}

/// Returns the kind, the status and the cause of a failed call, as far as they are known.
fn described(error: &CallError) -> String {
    let status = error
        .status
        .map(|status| format!(", status {status}"))
        .unwrap_or_default();
    let cause = error
        .cause()
        .map(|cause| format!(", {cause}"))
        .unwrap_or_default();
    format!("{}{status}{cause}", error.kind())
}
