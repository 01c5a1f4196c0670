//! Published vectors: RFC 7515, RFC 7638, Project Wycheproof.

use crate::shared::{backends, hex, str, text, vectors};
use bankrail_jose::jws::{self, JwsHeader, VerifyOptions};
use bankrail_jose::{DecryptionKey, Jwk, KeyOptions, KeySizes, PublicKey, SigningKey, VerifyingKey, base64url};
use serde_json::Value;

fn cases(file: &Value) -> impl Iterator<Item = (&Value, &Value)> {
    let groups = file["testGroups"].as_array().unwrap().iter();
    groups.flat_map(|group| group["tests"].as_array().unwrap().iter().map(move |case| (group, case)))
}

#[test]
fn wycheproof_signatures() {
    for (file, expected) in [("2048", 259), ("4096", 258)] {
        let Some(file) = vectors(&format!("wycheproof/rsa_signature_{file}_sha256_test.json")) else { return };
        let mut run = 0;
        for options in backends() {
            for (group, case) in cases(&file) {
                let key = PublicKey::from_spki_der(&hex(group, "publicKeyDer")).unwrap();
                let key = VerifyingKey::from_public_key(key, &options).unwrap();
                let verified = key.verify(&hex(case, "msg"), &hex(case, "sig")).is_ok();
                assert_eq!(verified, str(case, "result") == "valid", "{options:?} {case}");
                run += 1;
            }
        }
        assert_eq!(run, expected * backends().count());
    }
}

#[test]
fn wycheproof_oaep() {
    let Some(file) = vectors("wycheproof/rsa_oaep_2048_sha1_mgf1sha1_test.json") else { return };
    let mut run = 0;
    for options in backends() {
        for (group, case) in cases(&file) {
            let key = bankrail_jose::PrivateKey::from_pkcs8_der(&hex(group, "privateKeyPkcs8")).unwrap();
            let key = DecryptionKey::from_private_key(&key, &options).unwrap();
            let decrypted = key.decrypt(&hex(case, "ct")).ok().map(|bytes| bytes.to_vec());
            let labelled = !str(case, "label").is_empty();
            let expected = (str(case, "result") == "valid" && !labelled).then(|| hex(case, "msg"));
            assert_eq!(decrypted, expected, "{options:?} {case}");
            run += 1;
        }
    }
    assert_eq!(run, 36 * backends().count());
}

#[test]
fn rfc7515_a2_byte_for_byte() {
    let Some(file) = vectors("jose/rfc_vectors.json") else { return };
    let vector = &file["rfc7515_A.2_RS256"];
    let jwk = Jwk::parse(&vector["jwk"].to_string()).unwrap();
    for options in backends() {
        let key = SigningKey::from_jwk(&jwk, &options).unwrap();
        let token = jws::sign(&key, &JwsHeader::new(), str(vector, "payload_utf8").as_bytes()).unwrap();
        assert_eq!(token, str(vector, "compact"), "{options:?}");
        let verified = jws::verify(&token, &key.verifying_key(), &VerifyOptions::default()).unwrap();
        assert_eq!(verified.payload(), str(vector, "payload_utf8").as_bytes());
        let none = str(&file["rfc7515_A.5_none"], "compact");
        assert!(jws::verify(none, &key.verifying_key(), &VerifyOptions::default()).is_err());
        let encrypted = str(&file["rfc7516_A.1_RSA-OAEP_A256GCM"], "compact");
        assert!(jws::verify(encrypted, &key.verifying_key(), &VerifyOptions::default()).is_err());
    }
}

#[test]
fn rfc7516_a1_content_key() {
    let Some(file) = vectors("jose/rfc_vectors.json") else { return };
    let vector = &file["rfc7516_A.1_RSA-OAEP_A256GCM"];
    let jwk = Jwk::parse(&vector["jwk"].to_string()).unwrap();
    let encrypted = base64url::decode(str(vector, "compact").split('.').nth(1).unwrap()).unwrap();
    for options in backends() {
        let key = DecryptionKey::from_jwk(&jwk, &options).unwrap();
        let content_key = key.decrypt(&encrypted).unwrap();
        // RFC 7516 appendix A.1.2.
        assert_eq!((content_key.len(), &content_key[..4]), (32, &[177, 161, 244, 128][..]));
    }
}

#[test]
fn rfc7638_thumbprint() {
    let Some(file) = vectors("jose/rfc_vectors.json") else { return };
    let vector = &file["rfc7638_3.1_thumbprint"];
    let jwk = Jwk::parse(&vector["jwk"].to_string()).unwrap();
    assert_eq!(jwk.public_key().thumbprint(), str(vector, "sha256_thumbprint"));
}

#[test]
fn key_files_of_other_tools() {
    let Some(keys) = vectors("jose/keys.json") else { return };
    for name in ["sig2048", "sig4096", "enc2048"] {
        let jwk = Jwk::parse(&keys[name].to_string()).unwrap();
        let private = text(&format!("jose/{name}.pkcs8.pem")).unwrap();
        let private = bankrail_jose::PrivateKey::from_pem(&private).unwrap();
        let public = PublicKey::from_pem(&text(&format!("jose/{name}.spki.pem")).unwrap()).unwrap();
        assert_eq!((&private.public_key(), &public), (jwk.public_key(), jwk.public_key()));
        assert_eq!(*private.to_pkcs8_pem(), *jwk.private_key().unwrap().to_pkcs8_pem());
        let any = KeyOptions::new().sizes(KeySizes::AnyFrom2048);
        assert_eq!(SigningKey::from_jwk(&jwk, &any).is_ok(), name.starts_with("sig"));
        assert_eq!(DecryptionKey::from_jwk(&jwk, &any).is_ok(), name.starts_with("enc"));
    }
}
