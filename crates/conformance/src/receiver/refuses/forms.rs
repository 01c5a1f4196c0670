//! Bodies that are no envelope; and what is sensible to refuse, although SPEC.md does not say that a receiver judges a
//! message before it acknowledges it.

use super::super::delivery::Delivery;
use super::super::messages::{self, time_based, token, uuid};
use super::super::session::{BEYOND, Session};
use crate::error::JudgeError;
use bankrail_webhook::MessageKind;
use bankrail_webhook::headers::{MESSAGE_ID, REQUEST_KEY};
use http::Method;
use serde_json::{Value, json};

const OUTCOME: MessageKind = MessageKind::MandateOutcome;
const NOTIFICATION: MessageKind = MessageKind::MandateNotification;
const PAYMENT: MessageKind = MessageKind::PaymentOutcome;
const QUERY: MessageKind = MessageKind::Query;

pub(super) async fn run(session: &mut Session) -> Result<(), JudgeError> {
    for kind in session.kinds() {
        envelopes(session, kind).await?;
        headers(session, kind).await?;
        required(session, kind).await?;
        others(session, kind).await?;
    }
    values(session).await
}

fn compact(session: &Session, kind: MessageKind) -> Result<String, JudgeError> {
    session.forge.sealed(&json!({}), &json!({}), messages::usual(kind).to_string().as_bytes())
}

async fn envelopes(session: &mut Session, kind: MessageKind) -> Result<(), JudgeError> {
    let one = messages::one(kind);
    let sealed = compact(session, kind)?;
    let parts: Vec<&str> = sealed.split('.').collect();
    let bodies = [
        ("an empty body", String::new()),
        ("a message that is not sealed", messages::usual(kind).to_string()),
        ("a sealed message without JSON around it", sealed.clone()),
        ("JSON without secured_payload", json!({"payload": sealed}).to_string()),
        ("secured_payload as a number", json!({"secured_payload": 1}).to_string()),
        ("secured_payload as null", json!({"secured_payload": null}).to_string()),
        ("secured_payload as an object", json!({"secured_payload": {"value": sealed}}).to_string()),
        ("secured_payload as an array", json!({"secured_payload": [sealed]}).to_string()),
        ("an empty secured_payload", json!({"secured_payload": ""}).to_string()),
        ("an array around the envelope", json!([{"secured_payload": sealed}]).to_string()),
        ("half an envelope", format!("{{\"secured_payload\":\"{sealed}")),
        ("four of five parts", json!({"secured_payload": parts.get(..4).unwrap_or_default().join(".")}).to_string()),
        ("six parts", json!({"secured_payload": format!("{sealed}.AA")}).to_string()),
        ("parts that are not base64url", json!({"secured_payload": "~.~.~.~.~"}).to_string()),
    ];
    let mut deliveries: Vec<Delivery> =
        bodies.into_iter().map(|(what, body)| session.target.delivery(kind, what, body.into_bytes())).collect();
    deliveries.push(session.carried(kind, "GET, which has no body", sealed.clone()).method(Method::GET));
    session.refuses("S9.1", format!("takes {one} in secured_payload only"), &deliveries).await?;

    let envelope = json!({"secured_payload": sealed}).to_string();
    let deliveries = [
        ("secured_payload twice, of which the last is good", envelope.replacen('{', "{\"secured_payload\":\"x\",", 1)),
        ("text after the envelope", format!("{envelope}}}")),
    ]
    .map(|(what, body)| session.target.delivery(kind, what, body.into_bytes()));
    let title = format!("takes no envelope of {one} but one JSON object with each member once");
    session.refuses(BEYOND, title, &deliveries).await?;
    let delivery = session.carried(kind, "text/plain", sealed).with("Content-Type", "text/plain");
    session.refuses(BEYOND, format!("takes {one} as application/json only"), &[delivery]).await
}

