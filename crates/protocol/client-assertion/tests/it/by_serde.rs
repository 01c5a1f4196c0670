//! serde's forms are those of the wire, in both directions.

use bankrail_client_assertion::CustomerCode;
use bankrail_client_assertion::token::{
    AccessToken, TokenErrorBody, TokenErrorCode, TokenRequest, TokenResponse,
};
use proptest::prelude::*;

const TOKEN: &str = "0b7c2f6e-8a1d-41eb-8dcd-0242ac130003";

proptest! {
    #[test]
    fn a_request_is_its_form(
        assertion in "[ -~]{1,40}",
        scopes in "[A-Z.]{1,9}( [!#A-Z]{1,9}){0,3}",
        client_id in proptest::option::of("[A-Z0-9]{1,12}"),
    ) {
        let mut request = TokenRequest::new(assertion, scopes.parse().unwrap());
        if let Some(client_id) = client_id {
            request = request.with_client_id(&CustomerCode::parse(&client_id).unwrap());
        }
        let form = request.to_form();
        prop_assert_eq!(&serde_urlencoded::to_string(&request).unwrap(), &form);
        prop_assert_eq!(&serde_urlencoded::from_str::<TokenRequest>(&form).unwrap(), &request);
        let json = serde_json::to_string(&request).unwrap();
        prop_assert_eq!(&serde_json::from_str::<TokenRequest>(&json).unwrap(), &request);
    }

    #[test]
    fn an_error_body_is_its_json(code in "[a-z_]{0,20}", text in proptest::option::of("\\PC{0,20}")) {
        let code: TokenErrorCode = serde_json::from_value(code.into()).unwrap();
        let mut body = TokenErrorBody::new(code);
        body.error_description = text;
        let json = body.to_json();
        prop_assert_eq!(&serde_json::to_string(&body).unwrap(), &json);
        let read = TokenErrorBody::from_json(json.as_bytes()).unwrap();
        prop_assert_eq!(serde_json::from_str::<TokenErrorBody>(&json).unwrap(), read);
    }

    #[test]
    fn a_response_is_its_json(expires_in in 1..=u64::MAX, scopes in "[A-Z]{1,9}( [A-Z]{1,9}){1,3}") {
        let asked: bankrail_client_assertion::token::ScopeSet = scopes.parse().unwrap();
        let granted = asked.granted_from(&asked).unwrap();
        let token = AccessToken::parse(TOKEN).unwrap();
        let mut response = TokenResponse::new(token, expires_in, &granted);
        for scope in [None, Some(asked)] {
            response.scope = scope;
            let json = response.to_json();
            prop_assert_eq!(&serde_json::to_string(&response).unwrap(), &json);
            prop_assert_eq!(&serde_json::from_str::<TokenResponse>(&json).unwrap(), &response);
        }
    }
}

#[test]
fn what_the_readers_refuse_is_refused() {
    let twice = "grant_type=client_credentials&scope=A&scope=A";
    let error = serde_urlencoded::from_str::<TokenRequest>(twice).unwrap_err();
    assert!(
        error.to_string().contains("found \"scope\" again"),
        "{error}"
    );
    let json = format!(
        r#"{{"expires_in":1,"expires_in":1,"token_type":"Bearer","access_token":"{TOKEN}"}}"#
    );
    let error = serde_json::from_str::<TokenResponse>(&json).unwrap_err();
    assert!(!error.to_string().contains(TOKEN), "{error}");
    let error = serde_json::from_str::<TokenErrorBody>("{}").unwrap_err();
    assert!(error.to_string().contains("an error code"), "{error}");
}
