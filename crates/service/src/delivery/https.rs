//! The transport over HTTPS, by reqwest and rustls.

use super::transport::{
    Transport, TransportError, TransportErrorKind, TransportFuture, TransportRequest, TransportResponse,
};
use bytes::{Bytes, BytesMut};
use std::time::Duration;

/// Deliveries by `reqwest`.
///
/// The caller brings the builder, and with it the trusted roots: `ClientBuilder::tls_certs_only`, or
/// `ClientBuilder::tls_backend_preconfigured` with a `rustls::ClientConfig`, which also chooses the crypto provider.
/// What a delivery must not do is switched off here, whatever the builder says: redirects, proxies of the
/// environment, referer headers.
#[derive(Clone, Debug)]
pub struct HttpsTransport {
    client: reqwest::Client,
}

impl HttpsTransport {
    /// A transport out of a client builder.
    ///
    /// # Errors
    /// [`HttpsTransportError`] when the builder's TLS settings make no client.
    pub fn new(builder: reqwest::ClientBuilder) -> Result<Self, HttpsTransportError> {
        let client = builder
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .referer(false)
            // One attempt is one request: the outbox decides about the next.
            .retry(reqwest::retry::never())
            .connect_timeout(Duration::from_secs(10))
            .build()
            .map_err(|error| HttpsTransportError { source: Box::new(error) })?;
        Ok(Self { client })
    }
}

/// The client builder's settings make no client.
#[derive(Debug, thiserror::Error)]
#[error("no HTTPS client from these settings")]
#[non_exhaustive]
pub struct HttpsTransportError {
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl Transport for HttpsTransport {
    fn post(&self, request: TransportRequest) -> TransportFuture<'_> {
        Box::pin(async move {
            let sent = self
                .client
                .post(request.url)
                .headers(request.headers)
                .timeout(request.timeout)
                .body(request.body)
                .send()
                .await;
            let mut answer = sent.map_err(transport_error)?;
            let (status, headers) = (answer.status(), std::mem::take(answer.headers_mut()));
            let body = read_up_to(&mut answer, request.max_response).await?;
            Ok(TransportResponse { status, headers, body })
        })
    }
}

async fn read_up_to(answer: &mut reqwest::Response, max: usize) -> Result<Bytes, TransportError> {
    let mut body = BytesMut::new();
    while body.len() < max {
        let Some(chunk) = answer.chunk().await.map_err(transport_error)? else { break };
        let room = max.saturating_sub(body.len());
        body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
    }
    Ok(body.freeze())
}

fn transport_error(error: reqwest::Error) -> TransportError {
    let kind = if error.is_timeout() {
        TransportErrorKind::Timeout
    } else if error.is_connect() {
        if is_tls(&error) { TransportErrorKind::Tls } else { TransportErrorKind::Connect }
    } else {
        TransportErrorKind::Broken
    };
    // The address may carry a customer's path: the endpoint's id is what records name.
    TransportError::new(kind, error.without_url())
}

/// rustls reports through `io::Error`s of this kind. They lie inside each other, and `source` looks past the inner one.
fn is_tls(error: &(dyn std::error::Error + 'static)) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    if io.is_some_and(|io| io.kind() == std::io::ErrorKind::InvalidData) {
        return true;
    }
    let inner = io.and_then(std::io::Error::get_ref).map(|inner| inner as &(dyn std::error::Error + 'static));
    inner.or_else(|| error.source()).is_some_and(is_tls)
}
