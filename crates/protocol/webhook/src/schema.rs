//! JSON Schemas of the messages (draft 2020-12), for contracts such as an OpenAPI document.
//!
//! They are made from the statements of members by which messages are read, written and checked, so
//! they say what is sent: the specification's formats, its conditions, and the bounds that are
//! documented defaults. A receiver must take more: unknown members, and codes that are not listed
//! (Default: new ones appear in minor releases). A list is closed where the specification knows one
//! value only.

mod conditions;

use crate::json::{Schemas, Wire};
use crate::{Acknowledgement, InvestigationType, MessageKind};

/// The schemas of all messages, of the acknowledgement and of the objects in them: the text of a
/// JSON object whose members are the names and the schemas. They refer to each other as
/// `#/components/schemas/NAME`.
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
    // Any other status is read, and is no acknowledgement.
    schemas.fix(ACKNOWLEDGEMENT, "status", Acknowledgement::RECEIVED);
    for kind in MessageKind::ALL {
        kind.add_schema(&mut schemas);
    }
    schemas.fix(
        "QueryNotification",
        "investigation_type_code",
        InvestigationType::Query.as_str(),
    );
    conditions::add(&mut schemas);
    schemas.into_json()
}

/// The name of the schema of a kind of message.
#[must_use]
pub fn name(kind: MessageKind) -> &'static str {
    kind.schema_name()
}

/// The name of the schema of the acknowledgement.
pub const ACKNOWLEDGEMENT: &str = "Acknowledgement";
