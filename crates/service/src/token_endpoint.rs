//! `POST /v1.0/auth`: exchanges an assertion for an access token (Specification: "Obtain access token").

use crate::answer::{self, Exchange, allow, body_answer, json};
use crate::api_key::ApiKeyFault;
use crate::audit::{AuditEvent, AuditOptions};
use crate::shared::{Shared, limit_detail};
use crate::{Customer, ProviderOptions, TokenErrorStyle};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use bankrail_client_assertion::token::{
    AccessToken, GrantedScopes, NoScopeGrantedError, TokenErrorBody, TokenErrorCode, TokenGrant, TokenHash,
    TokenRequest, TokenRequestError, TokenResponse,
};
use bankrail_client_assertion::{AssertionError, VerifiedAssertion};
use bankrail_http::{BodyError, BodyReader, HeadFault, content};
use bankrail_rate_limit::CallType;
use bankrail_rate_limit::layer::LimitRefusal;
use bankrail_statement::{ErrorCode, StatementErrorBody};
use bankrail_values::{HyphenatedUuid, RandomnessError, StoreError, Timestamp};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, PRAGMA};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use std::sync::Arc;

/// Answers every request to the token endpoint's path.
pub(crate) async fn handle(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let mut exchange = Exchange::new("token", &head.extensions);
    let mut body = BodyReader::new(&head.headers, body);
    let errors = Errors { style: shared.options.token_error_body, request_key: exchange.key };
    let served = answer::unless_it_panics(exchange.key, serve(&shared, &mut exchange, &head, &mut body, errors)).await;
    exchange.drain(body).await;
    let mut response = match served {
        Some(Ok(response)) => response,
        Some(Err(refusal)) => {
            refusal.log(&exchange);
            refusal.into_response(&exchange, errors)
        }
        None => {
            exchange.refused("internal");
            errors.of(StatusCode::INTERNAL_SERVER_ERROR, TokenErrorCode::ServerError)
        }
    };
    never_stored(&mut response);
    exchange.finish(response)
}

/// Answers a request with a too long address or too long headers.
pub(crate) fn head_refused(options: &ProviderOptions, fault: HeadFault, head: &Parts) -> Response {
    let exchange = Exchange::new("token", &head.extensions);
    exchange.refused("head");
    let errors = Errors { style: options.token_error_body, request_key: exchange.key };
    let title = answer::head_title(fault);
    let body = TokenErrorBody::new(TokenErrorCode::InvalidRequest).with_description(title);
    let mut response = errors.write(fault.status(), &body);
    never_stored(&mut response);
    exchange.finish(response)
}

/// RFC 6749 section 5.1.
fn never_stored(response: &mut Response) {
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(PRAGMA, HeaderValue::from_static("no-cache"));
}

/// Makes the checks in their documented order.
async fn serve(
    shared: &Shared,
    exchange: &mut Exchange,
    parts: &Parts,
    body: &mut BodyReader<Body>,
    errors: Errors,
) -> Result<Response, Refusal> {
    if parts.method != Method::POST {
        return Err(Refusal::Method);
    }
    let customer = shared.customer_of(&parts.headers).await.map_err(Refusal::Store)?.map_err(Refusal::ApiKey)?;
    exchange.customer = Some(customer.code.clone());
    let form = body.read(shared.options.max_token_body, shared.options.body_timeout).await;
    // After the body, which may take its time: everything is judged at this one instant.
    let now = shared.options.clock.now();
    let (request, verified) = match prove(shared, &customer, &parts.headers, form, now) {
        Ok(proved) => proved,
        Err(refusal) => {
            // The same work was done, whatever is left of the budget.
            return Err(match shared.charge_failure(&customer, CallType::TokenFailure, now).await {
                Ok(()) => refusal,
                Err(limit) => {
                    refusal.log(exchange);
                    Refusal::Limit(limit, false)
                }
            });
        }
    };
    let decision = shared.admit(&customer, CallType::Token, now).await;
    let decision = decision.map_err(|refusal| Refusal::Limit(refusal, shared.options.rate_limit_headers))?;
    let served = exchange_for_token(shared, exchange, &customer, &request, &verified, now).await;
    let mut response = served.unwrap_or_else(|refusal| {
        refusal.log(exchange);
        refusal.into_response(exchange, errors)
    });
    shared.write_rate_limit(decision.as_ref(), response.headers_mut());
    Ok(response)
}

/// Reads the form and proves its assertion to be the API key's customer's.
fn prove(
    shared: &Shared,
    customer: &Customer,
    headers: &HeaderMap,
    form: Result<Bytes, BodyError>,
    now: Timestamp,
) -> Result<(TokenRequest, VerifiedAssertion), Refusal> {
    let form = form.map_err(Refusal::Body)?;
    if content::is_encoded(headers) {
        return Err(Refusal::Encoding);
    }
    let request = TokenRequest::from_form(content::content_type(headers), &form).map_err(Refusal::Form)?;
    let verified = authenticate(shared, customer, &request, now)?;
    Ok((request, verified))
}

