//! The layer.

use super::headers::{name_of, write_rate_limit};
use super::{LimitRefusal, charge};
use crate::answer::{REQUEST_KEY, fresh_request_key};
use bankrail_rate_limit::{CallType, StoreLimiter};
use bankrail_values::{Clock, HyphenatedUuid};
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderValue, Request, Response};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower::{Layer, Service};

/// Whose limit a request is charged to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitKey {
    /// The customer, or whatever the limit is kept for.
    pub customer: String,
    /// The kind of call.
    pub call_type: CallType,
}

impl LimitKey {
    /// The limit of this customer for this kind of call.
    #[must_use]
    pub fn new(customer: impl Into<String>, call_type: CallType) -> Self {
        Self { customer: customer.into(), call_type }
    }
}

/// The body of a refusal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusalBody {
    /// Its media type; no body without one.
    pub content_type: Option<HeaderValue>,
    /// Its octets.
    pub octets: Bytes,
}

impl RefusalBody {
    /// A JSON body.
    #[must_use]
    pub fn json(text: impl Into<Bytes>) -> Self {
        Self { content_type: Some(HeaderValue::from_static("application/json")), octets: text.into() }
    }

    /// A problem (RFC 9457); an exceeded limit is of the type `quota-exceeded` and names the windows that refused.
    #[must_use]
    pub fn problem(refusal: &LimitRefusal, key: HyphenatedUuid) -> Self {
        let status = refusal.status();
        let mut problem = serde_json::json!({
            "type": "about:blank",
            "title": status.canonical_reason(),
            "status": status.as_u16(),
            "instance": format!("urn:uuid:{key}"),
        });
        if let LimitRefusal::Exceeded(decision) = refusal {
            let violated = decision.windows().filter(|window| window.refused).map(|window| name_of(window.window));
            let violated = violated.collect::<Vec<_>>();
            if let Some(members) = problem.as_object_mut() {
                members.insert("type".into(), "https://iana.org/assignments/http-problem-types#quota-exceeded".into());
                members.insert("violated-policies".into(), violated.into());
            }
        }
        let content_type = Some(HeaderValue::from_static("application/problem+json"));
        Self { content_type, octets: problem.to_string().into() }
    }
}

type KeyOf = dyn Fn(&Parts) -> Option<LimitKey> + Send + Sync;
type BodyOf = dyn Fn(&LimitRefusal, HyphenatedUuid) -> RefusalBody + Send + Sync;

/// Serves a request only if a limit lets it. A refusal carries `Retry-After` and a fresh `X-RequestKey`; its body is
/// empty unless chosen otherwise.
///
/// Every request with a key is charged, whatever becomes of it further in. Put the layer behind whatever proves who
/// calls: whoever can make up the key can use up the limit of others.
#[derive(Clone)]
pub struct LimitLayer {
    limits: Arc<StoreLimiter>,
    clock: Arc<dyn Clock>,
    key: Arc<KeyOf>,
    body: Arc<BodyOf>,
    headers: bool,
}

impl LimitLayer {
    /// A layer that charges `limits`. `key` says to whom and for what a request is charged; a request without a key
    /// passes uncharged.
    pub fn new(
        limits: Arc<StoreLimiter>,
        clock: Arc<dyn Clock>,
        key: impl Fn(&Parts) -> Option<LimitKey> + Send + Sync + 'static,
    ) -> Self {
        Self { limits, clock, key: Arc::new(key), body: Arc::new(|_, _| RefusalBody::default()), headers: false }
    }

    /// Says what the body of a refusal is; the second argument is the refusal's `X-RequestKey`.
    #[must_use]
    pub fn with_body(
        mut self,
        body: impl Fn(&LimitRefusal, HyphenatedUuid) -> RefusalBody + Send + Sync + 'static,
    ) -> Self {
        self.body = Arc::new(body);
        self
    }

    /// Refuses with a problem (RFC 9457).
    #[must_use]
    pub fn with_problem_json(self) -> Self {
        self.with_body(RefusalBody::problem)
    }

    /// Adds `RateLimit-Policy` and `RateLimit` to every answer of a charged request.
    #[must_use]
    pub fn with_rate_limit_headers(mut self) -> Self {
        self.headers = true;
        self
    }

    async fn admit<B: From<Bytes>>(&self, key: Option<LimitKey>) -> Result<http::HeaderMap, Response<B>> {
        let mut headers = http::HeaderMap::new();
        let Some(key) = key else { return Ok(headers) };
        let outcome = charge(&self.limits, &key.customer, key.call_type, self.clock.now()).await;
        let refusal = match outcome {
            Ok(decision) => {
                if let Some(decision) = decision.filter(|_| self.headers) {
                    write_rate_limit(&decision, &mut headers);
                }
                return Ok(headers);
            }
            Err(refusal) => refusal,
        };
        let request_key = fresh_request_key();
        if let LimitRefusal::Unreachable(error) = &refusal {
            tracing::error!(request_key = %request_key, call_type = %key.call_type, error = %error, "counter store failed");
        }
        let body = (self.body)(&refusal, request_key);
        refusal.write_headers(self.headers, &mut headers);
        headers.insert(REQUEST_KEY, crate::answer::header_value(request_key));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.octets.len()));
        if let Some(content_type) = body.content_type {
            headers.insert(CONTENT_TYPE, content_type);
        }
        let mut response = Response::new(B::from(body.octets));
        *response.status_mut() = refusal.status();
        *response.headers_mut() = headers;
        tracing::info!(request_key = %request_key, status = refusal.status().as_u16(), call_type = %key.call_type, "refused by a limit");
        Err(response)
    }
}

impl fmt::Debug for LimitLayer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("LimitLayer")
            .field("limits", &self.limits)
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}

impl<S> Layer<S> for LimitLayer {
    type Service = LimitService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        LimitService { inner, layer: self.clone() }
    }
}

/// What [`LimitLayer`] makes of a service.
#[derive(Clone, Debug)]
pub struct LimitService<S> {
    inner: S,
    layer: LimitLayer,
}

impl<S, A, B> Service<Request<A>> for LimitService<S>
where
    S: Service<Request<A>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    A: Send + 'static,
    B: From<Bytes> + Send,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        let (parts, body) = request.into_parts();
        let key = (self.layer.key)(&parts);
        let layer = self.layer.clone();
        // The one that was polled ready serves; the clone waits its turn.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        Box::pin(async move {
            let headers = match layer.admit(key).await {
                Ok(headers) => headers,
                Err(refused) => return Ok(refused),
            };
            let mut response = inner.call(Request::from_parts(parts, body)).await?;
            response.headers_mut().extend(headers);
            Ok(response)
        })
    }
}
