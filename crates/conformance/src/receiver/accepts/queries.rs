//! Payer queries.

use super::super::messages::{time_based, token};
use super::{Case, QUERY, case, codes, inside, list};
use serde_json::json;

/// SPEC.md's QueryNotification.
pub(super) fn queries() -> Vec<Case> {
    let mut rows = codes(QUERY, "case_type", [("S15.8", "Mandate Query Case"), ("S15.9", "Mandate Query Payments")]);
    let narratives =
        ["👍👨\u{200d}👩\u{200d}👧 e\u{301} 新年快樂 עברית \u{202e}", "\\ \"quoted\" </script> & 'single'\n\ttab"];
    rows.extend([
        case(
            "S15.3",
            QUERY,
            "case_id of 1 and of 20 characters",
            [1, 20].map(|length| json!({"case_id": token(length)})).into(),
        ),
        list("S15.10", QUERY, "reminder_count", &["1", "99"]),
        case(
            "S15.12",
            QUERY,
            "re_open_case_indication true and false",
            [true, false].map(|again| json!({"re_open_case_indication": again})).into(),
        ),
        case(
            "S15.13",
            QUERY,
            "narrative with emoji, other scripts, markup and line ends",
            narratives.map(|text| json!({"narrative": text})).into(),
        ),
        case(
            "S15.14",
            QUERY,
            "narrative of 1 and of 2048 characters",
            ["?".to_owned(), "é".repeat(2048)].map(|text| json!({"narrative": text})).into(),
        ),
    ]);
    rows.extend(inside(
        QUERY,
        &["payment_details"],
        vec![
            ("S15.16", "transaction_identification", json!("TX-42")),
            ("S15.17", "instruction_identification", json!("INSTRUCTION-42")),
            ("S15.18", "transaction_date", json!("2024-02-29")),
            ("S15.19", "original_transaction_amount", json!({"currency": "AUD", "amount": "12.50"})),
        ],
    ));
    rows.extend(inside(
        QUERY,
        &["mandate_details"],
        vec![
            ("S15.21", "mps_user_id", json!("MPSUSER2")),
            ("S15.22", "mandate_identification", json!(time_based())),
            ("S15.23", "establishment_scheme", json!("AUPM")),
            ("S15.24", "mandate_purpose_code", json!("UTIL")),
            ("S15.25", "description", json!("Electricity")),
            ("S15.26", "additional_information", json!("Meter 7")),
        ],
    ));
    rows.extend(inside(
        QUERY,
        &["mandate_details", "debtor_information"],
        vec![
            ("S15.27", "party_name", json!("Alex Sample")),
            ("S15.28", "account_identification_type_code", json!("BBAN")),
            ("S15.29", "account_identification", json!("013010123456789")),
            ("S15.31", "account_identification", json!("013010XXXXX8937")),
            ("S15.30", "account_alias_type_code", json!("AUBN")),
            ("S15.30", "account_alias_identification", json!("51824753556")),
        ],
    ));
    rows.extend(inside(
        QUERY,
        &["mandate_details", "creditor_information"],
        vec![("S15.34", "party_reference", json!("REF-1"))],
    ));
    let money = json!({"currency": "AUD", "amount": "12.50"});
    rows.extend(inside(
        QUERY,
        &["mandate_details", "payment_information"],
        vec![
            ("S15.35", "payment_frequency", json!("MNTH")),
            ("S15.37", "payment_execute_not_before_time", json!("09:30:00.000Z")),
            ("S15.38", "count_per_period", json!("1")),
            ("S15.39", "point_in_time", json!("15")),
            ("S15.40", "payment_amount_type", json!("VARI")),
            ("S15.41", "first_payment_amount", money.clone()),
            ("S15.41", "last_payment_amount", money.clone()),
            ("S15.42", "amount", money.clone()),
            ("S15.42", "maximum_amount", money),
        ],
    ));
    rows
}
