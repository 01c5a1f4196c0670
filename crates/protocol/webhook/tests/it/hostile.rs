//! Hostile and mutated input: never a panic, and what parses survives a round trip.

use bankrail_webhook::*;
use proptest::prelude::*;
use serde_json::Value;

fn check(kind: MessageKind, json: &[u8]) {
    #[cfg(feature = "serde")]
    by_serde(kind, json);
    let Ok(parsed) = Message::from_json(kind, json) else {
        return;
    };
    let written = parsed.message.to_json();
    let again = Message::from_json(kind, written.as_bytes()).unwrap();
    assert_eq!(again.message, parsed.message);
    assert_eq!(again.message.to_json(), written);
    assert_eq!(again.message.fingerprint(), parsed.message.fingerprint());
    assert!(
        !again
            .findings
            .iter()
            .any(|f| matches!(f.rule, Rule::Null | Rule::FractionDigits)),
        "a written message has no null and three fractional digits"
    );
    // Only nulls are lost: the other members are there, with the same kinds of value.
    let (before, after): (Value, Value) = (
        serde_json::from_slice(json).unwrap(),
        serde_json::from_str(&written).unwrap(),
    );
    assert_eq!(shape(&before), shape(&after));
}

/// serde reads and refuses what the reader does, and writes what the writer does.
#[cfg(feature = "serde")]
fn by_serde(kind: MessageKind, json: &[u8]) {
    fn as_message<M>(json: &[u8])
    where
        M: WebhookMessage + serde::Serialize + serde::de::DeserializeOwned,
    {
        let by_serde = serde_json::from_slice::<M>(json).ok();
        let read = M::from_json(json).ok().map(|parsed| parsed.message);
        assert_eq!(by_serde, read);
        if let Some(message) = read {
            assert_eq!(serde_json::to_string(&message).unwrap(), message.to_json());
        }
    }
    match kind {
        MessageKind::MandateOutcome => as_message::<MandateActionOutcome>(json),
        MessageKind::MandateNotification => as_message::<MandateNotification>(json),
        MessageKind::PaymentOutcome => as_message::<PaymentOutcome>(json),
        MessageKind::Query => as_message::<QueryNotification>(json),
    }
}

#[cfg(feature = "serde")]
#[test]
fn parts_of_messages_have_the_form_of_the_wire() {
    #[derive(serde::Serialize, serde::Deserialize, PartialEq, Debug)]
    struct Case {
        message: PaymentOutcome,
        details: Option<Details>,
        amounts: Vec<MessageAmount>,
        status: TransactionStatus,
        count: CountPerPeriod,
    }
    let message = r#"{"creation_date_time":"2021-07-29T01:02:03.450Z","transaction_status":"NEW1","more":[1.10,{ "a" : "\u0041" }]}"#;
    let json = format!(
        r#"{{"message":{message},"details":{{"other":1.0}},"amounts":[{{"currency":"AUD","amount":"10.0000"}}],"status":"NEW2","count":"x"}}"#
    );
    let case: Case = serde_json::from_str(&json).unwrap();
    assert_eq!(
        case.message.extra.get("more"),
        Some(r#"[1.10,{ "a" : "\u0041" }]"#)
    );
    assert_eq!(serde_json::to_string(&case).unwrap(), json);
    assert_eq!(
        serde_json::to_string(&Message::from(case.message)).unwrap(),
        message
    );
    let twice = message.replacen('{', r#"{"transaction_status":"RJCT","#, 1);
    let error = serde_json::from_str::<PaymentOutcome>(&twice).unwrap_err();
    assert!(error.to_string().contains("transaction_status"), "{error}");
}

/// Members and kinds of values, in no order and without nulls.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(
            members
                .iter()
                .filter(|(_, v)| !v.is_null())
                .map(|(n, v)| (n.clone(), shape(v)))
                .collect(),
        ),
        Value::Array(elements) => Value::Array(elements.iter().map(shape).collect()),
        Value::String(_) => Value::from("text"),
        other => other.clone(),
    }
}

/// Replaces or removes a value of a message, or adds one beside it.
fn mutate(value: &mut Value, path: &[prop::sample::Index], what: &Value, how: u8) {
    let Some((step, rest)) = path.split_first() else {
        return;
    };
    match value {
        Value::Object(members) if !members.is_empty() => {
            let name = step
                .get(&members.keys().cloned().collect::<Vec<_>>())
                .clone();
            let member = &members[&name];
            if rest.is_empty() || !(member.is_object() || member.is_array()) {
                match how {
                    0 => drop(members.remove(&name)),
                    1 => drop(members.insert(name, what.clone())),
                    _ => drop(members.insert(format!("{name}x"), what.clone())),
                }
            } else {
                mutate(&mut members[&name], rest, what, how);
            }
        }
        Value::Array(elements) => elements.push(what.clone()),
        other => *other = what.clone(),
    }
}

fn odd_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        prop::sample::select(vec![
            "-",
            "0",
            "00",
            "1000-01-01",
            "00:00:00-00:00",
            "ZZZ",
            "ACTV",
            "XXXX",
            "2021-07-29T01:02:03Z",
            "007.50",
            "0b7c2f6e8a1d11eb8dcd0242ac130003",
            "12:00:00Z",
            "99999999999999999999999999999.1",
        ])
        .prop_map(Value::from),
        Just(serde_json::json!({"currency": "ZZZ"})),
        Just(serde_json::json!({"currency": "AUD", "amount": "1"})),
        Just(serde_json::json!([])),
        Just(serde_json::json!({"a": {"b": [null]}})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn mutated_samples_survive(
        sample: prop::sample::Index,
        changes in prop::collection::vec(
            (prop::collection::vec(any::<prop::sample::Index>(), 1..5), odd_value(), 0_u8..3),
            1..4,
        ),
    ) {
        let message = sample.get(&samples::all()).clone();
        let mut json: Value = serde_json::from_str(&message.to_json()).unwrap();
        for (path, what, how) in &changes {
            mutate(&mut json, path, what, *how);
        }
        check(message.kind(), &serde_json::to_vec(&json).unwrap());
    }

    #[test]
    fn damaged_bytes_never_panic(
        sample: prop::sample::Index,
        at: prop::sample::Index,
        byte: u8,
        cut: prop::sample::Index,
    ) {
        let message = sample.get(&samples::all()).clone();
        let mut json = message.to_json().into_bytes();
        let position = at.index(json.len());
        json[position] = byte;
        for kind in MessageKind::ALL {
            let _ = Message::from_json(kind, &json);
            let _ = Message::from_json(kind, &json[..cut.index(json.len())]);
        }
    }

    #[test]
    fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for kind in MessageKind::ALL {
            let _ = Message::from_json(kind, &bytes);
        }
        let _ = Acknowledgement::from_json(&bytes);
    }
}

#[test]
fn deep_nesting_is_answered() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let depth = 100_000;
        let value = format!("{}0{}", open.repeat(depth), close.repeat(depth));
        for json in [
            value.clone(),
            format!("{{\"status\":{value}}}"),
            format!("{{\"x\":{value}}}"),
            open.repeat(depth),
        ] {
            assert!(Message::from_json(MessageKind::MandateOutcome, json.as_bytes()).is_err());
        }
    }
}
