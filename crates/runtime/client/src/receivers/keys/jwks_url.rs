//! Keys from an address.

use super::{RenewFuture, SenderKeys};
use crate::exchange_error::{CallPhase, ExchangeError};
use crate::http_client::{HttpClient, HttpClientError};
use crate::measure;
use bankrail_http::__private::BodyReader;
use bankrail_http::tls::{ClientCertificate, TlsRoots};
use bankrail_http::{AddressError, EndpointUrl, Proxy};
use bankrail_jose::{JwkSet, KeyError, KeySet, KeySetError, VerifyingKey};
use http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, StatusCode};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// The maximum number of bytes of a JWK set: 256 KiB.
const MAX_BYTES: usize = 256 * 1024;

/// The maximum number of bytes of an entity tag that is sent back.
const MAX_ETAG_BYTES: usize = 256;

/// The sender's verifying keys at an address that serves a JWK set (feature `jwks-url`). Cheap to
/// clone.
///
/// - The address is https. The answer is bounded, and redirects are refused.
/// - [`JwksUrl::run`] fetches the keys again when they are older than the answer's
///   `Cache-Control: max-age` allows. A `max-age` below 5 minutes or above a day counts as that
///   bound, an absent one as an hour. An `ETag` is sent back.
/// - When no key verifies a message, the keys are fetched at once, but with at least
///   [`JwksUrlOptions::refetch`] between two fetches.
/// - If the address fails, the last fetched keys stay in use.
///
/// ```no_run
/// use bankrail_client::receivers::keys::{JwksUrl, JwksUrlOptions};
/// use bankrail_client::receivers::ReceiversOptions;
/// use bankrail_secured_payload::{OpenOptions, Opener};
/// use std::sync::Arc;
///
/// # async fn example(mine: bankrail_jose::DecryptionKey) -> Result<(), Box<dyn std::error::Error>> {
/// let theirs = JwksUrl::fetch("https://bank.example/keys.jwks", JwksUrlOptions::new()).await?;
/// let opener = Opener::new(mine, theirs.keys(), OpenOptions::new())?;
/// let options = ReceiversOptions::new().sender_keys(Arc::new(theirs.clone()));
/// tokio::spawn(async move { theirs.run(std::future::pending()).await });
/// # let _ = (opener, options);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct JwksUrl(Arc<Inner>);

struct Inner {
    url: EndpointUrl,
    http: HttpClient,
    options: JwksUrlOptions,
    keys: KeySet<VerifyingKey>,
    /// The state of fetching. The lock is held during a fetch, so that waiting callers share it.
    state: Mutex<State>,
}

struct State {
    etag: Option<HeaderValue>,
    tried: Instant,
    /// The time at which the current keys were fetched.
    read: Instant,
    expires: Instant,
}

/// The answer of an address.
struct Fetched {
    /// The new keys; `None` if the keys have not changed.
    keys: Option<Vec<VerifyingKey>>,
    etag: Option<HeaderValue>,
    fresh_for: Duration,
}

impl JwksUrl {
    /// Fetches the keys for the first time. After later failures, the last fetched ones stay in
    /// use.
    ///
    /// # Errors
    /// [`JwksUrlError`] if the address or an option is unusable, the address does not answer, or no
    /// key is usable.
    pub async fn fetch(url: &str, options: JwksUrlOptions) -> Result<Self, JwksUrlError> {
        let url = EndpointUrl::check(url, options.danger_allow_http_on_loopback)
            .map_err(JwksUrlError::Address)?;
        let http = HttpClient::new(
            options.tls_roots.as_ref(),
            options.client_certificate.as_ref(),
            options.proxy.as_ref(),
            options.danger_allow_http_on_loopback,
            #[cfg(feature = "simulation")]
            options.network.clone(),
            &[&url],
            // Half of the time, so that the answer has the other half.
            options.timeout / 2,
        )?;
        let fetched = get(&http, &url, &options, None)
            .await
            .and_then(|mut fetched| {
                let keys = KeySet::new(fetched.keys.take().unwrap_or_default())
                    .map_err(JwksUrlError::KeySet)?;
                Ok((keys, fetched))
            });
        count(if fetched.is_ok() { "fetched" } else { "failed" });
        let (keys, fetched) = fetched?;
        let now = Instant::now();
        let state = Mutex::new(State {
            etag: fetched.etag,
            tried: now,
            read: now,
            expires: now + fetched.fresh_for,
        });
        Ok(Self(Arc::new(Inner {
            url,
            http,
            options,
            keys,
            state,
        })))
    }

    /// Returns the keys, for an [`Opener`](bankrail_secured_payload::Opener). They change with each
    /// fetch.
    #[must_use]
    pub fn keys(&self) -> KeySet<VerifyingKey> {
        self.0.keys.clone()
    }

