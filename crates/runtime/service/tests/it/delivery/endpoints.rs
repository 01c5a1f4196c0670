//! Endpoints: their headers and addresses.

use bankrail_jose::{DecryptionKey, RsaSize, SigningKey};
use bankrail_secured_payload::{SealOptions, Sealer};
use bankrail_service::delivery::{Endpoint, EndpointError, EndpointUrl};
use bankrail_values::SecretString;
use bankrail_webhook::MessageKind;
use std::sync::Arc;

#[test]
fn headers_of_its_own_that_do_not_print() {
    let keys = (
        SigningKey::generate(RsaSize::Rsa2048),
        DecryptionKey::generate(RsaSize::Rsa2048),
    );
    let sealer = Arc::new(Sealer::new(
        keys.0.unwrap(),
        keys.1.unwrap().encryption_key(),
        SealOptions::new(),
    ));
    let endpoint = Endpoint::new(
        "acme".parse().unwrap(),
        EndpointUrl::parse("https://a.example").unwrap(),
        sealer,
    );
    let with = |name: &str, key: &str| {
        endpoint
            .clone()
            .with_api_key_in(name, &SecretString::from(key))
    };
    let good = with("X-Api-Key", "hunter2").unwrap();
    assert!(!format!("{good:?}").contains("hunter2"));
    assert!(matches!(
        with("no name", "k"),
        Err(EndpointError::HeaderName { .. })
    ));
    assert!(matches!(
        with("Content-Type", "k"),
        Err(EndpointError::Reserved { .. })
    ));
    assert!(matches!(
        with("X-MESSAGE-ID", "k"),
        Err(EndpointError::Reserved { .. })
    ));
    let error = with("apikey", "hunter2\r\nX-Evil: 1").unwrap_err();
    assert!(
        error == EndpointError::HeaderValue && !format!("{error} {error:?}").contains("hunter")
    );
    let moved = endpoint.with_path(MessageKind::Query, "q");
    assert_eq!(
        moved.url(MessageKind::Query).as_str(),
        "https://a.example/q"
    );
    assert_eq!(
        moved.url(MessageKind::PaymentOutcome).as_str(),
        "https://a.example/payto/mpirs/outcomes"
    );
}
