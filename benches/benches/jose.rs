//! Tokens, compared with the raw RSA operation of the same back end and with josekit's own
//! functions.
//!
//! Names: `jws/<operation>/<implementation>/rsa<bits>`. The payload has 200 bytes, like an
//! assertion's claims, so that the difference to `raw` is the cost of the token.

// A benchmark that fails panics; criterion's macros write functions without documentation.
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)]

use bankrail_jose::jws::{self, JwsHeader, VerifyOptions};
use bankrail_jose::{Backend, KeyOptions, PrivateKey, RsaSize, SigningKey};
use criterion::{Criterion, criterion_group};
use josekit::jws::RS256;
use std::hint::black_box;

fn tokens(criterion: &mut Criterion) {
    let payload = [b'x'; 200];
    let header = JwsHeader::new().typ("jwt");
    for size in [RsaSize::Rsa2048, RsaSize::Rsa4096] {
        let bits = size.bits();
        let pem = SigningKey::generate(size).unwrap().to_pkcs8_pem();
        let key_pair = PrivateKey::from_pem(&pem).unwrap();
        for backend in Backend::ALL {
            let key = SigningKey::from_private_key(&key_pair, &KeyOptions::new().backend(*backend))
                .unwrap();
            let verifying = key.verifying_key();
            let token = jws::sign(&key, &header, &payload).unwrap();
            let verified = jws::verify(&token, &verifying, &VerifyOptions::default()).unwrap();
            assert_eq!(verified.payload(), payload);
            let (message, signature) = (token.rsplit_once('.').unwrap().0, verified.signature());

            criterion.bench_function(&format!("jws/sign/raw-{backend:?}/rsa{bits}"), |bencher| {
                bencher.iter(|| key.sign(black_box(message.as_bytes())).unwrap());
            });
            criterion.bench_function(
                &format!("jws/sign/token-{backend:?}/rsa{bits}"),
                |bencher| {
                    bencher.iter(|| jws::sign(&key, &header, black_box(&payload)).unwrap());
                },
            );
            criterion.bench_function(
                &format!("jws/verify/raw-{backend:?}/rsa{bits}"),
                |bencher| {
                    bencher.iter(|| {
                        verifying
                            .verify(black_box(message.as_bytes()), signature)
                            .unwrap()
                    });
                },
            );
            criterion.bench_function(
                &format!("jws/verify/token-{backend:?}/rsa{bits}"),
                |bencher| {
                    bencher.iter(|| {
                        jws::verify(black_box(&token), &verifying, &VerifyOptions::default())
                            .unwrap()
                    });
                },
            );
        }

        let signer = RS256.signer_from_pem(pem.as_bytes()).unwrap();
        let verifier = RS256
            .verifier_from_pem(key_pair.public_key().to_spki_pem())
            .unwrap();
        let mut header = josekit::jws::JwsHeader::new();
        header.set_token_type("jwt");
        let token = josekit::jws::serialize_compact(&payload, &header, &signer).unwrap();
        criterion.bench_function(
            &format!("jws/sign/token-peer-josekit/rsa{bits}"),
            |bencher| {
                bencher.iter(|| {
                    josekit::jws::serialize_compact(black_box(&payload), &header, &signer).unwrap()
                });
            },
        );
        criterion.bench_function(
            &format!("jws/verify/token-peer-josekit/rsa{bits}"),
            |bencher| {
                bencher.iter(|| {
                    josekit::jws::deserialize_compact(black_box(&token), &verifier).unwrap()
                });
            },
        );
    }
}

/// Reading keys, which is done once per key: at start, or when keys are replaced.
fn keys(criterion: &mut Criterion) {
    let key = SigningKey::generate(RsaSize::Rsa2048).unwrap();
    let (private, public) = (key.to_pkcs8_pem(), key.verifying_key().to_spki_pem());
    criterion.bench_function("key/load/private/rsa2048", |bencher| {
        bencher.iter(|| SigningKey::from_pem(black_box(&private)).unwrap());
    });
    criterion.bench_function("key/load/public/rsa2048", |bencher| {
        bencher.iter(|| bankrail_jose::VerifyingKey::from_pem(black_box(&public)).unwrap());
    });
}

criterion_group!(benches, tokens, keys);
fn main() {
    println!("jose on {}", bankrail_benches::processor());
    benches();
    Criterion::default().configure_from_args().final_summary();
}
