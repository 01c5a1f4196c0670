//! The HTTP client under every call of this crate.

use crate::exchange_error::NotResolved;
use bankrail_http::EndpointUrl;
use bankrail_http::tls::{TlsError, TlsRoots, client_config};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// The reason for which there is no client.
pub(crate) enum HttpClientError {
    Tls(TlsError),
    Http(Box<dyn Error + Send + Sync>),
}

/// Makes the client for calls of these addresses. Without `roots` it trusts the authorities of the
/// operating system; with `http_on_loopback` it ignores the environment's proxies.
pub(crate) fn build(
    roots: Option<&TlsRoots>,
    http_on_loopback: bool,
    urls: &[&EndpointUrl],
    connect_timeout: Duration,
) -> Result<reqwest::Client, HttpClientError> {
    let roots = if urls.iter().all(|url| url.is_plain_http()) {
        // No certificate is needed, and a container may have none.
        roots
    } else {
        Some(roots.unwrap_or(&TlsRoots::Platform))
    };
    let mut http = reqwest::Client::builder()
        .tls_backend_preconfigured(client_config(roots).map_err(HttpClientError::Tls)?)
        .https_only(!http_on_loopback)
        // A redirect would carry the API key, and on one host the token, to an address that was not
        // checked.
        .redirect(reqwest::redirect::Policy::none())
        // An address can hold what another server need not know.
        .referer(false)
        .connect_timeout(connect_timeout)
        .dns_resolver(Arc::new(Names))
        .user_agent(concat!("bankrail-client/", env!("CARGO_PKG_VERSION")));
    if http_on_loopback {
        // A proxy would get the secrets that must not leave the machine.
        http = http.no_proxy();
    }
    http.build()
        .map_err(|error| HttpClientError::Http(Box::new(error.without_url())))
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
