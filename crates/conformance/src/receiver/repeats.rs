//! Duplicates, and messages out of order (Specification: "Events").

use super::messages::{self, now, time_based, uuid};
use super::session::Session;
use crate::error::JudgeError;
use bankrail_webhook::MessageKind;
use serde_json::{Value, json};

pub(super) async fn run(session: &mut Session) -> Result<(), JudgeError> {
    for (kind, id) in MessageKind::ALL.into_iter().zip(["S23.2", "S23.4", "S23.6", "S23.9"]) {
        let one = messages::one(kind);
        let message = messages::whole(kind);
        let first = session.sealed(kind, "the first delivery", &message)?;
        let again = first.clone().named("the same delivery again");
        let title = format!("takes {one} again, byte for byte, under the same X-Message-Id");
        session.accepts("S21.26", title, &[first, again.clone(), again]).await?;

        // Regenerated: the same event at another time of processing, in another delivery.
        let message = messages::whole(kind);
        let regenerated = messages::with(message.clone(), &json!({"creation_date_time": now()}));
        let deliveries = [
            session.sealed(kind, "the first delivery", &message)?,
            session.sealed(kind, "the same event, sealed anew, under another X-Message-Id", &regenerated)?,
        ];
        session.accepts(id, format!("takes {one} about an event that it knows"), &deliveries).await?;
    }
    payments(session).await?;
    mandates(session).await?;
    queries(session).await
}

async fn payments(session: &mut Session) -> Result<(), JudgeError> {
    let kind = MessageKind::PaymentOutcome;
    for (id, title, statuses) in [
        ("S23.7", "takes PDNG and then ACSC for one payment", &["PDNG", "ACSC"][..]),
        ("S23.18", "takes ACSC before PDNG for one payment", &["ACSC", "PDNG"]),
        ("S23.19", "takes several outcomes of one payment", &["PDNG", "ACSP", "RJCT"]),
    ] {
        let payment = messages::usual(kind);
        let outcome = |status: &&str| {
            let mut members = json!({"transaction_status": status});
            if *status == "RJCT" {
                members = messages::with(members, &json!({"transaction_status_reason_code": "AM04"}));
            }
            session.sealed(kind, status, &messages::with(payment.clone(), &members))
        };
        let deliveries: Result<Vec<_>, _> = statuses.iter().map(outcome).collect();
        session.accepts(id, title, &deliveries?).await?;
    }
    Ok(())
}

/// A mandate whose messages arrive from the last to the first.
async fn mandates(session: &mut Session) -> Result<(), JudgeError> {
    let (mandate, action, request) = (time_based(), time_based(), uuid());
    let ids = json!({"mandate_identification": mandate, "action_identification": action, "action_type": "CREA"});
    let message = |kind, members: Value| messages::with(messages::with(messages::minimal(kind), &ids), &members);
    let (outcome, notification) = (MessageKind::MandateOutcome, MessageKind::MandateNotification);
    let deliveries = [
        session.sealed(
            notification,
            "the payer's confirmation",
            &message(notification, json!({"trigger": "MCRC", "action_status": "CMPL", "mandate_status": "ACTV"})),
        )?,
        session.sealed(
            outcome,
            "the outcome of the completed creation",
            &message(outcome, json!({"request_id": request, "action_status": "CMPL", "mandate_status": "ACTV"})),
        )?,
        session.sealed(
            outcome,
            "the outcome of the pending creation",
            &message(outcome, json!({"request_id": request, "action_status": "PEND", "mandate_status": "CRTD"})),
        )?,
    ];
    session.accepts("S23.18", "takes the messages of one mandate from the last to the first", &deliveries).await
}

/// Reminders of one case, from the last to the first.
async fn queries(session: &mut Session) -> Result<(), JudgeError> {
    let kind = MessageKind::Query;
    let case = messages::minimal(kind);
    let deliveries: Result<Vec<_>, _> = [
        ("reminder 2", json!({"reminder_count": "2"})),
        ("reminder 1", json!({"reminder_count": "1"})),
        ("the query itself", json!({})),
        ("the case opened again", json!({"re_open_case_indication": true})),
    ]
    .into_iter()
    .map(|(what, members)| session.sealed(kind, what, &messages::with(case.clone(), &members)))
    .collect();
    session.accepts("S15.11", "takes the reminders of a case, in any order", &deliveries?).await
}
