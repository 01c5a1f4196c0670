//! What every receiver takes: each member, code and bound of SPEC.md's tables.

mod beyond;
mod mandates;
mod payments;
mod queries;

use super::messages;
use super::session::{BEYOND, Session};
use crate::error::JudgeError;
use crate::row::Verdict;
use bankrail_secured_payload::SecuredPayload;
use bankrail_webhook::MessageKind;
use bankrail_webhook::headers::{CORRELATION_ID, PRIORITY};
use serde_json::{Value, json};
use std::time::Instant;

const OUTCOME: MessageKind = MessageKind::MandateOutcome;
const NOTIFICATION: MessageKind = MessageKind::MandateNotification;
const PAYMENT: MessageKind = MessageKind::PaymentOutcome;
const QUERY: MessageKind = MessageKind::Query;

/// One row: messages of one kind that differ from the usual one in these members.
struct Case {
    id: &'static str,
    kind: MessageKind,
    title: String,
    members: Vec<Value>,
}

fn case(id: &'static str, kind: MessageKind, title: impl Into<String>, members: Vec<Value>) -> Case {
    Case { id, kind, title: title.into(), members }
}

/// A row for each code of one member.
fn codes<const N: usize>(kind: MessageKind, member: &str, codes: [(&'static str, &str); N]) -> Vec<Case> {
    codes.map(|(id, code)| case(id, kind, format!("{member} {code}"), vec![json!({ member: code })])).into()
}

/// One row for all codes of one member.
fn list(id: &'static str, kind: MessageKind, member: &str, codes: &[&str]) -> Case {
    let members = codes.iter().map(|code| json!({ member: code })).collect();
    case(id, kind, format!("{member} {}", codes.join(", ")), members)
}

/// A row for each member of an object in the message, at this path.
fn inside(kind: MessageKind, path: &[&str], members: Vec<(&'static str, &str, Value)>) -> Vec<Case> {
    let row = |(id, member, value): (_, &str, _)| {
        let whole = path.iter().rev().fold(json!({ member: value }), |inner, name| json!({ *name: inner }));
        case(id, kind, format!("{} member {member}", path.join(".")), vec![whole])
    };
    members.into_iter().map(row).collect()
}

/// The same rows, with these members too where they have none of their own.
fn beside(mut rows: Vec<Case>, members: &Value) -> Vec<Case> {
    for own in rows.iter_mut().flat_map(|row| &mut row.members) {
        *own = messages::with(members.clone(), own);
    }
    rows
}

pub(super) async fn run(session: &mut Session) -> Result<(), JudgeError> {
    let cases = [
        payments::formats(),
        mandates::outcomes(),
        mandates::notifications(),
        payments::outcomes(),
        queries::queries(),
        beyond::cases(),
    ];
    for Case { id, kind, title, members } in cases.into_iter().flatten() {
        let several = members.len() > 1;
        let deliveries: Result<Vec<_>, _> = (1..)
            .zip(&members)
            .map(|(number, members)| {
                let what = if several { format!("message {number} of the row") } else { "the message".to_owned() };
                session.sealed(kind, &what, &messages::with(messages::usual(kind), members))
            })
            .collect();
        session.accepts(id, title, &deliveries?).await?;
    }
    for (kind, id) in MessageKind::ALL.into_iter().zip(["S21.4", "S21.9", "S21.13", "S21.18"]) {
        let delivery = session.sealed(kind, "the message", &messages::whole(kind))?;
        session.accepts(id, format!("takes {} with every member", messages::one(kind)), &[delivery]).await?;
    }
    headers(session).await?;
    envelopes(session).await
}

/// The headers of the table.
async fn headers(session: &mut Session) -> Result<(), JudgeError> {
    for (kind, id) in [(OUTCOME, "S21.7"), (PAYMENT, "S21.16")] {
        let delivery = session.sealed(kind, "the message", &messages::usual(kind))?.without(CORRELATION_ID);
        session.accepts(id, format!("takes {} without X-Correlation-Id", messages::one(kind)), &[delivery]).await?;
    }
    for (kind, id) in MessageKind::ALL.into_iter().zip(["S21.8", "S21.11", "S21.17", "S21.20"]) {
        let values: &[&str] = if kind == QUERY { &["UNATTENDED"] } else { &["ATTENDED", "UNATTENDED"] };
        let deliveries: Result<Vec<_>, _> = values
            .iter()
            .map(|value| {
                let what = format!("priority {value}");
                let delivery = session.sealed(kind, &what, &messages::usual(kind));
                delivery.map(|delivery| delivery.with(PRIORITY, value))
            })
            .collect();
        let title = format!("takes {} with the priority {}", messages::one(kind), values.join(" or "));
        session.accepts(id, title, &deliveries?).await?;
        let delivery = session.sealed(kind, "the message", &messages::usual(kind))?.without(PRIORITY);
        session.accepts(BEYOND, format!("{} without a priority", messages::one(kind)), &[delivery]).await?;
    }
    Ok(())
}

/// Other ways to write the same message.
async fn envelopes(session: &mut Session) -> Result<(), JudgeError> {
    let Some(&kind) = session.kinds().first() else { return Ok(()) };
    let title = "takes a message signed with a key of 4096 bits";
    if let Some(large) = &session.large {
        let delivery = session.sealed_by(large, kind, "the message", &messages::usual(kind))?;
        session.accepts("S9.6", title, &[delivery]).await?;
    } else {
        let why = "it takes another key of the provider, that the receivers know: --sign-4096".to_owned();
        session.push("S9.6", title.to_owned(), Verdict::NotSeen(why), Instant::now());
    }
    let mut deliveries = Vec::new();
    for (what, outer, inner) in [
        ("headers with alg and enc alone", json!({}), json!({})),
        ("headers with typ and cty", json!({"cty": "JWT"}), json!({"typ": "JWT"})),
        ("headers with members that nobody knows", json!({"x-trace": "1"}), json!({"x-trace": "1"})),
    ] {
        let message = messages::usual(kind).to_string();
        deliveries.push(session.carried(kind, what, session.forge.sealed(&outer, &inner, message.as_bytes())?));
    }
    session.accepts("S9.1", "takes a message whatever its headers say beside alg and enc", &deliveries).await?;
    let sealed = || -> Result<String, JudgeError> {
        session.forge.sealed(&json!({}), &json!({}), messages::usual(kind).to_string().as_bytes())
    };
    let spaced = format!("\r\n {{\t\"secured_payload\" :\n \"{}\" }}\n", sealed()?);
    let escaped = SecuredPayload::new(sealed()?).to_json().replace('.', "\\u002e").replace("secured", "\\u0073ecured");
    let more = json!({"secured_payload": sealed()?, "version": 2}).to_string();
    let deliveries = [
        session.target.delivery(kind, "white space around it", spaced.into_bytes()),
        session.target.delivery(kind, "characters that are escaped", escaped.into_bytes()),
    ];
    session.accepts("S9.1", "takes the envelope in every spelling of JSON", &deliveries).await?;
    let delivery = session.target.delivery(kind, "the message", more.into_bytes());
    session.accepts(BEYOND, "an envelope with members that a later release may add", &[delivery]).await?;
    let delivery = session.sealed(kind, "the message", &messages::usual(kind))?;
    let delivery = delivery.with("Content-Type", "application/json; charset=utf-8");
    session.accepts(BEYOND, "the content type application/json with a charset", &[delivery]).await
}
