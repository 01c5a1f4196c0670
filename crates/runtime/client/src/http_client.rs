//! The HTTP client under every call of this crate.

use crate::exchange_error::NotResolved;
use bankrail_http::tls::{TlsError, TlsRoots, client_config};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// The addresses that a client may call, and the authorities that it trusts.
pub(crate) struct HttpClientOptions<'a> {
    /// `None`: those of the operating system.
    pub(crate) roots: Option<&'a TlsRoots>,
    /// Allows http to loopback addresses, and then ignores the environment's proxies.
    pub(crate) http_on_loopback: bool,
    /// True if all addresses are http. Then no certificate is needed, and a container may have
    /// none.
    pub(crate) all_http: bool,
    pub(crate) connect_timeout: Duration,
}

/// The reason for which there is no client.
pub(crate) enum HttpClientError {
    Tls(TlsError),
    Http(Box<dyn Error + Send + Sync>),
}

impl HttpClientOptions<'_> {
    pub(crate) fn build(&self) -> Result<reqwest::Client, HttpClientError> {
        let roots = if self.all_http {
            self.roots
        } else {
            Some(self.roots.unwrap_or(&TlsRoots::Platform))
        };
        let mut http = reqwest::Client::builder()
            .tls_backend_preconfigured(client_config(roots).map_err(HttpClientError::Tls)?)
            .https_only(!self.http_on_loopback)
            // A redirect would carry the API key, and on one host the token, to an address that was
            // not checked.
            .redirect(reqwest::redirect::Policy::none())
            // An address can hold what another server need not know.
            .referer(false)
            .connect_timeout(self.connect_timeout)
            .dns_resolver(Arc::new(Names))
            .user_agent(concat!("bankrail-client/", env!("CARGO_PKG_VERSION")));
        if self.http_on_loopback {
            http = http.no_proxy();
        }
        http.build()
            .map_err(|error| HttpClientError::Http(Box::new(error.without_url())))
    }
}

/// The resolver of the operating system, whose failures are [`NotResolved`].
struct Names;

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0))
                .await
                .map_err(NotResolved)?;
            Ok(Box::new(found.collect::<Vec<_>>().into_iter()) as Addrs)
        })
    }
}
