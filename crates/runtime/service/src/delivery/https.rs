//! The transport over HTTPS, by reqwest and rustls.

use super::endpoint::Endpoint;
use super::transport::{
    Transport, TransportError, TransportErrorKind, TransportFuture, TransportRequest,
    TransportResponse, UpFuture, is_of_gateway,
};
use bankrail_http::tls::{ClientCertificate, TlsRoots, client_config, error_chain};
use bankrail_http::{
    __private::{BodyError, BodyReader, is_public},
    Proxy,
};
use bankrail_webhook::MessageKind;
use reqwest::NoProxy;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::collections::HashMap;
use std::error::Error;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use url::{Host, Url};

/// The maximum number of cached HTTP clients for endpoints with their own client certificate.
const MAX_CLIENTS: usize = 256;

/// Deliveries over HTTPS: HTTP/2 or HTTP/1.1 over TLS 1.2 or 1.3. Cheap to clone.
///
/// The transport follows no redirection, ignores the environment's proxies, sends no `Referer`, and
/// sends each request once. It checks with a `HEAD` request if a receiver that failed is up again.
#[derive(Clone, Debug)]
pub struct HttpsTransport(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    options: HttpsTransportOptions,
    client: reqwest::Client,
    /// The clients for endpoints with their own certificate, made when they are first needed.
    // Locked to look one up, or to make one, never over an await.
    own: Mutex<HashMap<ClientCertificate, reqwest::Client>>,
}

bankrail_values::options! {
    /// Options of an [`HttpsTransport`].
    #[derive(Clone, Debug)]
    pub struct HttpsTransportOptions {
        /// The certificate authorities that are trusted. Default: those of the operating system.
        tls_roots: TlsRoots = TlsRoots::Platform,
        /// The certificate that is shown to a receiver which requires one, unless its
        /// [`Endpoint`](super::Endpoint) has another. Default: none.
        client_certificate(ClientCertificate => Some): Option<ClientCertificate> = None,
        /// The proxy of deliveries over https; [`Proxy::from_environment`] reads that of the
        /// environment. Default: none, also if the environment has one, because a proxy sees the
        /// receivers' addresses.
        proxy(Proxy => Some): Option<Proxy> = None,
        /// Restricts deliveries to public addresses, in any spelling and after the resolution of
        /// names. Set this where customers register their endpoints, because they could name a
        /// service of the bank's own network. Default: false.
        ///
        /// A proxy that resolves names itself decides where it connects to, so
        /// [`HttpsTransport::new`] refuses it together with this option. Have the proxy refuse
        /// private addresses instead, or use `socks5`, for which names are resolved and judged on
        /// this side. The proxy's own address may be private.
        only_public_addresses: bool = false,
        /// The time-out of connecting. Default: 10 s.
        connect_timeout: Duration = Duration::from_secs(10),
    }
}

impl HttpsTransport {
    /// Creates a transport with these options.
    ///
    /// # Errors
    /// [`HttpsTransportError`] if the trusted certificates cannot be read, or the proxy does not
    /// fit [`HttpsTransportOptions::only_public_addresses`].
    pub fn new(options: HttpsTransportOptions) -> Result<Self, HttpsTransportError> {
        let proxy = options
            .proxy
            .as_ref()
            .filter(|proxy| proxy.resolves_names());
        if options.only_public_addresses && proxy.is_some() {
            let reason = "expected a socks5 proxy or none where only public addresses are allowed, \
                 found a proxy that resolves names: let it refuse private addresses, and allow all here";
            return Err(HttpsTransportError::new(reason));
        }
        let client = client(&options, options.client_certificate.as_ref())?;
        let own = Mutex::default();
        Ok(Self(Arc::new(Inner {
            options,
            client,
            own,
        })))
    }
}

impl Inner {
    /// Returns the client that shows this certificate.
    fn client(
        &self,
        certificate: Option<&ClientCertificate>,
    ) -> Result<reqwest::Client, HttpsTransportError> {
        let Some(certificate) = certificate else {
            return Ok(self.client.clone());
        };
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = own.get(certificate) {
            return Ok(client.clone());
        }
        // Certificates that were replaced are never asked for again.
        if own.len() >= MAX_CLIENTS {
            own.clear();
        }
        let client = client(&self.options, Some(certificate))?;
        own.insert(certificate.clone(), client.clone());
        Ok(client)
    }

    /// Returns true if this address may be called, as far as it does not depend on a name.
    fn may_call(&self, url: &Url) -> bool {
        let is_proxy = |name| self.options.proxy_host() == Some(name);
        !self.options.only_public_addresses
            || match url.host() {
                Some(Host::Domain(name)) => !is_proxy(name),
                Some(Host::Ipv4(address)) => is_public(address.into()),
                Some(Host::Ipv6(address)) => is_public(address.into()),
                None => false,
            }
    }
}

impl HttpsTransportOptions {
    fn proxy_host(&self) -> Option<&str> {
        self.proxy.as_ref()?.expose_url().host_str()
    }
}

