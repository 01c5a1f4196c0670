//! Access to the page, and the rules for browsers that show it.

use super::{Refused, control, is_asset};
use axum::extract::{Query, Request, State};
use axum::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, LOCATION, REFERRER_POLICY,
    SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use bankrail::values::SecretString;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use std::net::IpAddr;
use std::sync::Arc;

const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; \
     form-action 'self'; frame-ancestors 'none'",
);

/// The token of the link, and the cookie that it is exchanged for.
pub(super) struct Guard {
    token: SecretString,
    /// The name of the cookie, which differs for each token. Browsers send cookies to all ports of
    /// a host, so the cookies of two providers' pages would otherwise replace each other.
    cookie_name: String,
    cookie: SecretString,
}

#[derive(Deserialize)]
struct Link {
    token: Option<String>,
}

impl Guard {
    pub(super) fn new(token: &str) -> Self {
        // The cookie opens the page like the token, so it is derived from the token and also a
        // secret.
        let (mut name, cookie) = (derived("cookie name", token), derived("cookie", token));
        name.truncate(12);
        Self {
            token: token.into(),
            cookie_name: format!("bankrail-{name}"),
            cookie: cookie.into(),
        }
    }

    fn cookie_matches(&self, headers: &HeaderMap) -> bool {
        let texts = headers
            .get_all(COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok());
        let mut pairs = texts
            .flat_map(|text| text.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| name == self.cookie_name && self.cookie.matches(value.as_bytes()))
    }

    /// Returns the answer to a request that must not reach the page; `None` for all others.
    fn intercept(&self, request: &Request) -> Option<Response> {
        let (uri, headers) = (request.uri(), request.headers());
        if !is_for_loopback(uri, headers) {
            return Some(Refused::HOST.into_response());
        }
        let is_button = request.method() == Method::POST && uri.path() == control::PATH;
        if request.method() != Method::GET && !is_button {
            return Some(
                (
                    StatusCode::METHOD_NOT_ALLOWED,
                    [(ALLOW, "GET")],
                    "expected GET\n",
                )
                    .into_response(),
            );
        }
        // Browsers send this header themselves, and no site can change it.
        if is_button
            && headers
                .get("sec-fetch-site")
                .is_some_and(|site| site != "same-origin")
        {
            return Some(Refused::BUTTON.into_response());
        }
        // The page of a refusal has the style of the others.
        if is_asset(uri.path()) {
            return None;
        }
        let link = Query::<Link>::try_from_uri(uri)
            .ok()
            .filter(|_| uri.path() == "/");
        match link.and_then(|Query(link)| link.token) {
            Some(token) if self.token.matches(token.as_bytes()) => Some(self.enter()),
            Some(_) => Some(Refused::TOKEN.into_response()),
            None if self.cookie_matches(headers) => None,
            None => Some(Refused::TOKEN.into_response()),
        }
    }

    /// Gives the browser its cookie, and an address without the token.
    fn enter(&self) -> Response {
        let (name, value) = (&self.cookie_name, self.cookie.expose_secret());
        // The cookie is not `Secure`, because the page is served over HTTP on loopback.
        let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict");
        (
            StatusCode::SEE_OTHER,
            [(LOCATION, "/"), (SET_COOKIE, &cookie)],
        )
            .into_response()
    }
}

/// Returns a secret for one purpose, which does not reveal the token that it is made of.
pub(super) fn derived(purpose: &str, token: &str) -> String {
    let hash = Sha256::new()
        .chain_update(purpose)
        // No purpose has this byte, so the boundary between purpose and token is unambiguous.
        .chain_update([0])
        .chain_update(token)
        .finalize();
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Answers requests that must not reach the page, and sets the headers of all answers.
pub(super) async fn guard(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let mut answer = match guard.intercept(&request) {
        Some(answer) => answer,
        None => next.run(request).await,
    };
    let set = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            HeaderValue::from_static("same-origin"),
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            HeaderValue::from_static("same-origin"),
        ),
    ];
    answer.headers_mut().extend(set);
    answer
}

/// Returns true if the request names a loopback address as its host. With a foreign name that
/// resolves to loopback (DNS rebinding), the page would belong to the foreign site.
fn is_for_loopback(uri: &Uri, headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return false;
    };
    let Some(host) = host.to_str().ok().and_then(|host| host.parse().ok()) else {
        return false;
    };
    is_loopback(&host) && uri.authority().is_none_or(is_loopback)
}

fn is_loopback(authority: &Authority) -> bool {
    let host = authority.host();
    let address: Option<IpAddr> = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .ok();
    host.eq_ignore_ascii_case("localhost") || address.is_some_and(|address| address.is_loopback())
}
