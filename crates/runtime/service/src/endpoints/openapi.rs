//! The OpenAPI 3.1 document of the requests that the provider serves and of those that it sends to
//! its customers' receivers (Specification: "Webhook receivers").
//!
//! `openapi.json` in the same folder is the document of a provider with default options and the
//! issuer `https://bank.example`, without the schemas of webhook messages, which `bankrail-webhook`
//! writes. This file fills in the parts that depend on the options. The tests `tests/it/openapi.rs`
//! compare the document with the tables and constants of the code, and with each answer of a
//! provider.

#![allow(
    clippy::indexing_slicing,
    reason = "the members stand in openapi.json, and a test fills in each of them"
)]

use super::issuer::Issuer;
use crate::{ProviderOptions, StatementFailure, TokenErrorStyle};
use bankrail_client_assertion::token::TokenRequest;
use bankrail_http::names::{STATEMENT_PATH, TOKEN_PATH};
use bankrail_rate_limit::{CallType, Limiter};
use bankrail_statement::StatementRequest;
use bankrail_values::Timestamp;
use http::StatusCode;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const TEMPLATE: &str = include_str!("openapi.json");

/// Writes the document of a provider.
pub(crate) fn document(
    options: &ProviderOptions,
    issuer: Option<&Issuer>,
    limiter: &Limiter,
) -> String {
    let mut document: Value =
        serde_json::from_str(TEMPLATE).expect("openapi.json is JSON, as each test of it shows");
    let info = &mut document["info"];
    info["version"] = json!(env!("CARGO_PKG_VERSION"));
    info["x-limits"] = json!(
        options
            .head_bounds
            .bounds()
            .into_iter()
            .collect::<BTreeMap<_, _>>()
    );
    document["servers"][0]["url"] = match issuer {
        Some(issuer) => json!(issuer.url_of("")),
        None => json!("/"),
    };
    document["paths"] = paths(document["paths"].take(), options, issuer, limiter);
    fill_schemas(&mut document["components"]["schemas"], options, issuer);
    let flows = &mut document["components"]["securitySchemes"]["accessToken"]["flows"];
    let scopes = options.advertised_scopes();
    let scopes: BTreeMap<_, _> = scopes.iter().map(|scope| (scope.as_str(), "")).collect();
    flows["clientCredentials"] = json!({ "tokenUrl": options.token_path, "scopes": scopes });
    format!("{document:#}\n")
}

/// Returns the operations of the template under the paths that the provider serves.
fn paths(
    mut template: Value,
    options: &ProviderOptions,
    issuer: Option<&Issuer>,
    limiter: &Limiter,
) -> Value {
    let mut paths = Map::new();
    let mut token = template[TOKEN_PATH].take();
    fill_token(&mut token["post"], options, limiter);
    paths.insert(options.token_path.clone(), token);
    let mut statement = template[STATEMENT_PATH].take();
    fill_statement(&mut statement["post"], options, limiter);
    paths.insert(options.statement_path.clone(), statement);
    // The paths that everybody may read, and their names in the template.
    let mut public = Vec::new();
    if let Some(issuer) = issuer {
        for path in issuer.metadata_paths() {
            public.push((path, "/.well-known/openid-configuration"));
        }
        public.push((issuer.keys_path(), "/.well-known/jwks.json"));
        public.push((options.authorization_path(), "/authorize"));
    }
    if let Some(path) = options.openapi_path() {
        public.push((path, "/openapi.json"));
    }
    let (_, other_method) = options.answer(StatementFailure::Method);
    for (path, name) in public {
        let mut item = template[name].clone();
        for (_, operation) in item.as_object_mut().into_iter().flatten() {
            if let Some(responses) = operation["responses"].as_object_mut()
                && let Some(refused) = responses.remove(StatusCode::METHOD_NOT_ALLOWED.as_str())
            {
                responses.insert(other_method.as_str().to_owned(), refused);
            }
        }
        paths.insert(path, item);
    }
    Value::Object(paths)
}

/// Fills in the token endpoint.
fn fill_token(operation: &mut Value, options: &ProviderOptions, limiter: &Limiter) {
    let max_body = options.max_token_body_bytes.min(TokenRequest::MAX_BYTES);
    operation["x-limits"] = limits(options, limiter, CallType::Token, max_body);
    for (status, response) in operation["responses"].as_object_mut().into_iter().flatten() {
        if status != StatusCode::OK.as_str()
            && options.token_error_body == TokenErrorStyle::Statement
        {
            *schema_of(response) = schema("StatementError");
        }
        if options.rate_limit_headers {
            add_headers(response, RATE_LIMIT_HEADERS);
        }
    }
}

