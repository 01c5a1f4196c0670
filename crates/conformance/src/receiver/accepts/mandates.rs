//! Outcomes and notifications of mandates.

use super::super::messages::{now, time_based, uuid};
use super::{Case, NOTIFICATION, OUTCOME, beside, case, codes, inside, list};
use serde_json::json;

/// SPEC.md's MandateActionOutcome.
pub(super) fn outcomes() -> Vec<Case> {
    let mut rows = codes(OUTCOME, "status", [("S12.4", "SUCC"), ("S12.5", "RJCT")]);
    rows.extend(codes(
        OUTCOME,
        "mandate_status",
        [("S12.11", "ACTV"), ("S12.12", "CNCD"), ("S12.13", "CRTD"), ("S12.14", "SUSD")],
    ));
    rows.extend(codes(
        OUTCOME,
        "action_type",
        [("S12.17", "AMND"), ("S12.18", "CREA"), ("S12.19", "PORT"), ("S12.20", "STCH")],
    ));
    rows.extend(codes(
        OUTCOME,
        "action_status",
        [("S12.22", "CMPL"), ("S12.23", "DECL"), ("S12.24", "PEND"), ("S12.25", "RECL"), ("S12.26", "TIMO")],
    ));
    let one = |id, title: &str, members| case(id, OUTCOME, title, vec![members]);
    rows.extend([
        case(
            "S12.6",
            OUTCOME,
            "mps_user_id of 1 and of 10 characters",
            ["U", "MPSUSER-10"].map(|user| json!({"mps_user_id": user})).into(),
        ),
        one("S12.7", "request_id", json!({"request_id": uuid()})),
        one("S12.8", "mandate_identification", json!({"mandate_identification": time_based()})),
        one("S12.9", "mandate_registration_date_time", json!({"mandate_registration_date_time": now()})),
        one("S12.15", "action_identification", json!({"action_identification": time_based()})),
        case(
            "S12.27",
            OUTCOME,
            "bilateral true and false",
            vec![json!({"action_type": "CREA", "bilateral": true}), json!({"action_type": "AMND", "bilateral": false})],
        ),
        one(
            "S12.29",
            "debtor_alias_name with Unicode text",
            json!({"action_type": "CREA", "debtor_alias_name": "Zoë 新 👩\u{200d}👩\u{200d}👧"}),
        ),
        one("S12.31", "resolution_requested_by", json!({"resolution_requested_by": now()})),
    ]);
    let errors = inside(
        OUTCOME,
        &["error"],
        vec![
            ("S12.34", "code", json!("MND042")),
            ("S12.36", "severity", json!("FATL")),
            ("S12.37", "text", json!("Mandate not found")),
            ("S12.37", "user_message", json!("The mandate is not known.")),
            ("S12.37", "more_info", json!("Check the mandate identification.")),
        ],
    );
    // Live services always send these two, and receivers may rely on it.
    rows.extend(beside(errors, &json!({"status": "RJCT", "error": {"code": "MND001", "severity": "FATL"}})));
    rows
}

/// SPEC.md's MandateNotification.
pub(super) fn notifications() -> Vec<Case> {
    let triggers = [
        ("S13.3", "MAMC", "AMND", "CMPL"),
        ("S13.4", "MAMD", "AMND", "DECL"),
        ("S13.5", "MAMN", "AMND", "CMPL"),
        ("S13.6", "MAMX", "AMND", "TIMO"),
        ("S13.7", "MCRC", "CREA", "CMPL"),
        ("S13.8", "MCRD", "CREA", "DECL"),
        ("S13.9", "MCRX", "CREA", "TIMO"),
        ("S13.10", "MSCH", "STCH", "CMPL"),
    ];
    let mut rows: Vec<Case> = triggers
        .map(|(id, trigger, action, status)| {
            let members = json!({"trigger": trigger, "action_type": action, "action_status": status});
            case(id, NOTIFICATION, format!("trigger {trigger}"), vec![members])
        })
        .into();
    rows.extend([
        case(
            "S13.11",
            NOTIFICATION,
            "mps_user_id of 1 and of 10 characters",
            ["U", "MPSUSER-10"].map(|user| json!({"mps_user_id": user})).into(),
        ),
        list("S13.13", NOTIFICATION, "mandate_status", &["ACTV", "CNCD", "CRTD", "SUSD"]),
        list("S13.15", NOTIFICATION, "action_type", &["AMND", "CREA", "PORT", "STCH"]),
        list("S13.16", NOTIFICATION, "action_status", &["CMPL", "DECL", "PEND", "RECL", "TIMO"]),
    ]);
    let events = inside(
        NOTIFICATION,
        &["resolution_event"],
        vec![("S13.18", "reason_code", json!("AC02")), ("S13.19", "reason_description", json!("Not agreed"))],
    );
    rows.extend(beside(events, &json!({"resolution_event": {"reason_code": "AC01"}})));
    rows.extend(inside(
        NOTIFICATION,
        &["details", "amendment", "debtor_information"],
        vec![
            ("S13.25", "party_type", json!("PERS")),
            ("S13.26", "party_name", json!("Zoë 新 👍🏽")),
            ("S13.27", "ultimate_party_name", json!("Kim Sample")),
            ("S13.28", "account_identification_type_code", json!("BBAN")),
            ("S13.29", "account_identification", json!("013010123456789")),
            ("S13.30", "account_alias_type_code", json!("EMAL")),
            ("S13.31", "account_alias_identification", json!("payer@example.com")),
            ("S13.32", "party_reference", json!("REF-1")),
        ],
    ));
    rows
}
