//! The answer to the counterparty, the chain of causes, and what `Debug` prints.

use crate::support::{
    KEY, OTHER_KEY, Replays, block_on, builder, builder_with, claims, now, signed, verifier, verify,
};
use bankrail_client_assertion::token::{
    AccessToken, TokenGrant, TokenRequest, TokenResponse, TokenStore,
};
use bankrail_client_assertion::{
    AssertionBuilder, AssertionError, AssertionOptions, Audience, CustomerCode, ReplayKey,
    ReplayPolicy, ReplayStore, Unverified, VerifiedAssertion, Verifier,
};
use bankrail_jose::jws::{self, JwsHeader};
use std::error::Error as _;

#[test]
fn every_bad_assertion_gets_the_same_answer() {
    let bad = [
        String::new(),
        "a.b.c".to_owned(),
        builder().sign(&OTHER_KEY, now()).unwrap(),
        signed("[]"),
        signed(&claims(&[("exp", "1")])),
        signed(&claims(&[("aud", "\"x\"")])),
        signed(&claims(&[("sub", "\"NOBODY\"")])),
        signed(&claims(&[("sub", "\"nobody\"")])),
        signed(&claims(&[("jti", "1")])),
    ];
    for assertion in &bad {
        let error = verify(&verifier(), assertion).unwrap_err();
        assert_eq!(
            (error.status(), error.to_body().to_json().as_str()),
            (401, r#"{"error":"invalid_client"}"#)
        );
        assert!(!error.is_retryable());
    }
}

#[test]
fn each_kind_of_error_has_a_word_of_its_own() {
    let kind = |changes: &[(&str, &str)]| {
        verify(&verifier(), &signed(&claims(changes)))
            .unwrap_err()
            .kind()
    };
    for (claim, value, expected) in [
        ("exp", "", "exp"),
        ("exp", "1", "expired"),
        ("exp", "9999999999", "exp"),
        ("nbf", "9999999999", "nbf"),
        ("iat", "9999999999", "iat"),
        ("aud", "\"x\"", "aud"),
        ("aud", "[]", "aud"),
        ("iss", "\"X\"", "iss"),
        ("sub", "\"x\"", "sub"),
        ("sub", "\"X\"", "customer"),
        ("jti", "\"\"", "jti"),
    ] {
        assert_eq!(kind(&[(claim, value)]), expected, "{claim} {value}");
    }
    let of = |assertion: &str| verify(&verifier(), assertion).unwrap_err().kind();
    assert_eq!((of("a.b"), of(&signed("[]"))), ("malformed", "claims"));
    assert_eq!(of(&builder().sign(&OTHER_KEY, now()).unwrap()), "signature");
    let untyped = jws::sign(&KEY, &JwsHeader::new(), claims(&[]).as_bytes()).unwrap();
    assert_eq!(of(&untyped), "typ");
    let key_of_another_name = |_: &CustomerCode| Some(KEY.verifying_key().with_kid("k1"));
    let named = builder_with(AssertionOptions::new().key_id("k2"))
        .sign(&KEY, now())
        .unwrap();
    assert_eq!(
        verifier()
            .verify(&named, now(), key_of_another_name)
            .unwrap_err()
            .kind(),
        "key"
    );
    let verified = verify(&verifier(), &builder().sign(&KEY, now()).unwrap()).unwrap();
    let request =
        TokenRequest::new("a.b.c", "A".parse().unwrap()).with_client_id(&"OTHER".parse().unwrap());
    assert_eq!(
        verified.check_client_id(&request).unwrap_err().kind(),
        "client_id"
    );
    let claim = |policy, store: &Replays| block_on(verified.claim(policy, store, now()));
    assert_eq!(
        claim(ReplayPolicy::RequireJti, &Replays::default())
            .unwrap_err()
            .kind(),
        "jti"
    );
    let store = Replays::default();
    claim(ReplayPolicy::WholeAssertion, &store).unwrap();
    assert_eq!(
        claim(ReplayPolicy::WholeAssertion, &store)
            .unwrap_err()
            .kind(),
        "replayed"
    );
    let broken = Replays {
        broken: true,
        ..Replays::default()
    };
    assert_eq!(
        claim(ReplayPolicy::WholeAssertion, &broken)
            .unwrap_err()
            .kind(),
        "store"
    );
}

#[test]
fn the_chain_of_causes_says_each_thing_once() {
    let chain = |assertion: &str| {
        let error = verify(&verifier(), assertion).unwrap_err();
        let mut texts = vec![error.to_string()];
        let mut cause = error.source();
        while let Some(error) = cause {
            texts.push(error.to_string());
            cause = error.source();
        }
        texts
    };
    assert_eq!(
        chain("a.b"),
        ["the assertion is malformed: expected three parts separated by dots, found 2"]
    );
    let subject = chain(&signed(&claims(&[("sub", "\"x\\n\"")])));
    assert_eq!(subject.len(), 1, "{subject:?}");
    assert!(
        subject[0].starts_with("the claim sub is not acceptable: expected a customer code"),
        "{subject:?}"
    );
    assert!(subject[0].ends_with(r#"found "x\n""#), "{subject:?}");
}

#[test]
fn printing_shows_no_assertion_and_no_token() {
    let assertion = builder().sign(&KEY, now()).unwrap();
    let verifier = verifier();
    let unverified = format!("{:?}", verifier.read(&assertion).unwrap());
    let verified = format!("{:?}", verify(&verifier, &assertion).unwrap());
    let request = format!(
        "{:?}",
        TokenRequest::new(assertion.as_str(), "A".parse().unwrap())
    );
    for part in assertion.split('.') {
        for printed in [&unverified, &verified, &request] {
            assert!(!printed.contains(part), "{printed}");
        }
    }
}

#[test]
fn public_types_can_be_shared() {
    fn shared<T: Send + Sync + std::fmt::Debug>() {}
    shared::<(
        AssertionBuilder,
        AssertionError,
        Audience,
        CustomerCode,
        ReplayKey,
        ReplayPolicy,
    )>();
    shared::<(
        Unverified<'_>,
        VerifiedAssertion,
        Verifier,
        AccessToken,
        TokenGrant,
        TokenRequest,
        TokenResponse,
    )>();
    shared::<(Box<dyn ReplayStore>, Box<dyn TokenStore>)>();
    assert!(
        size_of::<AssertionError>() <= 88,
        "{}",
        size_of::<AssertionError>()
    );
}
