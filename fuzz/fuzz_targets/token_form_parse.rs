//! Takes bytes. Reading a token request's form never panics, and what is read is written and read
//! again equal.

use bankrail_client_assertion::token::{
    AccessToken, FORM_CONTENT_TYPE, TokenErrorBody, TokenRequest, TokenRequestError, TokenResponse,
};

fuzz_target!(|body: &[u8]| {
    match TokenRequest::from_form(Some(FORM_CONTENT_TYPE), body) {
        Ok(request) => {
            let again =
                TokenRequest::from_form(Some(FORM_CONTENT_TYPE), request.to_form().as_bytes());
            assert_eq!(again.as_ref(), Ok(&request));
            assert!(!request.assertion().expose_secret().is_empty());
        }
        Err(TokenRequestError::ContentType { .. }) => panic!("the content type was right"),
        Err(error) => assert_eq!(error.code().status(), 400),
    }
    // The answers of the same endpoint, as its client reads them.
    if let Ok(response) = TokenResponse::from_json(body) {
        assert_eq!(
            TokenResponse::from_json(response.to_json().as_bytes()).as_ref(),
            Ok(&response)
        );
    }
    if let Ok(error) = TokenErrorBody::from_json(body) {
        assert!(TokenErrorBody::from_json(error.to_json().as_bytes()).is_ok());
    }
    if let Ok(text) = std::str::from_utf8(body) {
        let _ = TokenRequest::from_form(Some(text), b"");
        if let Ok(token) = AccessToken::from_authorization(text) {
            let written = token.to_authorization();
            assert_eq!(
                AccessToken::from_authorization(written.expose_secret()).as_ref(),
                Ok(&token)
            );
        }
    }
});
