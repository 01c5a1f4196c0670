//! The assertions of the shared vectors, each with its expected verdict.

use bankrail_client_assertion::{AssertionError, Audience, TypRule, VerifiedAssertion, Verifier, VerifierOptions};
use bankrail_jose::{Jwk, KeyOptions, VerifyingKey};
use bankrail_values::Timestamp;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

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
    let verifier = Verifier::new(Audience::parse(file["aud"].as_str().unwrap()).unwrap());
    let verify = |verifier: &Verifier, token: &str| -> Result<VerifiedAssertion, AssertionError> {
        verifier.verify(token, now, |_| Some(key.clone()))
    };

    let cases = file["vectors"].as_array().unwrap();
    for case in cases {
        let (name, token) = (case["name"].as_str().unwrap(), case["token"].as_str().unwrap());
        let expect = case["expect"].as_str().unwrap();
        let found = verify(&verifier, token);
        // By default all but "accept" are refused. The options below accept the others.
        assert_eq!(found.is_ok(), expect == "accept", "{name}: {found:?}");
        if let Err(error) = found {
            assert_eq!((error.status(), error.to_body().to_json().as_str()), (401, r#"{"error":"invalid_client"}"#));
        }
        let skewed = VerifierOptions::new().leeway(Duration::from_secs(2));
        let with = |options| verifier.clone().with_options(options);
        match expect {
            "reject unless skew" => assert!(verify(&with(skewed), token).is_ok(), "{name}"),
            "policy" => {
                assert!(verify(&with(VerifierOptions::new().typ(TypRule::AnyCaseOrAbsent)), token).is_ok(), "{name}")
            }
            _ => assert_eq!(verify(&with(skewed.accept_text_exp(true)), token).is_ok(), expect == "accept", "{name}"),
        }
    }
    assert!(cases.len() >= 30, "{} cases", cases.len());
    println!("{} cases", cases.len());
}
