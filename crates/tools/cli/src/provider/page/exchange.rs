//! The request and the answer of a call, and the command that repeats it.

use super::text::quoted;
use crate::text::shown_lines;
use bankrail::mailbox::Outgoing;
use bankrail::webhook::DeliveryHeaders;
use bankrail_emulator::{Call, Endpoint};
use http::HeaderMap;
use http::header::{ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use std::fmt::Write as _;

/// The maximum number of characters of a body that are shown. A longer request cannot be repeated
/// with a command.
const MAX_SHOWN_CHARS: usize = 4_000;

/// Returns true if the headers and bodies of a call were recorded.
pub(super) fn is_kept(call: &Call) -> bool {
    !call.headers.is_empty()
}

/// Returns the text of a request: its first line, and its headers and body if they were recorded.
pub(super) fn request(call: &Call) -> String {
    message(
        format!("{} {}", call.method, call.path),
        &call.headers,
        &call.body,
    )
}

/// Returns the text of an answer: its status, and its headers and body if they were recorded.
pub(super) fn answer(call: &Call) -> String {
    let status = call
        .status
        .map_or_else(|| "no answer".to_owned(), |status| status.to_string());
    message(status, &call.answer_headers, &call.answer)
}

/// Returns the text of a message in the outbox: the headers that each of its deliveries has, and
/// its body before it is sealed.
pub(super) fn outgoing(message: &Outgoing) -> String {
    let known = DeliveryHeaders::from_attributes(&message.attributes);
    let headers = known.iter().flat_map(|(headers, _)| headers.pairs());
    let lines: Vec<_> = headers
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    with_body(lines.join("\n"), &message.body)
}

fn message(mut first: String, headers: &HeaderMap, body: &[u8]) -> String {
    for (name, value) in headers {
        // Writing into a string cannot fail.
        let _ = write!(
            first,
            "\n{name}: {}",
            String::from_utf8_lossy(value.as_bytes())
        );
    }
    with_body(first, body)
}

fn with_body(mut text: String, body: &[u8]) -> String {
    let body = String::from_utf8_lossy(body);
    if !body.is_empty() {
        text.push_str("\n\n");
        text.extend(body.chars().take(MAX_SHOWN_CHARS));
    }
    if body.chars().nth(MAX_SHOWN_CHARS).is_some() {
        let _ = write!(text, "\n… {} bytes in all", body.len());
    }
    shown_lines(&text).into_owned()
}

/// The server to which commands send calls again.
pub(super) struct Destination {
    pub(super) issuer: String,
    /// The file of the authority that made the provider's certificate, if the certificate is
    /// generated.
    pub(super) ca: Option<String>,
}

/// Returns the command that sends the request of a call again; `None` if the request was not
/// recorded completely. Secrets are masked in it.
pub(super) fn curl(call: &Call, to: &Destination) -> Option<String> {
    let is_repeatable = is_kept(call) && call.endpoint != Endpoint::Webhook;
    let body = std::str::from_utf8(&call.body)
        .ok()
        .filter(|body| body.len() <= MAX_SHOWN_CHARS && is_repeatable)?;
    let ca = to
        .ca
        .as_ref()
        .map(|file| format!(" --cacert {}", quoted(file)))
        .unwrap_or_default();
    let url = format!("{}{}", to.issuer, call.path);
    let mut line = format!("curl -i{ca} -X {} {}", quoted(&call.method), quoted(&url));
    for (name, value) in &call.headers {
        // Leaves out headers that curl sends by itself.
        if ![
            ACCEPT_ENCODING,
            CONNECTION,
            CONTENT_LENGTH,
            HOST,
            TRANSFER_ENCODING,
        ]
        .contains(name)
        {
            let header = format!("{name}: {}", String::from_utf8_lossy(value.as_bytes()));
            let _ = write!(line, " -H {}", quoted(&header));
        }
    }
    if !body.is_empty() {
        let _ = write!(line, " --data-raw {}", quoted(body));
    }
    Some(shown_lines(&line).into_owned())
}

#[cfg(test)]
mod tests {
    use super::super::tests::world::call;
    use super::*;
    use http::HeaderValue;

    #[test]
    fn a_call_is_repeated_as_it_was_sent() {
        let to = Destination {
            issuer: "https://bank.example".to_owned(),
            ca: Some("/ca.pem".to_owned()),
        };
        let mut sent = call();
        assert_eq!(curl(&sent, &to), None, "nothing was kept");
        sent.headers
            .insert("apikey", HeaderValue::from_static("(masked)"));
        sent.headers
            .insert(HOST, HeaderValue::from_static("bank.example"));
        sent.body = "{\"a\":\"it's\"}".into();
        assert_eq!(
            curl(&sent, &to).unwrap(),
            "curl -i --cacert /ca.pem -X POST https://bank.example/accounts/v2.0/statement -H 'apikey: (masked)' \
             --data-raw '{\"a\":\"it'\\''s\"}'"
        );
        sent.body = vec![b' '; MAX_SHOWN_CHARS + 1].into();
        assert_eq!(curl(&sent, &to), None, "its body is too long for a command");
    }

    #[test]
    fn long_bodies_are_cut() {
        let mut sent = call();
        sent.answer = "é".repeat(MAX_SHOWN_CHARS + 1).into();
        let text = answer(&sent);
        assert!(
            text.starts_with("200\n\né") && text.ends_with("é\n… 8002 bytes in all"),
            "{text}"
        );
        assert_eq!(request(&sent), "POST /accounts/v2.0/statement");
    }
}
