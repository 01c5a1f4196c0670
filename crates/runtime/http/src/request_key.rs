//! The layer that gives a key to every request.

use crate::names::REQUEST_KEY;
use bankrail_values::RequestKey;
use http::{Request, Response};
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tower_layer::Layer;
use tower_service::Service;

/// A layer that gives every request a [`RequestKey`], in the extensions of the request and as the
/// header `X-RequestKey` of the answer, whichever inner service answers.
///
/// - A key that is already in the extensions stays, so that the layer can be applied twice.
/// - Otherwise the key is new, or after [`RequestKeyLayer::accept_incoming`] that of the request's
///   header.
/// - A header of that name on the answer is replaced.
///
/// Make it the outermost layer: the answers of outer layers have no key.
#[derive(Clone, Debug, Default)]
pub struct RequestKeyLayer {
    accept_incoming: bool,
}

impl RequestKeyLayer {
    /// Makes a layer that makes a new key for each request.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the key of the request's `X-RequestKey` header if it is a hyphenated UUID. This is for
    /// a service behind a gateway that sets the header on each request.
    #[must_use]
    pub fn accept_incoming(mut self) -> Self {
        self.accept_incoming = true;
        self
    }
}

impl<S> Layer<S> for RequestKeyLayer {
    type Service = RequestKeyService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        RequestKeyService {
            inner,
            accept_incoming: self.accept_incoming,
        }
    }
}

/// The service that [`RequestKeyLayer`] makes.
#[derive(Clone, Debug)]
pub struct RequestKeyService<S> {
    inner: S,
    accept_incoming: bool,
}

impl<S, A, B> Service<Request<A>> for RequestKeyService<S>
where
    S: Service<Request<A>, Response = Response<B>>,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = RequestKeyFuture<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<A>) -> Self::Future {
        let known = RequestKey::of(request.extensions());
        let key = known.unwrap_or_else(|| {
            let incoming = self
                .accept_incoming
                .then(|| RequestKey::from_headers(request.headers()))
                .flatten();
            let key = incoming.unwrap_or_else(RequestKey::random);
            request.extensions_mut().insert(key);
            key
        });
        #[cfg(feature = "serve")]
        if let Some(given) = request.extensions().get::<GivenKey>() {
            given.tell(key);
        }
        RequestKeyFuture {
            answer: self.inner.call(request),
            key,
        }
    }
}

/// Reports to the server, outside of [`RequestKeyLayer`], the key that the layer gave to a request.
#[cfg(feature = "serve")]
#[derive(Clone, Debug, Default)]
pub(crate) struct GivenKey(std::sync::Arc<std::sync::OnceLock<RequestKey>>);

#[cfg(feature = "serve")]
impl GivenKey {
    /// Returns the key, or a new one if there is no layer.
    pub(crate) fn get(&self) -> RequestKey {
        self.0.get().copied().unwrap_or_else(RequestKey::random)
    }

    /// Stores the key, unless there is one already: an inner layer keeps the key of the outer one.
    fn tell(&self, key: RequestKey) {
        let _ = self.0.set(key);
    }
}

pin_project! {
    /// The future of [`RequestKeyService`].
    #[derive(Debug)]
    pub struct RequestKeyFuture<F> {
        #[pin]
        answer: F,
        key: RequestKey,
    }
}

impl<F, B, E> Future for RequestKeyFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let mut answer = ready!(this.answer.poll(context));
        if let Ok(answer) = &mut answer {
            answer.headers_mut().insert(REQUEST_KEY, (*this.key).into());
        }
        Poll::Ready(answer)
    }
}
