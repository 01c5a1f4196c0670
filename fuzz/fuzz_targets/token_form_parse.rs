//! Takes bytes, or changes of a token request's form and of its answers. Reading a form never
//! panics, what is read is written and read again equal, and each parameter is there once.

use crate::invented::{changed_json, choices, logged};
use arbitrary::Unstructured;
use bankrail_client_assertion::token::{
    AccessToken, FORM_CONTENT_TYPE, Scope, ScopeSet, TokenErrorBody, TokenErrorCode, TokenGrant,
    TokenRequest, TokenRequestError, TokenResponse,
};
use bankrail_client_assertion::CustomerCode;
use bankrail_values::Timestamp;
use serde_json::Value;
use std::borrow::Cow;

const ANSWERS: [&str; 4] = [
    r#"{"access_token":"2a5558c4-d888-4683-b57e-d02afb52f7a0","token_type":"Bearer","expires_in":3600,"scope":"A B"}"#,
    r#"{"access_token":"2a5558c4-d888-4683-b57e-d02afb52f7a0","token_type":"bearer","expires_in":1}"#,
    r#"{"error":"invalid_scope","error_description":"no such scope"}"#,
    r#"{"error":{"statusCode":"EC0001","title":"not now"},"requestKey":"a"}"#,
];
const VALUES: &[&str] = &[
    r#""Bearer""#, r#""A.READ B.WRITE""#, r#""A  B""#, r#""invalid_client""#, r#""server_error""#,
    r#""temporarily_unavailable""#, "0", "3600", "-0", "3600.0", "\"\u{e9}\"",
];

const NAMES: &[&str] = &[
    "grant_type", "client_assertion_type", "client_assertion", "scope", "client_id", "x", "", "%73cope",
];
const TEXTS: &[&str] = &[
    "client_credentials",
    "urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer",
    "a.b.c",
    "A+B",
    "A.READ%20B.WRITE",
    "GBL.INSTO.ACCOUNTS.STATEMENT.READ",
    "",
    "ACME",
    "%",
    "%e9",
    "\u{1f44d}",
    "\"",
];

/// A form with changes: one parameter after the other, as name and value.
fn form(choices: &mut Unstructured<'_>) -> Vec<u8> {
    let mut pairs = vec![(0, 0), (1, 1), (2, 2), (3, 3)];
    for _ in 0..choices.int_in_range(0..=4).unwrap_or(0) {
        let mut index = |length: usize| choices.choose_index(length.max(1)).unwrap_or(0);
        let pair = (index(NAMES.len()), index(TEXTS.len()));
        let (at, how) = (index(pairs.len()), index(6));
        // Another value for a parameter that is there, before or behind it.
        let again = (pairs.get(at).map_or(0, |(name, _)| *name), pair.1);
        match how {
            0 => pairs.push(pair),
            5 => pairs.insert(at, again),
            1 => pairs.insert(at, pair),
            2 if !pairs.is_empty() => drop(pairs.remove(at)),
            3 => pairs.extend(vec![(5, pair.1); 64]),
            _ => match pairs.get_mut(at) {
                Some((_, value)) => *value = pair.1,
                None => pairs.push(pair),
            },
        }
    }
    let long = choices.ratio(1, 8).unwrap_or(false);
    let mut pairs: Vec<String> = pairs
        .into_iter()
        .map(|(name, value)| format!("{}={}", NAMES[name], TEXTS[value]))
        .collect();
    if long {
        // At the border of a scope name, of a number of scopes and of a form.
        let lengths = [128, 129, 64 * 2, 32 * 1024];
        let length = lengths[choices.choose_index(4).unwrap_or(0)];
        pairs.push(format!("scope={}", "A+".repeat(length / 2)));
        pairs.push(format!("client_id={}", "A".repeat(length)));
    }
    pairs.join("&").into_bytes()
}

fn input(data: &[u8]) -> Cow<'_, [u8]> {
    let Some(mut choices) = choices(data) else {
        return data.into();
    };
    if choices.ratio(1, 2).unwrap_or(false) {
        return form(&mut choices).into();
    }
    changed_json(&mut choices, &ANSWERS, VALUES).into_bytes().into()
}

