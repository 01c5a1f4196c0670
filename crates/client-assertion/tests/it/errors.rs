//! The answer to the counterparty, the chain of causes, and what `Debug` prints.

use crate::support::{OTHER_KEY, builder, claims, now, signed, verifier, verify};
use bankrail_client_assertion::token::{AccessToken, TokenGrant, TokenRequest, TokenResponse, TokenStore};
use bankrail_client_assertion::{
    AssertionBuilder, AssertionError, Audience, CustomerCode, ReplayKey, ReplayPolicy, ReplayStore, Unverified,
    VerifiedAssertion, Verifier,
};
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
        assert_eq!((error.status(), error.to_body().to_json().as_str()), (401, r#"{"error":"invalid_client"}"#));
        assert!(!error.is_retryable());
    }
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
    assert_eq!(chain("a.b"), ["the assertion is malformed: expected three parts separated by dots, found 2"]);
    let subject = chain(&signed(&claims(&[("sub", "\"x\\n\"")])));
    assert_eq!(subject.len(), 1, "{subject:?}");
    assert!(subject[0].starts_with("the claim sub is not acceptable: expected a customer code"), "{subject:?}");
    assert!(subject[0].ends_with(r#"found "x\n""#), "{subject:?}");
}

#[test]
fn printing_shows_no_assertion_and_no_token() {
    let assertion = builder().sign(&crate::support::KEY, now()).unwrap();
    let verifier = verifier();
    let unverified = format!("{:?}", verifier.read(&assertion).unwrap());
    let verified = format!("{:?}", verify(&verifier, &assertion).unwrap());
    let request = format!("{:?}", TokenRequest::new(assertion.as_str(), "A".parse().unwrap()));
    for part in assertion.split('.') {
        for printed in [&unverified, &verified, &request] {
            assert!(!printed.contains(part), "{printed}");
        }
    }
}

#[test]
fn public_types_can_be_shared() {
    fn shared<T: Send + Sync + std::fmt::Debug>() {}
    shared::<(AssertionBuilder, AssertionError, Audience, CustomerCode, ReplayKey, ReplayPolicy)>();
    shared::<(Unverified<'_>, VerifiedAssertion, Verifier, AccessToken, TokenGrant, TokenRequest, TokenResponse)>();
    shared::<(Box<dyn ReplayStore>, Box<dyn TokenStore>)>();
    assert!(size_of::<AssertionError>() <= 88, "{}", size_of::<AssertionError>());
}
