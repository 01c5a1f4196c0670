//! The schemas of bodies.

use crate::ProviderOptions;
use crate::issuer::Issuer;
use bankrail_client_assertion::token::{Scope, ScopeSet, TokenErrorCode, TokenRequest, TokenResponse};
use bankrail_client_assertion::{CustomerCode, Verifier};
use bankrail_statement::{AccountId, Cursor, MaxEntries, SortOrder};
use serde_json::{Value, json};

/// A UUID with hyphens, as it is written.
pub(super) fn uuid() -> Value {
    json!({ "type": "string", "pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$" })
}

/// All schemas by their names.
pub(super) fn all(options: &ProviderOptions, issuer: Option<&Issuer>) -> Value {
    let messages = bankrail_webhook::schema::components();
    let mut all: Value = serde_json::from_str(&messages).expect("a function that writes JSON wrote it");
    let own = [
        ("TokenRequest", token_request()),
        ("TokenResponse", token_response(options)),
        ("TokenError", token_error()),
        ("StatementRequest", statement_request()),
        ("StatementResponse", statement_response()),
        ("StatementError", statement_error()),
        ("ReceiverFault", texts(&["status", "title", "detail"])),
    ];
    let discovery = [("IssuerMetadata", metadata()), ("Keys", keys()), ("AuthorizationError", authorization_error())];
    let discovery = discovery.into_iter().filter(|_| issuer.is_some());
    let contract = options.contract_path().map(|_| ("Contract", json!({ "type": "object", "required": ["openapi"] })));
    for (name, schema) in own.into_iter().chain(discovery).chain(contract) {
        all[name] = schema;
    }
    all
}

fn token_request() -> Value {
    // Visible ASCII without quotation mark and backslash, and one space between two names.
    let name = format!("[!#-\\[\\]-~]{{1,{}}}", Scope::MAX_LENGTH);
    json!({
        "type": "object",
        "description": "No parameter may be repeated; unknown ones are ignored.",
        "required": ["grant_type", "client_assertion_type", "scope", "client_assertion"],
        "maxProperties": TokenRequest::MAX_PARAMETERS,
        "properties": {
            "grant_type": { "const": TokenRequest::GRANT_TYPE },
            "client_assertion_type": { "const": TokenRequest::ASSERTION_TYPE },
            "scope": { "type": "string", "pattern": format!("^{name}( {name}){{0,{}}}$", ScopeSet::MAX_SCOPES - 1) },
            "client_assertion": {
                "type": "string",
                "description": "The JWT of the customer, signed with RS256.",
                "pattern": "^[0-9A-Za-z_-]+\\.[0-9A-Za-z_-]+\\.[0-9A-Za-z_-]+$",
                "maxLength": Verifier::MAX_BYTES,
            },
            "client_id": {
                "type": "string",
                "description": "Optional: the customer code, as in the assertion. An empty one counts as absent.",
                "pattern": "^[!-`{-~]*$",
                "maxLength": CustomerCode::MAX_LENGTH,
            },
        },
    })
}

fn token_response(options: &ProviderOptions) -> Value {
    json!({
        "type": "object",
        "required": ["expires_in", "token_type", "access_token"],
        "properties": {
            "expires_in": { "const": options.token_lifetime.as_secs(), "description": "Seconds." },
            "token_type": { "const": TokenResponse::TOKEN_TYPE },
            "access_token": uuid(),
            "scope": { "type": "string", "description": "The scopes granted, if they are not those requested." },
        },
    })
}

fn token_error() -> Value {
    let codes = [
        TokenErrorCode::InvalidRequest,
        TokenErrorCode::InvalidClient,
        TokenErrorCode::UnsupportedGrantType,
        TokenErrorCode::InvalidScope,
        TokenErrorCode::ServerError,
        TokenErrorCode::TemporarilyUnavailable,
    ];
    let codes: Vec<_> = codes.iter().map(TokenErrorCode::as_str).collect();
    oauth_error(&codes)
}

fn authorization_error() -> Value {
    oauth_error(&[crate::refusal::UNSUPPORTED])
}

/// The error of RFC 6749 section 5.2.
fn oauth_error(codes: &[&str]) -> Value {
    json!({
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": { "enum": codes },
            "error_description": { "type": "string", "pattern": "^[ !#-\\[\\]-~]*$" },
        },
    })
}

