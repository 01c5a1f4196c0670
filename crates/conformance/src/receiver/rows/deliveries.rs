//! Every member, the headers, other ways to write a message, and what SPEC.md does not say and live services send.

use super::{Asks, BEYOND, EVERY, EachKind, FIRST, Make, MessageKind, On, Right, Row, accepts, same};
use bankrail_secured_payload::SecuredPayload;
use bankrail_webhook::headers::{CORRELATION_ID, PRIORITY};
use serde_json::json;

/// The row about the required members, and about all members, of each kind.
pub(in super::super) const MEMBERS: EachKind<&str> =
    EachKind { mandate_outcome: "S21.4", mandate_notification: "S21.9", payment_outcome: "S21.13", query: "S21.18" };
const PRIORITIES: EachKind<&str> =
    EachKind { mandate_outcome: "S21.8", mandate_notification: "S21.11", payment_outcome: "S21.17", query: "S21.20" };
const UNCORRELATED: &[(&str, Make)] = &[("the message", Make::Sent(|usual| usual.without(CORRELATION_ID)))];
const NO_PRIORITY: &[(&str, Make)] = &[("the message", Make::Sent(|usual| usual.without(PRIORITY)))];

pub(super) const ROWS: &[Row] = &[
    accepts(same(BEYOND), EVERY, "{one} with members that a later release may add", &[("the message", Make::Later)]),
    accepts(MEMBERS, EVERY, "takes {one} with every member", &[("the message", Make::Whole)]),
    accepts(same("S21.7"), On::One(MessageKind::MandateOutcome), "takes {one} without X-Correlation-Id", UNCORRELATED),
    accepts(same("S21.16"), On::One(MessageKind::PaymentOutcome), "takes {one} without X-Correlation-Id", UNCORRELATED),
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
                Make::Carried(|forge, usual| forge.sealed(&json!({"cty": "JWT"}), &json!({"typ": "JWT"}), usual)),
            ),
            (
                "headers with members that nobody knows",
                Make::Carried(|forge, usual| forge.sealed(&json!({"x-trace": "1"}), &json!({"x-trace": "1"}), usual)),
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
                Make::Body(|sealed, _| format!("\r\n {{\t\"secured_payload\" :\n \"{sealed}\" }}\n")),
            ),
            (
                "characters that are escaped",
                Make::Body(|sealed, _| {
                    let envelope = SecuredPayload::new(sealed.to_owned()).to_json();
                    envelope.replace('.', "\\u002e").replace("secured", "\\u0073ecured")
                }),
            ),
        ],
    ),
    accepts(
        same(BEYOND),
        FIRST,
        "an envelope with members that a later release may add",
        &[("the message", Make::Body(|sealed, _| json!({"secured_payload": sealed, "version": 2}).to_string()))],
    ),
    accepts(
        same(BEYOND),
        FIRST,
        "the content type application/json with a charset",
        &[("the message", Make::Sent(|usual| usual.with("Content-Type", "application/json; charset=utf-8")))],
    ),
];