async fn exchange_for_token(
    shared: &Shared,
    exchange: &Exchange,
    customer: &Customer,
    request: &TokenRequest,
    verified: &VerifiedAssertion,
    now: Timestamp,
) -> Result<Response, Refusal> {
    // Before the assertion is used up, so that the customer may request another scope with it.
    let granted = request.scope().granted_from(&customer.scopes).map_err(Refusal::Scope)?;
    issue(shared, exchange, customer, &granted, verified, now).await
}

/// Proves the assertion to be the API key's customer's.
fn authenticate(
    shared: &Shared,
    customer: &Customer,
    request: &TokenRequest,
    now: Timestamp,
) -> Result<VerifiedAssertion, Refusal> {
    let unverified = shared.verifier.read(request.assertion().expose_secret())?;
    // Before the signature is verified, so that another customer's assertion is not used up.
    if *unverified.subject_for_key_lookup() != customer.code {
        return Err(Refusal::OtherCustomer);
    }
    let verified = unverified.verify(&customer.keys, now)?;
    verified.check_client_id(request)?;
    Ok(verified)
}

/// Uses up the assertion, stores the grant under the token's hash, records it, then answers with the token.
async fn issue(
    shared: &Shared,
    exchange: &Exchange,
    customer: &Customer,
    granted: &GrantedScopes,
    verified: &VerifiedAssertion,
    now: Timestamp,
) -> Result<Response, Refusal> {
    let token = AccessToken::generate().map_err(Refusal::Randomness)?;
    let lifetime = shared.options.token_lifetime;
    let expires_at = now.saturating_add(lifetime);
    let grant = TokenGrant::new(customer.code.clone(), granted.scopes().clone(), now, expires_at);
    store(shared, verified, token.hash(), grant).await?;
    let event = |_: &AuditOptions| AuditEvent::TokenGranted {
        scopes: granted.scopes().clone(),
        key_id: verified.key_id().map(str::to_owned),
        expires_at,
    };
    let failed = |error: &StoreError| exchange.log_failure("audit log", error.kind());
    shared.audit(exchange.key, customer, now, event, failed).await.map_err(|_| Refusal::Audit)?;
    Ok(json(StatusCode::OK, TokenResponse::new(token, lifetime.as_secs(), granted).to_json()))
}

/// Uses up the assertion and stores the grant: in one step if one store holds both.
async fn store(
    shared: &Shared,
    verified: &VerifiedAssertion,
    hash: TokenHash,
    grant: TokenGrant,
) -> Result<(), Refusal> {
    let policy = shared.options.replay_policy;
    if let Some(key) = verified.replay_key(policy)? {
        if let Some(stored) = shared.tokens.insert_once(hash, &grant, key, &*shared.replay) {
            return match stored.await.map_err(Refusal::Store)? {
                true => Ok(()),
                false => Err(AssertionError::Replayed.into()),
            };
        }
        verified.claim(policy, &*shared.replay, grant.issued_at).await?;
    }
    shared.tokens.insert(hash, grant).await.map_err(Refusal::Store)
}

/// How the errors of one request are written.
#[derive(Clone, Copy)]
struct Errors {
    style: TokenErrorStyle,
    request_key: HyphenatedUuid,
}

impl Errors {
    fn of(self, status: StatusCode, code: TokenErrorCode) -> Response {
        self.write(status, &TokenErrorBody::new(code))
    }

    fn described(self, status: StatusCode, code: TokenErrorCode, description: &str) -> Response {
        self.write(status, &TokenErrorBody::new(code).with_description(description))
    }

    fn write(self, status: StatusCode, body: &TokenErrorBody) -> Response {
        match self.style {
            TokenErrorStyle::Rfc6749 => json(status, body.to_json()),
            TokenErrorStyle::Statement => {
                let code = match status {
                    StatusCode::BAD_REQUEST => ErrorCode::VALIDATION,
                    StatusCode::INTERNAL_SERVER_ERROR | StatusCode::SERVICE_UNAVAILABLE => ErrorCode::INTERNAL,
                    other => ErrorCode::for_status(other.as_u16()),
                };
                let title = body.error_description.as_deref().unwrap_or_else(|| title(&body.error));
                json(status, StatementErrorBody::new(self.request_key, code, title).to_json())
            }
        }
    }
}

/// What a code means, for people. It must not tell why an assertion was refused.
fn title(code: &TokenErrorCode) -> &str {
    match code {
        TokenErrorCode::InvalidRequest => "Invalid request",
        TokenErrorCode::InvalidClient => "Invalid client",
        TokenErrorCode::UnsupportedGrantType => "Unsupported grant type",
        TokenErrorCode::InvalidScope => "Invalid scope",
        TokenErrorCode::ServerError => "Internal error",
        TokenErrorCode::TemporarilyUnavailable => "Temporarily unavailable",
        other => other.as_str(),
    }
}

/// Why a request gets no token.
#[derive(Debug)]
enum Refusal {
    Method,
    ApiKey(ApiKeyFault),
    Limit(LimitRefusal, bool),
    Body(BodyError),
    Encoding,
    Form(TokenRequestError),
    OtherCustomer,
    Assertion(AssertionError),
    Scope(NoScopeGrantedError),
    Store(StoreError),
    Randomness(RandomnessError),
    /// The token could not be recorded. The failure of the audit log was logged.
    Audit,
}

