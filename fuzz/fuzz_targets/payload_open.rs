//! Takes text as a secured payload, and bytes that are encrypted to our key. Opening never panics,
//! and only what is well formed opens. RSA is switched off, so that inputs get past it.

use arbitrary::Arbitrary;
use bankrail_jose::{Backend, DecryptionKey, KeyOptions, RsaSize, SigningKey};
use bankrail_secured_payload::{OpenError, OpenOptions, Opener, encrypt_anything};
use std::sync::LazyLock;

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Text(&'a str),
    Encrypted { header: &'a str, plain: &'a [u8] },
    Inner { zip: bool, plain: &'a [u8] },
    Signed { header: &'a str, payload: &'a [u8] },
}

struct Keys {
    decryption: DecryptionKey,
    opener: Opener,
}

static KEYS: LazyLock<Keys> = LazyLock::new(|| {
    let options = KeyOptions::new().backend(Backend::Insecure);
    let signing = SigningKey::generate_with(RsaSize::Rsa2048, &options).expect("a key");
    let decryption = DecryptionKey::generate_with(RsaSize::Rsa2048, &options).expect("a key");
    let opener = Opener::new(
        decryption.clone(),
        signing.verifying_key(),
        OpenOptions::new(),
    )
    .expect("a key of 2048 bits");
    Keys { decryption, opener }
});

fn opens(header: &str, plain: &[u8]) -> bool {
    let message = encrypt_anything(header, plain.to_vec(), &KEYS.decryption.encryption_key())
        .expect("no bound is met");
    match KEYS.opener.open(&message) {
        Ok(opened) => {
            serde_json::from_slice::<serde_json::Value>(opened.json()).expect("JSON");
            true
        }
        Err(error) => {
            assert!(!matches!(
                error,
                OpenError::Unavailable { .. } | OpenError::NoKey(_)
            ));
            false
        }
    }
}

fuzz_target!(|input: Input<'_>| {
    const PLAIN: &str = r#"{"alg":"RSA-OAEP","enc":"A256CBC-HS512"}"#;
    const ZIP: &str = r#"{"alg":"RSA-OAEP","enc":"A256CBC-HS512","zip":"DEF"}"#;
    match input {
        Input::Text(text) => {
            let _ = KEYS.opener.open(text);
        }
        Input::Encrypted { header, plain } => {
            opens(header, plain);
        }
        Input::Inner { zip, plain } => {
            opens(if zip { ZIP } else { PLAIN }, plain);
        }
        Input::Signed { header, payload } => {
            let encode = bankrail_jose::base64url::encode;
            let signed = [
                encode(header.as_bytes()),
                encode(payload),
                encode(&[0; 256]),
            ]
            .join(".");
            opens(PLAIN, signed.as_bytes());
        }
    }
});
