//! The addresses that secrets may be sent to: https, or http on loopback if that is allowed.

use bankrail_values::excerpt;
use std::fmt;
use url::{Host, Url};

/// The base address of a service or of a receiver.
///
/// - It is `https` with a host, and without user, password, query or fragment.
/// - It is `http` only for a loopback address, and only with
///   [`EndpointUrl::danger_allow_http_on_loopback`].
/// - Paths are appended to the base's own path.
///
/// ```
/// use bankrail_http::EndpointUrl;
/// let base = EndpointUrl::parse("https://biller.example/hooks/")?;
/// assert_eq!(base.with_path("/payto/queries").as_str(), "https://biller.example/hooks/payto/queries");
/// assert!(EndpointUrl::parse("http://biller.example/").is_err());
/// # Ok::<(), bankrail_http::AddressError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct EndpointUrl(Url);

impl EndpointUrl {
    /// Checks an `https` address.
    ///
    /// # Errors
    /// [`AddressError`] for any other address.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        Self::check(text, false)
    }

    /// Checks an address as [`EndpointUrl::parse`] does, and also allows `http` if the host is a
    /// loopback address (`127.0.0.0/8`, `[::1]`) or the name `localhost`. For tests and sandboxes
    /// only: other programs on the machine may read everything that is sent, including the API key.
    ///
    /// # Errors
    /// [`AddressError`] for any other address.
    pub fn danger_allow_http_on_loopback(text: &str) -> Result<Self, AddressError> {
        Self::check(text, true)
    }

    /// Checks an address, with `http` on loopback if that is allowed.
    ///
    /// # Errors
    /// [`AddressError`] for any other address.
    pub fn check(text: &str, http_on_loopback: bool) -> Result<Self, AddressError> {
        let url = Url::parse(text).map_err(|error| AddressErrorKind::Syntax(error.to_string()));
        let checked = url.and_then(|url| fault(&url, http_on_loopback).map_or(Ok(Self(url)), Err));
        checked.map_err(|reason| {
            // The text may have a user name or a password; no part of either is shown.
            let found = if reason == AddressErrorKind::Userinfo {
                "(not shown)".to_owned()
            } else {
                excerpt(text)
            };
            AddressError { reason, found }
        })
    }

    /// Returns the base followed by `path`, with one slash between them.
    #[must_use]
    #[doc(hidden)]
    pub fn with_path(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        url.set_path(&format!(
            "{}/{}",
            self.0.path().trim_end_matches('/'),
            path.trim_start_matches('/')
        ));
        url
    }

    /// Returns the address.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the address of a path below this one, as [`EndpointUrl::with_path`] does.
    #[must_use]
    pub fn join(&self, path: &str) -> Self {
        Self(self.with_path(path))
    }

    /// Returns the address as a URL.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.0
    }

    /// Returns true for an `http` address, which is one on loopback.
    #[must_use]
    #[doc(hidden)]
    pub fn is_plain_http(&self) -> bool {
        self.0.scheme() == "http"
    }
}

fn fault(url: &Url, http_on_loopback: bool) -> Option<AddressErrorKind> {
    let is_loopback = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => return Some(AddressErrorKind::Syntax("no host".to_owned())),
    };
    match url.scheme() {
        "https" => {}
        "http" if http_on_loopback && is_loopback => {}
        "http" if http_on_loopback => return Some(AddressErrorKind::HttpBeyondLoopback),
        _ => return Some(AddressErrorKind::NotHttps),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Some(AddressErrorKind::Userinfo);
    }
    (url.query().is_some() || url.fragment().is_some()).then_some(AddressErrorKind::QueryOrFragment)
}

impl fmt::Debug for EndpointUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// The error of an address that cannot be an [`EndpointUrl`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}, found {found}")]
#[non_exhaustive]
pub struct AddressError {
    /// The kind of the error.
    pub reason: AddressErrorKind,
    /// The address, cut and escaped.
    pub found: String,
}

/// The kind of an [`AddressError`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressErrorKind {
    /// The text is not an absolute address with a host, for this reason.
    #[error("expected an absolute address ({0})")]
    Syntax(String),
    /// The address is not https (Specification: "All exchanges use HTTPS").
    #[error("expected an https address")]
    NotHttps,
    /// The address is http for a host beyond loopback, the only place where http may be allowed.
    #[error("expected https, or http on a loopback address")]
    HttpBeyondLoopback,
    /// The address has a user name or password. Use the API-key header for a secret.
    #[error("expected an address without user name and password")]
    Userinfo,
    /// The address has a query or a fragment.
    #[error("expected an address without query and fragment")]
    QueryOrFragment,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn https_unless_loopback_was_allowed() {
        let fault = |text: &str, danger| {
            EndpointUrl::check(text, danger)
                .err()
                .map(|error| error.reason)
        };
        assert_eq!(fault("https://api.example.test/base", false), None);
        for text in [
            "http://127.0.0.1:8080",
            "http://[::1]:1",
            "http://localhost",
            "http://LOCALHOST",
        ] {
            assert_eq!(fault(text, true), None, "{text}");
            assert_eq!(
                fault(text, false),
                Some(AddressErrorKind::NotHttps),
                "{text}"
            );
        }
        for text in [
            "http://api.example.test",
            "http://128.0.0.1",
            "http://localhost.example.test",
            "http://0.0.0.0",
        ] {
            assert_eq!(
                fault(text, true),
                Some(AddressErrorKind::HttpBeyondLoopback),
                "{text}"
            );
        }
        for (text, expected) in [
            ("ftp://localhost", AddressErrorKind::NotHttps),
            (
                "localhost",
                AddressErrorKind::Syntax("relative URL without a base".to_owned()),
            ),
            ("data:,x", AddressErrorKind::Syntax("no host".to_owned())),
            (
                "",
                AddressErrorKind::Syntax("relative URL without a base".to_owned()),
            ),
            (
                "https://u:secret@api.example.test",
                AddressErrorKind::Userinfo,
            ),
            (
                "https://api.example.test?x=1",
                AddressErrorKind::QueryOrFragment,
            ),
            (
                "https://api.example.test#x",
                AddressErrorKind::QueryOrFragment,
            ),
        ] {
            assert_eq!(fault(text, true), Some(expected), "{text}");
        }
        let error = EndpointUrl::check("https://u:secret@api.example.test", true).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("secret"));
    }

    #[test]
    fn paths_are_joined_below_the_base() {
        for base in ["https://a.example.test/x", "https://a.example.test/x/"] {
            let joined = EndpointUrl::parse(base).unwrap().join("/v1.0/auth");
            assert_eq!(joined.as_str(), "https://a.example.test/x/v1.0/auth");
        }
        let root = EndpointUrl::parse("https://a.example.test").unwrap();
        assert_eq!(
            root.join("v1.0/auth").as_str(),
            "https://a.example.test/v1.0/auth"
        );
    }
}
