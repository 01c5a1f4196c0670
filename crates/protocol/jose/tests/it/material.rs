//! Keys of a file in any supported form.

use crate::shared::SIGNING;
use bankrail_jose::{
    DecryptionKey, KeyError, KeyFileError, KeyHandle, KeyMaterial, KeyOptions, KeySet, PrivateKey,
    PublicKey, RsaSize, SigningKey, UnusableKey, VerifyingKey, base64url,
};
use serde_json::{Value, json};

fn parse(bytes: impl AsRef<[u8]>) -> KeyMaterial {
    KeyMaterial::parse(bytes.as_ref()).unwrap()
}

fn private_key() -> PrivateKey {
    PrivateKey::from_pem(&SIGNING.to_pkcs8_pem()).unwrap()
}

/// Returns the name of the form of a key that is no JWK, and true if the key is private.
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
    for (bytes, found) in [
        (&b""[..], "none of them"),
        (b"MIIBIjANBgkqhkiG9w0", "none of them"),
        (b"0\x82\x01\x00", "none of them"),
        (b" <RSAKeyValue>", "XML; export the key as PEM"),
        (b"\xff\xfe{\0", "UTF-16; save the file as UTF-8"),
        (b"\xfe\xff\0{", "UTF-16; save the file as UTF-8"),
        (
            b"\xfe\xed\xfe\xed\0\0\0\x02",
            "a Java key store; export the key with keytool",
        ),
        (
            b"0\x82\x09\x59\x02\x01\x03\x30",
            "a PKCS#12 store; take the key out of it with openssl pkcs12",
        ),
    ] {
        assert_eq!(
            refused(bytes),
            format!("expected a key as PEM, DER, JWK or JWK set, found {found}")
        );
    }
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
    assert_eq!(
        refused(b"-----BEGIN PUBLIC KEY-----\\nMIIB\\n-----END PUBLIC KEY-----"),
        "expected one PEM block, found line breaks written as \\n; write real ones"
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
        PublicKey::from_pem(other).unwrap_err().to_string()
    );
    // The form is right and the content is refused, so that no other form is tried.
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
    // At most one byte beyond the bound is read.
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

/// Reads a file of keys as Java and .NET programs write them, or `None` where they are not
/// available.
fn reported(file: &str) -> Option<Vec<u8>> {
    let folder = std::env::var_os("BANKRAIL_SHARED")?;
    let path = std::path::PathBuf::from(folder).join("samples/reports/keys");
    Some(std::fs::read(path.join(file)).unwrap())
}

fn only_key<K: KeyHandle>(bytes: &[u8]) -> Result<K, KeyError> {
    let (keys, unusable) = KeyMaterial::parse(bytes)?.into_keys::<K>(&options())?;
    assert_eq!((keys.keys().len(), unusable.len()), (1, 0));
    Ok(keys.keys()[0].clone())
}

#[test]
fn files_of_java_and_dotnet_shops_are_keys() {
    for (file, same_as) in [
        ("pub-bom.jwk", "pub-lead0-n.jwk"),
        ("pub-lead0-n.jwk", "pub-alg-null.jwk"),
        ("set-bom.jwks", "pub-bom.jwk"),
        ("cert.der", "cert.pem"),
        ("key-then-cert.pem", "cert.pem"),
        ("cert-then-key.pem", "cert.pem"),
    ] {
        let (Some(bytes), Some(other)) = (reported(file), reported(same_as)) else {
            return;
        };
        let [key, other]: [VerifyingKey; 2] = [bytes, other]
            .map(|bytes| only_key(&bytes).unwrap_or_else(|error| panic!("{file}: {error}")));
        assert_eq!(key.thumbprint(), other.thumbprint(), "{file}");
    }
    for file in ["key-then-cert.pem", "cert-then-key.pem", "lead0-n.jwk"] {
        only_key::<SigningKey>(&reported(file).unwrap())
            .unwrap_or_else(|error| panic!("{file}: {error}"));
    }
    let many = KeyMaterial::parse(&reported("set-65.jwks").unwrap()).unwrap_err();
    assert_eq!(many.to_string(), "expected at most 64 keys, found 65");
}

#[test]
fn marks_zeros_and_nulls_do_not_change_a_key() {
    let plain: Value = serde_json::from_str(&SIGNING.to_jwk()).unwrap();
    let mut jwk = plain.clone();
    for name in ["n", "e", "d"] {
        let mut bytes = vec![0];
        bytes.extend(base64url::decode(plain[name].as_str().unwrap()).unwrap());
        jwk[name] = base64url::encode(&bytes).into();
    }
    for name in ["alg", "use", "key_ops", "kid", "oth"] {
        jwk[name] = Value::Null;
    }
    let set = json!({ "keys": [jwk] });
    let mut without_factors = jwk.clone();
    for name in ["p", "q", "dp", "dq", "qi"] {
        without_factors[name] = Value::Null;
    }
    for json in [&jwk, &without_factors, &set] {
        let key: SigningKey = only_key(format!("\u{feff}{json}").as_bytes()).unwrap();
        assert_eq!(key.to_jwk(), SIGNING.to_jwk());
    }
    let zero = json!({ "kty": "RSA", "n": "AA", "e": "AQAB" }).to_string();
    assert!(KeyMaterial::parse(zero.as_bytes()).is_err());
    let pem = format!("\u{feff}{}", SIGNING.verifying_key().to_spki_pem());
    only_key::<VerifyingKey>(pem.as_bytes()).unwrap();
}

#[test]
fn of_several_blocks_the_one_that_fits_the_use_is_taken() {
    let private = private_key();
    let (private_pem, public_pem) = (
        private.to_pkcs8_pem().to_string(),
        private.public_key().to_spki_pem(),
    );
    let parameters = "-----BEGIN DH PARAMETERS-----\nAAAA\n-----END DH PARAMETERS-----\n";
    for text in [
        format!("{parameters}{private_pem}{public_pem}"),
        format!("{public_pem}{private_pem}"),
    ] {
        assert_eq!(PublicKey::from_pem(&text).unwrap(), private.public_key());
        assert_eq!(
            PrivateKey::from_pem(&text).unwrap().public_key(),
            private.public_key()
        );
        assert!(spelling(&parse(&text)).1);
    }
    let other = DecryptionKey::generate(RsaSize::Rsa2048).unwrap();
    let others = format!("{private_pem}{}", other.encryption_key().to_spki_pem());
    assert_eq!(
        KeyMaterial::parse(others.as_bytes())
            .unwrap_err()
            .to_string(),
        "expected one PEM block, found a private key beside the certificate or public key of another"
    );
    for text in [
        format!("{public_pem}{public_pem}"),
        format!("{private_pem}{private_pem}"),
    ] {
        let refused = KeyMaterial::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(refused.ends_with("found more than one block"), "{refused}");
    }
}
