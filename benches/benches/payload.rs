//! Sealing and opening, compared with the two raw RSA operations of the same back end and with
//! josekit's own functions.
//!
//! - Names: `payload/<operation>/<implementation>/<bytes>/rsa<bits of the signing key>`.
//! - The message is JSON of 0.5, 2 and 64 kB. The cost of RSA is the same for all; the other costs
//!   grow with the length.
//! - `raw` is one signature and one key encryption, or one key decryption and one verification,
//!   with the same key handles and over as many bytes as the message signs.

// A benchmark that fails panics; criterion's macros write functions without documentation.
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)]

use bankrail_jose::{
    Backend, DecryptionKey, KeyOptions, PrivateKey, RsaSize, SigningKey, base64url,
};
use bankrail_secured_payload::{OpenOptions, Opener, SealOptions, Sealer};
use criterion::{Criterion, Throughput, criterion_group};
use josekit::jwe::{JweHeader, RSA_OAEP};
use josekit::jws::{JwsHeader, RS256};
use std::hint::black_box;

const SIZES: [usize; 3] = [512, 2048, 65_536];

fn message(bytes: usize) -> Vec<u8> {
    let mut json = br#"{"narrative":""#.to_vec();
    json.extend(
        (0..bytes.saturating_sub(16))
            .map(|at| b"abcdefghijklmnopqrstuvwxyz 0123456789"[at * 7 % 37]),
    );
    json.extend(br#""}"#);
    json
}

fn payloads(criterion: &mut Criterion) {
    let decryption = DecryptionKey::generate(RsaSize::Rsa2048)
        .unwrap()
        .to_pkcs8_pem();
    let decryption_private = PrivateKey::from_pem(&decryption).unwrap();
    for size in [RsaSize::Rsa2048, RsaSize::Rsa4096] {
        let bits = size.bits();
        let signing = SigningKey::generate(size).unwrap().to_pkcs8_pem();
        let signing_private = PrivateKey::from_pem(&signing).unwrap();
        for backend in Backend::ALL {
            let options = KeyOptions::new().backend(*backend);
            let signing = SigningKey::from_private_key(&signing_private, &options).unwrap();
            let decryption =
                DecryptionKey::from_private_key(&decryption_private, &options).unwrap();
            let (verifying, encryption) = (signing.verifying_key(), decryption.encryption_key());
            let content_key = [7; 64];
            let encrypted = encryption.encrypt(&content_key).unwrap();
            let sealer = Sealer::new(signing.clone(), encryption.clone(), SealOptions::new());
            let opener =
                Opener::new(decryption.clone(), verifying.clone(), OpenOptions::new()).unwrap();

            let mut group = criterion.benchmark_group("payload");
            for bytes in SIZES {
                let json = message(bytes);
                let compact = sealer.seal(&json).unwrap();
                assert_eq!(opener.open(&compact).unwrap().json(), json);
                group.throughput(Throughput::Bytes(u64::try_from(bytes).unwrap()));
                let input = base64url::encode(&json);
                let signature = signing.sign(input.as_bytes()).unwrap();
                group.bench_function(
                    format!("seal/raw-{backend:?}/{bytes}/rsa{bits}"),
                    |bencher| {
                        bencher.iter(|| {
                            (
                                signing.sign(black_box(input.as_bytes())),
                                encryption.encrypt(&content_key),
                            )
                        });
                    },
                );
                group.bench_function(
                    format!("open/raw-{backend:?}/{bytes}/rsa{bits}"),
                    |bencher| {
                        bencher.iter(|| {
                            verifying
                                .verify(black_box(input.as_bytes()), &signature)
                                .unwrap();
                            decryption.decrypt(black_box(&encrypted)).unwrap()
                        });
                    },
                );
                group.bench_function(format!("seal/{backend:?}/{bytes}/rsa{bits}"), |bencher| {
                    bencher.iter(|| sealer.seal(black_box(&json)).unwrap());
                });
                group.bench_function(format!("open/{backend:?}/{bytes}/rsa{bits}"), |bencher| {
                    bencher.iter(|| opener.open(black_box(&compact)).unwrap());
                });
            }
            group.finish();
        }
        peer(criterion, &signing, &decryption, bits);
    }
}

/// Measures josekit's own functions, which decrypt before they check the tag.
fn peer(criterion: &mut Criterion, signing: &str, decryption: &str, bits: u32) {
    let signer = RS256.signer_from_pem(signing.as_bytes()).unwrap();
    let verifier = {
        let public = PrivateKey::from_pem(signing)
            .unwrap()
            .public_key()
            .to_spki_pem();
        RS256.verifier_from_pem(public).unwrap()
    };
    let decrypter = RSA_OAEP.decrypter_from_pem(decryption.as_bytes()).unwrap();
    let encrypter = {
        let public = PrivateKey::from_pem(decryption)
            .unwrap()
            .public_key()
            .to_spki_pem();
        RSA_OAEP.encrypter_from_pem(public).unwrap()
    };
    let mut header = JweHeader::new();
    header.set_content_encryption("A256CBC-HS512");
    let mut group = criterion.benchmark_group("payload");
    for bytes in SIZES {
        let json = message(bytes);
        let seal = || {
            let signed =
                josekit::jws::serialize_compact(black_box(&json), &JwsHeader::new(), &signer)
                    .unwrap();
            josekit::jwe::serialize_compact(signed.as_bytes(), &header, &encrypter).unwrap()
        };
        let compact = seal();
        group.throughput(Throughput::Bytes(u64::try_from(bytes).unwrap()));
        group.bench_function(format!("seal/peer-josekit/{bytes}/rsa{bits}"), |bencher| {
            bencher.iter(seal)
        });
        group.bench_function(format!("open/peer-josekit/{bytes}/rsa{bits}"), |bencher| {
            bencher.iter(|| {
                let (signed, _) =
                    josekit::jwe::deserialize_compact(black_box(&compact), &decrypter).unwrap();
                josekit::jws::deserialize_compact(&signed, &verifier).unwrap()
            });
        });
    }
    group.finish();
}

/// Sealing and opening on one thread, and on two threads that share the keys without locks.
fn threads(criterion: &mut Criterion) {
    let signing = SigningKey::generate(RsaSize::Rsa2048).unwrap();
    let decryption = DecryptionKey::generate(RsaSize::Rsa2048).unwrap();
    let sealer = Sealer::new(
        signing.clone(),
        decryption.encryption_key(),
        SealOptions::new(),
    );
    let opener = Opener::new(decryption, signing.verifying_key(), OpenOptions::new()).unwrap();
    let json = message(2048);
    let compact = sealer.seal(&json).unwrap();
    let mut group = criterion.benchmark_group("payload/threads");
    for threads in [1_u64, 2] {
        group.throughput(Throughput::Elements(threads * 20));
        group.bench_function(format!("open/{threads}"), |bencher| {
            bencher.iter(|| on(threads, || drop(opener.open(black_box(&compact)).unwrap())));
        });
        group.bench_function(format!("seal/{threads}"), |bencher| {
            bencher.iter(|| on(threads, || drop(sealer.seal(black_box(&json)).unwrap())));
        });
    }
    group.finish();
}

/// Does the work 20 times on each of `threads` threads.
fn on(threads: u64, work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| (0..20).for_each(|_| work()));
        }
    });
}

criterion_group!(benches, payloads, threads);
fn main() {
    println!("payload on {}", bankrail_benches::processor());
    benches();
    Criterion::default().configure_from_args().final_summary();
}
