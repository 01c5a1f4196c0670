//! Calls of one endpoint: within its limits, without redirects, with a bounded answer, and no
//! secret in an error.

mod failure;
mod form;
mod report;

pub use form::AnswerForm;

pub(crate) use failure::{
    CallFacts, SERVICE_FAILED, after_comma, call_error, show_the_service, wait_until,
};
pub(crate) use report::{Failing, Remarks};

use crate::exchange_error::{CallPhase, ExchangeError};
use crate::measure;
use crate::pace::{Admitted, Closing};
use bankrail_http::{BodyReader, EndpointUrl, RequestKey, RetryAfter, content};
use bankrail_rate_limit::Pacer;
use bankrail_values::HyphenatedUuid;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// Calls one endpoint of the service for one customer.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) http: reqwest::Client,
    /// For the whole exchange, from connecting to the last byte.
    pub(crate) timeout: Duration,
    pub(crate) endpoint: EndpointUrl,
    /// The endpoint's name in metrics.
    pub(crate) name: &'static str,
    /// The header of the API key, and the key.
    pub(crate) api_key: (HeaderName, HeaderValue),
    pub(crate) pacer: Arc<Pacer>,
    pub(crate) closing: Closing,
    /// The longest time for which a `Retry-After` holds calls back.
    pub(crate) longest_hold: Duration,
    /// The most bytes of an answer.
    pub(crate) limit: usize,
    /// What was said of calls that failed one after the other.
    pub(crate) failing: Failing,
}

/// An answer, read to its end.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) request_key: Option<HyphenatedUuid>,
    pub(crate) retry_after: Option<RetryAfter>,
    /// By how many seconds this side's clock is ahead of the answer's `Date`.
    pub(crate) clock_ahead: Option<i64>,
    pub(crate) form: AnswerForm,
    /// Overwritten when dropped, because a token's answer is secret; for other answers this costs
    /// little.
    pub(crate) body: Zeroizing<Vec<u8>>,
}

impl Caller {
    /// Posts `body` and reads the answer.
    pub(crate) async fn post(
        &self,
        mut admitted: Admitted,
        content_type: &'static str,
        authorization: Option<HeaderValue>,
        body: Vec<u8>,
    ) -> Result<Reply, ExchangeError> {
        let begun = Instant::now();
        let request = self.request(content_type, authorization, body);
        let call = admitted.send();
        let outcome = self.exchange(request).await;
        if let (Err(ExchangeError::Connect(_)), Some(call)) = (&outcome, call) {
            admitted.pacer.not_sent(call);
        }
        measure::called(
            self.name,
            outcome.as_ref().ok().map(|reply| reply.status),
            begun.elapsed(),
        );
        outcome
    }

    /// Posts `body` without a token: the service refuses that, and no limit counts it.
    pub(crate) async fn post_uncounted(
        &self,
        content_type: &'static str,
        body: &[u8],
    ) -> Result<Reply, ExchangeError> {
        self.exchange(self.request(content_type, None, body.to_vec()))
            .await
    }

    fn request(
        &self,
        content_type: &'static str,
        authorization: Option<HeaderValue>,
        body: Vec<u8>,
    ) -> reqwest::RequestBuilder {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.extend(authorization.map(|value| (AUTHORIZATION, value)));
        headers.extend([self.api_key.clone()]);
        self.http
            .post(self.endpoint.url().clone())
            .headers(headers)
            .body(body)
    }

    /// Asks for a document beside the endpoint, without the API key, which no limit counts.
    pub(crate) async fn look(&self, path: &str) -> Result<Reply, ExchangeError> {
        let mut url = self.endpoint.url().clone();
        url.set_path(path);
        self.exchange(self.http.get(url)).await
    }

    async fn exchange(&self, request: reqwest::RequestBuilder) -> Result<Reply, ExchangeError> {
        let late = |phase| ExchangeError::TimedOut {
            after: self.timeout,
            phase,
        };
        let deadline = tokio::time::Instant::now() + self.timeout;
        let sent = tokio::time::timeout_at(deadline, request.send())
            .await
            .map_err(|_| late(CallPhase::Answer))?;
        let response =
            http::Response::<reqwest::Body>::from(sent.map_err(ExchangeError::from_send)?);
        let (head, body) = response.into_parts();
        let mut reply = Reply {
            status: head.status,
            request_key: RequestKey::from_headers(&head.headers).map(RequestKey::uuid),
            retry_after: RetryAfter::from_headers(&head.headers),
            clock_ahead: content::date(&head.headers)
                .map(|date| self.now().unix_seconds() - date.unix_seconds()),
            form: AnswerForm::of(&head.headers),
            body: Zeroizing::new(Vec::new()),
        };
        let mut body = BodyReader::new(&head.headers, body);
        let read = body.read_each(self.limit, self.timeout, |piece| {
            reply.body.extend_from_slice(&piece)
        });
        let read = tokio::time::timeout_at(deadline, read)
            .await
            .map_err(|_| late(CallPhase::Read))?;
        read.map_err(|error| ExchangeError::from_body(error, head.status))?;
        Ok(reply)
    }
}
