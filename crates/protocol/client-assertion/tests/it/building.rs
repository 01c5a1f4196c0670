//! Claims and headers that a builder makes.

use bankrail_client_assertion::{
    AssertionBuildError, AssertionBuilder, AssertionOptions, Audience, CustomerCode, JwtId,
};
use bankrail_jose::base64url;
use bankrail_values::Timestamp;
use std::time::Duration;

fn builder() -> AssertionBuilder {
    with(AssertionOptions::new())
}

fn with(options: AssertionOptions) -> AssertionBuilder {
    AssertionBuilder::new(
        CustomerCode::parse("C").unwrap(),
        Audience::parse("urn:a").unwrap(),
        options,
    )
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(millis).unwrap()
}

#[test]
fn optional_claims_come_when_asked_for() {
    let all = AssertionOptions::new()
        .issuer(true)
        .issued_at(true)
        .jwt_id(JwtId::Text("x\"".to_owned()));
    let all = with(all).claims_json(at(1_999)).unwrap();
    assert_eq!(
        all,
        r#"{"iss":"C","sub":"C","exp":301,"aud":"urn:a","iat":1,"jti":"x\""}"#
    );
    let other = builder().with_audience(Audience::parse("urn:b").unwrap());
    assert_eq!(
        (builder().audience().as_str(), other.audience().as_str()),
        ("urn:a", "urn:b")
    );
    let other = other.claims_json(at(1_999)).unwrap();
    assert_eq!(other, r#"{"sub":"C","exp":301,"aud":"urn:b"}"#);
    let random = with(AssertionOptions::new().jwt_id(JwtId::Random));
    assert_ne!(
        random.claims_json(at(0)).unwrap(),
        random.claims_json(at(0)).unwrap()
    );
    for good in ["x", &"x".repeat(256)] {
        let found = with(AssertionOptions::new().jwt_id(JwtId::Text(good.to_owned())))
            .claims_json(at(0))
            .unwrap();
        assert!(found.ends_with(&format!(r#""jti":"{good}"}}"#)), "{found}");
    }
    for bad in ["", &"x".repeat(257)] {
        let found =
            with(AssertionOptions::new().jwt_id(JwtId::Text(bad.to_owned()))).claims_json(at(0));
        assert!(matches!(found, Err(AssertionBuildError::JwtId { length }) if length == bad.len()));
    }
}

#[test]
fn lifetimes_are_bounded_on_both_sides() {
    for (millis, good) in [
        (0, false),
        (999, false),
        (1000, true),
        (3_600_000, true),
        (3_600_001, false),
    ] {
        let lifetime = Duration::from_millis(millis);
        assert_eq!(
            with(AssertionOptions::new().lifetime(lifetime))
                .claims_json(at(0))
                .is_ok(),
            good,
            "{millis}"
        );
    }
    assert!(
        with(AssertionOptions::new().lifetime(Duration::MAX))
            .claims_json(at(0))
            .is_err()
    );
}

#[test]
fn the_header_is_exact() {
    let header = |builder: AssertionBuilder, kid| {
        let prepared = builder.prepare(kid, at(0)).unwrap();
        let input = str::from_utf8(prepared.request().message())
            .unwrap()
            .to_owned();
        String::from_utf8(base64url::decode(input.split_once('.').unwrap().0).unwrap()).unwrap()
    };
    assert_eq!(header(builder(), None), r#"{"alg":"RS256","typ":"jwt"}"#);
    assert_eq!(
        header(builder(), Some("k")),
        r#"{"alg":"RS256","typ":"jwt","kid":"k"}"#
    );
    let named = with(AssertionOptions::new().key_id("o"));
    assert_eq!(
        header(named, Some("k")),
        r#"{"alg":"RS256","typ":"jwt","kid":"o"}"#
    );
}
