//! Assertions of other libraries, and hostile ones, each with its expected verdict: those that
//! stand in the repository (`tests/vectors/assertions.json`).

use bankrail_client_assertion::{Audience, Verifier, VerifierOptions};
use bankrail_jose::{Backend, Jwk, KeyOptions, VerifyingKey};
use bankrail_values::Timestamp;
use serde_json::Value;

#[test]
fn verdicts() {
    let file: Value = serde_json::from_str(include_str!("../vectors/assertions.json")).unwrap();
    let jwk = Jwk::parse(&file["key"].to_string()).unwrap();
    let now = Timestamp::from_unix_millis(file["now"].as_i64().unwrap() * 1000).unwrap();
    let verifier = |options| {
        Verifier::new(
            Audience::parse(file["aud"].as_str().unwrap()).unwrap(),
            options,
        )
    };
    let (strict, lenient) = (
        verifier(VerifierOptions::new()),
        verifier(VerifierOptions::new().lenient_clients()),
    );
    for backend in Backend::ALL {
        let key = VerifyingKey::from_jwk(&jwk, &KeyOptions::new().backend(*backend)).unwrap();
        for case in file["assertions"].as_array().unwrap() {
            let (name, expected) = (&case["name"], case["expected"].as_str().unwrap());
            let verify = |verifier: &Verifier| {
                verifier.verify(case["assertion"].as_str().unwrap(), now, |_| {
                    Some(key.clone())
                })
            };
            let found = verify(&strict);
            assert_eq!(found.is_ok(), expected == "accepted", "{name}: {found:?}");
            if let Err(error) = found {
                let answer = (error.status(), error.to_body().to_json());
                assert_eq!(
                    answer,
                    (401, r#"{"error":"invalid_client"}"#.to_owned()),
                    "{name}"
                );
            }
            let found = verify(&lenient);
            assert_eq!(found.is_ok(), expected != "refused", "{name}: {found:?}");
        }
    }
}