fn judge_request(body: &[u8], request: &TokenRequest) {
    let again = TokenRequest::from_form(Some(FORM_CONTENT_TYPE), request.to_form().as_bytes());
    assert_eq!(again.as_ref(), Ok(request));
    assert!(!request.assertion().expose_secret().is_empty());
    let names = body.split(|b| *b == b'&').map(|pair| pair.split(|b| *b == b'=').next());
    let mut names: Vec<_> = names.flatten().filter(|name| !name.is_empty()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "each parameter is there once");
    assert!(count <= TokenRequest::MAX_PARAMETERS && body.len() <= TokenRequest::MAX_BYTES);
    judge_scopes(request.scope());
    if let Some(customer) = request.client_id().and_then(|id| CustomerCode::parse(id).ok()) {
        let (from, to) = (Timestamp::UNIX_EPOCH, Timestamp::MAX);
        let grant = TokenGrant::new(customer, request.scope().clone(), from, to);
        assert!(grant.is_valid_at(from) && !grant.is_valid_at(to));
        assert_eq!(request.clone().with_client_id(&grant.customer), *request);
    }
}

fn judge_scopes(scopes: &ScopeSet) {
    assert!((1..=ScopeSet::MAX_SCOPES).contains(&scopes.len()));
    assert_eq!(ScopeSet::parse(&scopes.to_string()).as_ref(), Ok(scopes));
    assert_eq!(ScopeSet::from_scopes(scopes.iter().cloned()).as_ref(), Ok(scopes));
    let all = scopes.granted_from(scopes).expect("the same");
    assert!(all.scope_to_return().is_none() && all.scopes() == scopes);
    for scope in scopes.iter() {
        assert!(scopes.contains(scope.as_str()) && scope.as_str().len() <= Scope::MAX_LENGTH);
        if let Some(access) = scope.access() {
            assert!(scopes.allows(scope.resource(), access));
            assert_eq!(Scope::of(scope.resource(), access).as_ref(), Ok(scope));
        }
        let one = ScopeSet::of(scope.clone());
        let granted = scopes.granted_from(&one).expect("one of them");
        assert_eq!(granted.scope_to_return().is_some(), scopes.len() > 1);
        let response = TokenResponse::new(AccessToken::generate().expect("randomness"), 7, &granted);
        assert_eq!(response.scope.is_some(), scopes.len() > 1);
        assert_eq!(granted.scopes(), &one);
    }
    let other = ScopeSet::parse("~").expect("a scope");
    if let Err(error) = scopes.granted_from(&other) {
        logged(&error);
        assert!(!scopes.contains("~") && error.code() == TokenErrorCode::InvalidScope);
    }
}

fn judge_answers(body: &[u8]) {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    match TokenResponse::from_json(body) {
        Ok(response) => {
            assert_eq!(
                TokenResponse::from_json(response.to_json().as_bytes()).as_ref(),
                Ok(&response)
            );
            assert!(response.expires_in > 0 && response.lifetime().as_secs() > 0);
            if value.is_object() {
                assert_eq!(value["expires_in"].as_u64(), Some(response.expires_in));
                assert_eq!(value["access_token"], response.access_token.expose_secret());
                assert_eq!(value["token_type"].as_str().map(str::to_lowercase).as_deref(), Some("bearer"));
            }
            response.scope.iter().for_each(judge_scopes);
            assert_eq!(response.access_token.hash(), response.access_token.clone().hash());
        }
        Err(error) => logged(&error),
    }
    match TokenErrorBody::from_json(body) {
        Ok(error) => {
            let written = error.to_json();
            let again = TokenErrorBody::from_json(written.as_bytes()).expect("what was written");
            assert_eq!(again.to_json(), written);
            assert!(matches!(error.error.status(), 400 | 401 | 500 | 503));
            let described = error.error_description.as_deref().unwrap_or_default();
            let made = TokenErrorBody::new(error.error.clone()).with_description(described);
            assert_eq!(made.error, error.error);
            assert_eq!(error.error.to_string(), error.error.as_str());
        }
        Err(error) => logged(&error),
    }
}

fuzz_target!(|data: &[u8]| {
    let body = &*input(data);
    match TokenRequest::from_form(Some(FORM_CONTENT_TYPE), body) {
        Ok(request) => judge_request(body, &request),
        Err(TokenRequestError::ContentType { .. }) => panic!("the content type was right"),
        Err(error) => {
            logged(&error);
            assert_eq!(error.code().status(), 400);
        }
    }
    // The answers of the same endpoint, as its client reads them.
    judge_answers(body);
    if let Ok(text) = std::str::from_utf8(body) {
        if let Err(error) = TokenRequest::from_form(Some(text), b"") {
            logged(&error);
        }
        match AccessToken::from_authorization(text) {
            Ok(token) => {
                let written = token.to_authorization();
                assert_eq!(
                    AccessToken::from_authorization(written.expose_secret()).as_ref(),
                    Ok(&token)
                );
            }
            Err(error) => logged(&error),
        }
    }
});
