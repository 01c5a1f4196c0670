//! Every member, the headers, other ways to write a message, and what SPEC.md does not say and live
//! services send.

use super::super::delivery::Delivery;
use super::forms::MESSAGE_IDS;
use super::{
    Asks, BEYOND, By, EVERY, EachKind, FIRST, Make, MessageKind, On, Right, Row, accepts, same,
};
use crate::error::failed;
use bankrail_secured_payload::SecuredPayload;
use bankrail_webhook::headers::{CORRELATION_ID, MESSAGE_ID, PRIORITY, REQUEST_KEY};
use flate2::Compression;
use flate2::read::DeflateEncoder;
use serde_json::json;
use std::io::Read as _;

/// The row about the required members, and about all members, of each kind.
pub(in super::super) const MEMBERS: EachKind<&str> = EachKind {
    mandate_outcome: "S21.4",
    mandate_notification: "S21.9",
    payment_outcome: "S21.13",
    query: "S21.18",
};
const PRIORITIES: EachKind<&str> = EachKind {
    mandate_outcome: "S21.8",
    mandate_notification: "S21.11",
    payment_outcome: "S21.17",
    query: "S21.20",
};
const UNCORRELATED: &[(&str, Make)] = &[(
    "the message",
    Make::Sent(|usual| usual.without(CORRELATION_ID)),
)];
const NO_PRIORITY: &[(&str, Make)] =
    &[("the message", Make::Sent(|usual| usual.without(PRIORITY)))];

pub(super) const REQUEST_KEYS: EachKind<&str> = EachKind {
    mandate_outcome: "S21.5",
    mandate_notification: BEYOND,
    payment_outcome: "S21.14",
    query: BEYOND,
};
/// The kinds with a key that is echoed.
pub(super) const ECHOING: On = On::Each(|session| {
    session
        .kinds()
        .into_iter()
        .filter(|kind| kind.answers_a_request())
        .collect()
});

pub(super) const ROWS: &[Row] = &[
    accepts(
        same(BEYOND),
        EVERY,
        "{one} with members that a later release may add",
        &[("the message", Make::Later)],
    ),
    accepts(
        MEMBERS,
        EVERY,
        "takes {one} with every member",
        &[("the message", Make::Whole)],
    ),
    accepts(
        same("S21.7"),
        On::One(MessageKind::MandateOutcome),
        "takes {one} without X-Correlation-Id",
        UNCORRELATED,
    ),
    accepts(
        same("S21.16"),
        On::One(MessageKind::PaymentOutcome),
        "takes {one} without X-Correlation-Id",
        UNCORRELATED,
    ),
    accepts(
        REQUEST_KEYS,
        ECHOING,
        "takes {one} with an X-RequestKey and an X-Correlation-Id of any version of UUID",
        &[
            (
                "version 1",
                Make::Sent(|usual| keyed(usual, "0b7c2f6e-8a1d-11eb-8dcd-0242ac130003")),
            ),
            (
                "version 4 in upper case",
                Make::Sent(|usual| keyed(usual, "0B7C2F6E-8A1D-41EB-8DCD-0242AC130003")),
            ),
            (
                "version 7",
                Make::Sent(|usual| keyed(usual, "018f5d1e-7c1a-7abc-8def-0123456789ab")),
            ),
        ],
    ),
    accepts(
        MESSAGE_IDS,
        EVERY,
        "takes {one} with an X-Message-Id of any version of UUID",
        &[
            (
                "version 1",
                Make::Sent(|usual| usual.of_version(MESSAGE_ID, "1")),
            ),
            (
                "version 7",
                Make::Sent(|usual| usual.of_version(MESSAGE_ID, "7")),
            ),
        ],
    ),
    Row {
        id: PRIORITIES,
        on: EVERY,
        title: "takes {one} with the priority {priorities}",
        right: Right::Acknowledged,
        asks: Asks::Priorities,
    },
    accepts(same(BEYOND), EVERY, "{one} without a priority", NO_PRIORITY),
    Row {
        id: same("S9.6"),
        on: FIRST,
        title: "takes a message signed with a key of 4096 bits",
        right: Right::Acknowledged,
        asks: Asks::LargeKey,
    },
    accepts(
        same("S9.1"),
        FIRST,
        "takes a message whatever its headers say beside alg and enc",
        &[
            (
                "headers with alg and enc alone",
                Make::Carried(|forge, usual| forge.sealed(&json!({}), &json!({}), usual)),
            ),
            (
                "headers with typ and cty",
                Make::Carried(|forge, usual| {
                    forge.sealed(&json!({"cty": "JWT"}), &json!({"typ": "JWT"}), usual)
                }),
            ),
            (
                "headers with members that nobody knows",
                Make::Carried(|forge, usual| {
                    forge.sealed(&json!({"x-trace": "1"}), &json!({"x-trace": "1"}), usual)
                }),
            ),
        ],
    ),
    accepts(
        same("S9.1"),
        FIRST,
        "takes the envelope in every spelling of JSON",
        &[
            (
                "white space around it",
                Make::Body(|sealed, _| {
                    format!("\r\n {{\t\"secured_payload\" :\n \"{sealed}\" }}\n")
                }),
            ),
            (
                "characters that are escaped",
                Make::Body(|sealed, _| {
                    let envelope = SecuredPayload::new(sealed.to_owned()).to_json();
                    envelope
                        .replace('.', "\\u002e")
                        .replace("secured", "\\u0073ecured")
                }),
            ),
        ],
    ),
    accepts(
        same(BEYOND),
        FIRST,
        "a message that is compressed before it is encrypted, with zip DEF",
        &[(
            "the message",
            Make::Carried(|forge, usual| {
                let jws = forge.jws(
                    &forge.signed_header("RS256", &json!({})),
                    usual,
                    By::Provider,
                )?;
                let mut compressed = DeflateEncoder::new(jws.as_bytes(), Compression::best());
                let mut plain = Vec::new();
                compressed.read_to_end(&mut plain).map_err(failed)?;
                Ok(forge.encrypted(&json!({"zip": "DEF"}), &plain)?.compact())
            }),
        )],
    ),
    accepts(
        same(BEYOND),
        FIRST,
        "an envelope with members that a later release may add",
        &[(
            "the message",
            Make::Body(|sealed, _| json!({"secured_payload": sealed, "version": 2}).to_string()),
        )],
    ),
    accepts(
        same(BEYOND),
        FIRST,
        "the content type application/json with a charset",
        &[(
            "the message",
            Make::Sent(|usual| usual.with("Content-Type", "application/json; charset=utf-8")),
        )],
    ),
];

fn keyed(usual: Delivery, key: &str) -> Delivery {
    usual.with(REQUEST_KEY, key).with(CORRELATION_ID, key)
}
