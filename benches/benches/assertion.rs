//! Building and verifying client assertions, compared with the raw RSA operation of the same back
//! end, jsonwebtoken and josekit.
//!
//! No library can be faster than `raw`. The goal is verification within 15 % of it.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    KeyPair, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaKeyPair,
};
use bankrail_client_assertion::{
    AssertionBuilder, AssertionOptions, Audience, CustomerCode, Verifier, VerifierOptions,
};
use bankrail_jose::{Backend, KeyOptions, PrivateKey, RsaSize, SigningKey, base64url};
use bankrail_values::Timestamp;
use criterion::{Criterion, criterion_group};
use josekit::jws::{JwsHeader, RS256};
use josekit::jwt::JwtPayload;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::sync::Arc;

const AUDIENCE: &str = "https://auth.example.com/v1.0/auth";

#[derive(Serialize, Deserialize)]
struct Claims {
    sub: String,
    exp: i64,
    aud: String,
}

fn assertions(criterion: &mut Criterion) {
    for (name, size) in [("rsa2048", RsaSize::Rsa2048), ("rsa4096", RsaSize::Rsa4096)] {
        one_size(criterion, name, size);
    }
}

fn one_size(criterion: &mut Criterion, name: &str, size: RsaSize) {
    let now = Timestamp::from_unix_millis(1_795_233_600_000).expect("a time");
    let customer = CustomerCode::parse("CUSTOMERCODE").expect("a code");
    let audience = Audience::parse(AUDIENCE).expect("an audience");
    let builder =
        AssertionBuilder::new(customer.clone(), audience.clone(), AssertionOptions::new());
    let verifier = Verifier::new(audience, VerifierOptions::new());
    let pem = SigningKey::generate(size).expect("a key").to_pkcs8_pem();
    let key_pair = PrivateKey::from_pem(&pem).expect("the same key");
    let raw = RsaKeyPair::from_pkcs8(&key_pair.to_pkcs8_der()).expect("the same key");
    let peer = EncodingKey::from_rsa_pem(pem.as_bytes()).expect("the same key");
    let keys: Vec<(&str, SigningKey)> = [("aws-lc", Backend::AwsLc), ("josekit", Backend::Josekit)]
        .into_iter()
        .map(|(name, backend)| {
            let options = KeyOptions::new().backend(backend);
            (
                name,
                SigningKey::from_private_key(&key_pair, &options).expect("the same key"),
            )
        })
        .collect();
    let (_, key) = keys.first().expect("two back ends");
    let assertion = builder.sign(key, now).expect("an assertion");

    let mut group = criterion.benchmark_group(format!("assertion/build/{name}"));
    let claims = builder.claims_json(now).expect("claims");
    let input = assertion
        .rsplit_once('.')
        .expect("three parts")
        .0
        .as_bytes()
        .to_vec();
    group.bench_function("raw aws-lc", |bench| {
        let mut signature = vec![0; raw.public_modulus_len()];
        bench.iter(|| {
            raw.sign(
                &RSA_PKCS1_SHA256,
                &SystemRandom::new(),
                black_box(&input),
                &mut signature,
            )
        });
    });
    for (backend, key) in &keys {
        let made = builder.sign(key, now).expect("an assertion");
        assert_eq!(made, assertion, "RS256 is deterministic");
        group.bench_function(format!("raw {backend} behind the key handle"), |bench| {
            bench.iter(|| key.sign(black_box(&input)));
        });
        group.bench_function(format!("bankrail {backend}"), |bench| {
            bench.iter(|| builder.sign(key, black_box(now)))
        });
    }
    let peer_claims: Claims = serde_json::from_str(&claims).expect("claims");
    let header = Header {
        typ: Some("jwt".to_owned()),
        ..Header::new(Algorithm::RS256)
    };
    group.bench_function("jsonwebtoken aws-lc", |bench| {
        bench.iter(|| {
            jsonwebtoken::encode(&header, black_box(&peer_claims), &peer).expect("a token")
        });
    });
    let signer = RS256.signer_from_pem(pem.as_bytes()).expect("the same key");
    let (mut header, mut payload) = (JwsHeader::new(), JwtPayload::new());
    header.set_token_type("jwt");
    payload.set_subject(&peer_claims.sub);
    payload.set_audience(vec![AUDIENCE]);
    payload
        .set_claim("exp", Some(peer_claims.exp.into()))
        .expect("a number");
    group.bench_function("josekit", |bench| {
        bench.iter(|| {
            josekit::jwt::encode_with_signer(black_box(&payload), &header, &signer)
                .expect("a token")
        });
    });
    group.finish();

    let mut group = criterion.benchmark_group(format!("assertion/verify/{name}"));
    let public = ParsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, raw.public_key().as_ref())
        .expect("the public key");
    let signature =
        base64url::decode(assertion.rsplit_once('.').expect("three parts").1).expect("a signature");
    assert!(public.verify_sig(&input, &signature).is_ok());
    group.bench_function("raw aws-lc", |bench| {
        bench.iter(|| public.verify_sig(black_box(&input), black_box(&signature)));
    });
    for (backend, key) in &keys {
        let public = key.verifying_key();
        group.bench_function(format!("raw {backend} behind the key handle"), |bench| {
            bench.iter(|| public.verify(black_box(&input), black_box(&signature)));
        });
        let verify = |token: &str| verifier.verify(token, now, |_| Some(public.clone()));
        assert_eq!(verify(&assertion).expect("verifies").customer(), &customer);
        group.bench_function(format!("bankrail {backend}"), |bench| {
            bench.iter(|| verify(black_box(&assertion)))
        });
    }
    let decoding = DecodingKey::from_rsa_pem(key.verifying_key().to_spki_pem().as_bytes())
        .expect("the public key");
    let mut rules = Validation::new(Algorithm::RS256);
    rules.set_audience(&[AUDIENCE]);
    rules.validate_exp = false; // jsonwebtoken has its own clock, and checks no upper bound
    let decoded = jsonwebtoken::decode::<Claims>(&assertion, &decoding, &rules).expect("verifies");
    assert_eq!(decoded.claims.sub, customer.as_str());
    group.bench_function("jsonwebtoken aws-lc", |bench| {
        bench.iter(|| jsonwebtoken::decode::<Claims>(black_box(&assertion), &decoding, &rules));
    });
    // josekit reads the claims here, and checks them in another call.
    let verifier_josekit = RS256
        .verifier_from_pem(key.verifying_key().to_spki_pem())
        .expect("the public key");
    let (claims, _) =
        josekit::jwt::decode_with_verifier(&assertion, &verifier_josekit).expect("verifies");
    assert_eq!(claims.subject(), Some(customer.as_str()));
    group.bench_function("josekit", |bench| {
        bench.iter(|| josekit::jwt::decode_with_verifier(black_box(&assertion), &verifier_josekit));
    });
    group.finish();

    threads(criterion, name, &verifier, key, &assertion, now);
}

/// Two threads verify at once with one key, which is all that they share.
fn threads(
    criterion: &mut Criterion,
    name: &str,
    verifier: &Verifier,
    key: &SigningKey,
    assertion: &str,
    now: Timestamp,
) {
    let shared = Arc::new((verifier.clone(), key.verifying_key(), assertion.to_owned()));
    criterion.bench_function(
        &format!("assertion/verify/{name}/two threads, each"),
        |bench| {
            bench.iter_custom(|rounds| {
                let start = std::time::Instant::now();
                let other = Arc::clone(&shared);
                let run = move |shared: &(Verifier, bankrail_jose::VerifyingKey, String)| {
                    for _ in 0..rounds {
                        let found = shared
                            .0
                            .verify(black_box(&shared.2), now, |_| Some(shared.1.clone()));
                        black_box(found).expect("verifies");
                    }
                };
                let thread = std::thread::spawn(move || run(&other));
                run(&shared);
                thread.join().expect("the thread ends");
                start.elapsed()
            });
        },
    );
}

criterion_group!(benches, assertions);
fn main() {
    println!("assertion on {}", bankrail_benches::processor());
    benches();
    Criterion::default().configure_from_args().final_summary();
}
