//! What the provider serves.

use super::{answer, headers_of, limits, schema};
use crate::{ProviderOptions, StatementFailure, TokenErrorStyle};
use bankrail_client_assertion::token::{FORM_CONTENT_TYPE, TokenRequest};
use bankrail_rate_limit::{CallType, Limiter};
use bankrail_statement::StatementRequest;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// `POST /v1.0/auth`.
pub(super) fn token(options: &ProviderOptions, limiter: &Limiter) -> Value {
    let kept = ["Cache-Control", "Pragma"];
    let mut responses = Map::new();
    let kept = [&kept[..], rate_limits(options)].concat();
    responses.insert(
        "200".to_owned(),
        answer("A token", &kept, schema("TokenResponse")),
    );
    let body = match options.token_error_body {
        TokenErrorStyle::Rfc6749 => "TokenError",
        TokenErrorStyle::Statement => "StatementError",
    };
    for (failure, description) in StatementFailure::ALL
        .iter()
        .filter_map(|one| Some((one, one.token_description()?)))
    {
        let own = failure
            .header()
            .filter(|name| ["Allow", "Retry-After"].contains(name));
        let headers: Vec<_> = kept.iter().copied().chain(own).collect();
        let status = failure.default_status().as_str().to_owned();
        responses.insert(status, answer(description, &headers, schema(body)));
    }
    let max_body = options.max_token_body.min(TokenRequest::MAX_BYTES);
    json!({
        "post": {
            "operationId": "obtainAccessToken",
            "summary": "Exchanges a signed assertion for an access token",
            "security": [{ "apiKey": [] }],
            "x-limits": limits(limiter, CallType::Token, max_body, options.body_timeout),
            "requestBody": {
                "required": true,
                "content": { FORM_CONTENT_TYPE: { "schema": schema("TokenRequest") } },
            },
            "responses": responses,
        },
    })
}

/// `POST /accounts/v2.0/statement`.
pub(super) fn statement(options: &ProviderOptions, limiter: &Limiter) -> Value {
    let mut responses = Map::new();
    let success = [&["Cache-Control"], rate_limits(options)].concat();
    responses.insert(
        "200".to_owned(),
        answer(
            "A page of the statement",
            &success,
            schema("StatementResponse"),
        ),
    );
    for (status, (codes, headers)) in failures(options) {
        let description = format!("Refused: {}", codes.join(", "));
        let of_status = json!({
            "allOf": [
                schema("StatementError"),
                { "properties": { "error": { "properties": { "statusCode": { "enum": codes } } } } },
            ],
        });
        let refused = answer(&description, &headers, of_status);
        match responses.get_mut(&status.to_string()) {
            // An option has moved a failure to the status of success.
            Some(success) => {
                let content = &mut success["content"]["application/json"]["schema"];
                *content = json!({ "anyOf": [content.take(), refused["content"]["application/json"]["schema"]] });
            }
            None => {
                responses.insert(status.to_string(), refused);
            }
        }
    }
    let scope = options.statement_scope.as_str();
    let max_body = options.max_statement_body.min(StatementRequest::MAX_BYTES);
    json!({
        "post": {
            "operationId": "requestStatement",
            "summary": "Returns a page of the entries of an account of today",
            "security": [{ "apiKey": [], "accessToken": [scope] }],
            "x-limits": limits(limiter, CallType::Statement, max_body, options.body_timeout),
            "requestBody": {
                "required": true,
                "content": { "application/json": { "schema": schema("StatementRequest") } },
            },
            "responses": responses,
        },
    })
}

/// The headers that the answers to charged requests have.
fn rate_limits(options: &ProviderOptions) -> &'static [&'static str] {
    if options.rate_limit_headers {
        &["RateLimit", "RateLimit-Policy"]
    } else {
        &[]
    }
}

/// The codes and the headers of each status with which a request to the statement endpoint can
/// fail. A header is named only where every failure under its status has it.
fn failures(options: &ProviderOptions) -> BTreeMap<u16, (Vec<String>, Vec<&'static str>)> {
    let mut by_status: BTreeMap<u16, (Vec<String>, Vec<&'static str>)> = BTreeMap::new();
    for failure in StatementFailure::ALL {
        if *failure == StatementFailure::UnknownPath {
            continue;
        }
        let (code, status) = options.answer(*failure);
        let own = std::iter::once("Cache-Control").chain(failure.header());
        let headers: Vec<_> = own.chain(rate_limits(options).iter().copied()).collect();
        let (codes, common) = by_status
            .entry(status.as_u16())
            .or_insert_with(|| (Vec::new(), headers.clone()));
        common.retain(|name| headers.contains(name));
        if !codes.iter().any(|known| known == code.as_str()) {
            codes.push(code.as_str().to_owned());
        }
    }
    by_status
}

/// The status and the answer of a request with a method that a path for everybody does not have.
fn other_method(options: &ProviderOptions) -> (String, Value) {
    let (_, status) = options.answer(StatementFailure::Method);
    let refused = answer(
        "The method is another one",
        &["Cache-Control", "Allow"],
        schema("StatementError"),
    );
    (status.as_str().to_owned(), refused)
}

/// A document that everybody may read.
pub(super) fn document(options: &ProviderOptions, summary: &str, name: &str) -> Value {
    let kept = ["Cache-Control"];
    let (other_method, refused) = other_method(options);
    json!({
        "get": {
            "summary": summary,
            "security": [],
            "responses": { "200": answer("The document", &kept, schema(name)), other_method: refused },
        },
        "head": {
            "summary": summary,
            "security": [],
            "responses": { "200": { "description": "Its headers", "headers": headers_of(&kept) } },
        },
    })
}

/// The authorization endpoint, which refuses everybody.
pub(super) fn authorization(options: &ProviderOptions) -> Value {
    let (other_method, refused) = other_method(options);
    let refuses = json!({
        "summary": "Refuses: tokens are issued for client credentials only",
        "security": [],
        "responses": {
            "400": answer("unsupported_response_type", &["Cache-Control"], schema("AuthorizationError")),
            other_method: refused,
        },
    });
    let head = json!({
        "summary": refuses["summary"],
        "security": [],
        "responses": { "400": { "description": "Its headers", "headers": headers_of(&["Cache-Control"]) } },
    });
    json!({ "get": refuses, "head": head, "post": refuses })
}
