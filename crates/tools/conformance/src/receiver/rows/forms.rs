//! Bodies that are no envelope; and what is sensible to refuse, although SPEC.md does not say that
//! a receiver judges a message before it acknowledges it.

use super::super::messages::{with, without};
use super::deliveries::{ECHOING, MEMBERS, REQUEST_KEYS};
use super::usual as usually;
use super::{
    Asks, BEYOND, EachKind, FIRST, Make, MessageKind, On, Right, Row, WORKING, one, refuses, same,
};
use crate::invented::Invented;
use bankrail_webhook::headers::{CORRELATION_ID, MESSAGE_ID, REQUEST_KEY};
use http::Method;
use serde_json::{Value, json};

pub(super) const ROWS: &[Row] = &[
    refuses(
        "S9.1",
        WORKING,
        "takes {one} in secured_payload only",
        &[
            ("an empty body", Make::Body(|_, _| String::new())),
            (
                "a message that is not sealed",
                Make::Body(|_, usual| usual.to_owned()),
            ),
            (
                "a sealed message without JSON around it",
                Make::Body(|sealed, _| sealed.to_owned()),
            ),
            (
                "JSON without secured_payload",
                Make::Body(|sealed, _| json!({"payload": sealed}).to_string()),
            ),
            (
                "secured_payload as a number",
                Make::Body(|_, _| r#"{"secured_payload":1}"#.to_owned()),
            ),
            (
                "secured_payload as null",
                Make::Body(|_, _| r#"{"secured_payload":null}"#.to_owned()),
            ),
            (
                "secured_payload as an object",
                Make::Body(|sealed, _| json!({"secured_payload": {"value": sealed}}).to_string()),
            ),
            (
                "secured_payload as an array",
                Make::Body(|sealed, _| json!({"secured_payload": [sealed]}).to_string()),
            ),
            (
                "an empty secured_payload",
                Make::Body(|_, _| r#"{"secured_payload":""}"#.to_owned()),
            ),
            (
                "an array around the envelope",
                Make::Body(|sealed, _| json!([{"secured_payload": sealed}]).to_string()),
            ),
            (
                "half an envelope",
                Make::Body(|sealed, _| format!("{{\"secured_payload\":\"{sealed}")),
            ),
            (
                "four of five parts",
                Make::Body(|sealed, _| {
                    envelope(sealed.rsplit_once('.').map_or(sealed, |(parts, _)| parts))
                }),
            ),
            (
                "six parts",
                Make::Body(|sealed, _| envelope(&format!("{sealed}.AA"))),
            ),
            (
                "parts that are not base64url",
                Make::Body(|_, _| envelope("~.~.~.~.~")),
            ),
            (
                "GET, which has no body",
                Make::Sent(|usual| usual.method(Method::GET)),
            ),
        ],
    ),
    refuses(
        "S9.1",
        WORKING,
        "takes no envelope of {one} with text after it",
        &[(
            "text after the envelope",
            Make::Body(|sealed, _| envelope(sealed) + "}"),
        )],
    ),
    usually(
        "takes no envelope of {one} that has secured_payload twice",
        &[(
            "secured_payload twice, of which the last is good",
            Make::Body(|sealed, _| {
                envelope(sealed).replacen('{', "{\"secured_payload\":\"x\",", 1)
            }),
        )],
    ),
    usually(
        "takes {one} as application/json only",
        &[(
            "text/plain",
            Make::Sent(|usual| usual.with("Content-Type", "text/plain")),
        )],
    ),
    required(
        MESSAGE_IDS,
        WORKING,
        "X-Message-Id of {one} is required and a UUID",
        &[
            ("none", Make::Sent(|usual| usual.without(MESSAGE_ID))),
            (
                "an empty one",
                Make::Sent(|usual| usual.with(MESSAGE_ID, "")),
            ),
            (
                "one that is no UUID",
                Make::Sent(|usual| usual.with(MESSAGE_ID, "7")),
            ),
            (
                "one with a digit less",
                Make::Sent(|usual| usual.with(MESSAGE_ID, SHORT)),
            ),
            (
                "one with a letter beyond f",
                Make::Sent(|usual| usual.with(MESSAGE_ID, BEYOND_F)),
            ),
            (
                "five groups of one digit",
                Make::Sent(|usual| usual.with(MESSAGE_ID, "1-1-1-1-1")),
            ),
            (
                "one in braces",
                Make::Sent(|usual| usual.with(MESSAGE_ID, IN_BRACES)),
            ),
        ],
    ),
    required(
        REQUEST_KEYS,
        ECHOING,
        "X-RequestKey of {one} is required and a UUID",
        &[
            ("none", Make::Sent(|usual| usual.without(REQUEST_KEY))),
            (
                "an empty one",
                Make::Sent(|usual| usual.with(REQUEST_KEY, "")),
            ),
            (
                "one that is no UUID",
                Make::Sent(|usual| usual.with(REQUEST_KEY, "7")),
            ),
            (
                "one with a digit less",
                Make::Sent(|usual| usual.with(REQUEST_KEY, SHORT)),
            ),
            (
                "one with a letter beyond f",
                Make::Sent(|usual| usual.with(REQUEST_KEY, BEYOND_F)),
            ),
            (
                "five groups of one digit",
                Make::Sent(|usual| usual.with(REQUEST_KEY, "1-1-1-1-1")),
            ),
            (
                "one in braces",
                Make::Sent(|usual| usual.with(REQUEST_KEY, IN_BRACES)),
            ),
        ],
    ),
    Row {
        right: Right::Judged,
        ..required(
            CORRELATIONS,
            ECHOING,
            "X-Correlation-Id of {one} is a UUID, if the receiver judges it",
            &[
                (
                    "an empty one",
                    Make::Sent(|usual| usual.with(CORRELATION_ID, "")),
                ),
                (
                    "one that is no UUID",
                    Make::Sent(|usual| usual.with(CORRELATION_ID, "7")),
                ),
                (
                    "one with a digit less",
                    Make::Sent(|usual| usual.with(CORRELATION_ID, SHORT)),
                ),
            ],
        )
    },
    Row {
        id: same("S21.23"),
        on: FIRST,
        title: "priority is one of its two values, and UNATTENDED alone for queries, if receivers judge it",
        right: Right::Judged,
        asks: Asks::WrongPriorities,
    },
    refuses(
        BEYOND,
        On::Each(|session| {
            session
                .target
                .api_key
                .as_ref()
                .map(|_| session.kinds())
                .unwrap_or_default()
        }),
        "takes {one} with the API key only",
        &[
            ("no API key", Make::ApiKey(None)),
            ("an empty API key", Make::ApiKey(Some(""))),
            (
                "another API key",
                Make::ApiKey(Some("0B7C2F6E8A1D41EB8DCD0242AC130003")),
            ),
        ],
    ),
    messages(
        MEMBERS,
        "takes {one} with every required member only",
        |invented, kind| {
            let members = invented
                .minimal(kind)
                .as_object()
                .cloned()
                .unwrap_or_default();
            let cases = members.keys().flat_map(|name| {
                [
                    (
                        format!("one without {name}"),
                        without(invented.usual(kind), name),
                    ),
                    (
                        format!("one with null as {name}"),
                        with(invented.usual(kind), &json!({ name.as_str(): null })),
                    ),
                ]
            });
            cases.collect()
        },
    ),
    messages(
        MEMBERS,
        "the receiver of {name} takes no other message",
        |invented, kind| {
            let others = MessageKind::ALL.into_iter().filter(|other| *other != kind);
            let others = others.map(|other| (one(other), invented.usual(other)));
            let none = [
                ("an empty object", json!({})),
                ("an array", json!([])),
                ("null", Value::Null),
            ];
            others
                .chain(none.map(|(what, message)| (what.to_owned(), message)))
                .collect()
        },
    ),
    usually(
        "the receiver of {name} takes no member twice",
        &[(
            "a member that is there twice",
            Make::Text(|usual| {
                usual
                    .replacen(
                        '{',
                        "{\"creation_date_time\":\"2026-11-22T01:02:03.450Z\",",
                        1,
                    )
                    .into_bytes()
            }),
        )],
    ),
    refuses(
        "S9.1",
        WORKING,
        "the receiver of {name} takes nothing but JSON",
        &[
            ("text that is not JSON", Make::Text(|_| b"hello".to_vec())),
            (
                "JSON that ends in the middle",
                Make::Text(|_| b"{\"creation_date_time\":\"2026-1".to_vec()),
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

/// A UUID without its first digit, and one with a letter that is no digit.
const SHORT: &str = "b7c2f6e-8a1d-41eb-8dcd-0242ac130003";
const BEYOND_F: &str = "0g7c2f6e-8a1d-41eb-8dcd-0242ac130003";
const IN_BRACES: &str = "{0b7c2f6e-8a1d-41eb-8dcd-0242ac130003}";
pub(super) const MESSAGE_IDS: EachKind<&str> = EachKind {
    mandate_outcome: "S21.6",
    mandate_notification: "S21.10",
    payment_outcome: "S21.15",
    query: "S21.19",
};
const CORRELATIONS: EachKind<&str> = EachKind {
    mandate_outcome: "S21.7",
    mandate_notification: BEYOND,
    payment_outcome: "S21.16",
    query: BEYOND,
};

const fn required(
    id: EachKind<&'static str>,
    on: On,
    title: &'static str,
    deliveries: &'static [(&'static str, Make)],
) -> Row {
    Row {
        id,
        on,
        title,
        right: Right::Refused,
        asks: Asks::Deliveries(deliveries),
    }
}

const fn messages(
    id: EachKind<&'static str>,
    title: &'static str,
    messages: fn(&Invented, MessageKind) -> Vec<(String, Value)>,
) -> Row {
    Row {
        id,
        on: WORKING,
        title,
        right: Right::Refused,
        asks: Asks::Made(messages),
    }
}

fn envelope(sealed: &str) -> String {
    json!({"secured_payload": sealed}).to_string()
}
