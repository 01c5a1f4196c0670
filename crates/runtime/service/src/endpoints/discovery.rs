//! The metadata of the issuer (Specification: "Authentication", 2: "OpenID Connect compliant
//! issuer").
//!
//! The provider issues access tokens for client credentials and nothing else. The other members
//! that OpenID Connect Discovery requires are present but offer nothing.
//!
//! - `authorization_endpoint` answers each request with `unsupported_response_type`.
//! - `response_types_supported` is empty.
//! - `jwks_uri` is a set without keys, because no token of the provider is signed.
//! - `subject_types_supported` and `id_token_signing_alg_values_supported` have the values that the
//!   standard demands.

use super::answer::{self, to_everybody};
use super::issuer::Issuer;
use super::refusal::Refusal;
use super::{ProviderOptions, ProviderState};
use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::any;
use bytes::Bytes;
use http::header::CACHE_CONTROL;
use http::{HeaderValue, Method, StatusCode};
use serde_json::json;
use std::sync::Arc;

/// The lifetime of the documents at a client: an hour.
const CACHEABLE: HeaderValue = HeaderValue::from_static("public, max-age=3600");

/// The key set of an issuer that signs nothing.
const NO_KEYS: &str = r#"{"keys":[]}"#;

/// Returns the routes of the issuer's documents, and of its authorization endpoint.
pub(crate) fn routes(issuer: &Issuer, options: &ProviderOptions) -> Router<Arc<ProviderState>> {
    let metadata = Bytes::from(metadata(issuer, options));
    let mut routes = Router::new();
    // Bytes are shared between the routes and all requests.
    for path in issuer.metadata_paths() {
        routes = routes.merge(document_route(&path, metadata.clone()));
    }
    routes = routes.merge(document_route(
        &issuer.keys_path(),
        Bytes::from_static(NO_KEYS.as_bytes()),
    ));
    routes.route(&options.authorization_path(), any(refuse_authorization))
}

/// Returns a route of a document that is the same for everybody: GET and HEAD without an API key.
pub(crate) fn document_route(path: &str, document: Bytes) -> Router<Arc<ProviderState>> {
    let serve = async move |State(provider): State<Arc<ProviderState>>, request: Request| {
        to_everybody("document", &provider.options, request, |head| {
            if !matches!(head.method, Method::GET | Method::HEAD) {
                return Err(Refusal::Method("GET, HEAD"));
            }
            // The HTTP server leaves out the body of the answer to HEAD, and keeps its length.
            let mut response = answer::json(StatusCode::OK, document);
            response.headers_mut().insert(CACHE_CONTROL, CACHEABLE);
            Ok(response)
        })
        .await
    };
    Router::new().route(path, any(serve))
}

/// No client has registered an address to be sent back to, so the answer is no redirection (RFC
/// 6749 section 4.1.2.1).
async fn refuse_authorization(
    State(provider): State<Arc<ProviderState>>,
    request: Request,
) -> Response {
    to_everybody(
        "authorization",
        &provider.options,
        request,
        |head| match head.method {
            Method::GET | Method::HEAD | Method::POST => Err(Refusal::ResponseType),
            _ => Err(Refusal::Method("GET, HEAD, POST")),
        },
    )
    .await
}

/// Writes the metadata: OpenID Connect Discovery 1.0 section 3 and RFC 8414 section 2.
fn metadata(issuer: &Issuer, options: &ProviderOptions) -> String {
    let signing = json!([bankrail_jose::algorithm::SIGNATURE]);
    let scopes = options.advertised_scopes();
    let scopes: Vec<&str> = scopes.iter().map(|scope| scope.as_str()).collect();
    json!({
        "issuer": issuer.as_str(),
        "token_endpoint": issuer.url_of(&options.token_path),
        "grant_types_supported": ["client_credentials"],
        "token_endpoint_auth_methods_supported": ["private_key_jwt"],
        "token_endpoint_auth_signing_alg_values_supported": signing,
        "scopes_supported": scopes,
        "authorization_endpoint": issuer.url_of(&options.authorization_path()),
        "response_types_supported": [],
        "jwks_uri": issuer.url_of(&issuer.keys_path()),
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": signing,
    })
    .to_string()
}
