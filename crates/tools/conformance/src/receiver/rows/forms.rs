//! Bodies that are no envelope, and messages that a sensible receiver refuses, although SPEC.md
//! does not demand it.

use super::super::messages::{with, without};
use super::usual as usually;
use super::{
    BEYOND, CORRELATIONS, Content, EachKind, Expected, Kinds, MEMBERS, MESSAGE_IDS, MessageKind,
    REQUEST_KEYS, Recipe, Row, one, refuses, same,
};
use crate::invented::Invented;
use bankrail_webhook::headers::{CORRELATION_ID, MESSAGE_ID, REQUEST_KEY};
use http::Method;
use serde_json::{Value, json};

pub(super) const ROWS: &[Row] = &[
    refuses(
        "S9.1",
        Kinds::Working,
        "takes {one} in secured_payload only",
        &[
            ("an empty body", Recipe::Body(|_, _| String::new())),
            (
                "a message that is not sealed",
                Recipe::Body(|_, usual| usual.to_owned()),
            ),
            (
                "a sealed message without JSON around it",
                Recipe::Body(|sealed, _| sealed.to_owned()),
            ),
            (
                "JSON without secured_payload",
                Recipe::Body(|sealed, _| json!({"payload": sealed}).to_string()),
            ),
            (
                "secured_payload as a number",
                Recipe::Body(|_, _| r#"{"secured_payload":1}"#.to_owned()),
            ),
            (
                "secured_payload as null",
                Recipe::Body(|_, _| r#"{"secured_payload":null}"#.to_owned()),
            ),
            (
                "secured_payload as an object",
                Recipe::Body(|sealed, _| json!({"secured_payload": {"value": sealed}}).to_string()),
            ),
            (
                "secured_payload as an array",
                Recipe::Body(|sealed, _| json!({"secured_payload": [sealed]}).to_string()),
            ),
            (
                "an empty secured_payload",
                Recipe::Body(|_, _| r#"{"secured_payload":""}"#.to_owned()),
            ),
            (
                "an array around the envelope",
                Recipe::Body(|sealed, _| json!([{"secured_payload": sealed}]).to_string()),
            ),
            (
                "half an envelope",
                Recipe::Body(|sealed, _| format!("{{\"secured_payload\":\"{sealed}")),
            ),
            (
                "four of five parts",
                Recipe::Body(|sealed, _| {
                    envelope(sealed.rsplit_once('.').map_or(sealed, |(parts, _)| parts))
                }),
            ),
            (
                "six parts",
                Recipe::Body(|sealed, _| envelope(&format!("{sealed}.AA"))),
            ),
            (
                "parts that are not base64url",
                Recipe::Body(|_, _| envelope("~.~.~.~.~")),
            ),
            (
                "GET, which has no body",
                Recipe::Sent(|usual| usual.method(Method::GET)),
            ),
        ],
    ),
    refuses(
        "S9.1",
        Kinds::Working,
        "takes no envelope of {one} with text after it",
        &[(
            "text after the envelope",
            Recipe::Body(|sealed, _| envelope(sealed) + "}"),
        )],
    ),
    usually(
        "takes no envelope of {one} that has secured_payload twice",
        &[(
            "secured_payload twice, of which the last is good",
            Recipe::Body(|sealed, _| {
                envelope(sealed).replacen('{', "{\"secured_payload\":\"x\",", 1)
            }),
        )],
    ),
    usually(
        "takes {one} as application/json only",
        &[(
            "text/plain",
            Recipe::Header("Content-Type", Some("text/plain")),
        )],
    ),
    required(
        MESSAGE_IDS,
        Kinds::Working,
        "X-Message-Id of {one} is required and a UUID",
        &NO_MESSAGE_ID,
    ),
    required(
        REQUEST_KEYS,
        Kinds::Echoing,
        "X-RequestKey of {one} is required and a UUID",
        &NO_REQUEST_KEY,
    ),
    Row {
        expected: Expected::Judged,
        ..required(
            CORRELATIONS,
            Kinds::Echoing,
            "X-Correlation-Id of {one} is a UUID, if the receiver judges it",
            &[
                ("an empty one", Recipe::Header(CORRELATION_ID, Some(""))),
                (
                    "one that is no UUID",
                    Recipe::Header(CORRELATION_ID, Some("7")),
                ),
                (
                    "one with a digit less",
                    Recipe::Header(CORRELATION_ID, Some(SHORT)),
                ),
            ],
        )
    },
    Row {
        id: same("S21.23"),
        kinds: Kinds::First,
        title: "priority is one of its two values, and UNATTENDED alone for queries, if receivers judge it",
        expected: Expected::Judged,
        content: Content::WrongPriorities,
    },
    refuses(
        BEYOND,
        Kinds::Authenticated,
        "takes {one} with the API key only",
        &[
            ("no API key", Recipe::ApiKey(None)),
            ("an empty API key", Recipe::ApiKey(Some(""))),
            (
                "another API key",
                Recipe::ApiKey(Some("0B7C2F6E8A1D41EB8DCD0242AC130003")),
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
            Recipe::Text(|usual| {
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
        Kinds::Working,
        "the receiver of {name} takes nothing but JSON",
        &[
            ("text that is not JSON", Recipe::Text(|_| b"hello".to_vec())),
            (
                "JSON that ends in the middle",
                Recipe::Text(|_| b"{\"creation_date_time\":\"2026-1".to_vec()),
            ),
            (
                "bytes that are not UTF-8",
                Recipe::Text(|mut usual| {
                    usual.truncate(usual.len() - 1);
                    [usual.as_bytes(), b",\"x\":\"\xff\"}"].concat()
                }),
            ),
        ],
    ),
];

const NO_MESSAGE_ID: [(&str, Recipe); 7] = no_uuid(MESSAGE_ID);
const NO_REQUEST_KEY: [(&str, Recipe); 7] = no_uuid(REQUEST_KEY);

/// Deliveries without a UUID in a header.
const fn no_uuid(header: &'static str) -> [(&'static str, Recipe); 7] {
    [
        ("none", Recipe::Header(header, None)),
        ("an empty one", Recipe::Header(header, Some(""))),
        ("one that is no UUID", Recipe::Header(header, Some("7"))),
        ("one with a digit less", Recipe::Header(header, Some(SHORT))),
        (
            "one with a letter beyond f",
            Recipe::Header(header, Some(BEYOND_F)),
        ),
        (
            "five groups of one digit",
            Recipe::Header(header, Some("1-1-1-1-1")),
        ),
        ("one in braces", Recipe::Header(header, Some(IN_BRACES))),
    ]
}

/// A UUID without its first digit, and one with a letter that is no digit.
const SHORT: &str = "b7c2f6e-8a1d-41eb-8dcd-0242ac130003";
const BEYOND_F: &str = "0g7c2f6e-8a1d-41eb-8dcd-0242ac130003";
const IN_BRACES: &str = "{0b7c2f6e-8a1d-41eb-8dcd-0242ac130003}";
const fn required(
    id: EachKind<&'static str>,
    kinds: Kinds,
    title: &'static str,
    deliveries: &'static [(&'static str, Recipe)],
) -> Row {
    Row {
        id,
        kinds,
        title,
        expected: Expected::Refused,
        content: Content::Deliveries(deliveries),
    }
}

const fn messages(
    id: EachKind<&'static str>,
    title: &'static str,
    messages: fn(&Invented, MessageKind) -> Vec<(String, Value)>,
) -> Row {
    Row {
        id,
        kinds: Kinds::Working,
        title,
        expected: Expected::Refused,
        content: Content::Made(messages),
    }
}

fn envelope(sealed: &str) -> String {
    json!({"secured_payload": sealed}).to_string()
}
