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
const SIGNATURE: usize = 43;

bankrail_values::options! {
    /// A filter of the journal's calls, with all of whose conditions a call agrees.
    ///
    /// ```
    /// use bankrail_emulator::{CallFilter, Endpoint};
    /// let refused = CallFilter::new().endpoint(Endpoint::Token).status(401);
    /// # drop(refused);
    /// ```
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CallFilter {
        /// The endpoint. Default: any.
        pub(crate) endpoint(Endpoint => Some): Option<Endpoint> = None,
        /// The customer's code. Default: any, and none.
        pub(crate) customer(String => Some): Option<String> = None,
        /// The status of the answer. Default: any, and none.
        pub(crate) status(u16 => Some): Option<u16> = None,
        /// A text that the body of the request contains. Default: any body.
        pub(crate) body(String => Some): Option<String> = None,
        /// A text that the body of the answer has. Default: any body.
        pub(crate) answer(String => Some): Option<String> = None,
        /// Only calls with a greater number than this. Default: 0.
        after: u64 = 0,
    }
}

impl CallFilter {
    /// True if a call passes the filter.
    #[must_use]
    pub fn matches(&self, call: &Call) -> bool {
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

/// Puts a mask in place of the secrets of a call: API keys, tokens, and the signatures of
/// assertions.
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
            Some((signed, signature)) if signed.contains('.') && signature.len() >= SIGNATURE => {
                out.extend([signed, ".", MASK]);
            }
            _ => out.push_str(word),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A call as the journal shows it.
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
        let signature = "s".repeat(SIGNATURE);
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
        let filter = CallFilter::new()
            .endpoint(Endpoint::Statement)
            .customer("ACME".to_owned())
            .status(429)
            .body("accountId".to_owned())
            .answer("EC429".to_owned())
            .after(2);
        assert!(filter.matches(&call) && CallFilter::new().matches(&call));
        for other in [
            filter.clone().endpoint(Endpoint::Token),
            filter.clone().customer("OTHER".to_owned()),
            filter.clone().status(200),
            filter.clone().body("cursor".to_owned()),
            filter.clone().answer("payload".to_owned()),
            filter.clone().after(3),
        ] {
            assert!(!other.matches(&call), "{other:?}");
        }
    }
}
