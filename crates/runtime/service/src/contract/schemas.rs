//! The schemas of bodies.

use crate::ProviderOptions;
use crate::issuer::Issuer;
use bankrail_client_assertion::token::{
    Scope, ScopeSet, TokenErrorCode, TokenRequest, TokenResponse,
};
use bankrail_client_assertion::{CustomerCode, Verifier};
use bankrail_statement::{AccountId, Cursor, MaxEntries, SortOrder};
use serde_json::{Map, Value, json};

/// A UUID with hyphens, as it is written.
pub(super) fn uuid() -> Value {
    json!({ "type": "string", "pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$" })
}

/// A UUID with hyphens in any case of letters, as it is read.
pub(super) fn received_uuid() -> Value {
    json!({ "type": "string", "pattern": "^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$" })
}

/// All schemas by their names.
pub(super) fn all(options: &ProviderOptions, issuer: Option<&Issuer>) -> Value {
    let messages = bankrail_webhook::schema::components();
    let mut all: Value =
        serde_json::from_str(&messages).expect("a function that writes JSON wrote it");
    let own = [
        ("TokenRequest", token_request()),
        ("TokenResponse", token_response()),
        ("TokenError", token_error()),
        ("StatementRequest", statement_request(options)),
        ("StatementResponse", statement_response()),
        ("StatementError", statement_error()),
        (
            "ReceiverFault",
            object(
                [("status", text()), ("title", text()), ("detail", text())],
                [],
            ),
        ),
    ];
    let discovery = [
        ("IssuerMetadata", metadata()),
        (
            "Keys",
            object([("keys", json!({ "type": "array", "maxItems": 0 }))], []),
        ),
        (
            "AuthorizationError",
            oauth_error(&[crate::refusal::UNSUPPORTED]),
        ),
    ];
    let discovery = discovery.into_iter().filter(|_| issuer.is_some());
    let contract = options.contract_path().map(|_| {
        (
            "Contract",
            json!({ "type": "object", "required": ["openapi"] }),
        )
    });
    for (name, schema) in own.into_iter().chain(discovery).chain(contract) {
        all[name] = schema;
    }
    all
}

/// An object that has all members of the first list, and may have those of the second.
fn object<const R: usize, const O: usize>(
    required: [(&str, Value); R],
    optional: [(&str, Value); O],
) -> Value {
    let names: Vec<_> = required.iter().map(|(name, _)| *name).collect();
    let members = required.into_iter().chain(optional);
    let properties: Map<_, _> = members
        .map(|(name, schema)| (name.to_owned(), schema))
        .collect();
    json!({ "type": "object", "required": names, "properties": properties })
}

