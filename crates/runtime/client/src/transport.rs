//! Calls of one endpoint within its limits, without redirects, with a bounded answer, and without
//! secrets in errors.

use crate::answer_form::AnswerForm;
use crate::call_error::{Call, CallError, CallErrorKind};
use crate::exchange_error::{CallPhase, ExchangeError, cause};
use crate::http_client::HttpClient;
use crate::measure;
use crate::pace::Closing;
use crate::pacer::{PaceError, Pacer, Permit};
use bankrail_http::{
    __private::{BodyReader, RetryAfter},
    EndpointUrl, RequestKey, content,
};
use bankrail_statement::ErrorCode;
use bankrail_values::{HyphenatedUuid, Timestamp, excerpt};
use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tracing::field::display;
use url::Position;
use zeroize::Zeroizing;

/// Calls one endpoint of the service for one customer.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) http: HttpClient,
    /// The time-out of the whole exchange, from connecting to the last byte.
    pub(crate) timeout: Duration,
    pub(crate) endpoint: EndpointUrl,
    /// The kind of call that this makes.
    pub(crate) call: Call,
    /// The header of the API key, and the key.
    pub(crate) api_key: (HeaderName, HeaderValue),
    pub(crate) pacer: Arc<Pacer>,
    pub(crate) closing: Closing,
    /// The maximum number of bytes of an answer.
    pub(crate) limit: usize,
    /// The kind of the last failure, and the number of calls that have failed one after the other
    /// with it.
    pub(crate) failing: Mutex<(&'static str, u32)>,
}

/// A call that may be sent. A call that is dropped unsent is not counted.
#[must_use]
pub(crate) struct Admitted {
    pacer: Arc<Pacer>,
    call: Option<Permit>,
    /// True if the call had to wait.
    pub(crate) waited: bool,
}

impl Drop for Admitted {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            self.pacer.not_sent(call);
        }
    }
}

/// The wait after a 429 without `Retry-After`, under a policy without limits.
const HOLD_WITHOUT_LIMITS: Duration = Duration::from_secs(60);

/// The longest time for which a `Retry-After` holds calls back, so that a wrong value does not
/// silence a client for days.
const MAX_HOLD: Duration = Duration::from_secs(3600);

/// An answer, read to its end.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) request_key: Option<HyphenatedUuid>,
    pub(crate) retry_after: Option<RetryAfter>,
    /// The lead of this side's clock over the answer's `Date`, in seconds.
    pub(crate) clock_ahead: Option<i64>,
    pub(crate) form: AnswerForm,
    /// The host and the path of a redirect's target.
    pub(crate) target: Option<Box<str>>,
    /// The body, which is overwritten on drop because a token's answer is secret; for other answers
    /// this costs little.
    pub(crate) body: Zeroizing<Vec<u8>>,
}

impl Caller {
    /// Waits until the call may be sent, then counts it.
    pub(crate) async fn admit(&self, pacer: &Arc<Pacer>) -> Result<Admitted, CallError> {
        let begun = self.now();
        let reason = match self.closing.unless_closed(pacer.acquire(1)).await {
            Some(Ok(call)) => {
                return Ok(Admitted {
                    pacer: pacer.clone(),
                    call: Some(call),
                    waited: self.now() > begun,
                });
            }
            Some(Err(PaceError::Held { until, .. })) => {
                return Err(CallError {
                    retry_at: Some(until),
                    ..self.failure(CallErrorKind::HeldBack)
                });
            }
            None => CallErrorKind::Closed,
            Some(Err(PaceError::Store(error))) => CallErrorKind::Counters(cause(error)),
            // A limit is at least 1, so a cost of 1 fits every policy.
            Some(Err(other)) => CallErrorKind::Counters(cause(other)),
        };
        Err(self.failure(reason))
    }

    /// Makes the error of a call without an answer.
    pub(crate) fn failure(&self, reason: CallErrorKind) -> CallError {
        CallError::new(self.call, reason)
    }

