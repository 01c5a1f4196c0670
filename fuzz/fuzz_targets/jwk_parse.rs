//! Takes text as a JSON Web Key, or changes of a published one. Reading never panics, what is read
//! is written and read again as the same key, and a key is for the uses that its members name.

use crate::invented::{json, logged};
use bankrail_jose::{
    DecryptionKey, EncryptionKey, Jwk, KeyOptions, KeySizes, PublicKey, Role, SigningKey,
    VerifyingKey,
};
use serde_json::{Value, json};
use std::sync::LazyLock;

/// The published keys, private and public.
pub static KEYS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let vectors = include_str!("../../crates/protocol/jose/tests/vectors/jose.json");
    let vectors: Value = serde_json::from_str(vectors).expect("JSON");
    let keys = vectors["keys"].as_object().expect("an object");
    keys.values().cloned().collect()
});

static SAMPLES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let (n, e) = (&KEYS[0]["n"], &KEYS[0]["e"]);
    let public = json!({
        "kty": "RSA", "n": n, "e": e, "kid": "a", "use": "sig", "alg": "RS256", "key_ops": ["verify"],
    });
    let further = json!({
        "kty": "RSA", "n": n, "e": e, "use": "enc", "alg": "RSA-OAEP", "key_ops": ["wrapKey", "sign"],
        "oth": [{ "r": "AQAB", "d": "AQAB", "t": "AQAB" }],
    });
    let inside = json!({ "key": public });
    let samples = KEYS.iter().chain([&public, &further, &inside]);
    samples.map(Value::to_string).collect()
});

/// Values of the members of keys.
pub const VALUES: &[&str] = &[
    r#""RSA""#,
    r#""EC""#,
    r#""sig""#,
    r#""enc""#,
    r#""RS256""#,
    r#""RSA-OAEP""#,
    r#"["verify"]"#,
    r#"["sign","verify"]"#,
    r#"["encrypt","unwrapKey"]"#,
    r#""AQAB""#,
    r#""AQ""#,
    r#""AR""#,
    r#""Ag""#,
    r#""AwAB""#,
    r#""AAAB""#,
    r#""AQ==""#,
];

/// Returns true if the members of a key allow a use of it (RFC 7517 sections 4.2 to 4.4).
fn allows(key: &Value, role: Role, is_private: bool) -> bool {
    let (of, alg, ops, private): (_, _, &[&str], _) = match role {
        Role::Sign => ("sig", "RS256", &["sign"], true),
        Role::Verify => ("sig", "RS256", &["verify"], false),
        Role::Encrypt => ("enc", "RSA-OAEP", &["encrypt", "wrapKey"], false),
        _ => ("enc", "RSA-OAEP", &["decrypt", "unwrapKey"], true),
    };
    let names = |member: &str, value: &str| key[member].is_null() || key[member] == value;
    let listed = key["key_ops"].as_array().filter(|listed| !listed.is_empty());
    names("use", of)
        && names("alg", alg)
        && listed.is_none_or(|listed| ops.iter().any(|op| listed.contains(&json!(op))))
        && (is_private || !private)
}

fuzz_target!(|data: &[u8]| {
    let json = json(data, &SAMPLES, VALUES);
    let Ok(text) = std::str::from_utf8(&json) else {
        return;
    };
    let key = match Jwk::parse(text) {
        Ok(key) => key,
        Err(error) => return logged(&error),
    };
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
    if value.is_object() {
        assert!(value["kty"] == "RSA" && value["oth"].is_null());
        assert_eq!(key.kid(), value["kid"].as_str());
        for role in [Role::Sign, Role::Verify, Role::Encrypt, Role::Decrypt] {
            let allowed = key.allows(role);
            let private = key.private_key().is_some();
            assert_eq!(allowed.is_ok(), allows(&value, role, private), "{role}: {text}");
            let _ = allowed.map_err(|error| logged(&error));
        }
    }
    let spki = key.public_key().to_spki_der();
    assert_eq!(
        &PublicKey::from_spki_der(&spki).expect("what was written"),
        key.public_key()
    );
    if let Some(private) = key.private_key() {
        assert_eq!(&private.public_key(), key.public_key());
    }
    let options = KeyOptions::new().sizes(KeySizes::AnyFrom2048);
    let written = [
        VerifyingKey::from_jwk(&key, &options).map(|key| key.to_jwk()),
        EncryptionKey::from_jwk(&key, &options).map(|key| key.to_jwk()),
        SigningKey::from_jwk(&key, &options).map(|key| key.to_jwk().to_string()),
        DecryptionKey::from_jwk(&key, &options).map(|key| key.to_jwk().to_string()),
    ];
    for written in written {
        match written {
            Ok(written) => {
                let again = Jwk::parse(&written).expect("what was written");
                assert_eq!((again.public_key(), again.kid()), (key.public_key(), key.kid()));
            }
            Err(error) => logged(&error),
        }
    }
});
