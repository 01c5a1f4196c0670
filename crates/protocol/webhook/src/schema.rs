//! JSON Schemas of the messages (draft 2020-12), for contracts such as an OpenAPI document.
//!
//! The schemas are made from the structs of the messages and describe what is sent: the
//! specification's formats, its conditions, and the bounds that are documented defaults. A receiver
//! must accept more: unknown members, and codes that are not listed (Default: new ones appear in
//! minor releases). A list is closed where the specification has one value only.

use crate::json::{Schemas, Wire};
use crate::{
    Acknowledgement, ActionType, AliasType, InvestigationType, MessageKind, TransactionStatus,
};
use serde_json::{Value, json};

/// Returns the schemas of all messages, of the acknowledgement and of the objects in them: the text
/// of a JSON object with a member for each schema, named after the type. Schemas refer to each
/// other as `#/components/schemas/NAME`.
///
/// ```
/// use bankrail_webhook::{MessageKind, schema};
/// let schemas: serde_json::Value = serde_json::from_str(&schema::components()).unwrap();
/// let query = &schemas[schema::name(MessageKind::Query)];
/// assert_eq!(query["properties"]["narrative"]["maxLength"], 2048);
/// ```
#[must_use]
pub fn components() -> String {
    let mut schemas = Schemas::default();
    Acknowledgement::schema(None, &mut schemas);
    // The reader accepts any other status, but it does not acknowledge the message.
    schemas.fix(ACKNOWLEDGEMENT, "status", Acknowledgement::RECEIVED);
    for kind in MessageKind::ALL {
        kind.add_schema(&mut schemas);
    }
    schemas.fix(
        "QueryNotification",
        "investigation_type_code",
        InvestigationType::Query.as_str(),
    );
    add_conditions(&mut schemas);
    schemas.into_json()
}

/// Returns the name of the schema of a kind of message.
#[must_use]
pub fn name(kind: MessageKind) -> &'static str {
    kind.schema_name()
}

/// The name of the schema of the acknowledgement.
pub const ACKNOWLEDGEMENT: &str = "Acknowledgement";

/// The forms of aliases (Specification: "Payment alias (PayID) formats"). The code also refuses
/// upper case beyond ASCII in an email, which not every dialect of patterns can express.
const ALIASES: [(AliasType, &str); 4] = [
    (AliasType::Telephone, r"^\+[0-9]{1,3}-[1-9][0-9]{1,29}$"),
    (AliasType::Email, r"^[^\sA-Z]+@[^\sA-Z]+$"),
    (AliasType::BusinessNumber, "^([0-9]{9}|[0-9]{11})$"),
    (
        AliasType::Organisation,
        r"^[!-@\[-~]([ -@\[-~]*[!-@\[-~])?$",
    ),
];

/// The maximum number of characters of an email and of an organisation; the patterns bound the
/// other forms.
const MAX_ALIAS: usize = 256;

/// The pattern of a completely masked alias.
const MASKED: &str = "^[X*]+$";

/// Adds the specification's conditions between members to the schemas of messages.
fn add_conditions(schemas: &mut Schemas) {
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

    // In an amendment, the alias may also be the mark for "cleared".
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

/// Returns the condition that a member is present and has one of these values.
fn is_one_of(member: &str, values: &[&str]) -> Value {
    json!({ "properties": { member: { "enum": values } }, "required": [member] })
}
