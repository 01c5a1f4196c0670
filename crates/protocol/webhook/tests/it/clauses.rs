//! Tests of single clauses of the specification, over all of their cases.

use bankrail_values::json::JsonErrorKind;
use bankrail_webhook::*;
use serde_json::{Value, json};

/// The biller quotes the case id, so it must be kept to the character.
#[test]
fn a_case_id_is_handed_on_as_it_was_sent() {
    for text in ["C-1", " c 1 ", "É\u{301}~", "\"\\", "12345678901234567890"] {
        let mut query = serde_json::from_slice::<Value>(
            Message::from(samples::query(&CaseType::Mandate))
                .to_json()
                .as_bytes(),
        )
        .unwrap();
        query["case_id"] = json!(text);
        let read = QueryNotification::from_json(query.to_string().as_bytes())
            .unwrap()
            .message;
        assert_eq!(read.case_id.as_str(), text);
        assert_eq!(
            serde_json::from_str::<Value>(&Message::from(read).to_json()).unwrap()["case_id"],
            text
        );
    }
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Object(members) => members.values().map(count).sum(),
        Value::Array(elements) => elements.iter().map(count).sum(),
        _ => 0,
    }
}

#[test]
fn a_message_has_at_most_4096_values_and_32_levels() {
    let good: Value =
        serde_json::from_str(&Message::from(samples::query(&CaseType::Mandate)).to_json()).unwrap();
    let read = |more: Value| {
        let mut message = good.clone();
        message["more"] = more;
        match Message::from_json(MessageKind::Query, message.to_string().as_bytes()) {
            Ok(_) => None,
            Err(MessageError::Json(error)) => Some(error.kind()),
            Err(other) => panic!("{other}"),
        }
    };
    let zeros = |total: usize| Value::from(vec![0; total - count(&good) - 1]);
    assert_eq!(read(zeros(4096)), None);
    assert_eq!(
        read(zeros(4097)),
        Some(JsonErrorKind::TooManyValues { max: 4096 })
    );
    let nested = |levels: usize| (1..levels).fold(json!([]), |inner, _| json!([inner]));
    // The message itself is the first level.
    assert_eq!(read(nested(31)), None);
    assert_eq!(read(nested(32)), Some(JsonErrorKind::TooDeep { max: 32 }));
}