async fn headers(session: &mut Session, kind: MessageKind) -> Result<(), JudgeError> {
    let one = messages::one(kind);
    let mut wrong: Vec<(&str, &str)> = vec![(MESSAGE_ID, "is required and a UUID")];
    if kind.answers_a_request() {
        wrong.push((REQUEST_KEY, "is required and a UUID"));
    }
    for (header, rule) in wrong {
        let delivery = |what| session.sealed(kind, what, &messages::usual(kind));
        let deliveries = [
            delivery("none")?.without(header),
            delivery("an empty one")?.with(header, ""),
            delivery("one that is no UUID")?.with(header, "7"),
        ];
        session.refuses(BEYOND, format!("{header} of {one} {rule}"), &deliveries).await?;
    }
    if let Some(header) = session.target.api_key_header().cloned() {
        let delivery = |what| session.sealed(kind, what, &messages::usual(kind));
        let deliveries = [
            delivery("no API key")?.without(header.as_str()),
            delivery("an empty API key")?.with(header.as_str(), ""),
            delivery("another API key")?.with(header.as_str(), &token(32)),
        ];
        session.refuses(BEYOND, format!("takes {one} with the API key only"), &deliveries).await?;
    }
    Ok(())
}

/// Each required member, left out and null.
async fn required(session: &mut Session, kind: MessageKind) -> Result<(), JudgeError> {
    let whole = messages::minimal(kind);
    let names: Vec<String> = whole.as_object().map(|members| members.keys().cloned().collect()).unwrap_or_default();
    let mut deliveries = Vec::new();
    for name in &names {
        let message = messages::without(messages::usual(kind), name);
        deliveries.push(session.sealed(kind, &format!("one without {name}"), &message)?);
        let message = messages::with(messages::usual(kind), &json!({ name.as_str(): null }));
        deliveries.push(session.sealed(kind, &format!("one with null as {name}"), &message)?);
    }
    let title = format!("takes {} with every required member only", messages::one(kind));
    session.refuses(BEYOND, title, &deliveries).await
}

/// Messages of the other receivers, and JSON that is none.
async fn others(session: &mut Session, kind: MessageKind) -> Result<(), JudgeError> {
    let mut deliveries = Vec::new();
    for other in MessageKind::ALL.into_iter().filter(|other| *other != kind) {
        let what = messages::one(other);
        deliveries.push(session.sealed(kind, &what, &messages::usual(other))?);
    }
    for (what, message) in [("an empty object", json!({})), ("an array", json!([])), ("null", Value::Null)] {
        deliveries.push(session.sealed(kind, what, &message)?);
    }
    let title = format!("the receiver of {} takes no other message", messages::name(kind));
    session.refuses(BEYOND, title, &deliveries).await?;
    let mut deliveries = Vec::new();
    let twice =
        messages::usual(kind).to_string().replacen('{', "{\"creation_date_time\":\"2026-11-22T01:02:03.450Z\",", 1);
    for (what, text) in [
        ("text that is not JSON", b"hello".to_vec()),
        ("JSON that ends in the middle", b"{\"creation_date_time\":\"2026-1".to_vec()),
        ("a member that is there twice", twice.into_bytes()),
        (
            "bytes that are not UTF-8",
            messages::usual(kind)
                .to_string()
                .replacen('}', ",\"x\":\"~\"}", 1)
                .into_bytes()
                .into_iter()
                .map(|byte| if byte == b'~' { 0xff } else { byte })
                .collect(),
        ),
    ] {
        deliveries.push(session.carried(kind, what, session.forge.sealed(&json!({}), &json!({}), &text)?));
    }
    let title = format!("the receiver of {} takes nothing but JSON", messages::name(kind));
    session.refuses(BEYOND, title, &deliveries).await
}

