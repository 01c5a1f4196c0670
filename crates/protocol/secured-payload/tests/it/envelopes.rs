//! The JSON around a sealed message.

use bankrail_secured_payload::SecuredPayload;

#[test]
fn envelopes_survive_the_round_trip_and_unknown_members_are_ignored() {
    let envelope = SecuredPayload::new("a.b\"c");
    assert_eq!(
        SecuredPayload::from_json(envelope.to_json().as_bytes()).unwrap(),
        envelope
    );
    assert_eq!(
        SecuredPayload::new("a.b").to_json(),
        r#"{"secured_payload":"a.b"}"#
    );
    let more = br#" {"x":{"y":[1]},"secured_payload":"a.b","z":null} "#;
    assert_eq!(
        SecuredPayload::from_json(more).unwrap().secured_payload,
        "a.b"
    );
    assert_eq!(format!("{envelope:?}"), "SecuredPayload { len: 5 }");
}

#[test]
fn an_envelope_is_bounded() {
    let of = |text: &str| SecuredPayload::from_json(text.as_bytes()).is_ok();
    let long = |bytes: usize| SecuredPayload::new("a".repeat(bytes - 22)).to_json();
    assert_eq!(long(1_048_576).len(), 1_048_576);
    assert!(of(&long(1_048_576)) && !of(&long(1_048_577)));
    let with = |json: &str| of(&format!(r#"{{"secured_payload":"a.b","x":{json}}}"#));
    let nested = |arrays: usize| format!("{}{}", "[".repeat(arrays), "]".repeat(arrays));
    assert!(with(&nested(15)) && !with(&nested(16)));
    // The object, its text and the array count as three values.
    let array = |elements: usize| format!("[{}]", vec!["0"; elements].join(","));
    assert!(with(&array(1021)) && !with(&array(1022)));
}

#[test]
fn everything_else_is_refused() {
    for body in [
        r#""#,
        r#"[]"#,
        r#""a.b""#,
        r#"{}"#,
        r#"{"secured_payload":null}"#,
        r#"{"secured_payload":["a.b"]}"#,
        r#"{"secured_payload":"a","secured_payload":"b"}"#,
        r#"{"secured_payload":"a","secured\u005fpayload":"b"}"#,
        r#"{"secured_payload":"a"}{}"#,
        r#"{"secured_payload":"a""#,
    ] {
        assert!(
            SecuredPayload::from_json(body.as_bytes()).is_err(),
            "{body}"
        );
    }
}
