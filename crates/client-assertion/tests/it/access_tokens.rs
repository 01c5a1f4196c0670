//! Access tokens: their spelling, their header, their secrecy.

use bankrail_client_assertion::token::AccessToken;

const TEXT: &str = "0B7C2F6E-8a1d-41eb-8dcd-0242ac130003";

#[test]
fn kept_as_spelled_and_never_printed() {
    let token = AccessToken::parse(TEXT).unwrap();
    assert_eq!(token.expose_secret(), TEXT);
    assert_eq!(token.to_authorization().expose_secret(), format!("Bearer {TEXT}"));
    assert!(!format!("{token:?}{:?}", token.hash()).contains("7C2F"));
    assert_ne!(token.hash(), AccessToken::parse(&TEXT.to_lowercase()).unwrap().hash());
}

#[test]
fn authorization_headers() {
    for good in [format!("Bearer {TEXT}"), format!("bearer  {TEXT}")] {
        assert_eq!(AccessToken::from_authorization(&good).unwrap().expose_secret(), TEXT);
    }
    let simple = TEXT.replace('-', "");
    for bad in ["", "Bearer", "Bearer ", TEXT, &format!("Basic {TEXT}"), &format!("Bearer {simple}")] {
        assert!(AccessToken::from_authorization(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn generated_tokens_differ() {
    let (a, b) = (AccessToken::generate().unwrap(), AccessToken::generate().unwrap());
    assert_ne!(a, b);
    assert!(AccessToken::parse(a.expose_secret()).is_ok());
}