    /// Posts `body` and reads the answer.
    pub(crate) async fn post(
        &self,
        mut admitted: Admitted,
        content_type: &'static str,
        authorization: Option<HeaderValue>,
        body: Vec<u8>,
    ) -> Result<Reply, CallError> {
        let begun = Instant::now();
        let request = self.request(content_type, authorization, body);
        // Counted from now on, because the service may count it too. Only a call that did not reach
        // the service is given back.
        let call = admitted.call.take();
        let outcome = self.exchange(request).await;
        if let (Err(ExchangeError::Connect(_)), Some(call)) = (&outcome, call) {
            admitted.pacer.not_sent(call);
        }
        let (endpoint, took) = (self.call.name(), begun.elapsed());
        let status = outcome
            .as_ref()
            .map_or("failed", |reply| reply.status.as_str());
        measure::count(
            "bankrail_client_calls_total",
            &[("endpoint", endpoint), ("outcome", status)],
            1,
        );
        measure::called(endpoint, took);
        outcome.map_err(|error| self.failure(CallErrorKind::Transport(error)))
    }

    /// Posts `body` without a token, which the service refuses and no limit counts.
    pub(crate) async fn post_uncounted(
        &self,
        content_type: &'static str,
        body: &[u8],
    ) -> Result<Reply, CallError> {
        self.exchange(self.request(content_type, None, body.to_vec()))
            .await
            .map_err(|error| self.failure(CallErrorKind::Transport(error)))
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
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        headers.extend(authorization.map(|value| (AUTHORIZATION, value)));
        // The key is sent with every call, also those without a token.
        headers.extend([self.api_key.clone()]);
        self.http
            .requests
            .post(self.endpoint.url().clone())
            .headers(headers)
            .body(body)
    }

    /// Requests another document of the endpoint's host without the API key, which no limit counts.
    pub(crate) async fn look(&self, path: &str) -> Result<Reply, ExchangeError> {
        let mut url = self.endpoint.url().clone();
        url.set_path(path);
        self.exchange(self.http.requests.get(url)).await
    }

    async fn exchange(&self, request: reqwest::RequestBuilder) -> Result<Reply, ExchangeError> {
        let late = |phase| ExchangeError::TimedOut {
            after: self.timeout,
            phase,
        };
        // One deadline for the whole exchange: an answer that trickles does not extend it.
        let deadline = Instant::now() + self.timeout;
        let sent = tokio::time::timeout_at(deadline, self.http.send(request))
            .await
            .map_err(|_| late(CallPhase::Answer))?;
        let (head, body) = sent?.into_parts();
        let mut reply = Reply {
            status: head.status,
            request_key: RequestKey::from_headers(&head.headers).map(RequestKey::uuid),
            retry_after: RetryAfter::from_headers(&head.headers),
            clock_ahead: content::date(&head.headers)
                .map(|date| self.now().unix_seconds() - date.unix_seconds()),
            form: AnswerForm::of(&head.headers),
            target: self.target(head.status, &head.headers),
            body: Zeroizing::new(Vec::new()),
        };
        let mut body = BodyReader::new(&head.headers, body);
        // The reader's own time begins later, so the deadline always comes first.
        let read = body.read_each(self.limit, self.timeout, |piece| {
            reply.body.extend_from_slice(&piece)
        });
        let read = tokio::time::timeout_at(deadline, read)
            .await
            .map_err(|_| late(CallPhase::Read))?;
        read.map_err(|error| ExchangeError::from_body(error, head.status))?;
        Ok(reply)
    }

    /// Returns host and path of a redirect's target. The query can hold secrets.
    fn target(&self, status: StatusCode, headers: &HeaderMap) -> Option<Box<str>> {
        let location = headers.get(LOCATION).filter(|_| status.is_redirection())?;
        let target = self.endpoint.url().join(location.to_str().ok()?).ok()?;
        Some(excerpt(&target[Position::BeforeHost..Position::AfterPath]).into())
    }

