//! The addresses that webhooks may be delivered to.

use std::fmt;
use std::net::IpAddr;
use url::{Host, Url};

/// The base address of a receiver.
///
/// - It is `https` with a host, and without user, password, query or fragment.
/// - It is `http` only for a loopback address, and only with [`EndpointUrl::danger_allow_http_on_loopback`].
/// - The receivers' paths are appended to the base's own path.
///
/// ```
/// use bankrail_service::delivery::EndpointUrl;
/// let base = EndpointUrl::parse("https://biller.example/hooks/")?;
/// assert_eq!(base.with_path("/payto/queries").as_str(), "https://biller.example/hooks/payto/queries");
/// assert!(EndpointUrl::parse("http://biller.example/").is_err());
/// # Ok::<(), bankrail_service::delivery::EndpointUrlError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct EndpointUrl(Url);

impl EndpointUrl {
    /// Checks an `https` address.
    ///
    /// # Errors
    /// [`EndpointUrlError`] for any other address.
    pub fn parse(text: &str) -> Result<Self, EndpointUrlError> {
        check(text, false)
    }

    /// Checks an address as [`EndpointUrl::parse`] does, and also allows `http` if the host is a loopback address
    /// (`127.0.0.0/8`, `[::1]`) or the name `localhost`. For tests and sandboxes only: other programs on the machine
    /// may read everything that is sent, including the API key.
    ///
    /// # Errors
    /// [`EndpointUrlError`] for any other address.
    pub fn danger_allow_http_on_loopback(text: &str) -> Result<Self, EndpointUrlError> {
        check(text, true)
    }

    /// The base followed by `path`, with one slash between them.
    #[must_use]
    pub fn with_path(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}/{}", path.trim_start_matches('/')));
        url
    }

    /// The address.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

fn check(text: &str, http_on_loopback: bool) -> Result<EndpointUrl, EndpointUrlError> {
    let url = Url::parse(text).map_err(|error| EndpointUrlError::Malformed { source: Box::new(error) })?;
    let Some(host) = url.host() else { return Err(EndpointUrlError::NoHost) };
    match url.scheme() {
        "https" => {}
        "http" if !http_on_loopback => return Err(EndpointUrlError::NotHttps),
        "http" if !is_loopback(&host) => return Err(EndpointUrlError::NotLoopback),
        "http" => {}
        _ => return Err(EndpointUrlError::NotHttps),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(EndpointUrlError::Credentials);
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(EndpointUrlError::QueryOrFragment);
    }
    Ok(EndpointUrl(url))
}

fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Ipv4(address) => IpAddr::V4(*address).is_loopback(),
        Host::Ipv6(address) => IpAddr::V6(*address).is_loopback(),
        Host::Domain(name) => *name == "localhost",
    }
}

impl fmt::Debug for EndpointUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// Why deliveries may not go to an address.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointUrlError {
    /// Not an absolute URL.
    #[error("expected an absolute URL")]
    Malformed {
        /// What is wrong with it.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is no host.
    #[error("expected a URL with a host")]
    NoHost,
    /// The scheme is not `https`.
    #[error("expected an https URL")]
    NotHttps,
    /// `http`, which is allowed on loopback only, for another host.
    #[error("expected https, or http to a loopback address")]
    NotLoopback,
    /// A user or password in the address. Use the API-key header for a secret.
    #[error("expected a URL without user and password")]
    Credentials,
    /// A query or fragment in the address.
    #[error("expected a URL without query and fragment")]
    QueryOrFragment,
}
