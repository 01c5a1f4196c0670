//! Raw calls, without a client that would correct anything.

use super::Target;
use bankrail_client_assertion::token::FORM_CONTENT_TYPE;
use bankrail_values::causes;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName};
use reqwest::{Method, Url};

/// The maximum number of bytes of an answer that are read.
const MAX_ANSWER_BYTES: usize = 32 << 20;

/// One request. A header that occurs twice is sent twice.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: Vec<(HeaderName, String)>,
    pub(super) body: Vec<u8>,
}

impl Call {
    /// Returns a statement request with all required parts.
    pub(super) fn statement(target: &Target, token: &str, request: &serde_json::Value) -> Self {
        let headers = vec![
            (
                target.api_key_header.clone(),
                target.customer.api_key.expose_secret().to_owned(),
            ),
            (AUTHORIZATION, format!("Bearer {token}")),
            (CONTENT_TYPE, "application/json".to_owned()),
        ];
        let body = request.to_string().into_bytes();
        Self {
            method: Method::POST,
            url: target.statement_url.clone(),
            headers,
            body,
        }
    }

    /// Returns a token request with a form.
    pub(super) fn token(target: &Target, form: &[(&str, String)]) -> Self {
        let headers = vec![
            (
                target.api_key_header.clone(),
                target.customer.api_key.expose_secret().to_owned(),
            ),
            (CONTENT_TYPE, FORM_CONTENT_TYPE.to_owned()),
        ];
        let body = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(form)
            .finish()
            .into_bytes();
        Self {
            method: Method::POST,
            url: target.token_url.clone(),
            headers,
            body,
        }
    }

    /// Removes a header.
    pub(super) fn without(mut self, name: &HeaderName) -> Self {
        self.headers.retain(|(found, _)| found != name);
        self
    }

    /// Replaces the value of a header.
    pub(super) fn with(self, name: &HeaderName, value: impl Into<String>) -> Self {
        let mut call = self.without(name);
        call.headers.push((name.clone(), value.into()));
        call
    }
}

/// One answer.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

impl Answer {
    /// Returns the text of a header that occurs once.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        let value = values.next()?;
        if values.next().is_some() {
            return None;
        }
        value.to_str().ok()
    }

    /// Returns the whole seconds of Retry-After; `None` for a date, which the judge does not wait
    /// for.
    pub(super) fn retry_after(&self) -> Option<u64> {
        self.header("retry-after")?.trim().parse().ok()
    }
}

/// Sends a call once.
///
/// # Errors
/// The reason why there is no answer, without the address.
pub(super) async fn send(client: &reqwest::Client, call: Call) -> Result<Answer, String> {
    let mut request = client.request(call.method, call.url);
    for (name, value) in call.headers {
        request = request.header(name, value);
    }
    let said = |error: reqwest::Error| causes(&error.without_url());
    let mut response = request.body(call.body).send().await.map_err(said)?;
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await.map_err(said)? {
        // Checks the length piece by piece, because a `Content-Length` may be absent or wrong.
        if body.len() + part.len() > MAX_ANSWER_BYTES {
            return Err(format!("an answer of more than {MAX_ANSWER_BYTES} bytes"));
        }
        body.extend_from_slice(&part);
    }
    let (status, headers) = (
        response.status().as_u16(),
        std::mem::take(response.headers_mut()),
    );
    Ok(Answer {
        status,
        headers,
        body,
    })
}
