//! The network of a simulation, in place of connections (feature `simulation`).

use crate::exchange_error::{CallPhase, ExchangeError, cause};
use bytes::Bytes;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;

/// The future of [`Network::send`].
pub type Sending<'a> = Pin<Box<dyn Future<Output = io::Result<http::Response<Bytes>>> + Send + 'a>>;

/// A network in which a client's requests are answered without connections.
pub trait Network: fmt::Debug + Send + Sync {
    /// Sends a request and returns the whole answer.
    ///
    /// # Errors
    /// [`io::ErrorKind::ConnectionRefused`] if the service was not reached; any other error if the
    /// connection broke, so that the service may have got the request.
    fn send(&self, request: http::Request<Bytes>) -> Sending<'_>;
}

pub(crate) async fn send(
    network: &dyn Network,
    request: reqwest::Request,
) -> Result<http::Response<reqwest::Body>, ExchangeError> {
    let body = request.body().and_then(reqwest::Body::as_bytes);
    let body = body.map_or_else(Bytes::new, Bytes::copy_from_slice);
    let request = http::Request::try_from(request).map_err(ExchangeError::from_send)?;
    let sent = network.send(request.map(|_| body)).await;
    let answer = sent.map_err(|error| match error.kind() {
        io::ErrorKind::ConnectionRefused => ExchangeError::Connect(cause(error)),
        _ => ExchangeError::Interrupted {
            phase: CallPhase::Answer,
            source: cause(error),
        },
    })?;
    Ok(answer.map(reqwest::Body::from))
}
