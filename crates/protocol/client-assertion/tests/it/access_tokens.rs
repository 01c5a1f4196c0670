//! Access tokens: their spelling, their header, their secrecy.

use bankrail_client_assertion::token::AccessToken;
use std::collections::BTreeSet;

const TEXT: &str = "0B7C2F6E-8a1d-41eb-8dcd-0242ac130003";

#[test]
fn kept_as_spelled_and_never_printed() {
    let token = AccessToken::parse(TEXT).unwrap();
    assert_eq!(token.expose_secret(), TEXT);
    assert_eq!(
        token.to_authorization().expose_secret(),
        format!("Bearer {TEXT}")
    );
    assert!(!format!("{token:?}{:?}", token.hash()).contains("7C2F"));
    assert_ne!(
        token.hash(),
        AccessToken::parse(&TEXT.to_lowercase()).unwrap().hash()
    );
}

#[test]
fn authorization_headers() {
    for good in [format!("Bearer {TEXT}"), format!("bearer  {TEXT}")] {
        assert_eq!(
            AccessToken::from_authorization(&good)
                .unwrap()
                .expose_secret(),
            TEXT
        );
    }
    let simple = TEXT.replace('-', "");
    for bad in [
        "",
        "Bearer",
        "Bearer ",
        TEXT,
        &format!("Basic {TEXT}"),
        &format!("Bearer {simple}"),
    ] {
        assert!(AccessToken::from_authorization(bad).is_err(), "{bad:?}");
    }
}

/// A token is a version 4 GUID whose other bits are all random, so that it contains no information.
#[test]
fn a_generated_token_is_random_but_for_its_version() {
    let tokens: Vec<_> = (0..64)
        .map(|_| {
            let token = AccessToken::generate().unwrap();
            let text = token.expose_secret();
            let at = |place: usize| text.as_bytes()[place];
            assert!(
                at(14) == b'4' && b"89ab".contains(&at(19)) && text.len() == 36,
                "{text}"
            );
            assert_eq!([8, 13, 18, 23].map(at), [b'-'; 4]);
            let number = u128::from_str_radix(&text.replace('-', ""), 16).unwrap();
            let distinct = BTreeSet::from(number.to_be_bytes()).len();
            assert!(distinct >= 8, "random bytes are seldom alike: {text}");
            number
        })
        .collect();
    let (all, any) = tokens.iter().fold((u128::MAX, 0), |(all, any), token| {
        (all & token, any | token)
    });
    let fixed = 0xf000_c000_0000_0000_0000;
    assert_eq!(!(all ^ any), fixed, "bits that are the same in 64 tokens");
}

#[test]
fn generated_tokens_differ() {
    let (a, b) = (
        AccessToken::generate().unwrap(),
        AccessToken::generate().unwrap(),
    );
    assert_ne!(a, b);
    assert!(AccessToken::parse(a.expose_secret()).is_ok());
}
