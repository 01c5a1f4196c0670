//! Token responses as JSON.

use bankrail_client_assertion::token::{AccessToken, ScopeSet, TokenResponse, TokenResponseError};

const TOKEN: &str = "0b7c2f6e-8a1d-41eb-8dcd-0242ac130003";

#[test]
fn there_and_back() {
    let asked: ScopeSet = "A B".parse().unwrap();
    for (permitted, scope) in [("A B C", ""), ("A", r#","scope":"A""#)] {
        let granted = asked.granted_from(&permitted.parse().unwrap()).unwrap();
        let response = TokenResponse::new(AccessToken::parse(TOKEN).unwrap(), 3600, &granted);
        let json = response.to_json();
        assert_eq!(
            json,
            format!(
                r#"{{"expires_in":3600,"token_type":"Bearer","access_token":"{TOKEN}"{scope}}}"#
            )
        );
        assert_eq!(TokenResponse::from_json(json.as_bytes()).unwrap(), response);
    }
}

#[test]
fn a_body_is_bounded_and_a_token_lives_for_an_hour_by_default() {
    let body = format!(r#"{{"expires_in":3600,"token_type":"Bearer","access_token":"{TOKEN}"}}"#);
    let padded = |bytes: usize| format!("{body}{}", " ".repeat(bytes - body.len()));
    for (bytes, accepted) in [(64 * 1024, true), (64 * 1024 + 1, false)] {
        assert_eq!(
            TokenResponse::from_json(padded(bytes).as_bytes()).is_ok(),
            accepted,
            "{bytes}"
        );
    }
    let read = TokenResponse::from_json(body.as_bytes()).unwrap();
    assert_eq!(
        (read.lifetime().as_secs(), TokenResponse::DEFAULT_LIFETIME),
        (3600, 3600)
    );
}

#[test]
fn what_is_read_and_what_is_refused() {
    let read = |token_type: &str, expires: &str, token: &str, more: &str| {
        let json = format!(
            r#"{{"token_type":{token_type},"expires_in":{expires},"access_token":{token},"issued":"x"{more}}}"#
        );
        TokenResponse::from_json(json.as_bytes())
    };
    let token = format!("\"{TOKEN}\"");
    assert!(read("\"bearer\"", "1", &token, r#","scope":"""#).is_ok());
    assert!(matches!(
        read("\"mac\"", "1", &token, ""),
        Err(TokenResponseError::TokenType { .. })
    ));
    assert!(matches!(
        read("\"Bearer\"", "1", "\"abc\"", ""),
        Err(TokenResponseError::AccessToken(_))
    ));
    for expires in ["0", "-1", "1.5", "\"3600\"", "null", "99999999999999999999"] {
        let found = read("\"Bearer\"", expires, &token, "");
        assert!(matches!(
            found,
            Err(TokenResponseError::Member {
                member: "expires_in",
                ..
            })
        ));
    }
    let found = read("\"Bearer\"", "1", &token, r#","scope":1"#);
    assert!(matches!(
        found,
        Err(TokenResponseError::Member {
            member: "scope",
            ..
        })
    ));
    let array = format!(r#" [3600,"Bearer",{token},null]"#);
    assert!(matches!(
        TokenResponse::from_json(array.as_bytes()),
        Err(TokenResponseError::Json(_))
    ));
    let twice = format!(r#","access_token":{token}"#);
    assert!(matches!(
        read("\"Bearer\"", "1", &token, &twice),
        Err(TokenResponseError::Json(_))
    ));
    let error = read("\"Bearer\"", "1", "[\"0b7c2f6e\"]", "").unwrap_err();
    assert!(!format!("{error} {error:?}").contains("0b7c"));
}
