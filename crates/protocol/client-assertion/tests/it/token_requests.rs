//! Token requests as forms.

use bankrail_client_assertion::CustomerCode;
use bankrail_client_assertion::token::{
    FORM_CONTENT_TYPE, TokenErrorCode, TokenRequest, TokenRequestError,
};

const GOOD: &str = "grant_type=client_credentials&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3A\
                    client-assertion-type%3Ajwt-bearer&scope=A+B%20C&client_assertion=a.b.c";

fn read(body: &str) -> Result<TokenRequest, TokenRequestError> {
    TokenRequest::from_form(Some(FORM_CONTENT_TYPE), body.as_bytes())
}

#[test]
fn there_and_back() {
    let request = read(GOOD).unwrap();
    assert_eq!(request.assertion().expose_secret(), "a.b.c");
    assert_eq!(request.scope().to_string(), "A B C");
    assert_eq!(request.client_id(), None);
    assert_eq!(read(&request.to_form()).unwrap(), request);
    let named = request.with_client_id(&CustomerCode::parse("A&B=C").unwrap());
    assert_eq!(read(&named.to_form()).unwrap(), named);
    assert!(!format!("{named:?}").contains("a.b.c"));
}

#[test]
fn content_types() {
    for good in [
        "application/x-www-form-urlencoded",
        "Application/X-WWW-Form-URLEncoded",
        "application/x-www-form-urlencoded;charset=UTF-8",
        " application/x-www-form-urlencoded ; charset=utf-8",
    ] {
        assert!(
            TokenRequest::from_form(Some(good), GOOD.as_bytes()).is_ok(),
            "{good}"
        );
    }
    for bad in [
        None,
        Some(""),
        Some("application/json"),
        Some("application/x-www-form-urlencoded2"),
        Some(";"),
    ] {
        let error = TokenRequest::from_form(bad, GOOD.as_bytes()).unwrap_err();
        assert!(
            matches!(error, TokenRequestError::ContentType { .. }),
            "{bad:?}"
        );
        assert_eq!(error.code(), TokenErrorCode::InvalidRequest);
    }
}

#[test]
fn each_required_parameter_is_missed_absent_or_empty() {
    for parameter in [
        "grant_type",
        "client_assertion_type",
        "scope",
        "client_assertion",
    ] {
        let pairs = GOOD
            .split('&')
            .filter(|pair| !pair.starts_with(&format!("{parameter}=")));
        let without = pairs.collect::<Vec<_>>().join("&");
        for body in [
            without.clone(),
            format!("{without}&{parameter}="),
            format!("{parameter}&{without}"),
        ] {
            assert_eq!(
                read(&body),
                Err(TokenRequestError::Missing { parameter }),
                "{body}"
            );
        }
    }
    assert_eq!(
        read(""),
        Err(TokenRequestError::Missing {
            parameter: "grant_type"
        })
    );
}

#[test]
fn repeated_unknown_and_wrong_parameters() {
    assert!(read(&format!("{GOOD}&resource=x&a=&=b")).is_ok());
    for again in [
        "scope=A",
        "grant_type=client_credentials",
        "%73cope=",
        "x=1&x=2",
    ] {
        let error = read(&format!("{GOOD}&{again}")).unwrap_err();
        assert!(
            matches!(error, TokenRequestError::Repeated { .. }),
            "{again}"
        );
    }
    let swap = |from: &str, to: &str| read(&GOOD.replace(from, to)).unwrap_err().code();
    assert_eq!(
        swap("client_credentials", "password"),
        TokenErrorCode::UnsupportedGrantType
    );
    assert_eq!(
        swap("client_credentials", "Client_Credentials"),
        TokenErrorCode::UnsupportedGrantType
    );
    assert_eq!(
        swap("jwt-bearer", "saml2-bearer"),
        TokenErrorCode::InvalidRequest
    );
    assert_eq!(swap("A+B%20C", "A++B"), TokenErrorCode::InvalidScope);
    assert_eq!(swap("A+B%20C", "%FF"), TokenErrorCode::InvalidScope);
}

#[test]
fn bounds() {
    let long = format!("{GOOD}&x={}", "y".repeat(TokenRequest::MAX_BYTES));
    assert!(matches!(
        read(&long),
        Err(TokenRequestError::TooLarge { .. })
    ));
    let room = TokenRequest::MAX_BYTES - GOOD.len() - "&x=".len();
    assert!(read(&format!("{GOOD}&x={}", "y".repeat(room))).is_ok());
    assert!(matches!(
        read(&format!("{GOOD}&x={}", "y".repeat(room + 1))),
        Err(TokenRequestError::TooLarge { .. })
    ));
    assert_eq!(
        (TokenRequest::MAX_BYTES, TokenRequest::MAX_PARAMETERS),
        (32 * 1024, 64)
    );
    // The limit includes the four parameters of a good request.
    let most: String = (4..64).map(|n| format!("&x{n}=")).collect();
    assert!(read(&format!("{GOOD}{most}")).is_ok());
    let over = read(&format!("{GOOD}{most}&more="));
    assert!(matches!(
        over,
        Err(TokenRequestError::TooManyParameters { limit: 64 })
    ));
    let many: String = (0..TokenRequest::MAX_PARAMETERS)
        .map(|n| format!("&x{n}="))
        .collect();
    assert!(matches!(
        read(&format!("{GOOD}{many}")),
        Err(TokenRequestError::TooManyParameters { .. })
    ));
}
