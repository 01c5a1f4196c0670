//! The service's error codes and bodies.

use crate::support::KEY;
use bankrail_statement::{ErrorCode, StatementErrorBody, StatementReply};

/// A code as a client reads it out of an answer.
fn received(code: &str) -> ErrorCode {
    let body = format!(r#"{{"requestKey":"{KEY}","error":{{"statusCode":"{code}"}}}}"#);
    match StatementReply::parse(500, body.as_bytes()).unwrap() {
        StatementReply::Error(error) => error.code.unwrap(),
        StatementReply::Statement(statement) => panic!("{statement:?}"),
    }
}

#[test]
fn each_code_has_its_status() {
    for (code, status) in [
        (ErrorCode::ACCOUNT_NOT_FOUND, 404),
        (ErrorCode::VALIDATION, 400),
        (ErrorCode::INTERNAL, 500),
        (ErrorCode::RETRIEVAL_FAILED, 500),
        (ErrorCode::for_status(429), 429),
    ] {
        assert!(code.is_well_formed() && !code.is_gateway());
        assert_eq!(code.default_status(), status, "{code}");
    }
    for other in ["EC", "ec1", "EC000_001", "EC1x", "E1", "", "EC12345678901234567"] {
        assert_eq!(ErrorCode::new(other), None, "{other}");
    }
    for (code, status) in [("001", 500), ("002", 401), ("003", 400), ("004", 404), ("005", 405), ("006", 415)] {
        let code = received(&format!("EC000_{code}"));
        assert_eq!((code.is_gateway(), code.gateway_status()), (true, Some(status)));
    }
    assert_eq!(ErrorCode::ACCOUNT_NOT_FOUND.gateway_status(), None);
}

#[test]
fn a_gateways_code_is_read_and_never_sent() {
    let key = KEY.parse().unwrap();
    let body = StatementErrorBody::new(key, received("EC000_001"), "a \"title\"\n");
    assert!(body.to_json().ends_with(r#""error":{"statusCode":"EC20005","title":"a \"title\"\n"}}"#));
    assert!(StatementErrorBody::internal(key).title.contains(&key.to_string()));
    let failed = StatementErrorBody::retrieval_failed(key, "7");
    assert_eq!(failed.title, "Error retrieving account statement for account id: '7'");
}