    /// Holds back all calls of this pacer until the time of the answer's `Retry-After`, and returns
    /// that time.
    pub(crate) fn hold(&self, pacer: &Pacer, reply: &Reply) -> Option<Timestamp> {
        let wait = reply.retry_after?.wait(self.now());
        if wait > MAX_HOLD {
            tracing::warn!(
                endpoint = self.call.name(),
                // A wait beyond 64 bits of milliseconds is logged as the longest one.
                duration_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
                "the service asks for a longer wait than is kept"
            );
        }
        Some(self.hold_for(pacer, wait))
    }

    /// Holds calls back after a 429. Without `Retry-After`, calls are held back for the time that
    /// the slowest limit takes for one call, because a service may count refused calls too.
    pub(crate) fn hold_refused(&self, pacer: &Pacer, reply: &Reply) -> Timestamp {
        self.hold(pacer, reply)
            .unwrap_or_else(|| self.hold_for(pacer, Self::pause(pacer)))
    }

    /// Returns the time that the slowest limit takes for one call.
    pub(crate) fn pause(pacer: &Pacer) -> Duration {
        let windows = pacer.policy().windows().iter();
        let slowest = windows
            .map(|window| window.length() / window.limit().max(1))
            .max();
        slowest.unwrap_or(HOLD_WITHOUT_LIMITS)
    }

    fn hold_for(&self, pacer: &Pacer, wait: Duration) -> Timestamp {
        // The longest hold also bounds the advertised time, so that a caller that sleeps until then
        // is not silenced.
        let until = self.now().saturating_add(wait.min(MAX_HOLD));
        pacer.hold_until(until);
        until
    }

    /// Returns the time by the client's clock.
    pub(crate) fn now(&self) -> Timestamp {
        self.pacer.clock().now()
    }

    /// Logs a failed call: as a warning if it is the first of its kind, or the second, fourth,
    /// eighth and so on in a row, and otherwise at `DEBUG`. The log has the kind of the error, not
    /// its text, which can quote the service.
    ///
    /// A call that this side held back, or did not make because of a shutdown, is no failure of the
    /// service.
    pub(crate) fn failed(&self, what: &'static str, error: &CallError) {
        // Without a token, a statement call has no answer of the statement endpoint.
        let own = error.call == self.call;
        let kind = if own { error.kind() } else { error.call.name() };
        let until = error.retry_at.map(display);
        if matches!(
            error.reason,
            CallErrorKind::HeldBack | CallErrorKind::Closed
        ) {
            return tracing::info!(error = %kind, until, endpoint = self.call.name(), "{what}");
        }
        let failures = {
            let mut failing = self.failing();
            if failing.0 != kind {
                *failing = (kind, 0);
            }
            failing.1 = failing.1.saturating_add(1);
            failing.1
        };
        let phase = match &error.reason {
            CallErrorKind::Transport(error) if own => Some(display(error.phase())),
            _ => None,
        };
        // Any other code is a text of the service.
        let code = error.code.as_deref().and_then(ErrorCode::new);
        let code = code.filter(|_| own).map(display);
        let request_key = error.request_key.map(display);
        let status = error.status.filter(|_| own);
        let cause = error.cause().map(display);
        let (url, advice) = (display(self.endpoint.url()), display(error.advice()));
        // Ever rarer in a row, so that an outage does not fill the log.
        if failures.is_power_of_two() {
            tracing::warn!(
                request_key, error = %kind, status, until, code, url, phase, cause, advice, failures,
                "{what}"
            );
        } else {
            tracing::debug!(
                request_key, error = %kind, status, until, code, url, phase, cause, advice, failures,
                "{what}"
            );
        }
    }

    /// Logs the end of a row of failures, so that the next failure is the first one again.
    pub(crate) fn succeeded(&self) {
        // Reset and read in one step, so that one success of several at once logs it.
        let (_, failures) = std::mem::take(&mut *self.failing());
        if failures > 0 {
            tracing::info!(endpoint = self.call.name(), failures, "calls succeed again");
        }
    }

    fn failing(&self) -> MutexGuard<'_, (&'static str, u32)> {
        // The pair is written at once, so a panic elsewhere leaves it consistent.
        self.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
