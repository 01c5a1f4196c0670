//! Vectors that stand in the repository (`tests/vectors/jose.json`): RFC 7515, 7516, 7520 and 7638,
//! and values of other libraries. Those of Project Wycheproof are run where they are available.

use crate::shared::{backends, hex, str, text, vectors};
use bankrail_jose::jws::{self, JwsHeader, VerifyOptions};
use bankrail_jose::{
    DecryptionKey, Jwk, KeyOptions, KeySizes, PrivateKey, PublicKey, SigningKey, VerifyingKey,
    base64url,
};
use serde_json::Value;
use std::sync::LazyLock;

pub(crate) static FILE: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../vectors/jose.json")).expect("the file is JSON")
});

fn rows(list: &str) -> &'static [Value] {
    FILE[list].as_array().unwrap()
}

fn bytes(row: &Value, member: &str) -> Vec<u8> {
    base64url::decode(str(row, member)).unwrap()
}

fn key(name: &str) -> Jwk {
    Jwk::parse(&FILE["keys"][name].to_string()).unwrap()
}

/// Makes a handle of the private key of a row on each back end, without the JWK's members about its
/// use.
fn handles<K>(
    row: &Value,
    make: fn(&PrivateKey, &KeyOptions) -> Result<K, bankrail_jose::KeyError>,
) -> Vec<K> {
    let jwk = key(str(row, "key"));
    let any_size = backends().map(|options| options.sizes(KeySizes::AnyFrom2048));
    any_size
        .map(|options| make(jwk.private_key().unwrap(), &options).unwrap())
        .collect()
}

#[test]
fn what_other_libraries_sign_is_verified_and_signed_alike() {
    for row in rows("signed") {
        let token = str(row, "token");
        let (input, signature) = token.rsplit_once('.').unwrap();
        for key in handles(row, SigningKey::from_private_key) {
            let verified =
                jws::verify(token, &key.verifying_key(), &VerifyOptions::default()).unwrap();
            assert_eq!(verified.payload(), bytes(row, "payload"), "{row}");
            assert_eq!(
                base64url::encode(&key.sign(input.as_bytes()).unwrap()),
                signature,
                "{row}"
            );
        }
    }
    let [first, ..] = rows("signed") else {
        panic!()
    };
    assert_eq!(str(first, "source"), "RFC 7515 A.2");
    for key in handles(first, SigningKey::from_private_key) {
        assert_eq!(
            jws::sign(&key, &JwsHeader::new(), &bytes(first, "payload")).unwrap(),
            str(first, "token")
        );
    }
}

/// The vectors are signatures by the right key over the right bytes, but not RSASSA-PKCS1-v1_5 with
/// SHA-256, and two signatures for another message or by another key.
#[test]
fn only_rsassa_pkcs1_v1_5_with_sha_256_is_verified() {
    let input = str(&FILE, "signing_input");
    for options in backends() {
        let key = VerifyingKey::from_jwk(&key("RFC 7515 A.2"), &options).unwrap();
        let verify = |signature: &str| {
            let raw = key
                .verify(input.as_bytes(), &base64url::decode(signature).unwrap())
                .is_ok();
            let token = jws::verify(
                &format!("{input}.{signature}"),
                &key,
                &VerifyOptions::default(),
            )
            .is_ok();
            (raw, token)
        };
        assert_eq!(verify(str(&FILE, "signature")), (true, true), "{options:?}");
        for row in rows("refused_signatures") {
            assert_eq!(
                verify(str(row, "signature")),
                (false, false),
                "{options:?} {row}"
            );
        }
    }
}

#[test]
fn tokens_of_other_algorithms_are_refused_without_a_key() {
    for row in rows("refused_tokens") {
        let refused = jws::Compact::parse(str(row, "token"), &VerifyOptions::default());
        assert!(refused.is_err(), "{row}");
    }
}

#[test]
fn content_keys_of_other_libraries_are_decrypted() {
    for row in rows("content_keys") {
        let (encrypted, expected) = (bytes(row, "encrypted"), bytes(row, "content_key"));
        for key in handles(row, DecryptionKey::from_private_key) {
            assert_eq!(*key.decrypt(&encrypted).unwrap(), expected, "{row}");
            let content_key = key.content_key(&encrypted).unwrap();
            assert_eq!(
                content_key.expose_secret()[..] == expected,
                expected.len() == 64,
                "{row}"
            );
            if expected.len() == 64 {
                // RFC 7518 section 5.2.2.1: the MAC key is before the encryption key.
                assert_eq!(content_key.expose_halves(), expected.split_at(32), "{row}");
                assert_ne!(expected[..32], expected[32..], "{row}");
            }
        }
    }
}

