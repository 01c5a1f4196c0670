//! Takes text as a JWK set, or changes of a set of published keys, and a choice of a `kid`. Reading
//! never panics, the selected keys are those with the name asked for, and their number is bounded.

use crate::invented::{json, logged};
use crate::jwk_parse::{KEYS, VALUES};
use bankrail_jose::{
    EncryptionKey, JwkSet, KeyHandle, KeyOptions, KeySet, KeySizes, SelectError, VerifyingKey,
};
use serde_json::{Value, json};
use std::sync::LazyLock;

static SAMPLES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let key = |at: usize, kid: Option<&str>, of: &str| {
        let mut key = json!({ "kty": "RSA", "n": KEYS[at]["n"], "e": KEYS[at]["e"], "use": of });
        if let Some(kid) = kid {
            key["kid"] = json!(kid);
        }
        key
    };
    let sets = [
        vec![key(0, Some("a"), "sig"), key(1, Some("b"), "sig"), key(2, Some("b"), "enc")],
        vec![key(0, None, "sig"), key(1, None, "sig"), key(3, None, "enc")],
        vec![key(0, Some("a"), "sig"), key(0, Some("a"), "enc"), key(1, None, "sig")],
        vec![key(0, Some("a"), "sig"), json!({ "kty": "EC", "kid": "b" }), json!(7), KEYS[3].clone()],
        vec![key(1, Some("a"), "sig")],
    ];
    sets.map(|keys| json!({ "keys": keys }).to_string()).to_vec()
});

fn select<K: KeyHandle + std::fmt::Debug>(set: &JwkSet, kid: Option<&str>) {
    let options = KeyOptions::new().sizes(KeySizes::AnyFrom2048);
    let (keys, unusable) = match KeySet::<K>::from_jwk_set(set, &options) {
        Ok(read) => read,
        Err(error) => return logged(&error),
    };
    unusable.iter().for_each(|key| logged(&key.error));
    let (all, most) = (keys.keys(), KeySet::<K>::MAX_TRIED);
    let named = all.iter().any(|key| key.kid().is_some());
    assert!(all.iter().all(|key| key.kid().is_some() == named));
    match (keys.select(kid), kid.filter(|_| named)) {
        (Ok(found), Some(kid)) => {
            let wanted = all.iter().filter(|key| key.kid() == Some(kid)).count();
            let found = found.as_slice();
            assert!(found.iter().all(|key| key.kid() == Some(kid)));
            assert!(found.len() == wanted && (1..=most).contains(&wanted));
        }
        (Err(error @ SelectError::UnknownKid { .. }), Some(kid)) => {
            logged(&error);
            assert!(!all.iter().any(|key| key.kid() == Some(kid)));
        }
        (Ok(found), None) => assert!(found.as_slice().len() == all.len() && all.len() <= most),
        (Err(error), None) => {
            logged(&error);
            assert!(all.len() > most);
        }
        (Err(error), Some(_)) => panic!("{error}"),
    }
    assert!(KeySet::new(all.iter().cloned()).is_ok());
    match keys.replace(all.iter().chain(all.iter()).cloned()) {
        Ok(()) => assert_eq!(keys.keys().len(), 2 * all.len()),
        Err(error) => logged(&error),
    }
    if let (false, Err(error)) = (named, keys.replace([all[0].clone().with_kid("a"), all[0].clone()])) {
        logged(&error);
    }
}

fuzz_target!(|input: (u8, &[u8])| {
    let (kid, data) = input;
    let kid = [None, Some("a"), Some("b"), Some("c"), Some("2011-04-29")][usize::from(kid % 5)];
    let json = json(data, &SAMPLES, VALUES);
    let Ok(text) = std::str::from_utf8(&json) else {
        return;
    };
    let set = match JwkSet::parse(text) {
        Ok(set) => set,
        Err(error) => return logged(&error),
    };
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
    if let Some(keys) = value["keys"].as_array() {
        assert_eq!(set.keys().len() + set.unusable().len(), keys.len());
        assert!(keys.len() <= JwkSet::MAX_KEYS);
    }
    set.unusable().iter().for_each(|key| logged(&key.error));
    select::<VerifyingKey>(&set, kid);
    select::<EncryptionKey>(&set, kid);
    let options = KeyOptions::new().sizes(KeySizes::AnyFrom2048);
    if let Ok((keys, _)) = KeySet::<VerifyingKey>::from_jwk_set(&set, &options) {
        let again = JwkSet::parse(&keys.to_jwk_set()).expect("what was written");
        let (again, _) = KeySet::<VerifyingKey>::from_jwk_set(&again, &options).expect("its keys");
        assert_eq!(again.keys(), keys.keys());
    }
});
