//! The layer, and the service that it makes.

use super::headers::write_rate_limit;
use super::refusal::{LimitRefusal, RefusalBody};
use crate::{CallType, Limiter};
use bankrail_values::{Clock, RequestKey, SystemClock};
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower_layer::Layer;
use tower_service::Service;

/// The limit that a request is charged to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitKey {
    /// The customer, or another text that identifies the limit.
    pub customer: String,
    /// The kind of call.
    pub call_type: CallType,
}

impl LimitKey {
    /// Names the limit of this customer for this kind of call.
    #[must_use]
    pub fn new(customer: impl Into<String>, call_type: CallType) -> Self {
        Self {
            customer: customer.into(),
            call_type,
        }
    }
}

/// The treatment of a request by a [`LimitLayer`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a request is charged, passes or is refused"
)]
pub enum RequestLimit {
    /// The request is charged to this limit.
    Of(LimitKey),
    /// The request passes uncharged.
    Unlimited,
    /// The request is refused with this status, because it names no customer to charge.
    Refused(StatusCode),
}

type KeyOf = dyn Fn(&Parts) -> RequestLimit + Send + Sync;
type BodyOf = dyn Fn(&LimitRefusal, &Parts) -> RefusalBody + Send + Sync;

/// Serves a request only if a limit allows it.
///
/// - A refusal has the status and `Retry-After` of its [`LimitRefusal`]; its body is empty, or that
///   of [`LimitLayerOptions::body`].
/// - The `RequestKeyLayer` of `bankrail-http` handles `X-RequestKey` and belongs outside of this
///   layer.
/// - A request with a limit is charged for every answer of the inner services.
/// - Put the layer behind a layer that authenticates the caller: a caller that can choose the key
///   can use up the limit of others.
#[derive(Clone)]
pub struct LimitLayer {
    limiter: Arc<Limiter>,
    key: Arc<KeyOf>,
    options: LimitLayerOptions,
}

/// Options of a [`LimitLayer`].
#[derive(Clone)]
pub struct LimitLayerOptions {
    body: Option<Arc<BodyOf>>,
    rate_limit_headers: bool,
    clock: Arc<dyn Clock>,
}

impl Default for LimitLayerOptions {
    fn default() -> Self {
        Self {
            body: None,
            rate_limit_headers: false,
            clock: Arc::new(SystemClock),
        }
    }
}

impl LimitLayerOptions {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the body of a refusal, from the refusal and the head of the request. Default: empty.
    #[must_use]
    pub fn body(
        mut self,
        body: impl Fn(&LimitRefusal, &Parts) -> RefusalBody + Send + Sync + 'static,
    ) -> Self {
        self.body = Some(Arc::new(body));
        self
    }

    /// Sets a problem (RFC 9457) as the body of refusals ([`RefusalBody::problem`]).
    #[must_use]
    pub fn problem_json(self) -> Self {
        self.body(|refusal, request| {
            RefusalBody::problem(refusal, RequestKey::of(&request.extensions))
        })
    }

    /// If true, every answer to a charged request has `RateLimit-Policy` and `RateLimit`. Default:
    /// false.
    #[must_use]
    pub fn rate_limit_headers(mut self, wanted: bool) -> Self {
        self.rate_limit_headers = wanted;
        self
    }

    /// Sets the clock that requests are charged by. Default: the system's.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }
}

impl LimitLayer {
    /// Makes a layer that charges `limiter`. `key` returns the limit that a request is charged to,
    /// or the treatment of one that is not charged.
    pub fn new(
        limiter: Arc<Limiter>,
        key: impl Fn(&Parts) -> RequestLimit + Send + Sync + 'static,
        options: LimitLayerOptions,
    ) -> Self {
        Self {
            limiter,
            key: Arc::new(key),
            options,
        }
    }

    /// Charges the request, and returns the headers to add to the answer, or the refusal.
    async fn admit<B: From<Bytes>>(&self, request: &Parts) -> Result<HeaderMap, Response<B>> {
        let mut headers = HeaderMap::new();
        let (refusal, call_type) = match (self.key)(request) {
            RequestLimit::Unlimited => return Ok(headers),
            RequestLimit::Refused(status) => (LimitRefusal::Unidentified(status), None),
            RequestLimit::Of(LimitKey {
                customer,
                call_type,
            }) => {
                match self
                    .limiter
                    .admit(&customer, call_type, self.options.clock.now())
                    .await
                {
                    Ok(decision) => {
                        if let Some(decision) = decision.filter(|_| self.options.rate_limit_headers)
                        {
                            write_rate_limit(&decision, &mut headers);
                        }
                        return Ok(headers);
                    }
                    Err(refusal) => (refusal, Some(tracing::field::display(call_type))),
                }
            }
        };
        let request_key = RequestKey::of(&request.extensions).map(tracing::field::display);
        if let LimitRefusal::Unreachable(error) = &refusal {
            tracing::error!(request_key, call_type, error = %error, "counter store failed");
        }
        let status = refusal.status();
        tracing::info!(
            request_key,
            status = status.as_u16(),
            call_type,
            "refused by a limit"
        );
        let body = self
            .options
            .body
            .as_ref()
            .map(|body| body(&refusal, request))
            .unwrap_or_default();
        refusal.write_headers(self.options.rate_limit_headers, &mut headers);
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.bytes.len()));
        if let Some(content_type) = body.content_type {
            headers.insert(CONTENT_TYPE, content_type);
        }
        let mut response = Response::new(B::from(body.bytes));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Err(response)
    }
}

impl fmt::Debug for LimitLayer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("LimitLayer")
            .field("limiter", &self.limiter)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for LimitLayerOptions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("LimitLayerOptions")
            .field("rate_limit_headers", &self.rate_limit_headers)
            .finish_non_exhaustive()
    }
}

impl<S> Layer<S> for LimitLayer {
    type Service = LimitService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        LimitService {
            inner,
            layer: self.clone(),
        }
    }
}

/// The service of a [`LimitLayer`].
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
        let layer = self.layer.clone();
        // The service that was polled ready serves this request; the clone is polled before the
        // next one.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        Box::pin(async move {
            let headers = match layer.admit(&parts).await {
                Ok(headers) => headers,
                Err(refused) => return Ok(refused),
            };
            let mut response = inner.call(Request::from_parts(parts, body)).await?;
            response.headers_mut().extend(headers);
            Ok(response)
        })
    }
}
