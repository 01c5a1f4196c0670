//! The published description of the control against the operations. Answers are compared with it
//! where the program is tested, which has them all.

use bankrail_emulator::{Member, MemberKind, Operation};
use serde_json::{Map, Value, json};

fn schema(member: &Member) -> Value {
    let kind = match member.kind {
        MemberKind::Number => return json!({ "type": "integer", "minimum": 0 }),
        MemberKind::Flag => "boolean",
        MemberKind::Object => "object",
        _ => "string",
    };
    match (member.values)() {
        any if any.is_empty() => json!({ "type": kind }),
        values => json!({ "enum": values }),
    }
}

/// Returns the schema of the answer. In the file, a name stands for the answer of that operation.
fn answer(operation: Operation) -> Value {
    let all: Value = serde_json::from_str(include_str!("answers.json")).unwrap();
    let own = &all[operation.name()];
    own.as_str().map_or(own, |other| &all[other]).clone()
}

fn described(operation: Operation) -> Value {
    let error = json!({ "$ref": "#/components/responses/Error" });
    let mut made = json!({
        "operationId": operation.name(),
        "summary": operation.about(),
        "responses": {
            "200": {
                "description": "It was done, or is so.",
                "content": { "application/json": { "schema": answer(operation) } },
            },
        },
    });
    let mut statuses = vec!["400", "401", "404", "413", "500"];
    if matches!(operation, Operation::AssertCalls | Operation::Send) {
        statuses.push("409");
    }
    let property = |member: &Member| {
        let mut schema = schema(member);
        schema["description"] = member.about.into();
        (member.name.to_owned(), schema)
    };
    let properties: Map<_, _> = operation.members().iter().map(property).collect();
    let required: Vec<_> = operation
        .members()
        .iter()
        .filter(|member| member.is_required)
        .map(|of| of.name)
        .collect();
    let is_required = !required.is_empty();
    let mut schema =
        json!({ "type": "object", "additionalProperties": false, "properties": properties });
    if is_required {
        schema["required"] = required.into();
    }
    made["requestBody"] =
        json!({ "required": is_required, "content": { "application/json": { "schema": schema } } });
    for status in statuses {
        made["responses"][status] = error.clone();
    }
    made
}

/// Run with `BANKRAIL_UPDATE=1` to rewrite the document.
#[test]
fn the_published_document_has_each_operation_and_no_other() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../docs/control.openapi.json"
    );
    let mut made = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Control of a bank in a box",
            "version": "1",
            "description": "Operations on a `bankrail provider` that runs with --control. Each answer is a JSON object. \
                The address and the token are in control.json, in the folder of the bank's data.",
        },
        "servers": [{ "url": "http://127.0.0.1:8450" }],
        "security": [{ "token": [] }],
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "responses": { "Error": {
                "description": "The operation was not carried out, or the assertion does not hold. Nothing was changed.",
                "content": { "application/json": { "schema": {
                    "type": "object", "required": ["error"],
                    "properties": { "error": {
                        "type": "string", "description": "What was expected, and what was found.",
                    } },
                } } },
            } },
        },
        "paths": {},
    });
    for operation in Operation::ALL {
        made["paths"][format!("/_bank/{}", operation.name())]["post"] = described(*operation);
    }
    made.sort_all_objects();
    if std::env::var_os("BANKRAIL_UPDATE").is_some() {
        std::fs::write(path, format!("{made:#}\n")).unwrap();
    }
    let published: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(
        published == made,
        "docs/control.openapi.json differs: run this test with BANKRAIL_UPDATE=1"
    );
}
