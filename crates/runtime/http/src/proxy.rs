//! The proxy that calls and deliveries go through.

use ipnet::IpNet;
use std::fmt;
use std::net::IpAddr;
use url::{Host, Url};

/// A proxy between this side and the addresses that it calls.
///
/// - `http://` and `https://` proxies get a request for a tunnel (CONNECT, RFC 9110 section
///   9.3.6), `socks5://` and `socks5h://` ones for a connection (RFC 1928). An address without a
///   scheme counts as `http`.
/// - A proxy sees host, port and the bytes of TLS. Calls without TLS never go through one.
/// - `socks5` resolves names on this side; all others resolve them at the proxy.
/// - A user name and a password in the address are for the proxy, percent-encoded. No error and no
///   `Debug` shows them.
///
/// ```
/// use bankrail_http::Proxy;
/// let proxy = Proxy::parse("http://user:secret@proxy.example:3128")?.except("localhost, .bank.internal, 10.0.0.0/8")?;
/// assert_eq!(format!("{proxy:?}"), "http://proxy.example:3128 except localhost,.bank.internal,10.0.0.0/8");
/// assert!(Proxy::parse("ftp://proxy.example").is_err());
/// # Ok::<(), bankrail_http::ProxyError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    url: Url,
    exceptions: String,
}

impl Proxy {
    /// Checks the address of a proxy.
    ///
    /// # Errors
    /// [`ProxyError`] for any other address.
    pub fn parse(text: &str) -> Result<Self, ProxyError> {
        let text = text.trim();
        let with_scheme = match text.contains("://") {
            true => text.to_owned(),
            false => format!("http://{text}"),
        };
        let url = Url::parse(&with_scheme).ok().filter(is_proxy);
        Ok(Self {
            url: url.ok_or(ProxyError::Address)?,
            exceptions: String::new(),
        })
    }

    /// Sets the hosts that are called without the proxy, separated by commas as in `NO_PROXY`:
    /// names with all names below them (`bank.internal`, `.bank.internal` and `*.bank.internal` are
    /// the same), addresses, networks such as `10.0.0.0/8`, or `*` for all.
    ///
    /// # Errors
    /// [`ProxyError`] for any other text, such as one with a port.
    pub fn except(mut self, hosts: &str) -> Result<Self, ProxyError> {
        let hosts = hosts
            .split(',')
            .map(str::trim)
            .filter(|host| !host.is_empty());
        let hosts: Result<Vec<_>, _> = hosts.map(exception).collect();
        self.exceptions = hosts?.join(",");
        Ok(self)
    }

    /// Reads the proxy for https from the environment: `HTTPS_PROXY` or `ALL_PROXY`, with the
    /// exceptions of `NO_PROXY`, or the same in lower case. An empty variable counts as none.
    ///
    /// # Errors
    /// [`ProxyError::Variable`] for a malformed value.
    pub fn from_environment() -> Result<Option<Self>, ProxyError> {
        Self::from_variables(|name| std::env::var_os(name))
    }

