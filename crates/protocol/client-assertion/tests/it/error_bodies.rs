//! Error bodies of the token endpoint.

use bankrail_client_assertion::token::{TokenErrorBody, TokenErrorCode};

#[test]
fn every_code_has_its_text_and_status() {
    for (code, text, status) in [
        (TokenErrorCode::InvalidRequest, "invalid_request", 400),
        (TokenErrorCode::InvalidClient, "invalid_client", 401),
        (TokenErrorCode::InvalidGrant, "invalid_grant", 400),
        (
            TokenErrorCode::UnauthorizedClient,
            "unauthorized_client",
            400,
        ),
        (
            TokenErrorCode::UnsupportedGrantType,
            "unsupported_grant_type",
            400,
        ),
        (TokenErrorCode::InvalidScope, "invalid_scope", 400),
        (TokenErrorCode::ServerError, "server_error", 500),
        (
            TokenErrorCode::TemporarilyUnavailable,
            "temporarily_unavailable",
            503,
        ),
    ] {
        assert_eq!((code.as_str(), code.status()), (text, status));
        let read = TokenErrorBody::from_json(format!(r#"{{"error":"{text}","x":[1]}}"#).as_bytes());
        assert_eq!(read.unwrap().error, code);
    }
    let other =
        TokenErrorBody::from_json(br#"{"error":"slow\u005fdown","error_description":"a\"b"}"#)
            .unwrap();
    assert_eq!(other.error, TokenErrorCode::Other("slow_down".into()));
    assert_eq!(other.error.status(), 400);
    assert_eq!(
        other.to_json(),
        r#"{"error":"slow_down","error_description":"a'b"}"#
    );
}

/// RFC 6749 section 5.2 allows `%x20-21 / %x23-5B / %x5D-7E`.
#[test]
fn characters_that_the_standard_does_not_allow_are_replaced() {
    for (text, written) in [
        (" !", " !"),
        ("\"", "'"),
        ("#Z[", "#Z["),
        ("\\", "?"),
        ("]az~", "]az~"),
        ("\u{1f}\u{7f}\u{e9}", "???"),
    ] {
        let body = TokenErrorBody::new(TokenErrorCode::Other(text.into())).with_description(text);
        let expected = format!(r#"{{"error":"{written}","error_description":"{written}"}}"#);
        assert_eq!(body.to_json(), expected, "{text:?}");
    }
}

/// Default: "Token endpoint". Token endpoints also send the error of the statement exchange.
#[test]
fn the_statement_exchanges_error_is_read_too() {
    let read = |text: &str| TokenErrorBody::from_json(text.as_bytes());
    let whole = r#"{"error":{"statusCode":"EC42001","title":"Not valid","x":1},"requestKey":"k"}"#;
    let expected = TokenErrorBody::new(TokenErrorCode::Other("EC42001".into()));
    assert_eq!(
        read(whole),
        Ok(expected.clone().with_description("Not valid"))
    );
    for without in [
        r#"{"error":{"statusCode":"EC42001"}}"#,
        r#"{"error":{"statusCode":"EC42001","title":null}}"#,
    ] {
        assert_eq!(read(without), Ok(expected.clone()), "{without}");
    }
    // The title within the object counts, not a member outside of it.
    let both =
        r#"{"error_description":"no","error":{"statusCode":"invalid_client","title":"yes"}}"#;
    assert_eq!(
        read(both),
        Ok(TokenErrorBody::new(TokenErrorCode::InvalidClient).with_description("yes"))
    );
}

#[test]
fn a_body_is_bounded() {
    let body = r#"{"error":"a"}"#;
    let padded = |bytes: usize| format!("{body}{}", " ".repeat(bytes - body.len()));
    for (bytes, accepted) in [(64 * 1024, true), (64 * 1024 + 1, false)] {
        assert_eq!(
            TokenErrorBody::from_json(padded(bytes).as_bytes()).is_ok(),
            accepted,
            "{bytes}"
        );
    }
}

#[test]
fn other_bodies_are_refused() {
    for bad in [
        "",
        "{}",
        "[]",
        r#"["a",null]"#,
        "<html>",
        r#"{"error":1}"#,
        r#"{"error":{}}"#,
        r#"{"error":{"title":"a"}}"#,
        r#"{"error":{"statusCode":42001,"title":"a"}}"#,
        r#"{"error":{"statusCode":"a","title":["a"]}}"#,
        r#"{"error":"a","error_description":{"title":"a"}}"#,
        r#"{"error":"a","error":"b"}"#,
        r#"{"error":"a"} x"#,
    ] {
        assert!(TokenErrorBody::from_json(bad.as_bytes()).is_err(), "{bad}");
    }
}
