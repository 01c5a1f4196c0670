//! The service's error codes and bodies.

use crate::support::KEY;
use bankrail_statement::{ErrorCode, StatementErrorBody, StatementReply};

/// Returns a code as a client reads it from an answer.
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
    for other in [
        "EC",
        "ec1",
        "EC000_001",
        "EC1x",
        "E1",
        "",
        "EC12345678901234567",
    ] {
        assert_eq!(ErrorCode::new(other), None, "{other}");
    }
    for (code, status) in [
        ("001", 500),
        ("002", 401),
        ("003", 400),
        ("004", 404),
        ("005", 405),
        ("006", 415),
    ] {
        let code = received(&format!("EC000_{code}"));
        assert_eq!(
            (code.is_gateway(), code.gateway_status()),
            (true, Some(status))
        );
    }
    assert_eq!(ErrorCode::ACCOUNT_NOT_FOUND.gateway_status(), None);
}

#[test]
fn a_gateways_code_is_read_and_never_sent() {
    let key = KEY.parse().unwrap();
    let body = StatementErrorBody::new(key, received("EC000_001"), "a \"title\"\n");
    assert!(
        body.to_json()
            .ends_with(r#""error":{"statusCode":"EC20005","title":"a \"title\"\n"}}"#)
    );
    assert!(
        StatementErrorBody::internal(key)
            .title
            .contains(&key.to_string())
    );
    let failed = StatementErrorBody::retrieval_failed(key, "7");
    assert_eq!(
        failed.title,
        "Error retrieving account statement for account id: '7'"
    );
}

#[test]
fn codes_and_titles_are_those_of_the_service() {
    for (code, text) in [
        (ErrorCode::ACCOUNT_NOT_FOUND, "EC20001"),
        (ErrorCode::RETRIEVAL_FAILED, "EC20003"),
        (ErrorCode::INTERNAL, "EC20005"),
        (ErrorCode::VALIDATION, "EC42001"),
        (ErrorCode::for_status(503), "EC503"),
    ] {
        assert_eq!(
            (code.as_str(), code.to_string(), format!("{code:?}")),
            (text, text.to_owned(), format!("{text:?}"))
        );
        assert_eq!(ErrorCode::new(text), Some(code));
    }
    for (digits, well_formed) in [
        ("", false),
        ("1", true),
        ("1234567890123456", true),
        ("12345678901234567", false),
    ] {
        assert_eq!(
            ErrorCode::new(&format!("EC{digits}")).is_some(),
            well_formed,
            "{digits}"
        );
    }
    for (code, status) in [
        ("EC399", 500),
        ("EC400", 400),
        ("EC599", 599),
        ("EC600", 500),
        ("EC4040", 500),
        ("EC40", 500),
        ("EC1", 500),
    ] {
        assert_eq!(
            ErrorCode::new(code).unwrap().default_status(),
            status,
            "{code}"
        );
    }
    for (code, status) in [
        ("EC000_007", Some(400)),
        ("EC000_008", None),
        ("EC000_", None),
        ("EC001", None),
    ] {
        assert_eq!(ErrorCode::gateway_status_of(code), status, "{code}");
    }
    let internal = StatementErrorBody::internal(KEY.parse().unwrap());
    assert_eq!(
        internal.to_json(),
        format!(
            r#"{{"requestKey":"{KEY}","error":{{"statusCode":"EC20005","title":"{}"}}}}"#,
            format_args!("Internal error, request key: '{KEY}'")
        )
    );
}
