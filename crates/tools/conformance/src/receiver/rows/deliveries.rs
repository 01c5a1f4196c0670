//! Every member, the headers, other ways to write a message, and features of live services that
//! SPEC.md does not have.

use super::super::Delivery;
use super::{
    BEYOND, Content, Expected, Kinds, MEMBERS, MESSAGE_IDS, MessageKind, PRIORITIES, REQUEST_KEYS,
    Recipe, Row, accepts, same,
};
use crate::error::failed;
use bankrail_secured_payload::SecuredPayload;
use bankrail_webhook::headers::{CORRELATION_ID, MESSAGE_ID, PRIORITY, REQUEST_KEY};
use flate2::Compression;
use flate2::read::DeflateEncoder;
use serde_json::json;
use std::io::Read as _;

const UNCORRELATED: &[(&str, Recipe)] = &[("the message", Recipe::Header(CORRELATION_ID, None))];
const NO_PRIORITY: &[(&str, Recipe)] = &[("the message", Recipe::Header(PRIORITY, None))];

pub(super) const ROWS: &[Row] = &[
    accepts(
        same(BEYOND),
        Kinds::Every,
        "{one} with members that a later release may add",
        &[("the message", Recipe::Later)],
    ),
    accepts(
        MEMBERS,
        Kinds::Every,
        "takes {one} with every member",
        &[("the message", Recipe::Whole)],
    ),
    accepts(
        same("S21.7"),
        Kinds::One(MessageKind::MandateOutcome),
        "takes {one} without X-Correlation-Id",
        UNCORRELATED,
    ),
    accepts(
        same("S21.16"),
        Kinds::One(MessageKind::PaymentOutcome),
        "takes {one} without X-Correlation-Id",
        UNCORRELATED,
    ),
    accepts(
        REQUEST_KEYS,
        Kinds::Echoing,
        "takes {one} with an X-RequestKey and an X-Correlation-Id of any version of UUID",
        &[
            (
                "version 1",
                Recipe::Sent(|usual| keyed(usual, "0b7c2f6e-8a1d-11eb-8dcd-0242ac130003")),
            ),
            (
                "version 4 in upper case",
                Recipe::Sent(|usual| keyed(usual, "0B7C2F6E-8A1D-41EB-8DCD-0242AC130003")),
            ),
            (
                "version 7",
                Recipe::Sent(|usual| keyed(usual, "018f5d1e-7c1a-7abc-8def-0123456789ab")),
            ),
        ],
    ),
    accepts(
        MESSAGE_IDS,
        Kinds::Every,
        "takes {one} with an X-Message-Id of any version of UUID",
        &[
            (
                "version 1",
                Recipe::Sent(|usual| usual.of_version(MESSAGE_ID, "1")),
            ),
            (
                "version 7",
                Recipe::Sent(|usual| usual.of_version(MESSAGE_ID, "7")),
            ),
        ],
    ),
    Row {
        id: PRIORITIES,
        kinds: Kinds::Every,
        title: "takes {one} with the priority {priorities}",
        expected: Expected::Acknowledged,
        content: Content::Priorities,
    },
    accepts(
        same(BEYOND),
        Kinds::Every,
        "{one} without a priority",
        NO_PRIORITY,
    ),
    Row {
        id: same("S9.6"),
        kinds: Kinds::First,
        title: "takes a message signed with a key of 4096 bits",
        expected: Expected::Acknowledged,
        content: Content::LargeKey,
    },
    accepts(
        same("S9.1"),
        Kinds::First,
        "takes a message whatever its headers say beside alg and enc",
        &[
            (
                "headers with alg and enc alone",
                Recipe::Carried(|forge, usual| forge.sealed(&json!({}), &json!({}), usual)),
            ),
            (
                "headers with typ and cty",
                Recipe::Carried(|forge, usual| {
                    forge.sealed(&json!({"cty": "JWT"}), &json!({"typ": "JWT"}), usual)
                }),
            ),
            (
                "headers with members that nobody knows",
                Recipe::Carried(|forge, usual| {
                    forge.sealed(&json!({"x-trace": "1"}), &json!({"x-trace": "1"}), usual)
                }),
            ),
        ],
    ),
    accepts(
        same("S9.1"),
        Kinds::First,
        "takes the envelope in every spelling of JSON",
        &[
            (
                "white space around it",
                Recipe::Body(|sealed, _| {
                    format!("\r\n {{\t\"secured_payload\" :\n \"{sealed}\" }}\n")
                }),
            ),
            (
                "characters that are escaped",
                Recipe::Body(|sealed, _| {
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
        Kinds::First,
        "a message that is compressed before it is encrypted, with zip DEF",
        &[(
            "the message",
            Recipe::Carried(|forge, usual| {
                let jws = forge.signed(usual)?;
                let mut compressed = DeflateEncoder::new(jws.as_bytes(), Compression::best());
                let mut plain = Vec::new();
                compressed.read_to_end(&mut plain).map_err(failed)?;
                Ok(forge.encrypted(&json!({"zip": "DEF"}), &plain)?.compact())
            }),
        )],
    ),
    accepts(
        same(BEYOND),
        Kinds::First,
        "an envelope with members that a later release may add",
        &[(
            "the message",
            Recipe::Body(|sealed, _| json!({"secured_payload": sealed, "version": 2}).to_string()),
        )],
    ),
    accepts(
        same(BEYOND),
        Kinds::First,
        "the content type application/json with a charset",
        &[(
            "the message",
            Recipe::Header("Content-Type", Some("application/json; charset=utf-8")),
        )],
    ),
];

fn keyed(usual: Delivery, key: &str) -> Delivery {
    usual.with(REQUEST_KEY, key).with(CORRELATION_ID, key)
}