/// Fills in the statement endpoint, whose refusals follow from the table of failures and from the
/// codes and statuses of the options.
fn fill_statement(operation: &mut Value, options: &ProviderOptions, limiter: &Limiter) {
    let max_body = options
        .max_statement_body_bytes
        .min(StatementRequest::MAX_BYTES);
    operation["x-limits"] = limits(options, limiter, CallType::Statement, max_body);
    operation["security"] =
        json!([{ "apiKey": [], "accessToken": [options.statement_scope.as_str()] }]);
    let mut responses = Map::new();
    let success = operation["responses"][StatusCode::OK.as_str()].take();
    responses.insert(StatusCode::OK.as_str().to_owned(), success);
    for (status, (codes, headers)) in refusals(options) {
        let mut refused = json!({
            "description": format!("Refused: {}", codes.join(", ")),
            "content": { "application/json": { "schema": { "allOf": [
                schema("StatementError"),
                { "properties": { "error": { "properties": { "statusCode": { "enum": codes } } } } },
            ] } } },
        });
        refused["headers"] =
            json!({ "X-RequestKey": { "$ref": "#/components/headers/RequestKey" } });
        add_headers(&mut refused, &headers);
        match responses.get_mut(status.as_str()) {
            // An option has moved a failure to the status of success.
            Some(success) => {
                let content = schema_of(success);
                *content = json!({ "anyOf": [content.take(), schema_of(&mut refused).take()] });
            }
            None => {
                responses.insert(status.as_str().to_owned(), refused);
            }
        }
    }
    if options.rate_limit_headers {
        for response in responses.values_mut() {
            add_headers(response, RATE_LIMIT_HEADERS);
        }
    }
    operation["responses"] = Value::Object(responses);
}

/// Returns the codes and the headers of each status with which a request to the statement endpoint
/// can fail. A header is named only where every failure under its status has it.
fn refusals(options: &ProviderOptions) -> BTreeMap<StatusCode, (Vec<String>, Vec<&'static str>)> {
    let mut by_status: BTreeMap<StatusCode, (Vec<String>, Vec<&'static str>)> = BTreeMap::new();
    for failure in StatementFailure::ALL {
        if *failure == StatementFailure::UnknownPath {
            continue;
        }
        let (code, status) = options.answer(*failure);
        let headers: Vec<_> = ["Cache-Control"]
            .into_iter()
            .chain(failure.header())
            .collect();
        let (codes, common) = by_status
            .entry(status)
            .or_insert_with(|| (Vec::new(), headers.clone()));
        common.retain(|name| headers.contains(name));
        if !codes.iter().any(|known| known == code.as_str()) {
            codes.push(code.as_str().to_owned());
        }
    }
    by_status
}

/// Fills in the schemas of bodies: adds those of webhook messages, and removes those of documents
/// that are not served.
fn fill_schemas(schemas: &mut Value, options: &ProviderOptions, issuer: Option<&Issuer>) {
    let narrative = &mut schemas["StatementRequest"]["properties"]["includeNarrative"];
    if let Some(description) = narrative["description"].as_str()
        && !options.narrative_by_default
    {
        narrative["description"] = json!(description.replace("Default: true", "Default: false"));
    }
    let Some(schemas) = schemas.as_object_mut() else {
        return;
    };
    if issuer.is_none() {
        for name in ["IssuerMetadata", "Keys", "AuthorizationError"] {
            schemas.remove(name);
        }
    }
    if options.openapi_path().is_none() {
        schemas.remove("OpenApiDocument");
    }
    let messages = bankrail_webhook::schema::components();
    let messages: Map<String, Value> =
        serde_json::from_str(&messages).expect("a function that writes JSON wrote it");
    schemas.extend(messages);
}

/// Returns the limits of an endpoint: on the calls of a customer under the default limits, on the
/// bytes of a body, and on the seconds in which it must arrive.
fn limits(
    options: &ProviderOptions,
    limiter: &Limiter,
    call_type: CallType,
    max_body: usize,
) -> Value {
    let policy = limiter.policy("", call_type, Timestamp::UNIX_EPOCH);
    let windows = policy.windows().iter();
    let calls = windows
        .map(|window| json!({ "calls": window.limit(), "seconds": window.length().as_secs() }));
    json!({
        "calls": calls.collect::<Vec<_>>(),
        "max_body_bytes": max_body,
        "body_timeout_seconds": options.body_timeout.as_secs(),
    })
}

/// The headers of the answers to charged requests, if the options require them.
const RATE_LIMIT_HEADERS: &[&str] = &["RateLimit", "RateLimit-Policy"];

/// Adds references to headers to an answer.
fn add_headers(response: &mut Value, names: &[&str]) {
    for name in names {
        response["headers"][*name] = json!({ "$ref": format!("#/components/headers/{name}") });
    }
}

/// Returns a reference to a schema.
fn schema(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// Returns the schema of an answer's body.
fn schema_of(response: &mut Value) -> &mut Value {
    &mut response["content"]["application/json"]["schema"]
}