fn client(
    options: &HttpsTransportOptions,
    certificate: Option<&ClientCertificate>,
) -> Result<reqwest::Client, HttpsTransportError> {
    let tls =
        client_config(Some(&options.tls_roots), certificate).map_err(HttpsTransportError::new)?;
    let mut client = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        // A redirection could lead the secured payload and the API key to another host.
        .redirect(reqwest::redirect::Policy::none())
        // A proxy of the environment would see the receiver's address.
        .no_proxy()
        .referer(false)
        // One delivery is one request; the outbox schedules the next one.
        .retry(reqwest::retry::never())
        .connect_timeout(options.connect_timeout);
    if let Some(proxy) = &options.proxy {
        let through = reqwest::Proxy::https(proxy.expose_url().as_str())
            .map_err(|error| HttpsTransportError::new(error.without_url()))?;
        client = client.proxy(through.no_proxy(NoProxy::from_string(proxy.exceptions())));
    }
    if options.only_public_addresses {
        let proxy = options.proxy_host().map(str::to_owned);
        client = client.dns_resolver(Arc::new(PublicNames { proxy }));
    }
    client.build().map_err(HttpsTransportError::new)
}

/// The resolver of the operating system, without addresses that are not public.
struct PublicNames {
    /// The host name of the proxy, whose address may be private.
    proxy: Option<String>,
}

impl Resolve for PublicNames {
    fn resolve(&self, name: Name) -> Resolving {
        let is_proxy = self.proxy.as_deref() == Some(name.as_str());
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed = |address: IpAddr| is_proxy || is_public(address);
            let found: Vec<_> = found.filter(|found| allowed(found.ip())).collect();
            if found.is_empty() {
                return Err(NOT_PUBLIC.into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// The error text of a delivery that was refused because its address is not public.
const NOT_PUBLIC: &str = "expected an endpoint with a public address, found another";

/// The error of an HTTPS client that could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("the HTTPS client could not be set up")]
#[non_exhaustive]
pub struct HttpsTransportError {
    source: Box<dyn Error + Send + Sync>,
}

impl HttpsTransportError {
    fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            source: source.into(),
        }
    }
}

impl Transport for HttpsTransport {
    fn post(&self, request: TransportRequest) -> TransportFuture<'_> {
        Box::pin(async move {
            let refused = |cause| TransportError::new(TransportErrorKind::Connect, cause);
            if !self.0.may_call(&request.url) {
                return Err(refused(NOT_PUBLIC.into()));
            }
            let client = self.0.client(request.client_certificate.as_ref());
            let sent = client
                .map_err(|error| refused(Box::<dyn Error + Send + Sync>::from(error)))?
                .post(request.url)
                .headers(request.headers)
                .timeout(request.timeout)
                .body(request.body)
                .send()
                .await;
            let (head, body) =
                http::Response::<reqwest::Body>::from(sent.map_err(transport_error)?).into_parts();
            // The client's time-out covers the body too.
            let body = BodyReader::new(&head.headers, body)
                .read_prefix(request.max_response_bytes, request.timeout)
                .await;
            Ok(TransportResponse {
                status: head.status,
                headers: head.headers,
                body: body.map_err(body_error)?,
            })
        })
    }

    /// Sends a `HEAD` without a header of the deliveries. Any answer shows that the receiver is up,
    /// except that of a gateway before a receiver that is down.
    fn is_up<'a>(&'a self, endpoint: &'a Endpoint) -> UpFuture<'a> {
        Box::pin(async move {
            let Ok(client) = self.0.client(endpoint.client_certificate.as_ref()) else {
                return false;
            };
            let url = endpoint.url(MessageKind::ALL[0]);
            self.0.may_call(&url)
                && client
                    .head(url)
                    .send()
                    .await
                    .is_ok_and(|answer| !is_of_gateway(answer.status().as_u16()))
        })
    }
}

fn body_error(error: BodyError) -> TransportError {
    match error {
        BodyError::Broken(source) => match source.downcast::<reqwest::Error>() {
            Ok(error) if error.is_timeout() => {
                TransportError::new(TransportErrorKind::Timeout, error.without_url())
            }
            Ok(error) => TransportError::new(TransportErrorKind::Broken, error.without_url()),
            Err(other) => TransportError::new(TransportErrorKind::Broken, other),
        },
        other => TransportError::new(TransportErrorKind::Timeout, other),
    }
}

fn transport_error(error: reqwest::Error) -> TransportError {
    let kind = if error.is_timeout() {
        TransportErrorKind::Timeout
    } else if is_tls(&error) {
        // After the handshake too: so a receiver refuses the client certificate in TLS 1.3.
        TransportErrorKind::Tls
    } else if error.is_connect() {
        TransportErrorKind::Connect
    } else {
        TransportErrorKind::Broken
    };
    // Without the address, which may have a customer's path. Records have the endpoint's id
    // instead.
    TransportError::new(kind, error.without_url())
}

/// Returns true if rustls reported the error, as an `io::Error` of kind `InvalidData`. HTTP/2
/// preserves only the kind and the text of such an error.
fn is_tls(error: &(dyn Error + 'static)) -> bool {
    error_chain(error)
        .filter_map(|error| error.downcast_ref::<std::io::Error>())
        .any(|error| error.kind() == std::io::ErrorKind::InvalidData)
}