    /// Fetches the keys whenever they have become too old, until `stop` is ready. Failures are
    /// logged, and repeated after [`JwksUrlOptions::refetch`].
    pub async fn run(&self, stop: impl Future<Output = ()>) {
        let fetching = async {
            loop {
                // Locked during the fetch, so that a renewal at the same time does not fetch again.
                let mut state = self.0.state.lock().await;
                let due = state.expires.max(state.tried + self.0.options.refetch);
                if Instant::now() >= due {
                    self.fetch_again(&mut state).await;
                } else {
                    drop(state);
                    tokio::time::sleep_until(due).await;
                }
            }
        };
        tokio::select! {
            biased;
            () = stop => {}
            () = fetching => {}
        }
    }

    /// Fetches the keys, and returns true if they may have changed.
    async fn fetch_again(&self, state: &mut State) -> bool {
        let Inner {
            url,
            http,
            options,
            keys,
            ..
        } = &*self.0;
        // Noted before the fetch, so that a failure delays the next one too.
        state.tried = Instant::now();
        let outcome = get(http, url, options, state.etag.as_ref())
            .await
            .and_then(|fetched| {
                let Fetched {
                    keys: fetched,
                    etag,
                    fresh_for,
                } = fetched;
                let replaced = fetched.is_some();
                if let Some(fetched) = fetched {
                    keys.replace(fetched).map_err(JwksUrlError::KeySet)?;
                    // Only with accepted keys: a refused set must not count as unchanged next time.
                    (state.etag, state.read) = (etag, Instant::now());
                }
                state.expires = Instant::now() + fresh_for;
                Ok(replaced)
            });
        count(match outcome {
            Ok(true) => "fetched",
            Ok(false) => "unchanged",
            Err(_) => "failed",
        });
        // Deliveries that waited for a slow fetch share its failure too.
        state.tried = Instant::now();
        let failed = |error: &JwksUrlError| {
            tracing::warn!(%error, "the verifying keys were not fetched; the keys of the last fetch stay in use");
        };
        outcome.inspect_err(failed).unwrap_or(false)
    }
}

impl SenderKeys for JwksUrl {
    /// Fetches the keys, unless that was tried less than [`JwksUrlOptions::refetch`] ago.
    fn renew(&self, since: std::time::Instant) -> RenewFuture<'_> {
        Box::pin(async move {
            // Callers that wait here share the fetch of the one before them.
            let mut state = self.0.state.lock().await;
            state.read.into_std() >= since
                || (state.tried.elapsed() >= self.0.options.refetch
                    && self.fetch_again(&mut state).await)
        })
    }
}

bankrail_values::impl_debug!(JwksUrl, self; url: self.0.url.url().as_str(), keys: self.0.keys);

/// The longest [`JwksUrlOptions::refetch`]: an instant that far away must exist.
const MAX_REFETCH: Duration = Duration::from_secs(365 * 86_400);

bankrail_values::options! {
    /// Options of a [`JwksUrl`].
    #[derive(Clone, Debug)]
    pub struct JwksUrlOptions {
        /// The maximum duration of a fetch. Default: 5 s, so that a delivery that waits for it is
        /// answered in time.
        timeout: Duration = Duration::from_secs(5),
        /// The least time between two fetches, after a failure and for messages that no key
        /// verifies: whoever has our API key can send one. At least 1 s, at most a year. Default:
        /// 10 s, so that few messages are refused after a sender has changed its key.
        refetch(Duration => |interval| interval.clamp(Duration::from_secs(1), MAX_REFETCH)): Duration =
            Duration::from_secs(10),
        /// The certificate authorities to trust. Default: those of the operating system.
        tls_roots(TlsRoots => Some): Option<TlsRoots> = None,
        /// The certificate that is shown to a server that requires one. Default: none.
        client_certificate(ClientCertificate => Some): Option<ClientCertificate> = None,
        /// The proxy of fetches over https. Default: that of the environment
        /// ([`Proxy::from_environment`]); a malformed value there is an error.
        proxy(Proxy => Some): Option<Proxy> = None,
        /// If true, http on loopback addresses is allowed, for tests. Default: false.
        danger_allow_http_on_loopback: bool = false,
        /// The network of a simulation, which takes the place of connections. Default: none.
        #[cfg(feature = "simulation")]
        network(Arc<dyn crate::simulation::Network> => Some):
            Option<Arc<dyn crate::simulation::Network>> = None,
    }
}

/// The shortest time for which the keys of one answer are used, under any `Cache-Control`, so that
/// a sender cannot have its keys fetched without a pause.
const MIN_AGE: Duration = Duration::from_secs(300);

/// The time for which the keys of an answer without `max-age` are used.
const DEFAULT_AGE: Duration = Duration::from_secs(3600);

/// The longest time for which the keys of one answer are used, so that a key that was withdrawn is
/// not trusted for longer.
const MAX_AGE: Duration = Duration::from_secs(86_400);

/// Returns the time for which the keys of an answer are used.
fn fresh_for(headers: &HeaderMap) -> Duration {
    max_age(headers)
        .unwrap_or(DEFAULT_AGE)
        .clamp(MIN_AGE, MAX_AGE)
}

