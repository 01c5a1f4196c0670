//! The answers for a supervisor and a monitoring system, on a separate port: `/livez`, `/readyz`,
//! and with the feature `prometheus` also `/metrics`.
//!
//! | path | answer |
//! |---|---|
//! | `/livez` | 200 as long as the process serves requests |
//! | `/readyz` | 200 if each check passes and the program is not stopping; otherwise 503 with the names of what fails |
//! | `/metrics` | the metrics as Prometheus reads them; 404 without [`OperationsOptions::prometheus`] |
//!
//! Answers are plain text. No answer has the text of an error, which is logged instead. The port
//! should not be reachable from outside, because checks query the stores and metrics show the
//! volume of business.
//!
//! ```no_run
//! use bankrail_http::operations::{Operations, OperationsOptions};
//! # #[cfg(feature = "serve")]
//! # async fn example() -> std::io::Result<()> {
//! use bankrail_http::serve::Shutdown;
//! # async fn check() -> Result<(), std::io::Error> { Ok(()) }
//!
//! let shutdown = Shutdown::on_signal()?;
//! let options = OperationsOptions::new().check("database", check).not_ready_from(shutdown.clone().wanted());
//! let server = Operations::listen("127.0.0.1:9090", options).await?;
//! // Before the last request ends, a load balancer should have seen that the service is not ready.
//! tokio::spawn(server.run(std::future::pending()));
//! # Ok(())
//! # }
//! ```

mod checks;
#[cfg(feature = "prometheus")]
mod prometheus;

#[cfg(feature = "prometheus")]
pub use self::prometheus::{Prometheus, PrometheusError};

use self::checks::{Check, failing};
use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tower_service::Service;

bankrail_values::options! {
    /// Options of [`Operations`]. Default: no checks, always ready, no metrics.
    pub struct OperationsOptions {
        /// The maximum time of each check. Default: 2 s.
        check_timeout: Duration = Duration::from_secs(2),
        /// The metrics that `/metrics` serves.
        #[cfg(feature = "prometheus")]
        prometheus(Prometheus => Some): Option<Prometheus> = None,
        ;
        checks: Vec<Check> = Vec::new(),
        stopping: Option<Pin<Box<dyn Future<Output = ()> + Send>>> = None,
    }
}

impl OperationsOptions {
    /// Adds a check to `/readyz`, such as the `check` of a store. All checks run at once for each
    /// request of `/readyz`. An error, a panic and more time than
    /// [`OperationsOptions::check_timeout`] are failures.
    ///
    /// The name is shown in the answer. The text of an error is logged, so it must not have a
    /// secret.
    #[must_use]
    pub fn check<C, F, E>(mut self, name: &'static str, check: C) -> Self
    where
        C: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: fmt::Display + Send + 'static,
    {
        self.checks.push(Check::new(name, check));
        self
    }

    /// Sets the future, such as `Shutdown::wanted` of the feature `serve`, after whose completion
    /// `/readyz` fails. The answer then names `stopping`.
    #[must_use]
    pub fn not_ready_from(mut self, stopping: impl Future<Output = ()> + Send + 'static) -> Self {
        self.stopping = Some(Box::pin(stopping));
        self
    }
}

impl fmt::Debug for OperationsOptions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.checks.iter().map(Check::name).collect();
        out.debug_struct("OperationsOptions")
            .field("checks", &names)
            .field("check_timeout", &self.check_timeout)
            .finish_non_exhaustive()
    }
}

/// The tower service of the port for operations; see the [module](self). Cheap to clone; clones
/// share everything.
#[derive(Clone, Debug)]
pub struct Operations(Arc<Parts>);

struct Parts {
    checks: Vec<Check>,
    check_timeout: Duration,
    stopping: Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
    stops: AtomicBool,
    #[cfg(feature = "prometheus")]
    prometheus: Option<Prometheus>,
}

impl fmt::Debug for Parts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.checks.iter().map(Check::name).collect();
        out.debug_struct("Parts")
            .field("checks", &names)
            .finish_non_exhaustive()
    }
}

impl Operations {
    /// Makes the service.
    #[must_use]
    pub fn new(options: OperationsOptions) -> Self {
        Self(Arc::new(Parts {
            checks: options.checks,
            check_timeout: options.check_timeout,
            stopping: Mutex::new(options.stopping),
            stops: AtomicBool::new(false),
            #[cfg(feature = "prometheus")]
            prometheus: options.prometheus,
        }))
    }

