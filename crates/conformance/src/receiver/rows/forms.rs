//! Bodies that are no envelope; and what is sensible to refuse, although SPEC.md does not say that a receiver judges a
//! message before it acknowledges it.

use super::super::messages::{minimal, usual, with, without};
use super::{Asks, BEYOND, Make, MessageKind, On, Right, Row, WORKING, one, refuses, same};
use bankrail_webhook::headers::{MESSAGE_ID, REQUEST_KEY};
use http::Method;
use serde_json::{Value, json};

pub(super) const ROWS: &[Row] = &[
    refuses(
        "S9.1",
        WORKING,
        "takes {one} in secured_payload only",
        &[
            ("an empty body", Make::Body(|_, _| String::new())),
            ("a message that is not sealed", Make::Body(|_, usual| usual.to_owned())),
            ("a sealed message without JSON around it", Make::Body(|sealed, _| sealed.to_owned())),
            ("JSON without secured_payload", Make::Body(|sealed, _| json!({"payload": sealed}).to_string())),
            ("secured_payload as a number", Make::Body(|_, _| r#"{"secured_payload":1}"#.to_owned())),
            ("secured_payload as null", Make::Body(|_, _| r#"{"secured_payload":null}"#.to_owned())),
            (
                "secured_payload as an object",
                Make::Body(|sealed, _| json!({"secured_payload": {"value": sealed}}).to_string()),
            ),
            ("secured_payload as an array", Make::Body(|sealed, _| json!({"secured_payload": [sealed]}).to_string())),
            ("an empty secured_payload", Make::Body(|_, _| r#"{"secured_payload":""}"#.to_owned())),
            ("an array around the envelope", Make::Body(|sealed, _| json!([{"secured_payload": sealed}]).to_string())),
            ("half an envelope", Make::Body(|sealed, _| format!("{{\"secured_payload\":\"{sealed}"))),
            (
                "four of five parts",
                Make::Body(|sealed, _| envelope(sealed.rsplit_once('.').map_or(sealed, |(parts, _)| parts))),
            ),
            ("six parts", Make::Body(|sealed, _| envelope(&format!("{sealed}.AA")))),
            ("parts that are not base64url", Make::Body(|_, _| envelope("~.~.~.~.~"))),
            ("GET, which has no body", Make::Sent(|usual| usual.method(Method::GET))),
        ],
    ),
    refuses(
        BEYOND,
        WORKING,
        "takes no envelope of {one} but one JSON object with each member once",
        &[
            (
                "secured_payload twice, of which the last is good",
                Make::Body(|sealed, _| envelope(sealed).replacen('{', "{\"secured_payload\":\"x\",", 1)),
            ),
            ("text after the envelope", Make::Body(|sealed, _| envelope(sealed) + "}")),
        ],
    ),
    refuses(
        BEYOND,
        WORKING,
        "takes {one} as application/json only",
        &[("text/plain", Make::Sent(|usual| usual.with("Content-Type", "text/plain")))],
    ),
    refuses(
        BEYOND,
        WORKING,
        "X-Message-Id of {one} is required and a UUID",
        &[
            ("none", Make::Sent(|usual| usual.without(MESSAGE_ID))),
            ("an empty one", Make::Sent(|usual| usual.with(MESSAGE_ID, ""))),
            ("one that is no UUID", Make::Sent(|usual| usual.with(MESSAGE_ID, "7"))),
        ],
    ),
    refuses(
        BEYOND,
        On::Each(|session| session.kinds().into_iter().filter(|kind| kind.answers_a_request()).collect()),
        "X-RequestKey of {one} is required and a UUID",
        &[
            ("none", Make::Sent(|usual| usual.without(REQUEST_KEY))),
            ("an empty one", Make::Sent(|usual| usual.with(REQUEST_KEY, ""))),
            ("one that is no UUID", Make::Sent(|usual| usual.with(REQUEST_KEY, "7"))),
        ],
    ),
    refuses(
        BEYOND,
        On::Each(|session| session.target.api_key.as_ref().map(|_| session.kinds()).unwrap_or_default()),
        "takes {one} with the API key only",
        &[
            ("no API key", Make::ApiKey(None)),
            ("an empty API key", Make::ApiKey(Some(""))),
            ("another API key", Make::ApiKey(Some("0B7C2F6E8A1D41EB8DCD0242AC130003"))),
        ],
    ),
    messages("takes {one} with every required member only", |kind| {
        let members = minimal(kind).as_object().cloned().unwrap_or_default();
        let cases = members.keys().flat_map(|name| {
            [
                (format!("one without {name}"), without(usual(kind), name)),
                (format!("one with null as {name}"), with(usual(kind), &json!({ name.as_str(): null }))),
            ]
        });
        cases.collect()
    }),
    messages("the receiver of {name} takes no other message", |kind| {
        let others = MessageKind::ALL.into_iter().filter(|other| *other != kind);
        let others = others.map(|other| (one(other), usual(other)));
        let none = [("an empty object", json!({})), ("an array", json!([])), ("null", Value::Null)];
        others.chain(none.map(|(what, message)| (what.to_owned(), message))).collect()
    }),
    refuses(
        BEYOND,
        WORKING,
        "the receiver of {name} takes nothing but JSON",
        &[
            ("text that is not JSON", Make::Text(|_| b"hello".to_vec())),
            ("JSON that ends in the middle", Make::Text(|_| b"{\"creation_date_time\":\"2026-1".to_vec())),
            (
                "a member that is there twice",
                Make::Text(|usual| {
                    usual.replacen('{', "{\"creation_date_time\":\"2026-11-22T01:02:03.450Z\",", 1).into_bytes()
                }),
            ),
            (
                "bytes that are not UTF-8",
                Make::Text(|mut usual| {
                    usual.truncate(usual.len() - 1);
                    [usual.as_bytes(), b",\"x\":\"\xff\"}"].concat()
                }),
            ),
        ],
    ),
];

const fn messages(title: &'static str, messages: fn(MessageKind) -> Vec<(String, Value)>) -> Row {
    Row { id: same(BEYOND), on: WORKING, title, right: Right::Refused, asks: Asks::Made(messages) }
}

fn envelope(sealed: &str) -> String {
    json!({"secured_payload": sealed}).to_string()
}
