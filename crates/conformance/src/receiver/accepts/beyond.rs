//! What SPEC.md does not say, and live services send.

use super::super::messages;
use super::super::session::BEYOND;
use super::{Case, NOTIFICATION, OUTCOME, PAYMENT, QUERY, case};
use bankrail_webhook::MessageKind;
use serde_json::json;

pub(super) fn cases() -> Vec<Case> {
    let kinds = MessageKind::ALL.into_iter();
    let mut rows: Vec<Case> = kinds
        .map(|kind| {
            let title = format!("{} with members that a later release may add", messages::one(kind));
            case(BEYOND, kind, title, vec![json!({"release": {"minor": 7}, "later": [1, null, "two"]})])
        })
        .collect();
    let change = json!({"change": "SUSP", "reason_code": "MS02", "reason_description": "Asked for by the payer"});
    rows.extend([
        case(BEYOND, NOTIFICATION, "a trigger that a later release may add", vec![json!({"trigger": "MZZZ"})]),
        case(
            BEYOND,
            NOTIFICATION,
            "details of a bilateral amendment, and of a change of status",
            vec![
                json!({"trigger": "MAMC", "action_type": "AMND",
                       "details": {"bilateral_amendment": {"validity_end_date": "2027-12-31"}}}),
                json!({"trigger": "MSCH", "action_type": "STCH", "details": {"status_change": change}}),
            ],
        ),
        case(BEYOND, QUERY, "narrative with U+0000 and U+001F", vec![json!({"narrative": "a\u{0}b\u{1f}c"})]),
        case(
            BEYOND,
            OUTCOME,
            "optional members that are null",
            vec![json!({"mandate_status": null, "debtor_alias_name": null, "error": null})],
        ),
        case(
            BEYOND,
            PAYMENT,
            "timestamps with no and with one fractional digit",
            ["2026-11-22T01:02:03Z", "2026-11-22T01:02:03.4Z"].map(|at| json!({"acceptance_date_time": at})).into(),
        ),
    ]);
    rows
}
