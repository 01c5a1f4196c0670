//! The forms in which stores keep headers, findings, requests and histories, typed by hand: what
//! another version wrote must be read.

use bankrail_webhook::history::{History, HistoryId, HistoryState, MandateState, PaymentState};
use bankrail_webhook::sender::{OriginalRequest, PaymentCondition, PaymentInstruction};
use bankrail_webhook::*;

const REQUEST_KEY: &str = "2d1e8c34-7f60-4b1f-8a3d-5b9c0e6f7a21";
const MESSAGE_ID: &str = "9f0c6f2a-3c1b-4a56-9d5e-0c1f7d8b2a11";
const CORRELATION_ID: &str = "7a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d";

#[test]
fn attributes_of_an_entry_keep_their_form() {
    let request = OriginalRequest::new(REQUEST_KEY.parse().unwrap());
    let plain = DeliveryHeaders::new(MESSAGE_ID.parse().unwrap());
    let full = DeliveryHeaders::answering(
        &request.with_correlation_id(CORRELATION_ID.parse().unwrap()),
        MESSAGE_ID.parse().unwrap(),
    );
    let (_, findings) = DeliveryHeaders::parse(
        MessageKind::Query,
        [
            ("X-Message-Id", MESSAGE_ID.as_bytes()),
            ("priority", b"SOON".as_slice()),
        ],
    )
    .unwrap();
    let all = concat!(
        r#"{"headers":{"request_key":"2d1e8c34-7f60-4b1f-8a3d-5b9c0e6f7a21","#,
        r#""message_id":"9f0c6f2a-3c1b-4a56-9d5e-0c1f7d8b2a11","#,
        r#""correlation_id":"7a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d","priority":"ATTENDED"}}"#
    );
    let found = concat!(
        r#"{"headers":{"message_id":"9f0c6f2a-3c1b-4a56-9d5e-0c1f7d8b2a11","priority":"UNATTENDED"},"#,
        r#""findings":[["optional_header","priority","UNATTENDED","\"SOON\""]]}"#
    );
    let least = r#"{"headers":{"message_id":"9f0c6f2a-3c1b-4a56-9d5e-0c1f7d8b2a11"}}"#;
    for (headers, findings, stored) in [
        (full.priority(Priority::Attended), vec![], all),
        (plain.priority(Priority::Unattended), findings, found),
        (plain, vec![], least),
    ] {
        let written = headers.to_attributes(&findings);
        assert_eq!(std::str::from_utf8(&written).unwrap(), stored);
        assert_eq!(
            DeliveryHeaders::from_attributes(stored.as_bytes()),
            Some((headers, findings))
        );
    }
}