/// An account identifier.
fn account() -> Value {
    json!({ "type": "string", "pattern": "^[0-9A-Za-z.]+$", "minLength": 1, "maxLength": AccountId::MAX_LENGTH })
}

fn orders() -> [&'static str; 2] {
    [SortOrder::Forward.as_str(), SortOrder::Backward.as_str()]
}

fn statement_request() -> Value {
    let most = MaxEntries::MAX.get();
    let [forward, backward] = orders();
    json!({
        "type": "object",
        "description": "Unknown members are ignored, and an optional one that is null counts as absent.",
        "required": ["accountId"],
        "properties": {
            "accountId": account(),
            "includeNarrative": {
                "description": "Whether entries of the fast-payment channel have parties and text. Default: true.",
                "anyOf": [{ "type": ["boolean", "null"] }, { "enum": ["true", "false"] }],
            },
            "cursor": {
                "description": "That of the page before.",
                "type": ["string", "null"],
                "minLength": 1,
                "maxLength": Cursor::MAX_LENGTH,
            },
            "sortOrder": { "enum": [forward, backward, null], "description": "Default: forward." },
            "maxEntries": {
                "description": format!("Default: {most}."),
                "anyOf": [
                    { "type": ["integer", "null"], "minimum": 1, "maximum": most },
                    { "type": "string", "pattern": "^0*([1-9][0-9]{0,2}|1000)$" },
                ],
            },
            "extract": { "enum": ["intraday", null] },
        },
    })
}

fn statement_response() -> Value {
    json!({
        "type": "object",
        "required": ["accountId", "extract", "payload", "requestKey", "moreTransactionsAvailable"],
        "properties": {
            "accountId": account(),
            "extract": { "const": "intraday" },
            "sortOrder": { "enum": orders() },
            "payload": {
                "type": "string",
                "description": "A camt.052.001.06 document.",
                "contentMediaType": "application/xml",
            },
            "requestKey": uuid(),
            "cursor": {
                "type": "string",
                "description": "There is one exactly where moreTransactionsAvailable is true.",
                "minLength": 1,
                "maxLength": Cursor::MAX_LENGTH,
            },
            "moreTransactionsAvailable": { "type": "boolean" },
        },
        "if": { "properties": { "moreTransactionsAvailable": { "const": true } } },
        "then": { "required": ["cursor"] },
        "else": { "not": { "required": ["cursor"] } },
    })
}

fn statement_error() -> Value {
    json!({
        "type": "object",
        "required": ["requestKey", "error"],
        "properties": {
            "requestKey": uuid(),
            "error": {
                "type": "object",
                "required": ["statusCode", "title"],
                "properties": {
                    "statusCode": { "type": "string", "pattern": "^EC[0-9]{1,16}$" },
                    "title": { "type": "string", "minLength": 1 },
                },
            },
        },
    })
}

fn metadata() -> Value {
    let (url, list) = (json!({ "type": "string" }), json!({ "type": "array", "items": { "type": "string" } }));
    let members = [
        ("issuer", &url),
        ("token_endpoint", &url),
        ("grant_types_supported", &list),
        ("token_endpoint_auth_methods_supported", &list),
        ("token_endpoint_auth_signing_alg_values_supported", &list),
        ("scopes_supported", &list),
        ("authorization_endpoint", &url),
        ("response_types_supported", &list),
        ("jwks_uri", &url),
        ("subject_types_supported", &list),
        ("id_token_signing_alg_values_supported", &list),
    ];
    let properties: serde_json::Map<_, _> =
        members.iter().map(|(name, schema)| ((*name).to_owned(), (*schema).clone())).collect();
    json!({ "type": "object", "required": members.map(|(name, _)| name), "properties": properties })
}

fn keys() -> Value {
    json!({ "type": "object", "required": ["keys"], "properties": { "keys": { "type": "array", "maxItems": 0 } } })
}

/// An object of these texts.
fn texts(names: &[&str]) -> Value {
    let properties: serde_json::Map<_, _> =
        names.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect();
    json!({ "type": "object", "required": names, "properties": properties })
}