    fn from_variables(
        value: impl Fn(&str) -> Option<std::ffi::OsString>,
    ) -> Result<Option<Self>, ProxyError> {
        let first = |names: &[&'static str]| {
            names.iter().find_map(|&name| {
                let value = value(name).filter(|value| !value.is_empty())?;
                // A value that is not Unicode is malformed both as an address and as exceptions.
                Some((
                    name,
                    value.into_string().unwrap_or_else(|_| "\0".to_owned()),
                ))
            })
        };
        let of = |name, error| ProxyError::Variable {
            name,
            source: Box::new(error),
        };
        let Some((name, text)) = first(&["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
        else {
            return Ok(None);
        };
        let proxy = Self::parse(&text).map_err(|error| of(name, error))?;
        match first(&["NO_PROXY", "no_proxy"]) {
            None => Ok(Some(proxy)),
            Some((name, hosts)) => proxy
                .except(&hosts)
                .map(Some)
                .map_err(|error| of(name, error)),
        }
    }

    /// Returns the address, **with user name and password**, for an HTTP client.
    #[must_use]
    #[doc(hidden)]
    pub fn expose_url(&self) -> &Url {
        &self.url
    }

    /// Returns the hosts that are called without the proxy, separated by commas.
    #[must_use]
    #[doc(hidden)]
    pub fn exceptions(&self) -> &str {
        &self.exceptions
    }

    /// Returns true if the proxy resolves names, and this side does not.
    #[must_use]
    #[doc(hidden)]
    pub fn resolves_names(&self) -> bool {
        self.url.scheme() != "socks5"
    }
}

fn is_proxy(url: &Url) -> bool {
    let is_socks = matches!(url.scheme(), "socks5" | "socks5h");
    let (user, password) = (url.username(), url.password().unwrap_or_default());
    (is_socks || matches!(url.scheme(), "http" | "https"))
        && url.host_str().is_some_and(|host| !host.is_empty())
        && url.port() != Some(0)
        && matches!(url.path(), "" | "/")
        && url.query().is_none()
        && url.fragment().is_none()
        // A user name ends at the first colon (RFC 7617 section 2), and SOCKS has one byte for each
        // length (RFC 1929 section 2). A password alone would be sent without a name.
        && !user.to_ascii_lowercase().contains("%3a")
        && (password.is_empty() || !user.is_empty())
        && !(is_socks && user.len().max(password.len()) > 255)
}

/// Returns an excepted host in the spelling that HTTP clients compare.
fn exception(text: &str) -> Result<&str, ProxyError> {
    if text == "*" {
        return Ok(text);
    }
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    if bare.parse::<IpAddr>().is_ok() || text.parse::<IpNet>().is_ok() {
        return Ok(bare);
    }
    let name = text.strip_prefix('*').unwrap_or(text);
    let is_name = |name: &str| {
        let mut bytes = name.bytes();
        !name.is_empty()
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
            && matches!(Host::parse(name), Ok(Host::Domain(_)))
    };
    match name.strip_prefix('.') {
        Some(domain) if is_name(domain) => Ok(name),
        None if name == text && is_name(name) => Ok(name),
        _ => Err(ProxyError::Exceptions),
    }
}

impl fmt::Debug for Proxy {
    /// Prints no user name and no password.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.url.host_str().unwrap_or_default();
        write!(out, "{}://{host}", self.url.scheme())?;
        if let Some(port) = self.url.port() {
            write!(out, ":{port}")?;
        }
        match self.exceptions.as_str() {
            "" => Ok(()),
            hosts => write!(out, " except {hosts}"),
        }
    }
}

/// A proxy that cannot be used. No text shows the value, which may have a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// The address of the proxy.
    #[error(
        "expected a proxy such as http://proxy.example:3128 or socks5h://user:password@proxy.example:1080 with \
         percent-encoded password, found another text (not shown)"
    )]
    Address,
    /// The hosts that are called without the proxy.
    #[error(
        "expected hosts without proxy such as localhost,.bank.internal,10.0.0.0/8, found another \
         part"
    )]
    Exceptions,
    /// A variable of the environment.
    #[error("the environment variable {name} cannot be used")]
    #[non_exhaustive]
    Variable {
        /// The name of the variable.
        name: &'static str,
        /// The fault of its value.
        source: Box<ProxyError>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_malformed_proxy_is_refused_and_its_password_is_never_shown() {
        for text in [
            "proxy.example",
            "proxy.example:3128",
            "https://proxy.example",
            "socks5://10.0.0.1",
            "socks5h://user:secret@[::1]:1080/",
            "http://user:s%40cret%3A@proxy.example:3128",
            "http://user@proxy.example",
        ] {
            let shown = format!("{:?}", Proxy::parse(text).unwrap());
            assert!(
                !shown.contains("cret") && !shown.contains("user"),
                "{shown}"
            );
        }
        let long = format!("socks5://{}:secret@proxy.example", "u".repeat(256));
        for text in [
            "",
            "http://",
            "ftp://u:secret@proxy.example",
            "socks4://proxy.example",
            "http://proxy.example:99999",
            "http://proxy.example:0",
            "http://u:secret@proxy.example/path",
            "http://proxy.example?secret",
            "http://:secret@proxy.example",
            "http://us%3Aer:secret@proxy.example",
            "user:secret@pro xy:1",
            &long,
        ] {
            let error = Proxy::parse(text).unwrap_err();
            assert_eq!(error, ProxyError::Address, "{text}");
            assert!(
                !error.to_string().contains("secret@proxy.example,"),
                "{error}"
            );
        }
    }

    #[test]
    fn exceptions_are_names_addresses_and_networks() {
        let except = |hosts: &str| {
            let proxy = Proxy::parse("proxy.example").unwrap().except(hosts);
            proxy.map(|proxy| proxy.exceptions().to_owned())
        };
        for (hosts, expected) in [
            ("", ""),
            ("*", "*"),
            (
                " localhost , .bank.internal,,10.0.0.0/8 ",
                "localhost,.bank.internal,10.0.0.0/8",
            ),
            (
                "*.bank.internal,[::1],fd00::/8",
                ".bank.internal,::1,fd00::/8",
            ),
        ] {
            assert_eq!(except(hosts).as_deref(), Ok(expected), "{hosts}");
        }
        for hosts in [
            "localhost:8080",
            "10.0.0.0/33",
            "fd00::/129",
            "a/8",
            "http://a.example",
            "a b",
            "*a",
            "*.*",
            "a.*",
            "10.0.0.256",
        ] {
            assert_eq!(except(hosts), Err(ProxyError::Exceptions), "{hosts}");
        }
    }

    #[test]
    fn a_malformed_variable_is_named() {
        let read = |set: &[(&str, &str)]| {
            Proxy::from_variables(|name| {
                let (_, value) = set.iter().find(|(of, _)| *of == name)?;
                Some((*value).into())
            })
        };
        assert_eq!(read(&[("HTTPS_PROXY", ""), ("NO_PROXY", "a b")]), Ok(None));
        let found = read(&[
            ("all_proxy", "socks5h://p.example"),
            ("no_proxy", "a.example"),
        ]);
        let shown = format!("{:?}", found.unwrap().unwrap());
        assert_eq!(shown, "socks5h://p.example except a.example");
        for (set, named) in [
            (&[("HTTPS_PROXY", "htp://p.example")][..], "HTTPS_PROXY"),
            (
                &[("https_proxy", "p.example"), ("NO_PROXY", "<local>")],
                "NO_PROXY",
            ),
        ] {
            let error = read(set).unwrap_err();
            assert!(
                matches!(error, ProxyError::Variable { name, .. } if name == named),
                "{error}"
            );
        }
    }
}
