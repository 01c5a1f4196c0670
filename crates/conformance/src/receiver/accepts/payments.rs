//! The formats that messages share, and outcomes of payments.

use super::super::messages::{now, time_based, time_based_of, token, uuid};
use super::{Case, OUTCOME, PAYMENT, beside, case, codes, inside};
use serde_json::json;

/// "Common formats in webhook messages".
pub(super) fn formats() -> Vec<Case> {
    let times = ["2024-02-29T00:00:00.000Z", "1999-12-31T23:59:59.999Z"];
    let money = |currency: &str, amount: &str| {
        let amount = json!({"currency": currency, "amount": amount});
        json!({"original_transaction_reference": {"instructed_amount": amount}})
    };
    vec![
        case(
            "S11.1",
            PAYMENT,
            "timestamps at the ends of a day, a month and a year",
            times.map(|at| json!({"acceptance_date_time": at})).into(),
        ),
        case(
            "S11.6",
            OUTCOME,
            "mandate_identification whose 17th character is 8, 9, a, b",
            ['8', '9', 'a', 'b'].map(|variant| json!({"mandate_identification": time_based_of(variant)})).into(),
        ),
        case(
            "S11.8",
            OUTCOME,
            "action_identification whose 17th character is 8, 9, a, b",
            ['8', '9', 'a', 'b'].map(|variant| json!({"action_identification": time_based_of(variant)})).into(),
        ),
        case(
            "S11.12",
            PAYMENT,
            "money in AUD, USD and EUR",
            ["AUD", "USD", "EUR"].map(|currency| money(currency, "5.00")).into(),
        ),
        case(
            "S11.13",
            PAYMENT,
            "money of 0.01, of 12.50 and of 1000000.00",
            ["0.01", "12.50", "1000000.00"].map(|amount| money("AUD", amount)).into(),
        ),
    ]
}

/// SPEC.md's MPIRActionOutcome.
pub(super) fn outcomes() -> Vec<Case> {
    let mut rows = codes(PAYMENT, "transaction_status", [("S14.3", "ACSC"), ("S14.4", "ACSP"), ("S14.5", "PDNG")]);
    let rejected = codes(PAYMENT, "transaction_status", [("S14.6", "RJCT")]);
    // A rejection says why ("States and transitions").
    rows.extend(beside(rejected, &json!({"transaction_status_reason_code": "AM04"})));
    let texts = |id, member: &str, longest: usize| {
        let members = [1, longest].map(|length| json!({ member: token(length) }));
        case(id, PAYMENT, format!("{member} of 1 and of {longest} characters"), members.into())
    };
    let information = |text: &str| json!({"transaction_status_additional_information": [text]});
    rows.extend([
        case(
            "S14.7",
            PAYMENT,
            "transaction_status_reason_code of 1 and of 4 characters",
            ["1", "AM04"]
                .map(|code| json!({"transaction_status": "RJCT", "transaction_status_reason_code": code}))
                .into(),
        ),
        case(
            "S14.8",
            PAYMENT,
            "transaction_status_additional_information of several texts",
            vec![json!({"transaction_status_additional_information": ["one", "two", "three"]})],
        ),
        case(
            "S14.10",
            PAYMENT,
            "transaction_status_additional_information of 1 and of 105 characters",
            vec![information("x"), information(&"é".repeat(105))],
        ),
        texts("S14.11", "mps_user_id", 10),
        texts("S14.12", "instruction_identification", 35),
        case("S14.13", PAYMENT, "uetr", vec![json!({"uetr": uuid()})]),
        texts("S14.14", "account_servicer_reference", 35),
        texts("S14.15", "clearing_system_reference", 35),
        case("S14.16", PAYMENT, "acceptance_date_time", vec![json!({"acceptance_date_time": now()})]),
    ]);
    rows.extend(inside(
        PAYMENT,
        &["original_transaction_reference"],
        vec![
            ("S14.18", "original_instruction_identification", json!("INV-2026-0042")),
            ("S14.19", "instructed_amount", json!({"currency": "AUD", "amount": "12.50"})),
            ("S14.20", "mandate_identification", json!(time_based())),
            ("S14.21", "creditor_name", json!("Sample Utilities & Söhne")),
            ("S14.22", "creditor_ultimate_name", json!("Sample Utilities Holding")),
            ("S14.23", "creditor_account_identification", json!("013010123456789")),
        ],
    ));
    rows
}
