//! A bounded HTTP exchange: no redirects, an answer read up to a limit, and no secret in an error.

mod error;

pub use error::ExchangeError;
pub(crate) use error::{Cause, after_comma, cause};

use crate::measure;
use bankrail_http::{BodyReader, EndpointUrl, RequestKey, RetryAfter, content};
use bankrail_values::HyphenatedUuid;
use http::{HeaderMap, StatusCode};
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// Sends requests and reads bounded answers.
#[derive(Clone, Debug)]
pub(crate) struct Transport {
    pub(crate) http: reqwest::Client,
    /// For the whole exchange, from connecting to the last byte.
    pub(crate) timeout: Duration,
}

/// An answer, read to its end.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) request_key: Option<HyphenatedUuid>,
    pub(crate) retry_after: Option<RetryAfter>,
    pub(crate) is_json: bool,
    /// Overwritten when dropped, because a token's answer is secret; for other answers this costs little.
    pub(crate) body: Zeroizing<Vec<u8>>,
}

impl Transport {
    /// Posts `body` and reads at most `limit` bytes of the answer. `name`: the endpoint's in metrics.
    pub(crate) async fn post(
        &self,
        to: &EndpointUrl,
        headers: HeaderMap,
        body: Vec<u8>,
        limit: usize,
        name: &'static str,
    ) -> Result<Reply, ExchangeError> {
        let begun = Instant::now();
        let exchange = async {
            let request = self.http.post(to.url().clone()).headers(headers).body(body);
            let response =
                http::Response::<reqwest::Body>::from(request.send().await.map_err(ExchangeError::from_send)?);
            let (head, body) = response.into_parts();
            let mut reply = Reply {
                status: head.status,
                request_key: RequestKey::from_headers(&head.headers).map(RequestKey::uuid),
                retry_after: RetryAfter::from_headers(&head.headers),
                is_json: content::is_json_or_suffix(&head.headers),
                body: Zeroizing::new(Vec::new()),
            };
            let mut body = BodyReader::new(&head.headers, body);
            let read = body.read_each(limit, self.timeout, |piece| reply.body.extend_from_slice(&piece)).await;
            read.map_err(|error| ExchangeError::from_body(error, head.status))?;
            Ok(reply)
        };
        let late = |_| Err(ExchangeError::TimedOut { after: self.timeout });
        let outcome = tokio::time::timeout(self.timeout, exchange).await.unwrap_or_else(late);
        measure::called(name, outcome.as_ref().ok().map(|reply| reply.status), begun.elapsed());
        outcome
    }
}
