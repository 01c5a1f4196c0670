//! Keys of a file in whatever spelling.

use crate::shared::SIGNING;
use bankrail_jose::{
    DecryptionKey, KeyError, KeyFileError, KeyMaterial, KeyOptions, KeySet, PrivateKey, SigningKey,
    UnusableKey, VerifyingKey,
};
use serde_json::{Value, json};

fn parse(bytes: impl AsRef<[u8]>) -> KeyMaterial {
    KeyMaterial::parse(bytes.as_ref()).unwrap()
}

fn private_key() -> PrivateKey {
    PrivateKey::from_pem(&SIGNING.to_pkcs8_pem()).unwrap()
}

/// The name of the spelling of a key that is no JWK, and whether it is a private one.
fn spelling(material: &KeyMaterial) -> (&'static str, bool) {
    match material {
        KeyMaterial::Private(spelling, _) => (spelling, true),
        KeyMaterial::Public(spelling, _) => (spelling, false),
        KeyMaterial::Jwk(_) => ("JWK", false),
        KeyMaterial::Set(_) => ("set", false),
    }
}

fn options() -> KeyOptions {
    KeyOptions::new()
}

#[test]
fn every_spelling_is_recognised_and_gives_the_same_key() {
    let (private, public) = (private_key(), SIGNING.verifying_key().public_key().clone());
    for (bytes, expected, is_private) in [
        (
            private.to_pkcs8_pem().as_bytes().to_vec(),
            "PKCS#8 PEM",
            true,
        ),
        (
            private.to_pkcs1_pem().as_bytes().to_vec(),
            "PKCS#1 PEM",
            true,
        ),
        (private.to_pkcs8_der().to_vec(), "PKCS#8 DER", true),
        (private.to_pkcs1_der().to_vec(), "PKCS#1 DER", true),
        (
            public.to_spki_pem().into_bytes(),
            "SubjectPublicKeyInfo PEM",
            false,
        ),
        (public.to_pkcs1_pem().into_bytes(), "PKCS#1 PEM", false),
        (public.to_spki_der(), "SubjectPublicKeyInfo DER", false),
        (public.to_pkcs1_der(), "PKCS#1 DER", false),
    ] {
        let material = parse(&bytes);
        assert_eq!(spelling(&material), (expected, is_private));
        assert_eq!(material.public_key(), Some(public.clone()), "{expected}");
        let signs = material.into_keys::<SigningKey>(&options());
        match signs {
            Ok((keys, unusable)) => {
                assert!(is_private && unusable.is_empty(), "{expected}");
                assert_eq!(
                    keys.keys()[0].sign(b"x").unwrap(),
                    SIGNING.sign(b"x").unwrap()
                );
            }
            Err(error) => assert!(
                !is_private && matches!(error, KeyError::NotPrivate),
                "{expected}: {error}"
            ),
        }
        let (keys, _) = parse(&bytes).into_keys::<VerifyingKey>(&options()).unwrap();
        keys.keys()[0]
            .verify(b"x", &SIGNING.sign(b"x").unwrap())
            .unwrap();
    }
    let decrypts = parse(public.to_spki_pem()).into_keys::<DecryptionKey>(&options());
    assert!(
        matches!(decrypts, Err(KeyError::NotPrivate)),
        "{decrypts:?}"
    );
}

