//! The HTTP client under every call of this crate.

use crate::exchange_error::{ExchangeError, NotResolved};
use bankrail_http::tls::{ClientCertificate, TlsError, TlsRoots, client_config};
use bankrail_http::{EndpointUrl, Proxy, ProxyError};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{NoProxy, RequestBuilder};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// The reason why the HTTP client cannot be made.
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

/// A client of HTTP. Clones share its connections.
#[derive(Clone, Debug)]
pub(crate) struct HttpClient {
    /// Makes the requests, which [`HttpClient::send`] sends.
    pub(crate) requests: reqwest::Client,
    /// The network of a simulation, in place of connections.
    #[cfg(feature = "simulation")]
    network: Option<Arc<dyn crate::simulation::Network>>,
}

impl HttpClient {
    /// Makes the client for calls of these addresses. Without roots, the authorities of the
    /// operating system are trusted. Without a proxy, that of the environment is used, but not with
    /// `http_on_loopback`.
    pub(crate) fn new(
        roots: Option<&TlsRoots>,
        certificate: Option<&ClientCertificate>,
        proxy: Option<&Proxy>,
        http_on_loopback: bool,
        #[cfg(feature = "simulation")] network: Option<Arc<dyn crate::simulation::Network>>,
        urls: &[&EndpointUrl],
        connect_timeout: Duration,
    ) -> Result<Self, HttpClientError> {
        let roots = if urls.iter().all(|url| url.is_plain_http()) {
            // No certificate is needed, and a container may have none.
            roots
        } else {
            Some(roots.unwrap_or(&TlsRoots::Platform))
        };
        let tls = client_config(roots, certificate).map_err(HttpClientError::Tls)?;
        let proxy = match proxy {
            Some(proxy) => Some(proxy.clone()),
            // A proxy of the environment is not meant for a test on one machine.
            None if http_on_loopback => None,
            None => Proxy::from_environment().map_err(HttpClientError::Proxy)?,
        };
        let failed = |error: reqwest::Error| HttpClientError::Http(Box::new(error.without_url()));
        let mut requests = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .https_only(!http_on_loopback)
            // A redirect would carry the API key, and on one host the token, to an address that was
            // not checked.
            .redirect(reqwest::redirect::Policy::none())
            // An address can hold what another server need not know.
            .referer(false)
            .connect_timeout(connect_timeout)
            .dns_resolver(Arc::new(Names))
            .user_agent(concat!("bankrail-client/", env!("CARGO_PKG_VERSION")))
            // The variables of the environment were read above, where a malformed one is an error.
            .no_proxy();
        if let Some(proxy) = proxy {
            // For https only: a proxy would get the secrets of a call without TLS.
            let through = reqwest::Proxy::https(proxy.expose_url().as_str()).map_err(failed)?;
            requests = requests.proxy(through.no_proxy(NoProxy::from_string(proxy.exceptions())));
        }
        Ok(Self {
            requests: requests.build().map_err(failed)?,
            #[cfg(feature = "simulation")]
            network,
        })
    }

    /// Sends a request, and returns the answer with a body that is not read yet.
    pub(crate) async fn send(
        &self,
        request: RequestBuilder,
    ) -> Result<http::Response<reqwest::Body>, ExchangeError> {
        #[cfg(feature = "simulation")]
        if let Some(network) = &self.network {
            let request = request.build().map_err(ExchangeError::from_send)?;
            return crate::simulation::send(&**network, request).await;
        }
        let sent = request.send().await.map_err(ExchangeError::from_send)?;
        Ok(sent.into())
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
