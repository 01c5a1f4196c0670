//! The HTTP client under every call of this crate.

use crate::exchange_error::NotResolved;
use bankrail_http::tls::{ClientCertificate, TlsError, TlsRoots, client_config};
use bankrail_http::{EndpointUrl, Proxy, ProxyError};
use reqwest::NoProxy;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// The reason for which there is no client of HTTP.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpClientError {
    /// The trusted certificates, or the client certificate, are unusable.
    #[error("TLS could not be set up")]
    Tls(#[source] TlsError),
    /// The proxy of the environment is malformed.
    #[error("the proxy is refused")]
    Proxy(#[source] ProxyError),
    /// The HTTP client could not be set up.
    #[error("the HTTP client could not be set up")]
    Http(#[source] Box<dyn Error + Send + Sync>),
}

/// The way of calls to the service. Without roots, the authorities of the operating system are
/// trusted. Without a proxy, that of the environment is used, but not with `http_on_loopback`.
#[derive(Clone, Copy)]
pub(crate) struct Way<'a> {
    pub(crate) roots: Option<&'a TlsRoots>,
    pub(crate) certificate: Option<&'a ClientCertificate>,
    pub(crate) proxy: Option<&'a Proxy>,
    pub(crate) http_on_loopback: bool,
}

/// Makes the client for calls of these addresses.
pub(crate) fn build(
    way: Way<'_>,
    urls: &[&EndpointUrl],
    connect_timeout: Duration,
) -> Result<reqwest::Client, HttpClientError> {
    let roots = if urls.iter().all(|url| url.is_plain_http()) {
        // No certificate is needed, and a container may have none.
        way.roots
    } else {
        Some(way.roots.unwrap_or(&TlsRoots::Platform))
    };
    let tls = client_config(roots, way.certificate).map_err(HttpClientError::Tls)?;
    let proxy = match way.proxy {
        Some(proxy) => Some(proxy.clone()),
        // A proxy of the environment is not meant for a test on one machine.
        None if way.http_on_loopback => None,
        None => Proxy::from_environment().map_err(HttpClientError::Proxy)?,
    };
    let failed = |error: reqwest::Error| HttpClientError::Http(Box::new(error.without_url()));
    let mut http = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .https_only(!way.http_on_loopback)
        // A redirect would carry the API key, and on one host the token, to an address that was not
        // checked.
        .redirect(reqwest::redirect::Policy::none())
        // An address can hold what another server need not know.
        .referer(false)
        .connect_timeout(connect_timeout)
        .dns_resolver(Arc::new(Names))
        .user_agent(concat!("bankrail-client/", env!("CARGO_PKG_VERSION")));
    // The variables of the environment were read above, where a malformed one is an error.
    http = http.no_proxy();
    if let Some(proxy) = proxy {
        // For https only: a proxy would get the secrets of a call without TLS.
        let through = reqwest::Proxy::https(proxy.expose_url().as_str()).map_err(failed)?;
        http = http.proxy(through.no_proxy(NoProxy::from_string(proxy.exceptions())));
    }
    http.build().map_err(failed)
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
