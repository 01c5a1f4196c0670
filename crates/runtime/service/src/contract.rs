//! The contract: an OpenAPI 3.1 document of what the provider serves and of what it sends to its
//! customers' receivers.
//!
//! It is made from the options of the provider and the constants of the wire types. The schemas of
//! webhook messages are made from the statements of their members.

#![allow(
    clippy::indexing_slicing,
    reason = "members of JSON objects that are made here"
)]

mod endpoints;
mod receivers;
mod schemas;

use crate::ProviderOptions;
use crate::issuer::Issuer;
use bankrail_rate_limit::{CallType, Limiter};
use bankrail_values::Timestamp;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The name of the header with the request key.
const REQUEST_KEY: &str = "X-RequestKey";

/// Writes the document.
pub(crate) fn document(
    options: &ProviderOptions,
    issuer: Option<&Issuer>,
    limiter: &Limiter,
) -> String {
    let mut paths = Map::new();
    paths.insert(
        options.token_path.clone(),
        endpoints::token(options, limiter),
    );
    paths.insert(
        options.statement_path.clone(),
        endpoints::statement(options, limiter),
    );
    if let Some(issuer) = issuer {
        for path in issuer.metadata_paths() {
            paths.insert(
                path,
                endpoints::document(options, "The metadata of the issuer", "IssuerMetadata"),
            );
        }
        let none = "The keys of the issuer, of which there are none";
        paths.insert(
            issuer.keys_path(),
            endpoints::document(options, none, "Keys"),
        );
        paths.insert(
            options.authorization_path(),
            endpoints::authorization(options),
        );
    }
    if let Some(path) = options.contract_path() {
        paths.insert(
            path,
            endpoints::document(options, "This document", "Contract"),
        );
    }
    let server = issuer.map_or_else(|| "/".to_owned(), |issuer| issuer.url_of(""));
    let scopes = options.advertised_scopes();
    let scopes: Map<_, _> = scopes
        .iter()
        .map(|scope| (scope.as_str().to_owned(), json!("")))
        .collect();
    let document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Intraday statements, access tokens and mandate notifications",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Every answer has the header X-RequestKey, by which support staff find the call. An unknown \
                path is answered 404.",
            "x-limits": options.head_bounds.bounds().into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        },
        "servers": [{ "url": server }],
        "paths": paths,
        "webhooks": receivers::webhooks(),
        "components": {
            "schemas": schemas::all(options, issuer),
            "headers": headers(),
            "securitySchemes": {
                "apiKey": { "type": "apiKey", "in": "header", "name": bankrail_http::names::API_KEY.as_str() },
                "accessToken": {
                    "type": "oauth2",
                    "flows": { "clientCredentials": { "tokenUrl": options.token_path, "scopes": scopes } },
                },
                "receiverKey": {
                    "type": "apiKey",
                    "in": "header",
                    "name": bankrail_http::names::API_KEY.as_str(),
                    "description": "The customer chooses the name of the header and the key.",
                },
            },
        },
    });
    format!("{document:#}\n")
}

/// The headers of answers.
fn headers() -> Value {
    let text = |pattern: &str| json!({ "type": "string", "pattern": pattern });
    let header =
        |description: &str, schema: Value| json!({ "description": description, "schema": schema });
    let required = |description: &str, schema: Value| {
        let mut header = header(description, schema);
        header["required"] = json!(true);
        header
    };
    let any = || json!({ "type": "string" });
    json!({
        "RequestKey": required("The key of the request.", schemas::uuid()),
        "Allow": required("The methods that the path has.", any()),
        "Retry-After": required("The seconds after which the call is allowed.", text("^[0-9]+$")),
        "RateLimit": header("What is left of each limit.", any()),
        "RateLimit-Policy": header("The limits.", any()),
        "WWW-Authenticate": required("The challenge (RFC 6750 section 3).", text("^Bearer( |$)")),
        "Cache-Control": required("Whether the answer may be kept.", any()),
        "Pragma": required("For HTTP/1.0 caches.", json!({ "const": "no-cache" })),
    })
}

/// The limits of an endpoint: on the calls of a customer who has none of their own, on the bytes of
/// a body, and on the seconds in which it must arrive.
fn limits(
    limiter: &Limiter,
    call_type: CallType,
    max_body: usize,
    body_timeout: Duration,
) -> Value {
    let policy = limiter.policy("", call_type, Timestamp::UNIX_EPOCH);
    let windows = policy.windows().iter();
    let calls = windows
        .map(|window| json!({ "calls": window.limit(), "seconds": window.length().as_secs() }));
    json!({
        "calls": calls.collect::<Vec<_>>(),
        "max_body_bytes": max_body,
        "body_timeout_seconds": body_timeout.as_secs(),
    })
}

/// A reference to a schema.
fn schema(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// References to headers of answers, beside that of the request key.
fn headers_of(names: &[&str]) -> Value {
    let reference = |name: &str| json!({ "$ref": format!("#/components/headers/{name}") });
    let own = std::iter::once((REQUEST_KEY.to_owned(), reference("RequestKey")));
    Value::Object(
        own.chain(
            names
                .iter()
                .map(|name| ((*name).to_owned(), reference(name))),
        )
        .collect(),
    )
}

/// An answer with a JSON body.
fn answer(description: &str, headers: &[&str], schema: Value) -> Value {
    json!({
        "description": description,
        "headers": headers_of(headers),
        "content": { "application/json": { "schema": schema } },
    })
}
