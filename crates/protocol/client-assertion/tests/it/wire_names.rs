//! The specification's names of the client assertion and the token exchange, typed by hand from it.

use crate::support::{AUDIENCE, KEY, NOW, builder_with, customer, now, verifier, verify};
use bankrail_client_assertion::AssertionOptions;
use bankrail_client_assertion::token::{
    AccessToken, FORM_CONTENT_TYPE, ScopeSet, TokenErrorBody, TokenErrorCode, TokenRequest,
    TokenResponse,
};
use bankrail_jose::base64url;
use serde_json::{Value, json};
use std::time::Duration;

#[test]
fn the_assertion() {
    let options = AssertionOptions::new().lifetime(Duration::from_secs(600));
    let assertion = builder_with(options).sign(&KEY, now()).unwrap();
    let parts: Vec<Vec<u8>> = assertion
        .split('.')
        .map(|part| base64url::decode(part).unwrap())
        .collect();
    let [header, payload, signature] = parts.as_slice() else {
        panic!("three parts")
    };
    assert_eq!(
        serde_json::from_slice::<Value>(header).unwrap(),
        json!({"alg": "RS256", "typ": "jwt"})
    );
    let claims = json!({"sub": "CUSTOMERCODE", "exp": NOW + 600, "aud": AUDIENCE});
    assert_eq!(serde_json::from_slice::<Value>(payload).unwrap(), claims);
    let (signed, _) = assertion.rsplit_once('.').unwrap();
    KEY.verifying_key()
        .verify(signed.as_bytes(), signature)
        .unwrap();

    let by_hand = |claims: &Value| {
        let part = |json: &Value| base64url::encode(json.to_string().as_bytes());
        let signed = format!(
            "{}.{}",
            part(&json!({"alg": "RS256", "typ": "jwt"})),
            part(claims)
        );
        let signature = KEY.sign(signed.as_bytes()).unwrap();
        format!("{signed}.{}", base64url::encode(&signature))
    };
    assert_eq!(
        *verify(&verifier(), &by_hand(&claims)).unwrap().customer(),
        customer()
    );
    for member in ["sub", "exp", "aud"] {
        let mut without = claims.clone();
        without.as_object_mut().unwrap().remove(member).unwrap();
        assert!(verify(&verifier(), &by_hand(&without)).is_err(), "{member}");
    }
}

#[test]
fn the_request() {
    let form = "grant_type=client_credentials\
                &client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer\
                &scope=THE.FIRST+THE.SECOND\
                &client_assertion=the.signed.jwt";
    let request = TokenRequest::new("the.signed.jwt", "THE.FIRST THE.SECOND".parse().unwrap());
    assert_eq!(request.to_form(), form);
    assert_eq!(FORM_CONTENT_TYPE, "application/x-www-form-urlencoded");
    assert_eq!(
        TokenRequest::from_form(Some(FORM_CONTENT_TYPE), form.as_bytes()).unwrap(),
        request
    );
}

#[test]
fn the_answer() {
    let document = json!({"expires_in": 3600, "token_type": "Bearer", "access_token": "0b7c2f6e-8a1d-41eb-8dcd-0242ac130003"});
    let asked: ScopeSet = "A".parse().unwrap();
    let token = AccessToken::parse("0b7c2f6e-8a1d-41eb-8dcd-0242ac130003").unwrap();
    let response = TokenResponse::new(token, 3600, &asked.granted_from(&asked).unwrap());
    assert_eq!(
        serde_json::from_str::<Value>(&response.to_json()).unwrap(),
        document
    );
    assert_eq!(
        TokenResponse::from_json(document.to_string().as_bytes()).unwrap(),
        response
    );
    for member in ["expires_in", "token_type", "access_token"] {
        let mut without = document.clone();
        without.as_object_mut().unwrap().remove(member).unwrap();
        assert!(
            TokenResponse::from_json(without.to_string().as_bytes()).is_err(),
            "{member}"
        );
    }
}

/// Default: the error answer has the form of RFC 6749.
#[test]
fn the_error_answer() {
    let document = json!({"error": "invalid_client", "error_description": "the description"});
    let body =
        TokenErrorBody::new(TokenErrorCode::InvalidClient).with_description("the description");
    assert_eq!(
        serde_json::from_str::<Value>(&body.to_json()).unwrap(),
        document
    );
    assert_eq!(
        TokenErrorBody::from_json(document.to_string().as_bytes()).unwrap(),
        body
    );
}