/// The vectors are encrypted by another scheme, with another hash or to another key. `content_key`
/// returns a random key for each of them.
#[test]
fn only_rsa_oaep_with_sha_1_and_no_label_is_decrypted() {
    for row in rows("refused_encrypted_keys") {
        let encrypted = bytes(row, "encrypted");
        for key in handles(row, DecryptionKey::from_private_key) {
            assert!(key.decrypt(&encrypted).is_err(), "{row}");
            let [one, two] = [(); 2].map(|()| key.content_key(&encrypted).unwrap());
            assert_ne!(one.expose_secret(), two.expose_secret(), "{row}");
        }
    }
}

#[test]
fn rfc7638_thumbprint() {
    let row = &FILE["thumbprint"];
    assert_eq!(
        key(str(row, "source")).public_key().thumbprint(),
        str(row, "value")
    );
}

#[test]
fn key_files_that_openssl_wrote() {
    let (row, jwk) = (&FILE["files"], key(str(&FILE["files"], "key")));
    let read = ["pkcs8", "pkcs1"].map(|name| PrivateKey::from_pem(str(row, name)).unwrap());
    for private in [&read[0], &read[1], jwk.private_key().unwrap()] {
        assert_eq!(*private.to_pkcs8_pem(), str(row, "pkcs8"));
        assert_eq!(*private.to_pkcs1_pem(), str(row, "pkcs1"));
    }
    let read = ["spki", "public_pkcs1"].map(|name| PublicKey::from_pem(str(row, name)).unwrap());
    for public in [&read[0], &read[1], jwk.public_key()] {
        assert_eq!(public.to_spki_pem(), str(row, "spki"));
        assert_eq!(public.to_pkcs1_pem(), str(row, "public_pkcs1"));
    }
}

fn cases(file: &Value) -> impl Iterator<Item = (&Value, &Value)> {
    let groups = file["testGroups"].as_array().unwrap().iter();
    groups.flat_map(|group| {
        group["tests"]
            .as_array()
            .unwrap()
            .iter()
            .map(move |case| (group, case))
    })
}

#[test]
fn wycheproof_signatures() {
    for (file, expected) in [("2048", 259), ("4096", 258)] {
        let Some(file) = vectors(&format!("wycheproof/rsa_signature_{file}_sha256_test.json"))
        else {
            return;
        };
        let mut run = 0;
        for options in backends() {
            for (group, case) in cases(&file) {
                let key = PublicKey::from_spki_der(&hex(group, "publicKeyDer")).unwrap();
                let key = VerifyingKey::from_public_key(key, &options).unwrap();
                let verified = key.verify(&hex(case, "msg"), &hex(case, "sig")).is_ok();
                assert_eq!(
                    verified,
                    str(case, "result") == "valid",
                    "{options:?} {case}"
                );
                run += 1;
            }
        }
        assert_eq!(run, expected * backends().count());
    }
}

#[test]
fn wycheproof_oaep() {
    let Some(file) = vectors("wycheproof/rsa_oaep_2048_sha1_mgf1sha1_test.json") else {
        return;
    };
    let mut run = 0;
    for options in backends() {
        for (group, case) in cases(&file) {
            let key = PrivateKey::from_pkcs8_der(&hex(group, "privateKeyPkcs8")).unwrap();
            let key = DecryptionKey::from_private_key(&key, &options).unwrap();
            let decrypted = key
                .decrypt(&hex(case, "ct"))
                .ok()
                .map(|bytes| bytes.to_vec());
            let labelled = !str(case, "label").is_empty();
            let expected = (str(case, "result") == "valid" && !labelled).then(|| hex(case, "msg"));
            assert_eq!(decrypted, expected, "{options:?} {case}");
            run += 1;
        }
    }
    assert_eq!(run, 36 * backends().count());
}

#[test]
fn key_files_of_other_tools() {
    let Some(keys) = vectors("jose/keys.json") else {
        return;
    };
    for name in ["sig2048", "sig4096", "enc2048"] {
        let jwk = Jwk::parse(&keys[name].to_string()).unwrap();
        let private = text(&format!("jose/{name}.pkcs8.pem")).unwrap();
        let private = PrivateKey::from_pem(&private).unwrap();
        let public = PublicKey::from_pem(&text(&format!("jose/{name}.spki.pem")).unwrap()).unwrap();
        assert_eq!(
            (&private.public_key(), &public),
            (jwk.public_key(), jwk.public_key())
        );
        assert_eq!(
            *private.to_pkcs8_pem(),
            *jwk.private_key().unwrap().to_pkcs8_pem()
        );
        let any = KeyOptions::new().sizes(KeySizes::AnyFrom2048);
        assert_eq!(
            SigningKey::from_jwk(&jwk, &any).is_ok(),
            name.starts_with("sig")
        );
        assert_eq!(
            DecryptionKey::from_jwk(&jwk, &any).is_ok(),
            name.starts_with("enc")
        );
    }
}