impl From<AssertionError> for Refusal {
    fn from(error: AssertionError) -> Self {
        Self::Assertion(error)
    }
}

impl Refusal {
    /// Logs what support staff need to know of it.
    fn log(&self, exchange: &Exchange) {
        match self {
            Self::OtherCustomer => exchange.log_refused_assertion("another customer"),
            Self::Limit(LimitRefusal::Unreachable(store), _) => exchange.log_failure("counter store", store.kind()),
            Self::Assertion(AssertionError::ReplayStore(store)) => exchange.log_failure("replay store", store.kind()),
            // The kind of the error, not its text, because that quotes the assertion.
            Self::Assertion(refused) => exchange.log_refused_assertion(refused.kind()),
            Self::Store(store) => exchange.log_failure("store", store.kind()),
            Self::Randomness(randomness) => exchange.log_failure("randomness", randomness),
            Self::Method
            | Self::ApiKey(_)
            | Self::Audit
            | Self::Limit(..)
            | Self::Body(_)
            | Self::Encoding
            | Self::Form(_)
            | Self::Scope(_) => {}
        }
    }

    /// The reason for metrics.
    fn reason(&self) -> &'static str {
        match self {
            Self::Method => "method",
            Self::ApiKey(_) => "api_key",
            Self::Limit(LimitRefusal::Unreachable(_), _) => "store",
            Self::Limit(..) => "limit",
            Self::Body(_) => "body",
            Self::Encoding => "media_type",
            Self::Form(_) => "request",
            Self::Assertion(AssertionError::ReplayStore(_)) | Self::Store(_) => "store",
            Self::OtherCustomer | Self::Assertion(_) => "assertion",
            Self::Scope(_) => "scope",
            Self::Randomness(_) => "internal",
            Self::Audit => "audit",
        }
    }

    /// What was expected and found, for the provider's own people.
    fn detail(&self) -> Option<String> {
        Some(match self {
            Self::ApiKey(fault) => fault.title().to_owned(),
            Self::Limit(refusal, _) => return limit_detail(refusal),
            Self::Body(error) => body_answer(error).1.to_owned(),
            Self::Encoding => "expected a body without content encoding".to_owned(),
            Self::Form(error) => error.to_string(),
            Self::OtherCustomer => "expected the customer of the API key as the claim sub, found another".to_owned(),
            Self::Assertion(error) => error.to_string(),
            Self::Scope(error) => error.to_string(),
            Self::Store(error) => error.kind().to_string(),
            Self::Method | Self::Randomness(_) | Self::Audit => return None,
        })
    }

    fn into_response(self, exchange: &Exchange, errors: Errors) -> Response {
        exchange.refused_for(self.reason(), self.detail());
        match self {
            Self::Method => {
                let status = StatusCode::METHOD_NOT_ALLOWED;
                let mut response = errors.described(status, TokenErrorCode::InvalidRequest, "Method not allowed");
                allow(&mut response, "POST");
                response
            }
            Self::ApiKey(fault) => {
                errors.described(StatusCode::UNAUTHORIZED, TokenErrorCode::InvalidClient, fault.title())
            }
            Self::OtherCustomer => errors.of(StatusCode::UNAUTHORIZED, TokenErrorCode::InvalidClient),
            Self::Limit(refusal, with_headers) => limited(errors, &refusal, with_headers),
            Self::Body(refused) => {
                let (status, title) = body_answer(&refused);
                errors.described(status, TokenErrorCode::InvalidRequest, title)
            }
            Self::Encoding => {
                let title = "Expected a body without content encoding";
                errors.described(StatusCode::BAD_REQUEST, TokenErrorCode::InvalidRequest, title)
            }
            // The answer names the field: the client's developer needs it, and it tells an attacker nothing new.
            Self::Form(error) => {
                let body = TokenErrorBody::new(error.code()).with_description(error.to_string());
                errors.write(StatusCode::BAD_REQUEST, &body)
            }
            Self::Assertion(AssertionError::ReplayStore(_)) | Self::Store(_) | Self::Audit => {
                errors.of(StatusCode::SERVICE_UNAVAILABLE, TokenErrorCode::TemporarilyUnavailable)
            }
            Self::Assertion(refused) => errors.write(StatusCode::UNAUTHORIZED, &refused.to_body()),
            Self::Scope(refused) => errors.of(StatusCode::BAD_REQUEST, refused.code()),
            Self::Randomness(_) => errors.of(StatusCode::INTERNAL_SERVER_ERROR, TokenErrorCode::ServerError),
        }
    }
}

fn limited(errors: Errors, refusal: &LimitRefusal, with_headers: bool) -> Response {
    let code = TokenErrorCode::TemporarilyUnavailable;
    let mut response = match refusal {
        LimitRefusal::Unreachable(_) => errors.of(refusal.status(), code),
        _ => errors.described(refusal.status(), code, "Rate limit exceeded"),
    };
    refusal.write_headers(with_headers, response.headers_mut());
    response
}
