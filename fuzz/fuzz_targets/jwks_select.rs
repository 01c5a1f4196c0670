//! Takes text as a JWK set, and a `kid`. Reading never panics, a selected key has the name asked
//! for, and the number of keys to try is bounded.

use bankrail_jose::{JwkSet, KeyOptions, KeySet, KeySizes, VerifyingKey};

fuzz_target!(|input: (&str, Option<&str>)| {
    let (json, kid) = input;
    let Ok(set) = JwkSet::parse(json) else { return };
    let options = KeyOptions::new().sizes(KeySizes::AnyFrom2048);
    let Ok((keys, _)) = KeySet::<VerifyingKey>::from_jwk_set(&set, &options) else {
        return;
    };
    if let Ok(selected) = keys.select(kid) {
        let selected = selected.as_slice();
        assert!((1..=KeySet::<VerifyingKey>::MAX_TRIED).contains(&selected.len()));
        if let (Some(kid), Some(found)) = (kid, selected[0].kid()) {
            assert_eq!((kid, 1), (found, selected.len()));
        }
    }
});