#[test]
fn a_jwk_is_told_from_a_set_of_them() {
    let jwk = SIGNING.clone().with_kid("k").verifying_key().to_jwk();
    let material = parse(format!("\n {jwk}"));
    assert_eq!(spelling(&material).0, "JWK");
    assert_eq!(
        material.public_key().as_ref(),
        Some(SIGNING.verifying_key().public_key())
    );
    let (keys, _): (KeySet<VerifyingKey>, _) = material.into_keys(&options()).unwrap();
    assert_eq!(keys.keys()[0].kid(), Some("k"));

    let set = json!({ "keys": [{ "kty": "EC", "kid": "e" }, serde_json::from_str::<Value>(&jwk).unwrap()] });
    let material = parse(set.to_string());
    assert_eq!(
        (spelling(&material).0, material.public_key()),
        ("set", None)
    );
    let (keys, unusable): (KeySet<VerifyingKey>, Vec<UnusableKey>) =
        material.into_keys(&options()).unwrap();
    assert_eq!(
        (keys.keys().len(), unusable.len(), unusable[0].index),
        (1, 1, 0)
    );
    let signing = parse(set.to_string()).into_keys::<SigningKey>(&options());
    assert!(signing.is_err(), "{signing:?}");
    let empty = parse(r#"{"keys":[]}"#).into_keys::<VerifyingKey>(&options());
    assert!(matches!(empty, Err(KeyError::Set(_))), "{empty:?}");
}

#[test]
fn what_is_no_key_is_refused_by_what_it_looks_like() {
    let refused = |bytes: &[u8]| KeyMaterial::parse(bytes).unwrap_err().to_string();
    // The first reading's error, for bytes of no form at all.
    assert!(
        refused(b"").contains("a PrivateKeyInfo"),
        "{}",
        refused(b"")
    );
    assert!(
        refused(b"{").contains("JSON") || refused(b"{").contains("byte"),
        "{}",
        refused(b"{")
    );
    assert_eq!(
        refused(br#"{"kty":"EC"}"#),
        bankrail_jose::Jwk::parse(r#"{"kty":"EC"}"#)
            .unwrap_err()
            .to_string()
    );
    let sealed =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    assert_eq!(
        refused(sealed.as_bytes()),
        PrivateKey::from_pem(sealed).unwrap_err().to_string()
    );
    let other = "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n";
    assert_eq!(
        refused(other.as_bytes()),
        bankrail_jose::PublicKey::from_pem(other)
            .unwrap_err()
            .to_string()
    );
    // A form that is right, with a content that is not: no other form is tried.
    let mut key = private_key().to_pkcs1_der().to_vec();
    let last = key.len() - 1;
    key[last] ^= 1;
    assert!(
        matches!(KeyMaterial::parse(&key), Err(KeyError::Inconsistent)),
        "{}",
        refused(&key)
    );
}

#[test]
fn a_file_gives_its_one_key_or_says_which_file_and_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("signing.pem");
    let wrong = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let error = SigningKey::open(&path).unwrap_err();
        assert!(
            error.to_string().starts_with(&path.display().to_string()),
            "{error}"
        );
        error
    };
    assert!(
        matches!(SigningKey::open(&path), Err(KeyFileError::Read { path: named, .. }) if named == path)
    );
    let public = SIGNING.verifying_key().to_spki_pem();
    assert!(matches!(
        wrong(public.as_bytes()),
        KeyFileError::Key {
            source: KeyError::NotPrivate,
            ..
        }
    ));
    let jwk =
        |kid: &str| serde_json::from_str::<Value>(&SIGNING.clone().with_kid(kid).to_jwk()).unwrap();
    let two = json!({ "keys": [jwk("a"), jwk("b")] }).to_string();
    assert!(matches!(
        wrong(two.as_bytes()),
        KeyFileError::Several { found: 2, .. }
    ));
    let set = json!({ "keys": [jwk("a")] }).to_string();
    let with_bytes = |bytes: usize| format!("{}{set}", " ".repeat(bytes - set.len()));
    // No more than one byte past the bound is read.
    let error = wrong(with_bytes(256 * 1024 + 2).as_bytes());
    let KeyFileError::Key {
        source: KeyError::Json(source),
        ..
    } = &error
    else {
        panic!("{error:?}")
    };
    assert!(source.to_string().ends_with("found 262145"), "{source}");

    std::fs::write(&path, with_bytes(256 * 1024)).unwrap();
    assert_eq!(
        SigningKey::open(&path).unwrap().thumbprint(),
        SIGNING.thumbprint()
    );
    std::fs::write(&path, public).unwrap();
    assert_eq!(VerifyingKey::open(&path).unwrap(), SIGNING.verifying_key());
}
