//! The HTTP client of both judges.

use crate::error::JudgeError;
use bankrail_http::Proxy;
use bankrail_http::tls::{ClientCertificate, TlsRoots, client_config};
use reqwest::{Client, NoProxy, Url, redirect, retry};
use std::time::Duration;

/// Reads an address to call (Specification: "Authentication", rule 5).
///
/// # Errors
/// [`JudgeError::Address`] if the text is not such an address.
pub(crate) fn address(text: &str) -> Result<Url, JudgeError> {
    let url = Url::parse(text)
        .ok()
        .filter(|url| url.scheme() == "https" && url.has_host());
    url.filter(|url| url.username().is_empty() && url.password().is_none())
        .ok_or(JudgeError::Address)
}

/// Appends a path to the path of an address.
pub(crate) fn below(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}{path}", base.path().trim_end_matches('/')));
    url
}

/// Returns a client that sends each request once, unchanged, and waits up to `timeout` for the
/// answer.
pub(crate) fn client(
    roots: &TlsRoots,
    certificate: Option<&ClientCertificate>,
    proxy: Option<&Proxy>,
    timeout: Duration,
) -> Result<Client, JudgeError> {
    let failed = |error: reqwest::Error| JudgeError::Client(Box::new(error.without_url()));
    let mut client = Client::builder()
        .tls_backend_preconfigured(client_config(Some(roots), certificate)?)
        .https_only(true)
        // A redirect is an answer to judge, so it is not followed.
        .redirect(redirect::Policy::none())
        .referer(false)
        // The proxy of the environment is not used, because it could answer in place of the judged
        // side.
        .no_proxy()
        // A call is not retried, because it would count twice.
        .retry(retry::never())
        // A server may close an idle connection at any time, which would look like a fault of the
        // server.
        .pool_max_idle_per_host(0)
        .user_agent(concat!("bankrail-conformance/", env!("CARGO_PKG_VERSION")))
        .timeout(timeout);
    if let Some(proxy) = proxy {
        let through = reqwest::Proxy::https(proxy.expose_url().as_str()).map_err(failed)?;
        client = client.proxy(through.no_proxy(NoProxy::from_string(proxy.exceptions())));
    }
    client.build().map_err(failed)
}
