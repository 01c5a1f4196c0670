//! Takes bytes as JSON. Reading never panics; what is read is what serde_json reads, and what is
//! refused beyond the grammar is refused for a rule.

use bankrail_values::json::{self, JsonErrorKind, JsonLimits, JsonValue};
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let limits = JsonLimits::new();
    let read = json::read(data, &limits);
    assert_eq!(
        read.as_ref().err(),
        json::check(data, &limits).as_ref().err()
    );
    match (read, serde_json::from_slice::<Value>(data)) {
        (Ok(ours), Ok(theirs)) => assert!(same(&ours, &theirs)),
        (Err(error), Ok(_)) => assert!(
            matches!(
                error.kind(),
                JsonErrorKind::DuplicateMember
                    | JsonErrorKind::TooDeep { .. }
                    | JsonErrorKind::TooManyValues { .. }
            ),
            "{error}"
        ),
        // The peer has numbers as doubles.
        (Ok(_), Err(error)) => assert!(
            error.to_string().starts_with("number out of range"),
            "{error}"
        ),
        (Err(_), Err(_)) => {}
    }
});

fn same(ours: &JsonValue<'_>, theirs: &Value) -> bool {
    match (ours, theirs) {
        (JsonValue::Null, Value::Null) | (JsonValue::Number(_), Value::Number(_)) => true,
        (JsonValue::Bool(ours), Value::Bool(theirs)) => ours == theirs,
        (JsonValue::String(ours), Value::String(theirs)) => ours == theirs,
        (JsonValue::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len()
                && ours
                    .iter()
                    .zip(theirs)
                    .all(|(ours, theirs)| same(ours, theirs))
        }
        (JsonValue::Object(ours), Value::Object(theirs)) => {
            ours.members().len() == theirs.len()
                && ours.members().iter().all(|m| {
                    theirs
                        .get(m.name())
                        .is_some_and(|theirs| same(m.value(), theirs))
                })
        }
        _ => false,
    }
}
