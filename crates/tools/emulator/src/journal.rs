//! The journal of calls: the parts that may be shown, and the filter.

use crate::call::{Call, Endpoint};
use bankrail_http::names::API_KEY;
use bytes::Bytes;
use http::header::{AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION, SET_COOKIE};
use http::{HeaderMap, HeaderValue};
use serde_json::{Map, Value, json};

/// The text in place of a secret.
pub(crate) const MASK: &str = "(masked)";

/// The least length of a signature's text: that of 32 bytes in base64url.
const MIN_SIGNATURE_CHARS: usize = 43;

/// A filter of the journal's calls, with all of whose conditions a call agrees.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallFilter {
    pub(crate) endpoint: Option<Endpoint>,
    pub(crate) customer: Option<String>,
    pub(crate) status: Option<u16>,
    /// A text that the body of the request contains.
    pub(crate) body: Option<String>,
    /// A text that the body of the answer contains.
    pub(crate) answer: Option<String>,
    /// Only calls with a greater number than this.
    pub(crate) after: u64,
}

impl CallFilter {
    /// True if a call passes the filter.
    pub(crate) fn matches(&self, call: &Call) -> bool {
        let has = |body: &Bytes, part: &String| String::from_utf8_lossy(body).contains(part);
        call.number > self.after
            && self
                .endpoint
                .is_none_or(|endpoint| call.endpoint == endpoint)
            && self
                .customer
                .as_ref()
                .is_none_or(|customer| call.customer.as_ref() == Some(customer))
            && self.status.is_none_or(|status| call.status == Some(status))
            && self.body.as_ref().is_none_or(|part| has(&call.body, part))
            && self
                .answer
                .as_ref()
                .is_none_or(|part| has(&call.answer, part))
    }
}

/// Masks the secrets of a call: API keys, tokens, and the signatures of assertions.
pub(crate) fn mask(call: &mut Call) {
    for (name, value) in call.headers.iter_mut().chain(&mut call.answer_headers) {
        let secrets = [
            API_KEY,
            AUTHORIZATION,
            PROXY_AUTHORIZATION,
            COOKIE,
            SET_COOKIE,
        ];
        if value.is_sensitive() || secrets.contains(name) {
            *value = HeaderValue::from_static(MASK);
        }
    }
    for body in [&mut call.body, &mut call.answer] {
        *body = masked(&String::from_utf8_lossy(body)).into();
    }
}

fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let is_of_word =
        |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    let mut rest = text;
    while let Some(start) = rest.find(is_of_word) {
        let (before, word) = rest.split_at(start);
        let (word, after) = word.split_at(
            word.find(|character| !is_of_word(character))
                .unwrap_or(word.len()),
        );
        out.push_str(before);
        // A JWT, or the value after the name of a token.
        let is_token = out.ends_with("access_token\":\"") || out.ends_with("access_token=");
        match word.rsplit_once('.') {
            _ if is_token => out.push_str(MASK),
            Some((signed, signature))
                if signed.contains('.') && signature.len() >= MIN_SIGNATURE_CHARS =>
            {
                out.extend([signed, ".", MASK]);
            }
            _ => out.push_str(word),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Returns the form of a call that the journal shows.
pub(crate) fn shown(call: &Call) -> Value {
    let mut call = call.clone();
    mask(&mut call);
    let headers = |headers: &HeaderMap| -> Map<String, Value> {
        let shown = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into();
        headers
            .iter()
            .map(|(name, value)| (name.to_string(), shown(value)))
            .collect()
    };
    json!({
        "number": call.number,
        "at": call.at.to_string(),
        "endpoint": call.endpoint.name(),
        "customer": call.customer,
        "request_key": call.request_key.map(|key| key.to_string()),
        "took_ms": u64::try_from(call.took.as_millis()).unwrap_or(u64::MAX),
        "fault": call.fault.as_ref().map(ToString::to_string),
        "reason": call.reason,
        "request": {
            "method": call.method,
            "path": call.path,
            "headers": headers(&call.headers),
            "body": String::from_utf8_lossy(&call.body),
        },
        "answer": {
            "status": call.status,
            "headers": headers(&call.answer_headers),
            "body": String::from_utf8_lossy(&call.answer),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankrail_values::Timestamp;

    #[test]
    fn secrets_are_masked() {
        let signature = "s".repeat(MIN_SIGNATURE_CHARS);
        for (text, expected) in [
            (
                format!("a=b&client_assertion=eyJh.eyJz.{signature}&c=d"),
                "a=b&client_assertion=eyJh.eyJz.(masked)&c=d",
            ),
            (
                format!("{{\"x\":\"eyJh.eyJz.{signature}\"}}"),
                "{\"x\":\"eyJh.eyJz.(masked)\"}",
            ),
            (
                "{\"access_token\":\"abc-_1\",\"n\":1.25}".to_owned(),
                "{\"access_token\":\"(masked)\",\"n\":1.25}",
            ),
            (
                "{\"access_token\":\"abc".to_owned(),
                "{\"access_token\":\"(masked)",
            ),
            ("access_token=abc".to_owned(), "access_token=(masked)"),
            (
                "10.00 AUD, bank.example.org 👍".to_owned(),
                "10.00 AUD, bank.example.org 👍",
            ),
        ] {
            assert_eq!(masked(&text), expected);
            assert_eq!(masked(expected), expected, "twice");
        }
        let mut call = Call::new(Endpoint::Token, Timestamp::UNIX_EPOCH);
        call.headers
            .insert(API_KEY, HeaderValue::from_static("k-123"));
        call.headers
            .insert(AUTHORIZATION, HeaderValue::from_static("Bearer t-123"));
        call.answer = b"\xff{\"access_token\":\"t-123\"}"[..].into();
        let shown = shown(&call).to_string();
        assert!(
            !shown.contains("-123") && shown.contains("(masked)"),
            "{shown}"
        );
    }

    #[test]
    fn a_filter_is_all_that_it_says() {
        let mut call = Call::new(Endpoint::Statement, Timestamp::UNIX_EPOCH);
        (call.number, call.status, call.customer) = (3, Some(429), Some("ACME".to_owned()));
        (call.body, call.answer) = ("{\"accountId\":\"1\"}".into(), "EC42901".into());
        let filter = CallFilter {
            endpoint: Some(Endpoint::Statement),
            customer: Some("ACME".to_owned()),
            status: Some(429),
            body: Some("accountId".to_owned()),
            answer: Some("EC429".to_owned()),
            after: 2,
        };
        assert!(filter.matches(&call) && CallFilter::default().matches(&call));
        let changes: [fn(&mut CallFilter); 6] = [
            |other| other.endpoint = Some(Endpoint::Token),
            |other| other.customer = Some("OTHER".to_owned()),
            |other| other.status = Some(200),
            |other| other.body = Some("cursor".to_owned()),
            |other| other.answer = Some("payload".to_owned()),
            |other| other.after = 3,
        ];
        for change in changes {
            let mut other = filter.clone();
            change(&mut other);
            assert!(!other.matches(&call), "{other:?}");
        }
    }
}
