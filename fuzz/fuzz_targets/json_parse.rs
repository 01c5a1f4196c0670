//! Takes bytes as JSON, or changes of a sample. Reading never panics; what is read is what serde_json
//! reads, what is refused beyond the grammar is refused for a rule, and each limit is exact.

use crate::invented::{json, logged};
use bankrail_values::json::{self, JsonErrorKind, JsonLimits, JsonValue};
use serde_json::Value;

const SAMPLES: [&str; 3] = [
    r#"{"a":[1,-0.5e+7,true,null,"\u00e9"],"b":{"c":{"d":[[],{}]}},"e":""}"#,
    r#"{"0":0,"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"9":9,"10":"","11":"","12":"","13":[],"14":{},"15":7}"#,
    r#"["\ud83d\udc4d","0123456789012345678901234567890123456789","\"\\\/\b\f\n\r\t"]"#,
];

fuzz_target!(|data: &[u8]| {
    let data = &*json(data, &SAMPLES, &[]);
    let limits = JsonLimits::new();
    if let Ok(value) = json::read(data, &limits) {
        bounds(data, &value);
    }
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
        (Err(error), Err(_)) => logged(&error),
    }
});

/// Each limit is met exactly, and one less refuses.
fn bounds(data: &[u8], value: &JsonValue<'_>) {
    let (depth, values) = measure(value);
    let exact = JsonLimits::new()
        .max_document_bytes(data.len())
        .max_depth(depth)
        .max_values(values);
    assert_eq!(json::check(data, &exact), Ok(()));
    let refused = |limits: JsonLimits| json::check(data, &limits).expect_err("too much").kind();
    let bytes = refused(exact.max_document_bytes(data.len() - 1));
    assert!(matches!(bytes, JsonErrorKind::TooLong { .. }));
    let values = refused(exact.max_values(values - 1));
    assert!(matches!(values, JsonErrorKind::TooManyValues { .. }));
    if let Some(less) = depth.checked_sub(1) {
        let depth = refused(exact.max_depth(less));
        assert!(matches!(depth, JsonErrorKind::TooDeep { .. }));
    }
}

/// Returns the levels and the values of a value.
fn measure(value: &JsonValue<'_>) -> (usize, usize) {
    let inner: Vec<(usize, usize)> = match value {
        JsonValue::Array(elements) => elements.iter().map(measure).collect(),
        JsonValue::Object(object) => {
            let members = object.members().iter();
            members.map(|member| measure(member.value())).collect()
        }
        _ => return (0, 1),
    };
    let depth = inner.iter().map(|(depth, _)| *depth).max();
    let values: usize = inner.iter().map(|(_, values)| values).sum();
    (1 + depth.unwrap_or(0), 1 + values)
}

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
