//! The JSON around a sealed message.

use bankrail_secured_payload::SecuredPayload;

#[test]
fn envelopes_survive_the_round_trip_and_unknown_members_are_ignored() {
    let envelope = SecuredPayload::new("a.b\"c");
    assert_eq!(SecuredPayload::from_json(envelope.to_json().as_bytes()).unwrap(), envelope);
    assert_eq!(SecuredPayload::new("a.b").to_json(), r#"{"secured_payload":"a.b"}"#);
    let more = br#" {"x":{"y":[1]},"secured_payload":"a.b","z":null} "#;
    assert_eq!(SecuredPayload::from_json(more).unwrap().secured_payload, "a.b");
    assert!(!format!("{envelope:?}").contains("a.b"));
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
        assert!(SecuredPayload::from_json(body.as_bytes()).is_err(), "{body}");
    }
    assert!(SecuredPayload::from_json(&vec![b' '; SecuredPayload::MAX_JSON + 1]).is_err());
}
