//! The assertions of the shared vectors, each with its expected verdict.

use bankrail_client_assertion::{
    AssertionError, Audience, VerifiedAssertion, Verifier, VerifierOptions,
};
use bankrail_jose::{Jwk, KeyOptions, VerifyingKey};
use bankrail_values::Timestamp;
use serde_json::Value;
use std::path::PathBuf;

fn read(folder: &str, file: &str) -> Value {
    let path = PathBuf::from(folder).join("vectors/jose").join(file);
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).unwrap()
}

#[test]
fn verdicts() {
    let Ok(folder) = std::env::var("BANKRAIL_SHARED") else {
        println!("BANKRAIL_SHARED not set: skipped");
        return;
    };
    let (file, keys) = (read(&folder, "assertions.json"), read(&folder, "keys.json"));
    let jwk = Jwk::parse(&keys["sig2048"].to_string()).unwrap();
    let key = VerifyingKey::from_jwk(&jwk, &KeyOptions::default()).unwrap();
    let now = Timestamp::from_unix_millis(file["now"].as_i64().unwrap() * 1000).unwrap();
    let verifier = Verifier::new(
        Audience::parse(file["aud"].as_str().unwrap()).unwrap(),
        VerifierOptions::new(),
    );
    let verify = |verifier: &Verifier, token: &str| -> Result<VerifiedAssertion, AssertionError> {
        verifier.verify(token, now, |_| Some(key.clone()))
    };

    let cases = file["vectors"].as_array().unwrap();
    for case in cases {
        let (name, token) = (
            case["name"].as_str().unwrap(),
            case["token"].as_str().unwrap(),
        );
        let expect = case["expect"].as_str().unwrap();
        let found = verify(&verifier, token);
        // By default, all assertions except those marked "accept" are refused. `lenient_clients`
        // accepts more.
        assert_eq!(found.is_ok(), expect == "accept", "{name}: {found:?}");
        if let Err(error) = found {
            assert_eq!(
                (error.status(), error.to_body().to_json().as_str()),
                (401, r#"{"error":"invalid_client"}"#)
            );
        }
        let lenient = Verifier::new(
            verifier.audience().clone(),
            VerifierOptions::new().lenient_clients(),
        );
        let found = verify(&lenient, token).is_ok();
        match (name, expect) {
            // `exp` has no leeway under any option: it would lengthen the life of an assertion.
            ("exp_now", _) => assert!(!found, "{name}"),
            (_, "reject unless skew" | "policy") => assert!(found, "{name}"),
            _ => assert_eq!(found, expect == "accept", "{name}"),
        }
    }
    assert!(cases.len() >= 30, "{} cases", cases.len());
    println!("{} cases", cases.len());
}
