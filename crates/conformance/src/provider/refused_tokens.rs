//! Token requests that must be refused, the most important ones first.

use super::forge::{Assertion, Signed, now};
use super::judge::{Endpoint, Judge, status_of};
use super::target::Target;
use super::token::form;
use super::wire::Call;
use crate::error::JudgeError;
use crate::row::Verdict;
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use serde_json::json;

/// What is wrong with a request, and how it must be answered.
struct Probe {
    id: &'static str,
    title: &'static str,
    expected: &'static [u16],
    change: Change,
}

enum Change {
    Assertion(fn(&mut Assertion, &Target)),
    /// A field is left out, or has another value.
    Field(&'static str, Option<&'static str>),
    Call(fn(Call, &Target) -> Call),
}

/// The assertion is invalid, or the customer's public key does not verify it (Specification: "Obtain access token").
const INVALID: &[u16] = &[401];
/// A field is missing, or the request is invalid otherwise.
const BAD: &[u16] = &[400];
/// The specification names no status.
const REFUSED: &[u16] = &[400, 401, 403];

/// Ten of a column fit into the hourly budget, so they stand in the order of what a provider can lose by them.
const PROBES: [Probe; 29] = [
    assertion("S20.17", "an assertion that another key signed is refused", |a, _| a.signed = Signed::Unregistered),
    assertion("S8.3", "an assertion with alg none is refused", |a, _| alg(a, "none", Signed::Unsigned)),
    assertion("S8.13", "an assertion is refused after its exp", |a, _| claim(a, "exp", json!(now() - 600))),
    assertion("S8.15", "an exp more than 60 minutes ahead is refused", |a, _| claim(a, "exp", json!(now() + 4200))),
    assertion("S8.18", "an assertion for another audience is refused", |a, _| {
        claim(a, "aud", json!("https://another.example/v1.0/auth"));
    }),
    // Signed by this customer's key, which is not the other's.
    assertion("S8.10", "the assertion of another customer is refused", |a, target| {
        let other = target.other.as_ref().map_or("NOBODYSCUSTOMERCODE", |other| other.code.as_str());
        claim(a, "sub", json!(other));
    }),
    assertion("S8.3", "an assertion with alg HS256 and the public key as its secret is refused", |a, _| {
        alg(a, "HS256", Signed::Hs256);
    }),
    Probe {
        id: "S20.5",
        title: "a token request without the API key is refused",
        expected: REFUSED,
        change: Change::Call(|call, target| call.without(&target.api_key_header)),
    },
    field("S20.18", "a token request without client_assertion is answered 400", "client_assertion", None),
    assertion("S8.20", "an assertion that was changed after it was signed is refused", |a, _| {
        a.signed = Signed::Changed;
    }),
    assertion("S8.3", "an assertion with alg PS256 is refused", |a, _| alg(a, "PS256", Signed::Ps256)),
    assertion("S8.11", "an assertion without exp is refused", |a, _| drop(a.claims.remove("exp"))),
    assertion("S8.18", "an assertion without aud is refused", |a, _| drop(a.claims.remove("aud"))),
    assertion("S8.7", "an assertion without sub is refused", |a, _| drop(a.claims.remove("sub"))),
    assertion("S8.8", "an assertion whose sub is not in upper case is refused", |a, target| {
        claim(a, "sub", json!(target.customer.code.to_lowercase()));
    }),
    assertion("S8.5", "an assertion with another typ is refused", |a, _| {
        drop(a.header.insert("typ".to_owned(), json!("at+jwt")));
    }),
    Probe {
        id: "S22.3",
        title: "a token request with a wrong API key is refused",
        expected: REFUSED,
        change: Change::Call(|call, target| call.with(&target.api_key_header, "00000000-0000-4000-8000-000000000000")),
    },
    field("S20.7", "another grant_type is answered 400", "grant_type", Some("authorization_code")),
    field(
        "S20.8",
        "another client_assertion_type is answered 400",
        "client_assertion_type",
        Some("urn:ietf:params:oauth:client-assertion-type:saml2-bearer"),
    ),
    field("S20.18", "a token request without grant_type is answered 400", "grant_type", None),
    field("S20.18", "a token request without client_assertion_type is answered 400", "client_assertion_type", None),
    field("S20.18", "a token request without scope is answered 400", "scope", None),
    Probe {
        id: "S20.4",
        title: "a form with another Content-Type is refused",
        expected: &[400, 415],
        change: Change::Call(|call, _| call.with(&CONTENT_TYPE, "text/plain")),
    },
    Probe {
        id: "S20.19",
        title: "JSON in place of the form is answered 400",
        expected: &[400, 415],
        change: Change::Call(|call, _| {
            let mut call = call.with(&CONTENT_TYPE, "application/json");
            call.body = b"{}".to_vec();
            call
        }),
    },
    Probe {
        id: "S20.19",
        title: "an empty body is answered 400",
        expected: BAD,
        change: Change::Call(|mut call, _| {
            call.body.clear();
            call
        }),
    },
    Probe {
        id: "S8.1",
        title: "an assertion that is no JWT is refused",
        expected: &[400, 401],
        change: Change::Assertion(|a, _| a.signed = Signed::Garbage),
    },
    assertion("S8.11", "an exp that is no time is refused", |a, _| claim(a, "exp", json!("tomorrow"))),
    assertion("S8.7", "an assertion of an unknown customer is refused", |a, _| {
        claim(a, "sub", json!("NOBODYSCUSTOMERCODE"));
    }),
    Probe {
        id: "S20.1",
        title: "the method is POST: a GET gets no token",
        expected: &[400, 401, 403, 404, 405, 406, 411, 415, 422, 501],
        change: Change::Call(|mut call, _| {
            call.method = Method::GET;
            call.body.clear();
            call
        }),
    },
];