#[test]
fn an_instruction_keeps_its_form() {
    let request = OriginalRequest::new(REQUEST_KEY.parse().unwrap());
    let request = request.with_correlation_id(CORRELATION_ID.parse().unwrap());
    let instruction = PaymentInstruction::new(request, "I-42".parse().unwrap());
    let now = "2021-07-29T01:02:03.450Z".parse().unwrap();
    let day = |number: u8| format!("2021-07-{number}").parse().unwrap();
    let head = concat!(
        r#"{"request":{"request_key":"2d1e8c34-7f60-4b1f-8a3d-5b9c0e6f7a21","#,
        r#""correlation_id":"7a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"},"instruction_identification":"I-42""#
    );
    let future = PaymentCondition::FutureDated {
        requested_execution_date: day(30),
    };
    let failed = PaymentCondition::Failed {
        reason_code: "AM04".parse().unwrap(),
    };
    for (conditions, reported) in [
        (vec![], "[]"),
        (vec![future.clone()], r#"[{"PDNG":{"until":"2021-07-30"}}]"#),
        (
            vec![future, PaymentCondition::Delayed],
            r#"[{"PDNG":{"until":"2021-07-30"}},"ACSP"]"#,
        ),
        (vec![PaymentCondition::Settled], r#"["ACSC"]"#),
        (vec![failed], r#"["RJCT"]"#),
    ] {
        let mut told = instruction.clone();
        for (days, condition) in (29..).zip(conditions) {
            told.report(&condition, now, day(days)).unwrap();
        }
        let stored = format!("{head},\"reported\":{reported}}}");
        assert_eq!(serde_json::to_string(&told).unwrap(), stored);
        assert_eq!(
            serde_json::from_str::<PaymentInstruction>(&stored).unwrap(),
            told
        );
    }
    let named = instruction.with_uetr("ba5eba11-0000-4000-8000-00000000002a".parse().unwrap());
    let stored =
        format!("{head},\"uetr\":\"ba5eba11-0000-4000-8000-00000000002a\",\"reported\":[]}}");
    assert_eq!(serde_json::to_string(&named).unwrap(), stored);
}

/// Returns a stored history with one event that has this effect.
fn mandate(effect: &str) -> Option<History> {
    let print = "3b9a3908da35a4fe3822be6de5b3678ac7b9e569192d9fc0d67112a2ce9ef839";
    let action = r#""action":"5e1f0a728a1d11eb8dcd0242ac130003""#;
    History::from_json(
        format!(r#"{{"mandate":{{"{print}":{{"at":"2021-07-29T01:02:03.450Z",{action},"effect":"{effect}"}}}}}}"#)
            .as_bytes(),
    )
}

#[test]
fn histories_keep_their_form() {
    use MandateState::{Active, Cancelled, Created, Suspended, Unknown};
    for (effect, state, complete) in [
        ("waiting", Unknown, true),
        ("creation_pending", Created, true),
        ("creation_refused", Cancelled, true),
        ("activated", Active, true),
        ("suspended", Suspended, false),
        ("released", Active, false),
        ("cancelled", Cancelled, true),
        ("none", Unknown, true),
        ("seen_created", Created, true),
        ("seen_active", Active, true),
        ("seen_suspended", Suspended, false),
        ("seen_cancelled", Cancelled, false),
    ] {
        let history = mandate(effect).unwrap_or_else(|| panic!("{effect}"));
        assert_eq!(
            (history.state(), history.is_complete()),
            (HistoryState::Mandate(state), complete),
            "{effect}"
        );
        let again = history.to_json();
        assert!(
            again.contains(&format!("\"effect\":\"{effect}\"")),
            "{again}"
        );
        assert_eq!(History::from_json(again.as_bytes()), Some(history));
    }
    assert_eq!(mandate("Activated"), None);
    for (status, state) in [
        ("PDNG", PaymentState::Warehoused),
        ("ACSP", PaymentState::SettlementPending),
        ("ACSC", PaymentState::Settled),
        ("RJCT", PaymentState::Rejected),
    ] {
        let stored = format!(
            r#"{{"payment":[{{"status":"{status}","fingerprint":"{}","at":"2021-07-29T01:02:03.450Z"}}]}}"#,
            "3b9a3908da35a4fe3822be6de5b3678ac7b9e569192d9fc0d67112a2ce9ef839"
        );
        let history = History::from_json(stored.as_bytes()).unwrap();
        assert_eq!(
            (history.state(), history.is_complete()),
            (HistoryState::Payment(state), true),
            "{status}"
        );
        assert_eq!(history.to_json(), stored);
    }
}

#[test]
fn states_and_ids_of_histories_have_fixed_names() {
    use MandateState as M;
    use PaymentState as P;
    for (state, name, is_final) in [
        (HistoryState::Mandate(M::Unknown), "mandate_unknown", false),
        (HistoryState::Mandate(M::Created), "mandate_created", false),
        (HistoryState::Mandate(M::Active), "mandate_active", false),
        (
            HistoryState::Mandate(M::Suspended),
            "mandate_suspended",
            false,
        ),
        (
            HistoryState::Mandate(M::Cancelled),
            "mandate_cancelled",
            true,
        ),
        (
            HistoryState::Mandate(M::Contradictory),
            "mandate_contradictory",
            false,
        ),
        (HistoryState::Payment(P::Unknown), "payment_unknown", false),
        (
            HistoryState::Payment(P::Warehoused),
            "payment_warehoused",
            false,
        ),
        (
            HistoryState::Payment(P::SettlementPending),
            "payment_settlement_pending",
            false,
        ),
        (HistoryState::Payment(P::Settled), "payment_settled", true),
        (HistoryState::Payment(P::Rejected), "payment_rejected", true),
        (
            HistoryState::Payment(P::Contradictory),
            "payment_contradictory",
            false,
        ),
    ] {
        assert_eq!((state.as_str(), state.is_final()), (name, is_final));
        assert_eq!(format!("{state:>30}"), format!("{name:>30}"));
    }
    for (id, name) in [
        (
            HistoryId::Mandate(samples::mandate_id()),
            "mandate:0b7c2f6e8a1d11eb8dcd0242ac130003",
        ),
        (
            HistoryId::Instruction("I-42".parse().unwrap()),
            "instruction:I-42",
        ),
        (
            HistoryId::Uetr("ba5eba11-0000-4000-8000-00000000002a".parse().unwrap()),
            "uetr:ba5eba11-0000-4000-8000-00000000002a",
        ),
    ] {
        assert_eq!(id.to_string(), name);
        assert_eq!(name.parse::<HistoryId>(), Ok(id));
    }
}
