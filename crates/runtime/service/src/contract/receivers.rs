//! What the provider sends to its customers' receivers (Specification: "Webhook receivers").

use super::schema;
use bankrail_webhook::MessageKind;
use bankrail_webhook::headers::{CORRELATION_ID, MESSAGE_ID, PRIORITY, REQUEST_KEY};
use serde_json::{Map, Value, json};

/// One webhook for each kind of message.
pub(super) fn webhooks() -> Value {
    let webhooks =
        MessageKind::ALL.map(|kind| (kind.as_str().to_owned(), json!({ "post": webhook(kind) })));
    Value::Object(webhooks.into_iter().collect())
}

fn webhook(kind: MessageKind) -> Value {
    let mut responses = Map::new();
    let json = |description: &str, name: &str| {
        json!({
            "description": description,
            "content": { "application/json": { "schema": schema(name) } },
        })
    };
    let acknowledgement = bankrail_webhook::schema::ACKNOWLEDGEMENT;
    responses.insert(
        "200".to_owned(),
        json("The message is stored", acknowledgement),
    );
    responses.insert(
        "400".to_owned(),
        json("The delivery is refused", "ReceiverFault"),
    );
    responses.insert(
        "500".to_owned(),
        json(
            "The message is not stored: deliver it again",
            "ReceiverFault",
        ),
    );
    for (status, description) in [
        ("401", "The API key is not known"),
        ("405", "The method is not POST"),
        ("408", "The body did not arrive in time"),
        ("413", "The body is too large"),
        ("414", "The address is too long"),
        ("415", "The body is not JSON"),
        ("431", "The headers are too large"),
    ] {
        responses.insert(status.to_owned(), json!({ "description": description }));
    }
    let message = bankrail_webhook::schema::name(kind);
    json!({
        "operationId": kind.as_str(),
        "summary": format!("Delivers a {message}"),
        "description": format!("Default path below the customer's base address: {}", kind.default_path()),
        "security": [{ "receiverKey": [] }],
        "x-limits": { "max_message_bytes": bankrail_values::MAX_MESSAGE_BYTES },
        "parameters": parameters(kind),
        "requestBody": { "required": true, "content": { "application/json": { "schema": {
            "type": "object",
            "required": ["secured_payload"],
            "properties": { "secured_payload": {
                "type": "string",
                "description": "The JSON message, signed (JWS, RS256) and then encrypted (JWE, RSA-OAEP and \
                    A256CBC-HS512), in compact form.",
                "contentMediaType": "application/jose",
                "contentSchema": schema(message),
            } },
        } } } },
        "responses": responses,
    })
}

/// The headers that a delivery of this kind may have.
fn parameters(kind: MessageKind) -> Vec<Value> {
    let uuid = super::schemas::received_uuid();
    let priorities: Vec<_> = kind
        .priorities()
        .iter()
        .map(|priority| priority.as_str())
        .collect();
    let outcome = kind.answers_a_request();
    let all = [
        (REQUEST_KEY, outcome, outcome, uuid.clone()),
        (MESSAGE_ID, true, true, uuid.clone()),
        (CORRELATION_ID, outcome, false, uuid),
        (PRIORITY, true, false, json!({ "enum": priorities })),
    ];
    let sent = all.into_iter().filter(|(_, sent, ..)| *sent);
    sent.map(
        |(name, _, required, schema)| json!({ "in": "header", "name": name, "required": required, "schema": schema }),
    )
    .collect()
}
