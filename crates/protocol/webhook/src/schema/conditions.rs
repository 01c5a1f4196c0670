//! The specification's conditions between members, as JSON Schemas.

use crate::codes::{ActionType, AliasType, TransactionStatus};
use crate::json::Schemas;
use serde_json::{Value, json};

/// The forms of aliases (Specification: "Payment alias (PayID) formats"). Upper case beyond ASCII
/// is refused in an email too, which a pattern cannot say in every dialect.
const ALIASES: [(AliasType, &str); 4] = [
    (AliasType::Telephone, r"^\+[0-9]{1,3}-[1-9][0-9]{1,29}$"),
    (AliasType::Email, r"^[^\sA-Z]+@[^\sA-Z]+$"),
    (AliasType::BusinessNumber, "^([0-9]{9}|[0-9]{11})$"),
    (
        AliasType::Organisation,
        r"^[!-@\[-~]([ -@\[-~]*[!-@\[-~])?$",
    ),
];

/// The most characters of an email and of an organisation; the other forms are shorter.
const MAX_ALIAS: usize = 256;

/// An alias that is masked altogether.
const MASKED: &str = "^[X*]+$";

/// Adds the conditions to the schemas of messages.
pub(super) fn add(schemas: &mut Schemas) {
    let rejected = is_one_of(
        "transaction_status",
        &[TransactionStatus::Rejected.as_str()],
    );
    let reason = json!({ "required": ["transaction_status_reason_code"] });
    schemas.condition("PaymentOutcome", json!({ "if": rejected, "then": reason }));

    let others = [ActionType::Port, ActionType::StatusChange];
    let others = is_one_of("action_type", &others.each_ref().map(ActionType::as_str));
    let either = json!([{ "required": ["bilateral"] }, { "required": ["debtor_alias_name"] }]);
    schemas.condition(
        "MandateActionOutcome",
        json!({ "if": others, "then": { "not": { "anyOf": either } } }),
    );

    // An amendment clears an alias with a mark.
    for (debtor, unchecked) in [
        ("DebtorInformation", MASKED),
        ("AmendedDebtor", "^([X*]+|-)$"),
    ] {
        for (alias_type, form) in &ALIASES {
            let of_type = is_one_of("account_alias_type_code", &[alias_type.as_str()]);
            let form = json!({ "anyOf": [{ "pattern": form, "maxLength": MAX_ALIAS }, { "pattern": unchecked }] });
            let has_form = json!({ "properties": { "account_alias_identification": form } });
            schemas.condition(debtor, json!({ "if": of_type, "then": has_form }));
        }
    }
}

/// A member that is there and has one of these values.
fn is_one_of(member: &str, values: &[&str]) -> Value {
    json!({ "properties": { member: { "enum": values } }, "required": [member] })
}
