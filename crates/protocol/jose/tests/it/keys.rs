//! Reading, refusing and writing keys.

use crate::shared::{DECRYPTION, SIGNING, backends};
use bankrail_jose::{
    DecryptionKey, EncryptionKey, Jwk, JwkSet, KeyError, KeyMaterial, KeyOptions, KeySet,
    KeySetError, KeySizes, PrivateKey, PublicKey, Role, RsaSize, SigningKey, VerifyingKey,
    base64url,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn private_jwk() -> Value {
    serde_json::from_str(&SIGNING.to_jwk()).unwrap()
}

fn read(jwk: &Value) -> Result<Jwk, KeyError> {
    Jwk::parse(&jwk.to_string())
}

#[test]
fn handles_are_cheap_shared_values() {
    fn check<T: Clone + std::fmt::Debug + Send + Sync + 'static>() {}
    check::<SigningKey>();
    check::<VerifyingKey>();
    check::<EncryptionKey>();
    check::<DecryptionKey>();
    check::<KeySet<VerifyingKey>>();
}

#[test]
fn every_format_of_a_key_gives_the_same_key() {
    let private = SIGNING.clone().with_kid("k");
    let public = private.verifying_key();
    let key_pair = PrivateKey::from_pem(&private.to_pkcs8_pem()).unwrap();
    assert_eq!(key_pair.public_key(), *public.public_key());
    assert_eq!(
        PublicKey::from_pem(&public.to_spki_pem()).unwrap(),
        *public.public_key()
    );
    assert_eq!(
        PublicKey::from_pkcs1_der(&public.public_key().to_pkcs1_der()).unwrap(),
        *public.public_key()
    );
    assert_eq!(
        PublicKey::from_pem(&public.public_key().to_pkcs1_pem()).unwrap(),
        *public.public_key()
    );
    for again in [
        PrivateKey::from_pkcs1_der(&key_pair.to_pkcs1_der()).unwrap(),
        PrivateKey::from_pem(&key_pair.to_pkcs1_pem()).unwrap(),
    ] {
        assert_eq!(*again.to_pkcs8_der(), *key_pair.to_pkcs8_der());
    }
    assert_eq!(
        PrivateKey::from_pkcs8_der(&key_pair.to_pkcs8_der())
            .unwrap()
            .public_key(),
        *public.public_key()
    );
    for options in backends() {
        let jwk = Jwk::parse(&private.to_jwk()).unwrap();
        let again = SigningKey::from_jwk(&jwk, &options).unwrap();
        assert_eq!(
            (again.kid(), again.thumbprint()),
            (Some("k"), private.thumbprint())
        );
        assert_eq!(*again.to_pkcs8_pem(), *private.to_pkcs8_pem());
        assert_eq!(again.sign(b"x").unwrap(), private.sign(b"x").unwrap());
        let jwk = Jwk::parse(&public.to_jwk()).unwrap();
        assert!(jwk.private_key().is_none());
        assert_eq!(
            VerifyingKey::from_jwk(&jwk, &options).unwrap().to_jwk(),
            public.to_jwk()
        );
    }
}

#[test]
fn each_back_end_makes_keys_that_every_back_end_reads() {
    for making in backends() {
        let key = SigningKey::generate_with(RsaSize::Rsa2048, &making).unwrap();
        for reading in backends() {
            let key_pair = PrivateKey::from_pem(&key.to_pkcs8_pem()).unwrap();
            let again = SigningKey::from_private_key(&key_pair, &reading).unwrap();
            key.verifying_key()
                .verify(b"x", &again.sign(b"x").unwrap())
                .unwrap();
            let encryption =
                EncryptionKey::from_public_key(key_pair.public_key(), &making).unwrap();
            let decryption = DecryptionKey::from_private_key(&key_pair, &reading).unwrap();
            assert_eq!(*decryption.to_pkcs8_pem(), *key.to_pkcs8_pem());
            assert_eq!(
                decryption
                    .decrypt(&encryption.encrypt(b"secret").unwrap())
                    .unwrap()
                    .as_slice(),
                b"secret"
            );
        }
    }
}

#[test]
fn sizes_are_those_of_the_specification_unless_asked_otherwise() {
    let refused = DecryptionKey::generate(RsaSize::Rsa4096).unwrap_err();
    assert!(
        matches!(
            refused,
            KeyError::Size {
                bits: 4096,
                role: Role::Decrypt,
                ..
            }
        ),
        "{refused}"
    );
    // A public key with any modulus suffices for the check of its size.
    let of_size = |bits: usize| {
        let mut n = vec![0xff; bits.div_ceil(8)];
        n[0] = if bits.is_multiple_of(8) {
            0x80
        } else {
            1 << (bits % 8 - 1)
        };
        let n = base64url::encode(&n);
        read(&json!({"kty": "RSA", "n": n, "e": "AQAB"}))
    };
    // Checks the default sizes, the sizes for messages, and any size, each for keys that encrypt
    // and keys that verify. The specification limits signing keys in secured payloads only.
    let rules = [
        KeySizes::default(),
        KeySizes::SecuredPayload,
        KeySizes::AnyFrom2048,
    ];
    for (bits, encrypt, verify) in [
        (1024, [false; 3], [false; 3]),
        (2040, [false; 3], [false; 3]),
        (2047, [false; 3], [false; 3]),
        (2048, [true; 3], [true; 3]),
        (2049, [false; 3], [false; 3]),
        (2056, [false, false, true], [true, false, true]),
        (3072, [false, false, true], [true, false, true]),
        (4096, [false, false, true], [true; 3]),
        (4104, [false, false, true], [true, false, true]),
        (8184, [false, false, true], [true, false, true]),
        (8192, [false, false, true], [true, false, true]),
    ] {
        let jwk = of_size(bits).unwrap();
        let options = rules.map(|sizes| KeyOptions::new().sizes(sizes));
        assert_eq!(
            options.map(|options| EncryptionKey::from_jwk(&jwk, &options).is_ok()),
            encrypt,
            "{bits}"
        );
        assert_eq!(
            options.map(|options| VerifyingKey::from_jwk(&jwk, &options).is_ok()),
            verify,
            "{bits}"
        );
    }
    for (sizes, bits, role, expected) in [
        (
            KeySizes::default(),
            2049,
            Role::Sign,
            "expected a modulus of 2048 to 8192 bits for signing, found 2049",
        ),
        (
            KeySizes::default(),
            8200,
            Role::Verify,
            "expected a modulus of 2048 to 8192 bits for verifying, found 8200",
        ),
        (
            KeySizes::default(),
            3072,
            Role::Decrypt,
            "expected a modulus of 2048 bits for decryption, found 3072",
        ),
        (
            KeySizes::SecuredPayload,
            3072,
            Role::Sign,
            "expected a modulus of 2048 or 4096 bits for signing, found 3072",
        ),
        (
            KeySizes::AnyFrom2048,
            2040,
            Role::Encrypt,
            "expected a modulus of 2048 to 8192 bits for encryption, found 2040",
        ),
    ] {
        assert_eq!(sizes.check(bits, role).unwrap_err().to_string(), expected);
    }
    // The length is checked before the number is read.
    let found = of_size(8193).unwrap_err();
    assert_eq!(
        found.to_string(),
        "expected at most 1024 bytes of key material, found 1025"
    );
}

#[test]
fn exponents_are_odd_and_from_3_to_33_bits() {
    for (e, accepted) in [
        (0_u64, false),
        (1, false),
        (2, false),
        (3, true),
        (4, false),
        (65_537, true),
        (65_538, false),
        ((1 << 33) - 2, false),
        ((1 << 33) - 1, true),
        ((1 << 33) + 1, false),
    ] {
        let bytes: Vec<u8> = e
            .to_be_bytes()
            .into_iter()
            .skip_while(|byte| *byte == 0)
            .collect();
        let mut jwk: Value = serde_json::from_str(&SIGNING.verifying_key().to_jwk()).unwrap();
        jwk["e"] = base64url::encode(&bytes).into();
        assert_eq!(read(&jwk).is_ok(), accepted, "{e}");
        // The exponent of a private key is checked before it is compared with the other numbers.
        let mut jwk = private_jwk();
        jwk["e"] = base64url::encode(&bytes).into();
        assert_eq!(
            matches!(read(&jwk), Err(KeyError::Exponent)),
            !accepted && e != 0,
            "{e}"
        );
    }
    let mut even: Value = serde_json::from_str(&SIGNING.verifying_key().to_jwk()).unwrap();
    even["n"] = base64url::encode(&[0x80; 256]).into();
    assert!(matches!(read(&even), Err(KeyError::EvenModulus)));
}

#[test]
fn numbers_may_be_padded_with_zeros() {
    for name in ["n", "e", "d", "p", "q", "dp", "dq", "qi"] {
        let mut jwk = private_jwk();
        let bytes = base64url::decode(jwk[name].as_str().unwrap()).unwrap();
        jwk[name] = base64url::encode(&[&[0], &bytes[..]].concat()).into();
        assert_eq!(
            read(&jwk).unwrap().public_key(),
            SIGNING.verifying_key().public_key(),
            "{name}"
        );
    }
    // A number may have up to 2048 characters.
    for (bytes, accepted) in [(1536, true), (1537, false)] {
        let mut jwk = private_jwk();
        let number = base64url::decode(jwk["d"].as_str().unwrap()).unwrap();
        let padding = vec![0; bytes - number.len()];
        jwk["d"] = base64url::encode(&[padding, number.to_vec()].concat()).into();
        assert_eq!(read(&jwk).is_ok(), accepted, "{bytes}");
    }
}

#[test]
fn an_exponent_is_less_than_its_modulus() {
    for (n, e, accepted) in [(15_u8, 13_u8, true), (15, 15, false), (15, 17, false)] {
        let [n, e] = [n, e].map(|number| base64url::encode(&[number]));
        assert_eq!(
            Jwk::parse(&format!(r#"{{"kty":"RSA","n":"{n}","e":"{e}"}}"#)).is_ok(),
            accepted,
            "{n} {e}"
        );
    }
}

#[test]
fn a_jwk_is_bounded() {
    let public: Value = serde_json::from_str(&SIGNING.verifying_key().to_jwk()).unwrap();
    let (n, e) = (&public["n"], &public["e"]);
    let with = |name: &str, json: &str| {
        Jwk::parse(&format!(
            r#"{{"kty":"RSA","n":{n},"e":{e},"{name}":{json}}}"#
        ))
    };
    let nested = |arrays: usize| format!("{}{}", "[".repeat(arrays), "]".repeat(arrays));
    let array = |elements: usize| format!("[{}]", vec!["0"; elements].join(","));
    let kid = |length: usize| format!("\"{}\"", "k".repeat(length));
    assert!(with("kid", &kid(256)).is_ok());
    assert_eq!(
        with("kid", &kid(257)).unwrap_err().to_string(),
        "expected at most 256 bytes as JWK member \"kid\""
    );
    assert!(with("x", &nested(5)).is_ok() && with("x", &nested(6)).is_err());
    // The object, its three members and the array are five values.
    assert!(with("x", &array(251)).is_ok() && with("x", &array(252)).is_err());
    let padded = |text: &str, length: usize| format!("{text}{}", " ".repeat(length - text.len()));
    let text = public.to_string();
    assert!(
        Jwk::parse(&padded(&text, 64 * 1024)).is_ok()
            && Jwk::parse(&padded(&text, 64 * 1024 + 1)).is_err()
    );

    let with = |json: &str| JwkSet::parse(&format!(r#"{{"keys":[],"x":{json}}}"#)).is_ok();
    assert!(with(&nested(7)) && !with(&nested(8)));
    assert!(with(&array(8189)) && !with(&array(8190)));
    let keys = |count: usize| {
        format!(
            r#"{{"keys":[{}]}}"#,
            vec![r#"{"kty":"EC"}"#; count].join(",")
        )
    };
    assert_eq!(JwkSet::parse(&keys(64)).unwrap().unusable().len(), 64);
    assert!(matches!(
        JwkSet::parse(&keys(65)),
        Err(KeyError::TooManyKeys { found: 65, max: 64 })
    ));
    let longest = 256 * 1024;
    assert!(
        JwkSet::parse(&padded(&keys(1), longest)).is_ok()
            && JwkSet::parse(&padded(&keys(1), longest + 1)).is_err()
    );
}

#[test]
fn key_material_is_bounded() {
    let too_long =
        |found: Result<(), KeyError>| matches!(found, Err(KeyError::TooLong { max: 65_536, .. }));
    for (length, refused) in [(65_536, false), (65_537, true)] {
        let bytes = vec![0; length];
        assert_eq!(
            too_long(PrivateKey::from_pkcs8_der(&bytes).map(drop)),
            refused,
            "{length}"
        );
        assert_eq!(
            too_long(PrivateKey::from_pkcs1_der(&bytes).map(drop)),
            refused,
            "{length}"
        );
        assert_eq!(
            too_long(PublicKey::from_spki_der(&bytes).map(drop)),
            refused,
            "{length}"
        );
        assert_eq!(
            too_long(PublicKey::from_pkcs1_der(&bytes).map(drop)),
            refused,
            "{length}"
        );
        #[cfg(feature = "x509")]
        assert_eq!(
            too_long(bankrail_jose::Certificate::from_der(&bytes).map(drop)),
            refused,
            "{length}"
        );
    }
}

/// A number with fewer digits is the same number, but not the same signature or encrypted key.
#[test]
fn a_signature_and_an_encrypted_key_are_as_long_as_the_modulus() {
    for keys in backends() {
        let verifying =
            VerifyingKey::from_public_key(SIGNING.verifying_key().public_key().clone(), &keys)
                .unwrap();
        let messages = (0_u32..).map(u32::to_be_bytes);
        let signed = messages.map(|message| (message, SIGNING.sign(&message).unwrap()));
        let (message, signature) = signed
            .into_iter()
            .find(|(_, signature)| signature[0] == 0)
            .unwrap();
        verifying.verify(&message, &signature).unwrap();
        for other in [&signature[1..], &[&[0], &signature[..]].concat()] {
            assert!(
                verifying.verify(&message, other).is_err(),
                "{} bytes",
                other.len()
            );
        }

        let private = PrivateKey::from_pem(&DECRYPTION.to_pkcs8_pem()).unwrap();
        let decryption = DecryptionKey::from_private_key(&private, &keys).unwrap();
        assert_eq!(decryption.encrypted_len(), 256);
        let content_key = [7; 64];
        let mut encrypted =
            std::iter::repeat_with(|| decryption.encryption_key().encrypt(&content_key).unwrap());
        let encrypted = encrypted.find(|encrypted| encrypted[0] == 0).unwrap();
        assert_eq!(
            *decryption.content_key(&encrypted).unwrap().expose_secret(),
            content_key
        );
        for other in [&encrypted[1..], &[&[0], &encrypted[..]].concat()] {
            assert!(decryption.decrypt(other).is_err(), "{} bytes", other.len());
            assert_ne!(
                *decryption.content_key(other).unwrap().expose_secret(),
                content_key,
                "{}",
                other.len()
            );
        }
    }
}

#[test]
fn numbers_that_do_not_fit_are_refused() {
    let good = private_jwk();
    assert!(read(&good).is_ok());
    let change = |name: &str, value: Value| {
        let mut jwk = good.clone();
        jwk[name] = value;
        read(&jwk)
    };
    for name in ["d", "p", "q", "dp", "dq", "qi"] {
        let mut jwk = good.clone();
        jwk.as_object_mut().unwrap().remove(name);
        assert!(read(&jwk).is_err(), "{name}");
        let mut bytes = base64url::decode(good[name].as_str().unwrap()).unwrap();
        *bytes.last_mut().unwrap() ^= 2;
        let changed = change(name, base64url::encode(&bytes).into());
        assert!(matches!(changed, Err(KeyError::Inconsistent)), "{name}");
        for value in [
            json!("AA"),
            json!("AQ"),
            json!(""),
            json!("A"),
            json!("="),
            json!(5),
            json!(null),
        ] {
            assert!(change(name, value).is_err(), "{name}");
        }
    }
    assert!(matches!(
        change("p", good["q"].clone()),
        Err(KeyError::Inconsistent)
    ));
    // This exponent works as well, but is not smaller than the modulus.
    let [p, q, d] =
        ["p", "q", "d"].map(|name| base64url::decode(good[name].as_str().unwrap()).unwrap());
    let [p, q, d] = [p, q, d].map(|bytes| rsa::BigUint::from_bytes_be(&bytes));
    let one = rsa::BigUint::from(1_u32);
    let larger = d + (p - &one) * (q - &one) * rsa::BigUint::from(2_u32);
    let changed = change("d", base64url::encode(&larger.to_bytes_be()).into());
    assert!(
        matches!(changed, Err(KeyError::Inconsistent)),
        "{changed:?}"
    );
    assert!(matches!(
        change("oth", json!([])),
        Err(KeyError::MultiPrime)
    ));
    for e in ["AQ", "Ag", "AA", "AQAA", "BAAAAAAAAQ", ""] {
        assert!(change("e", json!(e)).is_err(), "{e}");
    }
    assert!(change("n", json!("AQAB")).is_err());
    assert!(
        change("n", json!("_".repeat(2000))).is_err(),
        "longer than any key"
    );
    assert!(matches!(change("kty", json!("EC")), Err(KeyError::NotRsa)));
    for kty in [json!("rsa"), json!("RSA-HSM"), json!(null)] {
        let refused = change("kty", kty).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "expected \"RSA\" as JWK member \"kty\""
        );
    }
}

#[test]
fn a_document_with_the_key_as_a_member_is_named_with_what_to_take_out_of_it() {
    let key = SIGNING.verifying_key().to_jwk();
    for document in [
        format!(r#"{{"key":{key},"attributes":{{"enabled":true}}}}"#),
        format!(r#"{{"status":"ok","jwk":{key}}}"#),
        r#"{"key":{"kty":"EC"}}"#.to_owned(),
    ] {
        let refused = KeyMaterial::parse(document.as_bytes()).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "expected a key as PEM, DER, JWK or JWK set, found a JSON document that has the JWK as one of its \
             members, such as \"key\"; write that member's value alone to the file"
        );
        let set = JwkSet::parse(&format!(r#"{{"keys":[{document},{key}]}}"#)).unwrap();
        assert_eq!((set.keys().len(), set.unusable().len()), (1, 1));
    }
    let other = KeyMaterial::parse(br#"{"value":{"n":"AQAB"}}"#).unwrap_err();
    assert_eq!(other.to_string(), "expected \"RSA\" as JWK member \"kty\"");
}

#[test]
fn a_private_key_without_its_factors_is_completed() {
    let known = ["RFC 7515 A.2", "RFC 7520 3.4", "RFC 7520 5.2"].map(|name| {
        let mut jwk = crate::vectors::FILE["keys"][name].clone();
        jwk.as_object_mut()
            .unwrap()
            .retain(|name, _| !["use", "alg", "kid"].contains(&name.as_str()));
        jwk
    });
    for whole in known.into_iter().chain([private_jwk()]) {
        let mut jwk = whole.clone();
        for name in ["p", "q", "dp", "dq", "qi"] {
            jwk.as_object_mut().unwrap().remove(name);
        }
        let key = SigningKey::from_jwk(&read(&jwk).unwrap(), &KeyOptions::new()).unwrap();
        let message = key.sign(b"x").unwrap();
        SigningKey::from_jwk(&read(&whole).unwrap(), &KeyOptions::new())
            .unwrap()
            .verifying_key()
            .verify(b"x", &message)
            .unwrap();
        for name in ["p", "q", "dp", "dq", "qi"] {
            let mut one = jwk.clone();
            one[name] = whole[name].clone();
            assert!(read(&one).is_err(), "{name} without the others");
        }
        for (name, value) in [
            ("d", "AQ"),
            ("d", "AA"),
            ("d", "Ag"),
            ("e", "Aw"),
            ("n", "AQAB"),
        ] {
            let mut changed = jwk.clone();
            changed[name] = json!(value);
            assert!(read(&changed).is_err(), "{name} {value}");
        }
        jwk.as_object_mut().unwrap().remove("d");
        assert!(read(&jwk).unwrap().private_key().is_none());
    }
}

#[test]
fn composite_factors_are_found_by_the_trial_run() {
    // 2^1024 - 1 is a multiple of 3, and 2^1024 - 9 is 2^512 - 3 times 2^512 + 3. They have no
    // factor in common, and all the exponents match them.
    let [p, q] =
        [1_u32, 9].map(|less| (rsa::BigUint::from(1_u32) << 1024) - rsa::BigUint::from(less));
    let key = rsa::RsaPrivateKey::from_p_q(p, q, rsa::BigUint::from(65_537_u32)).unwrap();
    let der = rsa::pkcs8::EncodePrivateKey::to_pkcs8_der(&key).unwrap();
    let key_pair = PrivateKey::from_pkcs8_der(der.as_bytes()).unwrap();
    for options in backends() {
        let refused = SigningKey::from_private_key(&key_pair, &options);
        assert!(
            matches!(refused, Err(KeyError::Inconsistent | KeyError::Backend)),
            "{refused:?}"
        );
        let refused = DecryptionKey::from_private_key(&key_pair, &options);
        assert!(
            matches!(refused, Err(KeyError::Inconsistent | KeyError::Backend)),
            "{refused:?}"
        );
    }
}

fn read_with_alg(alg: &str) -> Jwk {
    let mut jwk = private_jwk();
    jwk["alg"] = alg.into();
    read(&jwk).unwrap()
}

#[test]
fn a_jwk_is_used_for_what_it_says_only() {
    let with = |members: &[(&str, Value)]| {
        let mut jwk = private_jwk();
        for name in ["use", "alg", "key_ops"] {
            jwk.as_object_mut().unwrap().remove(name);
        }
        for (name, value) in members {
            jwk[*name] = value.clone();
        }
        let jwk = read(&jwk)?;
        Ok([Role::Sign, Role::Verify, Role::Encrypt, Role::Decrypt]
            .map(|role| jwk.allows(role).is_ok()))
    };
    let allowed = |members: &[(&str, Value)]| {
        with(members)
            .map_err(|error: KeyError| error.to_string())
            .unwrap()
    };
    assert_eq!(allowed(&[]), [true; 4]);
    assert_eq!(
        allowed(&[("use", json!("sig"))]),
        [true, true, false, false]
    );
    assert_eq!(
        allowed(&[("use", json!("enc"))]),
        [false, false, true, true]
    );
    assert_eq!(allowed(&[("use", json!("SIG"))]), [false; 4]);
    assert_eq!(
        allowed(&[("alg", json!("RS256"))]),
        [true, true, false, false]
    );
    assert_eq!(allowed(&[("alg", json!("PS256"))]), [false; 4]);
    assert_eq!(
        allowed(&[("alg", json!("RSA-OAEP"))]),
        [false, false, true, true]
    );
    assert_eq!(
        allowed(&[("key_ops", json!(["sign"]))]),
        [true, false, false, false]
    );
    assert_eq!(
        allowed(&[("key_ops", json!(["verify", "wrapKey"]))]),
        [false, true, true, false]
    );
    for (op, roles) in [
        ("verify", [false, true, false, false]),
        ("wrapKey", [false, false, true, false]),
        ("encrypt", [false, false, true, false]),
        ("unwrapKey", [false, false, false, true]),
        ("decrypt", [false, false, false, true]),
        ("deriveKey", [false; 4]),
    ] {
        assert_eq!(allowed(&[("key_ops", json!([op]))]), roles, "{op}");
    }
    // .NET writes an empty list for a key of which it knows no uses.
    assert_eq!(allowed(&[("key_ops", json!([]))]), [true; 4]);
    assert_eq!(
        allowed(&[("use", json!("sig")), ("key_ops", json!([]))]),
        [true, true, false, false]
    );
    // Each member that is present must allow the use.
    assert_eq!(
        allowed(&[("use", json!("sig")), ("key_ops", json!(["unwrapKey"]))]),
        [false; 4]
    );
    assert_eq!(
        allowed(&[("use", json!("sig")), ("alg", json!("PS256"))]),
        [false; 4]
    );
    assert_eq!(
        allowed(&[("alg", json!("RS256")), ("key_ops", json!(["unwrapKey"]))]),
        [false; 4]
    );
    for refused in [json!("sign"), json!(["sign", "sign"]), json!([1])] {
        let error = with(&[("key_ops", refused)]).unwrap_err();
        assert!(
            matches!(
                error,
                KeyError::JwkMember {
                    name: "key_ops",
                    ..
                }
            ),
            "{error}"
        );
    }
    let refused = read_with_alg("PS256").allows(Role::Sign);
    assert!(
        matches!(refused, Err(KeyError::NotAllowed { name: "alg", .. })),
        "{refused:?}"
    );
    assert!(with(&[("use", json!(1))]).is_err());
    let public = Jwk::parse(&SIGNING.verifying_key().to_jwk()).unwrap();
    assert!(public.allows(Role::Verify).is_ok());
    assert!(matches!(
        public.allows(Role::Sign),
        Err(KeyError::NotAllowed {
            name: "d",
            role: Role::Sign
        })
    ));
    let mut other = private_jwk();
    other["key_ops"] = json!(["deriveKey"]);
    let refused = read(&other).unwrap().allows(Role::Sign);
    assert!(
        matches!(
            refused,
            Err(KeyError::NotAllowed {
                name: "key_ops",
                ..
            })
        ),
        "{refused:?}"
    );
}

/// The lengths are those of RFC 7518 sections 5.2.2.1 and 5.2.5, and of the names of the sizes.
#[test]
fn lengths_are_those_of_the_algorithms() {
    use bankrail_jose::algorithm::{BLOCK_LEN, CONTENT_KEY_LEN, IV_LEN, TAG_LEN};
    assert_eq!(
        [CONTENT_KEY_LEN, TAG_LEN, IV_LEN, BLOCK_LEN],
        [64, 32, 16, 16]
    );
    assert_eq!(
        [RsaSize::Rsa2048, RsaSize::Rsa3072, RsaSize::Rsa4096].map(RsaSize::bits),
        [2048, 3072, 4096]
    );
}

#[test]
fn a_public_key_is_logged_by_length_and_thumbprint() {
    let public = PrivateKey::from_pem(&SIGNING.to_pkcs8_pem())
        .unwrap()
        .public_key()
        .clone();
    let expected = format!(
        "PublicKey {{ bits: 2048, thumbprint: {:?} }}",
        SIGNING.thumbprint()
    );
    assert_eq!(format!("{public:?}"), expected);
}

#[test]
fn a_key_without_a_use_is_a_jwk_for_any() {
    let key_pair = PrivateKey::from_pem(&SIGNING.to_pkcs8_pem()).unwrap();
    let public = Jwk::from(key_pair.public_key());
    let private = Jwk::from(key_pair);
    assert!(public.private_key().is_none() && private.private_key().is_some());
    for role in [Role::Sign, Role::Verify, Role::Encrypt, Role::Decrypt] {
        assert!(private.allows(role).is_ok());
        assert_eq!(
            public.allows(role).is_ok(),
            matches!(role, Role::Verify | Role::Encrypt),
            "{role}"
        );
    }
    let written = [
        SIGNING.verifying_key().to_jwk(),
        DECRYPTION.encryption_key().to_jwk(),
    ];
    let written = written.map(|jwk| serde_json::from_str::<Value>(&jwk).unwrap());
    let named = |name: &str| written.each_ref().map(|jwk| jwk[name].as_str().unwrap());
    assert_eq!(
        (named("use"), named("alg")),
        (["sig", "enc"], ["RS256", "RSA-OAEP"])
    );
}

#[test]
fn a_set_keeps_what_can_be_used_and_says_why_not_the_rest() {
    let (one, two) = (
        SIGNING.clone().with_kid("a").verifying_key(),
        DECRYPTION.clone().with_kid("b").encryption_key(),
    );
    let (one, two) = (one.to_jwk(), two.to_jwk());
    let set = format!(r#"{{"keys":[{one},{{"kty":"EC","crv":"P-256"}},{two},7],"x":1}}"#);
    let set = JwkSet::parse(&set).unwrap();
    assert_eq!(
        set.keys()
            .iter()
            .map(|key| key.kid().unwrap())
            .collect::<Vec<_>>(),
        ["a", "b"]
    );
    assert_eq!(
        set.unusable()
            .iter()
            .map(|key| key.index)
            .collect::<Vec<_>>(),
        [1, 3]
    );
    let (signers, unusable) =
        KeySet::<VerifyingKey>::from_jwk_set(&set, &KeyOptions::new()).unwrap();
    assert!(unusable.is_empty(), "{unusable:?}");
    assert_eq!(
        signers.keys().len(),
        1,
        "the key for encryption is not one for signatures"
    );
    assert!(signers.select(Some("a")).is_ok() && signers.select(Some("b")).is_err());
    let again = JwkSet::parse(&signers.to_jwk_set()).unwrap();
    assert_eq!(
        (
            again.keys().len(),
            again.unusable().len(),
            again.keys()[0].kid()
        ),
        (1, 0, Some("a"))
    );
    for refused in [
        r#"{}"#,
        r#"{"keys":{}}"#,
        r#"[]"#,
        r#"{"keys":[],"keys":[]}"#,
    ] {
        assert!(JwkSet::parse(refused).is_err(), "{refused}");
    }
    assert!(matches!(
        JwkSet::parse("{}"),
        Err(KeyError::JwkMember { name: "keys", .. })
    ));
}

#[test]
fn a_key_of_a_set_that_is_meant_but_cannot_be_used_is_reported() {
    let wide = DECRYPTION.encryption_key().to_jwk();
    let mut odd_size: Value = serde_json::from_str(&SIGNING.verifying_key().to_jwk()).unwrap();
    let bytes = [&[0x80][..], &[0xff; 127]].concat();
    odd_size["n"] = base64url::encode(&bytes).into();
    let good = SIGNING.verifying_key().to_jwk();
    let read =
        |keys: &[&str]| JwkSet::parse(&format!(r#"{{"keys":[{}]}}"#, keys.join(","))).unwrap();
    let odd_size = odd_size.to_string();
    let (keys, unusable) = KeySet::<VerifyingKey>::from_jwk_set(
        &read(&["7", &wide, &odd_size, &good]),
        &KeyOptions::new(),
    )
    .unwrap();
    assert_eq!(keys.keys().len(), 1);
    let set = read(&["7", r#"{"kid":"mine","kty":"RSA","n":"AA"}"#, &good]);
    let [number, named] = set.unusable() else {
        panic!("{:?}", set.unusable())
    };
    assert!(matches!(
        number.error,
        KeyError::JwkMember { name: "keys", .. }
    ));
    assert_eq!(
        (number.kid.as_deref(), named.kid.as_deref()),
        (None, Some("\"mine\""))
    );
    assert!(
        matches!(&unusable[..], [key] if key.index == 2 && matches!(key.error, KeyError::Size { bits: 1024, .. }))
    );
    let none = KeySet::<VerifyingKey>::from_jwk_set(&read(&[&wide, &odd_size]), &KeyOptions::new());
    assert!(
        matches!(none, Err(KeySetError::NoneUsable { index: 1, .. })),
        "{none:?}"
    );
    for (keys, error) in [
        (
            &[&*wide, &odd_size][..],
            "key 1: expected a modulus of 2048 to 8192 bits for verifying, found 1024",
        ),
        (
            &[&wide],
            "key 0: JWK member \"use\" does not allow verifying",
        ),
        (
            &[r#"{"kty":"EC"}"#, &wide],
            "key 0: expected an RSA key (rsaEncryption), found another algorithm",
        ),
    ] {
        let none =
            KeySet::<VerifyingKey>::from_jwk_set(&read(keys), &KeyOptions::new()).unwrap_err();
        assert_eq!(
            none.to_string(),
            format!("expected a usable key in the JWK set, found none, {error}")
        );
    }
    let none = KeySet::<VerifyingKey>::from_jwk_set(&read(&[]), &KeyOptions::new());
    assert!(matches!(none, Err(KeySetError::Empty)));
}

#[test]
fn a_key_that_a_kid_does_not_select_is_left_out_and_reported() {
    let key = |signing: &SigningKey, kid: Option<&str>| {
        let key = signing.verifying_key();
        kid.map_or(key.clone(), |kid| key.with_kid(kid)).to_jwk()
    };
    let other = SigningKey::generate(RsaSize::Rsa2048).unwrap();
    let read = |keys: &[String]| {
        let set = JwkSet::parse(&format!(r#"{{"keys":[{}]}}"#, keys.join(","))).unwrap();
        KeySet::<VerifyingKey>::from_jwk_set(&set, &KeyOptions::new())
    };
    let (keys, unusable) = read(&[
        key(&SIGNING, Some("a")),
        key(&other, None),
        key(&other, Some("a")),
        key(&other, Some("b")),
        key(&SIGNING, Some("b")),
        key(&other, Some("b")),
        key(&other, Some("b")),
        key(&SIGNING, Some("b")),
    ])
    .unwrap();
    let count = |kid| keys.select(Some(kid)).unwrap().as_slice().len();
    assert_eq!((count("a"), count("b"), keys.keys().len()), (2, 4, 6));
    let thumbprints: Vec<String> = keys
        .select(Some("a"))
        .unwrap()
        .as_slice()
        .iter()
        .map(|key| key.thumbprint())
        .collect();
    assert_eq!(
        thumbprints,
        [SIGNING.thumbprint(), other.thumbprint()],
        "a key that was replaced under its name"
    );
    let reasons: Vec<_> = unusable
        .iter()
        .map(|key| format!("{} {}", key.index, key.error))
        .collect();
    assert_eq!(
        reasons,
        [
            "1 expected a kid, as other keys of the set have one",
            "7 too many keys of the set have the same kid, key 6 among them",
        ]
    );
    // In a set without any `kid`, all keys are tried.
    let (keys, unusable) = read(&[key(&SIGNING, None), key(&other, None)]).unwrap();
    assert_eq!((keys.keys().len(), unusable.len()), (2, 0));
    let five = vec![key(&SIGNING, None); 5];
    assert!(matches!(
        read(&five),
        Err(KeySetError::TooManyUnnamed { max: 4 })
    ));
}

#[test]
fn one_key_for_two_uses_is_left_out_of_a_set() {
    let mut jwk: Value = serde_json::from_str(&SIGNING.verifying_key().to_jwk()).unwrap();
    let signs = jwk.to_string();
    jwk["use"] = json!("enc");
    jwk["alg"] = json!("RSA-OAEP");
    let (encrypts, other) = (jwk.to_string(), DECRYPTION.encryption_key().to_jwk());
    let set =
        |keys: &[&str]| JwkSet::parse(&format!(r#"{{"keys":[{}]}}"#, keys.join(","))).unwrap();
    let both = set(&[&signs, &other, &encrypts]);
    assert_eq!(both.keys().len(), 1);
    let found: Vec<_> = both
        .unusable()
        .iter()
        .map(|key| (key.index, key.error.to_string()))
        .collect();
    let text = |other| format!("key {other} of the set has the same modulus and another use");
    assert_eq!(found, [(0, text(2)), (2, text(0))]);
    // A JWK of a private key may state the use of the private half alone.
    let private = |op: &str| {
        let mut jwk = private_jwk();
        jwk.as_object_mut()
            .unwrap()
            .retain(|name, _| !["use", "alg"].contains(&name.as_str()));
        jwk["key_ops"] = json!([op]);
        jwk.to_string()
    };
    for (one, other, kept) in [
        ("sign", "decrypt", 0),
        ("sign", "unwrapKey", 0),
        ("sign", "verify", 2),
    ] {
        assert_eq!(
            set(&[&private(one), &private(other)]).keys().len(),
            kept,
            "{one} {other}"
        );
    }
    // The same key twice for one use is accepted, and so is a key that is bound to no use.
    jwk.as_object_mut()
        .unwrap()
        .retain(|name, _| !["use", "alg"].contains(&name.as_str()));
    assert_eq!(
        set(&[&signs, &signs, &jwk.to_string(), &other])
            .keys()
            .len(),
        4
    );
}

#[test]
fn pem_blocks_of_another_kind_are_refused() {
    let (private, public) = (
        SIGNING.to_pkcs8_pem(),
        SIGNING.verifying_key().to_spki_pem(),
    );
    assert!(matches!(
        SigningKey::from_pem(&public),
        Err(KeyError::UnexpectedLabel { .. })
    ));
    assert!(matches!(
        VerifyingKey::from_pem(&private),
        Err(KeyError::UnexpectedLabel { .. })
    ));
    let relabelled = private.replace("PRIVATE KEY", "RSA PRIVATE KEY");
    assert!(matches!(
        SigningKey::from_pem(&relabelled),
        Err(KeyError::NotDer { .. })
    ));
    let mut der = PrivateKey::from_pem(&private)
        .unwrap()
        .to_pkcs8_der()
        .to_vec();
    der.push(0);
    assert!(
        PrivateKey::from_pkcs8_der(&der).is_err(),
        "a byte after the key"
    );
    // id-RSASSA-PSS differs from rsaEncryption in its last byte.
    let mut der = SIGNING.verifying_key().public_key().to_spki_der();
    let oid = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
    let at = der
        .windows(oid.len())
        .position(|window| window == oid)
        .unwrap();
    der[at + oid.len() - 1] = 0x0a;
    assert!(matches!(
        PublicKey::from_spki_der(&der),
        Err(KeyError::NotRsa)
    ));
}

#[test]
fn printing_a_private_key_shows_none_of_it() {
    let jwk = private_jwk();
    let key_pair = PrivateKey::from_pem(&SIGNING.to_pkcs8_pem()).unwrap();
    let decryption = DecryptionKey::from_private_key(&key_pair, &KeyOptions::new()).unwrap();
    let parsed = read(&jwk).unwrap();
    let public = format!("{:?}", SIGNING.verifying_key());
    assert!(
        public.contains("VerifyingKey") && public.contains("2048"),
        "{public}"
    );
    assert!(
        format!("{key_pair:?}").starts_with("PrivateKey(PublicKey"),
        "{key_pair:?}"
    );
    let printed = format!("{:?} {key_pair:?} {decryption:?} {parsed:?}", *SIGNING);
    for name in ["d", "p", "q", "dp", "dq", "qi"] {
        assert!(
            !printed.contains(&jwk[name].as_str().unwrap()[..8]),
            "{name}"
        );
    }
    let error = format!(
        "{:?}",
        SigningKey::from_pem(&SIGNING.to_pkcs8_pem().replace("A", "B")).unwrap_err()
    );
    assert!(error.len() < 300, "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn changed_key_files_never_panic(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let key_pair = PrivateKey::from_pem(&SIGNING.to_pkcs8_pem()).unwrap();
        let (private, public) = (key_pair.to_pkcs8_der(), key_pair.public_key().to_spki_der());
        for der in [&*private, &public] {
            let mut der = der.clone();
            let at = at.index(der.len());
            if cut { der.truncate(at) } else { der[at] = byte }
            let _ = PublicKey::from_spki_der(&der);
            let _ = PublicKey::from_pkcs1_der(&der);
            if let Ok(read) = PrivateKey::from_pkcs8_der(&der) {
                prop_assert_eq!(read.public_key(), key_pair.public_key(), "a change that is accepted changes nothing");
            }
        }
    }

    #[test]
    fn any_text_as_a_key_never_panics(text in "\\PC{0,200}") {
        let _ = PrivateKey::from_pem(&text);
        let _ = Jwk::parse(&text);
        let _ = JwkSet::parse(&text);
    }
}