    /// Makes a server of these operations at a separate address such as `127.0.0.1:9090`, without
    /// TLS.
    ///
    /// # Errors
    /// The operating system's error, with the address in its text.
    #[cfg(feature = "serve")]
    pub async fn listen(
        address: impl tokio::net::ToSocketAddrs + fmt::Display,
        options: OperationsOptions,
    ) -> std::io::Result<crate::serve::Server<Self>> {
        use crate::serve::{Server, ServerOptions};
        let listener = tokio::net::TcpListener::bind(&address).await;
        let listener = listener
            .map_err(|error| std::io::Error::new(error.kind(), format!("{address}: {error}")))?;
        Ok(Server::without_tls(
            listener,
            Self::new(options),
            ServerOptions::new(),
        ))
    }

    /// Returns the names of the failing checks, and `stopping` if the program is stopping. An empty
    /// list means that the service is ready.
    pub async fn failing(&self) -> Vec<&'static str> {
        // A program that is stopping closes its stores, so the checks do not query them any more.
        if self.is_stopping() {
            vec!["stopping"]
        } else {
            failing(&self.0.checks, self.0.check_timeout).await
        }
    }

    /// Polls the `stopping` future once. Each request polls it again, so it needs no waker.
    fn is_stopping(&self) -> bool {
        // Paired with the store below: a thread that sees the mark sees all that happened before
        // the stop.
        if !self.0.stops.load(Ordering::Acquire) {
            let mut stopping = self
                .0
                .stopping
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let ready = stopping.as_mut().map(|future| {
                future
                    .as_mut()
                    // Each request polls it again, so nobody has to be woken.
                    .poll(&mut Context::from_waker(Waker::noop()))
            });
            if ready == Some(Poll::Ready(())) {
                // A completed future must not be polled again.
                *stopping = None;
                self.0.stops.store(true, Ordering::Release);
            }
        }
        self.0.stops.load(Ordering::Acquire)
    }

    async fn answer(&self, method: &Method, path: &str) -> Response<Full<Bytes>> {
        if !matches!(path, "/livez" | "/readyz" | "/metrics") {
            return text(StatusCode::NOT_FOUND, "not found\n".into());
        }
        if !matches!(*method, Method::GET | Method::HEAD) {
            let mut refused = text(
                StatusCode::METHOD_NOT_ALLOWED,
                "method not allowed\n".into(),
            );
            refused
                .headers_mut()
                .insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return refused;
        }
        match path {
            "/livez" => text(StatusCode::OK, "alive\n".into()),
            "/readyz" => match &*self.failing().await {
                [] => text(StatusCode::OK, "ready\n".into()),
                names => text(
                    StatusCode::SERVICE_UNAVAILABLE,
                    format!("not ready: {}\n", names.join(", ")),
                ),
            },
            _ => self.metrics(),
        }
    }

    #[cfg(feature = "prometheus")]
    fn metrics(&self) -> Response<Full<Bytes>> {
        let Some(prometheus) = &self.0.prometheus else {
            return text(StatusCode::NOT_FOUND, "no metrics\n".into());
        };
        let mut answer = text(StatusCode::OK, prometheus.render());
        answer.headers_mut().insert(
            CONTENT_TYPE,
            HeaderValue::from_static(Prometheus::CONTENT_TYPE),
        );
        answer
    }

    #[cfg(not(feature = "prometheus"))]
    #[allow(
        clippy::unused_self,
        reason = "the metrics are in it with the feature `prometheus`"
    )]
    fn metrics(&self) -> Response<Full<Bytes>> {
        text(StatusCode::NOT_FOUND, "no metrics\n".into())
    }
}

impl<A: Send + 'static> Service<Request<A>> for Operations {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        let (operations, method, uri) = (
            self.clone(),
            request.method().clone(),
            request.uri().clone(),
        );
        Box::pin(async move { Ok(operations.answer(&method, uri.path()).await) })
    }
}

fn text(status: StatusCode, text: String) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::from(text));
    *answer.status_mut() = status;
    answer.headers_mut().insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    answer
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}