/// Values against the tables, one in each message.
async fn values(session: &mut Session) -> Result<(), JudgeError> {
    let money = |value: Value| json!({"original_transaction_reference": {"instructed_amount": value}});
    let aud = |amount: Value| money(json!({"currency": "AUD", "amount": amount}));
    let hyphenated = uuid().replacen("-4", "-1", 1);
    let rows = [
        (
            OUTCOME,
            "ids of mandates are UUIDs of version 1 without hyphens, in lower case",
            vec![
                ("hyphens", json!({"mandate_identification": hyphenated})),
                (
                    "upper case",
                    json!({"mandate_identification": time_based().replacen(|c: char| c.is_ascii_digit(), "F", 1)}),
                ),
                ("version 4", json!({"mandate_identification": uuid().replace('-', "")})),
                ("31 characters", json!({"mandate_identification": time_based().get(1..)})),
                ("a number", json!({"mandate_identification": 7})),
            ],
        ),
        (OUTCOME, "request_id has hyphens", vec![("none", json!({"request_id": uuid().replace('-', "")}))]),
        (PAYMENT, "uetr is a UUID", vec![("other text", json!({"uetr": "UETR-42"}))]),
        (
            OUTCOME,
            "timestamps are in UTC and without an offset",
            vec![
                ("an offset", json!({"creation_date_time": "2026-11-22T01:02:03.450+00:00"})),
                ("no zone", json!({"creation_date_time": "2026-11-22T01:02:03.450"})),
                ("a day alone", json!({"creation_date_time": "2026-11-22"})),
                ("a day that there is not", json!({"creation_date_time": "2026-02-29T01:02:03.450Z"})),
                ("a number", json!({"creation_date_time": 1_795_000_000})),
            ],
        ),
        (
            PAYMENT,
            "money is a currency and a decimal as text",
            vec![
                ("a number", aud(json!(12.5))),
                ("a comma", aud(json!("12,50"))),
                ("a word", aud(json!("twelve"))),
                ("no text", aud(json!(""))),
                ("no currency", money(json!({"amount": "12.50"}))),
                ("no amount", money(json!({"currency": "AUD"}))),
                ("text alone", money(json!("12.50 AUD"))),
            ],
        ),
        (
            PAYMENT,
            "texts of outcomes of payments keep their bounds",
            vec![
                ("mps_user_id of 11 characters", json!({"mps_user_id": token(11)})),
                ("mps_user_id of none", json!({"mps_user_id": ""})),
                ("instruction_identification of 36", json!({"instruction_identification": token(36)})),
                ("account_servicer_reference of 36", json!({"account_servicer_reference": token(36)})),
                ("clearing_system_reference of 36", json!({"clearing_system_reference": token(36)})),
                ("a reason code of 5", json!({"transaction_status_reason_code": "AM045"})),
                ("information of 106", json!({"transaction_status_additional_information": ["x".repeat(106)]})),
                ("information that is no array", json!({"transaction_status_additional_information": "x"})),
            ],
        ),
        (
            NOTIFICATION,
            "a user of a notification keeps its bounds",
            vec![("11 characters", json!({"mps_user_id": token(11)}))],
        ),
        (
            QUERY,
            "texts of queries keep their bounds",
            vec![
                ("a case_id of 21 characters", json!({"case_id": token(21)})),
                ("a case_id of none", json!({"case_id": ""})),
                ("a narrative of 2049", json!({"narrative": "x".repeat(2049)})),
                ("a narrative of none", json!({"narrative": ""})),
                ("a reminder_count of 3", json!({"reminder_count": "100"})),
                ("re_open_case_indication as text", json!({"re_open_case_indication": "true"})),
            ],
        ),
    ];
    for (kind, title, cases) in rows {
        let deliveries: Result<Vec<_>, _> = cases
            .into_iter()
            .map(|(what, members)| session.sealed(kind, what, &messages::with(messages::usual(kind), &members)))
            .collect();
        session.refuses(BEYOND, title, &deliveries?).await?;
    }
    Ok(())
}