/// The reason why keys were not fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JwksUrlError {
    /// The address cannot be used.
    #[error("address of the keys: {0}")]
    Address(AddressError),
    /// The HTTP client cannot be made.
    #[error(transparent)]
    Http(#[from] HttpClientError),
    /// There was no complete answer.
    #[error("no answer from the address of the keys")]
    Exchange(#[source] ExchangeError),
    /// The status is not 200.
    #[error("address of the keys: expected status 200, found {found}")]
    Status {
        /// The status.
        found: u16,
    },
    /// The answer is not a JWK set.
    #[error("address of the keys: expected a JWK set: {0}")]
    Set(KeyError),
    /// The answer is not UTF-8.
    #[error("address of the keys: expected UTF-8")]
    NotText,
    /// The set has no usable key.
    #[error("address of the keys: {0}")]
    KeySet(KeySetError),
}

/// Counts a request for the keys.
fn count(outcome: &str) {
    measure::count("bankrail_key_fetches_total", &[("outcome", outcome)], 1);
}

async fn get(
    http: &HttpClient,
    url: &EndpointUrl,
    options: &JwksUrlOptions,
    etag: Option<&HeaderValue>,
) -> Result<Fetched, JwksUrlError> {
    let getting = async {
        let mut request = http
            .requests
            .get(url.url().clone())
            .header("accept", "application/jwk-set+json, application/json")
            .header("accept-encoding", "identity");
        if let Some(etag) = etag {
            request = request.header(IF_NONE_MATCH, etag.clone());
        }
        let response = http.send(request).await;
        let (head, body) = response.map_err(JwksUrlError::Exchange)?.into_parts();
        let fresh_for = fresh_for(&head.headers);
        if etag.is_some() && head.status == StatusCode::NOT_MODIFIED {
            return Ok(Fetched {
                keys: None,
                etag: None,
                fresh_for,
            });
        }
        if head.status != StatusCode::OK {
            return Err(JwksUrlError::Status {
                found: head.status.as_u16(),
            });
        }
        let read = BodyReader::new(&head.headers, body)
            .read(MAX_BYTES, options.timeout)
            .await;
        let body = read.map_err(|error| {
            JwksUrlError::Exchange(ExchangeError::from_body(error, head.status))
        })?;
        let text = std::str::from_utf8(&body).map_err(|_| JwksUrlError::NotText)?;
        let etag = head
            .headers
            .get(ETAG)
            .filter(|etag| etag.len() <= MAX_ETAG_BYTES)
            .cloned();
        Ok(Fetched {
            keys: Some(usable(text)?),
            etag,
            fresh_for,
        })
    };
    let timed_out = |_| {
        JwksUrlError::Exchange(ExchangeError::TimedOut {
            after: options.timeout,
            phase: CallPhase::Answer,
        })
    };
    // One deadline for the whole fetch, because a delivery waits for it.
    tokio::time::timeout(options.timeout, getting)
        .await
        .map_err(timed_out)?
}

/// The usable keys of a JWK set. The others are logged.
fn usable(text: &str) -> Result<Vec<VerifyingKey>, JwksUrlError> {
    let set = JwkSet::parse(text).map_err(JwksUrlError::Set)?;
    let keys = KeySet::<VerifyingKey>::from_jwk_set(&set, &super::key_options());
    let (keys, refused) = keys.map_err(JwksUrlError::KeySet)?;
    for key in refused.iter().chain(set.unusable()) {
        tracing::warn!(index = key.index, kid = key.kid.as_deref(), error = %key.error, "a verifying key is unusable");
    }
    Ok(keys.keys().to_vec())
}

/// Returns the time for which an answer may be used (RFC 9111 section 5.2.2), if it has one.
fn max_age(headers: &HeaderMap) -> Option<Duration> {
    let directives = headers
        .get_all(CACHE_CONTROL)
        .iter()
        .filter_map(|value| value.to_str().ok());
    let mut age = None;
    for directive in directives.flat_map(|value| value.split(',')).map(str::trim) {
        if directive.eq_ignore_ascii_case("no-store") || directive.eq_ignore_ascii_case("no-cache")
        {
            return Some(Duration::ZERO);
        }
        let Some((name, seconds)) = directive.split_once('=') else {
            continue;
        };
        if name.trim().eq_ignore_ascii_case("max-age") {
            let seconds = seconds.trim().trim_matches('"');
            let digits = !seconds.is_empty() && seconds.bytes().all(|byte| byte.is_ascii_digit());
            // A number that does not fit is above any bound.
            age = digits
                .then(|| Duration::from_secs(seconds.parse().unwrap_or(u64::from(u32::MAX))))
                .or(age);
        }
    }
    age
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_read_and_bounded() {
        for (control, expected) in [
            (None, 3600),
            (Some("public, Max-Age=1200"), 1200),
            (Some("max-age=\"900\""), 900),
            (Some("max-age=1"), 300),
            (Some("max-age=99999999999999999999999"), 86_400),
            (Some("max-age=1200, no-store"), 300),
            (Some("max-age=abc"), 3600),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(control) = control {
                headers.insert(CACHE_CONTROL, HeaderValue::from_static(control));
            }
            assert_eq!(
                fresh_for(&headers),
                Duration::from_secs(expected),
                "{control:?}"
            );
        }
    }
}