/// The schema with further keywords.
fn with(mut schema: Value, keywords: Value) -> Value {
    if let (Value::Object(schema), Value::Object(keywords)) = (&mut schema, keywords) {
        schema.extend(keywords);
    }
    schema
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn token_request() -> Value {
    // Visible ASCII without quotation mark and backslash, and one space between two names.
    let name = format!("[!#-\\[\\]-~]{{1,{}}}", Scope::MAX_LENGTH);
    let scope = format!("^{name}( {name}){{0,{}}}$", ScopeSet::MAX_SCOPES - 1);
    let assertion = json!({
        "type": "string",
        "description": "The JWT of the customer, signed with RS256.",
        "pattern": "^[0-9A-Za-z_-]+\\.[0-9A-Za-z_-]+\\.[0-9A-Za-z_-]+$",
        "maxLength": Verifier::MAX_BYTES,
    });
    let client_id = json!({
        "type": "string",
        "description": "Optional: the customer code, as in the assertion. An empty one counts as absent.",
        "pattern": "^[!-`{-~]*$",
        "maxLength": CustomerCode::MAX_LENGTH,
    });
    let parameters = object(
        [
            ("grant_type", json!({ "const": TokenRequest::GRANT_TYPE })),
            (
                "client_assertion_type",
                json!({ "const": TokenRequest::ASSERTION_TYPE }),
            ),
            ("scope", json!({ "type": "string", "pattern": scope })),
            ("client_assertion", assertion),
        ],
        [("client_id", client_id)],
    );
    let rule = "No parameter may be repeated; unknown ones are ignored.";
    with(
        parameters,
        json!({ "description": rule, "maxProperties": TokenRequest::MAX_PARAMETERS }),
    )
}

fn token_response() -> Value {
    object(
        [
            (
                "expires_in",
                json!({ "type": "integer", "minimum": 1, "description": "Seconds." }),
            ),
            ("token_type", json!({ "const": TokenResponse::TOKEN_TYPE })),
            ("access_token", uuid()),
        ],
        [(
            "scope",
            with(
                text(),
                json!({ "description": "The scopes granted, if they are not those requested." }),
            ),
        )],
    )
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
    oauth_error(&codes.each_ref().map(TokenErrorCode::as_str))
}

/// The error of RFC 6749 section 5.2.
fn oauth_error(codes: &[&str]) -> Value {
    let description = json!({ "type": "string", "pattern": "^[ !#-\\[\\]-~]*$" });
    object(
        [("error", json!({ "enum": codes }))],
        [("error_description", description)],
    )
}

fn account() -> Value {
    json!({ "type": "string", "pattern": "^[0-9A-Za-z.]+$", "minLength": 1, "maxLength": AccountId::MAX_LENGTH })
}

fn cursor(types: Value, description: &str) -> Value {
    json!({ "type": types, "description": description, "minLength": 1, "maxLength": Cursor::MAX_LENGTH })
}

fn orders() -> [&'static str; 2] {
    [SortOrder::Forward, SortOrder::Backward].map(SortOrder::as_str)
}

fn statement_request(options: &ProviderOptions) -> Value {
    let most = MaxEntries::MAX.get();
    let [forward, backward] = orders();
    let shown = options.narrative_by_default;
    let narrative = json!({
        "description": format!("Whether entries of the fast-payment channel have parties and text. Default: {shown}."),
        "anyOf": [{ "type": ["boolean", "null"] }, { "enum": ["true", "false"] }],
    });
    let max_entries = json!({
        "description": format!("Default: {most}."),
        "anyOf": [
            { "type": ["integer", "null"], "minimum": 1, "maximum": most },
            { "type": "string", "pattern": "^0*([1-9][0-9]{0,2}|1000)$" },
        ],
    });
    let request = object(
        [(
            "accountId",
            with(
                text(),
                json!({ "description": "One that is no account is answered like an unknown one." }),
            ),
        )],
        [
            ("includeNarrative", narrative),
            (
                "cursor",
                cursor(json!(["string", "null"]), "That of the page before."),
            ),
            (
                "sortOrder",
                json!({ "enum": [forward, backward, null], "description": "Default: forward." }),
            ),
            ("maxEntries", max_entries),
            ("extract", json!({ "enum": ["intraday", null] })),
        ],
    );
    let rule = "Unknown members are ignored, and an optional one that is null counts as absent.";
    with(request, json!({ "description": rule }))
}

fn statement_response() -> Value {
    let camt = json!({ "description": "A camt.052.001.06 document.", "contentMediaType": "application/xml" });
    let next = "There is one exactly where moreTransactionsAvailable is true.";
    let page = object(
        [
            ("accountId", account()),
            ("extract", json!({ "const": "intraday" })),
            ("payload", with(text(), camt)),
            ("requestKey", uuid()),
            ("moreTransactionsAvailable", json!({ "type": "boolean" })),
        ],
        [
            ("sortOrder", json!({ "enum": orders() })),
            ("cursor", cursor(json!("string"), next)),
        ],
    );
    let exactly_with_more = json!({
        "if": { "properties": { "moreTransactionsAvailable": { "const": true } } },
        "then": { "required": ["cursor"] },
        "else": { "not": { "required": ["cursor"] } },
    });
    with(page, exactly_with_more)
}

fn statement_error() -> Value {
    let code = json!({ "type": "string", "pattern": "^EC[0-9]{1,16}$" });
    let error = object(
        [
            ("statusCode", code),
            ("title", json!({ "type": "string", "minLength": 1 })),
        ],
        [],
    );
    object([("requestKey", uuid()), ("error", error)], [])
}

fn metadata() -> Value {
    let list = || json!({ "type": "array", "items": text() });
    let members = [
        ("issuer", text()),
        ("token_endpoint", text()),
        ("grant_types_supported", list()),
        ("token_endpoint_auth_methods_supported", list()),
        ("token_endpoint_auth_signing_alg_values_supported", list()),
        ("scopes_supported", list()),
        ("authorization_endpoint", text()),
        ("response_types_supported", list()),
        ("jwks_uri", text()),
        ("subject_types_supported", list()),
        ("id_token_signing_alg_values_supported", list()),
    ];
    object(members, [])
}