const fn assertion(id: &'static str, title: &'static str, change: fn(&mut Assertion, &Target)) -> Probe {
    Probe { id, title, expected: INVALID, change: Change::Assertion(change) }
}

const fn field(id: &'static str, title: &'static str, name: &'static str, value: Option<&'static str>) -> Probe {
    Probe { id, title, expected: BAD, change: Change::Field(name, value) }
}

fn alg(assertion: &mut Assertion, name: &str, signed: Signed) {
    assertion.header.insert("alg".to_owned(), json!(name));
    assertion.signed = signed;
}

fn claim(assertion: &mut Assertion, name: &str, value: serde_json::Value) {
    assertion.claims.insert(name.to_owned(), value);
}

/// Makes the requests, and a row for each.
pub(super) async fn judge(judge: &mut Judge) -> Result<(), JudgeError> {
    let scope = judge.target.scopes.join(" ");
    for probe in &PROBES {
        if !judge.wants_row(probe.id, probe.title) {
            continue;
        }
        if probe.id == "S8.8" && judge.target.customer.code.to_lowercase() == judge.target.customer.code {
            judge.row(probe.id, probe.title, Verdict::NotSeen("the customer code has no letters".to_owned()));
            continue;
        }
        let mut right = judge.assertion();
        if let Change::Assertion(change) = probe.change {
            change(&mut right, &judge.target);
        }
        let mut fields = form(judge, &right, &scope)?;
        if let Change::Field(name, value) = probe.change {
            fields.retain(|(found, _)| *found != name);
            fields.extend(value.map(|value| (name, value.to_owned())));
        }
        let mut call = Call::token(&judge.target, &fields);
        if let Change::Call(change) = probe.change {
            call = change(call, &judge.target);
        }
        let got = judge.call(Endpoint::Token, call).await;
        judge.row_of(probe.id, probe.title, got, |answer| status_of(answer, probe.expected));
    }
    Ok(())
}
