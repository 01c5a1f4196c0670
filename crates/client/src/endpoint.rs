//! Addresses that a client may call: https, or http on loopback if that is allowed.

use bankrail_values::excerpt;
use url::{Host, Url};

/// An address that a client may send its secrets to.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint(Url);

impl Endpoint {
    /// Reads the base address of a service.
    pub(crate) fn parse(text: &str, http_on_loopback: bool) -> Result<Self, AddressError> {
        let refused = |reason| AddressError { reason, found: excerpt(text) };
        let url = Url::parse(text).map_err(|_| refused(AddressFault::Syntax))?;
        let loopback = match url.host() {
            Some(Host::Ipv4(ip)) => ip.is_loopback(),
            Some(Host::Ipv6(ip)) => ip.is_loopback(),
            Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
            None => return Err(refused(AddressFault::Syntax)),
        };
        match url.scheme() {
            "https" => {}
            "http" if http_on_loopback && loopback => {}
            "http" if http_on_loopback => return Err(refused(AddressFault::HttpBeyondLoopback)),
            _ => return Err(refused(AddressFault::NotHttps)),
        }
        if !url.username().is_empty() || url.password().is_some() {
            // The text has a user name or a password, so no part of it is shown.
            return Err(AddressError { reason: AddressFault::Userinfo, found: "(not shown)".to_owned() });
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refused(AddressFault::QueryOrFragment));
        }
        Ok(Self(url))
    }

    /// The address of a path below this one, whether or not this one ends in a slash.
    #[cfg(feature = "statement")]
    pub(crate) fn join(&self, path: &str) -> Self {
        let mut url = self.0.clone();
        url.set_path(&format!("{}/{}", self.0.path().trim_end_matches('/'), path.trim_start_matches('/')));
        Self(url)
    }

    pub(crate) fn url(&self) -> &Url {
        &self.0
    }

    pub(crate) fn is_plain_http(&self) -> bool {
        self.0.scheme() == "http"
    }
}

/// An address that a client refuses to call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}, found {found}")]
#[non_exhaustive]
pub struct AddressError {
    /// What is wrong.
    pub reason: AddressFault,
    /// The address, cut and escaped.
    pub found: String,
}

/// What is wrong with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressFault {
    /// Not an absolute address with a host.
    #[error("expected an absolute address")]
    Syntax,
    /// Not https (Specification: "All exchanges use HTTPS").
    #[error("expected an https address")]
    NotHttps,
    /// http, which is allowed on loopback only, for another host.
    #[error("expected https, or http on a loopback address")]
    HttpBeyondLoopback,
    /// A user name or password in the address.
    #[error("expected an address without user name and password")]
    Userinfo,
    /// A query or a fragment.
    #[error("expected an address without query and fragment")]
    QueryOrFragment,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn https_unless_loopback_was_allowed() {
        let fault = |text: &str, danger| Endpoint::parse(text, danger).err().map(|error| error.reason);
        assert_eq!(fault("https://api.example.test/base", false), None);
        for text in ["http://127.0.0.1:8080", "http://[::1]:1", "http://localhost"] {
            assert_eq!(fault(text, true), None, "{text}");
            assert_eq!(fault(text, false), Some(AddressFault::NotHttps), "{text}");
        }
        for text in ["http://api.example.test", "http://128.0.0.1", "http://localhost.example.test", "http://0.0.0.0"] {
            assert_eq!(fault(text, true), Some(AddressFault::HttpBeyondLoopback), "{text}");
        }
        for (text, expected) in [
            ("ftp://localhost", AddressFault::NotHttps),
            ("localhost", AddressFault::Syntax),
            ("data:,x", AddressFault::Syntax),
            ("", AddressFault::Syntax),
            ("https://u:secret@api.example.test", AddressFault::Userinfo),
            ("https://api.example.test?x=1", AddressFault::QueryOrFragment),
            ("https://api.example.test#x", AddressFault::QueryOrFragment),
        ] {
            assert_eq!(fault(text, true), Some(expected), "{text}");
        }
        let error = Endpoint::parse("https://u:secret@api.example.test", true).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("secret"));
    }

    #[cfg(feature = "statement")]
    #[test]
    fn paths_are_joined_below_the_base() {
        for base in ["https://a.example.test/x", "https://a.example.test/x/"] {
            let joined = Endpoint::parse(base, false).unwrap().join("/v1.0/auth");
            assert_eq!(joined.url().as_str(), "https://a.example.test/x/v1.0/auth");
        }
        let root = Endpoint::parse("https://a.example.test", false).unwrap();
        assert_eq!(root.join("v1.0/auth").url().as_str(), "https://a.example.test/v1.0/auth");
    }
}
